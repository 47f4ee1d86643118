#include "harmonium/families/encoded_data.h"

#include <algorithm>
#include <functional>
#include <sstream>

#include "harmonium/core/error.h"
#include "harmonium/models/belief_net.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

Dataset encode(const Dataset& data, Binarization binarization, std::int64_t width,
               const std::function<at::Tensor(const at::Tensor&)>& code) {
  if (data.rows() == 0) return data;
  constexpr std::int64_t rows_at_once = 2000;
  Dataset result{.name = data.name, .values = {}, .labels = data.labels};
  result.values = at::empty({data.rows(), width}, at::kFloat);
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const std::int64_t end = std::min(first + rows_at_once, data.rows());
    result.values.narrow(0, first, end - first).copy_(code(shown_values(data.slice(first, end), binarization)));
  }
  return result;
}

}  // namespace

RunData encode_data(const BoltzmannMachine& machine, const RunData& data) {
  const Unit& hidden = machine.unit(machine.hidden().front());
  const auto code = [&](const at::Tensor& rows) { return up_means({machine}, rows).back(); };
  const bool bits = hidden.support() == Unit::Support::bits;
  return {.train = encode(data.train, data.binarization, hidden.width(), code),
          .valid = encode(data.valid, data.binarization, hidden.width(), code),
          .binarization = bits ? Binarization::stochastic : Binarization::none};
}

RunData encode_data(const FeedForward& net, const RunData& data) {
  const auto code = [&](const at::Tensor& rows) { return net.activations(rows).front(); };
  const std::int64_t width = net.layers().front().outputs;
  return {.train = encode(data.train, data.binarization, width, code),
          .valid = encode(data.valid, data.binarization, width, code)};
}

std::vector<std::string> split_layers(const std::string& layers) {
  std::vector<std::string> items;
  if (layers == "none") return items;
  std::istringstream text(layers);
  for (std::string item; std::getline(text, item, ',');) items.push_back(item);
  return items;
}

std::vector<std::int64_t> layer_widths(const std::string& layers) {
  constexpr std::size_t most_digits = 7;
  require(!layers.empty(), "@layers is empty; give numbers of units such as 500,250, or none");
  std::vector<std::int64_t> widths;
  for (const std::string& item : split_layers(layers)) {
    require(!item.empty() && item.find_first_not_of("0123456789") == std::string::npos && item.size() <= most_digits &&
                std::stoll(item) > 0,
            "@layers {}: '{}' is not a number of units; give numbers from the data up, such as 500,250", layers, item);
    widths.push_back(std::stoll(item));
  }
  return widths;
}

}  // namespace harmonium
