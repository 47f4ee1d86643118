#include "harmonium/families/sbn_em.h"

#include <c10/core/GradMode.h>

#include <charconv>

#include "harmonium/core/error.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/sbn_options.h"
#include "harmonium/inference/latent_gibbs.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

enum : std::uint64_t { em_sweep_stream = 0xE57E, em_shown_stream = 0x5409 };  // of an update's key

}  // namespace

std::int64_t em_sweeps(const std::string& objective) {
  if (objective == "em") return 1;
  constexpr std::string_view form = "em:";
  if (!objective.starts_with(form)) return 0;
  constexpr std::int64_t most = 1'000'000;
  const char *first = objective.data() + form.size(), *end = objective.data() + objective.size();
  std::int64_t sweeps = 0;
  const auto [stopped, error] = std::from_chars(first, end, sweeps);
  require(error == std::errc() && stopped == end && sweeps >= 1 && sweeps <= most,
          "@objective {}: give em:S with a number of Gibbs sweeps S, 1 or more", objective);
  return sweeps;
}

std::unique_ptr<Objective> em_objective(const RunConfig& config, const RunData& data, const SigmoidBeliefNet& net) {
  const auto& own = config.own.as<SbnOptions>();
  const auto kept = std::make_shared<LatentGibbs>(net, data.train.rows(), em_sweeps(own.objective),
                                                  Key(config.seed).fold_in(run_streams::initial).fold_in(2));
  return std::make_unique<SurrogateAscent>(
      net.parameters(), groups_by_name(net.parameters()), "log_likelihood",
      [net, kept](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        const at::Tensor& rows = batch.front();
        std::vector<at::Tensor> latents =
            kept->visit(net, leaves, rows, step.rows.to(rows.device()), step.key.fold_in(em_sweep_stream));
        for (at::Tensor& each : latents) each = each.unsqueeze(1);
        const Trace trace = net.score(leaves, rows, latents);
        at::Tensor climbed = trace.log_p.back().mean();
        for (std::size_t l = 0; l < latents.size(); ++l)
          climbed = climbed + trace.log_p[l].mean() + trace.log_q[l].mean();
        const c10::NoGradGuard without_gradient;
        return SurrogateAscent::Value{
            .climbed = climbed,
            .shown = net.infer(leaves, rows, 1, step.key.fold_in(em_shown_stream)).log_weights().mean()};
      },
      SurrogateAscent::Kept{.state = [kept] { return kept->state(); },
                            .restore = [kept](const NamedTensors& saved) { kept->restore(saved); }});
}

}  // namespace harmonium
