#include "harmonium/families/energy_family.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/real_values.h"
#include "harmonium/training/objectives/energy_contrast.h"

namespace harmonium {

std::vector<std::string> energy_option_names() {
  namespace groups = option_groups;
  std::vector<std::string> options = groups::joined({groups::common(), groups::tracked(), {"particles"}});
  for (const char* other : {"shrink", "precision"}) std::erase(options, other);
  return options;
}

void resolve_energy(RunConfig& config, const RunData& data, EnergyOptions& own, double usual_spread) {
  const auto visible = make_unit(config.visible);
  require(visible->support() == Unit::Support::reals, "@visible {}: {} models real values; use @visible gaussian",
          config.visible, config.model);
  require(config.binarize == "none" || data.binarization == Binarization::dequantized,
          "@binarize {}: {} models real values, which are not binarized", config.binarize, config.model);
  require(own.whiten == "zca" || own.whiten == "columns" || own.whiten == "none",
          "@whiten {}: there are zca, columns and none", own.whiten);
  if (own.spread == 0) own.spread = own.whiten != "none" ? usual_spread : 1.0;
  require(std::isfinite(own.spread) && own.spread > 0, "@spread {}: give a positive number", own.spread);
  require(own.leapfrog >= 1, "@leapfrog {}: give a number of steps, 1 or more", own.leapfrog);
  require(own.acceptance > 0 && own.acceptance < 1, "@acceptance {}: give a share between 0 and 1", own.acceptance);
  require(own.moves == "hmc" || own.moves == "gibbs", "@moves {}: there are hmc and gibbs", own.moves);
  require(std::isfinite(own.fast_rate) && own.fast_rate >= 0, "@fast_rate {}: give a positive rate, or 0 for none",
          own.fast_rate);
  require(own.fast_decay >= 0 && own.fast_decay < 1, "@fast_decay must be at least 0 and below 1, not {}",
          own.fast_decay);
  require(config.keep != "best",
          "@keep best: the log-likelihood of this model is not known during training; leave @keep out");
  require(config.device == "cpu", "@device {}: @model {} is trained on the CPU only", config.device, config.model);
  if (config.particles == 0) config.particles = config.batch;
}

std::unique_ptr<Model> make_energy_model(const RunConfig& config, const RunData& data, const EnergyOptions& own,
                                         const FreeEnergyModel& energy, const EnergyModelMaker& maker) {
  check_rows(data, *make_unit(config.visible));
  Whitening whitening = whitening_of(with_noise(data.train, data.binarization, noise_key(config)), own.whiten);
  whitening.spread = own.spread;
  ModelInfo info = initial_info(config, data);
  info.notes["whiten"] = own.whiten;
  return maker(std::move(info), energy.initial_parameters(Key(config.seed).fold_in(run_streams::initial)),
               std::move(whitening));
}

std::unique_ptr<Trainee> train_energy_model(const RunConfig& config, const RunData& data, const EnergyOptions& own,
                                            const EnergyFamilyModel& start) {
  RunData seen = data;
  seen.train = whitened(data.train, start.whitening());
  if (data.valid.rows() > 0) seen.valid = whitened(data.valid, start.whitening());
  const auto& energy = start.energy();
  require(own.moves != "gibbs" || energy->has_gibbs(),
          "@moves gibbs: given its hidden units @model {} has no distribution to draw values from; use @moves hmc",
          config.model);
  auto objective = std::make_unique<EnergyContrast>(energy, start.parameters().clone(),
                                                    EnergyContrastOptions{.particles = config.particles,
                                                                          .leapfrog = own.leapfrog,
                                                                          .acceptance = own.acceptance,
                                                                          .gibbs = own.moves == "gibbs",
                                                                          .fast_rate = own.fast_rate,
                                                                          .fast_decay = own.fast_decay},
                                                    Key(config.seed).fold_in(run_streams::chains));
  constexpr std::int64_t most_rows = 1000;
  const at::Tensor learnt = with_noise(seen.train.first(most_rows), data.binarization, noise_key(config)).to_float();
  const bool validated = data.valid.rows() > 0;
  const std::shared_ptr<const EnergyFamilyModel> begun = start.with_parameters(start.parameters());
  return train_by_likelihood(
      std::move(objective), config, seen,
      {.model = [begun](const Moments& parameters) -> std::unique_ptr<Model> {
         if (begun->energy()->complaint(parameters).empty()) return begun->with_parameters(parameters);
         Moments back = parameters.clone();  // an average may lie outside of what each step kept to
         begun->energy()->constrain_(back);
         return begun->with_parameters(std::move(back));
       },
       .measures = [energy, learnt, validated](const Moments& parameters,
                                               const at::Tensor& rows) -> std::map<std::string, double> {
         std::map<std::string, double> found = energy->measures(parameters);
         if (!validated) return found;
         // Far above 0: training rows are likelier than others.
         const auto mean = [&](const at::Tensor& v) { return energy->log_f(v, parameters).mean().item<double>(); };
         found["log_f_overfit"] = mean(learnt) - mean(rows);
         return found;
       }});
}

std::string energy_words(const EnergyOptions& own) {
  return (own.fast_rate > 0 ? "; fast weights, " : "; ") + own.moves;
}

double energy_products(const RunConfig& config, const EnergyOptions& own, double weights) {
  const auto leapfrog = static_cast<double>(own.leapfrog + 3);
  return 2 * weights * (static_cast<double>(config.batch) + leapfrog * static_cast<double>(config.particles));
}

void require_energy_sizes(const std::vector<std::int64_t>& counts, const std::string& where) {
  constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
  for (const std::int64_t count : counts)
    require(count >= 0 && count <= most_units, "{}: {} units make no layer of this model", where, count);
}

Whitening read_whitening(const TensorFile& file, std::int64_t inputs, double spread, const std::string& where) {
  Whitening whitening{.mean = at::zeros({inputs}), .matrix = at::zeros({inputs, inputs})};
  copy_parameter(whitening.mean, "input.mean", find_tensor(file.tensors, "input.mean", where), where);
  copy_parameter(whitening.matrix, "input.whitening", find_tensor(file.tensors, "input.whitening", where), where);
  whitening = {.mean = whitening.mean.to(at::kDouble), .matrix = whitening.matrix.to(at::kDouble), .spread = spread};
  require(std::isfinite(whitening.log_determinant()), "{}: its whitening cannot be undone; the file is damaged", where);
  return whitening;
}

}  // namespace harmonium
