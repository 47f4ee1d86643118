#include "harmonium/units/unit_types.h"

#include <charconv>

#include "harmonium/core/error.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/cardinality.h"
#include "harmonium/units/counts.h"
#include "harmonium/units/drelu.h"
#include "harmonium/units/gaussian.h"
#include "harmonium/units/nrelu.h"
#include "harmonium/units/or_pooled.h"
#include "harmonium/units/poisson.h"
#include "harmonium/units/pooled.h"
#include "harmonium/units/relu.h"
#include "harmonium/units/softmax.h"
#include "harmonium/units/spike_slab.h"
#include "harmonium/units/stepped.h"
#include "harmonium/units/twin.h"

namespace harmonium {

namespace {

std::int64_t parse_count(std::string_view text, const std::string& spec) {
  constexpr std::int64_t most = 1'000'000'000;  // of groups and of states: their product is still a number
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size() && value > 0,
          "unit '{}': '{}' is not a positive number of units", spec, text);
  require(value <= most, "unit '{}': {} units are too many; a layer has at most {}", spec, text, most);
  return value;
}

// Types that are known by their width alone.
template <class Type>
std::shared_ptr<const Unit> unit_of_width(std::string_view size, const std::string& spec) {
  return std::make_shared<Type>(parse_count(size, spec));
}

std::string fit_width(const std::string& size, std::int64_t columns, const std::string&) {
  return size.empty() ? std::to_string(columns) : size;
}

std::shared_ptr<const Unit> softmax_of(std::string_view size, const std::string& spec) {
  const std::size_t times = size.find('x');
  require(times != std::string_view::npos,
          "unit '{}': softmax units are written softmax:GROUPSxSTATES, e.g. softmax:1x10", spec);
  return std::make_shared<Softmax>(parse_count(size.substr(0, times), spec), parse_count(size.substr(times + 1), spec));
}

// "64", "64:scalar", "64:fixed"; and "scalar" where the data say how many there are.
std::shared_ptr<const Unit> gaussian_of(std::string_view size, const std::string& spec) {
  const std::size_t colon = size.find(':');
  const std::string_view how = colon == std::string_view::npos ? "" : size.substr(colon + 1);
  require(how.empty() || how == "scalar" || how == "fixed",
          "unit '{}': precisions are learnt for each unit, or scalar (one for all) or fixed (at 1), not '{}'", spec,
          how);
  using Precision = Gaussian::Precision;
  return std::make_shared<Gaussian>(parse_count(size.substr(0, colon), spec), how == "scalar"  ? Precision::scalar
                                                                              : how == "fixed" ? Precision::fixed
                                                                                               : Precision::diagonal);
}

std::string fit_gaussian(const std::string& size, std::int64_t columns, const std::string& spec) {
  return size == "scalar" || size == "fixed" ? format("{}:{}", columns, size) : fit_width(size, columns, spec);
}

// "GxN" → (G, N).
std::pair<std::int64_t, std::int64_t> parse_groups(std::string_view size, const std::string& spec, const char* how) {
  const std::size_t times = size.find('x');
  require(times != std::string_view::npos, "unit '{}': write {}", spec, how);
  return {parse_count(size.substr(0, times), spec), parse_count(size.substr(times + 1), spec)};
}

std::shared_ptr<const Unit> pooled_of(std::string_view size, const std::string& spec) {
  const auto [groups, units] = parse_groups(size, spec, "pooled:GROUPSxUNITS, e.g. pooled:50x4");
  return std::make_shared<Pooled>(groups, units);
}

std::shared_ptr<const Unit> or_pooled_of(std::string_view size, const std::string& spec) {
  const auto [groups, detectors] = parse_groups(size, spec, "or_pooled:GROUPSxDETECTORS, e.g. or_pooled:50x4");
  require(detectors <= OrPooled::most_detectors, "unit '{}': a group has at most {} detectors", spec,
          OrPooled::most_detectors);
  return std::make_shared<OrPooled>(groups, detectors);
}

std::shared_ptr<const Unit> stepped_of(std::string_view size, const std::string& spec) {
  if (size.find('x') == std::string_view::npos) return unit_of_width<Stepped>(size, spec);
  constexpr std::int64_t most_copies = 1000;
  const auto [units, copies] = parse_groups(size, spec, "stepped:UNITSxCOPIES");
  require(copies <= most_copies, "unit '{}': a stepped unit has at most {} copies", spec, most_copies);
  return std::make_shared<Stepped>(units, copies);
}

// "5", or "5x3": slabs of each spike.
std::shared_ptr<const Unit> spike_slab_of(std::string_view size, const std::string& spec) {
  if (size.find('x') == std::string_view::npos) return unit_of_width<SpikeSlab>(size, spec);
  const auto [spikes, slabs] = parse_groups(size, spec, "spike_slab:SPIKESxSLABS");
  return std::make_shared<SpikeSlab>(spikes, slabs);
}

std::shared_ptr<const Unit> cardinality_of(std::string_view size, const std::string& spec) {
  const std::size_t sign = size.find("<=");
  require(sign != std::string_view::npos,
          "unit '{}': say how many of the units may be on, e.g. \"cardinality:500<=25\" (with quotes in a shell)",
          spec);
  const std::int64_t units = parse_count(size.substr(0, sign), spec), most = parse_count(size.substr(sign + 2), spec);
  require(most <= units, "unit '{}': of {} units no more than {} can be on", spec, units, units);
  // Without a limit they are independent.
  if (most == units) return std::make_shared<Bernoulli>(units);
  return std::make_shared<Cardinality>(units, most);
}

std::string fit_groups(const std::string& size, std::int64_t columns, const std::string& spec) {
  require(!size.empty(), "unit '{}': give the number of states of each group, e.g. softmax:21", spec);
  if (size.find('x') != std::string::npos) return size;
  const std::int64_t states = parse_count(size, spec);
  require(states >= 2 && columns % states == 0, "unit '{}': {} columns cannot be divided into groups of {} states",
          spec, columns, states);
  return format("{}x{}", columns / states, states);
}

// What stands behind the colon; × is another way to write x.
std::string size_of(const std::string& spec) {
  constexpr std::string_view times = "\u00d7";
  const std::size_t colon = spec.find(':');
  std::string size;
  for (std::size_t at = colon == std::string::npos ? spec.size() : colon + 1; at < spec.size(); ++at) {
    const bool cross = spec.compare(at, times.size(), times) == 0;
    size += cross ? 'x' : spec[at];
    if (cross) at += times.size() - 1;
  }
  return size;
}

}  // namespace

