// A trained model in Python's hands: one machine or a stack of them, and what can be asked of it.
//
// Rows come as tensors of any type; questions are answered in pieces that bound memory, without the interpreter.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harmonium/core/named_tensors.h"
#include "harmonium/families/machine_file.h"

namespace harmonium::python {

class PyModel {
 public:
  explicit PyModel(TrainedStack model);

  static PyModel load(const std::string& path);
  static PyModel decode(std::string_view bytes);
  // An RBM with binary hidden units: weights visible × hidden, and visible units as in units/unit_types.h, with or
  // without their number ("bernoulli", "softmax:21", "softmax:3x21").
  static PyModel from_arrays(const at::Tensor& weights, const at::Tensor& visible, const at::Tensor& hidden,
                             const std::string& visible_units);
  // `notes` are written beside those the model has.
  void save(const std::string& path, const std::map<std::string, std::string>& notes) const;
  [[nodiscard]] std::string encode() const;

  [[nodiscard]] const TrainedStack& get() const { return model_; }
  [[nodiscard]] bool is_stack() const;
  [[nodiscard]] const std::string& kind() const { return model_.kind; }
  [[nodiscard]] std::int64_t visible_width() const;
  [[nodiscard]] std::int64_t hidden_width() const;  // of the topmost hidden layer
  [[nodiscard]] std::string visible_units() const;  // "bernoulli", "gaussian", "softmax"
  // Those of all layers but the label, from the data up: "bernoulli:64", "bernoulli:100".
  [[nodiscard]] std::vector<std::string> units() const;
  [[nodiscard]] std::int64_t classes() const;  // of the label layer; 0 where there is none

  // Parameters by name, sharing their memory; machines of a stack have the prefixes of its file.
  [[nodiscard]] NamedTensors parameters() const;
  void set_parameter(const std::string& name, const at::Tensor& value);

  // E[h | v] of the topmost hidden layer; by mean field in a deep machine, on the way up in a stack.
  [[nodiscard]] at::Tensor transform(const at::Tensor& rows) const;
  // E[v | h] for rows of hidden units of an RBM.
  [[nodiscard]] at::Tensor visible_means(const at::Tensor& hidden) const;
  // −log f(v), labels summed out; an upper bound by mean field in a deep machine. Not for stacks.
  [[nodiscard]] at::Tensor free_energy(const at::Tensor& rows) const;
  // n · log p(v_i | all other units) for one of the n units of each row (likelihood/unit_conditionals.h), which is
  // chosen by the row's values and `seed`: the same for a row wherever it stands.
  [[nodiscard]] at::Tensor pseudo_likelihood(const at::Tensor& rows, std::uint64_t seed) const;
  // log p(class | v), rows × classes.
  [[nodiscard]] at::Tensor class_log_probabilities(const at::Tensor& rows) const;
  // Hidden units given the rows, then visible ones given those, and so on: visible units after `sweeps` such steps.
  [[nodiscard]] at::Tensor gibbs(const at::Tensor& rows, std::uint64_t seed, std::int64_t sweeps) const;

 private:
  [[nodiscard]] const BoltzmannMachine& machine() const;  // the only one; fails for stacks

  TrainedStack model_;
};

// Rows of any type as floats, and only so many at once.
void for_each_piece(const at::Tensor& rows,
                    const std::function<void(std::int64_t first, const at::Tensor& piece)>& visit);

}  // namespace harmonium::python
