#include "harmonium/distributions/distribution.h"

#include <ATen/ATen.h>

#include <charconv>

#include "harmonium/core/error.h"
#include "harmonium/distributions/bernoulli.h"
#include "harmonium/distributions/categorical.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/distributions/logistic_mixture.h"
#include "harmonium/distributions/mixture.h"

namespace harmonium {

Distribution::Distribution(std::int64_t width) : width_(width) {
  require(width >= 1, "a distribution needs at least one column, not {}", width);
}

std::vector<std::int64_t> Distribution::value_variables() const {
  std::vector<std::int64_t> result;
  const std::int64_t columns = width() / variables();
  for (std::int64_t column = 0; column < width(); ++column) result.push_back(column / columns);
  return result;
}

at::Tensor Distribution::log_prob(const at::Tensor& value, const at::Tensor& raw) const {
  return log_prob_each(value, raw).sum(-1, /*keepdim=*/false, at::kDouble);
}

at::Tensor Distribution::reparametrized(const Key&, const at::Tensor&) const {
  fail("draws of {} are no differentiable function of its parameters; estimate the gradient by the score function",
       spec());
}

std::optional<at::Tensor> Distribution::kl(const at::Tensor&, const at::Tensor&) const { return std::nullopt; }

namespace {

template <class Number>
std::optional<Number> parsed_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::int64_t columns_of(const std::string& text, const std::string& spec) {
  constexpr std::int64_t most_columns = 1'000'000'000;
  const std::optional<std::int64_t> columns = parsed_number<std::int64_t>(text);
  require(columns && *columns > 0 && *columns <= most_columns,
          "distribution '{}': '{}' is not a positive number of columns", spec, text);
  return *columns;
}

// What stands after a colon in `arguments`, else `usual`.
double floor_of(const std::string& arguments, const std::string& spec, double usual) {
  const std::size_t colon = arguments.find(':');
  if (colon == std::string::npos) return usual;
  const std::string text = arguments.substr(colon + 1);
  const std::optional<double> found = parsed_number<double>(text);
  require(found.has_value() && *found > 0, "distribution '{}': '{}' is not a positive floor of the standard deviation",
          spec, text);
  return *found;
}

std::shared_ptr<const Distribution> gaussian_of(const std::string& arguments, const std::string& spec,
                                                GaussianDistribution::Deviation deviation) {
  return std::make_shared<GaussianDistribution>(columns_of(arguments.substr(0, arguments.find(':')), spec), deviation,
                                                floor_of(arguments, spec, 0));
}

std::shared_ptr<const Distribution> mixture_of(const std::string& arguments, const std::string& spec,
                                               MixtureDistribution::Kernel kernel) {
  const std::string shape = arguments.substr(0, arguments.find(':'));
  const std::size_t cross = shape.find('x');
  require(cross != std::string::npos, "distribution '{}': write NxC after its name, N values of C components each",
          spec);
  return std::make_shared<MixtureDistribution>(columns_of(shape.substr(0, cross), spec),
                                               columns_of(shape.substr(cross + 1), spec), kernel,
                                               floor_of(arguments, spec, MixtureDistribution::usual_floor));
}

// "NxK", or "NxK:C".
std::shared_ptr<const Distribution> logistic_mixture_of(const std::string& arguments, const std::string& spec) {
  const std::size_t colon = arguments.find(':'), cross = arguments.find('x');
  require(cross < colon, "distribution '{}': write logistic_mixture:NxK, N values of K levels", spec);
  return std::make_shared<LogisticMixtureDistribution>(
      columns_of(arguments.substr(0, cross), spec), columns_of(arguments.substr(cross + 1, colon - cross - 1), spec),
      colon == std::string::npos ? LogisticMixtureDistribution::usual_components
                                 : columns_of(arguments.substr(colon + 1), spec));
}

}  // namespace

const std::vector<DistributionType>& distribution_types() {
  using Deviation = GaussianDistribution::Deviation;
  using Kernel = MixtureDistribution::Kernel;
  static const std::vector<DistributionType> types = {
      {.name = "bernoulli",
       .form = "bernoulli:N",
       .help = "N binary values, a net gives the log-odds of each",
       .make =
           [](const std::string& arguments, const std::string& spec) {
             return std::make_shared<BernoulliDistribution>(columns_of(arguments, spec));
           }},
      {.name = "categorical",
       .form = "categorical:NxK",
       .help = "N values of K states, one-hot; a net gives the logits of each state",
       .make =
           [](const std::string& arguments, const std::string& spec) {
             const std::size_t cross = arguments.find('x');
             require(cross != std::string::npos, "distribution '{}': write categorical:NxK, N values of K states",
                     spec);
             return std::make_shared<CategoricalDistribution>(columns_of(arguments.substr(0, cross), spec),
                                                              columns_of(arguments.substr(cross + 1), spec));
           }},
      {.name = "gaussian",
       .form = "gaussian:N[:FLOOR]",
       .help = "N real values, a net gives mean and standard deviation of each; the latter is at least FLOOR",
       .make = [](const std::string& arguments,
                  const std::string& spec) { return gaussian_of(arguments, spec, Deviation::per_column); }},
      {.name = "shared_gaussian",
       .form = "shared_gaussian:N[:FLOOR]",
       .help = "N real values, a net gives the means; one learned standard deviation, at least FLOOR, serves all",
       .make = [](const std::string& arguments,
                  const std::string& spec) { return gaussian_of(arguments, spec, Deviation::shared); }},
      {.name = "gaussian_mixture",
       .form = "gaussian_mixture:NxC[:FLOOR]",
       .help = "N real values, each a mixture of C Gaussians; a net gives weights, means and standard deviations",
       .make = [](const std::string& arguments,
                  const std::string& spec) { return mixture_of(arguments, spec, Kernel::gaussian); }},
      {.name = "laplace_mixture",
       .form = "laplace_mixture:NxC[:FLOOR]",
       .help = "the same of Laplace distributions, which have a peak and longer tails",
       .make = [](const std::string& arguments,
                  const std::string& spec) { return mixture_of(arguments, spec, Kernel::laplace); }},
      {.name = "logistic_mixture",
       .form = "logistic_mixture:NxK[:C]",
       .help = "N gray values of K levels, each a mixture of C logistic distributions, rounded to levels",
       .make = logistic_mixture_of},
  };
  return types;
}

std::shared_ptr<const Distribution> make_distribution(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon);
  std::string known;
  for (const DistributionType& type : distribution_types()) {
    if (type.name == name) return type.make(colon == std::string::npos ? "" : spec.substr(colon + 1), spec);
    known += (known.empty() ? "" : ", ") + type.form;
  }
  fail("unknown distribution '{}' in '{}'; there are: {}", name, spec, known);
}

}  // namespace harmonium
