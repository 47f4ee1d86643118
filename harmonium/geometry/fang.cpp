#include "harmonium/geometry/fang.h"

#include "harmonium/core/error.h"
#include "harmonium/core/key.h"
#include "harmonium/geometry/damped_cholesky.h"
#include "harmonium/kernels/cuda/glue.h"

namespace harmonium {

namespace {

constexpr double most_damping = 1e6;

// For every product a unit of the lower and a unit of the upper layer, as places in u.
std::pair<at::Tensor, at::Tensor> draw_parents(const StatisticIndex& index, const EdgeInfo& edge, Key key) {
  const auto draw = [&](std::size_t layer, std::uint64_t stream) {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < index.width(edge.lower) * index.width(edge.upper); ++i)
      places.push_back(index.unary_begin(layer) +
                       static_cast<std::int64_t>(key.fold_in(stream).fold_in(static_cast<std::uint64_t>(i)).bits() %
                                                 static_cast<std::uint64_t>(index.width(layer))));
    return at::tensor(places, at::kLong)
        .to(index.precise().device())
        .view({index.width(edge.lower), index.width(edge.upper)});
  };
  return {draw(edge.lower, 0), draw(edge.upper, 1)};
}

}  // namespace

Fang::Fang(const Topology& topology, const Moments& shape, const MetricOptions& options, FangParents parents)
    : options_(options), parents_(parents), gaussian_(topology, shape), edges_(topology.edges.size()) {
  require(options.damping >= 0, "the damping must not be negative, it is {}", options.damping);
  if (parents == FangParents::own) return;
  for (std::size_t edge = 0; edge < edges_.size(); ++edge)
    std::tie(edges_[edge].first_parent, edges_[edge].second_parent) =
        draw_parents(gaussian_.index(), topology.edges[edge], Key(options.seed).fold_in(edge));
}

bool Fang::indicators(std::size_t edge) const {
  const Topology& topology = gaussian_.index().topology();
  return topology.layers[topology.edges[edge].lower].indicator && topology.layers[topology.edges[edge].upper].indicator;
}

void Fang::observe(const Observation& observation) {
  require(observation.statistics != nullptr, "fang needs the distribution of the units, and none was given");
  const ModelStatistics& statistics = *observation.statistics;
  const double weight = observation_weight(options_.statistics_every, options_.time_scale);
  const at::ScalarType type = gaussian_.index().shape().entries().front().second.scalar_type();
  const auto average = [&](RunningAverage& target, const at::Tensor& value) { target.observe(value.to(type), weight); };
  if (parents_ == FangParents::random) {
    // Products with arbitrary units are known of drawn states only, and all moments of a fit must come from the same
    // rows: mixed with expectations they would be the moments of no distribution.
    const Moments drawn_mean = statistics.mean(), drawn_square = statistics.mean_square();
    const at::Tensor mean = gaussian_.index().gather_unary(drawn_mean);
    average(mean_, mean);
    average(second_moment_, statistics.covariance(gaussian_.index().unary_places()).addr_(mean, mean));
    for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
      EdgeStatistics& one = edges_[edge];
      average(one.with_first, statistics.product_moment_with(edge, one.first_parent));
      average(one.with_second, statistics.product_moment_with(edge, one.second_parent));
      average(one.square, drawn_square[gaussian_.index().topology().edges[edge].weights]);
    }
    return;
  }
  average(mean_, statistics.unary_mean());
  average(second_moment_, statistics.unary_second_moment());
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    if (indicators(edge)) continue;
    const ProductMoments moments = statistics.product_moments(edge);
    average(edges_[edge].with_first, moments.with_lower);
    average(edges_[edge].with_second, moments.with_upper);
    average(edges_[edge].square, moments.square);
  }
}

