#include "harmonium/likelihood/decoder_annealing.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// Part of the names of random streams: another number gives other draws.
constexpr std::int64_t annealed_block = 50;
// Numbers of the data's width, all chains of the rows that walk together: on a CPU they should stay in its caches.
constexpr std::int64_t numbers_on_cpu = 1 << 19, numbers_on_device = 1 << 25;

enum class DecoderWay { up, down };

// Rows that walk together: some blocks, each with its own streams.
struct BlockOfRows {
  std::int64_t first, count;
  Key key;
};
std::vector<BlockOfRows> blocks_of(std::int64_t first, std::int64_t count, const Key& key) {
  std::vector<BlockOfRows> blocks;
  for (std::int64_t at = 0; at < count; at += annealed_block)
    blocks.push_back(
        {first + at, std::min(annealed_block, count - at), key.fold_in(static_cast<std::uint64_t>(first + at))});
  return blocks;
}

HmcDraws draws_of_blocks(const std::vector<BlockOfRows>& blocks, std::int64_t chains, std::uint64_t step,
                         const at::Tensor& noise) {
  std::vector<at::Tensor> momenta, lengths, decisions;
  for (const BlockOfRows& block : blocks) {
    const HmcDraws own =
        hmc_draws(block.key.fold_in(1).fold_in(step), block.count * chains, noise.size(1), noise.options());
    momenta.push_back(own.momenta);
    lengths.push_back(own.lengths);
    decisions.push_back(own.decisions);
  }
  return {.momenta = at::cat(momenta), .lengths = at::cat(lengths), .decisions = at::cat(decisions)};
}

at::Tensor log_density_of_noise(const at::Tensor& noise) {
  constexpr double half_log_tau = 0.91893853320467274178;
  return noise.square().sum(-1, /*keepdim=*/false, at::kDouble) * -0.5 -
         half_log_tau * static_cast<double>(noise.size(-1));
}

// Chains of some rows on their way: all that is needed to go on after any step.
struct DecoderCrowd {
  at::Tensor noise, log_weights;  // (rows · chains) × noise; rows · chains
  std::int64_t step = 0;
  double accepted = 0;  // sum over steps

  [[nodiscard]] NamedTensors tensors() const {
    return {{"step", at::scalar_tensor(step, at::kLong)},
            {"accepted", at::scalar_tensor(accepted, at::kDouble)},
            {"log_weights", on_cpu(log_weights)},
            {"noise", on_cpu(noise)}};
  }
  // Nothing changes where the tensors are not those of these chains.
  void restore(const NamedTensors& saved, std::int64_t steps) {
    std::array<at::Tensor, 4> found;
    for (const auto& [name, value] : saved) {
      if (name == "noise" && value.sizes() == noise.sizes() && value.scalar_type() == noise.scalar_type())
        found[0] = value;
      if (name == "log_weights" && value.sizes() == log_weights.sizes() && value.scalar_type() == at::kDouble)
        found[1] = value;
      if (name == "step" && value.numel() == 1 && value.scalar_type() == at::kLong) found[2] = value;
      if (name == "accepted" && value.numel() == 1 && value.scalar_type() == at::kDouble) found[3] = value;
    }
    if (!std::ranges::all_of(found, [](const at::Tensor& each) { return each.defined(); })) return;
    const auto at_step = found[2].item<std::int64_t>();
    if (at_step < 0 || at_step > steps || !at::isfinite(found[0]).all().item<bool>()) return;
    noise = found[0].to(noise.options()).clone();
    log_weights = found[1].to(log_weights.options()).clone();
    step = at_step;
    accepted = found[3].item<double>();
  }
};

using DecoderStart = std::function<at::Tensor(const BlockOfRows& block, const at::Tensor& rows)>;

