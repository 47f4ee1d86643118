#include "harmonium/models/means_form.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/units/gaussian.h"

namespace harmonium {

namespace {

bool has_precisions(const Unit& unit) {
  return std::ranges::count(unit.parameter_names(), std::string("precision")) > 0;
}

// The names of a, λ and W of the layer of data, and its unit.
struct DataEntries {
  const std::string &bias, &precision;
  std::vector<std::string> weights;
  const Gaussian& unit;
};

DataEntries entries_of(const BoltzmannMachine& machine) {
  const std::size_t data = machine.observed().front();
  const std::vector<std::string>& names = machine.topology().layers[data].parameters;
  DataEntries found{.bias = names.at(0),
                    .precision = names.at(1),
                    .weights = {},
                    .unit = dynamic_cast<const Gaussian&>(machine.unit(data))};
  for (const EdgeInfo& edge : machine.topology().edges) found.weights.push_back(edge.weights);
  return found;
}

}  // namespace

std::string MeansForm::complaint(const BoltzmannMachine& machine) {
  const bool data = machine.observed().size() == 1 &&
                    dynamic_cast<const Gaussian*>(&machine.unit(machine.observed().front())) != nullptr;
  if (!data) return "there is no single layer of gaussian data";
  const std::size_t layer = machine.observed().front();
  for (const EdgeInfo& edge : machine.topology().edges)
    if (edge.lower != layer || edge.inner() || has_precisions(machine.unit(edge.upper)))
      return "it is for gaussian data joined to hidden units that have no precisions of their own";
  return {};
}

void MeansForm::precondition_(Moments& gradient, const BoltzmannMachine& machine) {
  const DataEntries names = entries_of(machine);
  const Moments& theta = machine.parameters();
  before_ = theta[names.precision].clone();
  at::Tensor z = before_ * gradient[names.precision] + theta[names.bias] * gradient[names.bias];
  for (const std::string& weights : names.weights) z += (theta[weights] * gradient[weights]).sum(1);
  // One precision for all takes the mean step, as in natural coordinates; one that is fixed takes none.
  if (names.unit.precision() == Gaussian::Precision::scalar) z = z.mean().expand_as(z);
  if (names.unit.precision() == Gaussian::Precision::fixed) z = at::zeros_like(z);
  gradient[names.bias].mul_(before_);
  for (const std::string& weights : names.weights) gradient[weights].mul_(before_.unsqueeze(1));
  gradient[names.precision].copy_(before_ * z);
}

void MeansForm::after_step_(BoltzmannMachine& machine) const {
  const DataEntries names = entries_of(machine);
  Moments& theta = machine.parameters();
  const at::Tensor factor = at::exp((theta[names.precision] - before_) / before_);  // e^{Δz}
  theta[names.precision].copy_(before_ * factor);
  theta[names.bias].mul_(factor);
  for (const std::string& weights : names.weights) theta[weights].mul_(factor.unsqueeze(1));
}

}  // namespace harmonium
