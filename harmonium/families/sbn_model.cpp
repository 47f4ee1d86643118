#include "harmonium/families/sbn_model.h"

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/importance_judging.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/prior_judging.h"
#include "harmonium/likelihood/bidirectional.h"
#include "harmonium/likelihood/mean_field_bound.h"

namespace harmonium {

std::string SbnModel::subtitle() const {
  std::string text = net_.structure().visible;
  for (const std::int64_t width : net_.structure().latent) text += format(" – {}", width);
  if (net_.rbm_prior()) text += format("; prior: an RBM with {} hidden units", net_.structure().prior_hidden);
  const SigmoidBeliefNetStructure& shape = net_.structure();
  const auto law = [&](const char* whose, LayerKind kind) {
    if (kind != LayerKind::factorial) text += format("; {}: {}", whose, to_string(kind));
  };
  law("layers", shape.generation);
  law("inference", shape.recognition);
  law("prior", shape.prior);
  for (const std::int64_t width : net_.structure().between)
    text += format("{}{}", &width == &net_.structure().between.front() ? "; between them " : " – ", width);
  return text;
}

std::vector<Model::LayerText> SbnModel::layers() const {
  std::vector<LayerText> texts = {{.name = "visible", .unit = net_.structure().visible, .observed = true}};
  for (std::size_t i = 0; i < net_.structure().latent.size(); ++i)
    texts.push_back({.name = format("latent{}", i + 1), .unit = format("bernoulli:{}", net_.structure().latent[i])});
  if (net_.rbm_prior())
    texts.push_back({.name = "prior", .unit = format("bernoulli:{}", net_.structure().prior_hidden)});
  return texts;
}

std::vector<Exhibit> SbnModel::exhibits(const ExhibitInput&) const {
  constexpr std::int64_t samples = 60;
  const std::string latents =
      net_.dreams_exactly()
          ? "independent draws of the latent variables."
          : format("latent variables. The uppermost are those of Gibbs chains of the prior after {} sweeps.",
                   RbmPrior::usual_sweeps);
  std::vector<Exhibit> all = {{.id = "samples",
                               .title = "Samples",
                               .caption = "Means of the data's units given " + latents,
                               .rows = on_cpu(net_.dream(net_.parameters(), samples, Key(1)).means),
                               .samples = true}};
  if (!net_.dreams_exactly()) all.push_back(chains_of_prior());
  return all;
}

Exhibit SbnModel::chains_of_prior() const {
  constexpr std::int64_t chains = 10;
  const std::vector<std::int64_t> sweeps = {1, 3, 10, 30, 100, 300, RbmPrior::usual_sweeps};
  std::vector<at::Tensor> columns;
  std::string text;
  for (const std::int64_t each : sweeps) {
    const at::Tensor tops = net_.rbm_prior()->draw(net_.parameters(), chains, Key(2), each);
    columns.push_back(on_cpu(net_.dream_below(net_.parameters(), tops, Key(3)).means));
    text += format("{}{}", text.empty() ? "" : ", ", each);
  }
  return {
      .id = "prior",
      .title = "Chains of the prior",
      .caption = format("Each line is a Gibbs chain of the prior that begins at its biases, after {} sweeps, with the "
                        "means of the data's units below it. Where late columns still resemble their neighbours, "
                        "the chains mix slowly.",
                        text),
      .rows = at::stack(columns, 1).flatten(0, 1),
      .columns = static_cast<std::int64_t>(sweeps.size())};
}

std::optional<StudiedNet> SbnModel::studied_net() const {
  require(!net_.rbm_prior(),
          "estimates of the gradient are studied for sigmoid belief nets with a factorial prior, and this one's is an "
          "RBM");
  return studied(net_);
}

nlohmann::json SbnModel::structure() const {
  const SigmoidBeliefNetStructure& shape = net_.structure();
  nlohmann::json described = {{"visible", shape.visible},
                              {"latent", shape.latent},
                              {"between", shape.between},
                              {"activation", to_string(shape.activation)}};
  if (shape.prior_hidden > 0) described["prior_hidden"] = shape.prior_hidden;
  if (!shape.factorial())
    described["laws"] = {{"generation", to_string(shape.generation)},
                         {"recognition", to_string(shape.recognition)},
                         {"prior", to_string(shape.prior)},
                         {"hidden", shape.nade_hidden}};
  return {{"sbn", described}};
}

void SbnModel::check(const EstimationOptions& options) const {
  if (const RbmPrior* prior = net_.rbm_prior()) return check_prior_judging(options, prior->machine(net_.parameters()));
  EstimationOptions others = options;
  if (options.method == "bihm" || options.method == "mean_field") others.method = "auto";
  harmonium::check(others);
  require(others.method == "auto",
          "@method {}: a sigmoid belief net is judged by importance sampling, by mean field, or as a bidirectional "
          "machine: leave @method out and choose @importance, or give mean_field or bihm",
          options.method);
  if (options.method != "mean_field") return;
  const std::string complaint = mean_field_complaint(net_);
  require(complaint.empty(), "@method mean_field: {}", complaint);
}

std::vector<Evaluation> SbnModel::judge(const std::vector<const TestData*>& tests, const EstimationOptions& options,
                                        Watcher& watcher, Journal* journal) const {
  check(options);
  if (const RbmPrior* prior = net_.rbm_prior())
    return judge_under_prior({.model = net_,
                              .parameters = net_.parameters(),
                              .machine = prior->machine(net_.parameters()),
                              .visible = visible()},
                             tests, options, watcher, journal);
  require_tests(tests);
  if (options.method == "mean_field") return judge_by_mean_field(net_, visible(), tests, options, watcher);
  if (options.method == "bihm") return judge_bidirectional(net_, net_.parameters(), visible(), tests, options, watcher);
  return judge_by_importance(net_, net_.parameters(), visible(), tests, options, watcher);
}

bool SbnModel::same_way(const Evaluation& old, const EstimationOptions& options) const {
  if (const RbmPrior* prior = net_.rbm_prior())
    return judged_under_prior(old, options, prior->machine(net_.parameters()));
  if (options.method == "mean_field") return old.log_likelihood && is_mean_field_bound(*old.log_likelihood);
  return old.log_likelihood && old.log_likelihood->chains == options.importance &&
         is_bidirectional(*old.log_likelihood) == (options.method == "bihm");
}

at::Tensor SbnModel::draw(const Request& request) const {
  const Key key(request.seed);
  const auto drawn = [&] {
    if (net_.dreams_exactly()) return net_.dream(net_.parameters(), request.count, key);
    const at::Tensor tops = net_.rbm_prior()->draw(net_.parameters(), request.count,
                                                   key.fold_in(net_.structure().latent.size()), request.sweeps);
    return net_.dream_below(net_.parameters(), tops, key);
  };
  const Dream dream = drawn();
  return on_cpu(request.means ? dream.means : dream.visible);
}

std::string SbnModel::method() const {
  return net_.dreams_exactly() ? "ancestral sampling, exact" : "Gibbs sampling in the prior, then down";
}

std::vector<std::string> SbnModel::code_layers() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < net_.structure().latent.size(); ++i) names.push_back(format("latent{}", i + 1));
  return names;
}

