#include "harmonium/families/vrnn_judging.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/data/packed_sequences.h"
#include "harmonium/gradients/objectives/vrnn_bound.h"
#include "harmonium/likelihood/vrnn_filter.h"

namespace harmonium {

namespace {

enum : std::uint64_t { own_sequences_stream = 1, sequences_stream = 2, beside_stream = 3 };

// Particles, or frames where there are none, that are looked at together.
constexpr std::int64_t particles_at_once = 20'000, frames_at_once = 20'000;

ParticleFilterOptions filter_of(SequenceMethod method, std::int64_t draws) {
  return {.particles = draws / 2, .threshold = method == SequenceMethod::particles ? 0.5 : 0.0};
}

// Calls visit(packed) for all sequences, those of a block about as long; at least one each.
template <class Visit>
void for_each_block_of_sequences(const Dataset& data, std::int64_t frames_of_each, Visit visit) {
  const std::vector<std::int64_t> order = pack(data, at::arange(data.cases(), at::kLong)).order;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    for (std::int64_t frames = 0; end < order.size() && (end == begin || frames < frames_at_once); ++end)
      frames += frames_of_each > 0 ? frames_of_each
                                   : (data.lengths.empty() ? 1 : data.lengths[static_cast<std::size_t>(order[end])]);
    const std::vector<std::int64_t> block(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                          order.begin() + static_cast<std::ptrdiff_t>(end));
    visit(pack(data, at::tensor(block, at::kLong)), begin, end);
    begin = end;
  }
}

struct TwoFilters {
  at::Tensor increments;  // of every packed frame: log of the mean of both p̂ up to it, less that before it
  at::Tensor log_p;       // of every sequence
  at::Tensor variances;   // of log_p by its draws, to first order
};

// The mean of two independent estimates.
TwoFilters together(const FilteredSequences& one, const FilteredSequences& other,
                    const std::vector<std::int64_t>& alive) {
  at::Tensor a = at::zeros_like(one.log_p), b = a.clone(), before = a.clone(), increments = one.increments.clone();
  std::int64_t first = 0;
  for (const std::int64_t count : alive) {
    a.narrow(0, 0, count).add_(one.increments.narrow(0, first, count));
    b.narrow(0, 0, count).add_(other.increments.narrow(0, first, count));
    const at::Tensor both = at::logaddexp(a.narrow(0, 0, count), b.narrow(0, 0, count)) - std::log(2.0);
    increments.narrow(0, first, count).copy_(both - before.narrow(0, 0, count));
    before.narrow(0, 0, count).copy_(both);
    first += count;
  }
  // The relative variance of (A + B)/2 by A and B themselves is ((A − B)/(A + B))².
  return {.increments = increments, .log_p = before, .variances = ((a - b) / 2).tanh().square()};
}

}  // namespace

SequenceMethod sequence_method(const std::string& name) {
  if (name == "auto" || name == "particles") return SequenceMethod::particles;
  if (name == "importance") return SequenceMethod::importance;
  require(name == "bound",
          "@method {}: a variational recurrent net is judged by particles (a particle filter; auto), importance "
          "(importance sampling of whole sequences) or bound (what training climbs)",
          name);
  return SequenceMethod::bound;
}

std::string name_of(SequenceMethod method) {
  if (method == SequenceMethod::bound) return "one-draw bound";
  return method == SequenceMethod::particles ? "particle filter" : "importance sampling";
}

JudgedRows judge_sequences(const Vrnn& net, const Dataset& data, SequenceMethod method, std::int64_t draws,
                           const Key& key, const Progress& progress) {
  require(draws >= 2, "sequences are judged by at least two draws of each, for their error, not {}", draws);
  const c10::NoGradGuard no_gradients;
  const bool filters = method != SequenceMethod::bound;
  at::Tensor of_frames = at::zeros({data.rows()}, at::kDouble);
  double variance = 0;
  const std::int64_t frames_of_each =
      filters ? std::max<std::int64_t>(1, frames_at_once * draws / (2 * particles_at_once)) : 0;
  for_each_block_of_sequences(
      data, frames_of_each, [&](const PackedSequences& packed, std::size_t begin, std::size_t end) {
        const at::Tensor values = data.gather(packed.rows).to(net.parameters().entries().front().second.options());
        const Key own = key.fold_in(begin);
        if (filters) {
          const ParticleFilterOptions how = filter_of(method, draws);
          const TwoFilters both =
              together(filter_sequences(net, values, packed.alive, how, own.fold_in(0)),
                       filter_sequences(net, values, packed.alive, how, own.fold_in(1)), packed.alive);
          of_frames.index_copy_(0, packed.rows, on_cpu(both.increments));
          variance += both.variances.sum().item<double>();
        } else {
          at::Tensor sums, places;  // of every sequence, a column for each draw
          std::vector<at::Tensor> each;
          for (std::int64_t draw = 0; draw < draws; ++draw)
            each.push_back(on_cpu(
                vrnn_terms(net, net.parameters(), values, packed.alive, own.fold_in(static_cast<std::uint64_t>(draw)))
                    .bound()));
          const at::Tensor all = at::stack(each, 1);
          std::vector<std::int64_t> place_of;
          for (const std::int64_t count : packed.alive)
            for (std::int64_t place = 0; place < count; ++place) place_of.push_back(place);
          sums = at::zeros({static_cast<std::int64_t>(packed.order.size()), draws}, at::kDouble)
                     .index_add_(0, at::tensor(place_of, at::kLong), all);
          of_frames.index_copy_(0, packed.rows, all.mean(1));
          variance += sums.var(1, true).sum().item<double>() / static_cast<double>(draws);
        }
        progress(static_cast<std::int64_t>(end), data.cases());
      });
  const double mean = of_frames.mean().item<double>(),
               half = 1.96 * std::sqrt(variance) / static_cast<double>(data.rows());
  return {.mean = {.value = mean,
                   .low = mean - half,
                   .high = mean + half,
                   .kind = EstimateKind::lower_bound,
                   .method = name_of(method),
                   .chains = draws},
          .each = of_frames};
}

