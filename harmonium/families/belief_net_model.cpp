#include "harmonium/families/belief_net_model.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/likelihood/belief_net_bound.h"
#include "harmonium/samplers/belief_net_samples.h"

namespace harmonium {

namespace {

// Draws of every row that the bound is averaged over; more make its interval smaller, not its value larger.
constexpr std::int64_t bound_draws = 5;
enum : std::uint64_t { raise_stream = 1, bound_stream = 2 };
constexpr std::int64_t picture_sweeps = 500;

// What the top machine has for data: draws of the way up, with the rows' classes where it has a label. Nothing where it
// has one and the rows have no classes.
std::optional<State> top_rows(const BeliefNet& net, const at::Tensor& visible, const at::Tensor& labels,
                              const Key& key) {
  const BoltzmannMachine& top = net.up.back();
  const std::vector<at::Tensor> drawn = up_sample(net.up, visible, key);
  std::vector<at::Tensor> values = {drawn.empty() ? visible : drawn.back()};
  if (net.labelled()) {
    if (!labels.defined()) return std::nullopt;
    values.push_back(at::one_hot(labels, top.unit(top.observed()[1]).width()).to(at::kFloat));
  }
  return top.observe(values);
}

at::Tensor visible_rows(const BeliefNet& net, const TestData& test) {
  const at::Tensor rows = test.rows.to_float();
  const std::string complaint = net.up.front().unit(0).complaint(rows);
  require(complaint.empty(), "{}: {}", test.spec, complaint);
  return rows;
}

// What the units of a layer ask of the data through the layers below, as a linear map.
Exhibit stage_filters(const MachineStack& stack, std::size_t stage) {
  constexpr std::int64_t most = 96;
  at::Tensor map = stack[0].parameters()["visible_hidden.weights"];
  for (std::size_t i = 1; i <= stage; ++i) map = map.matmul(stack[i].parameters()["visible_hidden.weights"]);
  const at::Tensor columns = map.t();
  const at::Tensor order =
      columns.norm(2, 1).argsort(0, /*descending=*/true).narrow(0, 0, std::min(most, columns.size(0)));
  return {.id = format("filters-{}", stage + 1),
          .title = format("Filters, layer {}", stage + 1),
          .caption = format("{} of {} hidden units, largest first{}. Red adds, blue takes away; each on its own scale.",
                            order.size(0), columns.size(0),
                            stage == 0 ? "" : ": products of the weights from the data up, as if layers were linear"),
          .rows = columns.index_select(0, order),
          .weights = true,
          .columns = 12};
}

}  // namespace

BeliefNetModel::BeliefNetModel(TrainedStack trained)
    : Model({.family = trained.kind, .image = trained.image, .notes = trained.notes}),
      trained_(std::move(trained)),
      net_(trained_.net()) {}

std::string BeliefNetModel::subtitle() const {
  std::string text = net_.down[0].unit(0).spec();
  for (const BoltzmannMachine& machine : net_.down)
    text += format(" – {}", machine.unit(machine.hidden().front()).spec());
  if (net_.labelled()) text += "; label joined to the penultimate layer";
  if (!net_.tied) text += "; recognition and generative weights untied";
  return text;
}

Moments BeliefNetModel::parameters() const {
  Moments all;
  for (std::size_t i = 0; i < trained_.machines.size(); ++i)
    for (const auto& [name, value] : trained_.machines[i].machine.parameters().entries())
      all.insert(format("machine{}/{}", i + 1, name), value);
  for (std::size_t i = 0; i < trained_.recognition.size(); ++i)
    for (const auto& [name, value] : trained_.recognition[i].parameters().entries())
      all.insert(format("recognition{}/{}", i + 1, name), value);
  return all;
}

std::vector<Model::LayerText> BeliefNetModel::layers() const {
  std::vector<LayerText> texts;
  for (std::size_t i = 0; i < trained_.machines.size(); ++i) {
    const BoltzmannMachine& machine = trained_.machines[i].machine;
    for (std::size_t layer = i == 0 ? 0 : 1; layer < machine.layers().size(); ++layer) {
      const Layer& one = machine.layers()[layer];
      texts.push_back({.name = one.name + (one.observed ? "" : std::to_string(i + 1)),
                       .unit = one.unit->spec(),
                       .observed = one.observed});
    }
  }
  return texts;
}

std::vector<Evaluation> BeliefNetModel::judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const {
  std::optional<State> top;
  for (const TestData* test : tests)
    require(test->draws == 1, "@draws {}: the bound of a belief net is found for one draw of the pixels", test->draws);
  if (!tests.empty())
    top = top_rows(net_, visible_rows(net_, *tests.front()), tests.front()->rows.labels,
                   Key(options.seed).fold_in(raise_stream));
  const Findings findings = find_log_z(trained_.machines.back(), top ? &*top : nullptr, options, watcher, journal);
  Evaluation common;
  common.log_z = findings.log_z;
  common.upper_log_z = findings.upper(options.gap);
  common.bennett = findings.bennett;
  if (common.upper_log_z && findings.log_z.kind == EstimateKind::unbiased_estimate) {
    const Sandwich both{findings.log_z, *common.upper_log_z};
    common.gap = both.gap();
    common.acceptable = options.gap;
    common.verdict = verdict(both, std::nullopt, options.gap);
  } else {
    common.verdict = warning(findings.log_z);
  }
  if (tests.empty()) return {common};
  if (trained_.machines.size() > 1)
    common.verdict += (common.verdict.empty() ? "" : "; ") +
                      std::string("the log-likelihood is at least what is said, as far as log Z is right");
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) {
    const at::Tensor rows = visible_rows(net_, *test);
    const auto bound = [&](const Estimate& log_z) {
      return belief_net_bound(net_, rows, log_z, bound_draws, Key(options.seed).fold_in(bound_stream));
    };
    Evaluation answer = common;
    answer.data = test->spec;
    answer.n = test->rows.rows();
    answer.binarization = test->binarization;
    answer.log_likelihood = bound(findings.log_z);
    if (findings.raise_rows > 0) {
      answer.raise = bound(*findings.raise);
      answer.raise_rows = findings.raise_rows;
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

bool BeliefNetModel::same_way(const Evaluation& old, const EstimationOptions& options) const {
  return found_the_same_way(old, options, net_.top());
}

bool BeliefNetModel::enumerates(const EstimationOptions& options) const {
  return method_for(options, net_.top()) == "exact";
}

double BeliefNetModel::products(const EstimationOptions& options, bool with_data) const {
  return MachineDensity(trained_.machines.back()).products(options, with_data);
}

at::Tensor BeliefNetModel::draw(const Request& request) const {
  require(request.count >= 1 && request.sweeps >= 1, "{} samples after {} sweeps: both must be at least 1",
          request.count, request.sweeps);
  require(request.per_chain >= 1 && request.count % request.per_chain == 0,
          "{} samples cannot be shared out among chains that give {} each", request.count, request.per_chain);
  const std::int64_t chains = request.count / request.per_chain;
  const BeliefNetSamples drawn =
      sample_belief_net(net_, Key(request.seed),
                        {.chains = chains,
                         .looks = request.per_chain,
                         .sweeps = request.sweeps,
                         .every = request.every,
                         .from_noise = request.from_noise,
                         .labels = request.labels.defined() ? request.labels.narrow(0, 0, chains) : at::Tensor()});
  return request.means ? drawn.means : drawn.visible;
}

double BeliefNetModel::products(std::int64_t count) const {
  return static_cast<double>(count * net_.top().parameters().dimension());
}

std::int64_t BeliefNetModel::classes() const {
  return net_.labelled() ? net_.top().unit(net_.top().observed()[1]).width() : 0;
}

at::Tensor BeliefNetModel::log_probabilities(const at::Tensor& rows) const {
  return log_label_probabilities(net_, rows);
}

std::vector<std::string> BeliefNetModel::code_layers() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < net_.up.size(); ++i) names.push_back(format("hidden{}", i + 1));
  return names;
}

at::Tensor BeliefNetModel::encode(const at::Tensor& rows, std::size_t layer) const {
  return up_means(net_.up, rows).at(layer);
}

at::Tensor BeliefNetModel::reconstruct(const at::Tensor& rows) const { return harmonium::reconstruct(net_, rows); }

std::vector<Exhibit> BeliefNetModel::exhibits(const ExhibitInput&) const {
  if (visible().width() < 4) return {};
  std::vector<Exhibit> all = {
      {.id = "samples",
       .title = "Samples",
       .caption = format("Probabilities of the data's units after {} Gibbs sweeps of the top machine from its biases "
                         "and a draw of every layer down.",
                         picture_sweeps),
       .rows = sample_belief_net(net_, Key(1), 60, picture_sweeps).means,
       .samples = true}};
  if (net_.labelled()) {
    constexpr std::int64_t of_each = 12, most_classes = 30;
    const at::Tensor labels = at::arange(std::min(classes(), most_classes), at::kLong).repeat_interleave(of_each);
    all.push_back({.id = "classes",
                   .title = "Samples of each class",
                   .caption = "One row for each class from 0: the same with the label held.",
                   .rows = sample_belief_net(net_, Key(2), labels, picture_sweeps).means,
                   .columns = of_each});
  }
  for (std::size_t i = 0; i < net_.down.size(); ++i) all.push_back(stage_filters(net_.down, i));
  return all;
}

std::string BeliefNetModel::remark() const {
  return format("Bounds are in nats per row, from below. Numbers under different binarizations are not comparable. {}",
                net_.tied
                    ? "Every layer-N of the folder is a run of its own, with its own metrics."
                    : "The layers were trained together by up–down; filters are the generative ones, and updates and "
                      "training time do not include pretraining.");
}

std::string BeliefNetModel::encode_file() const {
  TrainedStack file = trained_;
  file.kind = info_.family;
  file.image = info_.image;
  file.notes = info_.notes;
  return encode_stack(file);
}

}  // namespace harmonium
