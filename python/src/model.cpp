#include "model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/families/belief_net_model.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/inference/mean_field.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/likelihood/unit_conditionals.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/units/unit_types.h"
#include "watch.h"

namespace harmonium::python {

namespace {

constexpr std::int64_t rows_at_once = 2048;

std::string machine_name(std::size_t place, const std::string& name, bool stack) {
  return stack ? format("machine{}/{}", place + 1, name) : name;
}

// A number that depends on the values of a row alone.
std::uint64_t digest(const at::Tensor& row, const Key& key) {
  const at::Tensor values = row.contiguous();
  const auto* words = values.data_ptr<float>();
  Key result = key;
  for (std::int64_t i = 0; i < values.numel(); i += 2) {
    std::uint32_t low = 0, high = 0;
    std::memcpy(&low, words + i, sizeof low);
    if (i + 1 < values.numel()) std::memcpy(&high, words + i + 1, sizeof high);
    if (low != 0 || high != 0)  // most values of sparse data are zero and need no round
      result = result.fold_in((static_cast<std::uint64_t>(high) << 32 | low) ^ (static_cast<std::uint64_t>(i) << 7));
  }
  return result.bits();
}

}  // namespace

void for_each_piece(const at::Tensor& rows,
                    const std::function<void(std::int64_t first, const at::Tensor& piece)>& visit) {
  constexpr double usual_hidden = 100;  // roughly what decides whether threads are worth their while
  const ThreadScope threads(0, static_cast<double>(std::min(rows_at_once, rows.size(0)) * rows.size(1)) * usual_hidden);
  Watch watch;
  for (std::int64_t first = 0; first < rows.size(0); first += rows_at_once) {
    const std::int64_t count = std::min(rows_at_once, rows.size(0) - first);
    visit(first, rows.narrow(0, first, count).to(at::kFloat).contiguous());
    watch.tick();
  }
}

PyModel::PyModel(TrainedStack model) : model_(std::move(model)) {}

namespace {

TrainedStack as_stack(const Model& model, const std::string& where) {
  if (const auto* net = dynamic_cast<const BeliefNetModel*>(&model)) return net->trained();
  if (model.machine() == nullptr) cannot(model, where, "has no estimator in Python yet");
  const TrainedMachine& one = *model.machine();
  TrainedStack stack{.machines = {}, .kind = one.kind, .image = one.image, .notes = one.notes};
  stack.machines.push_back(one);
  return stack;
}

}  // namespace

PyModel PyModel::load(const std::string& path) { return PyModel(as_stack(*open_model(path), path)); }

PyModel PyModel::decode(std::string_view bytes) {
  const std::string where = "a pickled model";
  return PyModel(as_stack(*decode_model(bytes, where), where));
}

PyModel PyModel::from_arrays(const at::Tensor& weights, const at::Tensor& visible, const at::Tensor& hidden,
                             const std::string& visible_units) {
  require(weights.dim() == 2, "W must have two dimensions (visible × hidden units), not {}", weights.dim());
  require(visible.dim() == 1 && visible.size(0) == weights.size(0),
          "the visible biases must be {} numbers, one for each row of W", weights.size(0));
  require(hidden.dim() == 1 && hidden.size(0) == weights.size(1),
          "the hidden biases must be {} numbers, one for each column of W", weights.size(1));
  TrainedMachine one{make_rbm(fit_unit(visible_units, weights.size(0)), hidden_spec(std::to_string(weights.size(1))))};
  require(one.machine.unit(0).width() == weights.size(0), "visible={} asks for {} rows of W, not {}", visible_units,
          one.machine.unit(0).width(), weights.size(0));
  const std::string where = "from_arrays";
  copy_parameter(one.machine.parameters()["visible_hidden.weights"], "W", weights, where);
  copy_parameter(one.machine.parameters()["visible.bias"], "the visible biases", visible, where);
  copy_parameter(one.machine.parameters()["hidden.bias"], "the hidden biases", hidden, where);
  TrainedStack model{.machines = {}, .kind = one.kind};
  model.machines.push_back(std::move(one));
  return PyModel(std::move(model));
}

bool PyModel::is_stack() const { return find_family(model_.kind).read == read_belief_net_model; }

void PyModel::save(const std::string& path, const std::map<std::string, std::string>& notes) const {
  PyModel noted = *this;
  for (const auto& [name, text] : notes) noted.model_.notes[name] = text;
  write_file_atomically(path, noted.encode());
}

std::string PyModel::encode() const {
  if (is_stack()) return encode_stack(model_);
  TrainedMachine one = model_.machines.front();
  one.image = model_.image;
  one.notes = model_.notes;
  return encode_machine(one);
}

const BoltzmannMachine& PyModel::machine() const {
  require(!is_stack(), "a stack of machines ({}) has no such numbers; its top machine's are all that are known exactly",
          model_.kind);
  return model_.machines.front().machine;
}

std::int64_t PyModel::visible_width() const { return model_.machines.front().machine.unit(0).width(); }

std::int64_t PyModel::hidden_width() const {
  const BoltzmannMachine& top = model_.machines.back().machine;
  return top.unit(top.hidden().back()).width();
}

std::string PyModel::visible_units() const {
  const std::string spec = model_.machines.front().machine.unit(0).spec();
  return spec.substr(0, spec.find(':'));
}

std::vector<std::string> PyModel::units() const {
  std::vector<std::string> all = {model_.machines.front().machine.unit(0).spec()};
  for (const TrainedMachine& each : model_.machines)
    for (const std::size_t layer : each.machine.hidden()) all.push_back(each.machine.unit(layer).spec());
  return all;
}

std::int64_t PyModel::classes() const {
  const BoltzmannMachine& top = model_.machines.back().machine;
  const LayerSet observed = top.observed();
  return observed.size() == 2 ? top.unit(observed[1]).width() : 0;
}

NamedTensors PyModel::parameters() const {
  NamedTensors all;
  for (std::size_t i = 0; i < model_.machines.size(); ++i)
    for (const auto& [name, value] : model_.machines[i].machine.parameters().entries())
      all.emplace_back(machine_name(i, name, is_stack()), value);
  return all;
}

void PyModel::set_parameter(const std::string& name, const at::Tensor& value) {
  copy_parameter(find_tensor(parameters(), name, "the model"), name, value, "the model");
}

at::Tensor PyModel::transform(const at::Tensor& rows) const {
  const BoltzmannMachine& top = model_.machines.back().machine;
  const std::size_t layer = top.hidden().back();
  at::Tensor result = at::empty({rows.size(0), top.unit(layer).width()}, at::kFloat);
  const bool deep = top.hidden_joined();
  const MachineStack stack = deep ? MachineStack{} : model_.stack();
  for_each_piece(rows, [&](std::int64_t first, const at::Tensor& piece) {
    result.narrow(0, first, piece.size(0))
        .copy_(deep ? infer(top, top.observe({piece})).means.layers[layer] : up_means(stack, piece).back());
  });
  return result;
}

at::Tensor PyModel::visible_means(const at::Tensor& hidden) const {
  const BoltzmannMachine& rbm = machine();
  const std::size_t layer = rbm.hidden().front();
  at::Tensor result = at::empty({hidden.size(0), rbm.unit(0).width()}, at::kFloat);
  for_each_piece(hidden, [&](std::int64_t first, const at::Tensor& piece) {
    result.narrow(0, first, piece.size(0))
        .copy_(rbm.unit(0).mean(rbm.field(0, state_with(rbm, layer, piece)), rbm.layer_parameters(0)));
  });
  return result;
}

at::Tensor PyModel::free_energy(const at::Tensor& rows) const {
  // In float64, so that a row scores the same wherever it stands: some BLAS kernels round by place.
  const BoltzmannMachine one = machine().to(at::kDouble);
  at::Tensor result = at::empty({rows.size(0)}, at::kDouble);
  for_each_piece(rows, [&](std::int64_t first, const at::Tensor& single) {
    const at::Tensor piece = single.to(at::kDouble);
    std::vector<at::Tensor> values = {piece};
    at::Tensor log_f;
    if (one.observed().size() == 2) {
      // f(v) = f(v, c) / p(c | v), whichever class c is.
      at::Tensor label = at::zeros({piece.size(0), classes()}, at::kDouble);
      label.select(1, 0).fill_(1);
      values.push_back(label);
      log_f = log_unnormalized(one, one.observe(values)) - log_label_probabilities(one, piece).select(1, 0);
    } else {
      log_f = log_unnormalized(one, one.observe(values));
    }
    result.narrow(0, first, piece.size(0)).copy_(log_f.neg());
  });
  return result;
}

at::Tensor PyModel::pseudo_likelihood(const at::Tensor& rows, std::uint64_t seed) const {
  const BoltzmannMachine one = machine().to(at::kDouble);
  const Key key = Key(seed).fold_in(0x5C0E);
  at::Tensor result = at::empty({rows.size(0)}, at::kDouble);
  const std::int64_t parts = count_parts(one);
  const LogMass log_f = [&](const at::Tensor& visible) { return free_energy(visible).neg_(); };
  for_each_piece(rows, [&](std::int64_t first, const at::Tensor& piece) {
    at::Tensor chosen = at::empty({piece.size(0)}, at::kLong);
    for (std::int64_t i = 0; i < piece.size(0); ++i)
      chosen.data_ptr<std::int64_t>()[i] =
          static_cast<std::int64_t>(digest(piece[i], key) % static_cast<std::uint64_t>(parts));
    result.narrow(0, first, piece.size(0))
        .copy_(unit_conditionals(one, piece.to(at::kDouble), chosen, log_f).mul_(static_cast<double>(parts)));
  });
  return result;
}

at::Tensor PyModel::class_log_probabilities(const at::Tensor& rows) const {
  const BoltzmannMachine& one = machine();
  at::Tensor result = at::empty({rows.size(0), classes()}, at::kDouble);
  for_each_piece(rows, [&](std::int64_t first, const at::Tensor& piece) {
    result.narrow(0, first, piece.size(0)).copy_(log_label_probabilities(one, piece));
  });
  return result;
}

at::Tensor PyModel::gibbs(const at::Tensor& rows, std::uint64_t seed, std::int64_t sweeps) const {
  require(sweeps >= 1, "a number of steps must be at least 1, not {}", sweeps);
  const BoltzmannMachine& one = machine();
  at::Tensor result = at::empty({rows.size(0), one.unit(0).width()}, at::kFloat);
  for_each_piece(rows, [&](std::int64_t first, const at::Tensor& piece) {
    const Key key = Key(seed).fold_in(static_cast<std::uint64_t>(first));
    State state = one.independent_sample(key.fold_in(0), piece.size(0));
    state.layers[0] = piece;
    (void)sample_layers(one, state, key.fold_in(1), one.hidden());
    if (sweeps > 1) harmonium::gibbs(one, state, key.fold_in(2), sweeps - 1);
    (void)sample_layers(one, state, key.fold_in(3), {0});
    result.narrow(0, first, piece.size(0)).copy_(state.layers[0]);
  });
  return result;
}

}  // namespace harmonium::python
