// Small float64 machines with random parameters, covering every arrangement and pair of unit types that brute force can
// follow, and what tests share to compare results and messages.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"

namespace harmonium::support {

// Biases and weights ~ N(0, scale²); precisions in [0.7, 2).
inline BoltzmannMachine randomized(BoltzmannMachine machine, std::uint64_t seed, double scale = 0.7) {
  Key key = Key(seed).fold_in(0x7E57);
  for (std::uint64_t i = 0; const auto& [name, value] : machine.parameters().entries()) {
    at::Tensor target = value;
    if (name.find(".precision") != std::string::npos)
      target.copy_(0.7 + 1.3 * uniform(key.fold_in(i++), value.sizes(), at::kDouble));
    else
      target.copy_(scale * normal(key.fold_in(i++), value.sizes(), at::kDouble));
  }
  machine.constrain_();
  return machine;
}

struct MachineCase {
  std::string name;
  std::function<BoltzmannMachine()> make;
  friend void PrintTo(const MachineCase& one, std::ostream* out) { *out << one.name; }
};

inline MachineCase rbm_case(const std::string& name, const std::string& visible, const std::string& hidden) {
  return {name, [=] { return randomized(make_rbm(visible, hidden, at::kDouble), 1); }};
}

// Machines whose hidden layers are joined to observed ones only, so that the likelihood gradient has a closed form.
inline std::vector<MachineCase> shallow_machines() {
  return {
      rbm_case("BernoulliBernoulli", "bernoulli:4", "bernoulli:3"),
      rbm_case("SoftmaxBernoulli", "softmax:2x3", "bernoulli:3"),
      rbm_case("BernoulliSoftmax", "bernoulli:3", "softmax:2x3"),
      rbm_case("SoftmaxSoftmax", "softmax:2x2", "softmax:1x3"),
      rbm_case("GaussianBernoulli", "gaussian:2", "bernoulli:2"),
      rbm_case("GaussianSoftmax", "gaussian:1", "softmax:2x3"),
      rbm_case("BernoulliGaussian", "bernoulli:3", "gaussian:2"),
      rbm_case("BernoulliCardinality", "bernoulli:3", "cardinality:4<=2"),
      rbm_case("CardinalityBernoulli", "cardinality:4<=2", "bernoulli:2"),
      rbm_case("BernoulliPooled", "bernoulli:3", "pooled:2x2"),
      rbm_case("BernoulliOrPooled", "bernoulli:3", "or_pooled:1x2"),
      rbm_case("BernoulliStepped", "bernoulli:3", "stepped:2x3"),
      rbm_case("GaussianStepped", "gaussian:1", "stepped:1x3"),
      rbm_case("PoissonBernoulli", "poisson:1", "bernoulli:2"),
      rbm_case("BernoulliRelu", "bernoulli:3", "relu:1"),
      rbm_case("ReluBernoulli", "relu:1", "bernoulli:2"),
      rbm_case("BernoulliDRelu", "bernoulli:2", "drelu:1"),
      rbm_case("BernoulliSpikeSlab", "bernoulli:3", "spike_slab:1"),
      rbm_case("BernoulliPooledSlabs", "bernoulli:2", "spike_slab:1x2"),
      {"ClassificationRbm",
       [] { return randomized(make_classification_rbm("bernoulli:3", 3, "bernoulli:3", at::kDouble), 2); }},
      {"GaussianClassificationRbm",
       [] { return randomized(make_classification_rbm("gaussian:1", 3, "bernoulli:2", at::kDouble), 3); }},
  };
}

inline std::vector<MachineCase> deep_machines() {
  return {
      {"ThreeLayerChain",
       [] {
         return randomized(make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2"}, at::kDouble), 4);
       }},
      {"MixedChain",
       [] {
         return randomized(make_chain({"softmax:1x3", "bernoulli:3", "gaussian:1"}, at::kDouble), 5);
       }},
      {"FourLayerChain",
       [] {
         return randomized(make_chain({"bernoulli:2", "softmax:1x3", "bernoulli:2", "bernoulli:2"}, at::kDouble), 6);
       }},
  };
}

// Machines with an edge inside a layer.
inline std::vector<MachineCase> inner_machines() {
  return {
      {"MarkovField", [] { return randomized(make_mrf("bernoulli:5", at::kDouble), 7); }},
      {"PottsField", [] { return randomized(make_mrf("softmax:3x3", at::kDouble), 8); }},
      {"SemiRestricted", [] { return randomized(make_semi_restricted("bernoulli:4", "bernoulli:3", at::kDouble), 9); }},
      {"SemiRestrictedPotts",
       [] { return randomized(make_semi_restricted("softmax:2x3", "gaussian:1", at::kDouble), 10); }},
  };
}

// Machines whose hidden units are joined to each other by an edge inside a layer: no layer, or only the visible one,
// can be summed out.
inline std::vector<MachineCase> general_machines() {
  return {
      {"General", [] { return randomized(make_boltzmann("bernoulli:4", "bernoulli:3", {}, at::kDouble), 11); }},
      {"GeneralPotts", [] { return randomized(make_boltzmann("bernoulli:3", "softmax:2x2", {}, at::kDouble), 12); }},
      {"HiddenJoined",
       [] { return randomized(make_boltzmann("softmax:1x3", "bernoulli:4", {.visible = false}, at::kDouble), 13); }},
  };
}

inline std::vector<MachineCase> and_general(std::vector<MachineCase> machines) {
  for (MachineCase& one : general_machines()) machines.push_back(std::move(one));
  return machines;
}

inline std::vector<MachineCase> and_inner(std::vector<MachineCase> machines) {
  for (MachineCase& one : inner_machines()) machines.push_back(std::move(one));
  return machines;
}

inline std::vector<MachineCase> all_machines() {
  std::vector<MachineCase> all = shallow_machines();
  for (MachineCase& one : deep_machines()) all.push_back(std::move(one));
  return all;
}

// Those of them that have finitely many states.
inline std::vector<MachineCase> discrete_machines() {
  std::vector<MachineCase> result;
  for (const MachineCase& one : all_machines()) {
    const BoltzmannMachine machine = one.make();
    if (std::ranges::all_of(machine.layers(), [](const Layer& layer) { return layer.unit->state_count().has_value(); }))
      result.push_back(one);
  }
  return result;
}

// Those and the machines with an edge inside a layer that have no continuous units.
inline std::vector<MachineCase> discrete_and_inner_machines() {
  std::vector<MachineCase> result = discrete_machines();
  for (const MachineCase& one : inner_machines())
    if (one.name != "SemiRestrictedPotts") result.push_back(one);
  return and_general(std::move(result));
}

inline std::string case_name(const ::testing::TestParamInfo<MachineCase>& info) { return info.param.name; }

// |a − b| ≤ tolerance·(1 + |b|) in every element.
inline void expect_close(const at::Tensor& actual, const at::Tensor& expected, double tolerance,
                         const std::string& what = "") {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const at::Tensor error = (actual.to(at::kDouble) - expected).abs() / (1 + expected.to(at::kDouble).abs());
  // Written so that NaN fails.
  EXPECT_TRUE(error.le(tolerance).all().item<bool>()) << what << "\nactual\n" << actual << "\nexpected\n" << expected;
}

inline void expect_close(const Moments& actual, const Moments& expected, double tolerance) {
  ASSERT_EQ(actual.entries().size(), expected.entries().size());
  for (const auto& [name, value] : expected.entries()) expect_close(actual[name], value, tolerance, name);
}

inline bool identical(const Moments& a, const Moments& b) {
  if (a.entries().size() != b.entries().size()) return false;
  for (const auto& [name, value] : a.entries())
    if (!b.contains(name) || !at::equal(value, b[name])) return false;
  return true;
}

// What an Error says; empty when f does not fail.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void expect_mentions(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in '" << message << "'";
}

class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(at::get_num_threads()) { at::set_num_threads(threads); }
  ~ThreadCount() { at::set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace harmonium::support
