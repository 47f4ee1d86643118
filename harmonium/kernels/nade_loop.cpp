#include "harmonium/kernels/nade_loop.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"
#include "harmonium/kernels/nade_blocks.h"
#include "harmonium/kernels/nade_walk.h"

namespace harmonium {

namespace {

using namespace nade;

// Compiled per instruction set, so each loop is a plain function: attributes of that kind do not go on templates.
HARMONIUM_CLONES void walk_forward(const PaddedNet<float>& net, float* x, const float* u, std::int64_t first, float* z,
                                   std::int64_t rows, float* scratch) {
  forward_walk(net, x, u, first, z, rows, scratch);
}
HARMONIUM_CLONES void walk_forward(const PaddedNet<double>& net, double* x, const double* u, std::int64_t first,
                                   double* z, std::int64_t rows, double* scratch) {
  forward_walk(net, x, u, first, z, rows, scratch);
}
HARMONIUM_CLONES void walk_backward(const PaddedNet<float>& net, const float* x, const float* end, float* z,
                                    const GivenErrors<float>& given, std::int64_t rows, const PaddedSums<float>& sums,
                                    float* scratch) {
  backward_walk(net, x, end, z, given, rows, sums, scratch);
}
HARMONIUM_CLONES void walk_backward(const PaddedNet<double>& net, const double* x, const double* end, double* z,
                                    const GivenErrors<double>& given, std::int64_t rows, const PaddedSums<double>& sums,
                                    double* scratch) {
  backward_walk(net, x, end, z, given, rows, sums, scratch);
}

void require_fitting(const NadeTensors& net, const at::Tensor& x) {
  const std::int64_t inputs = net.encoder.size(0), hidden = net.encoder.size(1);
  const auto fits = [&](const at::Tensor& bias, std::int64_t width) {
    return bias.size(-1) == width && (bias.dim() == 1 || (bias.dim() == 2 && bias.size(0) == x.size(0)));
  };
  require(net.decoder.sizes() == net.encoder.sizes() && fits(net.hidden_bias, hidden) && fits(net.output_bias, inputs),
          "the tensors of a NADE do not fit each other: encoder {} × {}, decoder {} × {}, biases of {} hidden units "
          "and {} outputs",
          inputs, hidden, net.decoder.size(0), net.decoder.size(1), net.hidden_bias.size(-1), net.output_bias.size(-1));
  for (const at::Tensor* each : {&net.encoder, &net.decoder, &net.hidden_bias, &net.output_bias})
    require(each->scalar_type() == x.scalar_type() && each->device() == x.device(),
            "rows and parameters of a NADE must be of one type and on one device; convert the rows first");
  require(x.dim() == 2 && x.size(1) == inputs, "a NADE of {} inputs takes rows of as many values, not {}", inputs,
          x.dim() == 2 ? x.size(1) : -1);
}

at::Tensor padded(const at::Tensor& matrix, std::int64_t width) {
  at::Tensor result = at::zeros({matrix.size(0), width}, matrix.options());
  result.narrow(1, 0, matrix.size(1)).copy_(matrix);
  return result;
}

std::int64_t padded_width(std::int64_t hidden) { return (hidden + 15) / 16 * 16; }

NadeTensors padded(const NadeTensors& net) {
  const std::int64_t width = padded_width(net.encoder.size(1));
  return {.hidden_bias = padded(net.hidden_bias.dim() == 1 ? net.hidden_bias.unsqueeze(0) : net.hidden_bias, width),
          .encoder = padded(net.encoder, width),
          .output_bias = net.output_bias.contiguous(),
          .decoder = padded(net.decoder, width)};
}

template <class T>
PaddedNet<T> numbers_of(const NadeTensors& net) {
  return {.c = net.hidden_bias.data_ptr<T>(),
          .W = net.encoder.data_ptr<T>(),
          .b = net.output_bias.data_ptr<T>(),
          .V = net.decoder.data_ptr<T>(),
          .inputs = net.encoder.size(0),
          .width = net.encoder.size(1),
          .c_stride = net.hidden_bias.size(0) == 1 ? 0 : net.encoder.size(1),
          .b_stride = net.output_bias.dim() == 1 ? 0 : net.encoder.size(0)};
}

// Draws where u is defined, and gives logits where z is.
void walk_groups(const NadeTensors& net, const at::Tensor& x, const at::Tensor& u, std::int64_t first,
                 const at::Tensor& z) {
  const NadeTensors wide = padded(net);
  const std::int64_t rows = x.size(0), inputs = x.size(1), groups = (rows + group - 1) / group;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "nade_walk", [&] {
    const auto numbers = numbers_of<scalar_t>(wide);
    scalar_t* values = x.data_ptr<scalar_t>();
    const scalar_t* uniforms = u.defined() ? u.data_ptr<scalar_t>() : nullptr;
    scalar_t* logits = z.defined() ? z.data_ptr<scalar_t>() : nullptr;
    at::parallel_for(0, groups, /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<scalar_t> scratch(static_cast<std::size_t>(2 * group * scratch_stride<scalar_t>(numbers.width)));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t start = i * group * inputs;
        walk_forward(numbers.from_row(i * group), values + start, uniforms == nullptr ? nullptr : uniforms + start,
                     first, logits == nullptr ? nullptr : logits + start, std::min(group, rows - i * group),
                     scratch.data());
      }
    });
  });
}