// The whole walk of some rows.
DecoderCrowd walk_rows(const DecoderPath& path, DecoderWay way, const at::Tensor& rows,
                       const std::vector<BlockOfRows>& blocks, const DecoderStart& start,
                       const DecoderAnnealingOptions& options, const std::function<void(std::int64_t)>& tell) {
  std::vector<at::Tensor> starts;
  std::int64_t from = 0;
  for (const BlockOfRows& block : blocks) {
    starts.push_back(start(block, rows.narrow(0, from, block.count)));
    from += block.count;
  }
  DecoderCrowd crowd{.noise = at::cat(starts).reshape({-1, path.noise_width()}), .log_weights = {}};
  crowd.log_weights = at::zeros({crowd.noise.size(0)}, crowd.noise.options().dtype(at::kDouble));
  const std::string name =
      format("{}-{}-{}", options.name, way == DecoderWay::up ? "up" : "down", blocks.front().first);
  if (const auto kept = options.journal != nullptr ? options.journal->find(name) : std::nullopt)
    crowd.restore(*kept, options.betas);
  const auto keep = [&] {
    if (options.journal != nullptr) options.journal->keep(name, crowd.tensors());
  };
  const auto place = [&](std::int64_t k) { return static_cast<double>(k) / static_cast<double>(options.betas); };
  try {
    while (crowd.step < options.betas) {
      // Between places k − 1 and k. Upwards chains that have been weighed for the last time need not move any more.
      const std::int64_t k = way == DecoderWay::up ? crowd.step + 1 : options.betas - crowd.step;
      const auto weigh = [&] {
        const DecoderPath::Ends ends =
            path.ends(rows, crowd.noise.view({rows.size(0), options.chains, path.noise_width()}));
        crowd.log_weights +=
            (ends.last - ends.first).reshape({-1}) * (DecoderPath::beta(place(k)) - DecoderPath::beta(place(k - 1)));
      };
      if (way == DecoderWay::up) weigh();
      if (way == DecoderWay::down || k < options.betas)
        crowd.accepted += hmc(path.target(rows, options.chains, DecoderPath::beta(place(k))), crowd.noise,
                              path.step(place(k)), DecoderPath::leapfrog,
                              draws_of_blocks(blocks, options.chains, static_cast<std::uint64_t>(k), crowd.noise))
                              .accepted;
      if (way == DecoderWay::down) weigh();
      ++crowd.step;
      if (options.journal != nullptr && (crowd.step == options.betas || options.journal->due())) keep();
      tell(crowd.step);
    }
  } catch (const RunFailure&) {  // how a caller stops the work
    keep();
    throw;
  }
  return crowd;
}

