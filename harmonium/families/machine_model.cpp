#include "harmonium/families/machine_model.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/inference/label_inference.h"
#include "harmonium/inference/mean_field.h"
#include "harmonium/models/classification.h"
#include "harmonium/samplers/chains.h"

namespace harmonium {

namespace {

std::optional<std::size_t> find_label(const BoltzmannMachine& machine) {
  const bool there = std::ranges::any_of(machine.layers(), [](const Layer& each) { return each.name == "label"; });
  return there ? std::optional(label_layer(machine)) : std::nullopt;
}

at::Tensor visible_means(const BoltzmannMachine& machine, const State& state) {
  return machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0));
}

// Rows of a table, longest first, at most `count`.
at::Tensor longest(const at::Tensor& rows, std::int64_t count) {
  const at::Tensor order = rows.norm(2, 1).argsort(0, /*descending=*/true);
  return rows.index_select(0, order.narrow(0, 0, std::min(count, rows.size(0))));
}

// The most used filters: columns of the first weight matrix, or rows of couplings where there are no hidden units.
Exhibit filters(const BoltzmannMachine& machine) {
  constexpr std::int64_t most = 96;
  const bool couplings = machine.hidden().empty();
  const EdgeInfo& edge = *std::ranges::find(machine.topology().edges, couplings, &EdgeInfo::inner);
  const at::Tensor columns = couplings ? machine.couplings(edge.lower) : machine.parameters()[edge.weights].t();
  const at::Tensor shown = longest(columns, most);
  return {.id = "filters",
          .title = couplings ? "Couplings" : "Filters",
          .caption = format("Weights of {} of {} {} units, largest first. Red adds to a pixel, blue takes away; "
                            "each on its own scale.",
                            shown.size(0), columns.size(0), couplings ? "visible" : "hidden"),
          .rows = shown,
          .weights = true,
          .columns = 12};
}

// The layers above the first of a deep machine, seen through all below them: products of weights. A unit there has no
// weights to pixels; this is what it would add to them if the layers between were linear.
std::vector<Exhibit> deep_filters(const BoltzmannMachine& machine) {
  constexpr std::int64_t most = 48;
  std::vector<Exhibit> exhibits;
  at::Tensor projection;  // pixels × units
  std::size_t below = 0;
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.inner()) continue;  // couplings()
    if (edge.lower != below || machine.layers()[edge.upper].observed) break;
    const at::Tensor& weights = machine.parameters()[edge.weights];
    projection = projection.defined() ? projection.mm(weights) : weights;
    below = edge.upper;
    if (edge.lower == 0) continue;  // filters()
    const std::string& name = machine.layers()[below].name;
    const at::Tensor shown = longest(projection.t(), most);
    exhibits.push_back({.id = "filters-" + name,
                        .title = "Filters of " + name,
                        .caption = format("{} of {} units of {}, largest first: the filters of the layer below, added "
                                          "up by the weights to them, as if units were linear.",
                                          shown.size(0), projection.size(1), name),
                        .rows = shown,
                        .weights = true,
                        .columns = 12});
  }
  return exhibits;
}

// Edges between units of one layer beside those between layers: rows of L, and of J through the filters of hidden
// units.
std::vector<Exhibit> couplings(const BoltzmannMachine& machine) {
  constexpr std::int64_t most = 48;
  std::vector<Exhibit> exhibits;
  if (machine.hidden().empty()) return exhibits;  // filters()
  if (machine.inner_edge(0) != nullptr) {
    const at::Tensor shown = longest(machine.couplings(0), most);
    exhibits.push_back({.id = "couplings-visible",
                        .title = "Couplings between visible units",
                        .caption = format("Weights of {} of {} visible units to all others, largest first. Red adds to "
                                          "a pixel, blue takes away; each on its own scale.",
                                          shown.size(0), machine.unit(0).width()),
                        .rows = shown,
                        .weights = true,
                        .columns = 12});
  }
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower != 0 || edge.inner() || machine.inner_edge(edge.upper) == nullptr) continue;
    const std::string& name = machine.layers()[edge.upper].name;
    const at::Tensor through = machine.couplings(edge.upper).mm(machine.parameters()[edge.weights].t());
    const at::Tensor shown = longest(through, most);
    exhibits.push_back({.id = "couplings-" + name,
                        .title = "Couplings between units of " + name,
                        .caption = format("{} of {} units of {}, largest first: the filters of all other units, added "
                                          "up by the weights to them, as if units were linear.",
                                          shown.size(0), through.size(0), name),
                        .rows = shown,
                        .weights = true,
                        .columns = 12});
  }
  return exhibits;
}