const std::vector<UnitType>& unit_types() {
  using Support = Unit::Support;
  static const std::vector<UnitType> types = {
      {.name = "bernoulli",
       .form = "bernoulli:N",
       .help = "binary units",
       .support = Support::bits,
       .example = "bernoulli:3",
       .of_data = "bernoulli",
       .make = unit_of_width<Bernoulli>,
       .fit = fit_width},
      {.name = "gaussian",
       .form = "gaussian:N[:scalar|:fixed]",
       .help = "real values; :scalar learns one precision for all, :fixed has precision 1",
       .support = Support::reals,
       .example = "gaussian:2",
       .of_data = "gaussian",
       .make = gaussian_of,
       .fit = fit_gaussian},
      {.name = "softmax",
       .form = "softmax:GxK",
       .help = "one-hot groups of K states",
       .support = Support::one_hot,
       .example = "softmax:2x3",
       .of_data = "softmax:K",
       .make = softmax_of,
       .fit = fit_groups},
      {.name = "counts",
       .form = "counts:K",
       .help = "word counts of documents",
       .support = Support::counts,
       .example = "counts:3",
       .of_data = "counts",
       .make = unit_of_width<Counts>,
       .fit = fit_width},
      {.name = "poisson",
       .form = "poisson:N",
       .help = "counts without an upper end, beside layers with bounded values",
       .support = Support::naturals,
       .example = "poisson:2",
       .of_data = "poisson",
       .make = unit_of_width<Poisson>,
       .fit = fit_width},
      {.name = "relu",
       .form = "relu:N",
       .help = "real values of 0 or more",
       .support = Support::nonnegative,
       .example = "relu:2",
       .of_data = "relu",
       .make = unit_of_width<Relu>,
       .fit = fit_width},
      {.name = "drelu",
       .form = "drelu:N",
       .help = "real values with a threshold and a precision on either side of 0",
       .support = Support::reals,
       .example = "drelu:2",
       .make = unit_of_width<DRelu>},
      {.name = "nrelu",
       .form = "nrelu:N",
       .help = "noisy rectified units, for @gradient cd; judged as stepped units",
       .support = Support::nonnegative,
       .example = "nrelu:2",
       .make = unit_of_width<NRelu>},
      {.name = "stepped",
       .form = "stepped:N[xM]",
       .help = "how many of M binary copies with rising thresholds are on (M = 64)",
       .support = Support::naturals,
       .example = "stepped:2x3",
       .make = stepped_of},
      {.name = "cardinality",
       .form = "cardinality:N<=k",
       .help = "N binary units of which at most k are on",
       .support = Support::linked_bits,
       .example = "cardinality:4<=2",
       .make = cardinality_of},
      {.name = "pooled",
       .form = "pooled:Gxn",
       .help = "groups of n binary units, at most one of each on",
       .support = Support::linked_bits,
       .example = "pooled:2x3",
       .make = pooled_of},
      {.name = "or_pooled",
       .form = "or_pooled:Gxn",
       .help = "groups of n binary units and one that is on where any of them is",
       .support = Support::linked_bits,
       .example = "or_pooled:2x2",
       .make = or_pooled_of},
      {.name = "spike_slab",
       .form = "spike_slab:N[xK]",
       .help = "0, or a real value (K of them, 0 together)",
       .support = Support::reals,
       .example = "spike_slab:2",
       .make = spike_slab_of},
      {.name = "twin",
       .form = "twin:N",
       .help = "means of two binary copies, in the pretraining of deep machines",
       .support = Support::halves,
       .example = "twin:2",
       .make = unit_of_width<Twin>},
  };
  return types;
}

