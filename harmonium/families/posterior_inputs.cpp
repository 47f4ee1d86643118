#include "harmonium/families/posterior_inputs.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/inference/mean_field.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

constexpr std::int64_t rows_at_once = 2000;
// Closer than in training: here the means are the result.
constexpr MeanFieldOptions posterior_mean_field{.most_sweeps = 200, .tolerance = 1e-5};

at::Tensor upper_means(const BoltzmannMachine& machine, const at::Tensor& rows) {
  std::vector<at::Tensor> values = {rows.to(machine.options())};
  for (std::size_t i = 1; i < machine.observed().size(); ++i)
    values.push_back(at::zeros({rows.size(0), machine.unit(machine.observed()[i]).width()}, machine.options()));
  return infer(machine, machine.observe(values), posterior_mean_field).means.layers[machine.hidden().at(1)];
}

Dataset with_columns(const BoltzmannMachine& machine, const Dataset& data, Binarization binarization) {
  if (data.rows() == 0) return data;
  Dataset result = data;
  result.scale = 1;
  result.image.reset();
  result.values = at::empty({data.rows(), data.columns() + posterior_width(machine)}, at::kFloat);
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const std::int64_t end = std::min(first + rows_at_once, data.rows());
    const at::Tensor rows = shown_values(data.slice(first, end), binarization);
    at::Tensor target = result.values.narrow(0, first, end - first);
    target.narrow(1, 0, data.columns()).copy_(rows);
    target.narrow(1, data.columns(), posterior_width(machine)).copy_(upper_means(machine, rows));
  }
  return result;
}

}  // namespace

std::int64_t posterior_width(const BoltzmannMachine& machine) { return machine.unit(machine.hidden().at(1)).width(); }

at::Tensor with_posterior(const BoltzmannMachine& machine, const at::Tensor& rows) {
  std::vector<at::Tensor> pieces;
  for (std::int64_t first = 0; first < rows.size(0); first += rows_at_once)
    pieces.push_back(
        upper_means(machine, rows.slice(0, first, std::min(first + rows_at_once, rows.size(0)))).to(rows.options()));
  if (pieces.empty()) return at::empty({0, rows.size(1) + posterior_width(machine)}, rows.options());
  return at::cat({rows, at::cat(pieces)}, 1);
}

RunData with_posterior(const BoltzmannMachine& machine, const RunData& data, const at::Device& device) {
  require(data.binarization != Binarization::stochastic,
          "the posterior of rows that are drawn anew at every update cannot be found beforehand");
  const BoltzmannMachine there = machine.to(device);
  return {.train = with_columns(there, data.train, data.binarization),
          .valid = with_columns(there, data.valid, data.binarization),
          .binarization = Binarization::none,
          .classes = data.classes};
}

}  // namespace harmonium