AnnealedDecoder walk_all(const DecoderPath& path, DecoderWay way, const at::Tensor& given, const Key& key,
                         const DecoderAnnealingOptions& options, const DecoderStart& start) {
  require(options.chains >= 2 && options.betas >= 1,
          "annealing a decoder needs at least two chains of each row, for its error, and one step, not {} and {}",
          options.chains, options.betas);
  require(given.dim() == 2 && given.size(0) >= 1, "annealing a decoder needs rows");
  const c10::NoGradGuard without_gradient;
  const at::Tensor rows = given.to(path.parameters().entries().front().second.options());
  const std::int64_t fits =
      (rows.is_cpu() ? numbers_on_cpu : numbers_on_device) / (options.chains * std::max<std::int64_t>(rows.size(1), 1));
  const std::int64_t asked = options.rows_at_once > 0 ? options.rows_at_once : fits;
  const std::int64_t at_once = std::max<std::int64_t>(1, asked / annealed_block) * annealed_block;
  std::vector<at::Tensor> weights;
  double accepted = 0;
  const std::int64_t n = rows.size(0), chunks = (n + at_once - 1) / at_once;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t first = chunk * at_once, count = std::min(at_once, n - first);
    const DecoderCrowd crowd = walk_rows(path, way, rows.narrow(0, first, count), blocks_of(first, count, key), start,
                                         options, [&](std::int64_t step) {
                                           if (options.progress)
                                             options.progress(chunk * options.betas + step, chunks * options.betas);
                                         });
    weights.push_back(on_cpu(crowd.log_weights).reshape({count, options.chains}));
    accepted += crowd.accepted * static_cast<double>(count);
  }
  const std::int64_t trajectories = options.betas - (way == DecoderWay::up ? 1 : 0);
  AnnealedDecoder result{.log_weights = at::cat(weights), .log_p = {}, .effective_chains = {}, .mean = {}};
  result.accepted = accepted / static_cast<double>(n * std::max<std::int64_t>(trajectories, 1));
  // Downwards it is 1/w whose mean is 1/p(x).
  const double sign = way == DecoderWay::up ? 1 : -1;
  const at::Tensor averaged = sign * result.log_weights, sum = at::logsumexp(averaged, 1);
  const auto chains = static_cast<double>(options.chains);
  result.log_p = sign * (sum - std::log(chains));
  result.effective_chains = (2 * sum - at::logsumexp(2 * averaged, 1)).exp();
  // As for importance weights: Var log mean w ≈ (1/effective − 1/M)·M/(M − 1).
  const double variance =
      (1 / result.effective_chains - 1 / chains).clamp_min(0).sum().item<double>() * chains / (chains - 1);
  const double half = 1.96 * std::sqrt(variance) / static_cast<double>(n);
  const double value = result.log_p.mean().item<double>();
  result.mean = {.value = value,
                 .low = value - half,
                 .high = value + half,
                 .kind = way == DecoderWay::up ? EstimateKind::lower_bound : EstimateKind::upper_bound,
                 .method = (way == DecoderWay::up ? "" : "reverse ") + annealing_method(path.base()),
                 .chains = options.chains,
                 .betas = options.betas,
                 .effective_samples = result.effective_chains.mean().item<double>()};
  return result;
}

const Decoder& decoder_of(const LatentModel& model) {
  const Decoder* decoder = model.decoder();
  require(decoder != nullptr, "a net with discrete latents cannot be annealed along its noise");
  return *decoder;
}

}  // namespace

DecoderPath::DecoderPath(const LatentModel& model, const Moments& parameters, DecoderBase base, const Key& key)
    : model_(model),
      decoder_(decoder_of(model)),
      parameters_(parameters.map([](const at::Tensor& value) { return value.detach(); })),
      base_(base) {
  constexpr int places = 10, rounds = 8;
  constexpr std::int64_t pilot_rows = 50, pilot_chains = 2;
  constexpr double wanted = 0.65;
  const c10::NoGradGuard without_gradient;
  const at::Tensor rows =
      model.dream(parameters_, pilot_rows, key.fold_in(0)).visible.to(parameters_.entries().front().second.options());
  at::Tensor noise = draw_base(rows, pilot_chains, key.fold_in(1)).reshape({-1, noise_width()});
  double found = 0.5;
  for (int place = 0; place <= places; ++place) {
    found = find_hmc_step(target(rows, pilot_chains, beta(static_cast<double>(place) / places)), noise, found, leapfrog,
                          key.fold_in(2).fold_in(static_cast<std::uint64_t>(place)), wanted, rounds);
    steps_.push_back(found);
  }
}

double DecoderPath::beta(double place) {
  if (place <= 0 || place >= 1) return place <= 0 ? 0 : 1;
  constexpr double reach = 4;
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double low = sigmoid(-reach), high = sigmoid(reach);
  return (sigmoid(reach * (2 * place - 1)) - low) / (high - low);
}

double DecoderPath::step(double place) const {
  const double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(steps_.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), steps_.size() - 2);
  return std::lerp(steps_[below], steps_[below + 1], at - static_cast<double>(below));
}

at::Tensor DecoderPath::draw_base(const at::Tensor& rows, std::int64_t chains, const Key& key) const {
  if (base_ == DecoderBase::prior) return normal(key, {rows.size(0), chains, noise_width()}, rows.options());
  return decoder_.noise(parameters_, model_.infer(parameters_, rows, chains, key).latents);
}

