// Small float64 DRAW nets of binary pictures, log p(x) of them by quadrature over the latent variables, and the whole
// recurrence written out one number at a time.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/directed/draw.h"
#include "tests/support/vae.h"

namespace harmonium::support {

// Every parameter ~ N(0, scale²).
inline DrawNet random_draw_net(const DrawStructure& structure, double scale = 0.5, std::uint64_t seed = 1) {
  DrawNet net(structure, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(scale * normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble));
  return net;
}

// Pictures of 2 × 2 bits and one latent variable at each step. q is wide, and lies within the grid of a quadrature.
inline DrawNet small_draw_net(std::int64_t steps, bool attention) {
  const std::int64_t size = attention ? 2 : 0;
  DrawNet net = random_draw_net({.visible = "bernoulli:4",
                                 .height = 2,
                                 .width = 2,
                                 .steps = steps,
                                 .latent = 1,
                                 .hidden = 3,
                                 .read = size,
                                 .write = size},
                                0.7);
  net.parameters()["posterior.layer1.weights"].mul_(0.6);
  net.parameters()["posterior.layer1.weights"].narrow(1, 1, 1).mul_(0.2);
  net.parameters()["posterior.layer1.bias"].narrow(0, 1, 1).fill_(0.1);  // log σ
  net.parameters()["decoder.weights"].mul_(2);
  net.parameters()["write.layer1.weights"].mul_(3);
  return net;
}

// For one step or two.
inline at::Tensor quadrature_log_p(const DrawNet& net, const at::Tensor& rows) {
  const Grid nodes = grid(net.structure().steps);
  const at::Tensor canvas = net.canvases(net.parameters(), nodes.points.split(1, 1)).back();
  const at::Tensor log_p = net.visible().log_prob(rows.unsqueeze(1), net.visible_raw(net.parameters(), canvas));
  return at::logsumexp(log_p + log_standard_normal(nodes.points), 1) + nodes.log_volume;
}

// One row, by loops over plain numbers.
class PlainDraw {
 public:
  using Numbers = std::vector<double>;
  explicit PlainDraw(const DrawNet& net) : net_(net), shape_(net.structure()) {}

  struct Logs {
    double log_p = 0;               // of the row given latents
    std::vector<double> log_q, kl;  // of every step
    std::vector<Numbers> canvases;  // c_0 … c_T
  };
  // `latents`: steps × latent.
  [[nodiscard]] Logs score(const Numbers& x, const std::vector<Numbers>& latents) const {
    Numbers e = part("encoder.start", 0), e_memory = part("encoder.start", 1), d = part("decoder.start", 0),
            d_memory = part("decoder.start", 1), canvas = list("canvas.start");
    Logs logs;
    logs.canvases.push_back(canvas);
    for (const Numbers& z : latents) {
      Numbers error(x.size()), input;
      for (std::size_t i = 0; i < x.size(); ++i) error[i] = x[i] - (bits() ? sigma(canvas[i]) : canvas[i]);
      for (const Numbers* what : {&x, static_cast<const Numbers*>(&error)}) {
        const Numbers seen = shape_.read > 0 ? read(*what, affine("read_place.layer1", d)) : *what;
        input.insert(input.end(), seen.begin(), seen.end());
      }
      input.insert(input.end(), d.begin(), d.end());
      step("encoder.", input, e, e_memory);
      const Numbers raw = affine("posterior.layer1", e);
      double log_q = 0, kl = 0;
      for (std::size_t j = 0; j < z.size(); ++j) {
        const double mu = raw[j], s = raw[z.size() + j], u = (z[j] - mu) / std::exp(s);
        log_q += -u * u / 2 - s - 0.5 * std::log(2 * std::numbers::pi);
        kl += (mu * mu + std::exp(2 * s) - 1) / 2 - s;
      }
      logs.log_q.push_back(log_q);
      logs.kl.push_back(kl);
      step("decoder.", z, d, d_memory);
      Numbers written = affine("write.layer1", d);
      if (shape_.write > 0) written = write(written, affine("write_place.layer1", d));
      for (std::size_t i = 0; i < x.size(); ++i) canvas[i] += written[i];
      logs.canvases.push_back(canvas);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (bits()) {
        logs.log_p += std::log(x[i] == 1 ? sigma(canvas[i]) : 1 - sigma(canvas[i]));
        continue;
      }
      const double deviation = 0.1 + std::exp(list("visible.shared")[0]), u = (x[i] - canvas[i]) / deviation;
      logs.log_p += -u * u / 2 - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi);
    }
    return logs;
  }