// Visible probabilities after Gibbs sampling from the chains of training where there are any, else from the biases.
Exhibit samples(const BoltzmannMachine& machine, const NamedTensors& checkpoint) {
  constexpr std::int64_t count = 60, sweeps = 500;
  State state = machine.independent_sample(Key(1), count);
  for (std::size_t layer = 0; layer < state.layers.size(); ++layer)
    for (const auto& [name, value] : checkpoint)
      if (name == format("negative_phase/particles.{}", layer) && value.size(0) >= count)
        state.layers[layer] = value.narrow(0, 0, count).to(machine.scalar_type());
  gibbs(machine, state, Key(2), sweeps);
  return {
      .id = "samples",
      .title = "Samples",
      .caption =
          "Visible probabilities after 500 Gibbs sweeps of the chains that training left, under the averaged model.",
      .rows = visible_means(machine, state),
      .samples = true};
}

// Some samples of every class, one class below the other: chains with the label held.
Exhibit class_samples(const BoltzmannMachine& machine, std::size_t label) {
  constexpr std::int64_t of_each = 12, sweeps = 300, most_classes = 30;
  const std::int64_t classes = machine.unit(label).width(), shown = std::min(classes, most_classes);
  State state = machine.independent_sample(Key(4), shown * of_each);
  KnownUnits known(machine.layers().size());
  known[label] =
      at::one_hot(at::arange(shown, at::kLong).repeat_interleave(of_each), classes).to(machine.scalar_type());
  state.layers[label] = known[label];
  conditional_gibbs(machine, state, Key(5), sweeps, known);
  return {.id = "classes",
          .title = "Samples of each class",
          .caption = format("One row for each class from 0: visible probabilities after {} Gibbs sweeps with the label "
                            "held. A model trained on p(label | data) alone need not model the data.",
                            sweeps),
          .rows = visible_means(machine, state),
          .columns = of_each};
}

}  // namespace

MachineModel::MachineModel(TrainedMachine trained)
    : Model({.family = trained.kind, .image = trained.image, .notes = trained.notes}),
      trained_(std::move(trained)),
      density_(trained_),
      label_(find_label(trained_.machine)) {}

std::string MachineModel::title() const {
  const std::string& family = info_.family;
  if (family == "classification_rbm") return "Classification RBM";
  if (family == "dbm") return "Deep Boltzmann machine";
  if (family == "mrf") return "Markov random field";
  if (family == "boltzmann") return "General Boltzmann machine";
  return family == "semi_restricted" ? "Semi-restricted Boltzmann machine"
         : of_words()                ? "RBM of word counts, given the length of a document"
                                     : "RBM";
}

std::string MachineModel::subtitle() const {
  std::string text;
  for (const Layer& layer : trained_.machine.layers())
    text += (text.empty() ? "" : " – ") + layer.name + " " + layer.unit->spec();
  return text;
}

std::vector<Model::LayerText> MachineModel::layers() const {
  std::vector<LayerText> texts;
  for (const Layer& layer : trained_.machine.layers())
    texts.push_back({.name = layer.name, .unit = layer.unit->spec(), .observed = layer.observed});
  return texts;
}