DecoderPath::Ends DecoderPath::ends(const at::Tensor& rows, const at::Tensor& noise) const {
  const at::Tensor prior = log_density_of_noise(noise);
  const std::vector<at::Tensor> latents = decoder_.latents(parameters_, noise);
  if (base_ == DecoderBase::prior)
    return {.first = prior, .last = prior + decoder_.log_likelihood(parameters_, rows, latents)};
  const Trace trace = model_.score(parameters_, rows, latents);
  // Both densities of z, times |∂z/∂ε| = N(ε)/p(z).
  at::Tensor first = prior;
  for (const at::Tensor& each : trace.log_q) first = first + each;
  for (std::size_t l = 1; l < trace.log_p.size(); ++l) first = first - trace.log_p[l];
  return {.first = first, .last = prior + trace.log_p.front()};
}

HmcTarget DecoderPath::target(const at::Tensor& rows, std::int64_t chains, double beta) const {
  const auto log_f = [this, &rows, chains, beta](const at::Tensor& noise) {
    const Ends found = ends(rows, noise.view({rows.size(0), chains, noise_width()}));
    return at::lerp(found.first, found.last, beta).reshape({-1});
  };
  return {.log_f = log_f, .score = [log_f](const at::Tensor& noise) {
            const c10::AutoGradMode with_gradient(true);
            const at::Tensor leaf = noise.detach().requires_grad_();
            log_f(leaf).sum().backward();
            return leaf.grad();
          }};
}

AnnealedDecoder anneal_decoder(const DecoderPath& path, const at::Tensor& rows, const Key& key,
                               const DecoderAnnealingOptions& options) {
  return walk_all(path, DecoderWay::up, rows, key.fold_in(0), options,
                  [&](const BlockOfRows& block, const at::Tensor& own) {
                    return path.draw_base(own, options.chains, block.key.fold_in(0));
                  });
}

AnnealedDecoder anneal_decoder_down(const DecoderPath& path, const at::Tensor& rows,
                                    const std::vector<at::Tensor>& makers, const Key& key,
                                    const DecoderAnnealingOptions& options) {
  for (const at::Tensor& each : makers)
    require(each.dim() == 2 && each.size(0) == rows.size(0),
            "latents that made {} rows have as many rows, and one draw of each", rows.size(0));
  const at::Tensor noise = path.model().decoder()->noise(path.parameters(), makers);
  return walk_all(path, DecoderWay::down, rows, key.fold_in(1), options,
                  [&](const BlockOfRows& block, const at::Tensor&) {
                    return noise.narrow(0, block.first, block.count)
                        .unsqueeze(1)
                        .expand({block.count, options.chains, path.noise_width()});
                  });
}

OwnDrawBounds own_draw_annealing(const DecoderPath& path, std::int64_t count, const Key& key,
                                 const DecoderAnnealingOptions& options) {
  require(count >= 2, "bounds on own draws need at least two rows for their error, not {}", count);
  const c10::NoGradGuard without_gradient;
  const Dream made = path.model().dream(path.parameters(), count, key.fold_in(0));
  DecoderAnnealingOptions told = options;
  const auto half_of = [&](std::int64_t half) {
    return [&options, half](std::int64_t done, std::int64_t total) {
      if (options.progress) options.progress(half * total + done, 2 * total);
    };
  };
  told.name = options.name + "-own";
  told.progress = half_of(0);
  const AnnealedDecoder up = anneal_decoder(path, made.visible, key.fold_in(1), told);
  told.progress = half_of(1);
  const AnnealedDecoder down = anneal_decoder_down(path, made.visible, made.latents, key.fold_in(1), told);
  return bounds_on_own_rows(
      up.log_p, down.log_p,
      format("{}, {} chains × {} β", annealing_method(path.base()), options.chains, options.betas), key.fold_in(2));
}

std::string annealing_method(DecoderBase base) {
  return base == DecoderBase::prior ? "ais from the prior" : "ais from the encoder";
}

}  // namespace harmonium
