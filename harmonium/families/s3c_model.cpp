#include "harmonium/families/s3c_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/importance_judging.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/shown_range.h"
#include "harmonium/inference/s3c_latents.h"

namespace harmonium {

namespace {

constexpr const char* by_mean_field = "structured mean field";
constexpr std::int64_t rows_at_once = 1000;

// The latents of whitened rows, as those of the rows themselves.
class WhitenedLatents final : public LatentModel {
 public:
  WhitenedLatents(const S3c& model, const Whitening& whitening)
      : latents_(model, s3c_inference()), whitening_(whitening), volume_(whitening.log_determinant()) {}

  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw) const override {
    return in_units_of_data(latents_.infer(parameters, whitening_.apply(rows), draws, key, first_draw));
  }
  [[nodiscard]] Trace score(const Moments& parameters, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override {
    return in_units_of_data(latents_.score(parameters, whitening_.apply(rows), latents));
  }
  [[nodiscard]] Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const override {
    Dream made = latents_.dream(parameters, count, key);
    made.visible = whitening_.undo(made.visible);
    made.means = whitening_.undo(made.means);
    return made;
  }

 private:
  [[nodiscard]] Trace in_units_of_data(Trace trace) const {
    trace.log_p.front() = trace.log_p.front() + volume_;
    return trace;
  }

  S3cLatents latents_;
  const Whitening& whitening_;
  double volume_;
};

template <class Of>
at::Tensor in_pieces(const at::Tensor& rows, const Of& of) {
  std::vector<at::Tensor> pieces;
  for (std::int64_t first = 0; first == 0 || first < rows.size(0); first += rows_at_once)
    pieces.push_back(of(rows.narrow(0, first, std::min(rows_at_once, rows.size(0) - first))));
  return at::cat(pieces);
}

JudgedRows judged(const at::Tensor& each, EstimateKind kind, const std::string& how) {
  const double mean = each.mean().item<double>();
  return {.mean = {.value = mean, .low = mean, .high = mean, .kind = kind, .method = how}, .each = each};
}

}  // namespace

S3cModel::S3cModel(ModelInfo info, S3c model, Whitening whitening)
    : NormalizedModel(std::move(info), format("gaussian:{}", model.structure().inputs)),
      model_(std::move(model)),
      whitening_(std::move(whitening)) {}

std::string S3cModel::subtitle() const {
  return format("{} inputs – {} spike-and-slab units", model_.structure().inputs, model_.structure().hidden);
}

Moments S3cModel::parameters() const {
  Moments all = model_.parameters();
  all.insert("input.mean", whitening_.mean.to(at::kFloat));
  all.insert("input.whitening", whitening_.matrix.to(at::kFloat).contiguous());
  return all;
}

std::vector<Model::LayerText> S3cModel::layers() const {
  return {{.name = "visible", .unit = visible().spec(), .observed = true},
          {.name = "codes", .unit = format("spike_slab:{}", model_.structure().hidden)}};
}

std::unique_ptr<Model> S3cModel::clone() const { return std::make_unique<S3cModel>(info_, model_, whitening_); }

S3cPosterior S3cModel::inferred(const at::Tensor& rows) const {
  return s3c_mean_field(S3cTerms(model_.parameters()), whitening_.apply(rows), s3c_inference());
}

at::Tensor S3cModel::encode(const at::Tensor& rows, std::size_t layer) const {
  return in_pieces(rows, [&](const at::Tensor& piece) {
    const S3cPosterior q = inferred(piece);
    return (layer == 0 ? q.spikes : q.codes()).to(at::kFloat);
  });
}

at::Tensor S3cModel::reconstruct(const at::Tensor& rows) const {
  return in_pieces(rows, [&](const at::Tensor& piece) {
    return whitening_.undo(model_.decode(inferred(piece).codes())).to(at::kFloat).contiguous();
  });
}

at::Tensor S3cModel::draw(const Request& request) const {
  const S3c::Draws drawn = model_.sample(Key(request.seed), request.count);
  return whitening_.undo(request.means ? drawn.means : drawn.rows).to(at::kFloat).contiguous();
}

std::vector<Exhibit> S3cModel::exhibits(const ExhibitInput& input) const {
  constexpr std::int64_t most = 96, samples = 60;
  const S3cTerms terms(model_.parameters());
  const Dataset& train = input.train;
  const bool seen = train.rows() > 0 && train.columns() == model_.structure().inputs && train.missing == 0;
  const at::Tensor activity =
      seen ? encode(train.first(rows_at_once).to_float(), 0).mean(0).to(at::kDouble) : terms.b.sigmoid();
  const at::Tensor order = activity.argsort(0, /*descending=*/true),
                   shown = order.narrow(0, 0, std::min(most, order.size(0)));
  const at::Tensor filters = terms.W.t().index_select(0, shown);
  return {
      {.id = "filters",
       .title = "Filters",
       .caption = format("{} of {} columns of W in the units of the data, most active first: on in {:.3g} to {:.3g} "
                         "of {}. Red adds, blue takes away; each with its own scale.",
                         shown.size(0), order.size(0), activity[shown[0]].item<double>(),
                         activity[shown[-1]].item<double>(), seen ? "training rows" : "the model's draws"),
       .rows = (whitening_.undo(filters) - whitening_.mean).to(at::kFloat).contiguous(),
       .weights = true,
       .columns = 12},
      {.id = "samples",
       .title = "Samples",
       .caption = "Independent draws: means of the values given spikes and slabs.",
       .rows = draw({.count = samples, .means = true, .seed = 1}),
       .samples = true}};
}

std::pair<double, double> S3cModel::shown_range() const {
  // Of the data nothing is known but by the map that whitens, or by the model's draws.
  if (info_.note("whiten") == "none") {
    const at::Tensor drawn = model_.sample(Key(1), rows_at_once).rows;
    return range_of_values(drawn.mean(0), drawn.std(0, /*unbiased=*/false));
  }
  const at::Tensor deviation = whitening_.undo(at::eye(model_.structure().inputs, at::kDouble)) - whitening_.mean;
  return range_of_values(whitening_.mean, deviation.square().sum(0).sqrt());
}

std::string S3cModel::remark() const {
  return "Log-likelihoods are densities, in nats per row and in the units of the data. Numbers in other units are not "
         "comparable.";
}

nlohmann::json S3cModel::structure() const {
  return {{"s3c", {{"inputs", model_.structure().inputs}, {"hidden", model_.structure().hidden}}}};
}

std::string S3cModel::way(const EstimationOptions& options) const {
  // Where many models are judged, as long as it takes no time.
  const std::int64_t most = options.thorough ? 16 : 12;
  if (options.method != "auto") return options.method;
  return model_.structure().hidden <= most ? "exact" : "importance";
}

void S3cModel::check(const EstimationOptions& options) const {
  EstimationOptions others = options;
  if (options.method == "mean_field") others.method = "auto";
  harmonium::check(others);
  require(
      others.method == "auto" || others.method == "exact",
      "@method {}: spike-and-slab sparse coding is judged exactly where it has few hidden units, else by importance "
      "sampling: leave @method out and choose @importance, or give exact or mean_field",
      options.method);
  require(
      options.method != "exact" || model_.can_enumerate(),
      "@method exact sums over all states of the spikes, which {} hidden units have too many of ({} at most); leave "
      "@method out",
      model_.structure().hidden, S3c::most_enumerated);
}

std::string S3cModel::gaussian_beside(const TestData& test) const {
  if (info_.note("whiten") != "zca") return {};
  const auto D = static_cast<double>(model_.structure().inputs);
  double squares = 0;
  for (int draw = 0; draw < test.draws; ++draw)
    squares += whitening_.apply(test.draw(draw).to_float()).square().sum(1).mean().item<double>() / test.draws;
  return format("The Gaussian with the mean and covariance of the training data has {} nats",
                fixed_number(whitening_.log_determinant() - 0.5 * (squares + D * std::log(2 * std::numbers::pi)), 2));
}

std::vector<Evaluation> S3cModel::judge(const std::vector<const TestData*>& tests, const EstimationOptions& options,
                                        Watcher& watcher, Journal*) const {
  check(options);
  require_tests(tests);
  const std::string how = way(options);
  const double volume = whitening_.log_determinant();
  std::vector<Evaluation> answers;
  if (how == "importance") {
    answers = judge_by_importance(WhitenedLatents(model_, whitening_), model_.parameters(), visible(), tests, options,
                                  watcher);
  } else {
    const std::int64_t hidden = model_.structure().hidden;
    for (const TestData* test : tests)
      answers.push_back(judge_by_rows(*test, visible(), [&](const at::Tensor& rows) {
        const Progress progress = watcher.begin(how == "exact" ? format("2^{} states", hidden) : by_mean_field);
        const at::Tensor v = whitening_.apply(rows);
        const S3cTerms terms(model_.parameters());
        std::vector<at::Tensor> pieces;
        for (std::int64_t first = 0; first < v.size(0); first += rows_at_once) {
          const at::Tensor piece = v.narrow(0, first, std::min(rows_at_once, v.size(0) - first));
          pieces.push_back(how == "exact" ? model_.enumerate(piece).log_p
                                          : s3c_bound(terms, piece, s3c_mean_field(terms, piece, s3c_inference())));
          progress(first + piece.size(0), v.size(0));
        }
        const at::Tensor each = at::cat(pieces) + volume;
        return how == "exact" ? judged(each, EstimateKind::exact, format("exact: 2^{} states of the spikes", hidden))
                              : judged(each, EstimateKind::lower_bound, by_mean_field);
      }));
  }
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const std::string beside = gaussian_beside(*tests[i]);
    if (!beside.empty()) answers[i].verdict += (answers[i].verdict.empty() ? "" : ". ") + beside;
  }
  return answers;
}

