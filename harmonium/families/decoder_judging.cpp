#include "harmonium/families/decoder_judging.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/decoder_annealing.h"
#include "harmonium/likelihood/importance_bound.h"

namespace harmonium {

namespace {

constexpr std::int64_t usual_chains = 8, usual_betas = 300, own_rows = 50;

std::int64_t decoder_chains(const EstimationOptions& options) {
  return options.chains > 0 ? options.chains : usual_chains;
}
std::int64_t decoder_betas(const EstimationOptions& options) { return options.betas > 0 ? options.betas : usual_betas; }

DecoderBase base_of(const EstimationOptions& options) {
  return options.base == "prior" ? DecoderBase::prior : DecoderBase::encoder;
}

std::string nats(double value) { return fixed_number(value, 2); }

// What importance sampling says of the rows that were annealed.
std::string beside_importance(const at::Tensor& annealed, const at::Tensor& importance, std::int64_t draws,
                              double acceptable) {
  const double other = importance.mean().item<double>(), gain = annealed.mean().item<double>() - other;
  std::string text = format("Importance sampling of the same rows with {} draws gives {}, {} nats {}", draws,
                            nats(other), nats(std::abs(gain)), gain >= 0 ? "less" : "more");
  if (gain > acceptable)
    text += ": the draws of the encoder miss much of what the decoder can do, and that bound says too little";
  // Both are lower bounds.
  if (gain < -0.05) text += ": believe that bound, or use more β";
  return text;
}

// The rows that were left out have another mean.
std::string beside_others(const at::Tensor& annealed, std::int64_t rows) {
  const auto chosen = static_cast<double>(annealed.size(0));
  if (annealed.size(0) == rows) return "";
  const double error = 2 * std::sqrt(annealed.var().item<double>() / chosen * (1 - chosen / static_cast<double>(rows)));
  return format(". The mean over all {} rows may differ from that over these {} by {} nats (two standard errors)", rows,
                annealed.size(0), nats(error));
}

}  // namespace

void check_decoder_annealing(const EstimationOptions& options) {
  harmonium::check(options);
  require(options.raise_rows >= 2, "@rows {}: give the number of rows to anneal, 2 or more", options.raise_rows);
  require(options.chains != 1, "@chains 1: annealing a decoder needs 2 chains of each row or more, for its error");
  require(options.schedule == "linear", "@schedule {}: a decoder is annealed by a schedule of its own; leave it out",
          options.schedule);
  require(options.base == "data" || options.base == "encoder" || options.base == "prior",
          "@base {}: a decoder is annealed from its encoder, or from its prior: encoder, prior", options.base);
}

std::int64_t annealed_rows(const EstimationOptions& options, std::int64_t rows) {
  return std::min(rows, options.raise_rows);
}

bool is_about_some_of(const Evaluation& evaluation, std::int64_t rows) {
  return evaluation.log_likelihood &&
         evaluation.log_likelihood->method.ends_with(format(", {} of {} rows", evaluation.n, rows));
}

bool annealed_the_same_way(const Evaluation& old, const EstimationOptions& options) {
  const auto& found = old.log_likelihood;
  if (!found || !found->method.starts_with(annealing_method(base_of(options)))) return false;
  const bool some = found->method.ends_with(" rows");
  return found->chains == decoder_chains(options) && found->betas == decoder_betas(options) &&
         (some ? old.n == options.raise_rows : old.n <= options.raise_rows);
}

std::vector<Evaluation> judge_by_decoder_annealing(const LatentModel& model, const Moments& parameters,
                                                   const Unit& visible, const std::vector<const TestData*>& tests,
                                                   const EstimationOptions& options, Watcher& watcher,
                                                   Journal* journal) {
  const Key key(options.seed);
  const at::TensorOptions as_parameters = parameters.entries().front().second.options();
  const DecoderPath path(model, parameters, base_of(options), key.fold_in(1));
  const std::string way = format("{}-{}", options.base == "prior" ? "prior" : "encoder", decoder_betas(options));
  // Blocks of rows keep their work under their own names.
  const auto annealing = [&](const std::string& what, const std::string& name) {
    return DecoderAnnealingOptions{.chains = decoder_chains(options),
                                   .betas = decoder_betas(options),
                                   .progress = watcher.begin(what),
                                   .journal = journal,
                                   .name = format("decoder-{}-{}", way, name)};
  };
  const OwnDrawBounds own = own_draw_annealing(
      path, own_rows, key.fold_in(2), annealing(format("annealing {} rows of the model's own", own_rows), "model"));
  std::vector<Evaluation> answers;
  for (std::size_t number = 0; number < tests.size(); ++number) {
    const TestData& test = *tests[number];
    const std::int64_t all = test.rows.rows(), count = annealed_rows(options, all);
    const at::Tensor chosen = std::get<0>(permutation(key.fold_in(3), all).narrow(0, 0, count).sort());
    at::Tensor annealed, importance;
    int draw = 0;
    const auto add = [&](at::Tensor& sum, const at::Tensor& one) {
      const at::Tensor share = on_cpu(one).to(at::kDouble) / static_cast<double>(test.draws);
      sum = sum.defined() ? sum + share : share;
    };
    Evaluation answer = judge_by_rows(test, visible, [&](const at::Tensor& rows) {
      const at::Tensor some = rows.index_select(0, chosen);
      const AnnealedDecoder found =
          anneal_decoder(path, some, key.fold_in(4).fold_in(static_cast<std::uint64_t>(draw)),
                         annealing(format("annealing {} rows", count), format("{}-{}-{}", number, count, draw)));
      ++draw;
      add(annealed, found.log_p);
      add(importance,
          importance_bound(model, parameters, some.to(as_parameters), options.importance, key.fold_in(5)).log_p);
      JudgedRows judged{.mean = found.mean, .each = found.log_p};
      if (count < all) judged.mean.method += format(", {} of {} rows", count, all);
      return judged;
    });
    answer.n = count;
    if (count < all) answer.of_rows = at::Tensor();
    const std::string gap =
        format("{} nats [{}, {}]", nats(own.gap()), nats(own.gap_interval.low), nats(own.gap_interval.high));
    answer.verdict = own.gap_interval.high <= options.gap
                         ? format("On rows of the model's own annealing misses at most {}", gap)
                         : format("On rows of the model's own annealing may miss {}: use more β", gap);
    answer.verdict +=
        ". " + beside_importance(annealed, importance, options.importance, options.gap) + beside_others(annealed, all);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace harmonium