 private:
  [[nodiscard]] static double sigma(double a) { return 1 / (1 + std::exp(-a)); }
  [[nodiscard]] bool bits() const { return shape_.visible.starts_with("bernoulli"); }
  [[nodiscard]] Numbers list(const std::string& name) const {
    const at::Tensor value = net_.parameters()[name].contiguous();
    return {value.data_ptr<double>(), value.data_ptr<double>() + value.numel()};
  }
  [[nodiscard]] Numbers part(const std::string& name, std::int64_t number) const {
    const Numbers both = list(name);
    const auto begin = both.begin() + number * shape_.hidden;
    return {begin, begin + shape_.hidden};
  }
  // b + x W.
  [[nodiscard]] Numbers times(const std::string& weights, const std::string& bias, const Numbers& x) const {
    const Numbers W = list(weights);
    Numbers y = list(bias);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < y.size(); ++j) y[j] += x[i] * W[i * y.size() + j];
    return y;
  }
  [[nodiscard]] Numbers affine(const std::string& name, const Numbers& x) const {
    return times(name + ".weights", name + ".bias", x);
  }
  void step(const std::string& prefix, Numbers input, Numbers& h, Numbers& c) const {
    input.insert(input.end(), h.begin(), h.end());
    const Numbers gates = times(prefix + "weights", prefix + "bias", input);
    for (std::size_t j = 0, n = h.size(); j < n; ++j) {
      c[j] = sigma(gates[n + j]) * c[j] + sigma(gates[j]) * std::tanh(gates[3 * n + j]);
      h[j] = sigma(gates[2 * n + j]) * std::tanh(c[j]);
    }
  }
  // F[i][a] of columns, or of rows.
  [[nodiscard]] std::vector<Numbers> filters(std::int64_t size, const Numbers& place, bool columns) const {
    const std::int64_t pixels = columns ? shape_.width : shape_.height;
    const auto n = static_cast<double>(size);
    const double g = static_cast<double>(pixels + 1) * (place[columns ? 0 : 1] + 1) / 2;
    const double delta =
        size == 1 ? 0 : static_cast<double>(std::max(shape_.width, shape_.height) - 1) * std::exp(place[3]) / (n - 1);
    std::vector<Numbers> all;
    for (double i = 1; i <= n; ++i) {
      Numbers filter;
      double total = 0;
      for (std::int64_t a = 1; a <= pixels; ++a) {
        const double distance = static_cast<double>(a) - g - (i - n / 2 - 0.5) * delta;
        filter.push_back(std::exp(-distance * distance / (2 * std::exp(place[2]))));
        total += filter.back();
      }
      for (double& value : filter) value /= total;
      all.push_back(std::move(filter));
    }
    return all;
  }
  [[nodiscard]] Numbers read(const Numbers& picture, const Numbers& place) const {
    const std::vector<Numbers> down = filters(shape_.read, place, false), across = filters(shape_.read, place, true);
    Numbers seen;
    for (const Numbers& y : down)
      for (const Numbers& x : across) {
        double sum = 0;
        for (std::size_t b = 0; b < y.size(); ++b)
          for (std::size_t a = 0; a < x.size(); ++a) sum += y[b] * x[a] * picture[b * x.size() + a];
        seen.push_back(std::exp(place[4]) * sum);
      }
    return seen;
  }
  [[nodiscard]] Numbers write(const Numbers& patch, const Numbers& place) const {
    const std::vector<Numbers> down = filters(shape_.write, place, false), across = filters(shape_.write, place, true);
    Numbers picture;
    for (std::size_t b = 0; b < down.front().size(); ++b)
      for (std::size_t a = 0; a < across.front().size(); ++a) {
        double sum = 0;
        for (std::size_t i = 0; i < down.size(); ++i)
          for (std::size_t j = 0; j < across.size(); ++j)
            sum += down[i][b] * across[j][a] * patch[i * across.size() + j];
        picture.push_back(sum / std::exp(place[4]));
      }
    return picture;
  }

  const DrawNet& net_;
  DrawStructure shape_;
};

}  // namespace harmonium::support