double mean_bound(const Vrnn& net, const Dataset& data, std::int64_t draws, const Key& key) {
  return judge_sequences(net, data, SequenceMethod::bound, draws, key, [](std::int64_t, std::int64_t) {}).mean.value;
}

OwnDrawBounds own_sequence_bounds(const Vrnn& net, std::vector<std::int64_t> lengths, SequenceMethod method,
                                  std::int64_t draws, const Key& key) {
  require(lengths.size() >= 2 && method != SequenceMethod::bound,
          "both sides of own sequences are found by filters, for at least two of them");
  const c10::NoGradGuard no_gradients;
  std::ranges::sort(lengths, std::ranges::greater{});
  std::vector<std::int64_t> alive;
  for (std::int64_t step = 0; step < lengths.front(); ++step)
    alive.push_back(std::ranges::count_if(lengths, [&](std::int64_t length) { return length > step; }));
  const VrnnDream dream = net.dream(net.parameters(), alive, key.fold_in(0));
  const ParticleFilterOptions how = filter_of(method, draws);
  // The held latents take the place of one particle in the first of both filters: which of the two is no matter.
  const FilteredSequences second = filter_sequences(net, dream.visible, alive, how, key.fold_in(2));
  const TwoFilters lower = together(filter_sequences(net, dream.visible, alive, how, key.fold_in(1)), second, alive);
  const TwoFilters upper = together(filter_own_sequences(net, dream, alive, how, key.fold_in(1)), second, alive);
  // So that means over sequences are means over frames.
  const double share = static_cast<double>(lengths.size()) /
                       static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
  return bounds_on_own_rows(on_cpu(lower.log_p) * share, on_cpu(upper.log_p) * share,
                            format("{}, {} draws", name_of(method), draws), key.fold_in(3));
}

std::vector<Evaluation> judge_vrnn(const Vrnn& net, const Unit& visible, const std::vector<const TestData*>& tests,
                                   const EstimationOptions& options, Watcher& watcher) {
  const SequenceMethod method = sequence_method(options.method);
  const Key key(options.seed);
  const bool filters = method != SequenceMethod::bound;
  const std::int64_t draws = filters ? options.importance : bound_draws;
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) {
    const std::vector<std::int64_t>& lengths = test->rows.lengths;
    Evaluation answer = judge_by_rows(*test, visible, [&](const at::Tensor& rows) {
      Dataset data{.name = test->spec, .values = rows, .lengths = lengths};
      return judge_sequences(net, data, method, draws, key.fold_in(sequences_stream),
                             watcher.begin(format("{}, {} draws", name_of(method), draws)));
    });
    if (!lengths.empty()) answer.sequences = judged_sequences(answer.of_rows, lengths);
    if (filters) {
      // Lengths like those of the data, of so many sequences that a thousand frames or so are drawn.
      constexpr std::size_t most = 100, fewest = 5;
      constexpr std::int64_t frames = 1000, longest = 200;
      std::vector<std::int64_t> own;
      for (std::int64_t sum = 0; own.size() < most && (sum < frames || own.size() < fewest); sum += own.back())
        own.push_back(lengths.empty() ? 1 : std::min(longest, lengths[own.size() % lengths.size()]));
      const OwnDrawBounds found = own_sequence_bounds(net, own, method, draws, key.fold_in(own_sequences_stream));
      const double beside = mean_bound(net, test->rows, bound_draws, key.fold_in(beside_stream));
      answer.verdict = format(
          "On {} sequences of the model's own this bound {} {:.3f} nats a frame [{:.3f}, {:.3f}]. The bound that training "
          "climbs has {} on these data",
          own.size(),
          found.gap_interval.high <= options.gap ? "misses at most" : "may miss (use more draws, @importance)",
          found.gap(), found.gap_interval.low, found.gap_interval.high, fixed_number(beside, 3));
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace harmonium