// Gradients of log p, with logits into z; of given errors where they are defined.
NadeTensors walk_groups_back(const NadeTensors& net, const at::Tensor& x, const at::Tensor& errors,
                             const at::Tensor& z) {
  const NadeTensors wide = padded(net);
  const at::Tensor values = x.contiguous(), a = at::addmm(wide.hidden_bias, values, wide.encoder),
                   own_errors = errors.defined() ? errors.contiguous() : at::Tensor();
  const std::int64_t rows = x.size(0), inputs = x.size(1), width = wide.encoder.size(1), hidden = net.encoder.size(1),
                     groups = (rows + group - 1) / group, teams = (rows + team - 1) / team;
  // Parts have sums of their own, which are added in the end. How many there are does not depend on the number of
  // threads, so neither do the results.
  constexpr std::int64_t most_parts = 16;
  const std::int64_t parts = std::clamp<std::int64_t>(teams, 1, most_parts), matrix = inputs * width;
  const at::Tensor sums = at::zeros({parts, 2 * matrix + inputs + width}, x.options()),
                   d = errors.defined() ? at::empty_like(a) : at::Tensor();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "nade_gradient", [&] {
    const auto numbers = numbers_of<scalar_t>(wide);
    const scalar_t *from = values.data_ptr<scalar_t>(), *end_of_walk = a.data_ptr<scalar_t>();
    const scalar_t* deltas = own_errors.defined() ? own_errors.data_ptr<scalar_t>() : nullptr;
    scalar_t* row_d = d.defined() ? d.data_ptr<scalar_t>() : nullptr;
    scalar_t* logits = z.defined() ? z.data_ptr<scalar_t>() : nullptr;
    scalar_t* all_sums = sums.data_ptr<scalar_t>();
    const std::int64_t stride = sums.size(1);
    at::parallel_for(0, parts, /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<scalar_t> scratch(static_cast<std::size_t>(3 * team * scratch_stride<scalar_t>(width)));
      for (std::int64_t part = begin; part < end; ++part) {
        scalar_t* to = all_sums + part * stride;
        const PaddedSums<scalar_t> own = {
            .c = to + 2 * matrix + inputs, .W = to, .b = to + 2 * matrix, .V = to + matrix};
        const std::int64_t last = std::min(rows, groups * (part + 1) / parts * group);
        for (std::int64_t row = groups * part / parts * group; row < last; row += team)
          walk_backward(numbers.from_row(row), from + row * inputs, end_of_walk + row * width,
                        logits == nullptr ? nullptr : logits + row * inputs,
                        deltas == nullptr ? GivenErrors<scalar_t>{}
                                          : GivenErrors<scalar_t>{deltas + row * inputs, row_d + row * width},
                        std::min(team, last - row), own, scratch.data());
      }
    });
  });
  const at::Tensor total = parts == 1 ? sums[0] : sums.sum(0);
  const auto narrow = [&](std::int64_t start) {
    return total.narrow(0, start, matrix).view({inputs, width}).narrow(1, 0, hidden);
  };
  return {.hidden_bias = d.defined() ? d.narrow(1, 0, hidden) : total.narrow(0, 2 * matrix + inputs, hidden),
          .encoder = narrow(0),
          .output_bias = errors.defined() ? errors : total.narrow(0, 2 * matrix, inputs),
          .decoder = narrow(matrix)};
}

}  // namespace

at::Tensor nade_logits(const NadeTensors& net, const at::Tensor& x) {
  require_fitting(net, x);
  if (!x.is_cpu()) return nade_logits_by_blocks(net, x);
  at::Tensor z = at::empty_like(x, at::MemoryFormat::Contiguous);
  walk_groups(net, x.contiguous(), {}, 0, z);
  return z;
}

void nade_draw_(const NadeTensors& net, at::Tensor& x, const at::Tensor& u, std::int64_t first) {
  require_fitting(net, x);
  require(u.sizes() == x.sizes() && u.scalar_type() == x.scalar_type() && u.is_contiguous() && x.is_contiguous(),
          "nade_draw_: rows and uniform numbers must be of one shape and type, and lie in one piece");
  if (!x.is_cpu()) return nade_draw_by_steps_(net, x, u, first);
  walk_groups(net, x, u, first, {});
}

NadeSums nade_gradient(const NadeTensors& net, const at::Tensor& x) {
  require_fitting(net, x);
  require(net.hidden_bias.dim() == 1 && net.output_bias.dim() == 1,
          "nade_gradient: biases are the same for all rows; nade_backward takes others");
  if (!x.is_cpu()) return nade_gradient_by_blocks(net, x);
  at::Tensor z = at::empty_like(x, at::MemoryFormat::Contiguous);
  NadeTensors gradient = walk_groups_back(net, x, {}, z);
  return {.logits = std::move(z), .gradient = std::move(gradient)};
}

NadeTensors nade_backward(const NadeTensors& net, const at::Tensor& x, const at::Tensor& errors) {
  require_fitting(net, x);
  require(net.hidden_bias.dim() == 2 && net.output_bias.dim() == 2 && errors.sizes() == x.sizes() &&
              errors.scalar_type() == x.scalar_type(),
          "nade_backward: biases and errors are each row's own");
  if (!x.is_cpu()) return nade_backward_by_blocks(net, x, errors);
  return walk_groups_back(net, x, errors, {});
}

}  // namespace harmonium
