#include "harmonium/kernels/anneal_logistic.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/chunks.h"
#include "harmonium/kernels/cuda/glue.h"
#include "harmonium/kernels/elementary.h"

namespace harmonium {

namespace {

template <class T>
struct FieldPointers {
  const T* input;
  const T* bias;
  T scale;

  [[nodiscard]] FieldPointers at(std::int64_t row, std::int64_t column, std::int64_t columns) const {
    return {input + row * columns + column, bias + column, scale};
  }
};

template <class T>
HARMONIUM_INLINE void sample_scaled(const FieldPointers<T> field, const T* u, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = elementary::below_logistic(u[i], field.bias[i] + field.scale * field.input[i]) ? T(1) : T(0);
}

// Returns the sum of the log ratios of at most uniform_chunk elements. The order of summation is fixed.
template <class T>
HARMONIUM_INLINE double anneal_piece(const FieldPointers<T> before, const FieldPointers<T> after, const T* u, T* out,
                                     std::int64_t n) {
  constexpr int width = 16;
  static_assert(uniform_chunk % width == 0);
  alignas(64) T ratio[uniform_chunk];
  for (std::int64_t i = 0; i < n; ++i) {
    const T b = before.bias[i] + before.scale * before.input[i], a = after.bias[i] + after.scale * after.input[i];
    ratio[i] = elementary::softplus(a) - elementary::softplus(b);
    out[i] = elementary::below_logistic(u[i], a) ? T(1) : T(0);
  }
  for (std::int64_t i = n; i % width != 0; ++i) ratio[i] = 0;
  double partial[width] = {};
  for (std::int64_t i = 0; i < n; i += width)
    for (int l = 0; l < width; ++l) partial[l] += static_cast<double>(ratio[i + l]);
  double total = 0;
  for (const double value : partial) total += value;
  return total;
}

HARMONIUM_CLONES void sample_scaled_loop(FieldPointers<float> field, const float* u, float* out, std::int64_t n) {
  sample_scaled(field, u, out, n);
}
HARMONIUM_CLONES void sample_scaled_loop(FieldPointers<double> field, const double* u, double* out, std::int64_t n) {
  sample_scaled(field, u, out, n);
}
HARMONIUM_CLONES double anneal_loop(FieldPointers<float> before, FieldPointers<float> after, const float* u, float* out,
                                    std::int64_t n) {
  return anneal_piece(before, after, u, out, n);
}
HARMONIUM_CLONES double anneal_loop(FieldPointers<double> before, FieldPointers<double> after, const double* u,
                                    double* out, std::int64_t n) {
  return anneal_piece(before, after, u, out, n);
}

// Pointers to contiguous tensors, which it keeps alive.
template <class T>
class ReadyField {
 public:
  explicit ReadyField(const ScaledField& field)
      : input_(field.input.contiguous()), bias_(field.bias.contiguous()), scale_(static_cast<T>(field.scale)) {}
  [[nodiscard]] FieldPointers<T> pointers() const { return {input_.data_ptr<T>(), bias_.data_ptr<T>(), scale_}; }

 private:
  at::Tensor input_, bias_;
  T scale_;
};

void check_field(const ScaledField& field, const ScaledField& like) {
  require(field.input.dim() == 2 && field.bias.dim() == 1 && field.bias.size(0) == field.input.size(1),
          "a field needs a table of inputs and a bias for each of its columns");
  require(field.input.sizes() == like.input.sizes(), "fields before and after a step differ in shape");
  for (const at::Tensor* each : {&field.input, &field.bias})
    require(each->device() == like.input.device() && each->scalar_type() == like.input.scalar_type() &&
                (each->scalar_type() == at::kFloat || each->scalar_type() == at::kDouble),
            "inputs and biases are float32 or float64, all the same, and on one device");
}

}  // namespace

at::Tensor sample_logistic(const Key& key, const ScaledField& field) {
  check_field(field, field);
  if (!field.input.is_cpu()) return cuda::sample_logistic(key, field);
  at::Tensor out = at::empty(field.input.sizes(), field.input.options());
  const std::int64_t rows = out.size(0), columns = out.size(1);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "sample_logistic", [&] {
    const ReadyField<scalar_t> ready(field);
    const FieldPointers<scalar_t> from = ready.pointers();
    scalar_t* target = out.data_ptr<scalar_t>();
    for_each_row_piece<scalar_t>(
        key, rows, columns, [&](std::int64_t row, std::int64_t column, std::int64_t count, const scalar_t* u) {
          sample_scaled_loop(from.at(row, column, columns), u, target + row * columns + column, count);
        });
  });
  return out;
}

at::Tensor anneal_logistic(const Key& key, const ScaledField& before, const ScaledField& after,
                           at::Tensor& log_weights) {
  check_field(after, after);
  check_field(before, after);
  const std::int64_t rows = after.input.size(0), columns = after.input.size(1);
  require(log_weights.scalar_type() == at::kDouble && log_weights.is_contiguous() && log_weights.numel() == rows,
          "log-weights are float64, one for each of {} rows", rows);
  if (!after.input.is_cpu()) return cuda::anneal_logistic(key, before, after, log_weights);
  at::Tensor out = at::empty(after.input.sizes(), after.input.options());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "anneal_logistic", [&] {
    const ReadyField<scalar_t> ready_before(before), ready_after(after);
    const FieldPointers<scalar_t> from = ready_before.pointers(), to = ready_after.pointers();
    scalar_t* target = out.data_ptr<scalar_t>();
    double* weights = log_weights.data_ptr<double>();
    for_each_row_piece<scalar_t>(
        key, rows, columns, [&](std::int64_t row, std::int64_t column, std::int64_t count, const scalar_t* u) {
          weights[row] += anneal_loop(from.at(row, column, columns), to.at(row, column, columns), u,
                                      target + row * columns + column, count);
        });
  });
  return out;
}

}  // namespace harmonium