Regression Fang::regress(std::size_t edge, double damping) const {
  const StatisticIndex& index = gaussian_.index();
  const EdgeInfo& info = index.topology().edges[edge];
  const EdgeStatistics& one = edges_[edge];
  const at::Tensor &mean = mean_.get(), &second = second_moment_.get();
  const std::int64_t lower = index.unary_begin(info.lower), upper = index.unary_begin(info.upper),
                     rows = index.width(info.lower), columns = index.width(info.upper);
  const at::Tensor r = second.narrow(0, lower, rows).narrow(1, upper, columns);  // E[m]
  const at::Tensor variance = second.diagonal() - mean.square();
  const bool centered = options_.centered_damping && parents_ == FangParents::own;
  if (!r.is_cpu() && parents_ == FangParents::own && indicators(edge)) {
    cuda::PairRegressions fit =
        cuda::pair_regressions(mean.narrow(0, lower, rows), mean.narrow(0, upper, columns), r,
                               variance.narrow(0, lower, rows), variance.narrow(0, upper, columns), damping, centered);
    return {.on_first = fit.on_first,
            .on_second = fit.on_second,
            .variance = fit.variance,
            .first_parent = {},
            .second_parent = {}};
  }
  // Mean and variance of the parents, and their covariance; a row or column where the parent is the product's own.
  at::Tensor p, q, first_variance, second_variance, covariance;
  if (one.first_parent.defined()) {
    const auto pick = [&](const at::Tensor& from, const at::Tensor& places) {
      return from.index_select(0, places.reshape(-1)).view(places.sizes());
    };
    p = pick(mean, one.first_parent);
    q = pick(mean, one.second_parent);
    first_variance = pick(variance, one.first_parent);
    second_variance = pick(variance, one.second_parent);
    covariance = pick(second.reshape(-1), one.first_parent * index.unary_size() + one.second_parent) - p * q;
  } else {
    p = mean.narrow(0, lower, rows).unsqueeze(1);
    q = mean.narrow(0, upper, columns).unsqueeze(0);
    first_variance = variance.narrow(0, lower, rows).unsqueeze(1);
    second_variance = variance.narrow(0, upper, columns).unsqueeze(0);
    covariance = r - p * q;
  }
  at::Tensor with_first = one.with_first.empty() ? r - r * p : one.with_first.get() - r * p;
  at::Tensor with_second = one.with_second.empty() ? r - r * q : one.with_second.get() - r * q;
  at::Tensor own = (one.square.empty() ? r : one.square.get()) - r * r;
  if (centered) {
    // Of (x − p)(y − q) = m − q x − p y + pq instead of m.
    own = own + q.square() * first_variance + p.square() * second_variance - 2 * q * with_first - 2 * p * with_second +
          2 * p * q * covariance;
    with_first = with_first - q * first_variance - p * covariance;
    with_second = with_second - q * covariance - p * second_variance;
  }
  const at::Tensor first_damped = first_variance + damping, second_damped = second_variance + damping;
  const at::Tensor determinant = first_damped * second_damped - covariance.square();
  Regression result;
  result.on_first = (second_damped * with_first - covariance * with_second) / determinant;
  result.on_second = (first_damped * with_second - covariance * with_first) / determinant;
  result.variance = own + damping - result.on_first * with_first - result.on_second * with_second;
  if (centered) {
    result.on_first = result.on_first + q;
    result.on_second = result.on_second + p;
  }
  result.first_parent = one.first_parent;
  result.second_parent = one.second_parent;
  return result;
}

bool Fang::fit(double damping) {
  const at::Tensor& mean = mean_.get();
  at::Tensor covariance = at::addr(second_moment_.get(), mean, mean, 1, -1);
  covariance.diagonal().add_(damping);
  const auto [factor, info] = at::linalg_cholesky_ex(covariance);
  // One question to a device at the end, since it waits for everything before. Written so that NaN fails.
  at::Tensor good = info.eq(0);
  std::vector<Regression> regressions;
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    regressions.push_back(regress(edge, damping));
    good = good.logical_and(regressions.back().variance.min().gt(0));
  }
  if (!good.item<bool>()) return false;
  gaussian_.set_unary(factor);
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) gaussian_.set_regression(edge, std::move(regressions[edge]));
  return true;
}

void Fang::refit() {
  require(!mean_.empty(), "fang cannot fit before its first observation");
  double damping = options_.damping;
  while (!fit(damping)) {
    if (!(damping <= most_damping) || !second_moment_.get().isfinite().all().item<bool>())
      throw Diverged("fang: the covariance of the units is not finite; lower @rate_weights and @rate_bias");
    damping = std::max(10 * damping, 1e-8);
  }
  if (damping > options_.damping) note(raised_damping("fang: the covariance of the units", options_.damping, damping));
}

std::int64_t Fang::parameter_count() const {
  const StatisticIndex& index = gaussian_.index();
  const std::int64_t u = index.unary_size();
  return u * (u + 1) / 2 + 3 * (index.dimension() - u);
}

NamedTensors Fang::state() const {
  NamedTensors tensors;
  if (mean_.empty()) return tensors;
  tensors.emplace_back("mean", mean_.get());
  tensors.emplace_back("second_moment", second_moment_.get());
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const auto add = [&](const char* what, const RunningAverage& average) {
      if (!average.empty()) tensors.emplace_back(format("moments.{}.{}", edge, what), average.get());
    };
    add("with_first", edges_[edge].with_first);
    add("with_second", edges_[edge].with_second);
    add("square", edges_[edge].square);
  }
  for (auto& [tensor_name, value] : gaussian_.state()) tensors.emplace_back("fit." + tensor_name, value);
  return tensors;
}

void Fang::restore(const NamedTensors& tensors) {
  if (tensors.empty()) {
    mean_.restore({});
    second_moment_.restore({});
    return;
  }
  mean_.restore(find_tensor(tensors, "mean", "fang"));
  second_moment_.restore(find_tensor(tensors, "second_moment", "fang"));
  NamedTensors fitted;
  for (const auto& [tensor_name, value] : tensors)
    if (tensor_name.starts_with("fit.")) fitted.emplace_back(tensor_name.substr(4), value);
  gaussian_.restore(fitted);
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    EdgeStatistics& one = edges_[edge];
    const auto get = [&](const char* what) {
      return find_tensor(tensors, format("moments.{}.{}", edge, what), "fang");
    };
    if (parents_ == FangParents::own && indicators(edge)) continue;
    one.with_first.restore(get("with_first"));
    one.with_second.restore(get("with_second"));
    one.square.restore(get("square"));
  }
}

}  // namespace harmonium