const UnitType& unit_type(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  for (const UnitType& type : unit_types())
    if (type.name == name) return type;
  fail("unknown unit type '{}' in '{}'; there are: {}", name, spec, unit_forms());
}

std::string unit_forms() {
  std::string forms;
  for (const UnitType& type : unit_types()) forms += (forms.empty() ? "" : ", ") + type.form;
  return forms;
}

std::string data_unit_forms() {
  std::string forms;
  for (const UnitType& type : unit_types())
    if (!type.of_data.empty()) forms += (forms.empty() ? "" : ", ") + type.of_data + " (" + type.help + ")";
  return forms;
}

std::shared_ptr<const Unit> make_unit(const std::string& spec) { return unit_type(spec).make(size_of(spec), spec); }

std::string fit_unit(const std::string& spec, std::int64_t columns) {
  const UnitType& type = unit_type(spec);
  if (!type.fit) return spec;
  return type.name + ":" + type.fit(size_of(spec), columns, spec);
}

std::string hidden_spec(const std::string& given) {
  const bool plain_number = !given.empty() && given.find_first_not_of("0123456789") == std::string::npos;
  return plain_number ? format("{}:{}", unit_types().front().name, given) : given;
}

std::string hidden_text(const Unit& unit) {
  return unit.support() == unit_types().front().support ? std::to_string(unit.width()) : unit.spec();
}

}  // namespace harmonium
