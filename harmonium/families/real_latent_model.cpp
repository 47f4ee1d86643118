#include "harmonium/families/real_latent_model.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/core/number_text.h"
#include "harmonium/families/decoder_judging.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/importance_judging.h"
#include "harmonium/families/latent_pictures.h"
#include "harmonium/families/output_distribution.h"
#include "harmonium/gradients/objectives/path_objective.h"

namespace harmonium {

std::string RealLatentModel::remark() const {
  return "Log-likelihoods are lower bounds, in nats per row. Numbers under different binarizations are not "
         "comparable.";
}

std::vector<Exhibit> RealLatentModel::shown_rows(const ExhibitInput& input, const Encoder& encoder) const {
  constexpr std::int64_t samples = 60, columns = 20, most_rows = 500;
  std::vector<Exhibit> all = {{.id = "samples",
                               .title = "Samples",
                               .caption = "Means of the data's units given independent draws of the latent variables.",
                               .rows = on_cpu(latent_model().dream(parameters(), samples, Key(1)).means),
                               .samples = true}};
  const Dataset& train = input.train;
  const bool fits = train.rows() == 0 || train.columns() == visible().width();
  if (std::optional<Exhibit> latents = latent_exhibit(*this, fits ? train : Dataset{}))
    all.push_back(std::move(*latents));
  if (train.rows() < columns || train.columns() != visible().width()) return all;
  const at::Tensor rows = train.first(columns).to_float();
  all.push_back({.id = "reconstructions",
                 .title = "Reconstructions",
                 .caption = format("Rows of {}, and below each its mean given the mean of the latent variables. {}",
                                   train.name, use_of_latents(train.first(most_rows).to_float().to(device()))),
                 .rows = at::cat({rows, encoder.reconstruct(rows)}),
                 .columns = columns});
  return all;
}

std::int64_t RealLatentModel::variables() const { return latent_model().decoder()->noise_width(); }

at::Tensor RealLatentModel::decode(const at::Tensor& variables) const {
  constexpr std::int64_t at_once = 500;
  const c10::NoGradGuard without_gradient;
  const Decoder& decoder = *latent_model().decoder();
  const Moments all = parameters();
  std::vector<at::Tensor> parts;
  for (std::int64_t first = 0; first == 0 || first < variables.size(0); first += at_once) {
    const at::Tensor noise = variables.narrow(0, first, std::min(at_once, variables.size(0) - first)).to(device());
    parts.push_back(on_cpu(decoder.means(all, decoder.latents(all, noise))));
  }
  return at::cat(parts);
}

at::Tensor RealLatentModel::place(const at::Tensor& rows) const {
  const c10::NoGradGuard without_gradient;
  return on_cpu(placed(rows.to(device())));
}

at::Tensor RealLatentModel::posterior(const at::Tensor& rows, std::int64_t draws, std::uint64_t seed) const {
  const c10::NoGradGuard without_gradient;
  const Moments all = parameters();
  return on_cpu(
      latent_model().decoder()->means(all, latent_model().infer(all, rows.to(device()), draws, Key(seed)).latents));
}

at::Tensor RealLatentModel::information(const at::Tensor& rows) const {
  const c10::NoGradGuard without_gradient;
  return on_cpu(divergences(rows.to(device())));
}

void RealLatentModel::check(const EstimationOptions& options) const {
  require(options.method == "auto" || options.method == "ais",
          "@method {}: this model ({}) is judged by importance sampling (leave @method out, and choose @importance) or "
          "by annealing its decoder (@method ais)",
          options.method, title());
  if (options.method == "ais") return check_decoder_annealing(options);
  harmonium::check(options);
}

std::vector<Evaluation> RealLatentModel::judge(const std::vector<const TestData*>& tests,
                                               const EstimationOptions& options, Watcher& watcher,
                                               Journal* journal) const {
  check(options);
  require_tests(tests);
  for (const TestData* test : tests) check_protocol(output(), *test);
  if (options.method == "ais")
    return judge_by_decoder_annealing(latent_model(), parameters(), visible(), tests, options, watcher, journal);
  return judge_by_importance(latent_model(), parameters(), visible(), tests, options, watcher);
}

bool RealLatentModel::same_way(const Evaluation& old, const EstimationOptions& options) const {
  if (options.method == "ais") return annealed_the_same_way(old, options);
  return old.log_likelihood && old.log_likelihood->betas == 0 && old.log_likelihood->chains == options.importance;
}

at::Tensor RealLatentModel::draw(const Request& request) const {
  const Dream dream = latent_model().dream(parameters(), request.count, Key(request.seed));
  return on_cpu(request.means ? dream.means : dream.visible);
}

const char* BoundOptions::objective_help() {
  static const std::string text = [] {
    std::string all = "what to climb, and how its gradient is estimated: elbo (the one-draw bound, KL in closed form)";
    for (const PathObjectiveType& each : path_objectives())
      all += format("; {} ({}{})", each.form, each.help,
                    each.usual > 1 ? format(", {} draws if K is left out", each.usual) : "");
    return all;
  }();
  return text.c_str();
}

std::int64_t BoundOptions::draws() const { return one_draw() ? 1 : PathObjective(objective).draws(); }

void BoundOptions::resolve() {
  if (!one_draw()) {
    const std::string name = objective.substr(0, objective.find(':'));
    require(std::ranges::any_of(path_objectives(), [&](const PathObjectiveType& each) { return each.name == name; }),
            "@objective {}: there are elbo, {}", objective, names_of(path_objectives()));
    objective = PathObjective(objective).spec();
  }
  require(free_nats >= 0 && std::isfinite(free_nats), "@free_nats must not be negative, and is {}", free_nats);
  require(warm_up >= 0, "@warm_up {}: give a number of updates, or 0", warm_up);
  require(one_draw() || plain(), "@{} changes what @objective elbo climbs, and nothing of {}; leave it out",
          free_nats > 0 ? "free_nats" : "warm_up", objective);
}

ElboOptions BoundOptions::at(std::int64_t update) const {
  return {.beta = warm_up == 0 ? 1 : std::min(1.0, static_cast<double>(update) / static_cast<double>(warm_up)),
          .free_nats = free_nats};
}

std::string latents_in_words(const std::vector<double>& kl, const std::vector<std::int64_t>& active,
                             const std::vector<std::int64_t>& widths) {
  std::string text = "Latent variables, from the data up";
  for (std::size_t l = 0; l < kl.size(); ++l)
    text += format("{} layer {}: KL {} nats, {} of {} variables active", l == 0 ? ":" : ";", l + 1,
                   fixed_number(kl[l], 2), active.at(l), widths.at(l));
  return text + ".";
}

std::vector<std::int64_t> latent_widths(const std::string& latent) {
  try {
    const std::vector<std::int64_t> widths = layer_widths(latent);
    require(!widths.empty(), "at least one layer is needed");
    return widths;
  } catch (const Error&) {
    fail("@latent {}: give the numbers of latent variables in each layer from the data up, such as 100,50", latent);
  }
}

}  // namespace harmonium