bool S3cModel::same_way(const Evaluation& old, const EstimationOptions& options) const {
  if (!old.log_likelihood) return false;
  const std::string how = way(options);
  if (how == "exact") return old.log_likelihood->kind == EstimateKind::exact;
  if (how == "mean_field") return old.log_likelihood->method == by_mean_field;
  return old.log_likelihood->kind == EstimateKind::lower_bound && old.log_likelihood->chains == options.importance;
}

std::unique_ptr<Model> read_s3c(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "s3c", where, [&](const nlohmann::json& shape) {
    const S3cStructure structure{.inputs = whole_number(shape.at("inputs")),
                                 .hidden = whole_number(shape.at("hidden"))};
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    require(structure.inputs >= 1 && structure.hidden >= 1 && structure.inputs <= most_units &&
                structure.hidden <= most_units,
            "{}: {} inputs and {} hidden units make no sparse coding", where, structure.inputs, structure.hidden);
    const auto D = static_cast<double>(structure.inputs);
    require_numbers(file, D * (D + static_cast<double>(structure.hidden)), where);
    S3c model(structure);
    read_parameters(model.parameters(), file, where);
    require(model.in_domain(), "{}: parameters of the sparse coding are out of range; the file is damaged", where);
    const at::Tensor mean = at::zeros({structure.inputs}), matrix = at::zeros({structure.inputs, structure.inputs});
    copy_parameter(mean, "input.mean", find_tensor(file.tensors, "input.mean", where), where);
    copy_parameter(matrix, "input.whitening", find_tensor(file.tensors, "input.whitening", where), where);
    Whitening whitening{.mean = mean.to(at::kDouble), .matrix = matrix.to(at::kDouble)};
    require(std::isfinite(whitening.log_determinant()), "{}: its whitening cannot be undone; the file is damaged",
            where);
    return std::make_unique<S3cModel>(info_of(header, structure.inputs), std::move(model), std::move(whitening));
  });
}

}  // namespace harmonium
