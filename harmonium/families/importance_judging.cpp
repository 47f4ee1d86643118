#include "harmonium/families/importance_judging.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
#include "harmonium/likelihood/bidirectional.h"
#include "harmonium/likelihood/mean_field_bound.h"
#include "harmonium/likelihood/weight_tails.h"

namespace harmonium {

namespace {

enum : std::uint64_t { own_rows_stream = 1, rows_stream = 2 };

}  // namespace

BoundedRows bound_rows(const LatentModel& model, const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                       const Key& key, const Progress& progress) {
  constexpr std::int64_t rows_at_once = 500;
  const at::Device device = parameters.entries().front().second.device();
  std::vector<at::Tensor> each, rising, tails;
  double sum = 0, variance = 0;
  for (std::int64_t first = 0; first < rows.size(0); first += rows_at_once) {
    const at::Tensor piece = rows.narrow(0, first, std::min(rows_at_once, rows.size(0) - first));
    const ImportanceBound found =
        importance_bound(model, parameters, piece.to(device), draws, key.fold_in(static_cast<std::uint64_t>(first)));
    const auto count = static_cast<double>(piece.size(0));
    sum += found.mean.value * count;
    const double half = (found.mean.high - found.mean.low) / 2 * count;
    variance += half * half;
    each.push_back(found.log_p);
    rising.push_back(found.rising);
    if (found.tails.defined()) tails.push_back(found.tails);
    progress(first + piece.size(0), rows.size(0));
  }
  const auto n = static_cast<double>(rows.size(0));
  BoundedRows result;
  result.mean = {.value = sum / n,
                 .low = (sum - std::sqrt(variance)) / n,
                 .high = (sum + std::sqrt(variance)) / n,
                 .kind = EstimateKind::lower_bound,
                 .method = "importance sampling",
                 .chains = draws};
  result.each = at::cat(each);
  result.rising = at::cat(rising);
  if (!tails.empty()) result.tails = at::cat(tails);
  return result;
}

void tell_rise(Evaluation& answer, const std::vector<BoundedRows>& found) {
  if (found.empty() || !answer.log_likelihood) return;
  std::vector<at::Tensor> rising, tails;
  for (const BoundedRows& each : found) {
    rising.push_back(each.rising);
    if (each.tails.defined()) tails.push_back(each.tails);
  }
  const at::Tensor means = at::cat(rising).mean(0);
  std::int64_t draws = 1;
  for (std::int64_t power = 0; power < means.size(0); ++power, draws *= 10)
    answer.bounds.push_back({.draws = draws, .value = means[power].item<double>()});
  answer.bounds.push_back({.draws = found.front().mean.chains, .value = answer.log_likelihood->value});
  std::string text = "With ", values;
  for (std::size_t i = 0; i < answer.bounds.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == answer.bounds.size() ? " and " : ", ";
    text += format("{}{}", before, answer.bounds[i].draws);
    values += format("{}{}", before, fixed_number(answer.bounds[i].value, 2));
  }
  answer.verdict += format(". {} draws of a row the bound is {}", text, values);
  if (tails.empty()) return;
  answer.heavy_rows = at::cat(tails).gt(WeightTails::heavy).to(at::kDouble).mean().item<double>();
  answer.verdict += format("; weights of {:.1f} % of the rows have a heavy tail (Pareto k above {})",
                           100 * *answer.heavy_rows, WeightTails::heavy);
}

OwnDrawBounds judge_own_rows(const LatentModel& model, const Moments& parameters, const EstimationOptions& options) {
  constexpr std::int64_t own_rows = 100;
  return own_draw_bounds(model, parameters, own_rows, options.importance, Key(options.seed).fold_in(own_rows_stream));
}

std::string in_words(const OwnDrawBounds& own, double acceptable) {
  const std::string gap =
      format("{:.2f} nats [{:.2f}, {:.2f}]", own.gap(), own.gap_interval.low, own.gap_interval.high);
  return own.gap_interval.high <= acceptable
             ? format("On rows of the model's own the bound misses at most {}", gap)
             : format("On rows of the model's own the bound may miss {}: use more importance samples", gap);
}

std::vector<Evaluation> judge_by_importance(const LatentModel& model, const Moments& parameters, const Unit& visible,
                                            const std::vector<const TestData*>& tests, const EstimationOptions& options,
                                            Watcher& watcher) {
  const OwnDrawBounds own = judge_own_rows(model, parameters, options);
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) {
    std::vector<BoundedRows> found;
    Evaluation answer = judge_by_rows(*test, visible, [&](const at::Tensor& rows) {
      found.push_back(bound_rows(model, parameters, rows, options.importance, Key(options.seed).fold_in(rows_stream),
                                 watcher.begin(format("importance sampling, {} draws", options.importance))));
      return found.back();
    });
    answer.verdict = in_words(own, options.gap);
    tell_rise(answer, found);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<Evaluation> judge_bidirectional(const LatentModel& model, const Moments& parameters, const Unit& visible,
                                            const std::vector<const TestData*>& tests, const EstimationOptions& options,
                                            Watcher& watcher) {
  const Key key(options.seed);
  constexpr std::int64_t own_rows = 2000, own_draws = 10;
  const Estimate log_z2 = bidirectional_log_z2(model, parameters, own_rows, own_draws, key.fold_in(1));
  const at::Device device = parameters.entries().front().second.device();
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) {
    Estimate bound;
    Evaluation answer = judge_by_rows(*test, visible, [&](const at::Tensor& rows) {
      const Progress progress = watcher.begin(format("bidirectional machine, {} draws", options.importance));
      const BidirectionalBound found =
          bidirectional_bound(model, parameters, rows.to(device), options.importance, key.fold_in(2));
      progress(rows.size(0), rows.size(0));
      bound = found.mean;
      const double half = std::hypot(bound.high - bound.low, log_z2.high - log_z2.low) / 2;
      Estimate whole = bound;
      whole.value -= log_z2.value;
      whole.low = whole.value - half;
      whole.high = whole.value + half;
      whole.kind = EstimateKind::estimate;
      whole.effective_samples = log_z2.effective_samples;
      return JudgedRows{.mean = whole, .each = found.log_p - log_z2.value};
    });
    answer.verdict = format(
        "this is log p* of the machine that joins both nets, p* = p̃/Z². log p̃ is {} nats, a lower bound on log p of the "
        "net; log Z² is {} [{}, {}], from {}",
        fixed_number(bound.value, 2), fixed_number(log_z2.value, 2), fixed_number(log_z2.low, 2),
        fixed_number(log_z2.high, 2), log_z2.method);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<Evaluation> judge_by_mean_field(const SigmoidBeliefNet& net, const Unit& visible,
                                            const std::vector<const TestData*>& tests, const EstimationOptions& options,
                                            Watcher& watcher) {
  const at::Device device = net.parameters().entries().front().second.device();
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) {
    Estimate beside;
    Evaluation answer = judge_by_rows(*test, visible, [&](const at::Tensor& rows) {
      beside = bound_rows(net, net.parameters(), rows, options.importance, Key(options.seed).fold_in(rows_stream),
                          watcher.begin(format("importance sampling, {} draws", options.importance)))
                   .mean;
      const MeanFieldBound found =
          mean_field_bound(net, rows.to(device), {.progress = watcher.begin("mean field, row by row")});
      const double mean = found.log_p.mean().item<double>();
      return JudgedRows{.mean = {.value = mean,
                                 .low = mean,
                                 .high = mean,
                                 .kind = EstimateKind::lower_bound,
                                 .method = mean_field_bound_method},
                        .each = found.log_p};
    });
    answer.verdict = format(
        "The bound draws nothing, so it has no noise, but a factorial posterior may lose much. Importance sampling with "
        "{} draws has {} on the same rows; both are lower bounds, and the larger one is nearer",
        options.importance, fixed_number(beside.value, 2));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace harmonium