at::Tensor SbnModel::encode(const at::Tensor& rows, std::size_t layer) const {
  return on_cpu(net_.encode(rows.to(device()), layer));
}

std::unique_ptr<Model> read_sbn(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "sbn", where, [&](const nlohmann::json& shape) {
    SigmoidBeliefNetStructure structure{.visible = shape.at("visible"),
                                        .latent = whole_numbers(shape.at("latent")),
                                        .between = whole_numbers(shape.at("between")),
                                        .activation = parse_activation(shape.at("activation"))};
    if (shape.contains("prior_hidden")) structure.prior_hidden = whole_number(shape.at("prior_hidden"));
    if (shape.contains("laws")) {
      const nlohmann::json& laws = shape.at("laws");
      structure.generation = parse_layer_kind(laws.at("generation"), "layer");
      structure.recognition = parse_layer_kind(laws.at("recognition"), "layer");
      structure.prior = parse_layer_kind(laws.at("prior"), "layer");
      structure.nade_hidden = whole_number(laws.at("hidden"));
    }
    // A damaged number must not ask for memory.
    constexpr std::int64_t most_units = 1 << 20;
    constexpr std::size_t most_layers = 1000;
    require(structure.latent.size() <= most_layers && structure.between.size() <= most_layers,
            "{}: a sigmoid belief net of more than {} layers; the file is damaged", where, most_layers);
    require(structure.nade_hidden >= 0 && structure.nade_hidden <= most_units,
            "{}: layers of {} hidden units are none of a sigmoid belief net", where, structure.nade_hidden);
    std::int64_t below = make_distribution(structure.visible)->width();
    double numbers = 0;  // at least: down and up
    const auto check_width = [&](std::int64_t width) {
      require(width >= 1 && width <= most_units, "{}: a layer of {} units is no layer of a sigmoid belief net", where,
              width);
    };
    const auto next = [&](std::int64_t width) {
      check_width(width);
      numbers += 2 * static_cast<double>(below) * static_cast<double>(width);
      below = width;
    };
    for (const std::int64_t width : structure.latent) {
      for (const std::int64_t each : structure.between) next(each);
      next(width);
    }
    if (shape.contains("prior_hidden")) {
      check_width(structure.prior_hidden);
      numbers += static_cast<double>(below) * static_cast<double>(structure.prior_hidden);
    }
    numbers += structure.extra_weights(make_distribution(structure.visible)->width());
    require_numbers(file, numbers, where);
    SigmoidBeliefNet net(std::move(structure));
    read_parameters(net.parameters(), file, where);
    const std::int64_t width = net.visible().width();
    return std::make_unique<SbnModel>(info_of(header, width), std::move(net));
  });
}

}  // namespace harmonium