std::unique_ptr<Model> MachineModel::to(const at::Device& device) const {
  TrainedMachine moved = trained_;
  moved.machine = moved.machine.to(device);
  auto copy = std::make_unique<MachineModel>(std::move(moved));
  copy->info() = info_;
  return copy;
}

std::unique_ptr<Model> MachineModel::clone() const {
  auto copy = std::make_unique<MachineModel>(trained_);
  copy->info() = info_;
  copy->chains = chains;
  return copy;
}

const Encoder* MachineModel::encoder() const { return trained_.machine.hidden().empty() ? nullptr : this; }

at::Tensor MachineModel::draw(const Request& request) const {
  const BoltzmannMachine& machine = trained_.machine;
  KnownUnits known(machine.layers().size());
  if (request.labels.defined()) {
    require(label_.has_value(), "a class is to be held, and the model has no label");
    known[*label_] = at::one_hot(request.labels, classes()).to(machine.options());
  }
  // Streams as in sessions/sample_session: the same seed draws the same.
  const Key key(request.seed), steps = key.fold_in(1);
  const auto crowd = make_chains({}, {.machine = machine,
                                      .data_moments = trained_.data_moments,
                                      .start = machine.independent_sample(key.fold_in(0), request.count),
                                      .known = known,
                                      .key = key.fold_in(2)});
  for (std::int64_t sweep = 0; sweep < request.sweeps; ++sweep) {
    crowd->step(steps.fold_in(static_cast<std::uint64_t>(sweep)));
    request.progress(sweep + 1, request.sweeps);
  }
  const State state = crowd->state();
  return on_cpu(request.means ? visible_means(machine, state) : state.layers[0]).clone();
}

double MachineModel::products(std::int64_t count) const {
  return static_cast<double>(count * trained_.machine.parameters().dimension());
}

std::int64_t MachineModel::classes() const { return label_ ? trained_.machine.unit(*label_).width() : 0; }

at::Tensor MachineModel::log_probabilities(const at::Tensor& rows) const {
  return infer_labels(trained_.machine, rows.to(trained_.machine.scalar_type()));
}

std::vector<std::string> MachineModel::code_layers() const {
  std::vector<std::string> names;
  for (const std::size_t layer : trained_.machine.hidden()) names.push_back(trained_.machine.layers()[layer].name);
  return names;
}

State MachineModel::posterior_means(const at::Tensor& rows) const {
  const BoltzmannMachine& machine = trained_.machine;
  std::vector<at::Tensor> values = {rows.to(machine.scalar_type())};
  if (label_) values.push_back(at::zeros({rows.size(0), classes()}, machine.options()));
  return infer(machine, machine.observe(values)).means;
}

at::Tensor MachineModel::encode(const at::Tensor& rows, std::size_t layer) const {
  return posterior_means(rows).layers[trained_.machine.hidden().at(layer)];
}

at::Tensor MachineModel::reconstruct(const at::Tensor& rows) const {
  return means_given_others(trained_.machine, 0, posterior_means(rows));
}

bool MachineModel::reconstructs() const { return !of_words(); }

std::vector<Exhibit> MachineModel::exhibits(const ExhibitInput& input) const {
  const BoltzmannMachine& machine = trained_.machine;
  // Words are no pictures, and a model of word counts draws none.
  if (visible().width() < 4 || of_words()) return {};
  std::vector<Exhibit> all = {filters(machine)};
  for (Exhibit& each : deep_filters(machine)) all.push_back(std::move(each));
  for (Exhibit& each : couplings(machine)) all.push_back(std::move(each));
  all.push_back(samples(machine, input.checkpoint));
  if (label_) all.push_back(class_samples(machine, *label_));
  return all;
}

std::string MachineModel::encode_file() const {
  TrainedMachine file = trained_;
  file.kind = info_.family;
  file.image = info_.image;
  file.notes = info_.notes;
  return encode_machine(file);
}

}  // namespace harmonium
