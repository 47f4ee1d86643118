#include "harmonium/training/device_update.h"

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/geometry/identity.h"
#include "harmonium/kernels/cuda/glue.h"
#include "harmonium/kernels/cuda/rbm_learn.h"
#include "harmonium/kernels/cuda/unit_statistics.h"
#include "harmonium/models/builders.h"

namespace harmonium {

#ifdef HARMONIUM_CUDA

namespace {

std::uint32_t* words(const at::Tensor& x) { return reinterpret_cast<std::uint32_t*>(x.data_ptr<std::int32_t>()); }

cuda::Coefficients coefficients(const at::Tensor& x) {
  if (!x.defined()) return {};
  return {.values = x.data_ptr<float>(),
          .row_stride = x.size(0) == 1 ? 0 : x.stride(0),
          .column_stride = x.size(1) == 1 ? 0 : x.stride(1)};
}

// L⁻¹ of a lower triangle, by halves: of [A 0; C B] it is [A⁻¹ 0; −B⁻¹CA⁻¹ B⁻¹]. All blocks of a size are done at once.
at::Tensor inverse_of_triangle(const at::Tensor& lower) {
  constexpr std::int64_t leaves = 16;
  const std::int64_t n = lower.size(0), leaf = (n + leaves - 1) / leaves, padded = leaf * leaves;
  at::Tensor whole = at::eye(padded, lower.options());
  whole.narrow(0, 0, n).narrow(1, 0, n).copy_(lower);
  // Blocks on the diagonal, and those below it in every second column: `count` of size² each.
  const auto blocks = [&](const at::Tensor& matrix, std::int64_t size, std::int64_t count, std::int64_t down,
                          std::int64_t right) {
    return matrix.as_strided({count, size, size}, {(padded + 1) * size * (padded / size / count), padded, 1},
                             down * size * padded + right * size);
  };
  at::Tensor inverse = at::zeros_like(whole);
  require(leaf <= cuda::largest_triangle, "a covariance of {} units is too large", n);
  cuda::launch_inverse_triangles(whole.data_ptr<float>(), padded, static_cast<int>(leaf), leaves,
                                 inverse.data_ptr<float>(), cuda::stream_of(whole));
  for (std::int64_t size = leaf; size < padded; size *= 2) {
    const std::int64_t count = padded / size / 2;
    const at::Tensor first = blocks(inverse, size, count, 0, 0), second = blocks(inverse, size, count, 1, 1);
    blocks(inverse, size, count, 1, 0).copy_(second.bmm(blocks(whole, size, count, 1, 0)).bmm(first).neg_());
  }
  return inverse.narrow(0, 0, n).narrow(1, 0, n);
}

// (L Lᵀ)⁻¹.
at::Tensor inverse_of(const at::Tensor& factor) {
  const at::Tensor half = inverse_of_triangle(factor);
  const FastProducts fast(factor.device());  // a square whatever is rounded, so that it stays a metric
  return half.t().mm(half);
}

// One side's sums over rows from sums of pieces: pieces × … .
at::Tensor side_sum(const at::Tensor& pieces, int side) {
  const std::int64_t half = pieces.size(0) / 2;
  return pieces.narrow(0, side * half, half).sum(0);
}

}  // namespace

std::unique_ptr<DeviceUpdate> DeviceUpdate::make(const BoltzmannMachine& machine, const BatchStream& batches,
                                                 NegativePhase& phase, const Metric& metric, const StepOptions& step) {
  auto* pcd = dynamic_cast<Pcd*>(&phase);
  const bool metric_known = metric.factorized() != nullptr || dynamic_cast<const Identity*>(&metric) != nullptr;
  if (pcd == nullptr || pcd->ends_in_means() || !metric_known || step.momentum != 0 || step.weight_decay_l1 != 0 ||
      !is_binary_rbm(machine) || machine.observed() != LayerSet{0} || !batches.of_bytes())
    return nullptr;
  if (!RbmChains::serve(machine.parameters()[machine.topology().edges[0].weights])) return nullptr;
  return std::unique_ptr<DeviceUpdate>(
      new DeviceUpdate(machine, *pcd, batches.options().batch, batches.bits_of_bytes()));
}

DeviceUpdate::DeviceUpdate(const BoltzmannMachine& machine, Pcd& phase, std::int64_t batch, bool bits)
    : phase_(phase),
      visible_(machine.topology().layers[0].parameters[0]),
      hidden_(machine.topology().layers[1].parameters[0]),
      weights_(machine.topology().edges[0].weights),
      visible_width_(machine.unit(0).width()),
      hidden_width_(machine.unit(1).width()),
      batch_(batch),
      bits_(bits) {}

void DeviceUpdate::begin(const BoltzmannMachine& machine, const Key& key) {
  const at::Tensor& weights = machine.parameters()[weights_];
  const State& particles = phase_.begun(machine, key);
  if (chains_ == nullptr || particles_ != particles.rows()) {
    particles_ = particles.rows();
    chains_ = std::make_unique<RbmChains>(weights, particles_);
    learning_ = {.data = bits_ ? chains_->make_words(batch_) : chains_->make_grays(batch_),
                 .data_means = chains_->make_means(batch_),
                 .means = chains_->make_means(particles_),
                 .data_rows = batch_};
    const cuda::WalkShape& shape = chains_->shape();
    const std::int64_t visible = cuda::team * shape.visible_slab, hidden = cuda::team * shape.hidden_slab;
    const auto room = [&](at::IntArrayRef sizes) { return at::empty(sizes, weights.options()); };
    products_ = room({cuda::moment_splits, hidden, visible});
    hidden_sums_ = room({cuda::moment_splits * cuda::MomentSums::hidden_parts(shape), hidden});
    visible_sums_ = room({cuda::moment_splits * cuda::MomentSums::visible_parts(shape), visible});
    unary_gradient_ = room({visible_width_ + hidden_width_});
    const cuda::LearnRoom sizes = cuda::learn_room(shape);
    row_sums_ = room({sizes.row_sums});
    column_sums_ = room({sizes.column_sums});
  }
  chains_->set(particles.layers[0], particles.layers[1]);
  chains_->arrange(weights);
  factor_ = at::Tensor();
  begun_ = true;
}

cuda::BatchToDraw DeviceUpdate::to_draw(const BatchStream::ByteBatch& batch) {
  rows_ = batch.rows.contiguous();
  return {.key = batch.key,
          .from = {.bytes = batch.bytes.data_ptr<std::uint8_t>(),
                   .known = batch.bytes.size(0),
                   .columns = batch.bytes.size(1),
                   .rows = rows_.data_ptr<std::int64_t>(),
                   .count = rows_.size(0),
                   .scale = static_cast<float>(batch.scale)},
          .offset = static_cast<float>(batch.offset),
          .shape = chains_->shape(),
          .to = data()};
}

cuda::DataUnits DeviceUpdate::data() const {
  return bits_ ? cuda::DataUnits{.words = words(learning_.data)} : cuda::DataUnits{.grays = learning_.data.data_ptr()};
}

const at::Tensor& DeviceUpdate::units(const BoltzmannMachine& machine) {
  const std::int64_t count = visible_width_ + hidden_width_, padded = (count + 8) / 8 * 8;
  if (!units_.defined() || units_.size(0) != particles_) {
    units_ = at::zeros({particles_, padded}, products_.options().dtype(at::kHalf));
    units_.select(1, count).fill_(1);
  }
  chains_->copy_hidden_to(units_.narrow(1, visible_width_, hidden_width_));
  // Rows of weights that begin at multiples of 16 bytes, as fast products want them, with zeros for the column of ones.
  const std::int64_t columns = padded - visible_width_;
  if (!half_weights_.defined()) half_weights_ = at::zeros({visible_width_, columns}, units_.options());
  half_weights_.narrow(1, 0, hidden_width_).copy_(machine.parameters()[weights_]);
  const at::Tensor input = cuda::wide_product(units_.narrow(1, visible_width_, columns), half_weights_.t());
  cuda::put_means(input.data_ptr<float>(), machine.parameters()[visible_].data_ptr<float>(), particles_,
                  static_cast<int>(visible_width_), units_.data_ptr(), padded, cuda::stream_of(units_));
  return units_;
}

void DeviceUpdate::estimate(const BoltzmannMachine& machine, const std::optional<BatchStream::ByteBatch>& batch,
                            const Key& key) {
  if (!begun_) begin(machine, key);
  const cuda::Stream stream = cuda::stream_of(products_);
  if (batch) cuda::draw_batch(to_draw(*batch), stream);
  drawn_.reset();
  // As samplers/gibbs.h names its draws.
  const Key walk = key.fold_in(1);
  std::vector<StepKeys> keys;
  for (std::int64_t sweep = 0; sweep < phase_.sweeps(); ++sweep) {
    const Key own = walk.fold_in(static_cast<std::uint64_t>(sweep));
    keys.push_back({own.fold_in(0).bits(), own.fold_in(1).bits()});
  }
  const Moments& parameters = machine.parameters();
  chains_->sweep({parameters[weights_], parameters[visible_], parameters[hidden_]}, keys, &learning_);
  cuda::sum_moments(chains_->shape(), {data(), learning_.data_means.data_ptr(), batch_},
                    {{.words = words(chains_->visible_words())}, learning_.means.data_ptr(), particles_},
                    {products_.data_ptr<float>(), hidden_sums_.data_ptr<float>(), visible_sums_.data_ptr<float>()},
                    stream);
  given_back_ = false;
}

double DeviceUpdate::share(int side) const { return 1 / static_cast<double>(side == 0 ? batch_ : particles_); }

Moments DeviceUpdate::unary_moments(int side) const {
  return {{visible_, side_sum(visible_sums_, side).narrow(0, 0, visible_width_).mul_(share(side))},
          {hidden_, side_sum(hidden_sums_, side).narrow(0, 0, hidden_width_).mul_(share(side))}};
}

Moments DeviceUpdate::moments(int side) const {
  Moments result = unary_moments(side);
  const at::Tensor products = side_sum(products_, side).narrow(0, 0, hidden_width_).narrow(1, 0, visible_width_);
  result.insert(weights_, products.t().mul(share(side)).contiguous());
  return result;
}

void DeviceUpdate::learn(Moments& parameters, Moments& average, const Metric& metric, const StepRule::Rates& rates,
                         double average_weight, const std::optional<BatchStream::ByteBatch>& next) {
  cuda::LearnStep step{};
  step.shape = chains_->shape();
  step.visible = static_cast<int>(visible_width_);
  step.hidden = static_cast<int>(hidden_width_);
  step.sums = {products_.data_ptr<float>(), hidden_sums_.data_ptr<float>(), visible_sums_.data_ptr<float>()};
  step.data_share = 1 / static_cast<float>(batch_);
  step.model_share = 1 / static_cast<float>(particles_);
  if (const FactorizedGaussian* gaussian = metric.factorized()) {
    const Regression& regression = gaussian->regression(0);
    step.on_visible = coefficients(regression.on_first);
    step.on_hidden = coefficients(regression.on_second);
    step.precision = coefficients(gaussian->precision(0));
    if (const at::Tensor& factor = gaussian->unary(); factor.defined()) {
      if (!factor.is_same(factor_)) {
        factor_ = factor;
        inverse_ = factor.dim() == 2 ? inverse_of(factor) : at::diag(factor.reciprocal()).contiguous();
      }
      step.inverse = inverse_.data_ptr<float>();
    }
  }
  step.rate_weights = static_cast<float>(rates.weights);
  step.rate_bias = static_cast<float>(rates.bias);
  step.decay = static_cast<float>(rates.weight_decay);
  step.average_weight = static_cast<float>(average_weight);
  const auto numbers = [](const at::Tensor& x) {
    require(x.is_contiguous(), "parameters are contiguous");
    return x.data_ptr<float>();
  };
  step.weights = numbers(parameters[weights_]);
  step.visible_bias = numbers(parameters[visible_]);
  step.hidden_bias = numbers(parameters[hidden_]);
  step.average_weights = numbers(average[weights_]);
  step.average_visible = numbers(average[visible_]);
  step.average_hidden = numbers(average[hidden_]);
  step.slabs = chains_->slabs().data_ptr();
  step.unary_gradient = unary_gradient_.data_ptr<float>();
  step.row_sums = row_sums_.data_ptr<float>();
  step.column_sums = column_sums_.data_ptr<float>();
  const std::optional<cuda::BatchToDraw> batch = next ? std::optional(to_draw(*next)) : std::nullopt;
  cuda::learn(step, batch ? &*batch : nullptr, cuda::stream_of(products_));
  if (next) drawn_ = next->key;
}

void DeviceUpdate::give_back() {
  if (given_back_) return;
  State state;
  state.layers = {chains_->visible(), chains_->hidden()};
  phase_.set_particles(std::move(state));
  given_back_ = true;
}

#else

std::unique_ptr<DeviceUpdate> DeviceUpdate::make(const BoltzmannMachine&, const BatchStream&, NegativePhase&,
                                                 const Metric&, const StepOptions&) {
  return nullptr;
}
void DeviceUpdate::estimate(const BoltzmannMachine&, const std::optional<BatchStream::ByteBatch>&, const Key&) {}
const at::Tensor& DeviceUpdate::units(const BoltzmannMachine&) { return units_; }
double DeviceUpdate::share(int) const { return 0; }
Moments DeviceUpdate::unary_moments(int) const { return {}; }
Moments DeviceUpdate::moments(int) const { return {}; }
void DeviceUpdate::learn(Moments&, Moments&, const Metric&, const StepRule::Rates&, double,
                         const std::optional<BatchStream::ByteBatch>&) {}
void DeviceUpdate::give_back() {}

#endif

}  // namespace harmonium
