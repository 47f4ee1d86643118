// The samplers of the library by name, as crowds of chains that are moved step by step.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "harmonium/samplers/base_parameters.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

struct SamplerOptions {
  std::string name = "gibbs";                  // a name or alias of sampler_kinds()
  std::int64_t rungs = 0;                      // parallel_tempering, tempered_transitions; 0: the sampler's own number
  double fast_rate = 0.01, fast_decay = 0.95;  // rates_fpcd
};

class Chains {
 public:
  virtual ~Chains() = default;
  // One step of every chain: a sweep over all units, with what the sampler adds to it.
  virtual void step(const Key& key) = 0;
  // Every layer of every chain.
  [[nodiscard]] virtual State state() = 0;
  // What a person may want to know of the steps since the last call.
  using Number = std::variant<std::int64_t, double, std::vector<double>>;
  struct Notes {
    std::vector<std::pair<std::string, Number>> numbers = {};
    std::vector<std::string> sentences = {};
  };
  [[nodiscard]] virtual Notes take_notes() { return {}; }
};

struct ChainsInput {
  const BoltzmannMachine& machine;
  const ObservedMoments& data_moments;  // of the training data; empty where unknown
  State start;                          // every layer, a row for each chain
  bool start_matters = false;           // the user chose it: chains at other temperatures begin there too
  const State* data = nullptr;          // observed layers of rows of data, where they are at hand
  KnownUnits known = {};                // empty: none
  Key key = Key(0);
};

struct SamplerKind {
  const char *name, *alias, *help;
  bool needs_data = false;    // moments of data, to be steered by
  bool single_chain = false;  // has one chain whatever is asked for
  bool markov = true;         // has a past to forget
  bool clamps = false;        // can hold units
  std::int64_t rungs = 0;     // of its ladder, where it has one
  std::function<std::unique_ptr<Chains>(ChainsInput input, const SamplerOptions& options)> make = {};
};
// All there are: make_chains(), help texts and messages read this table.
[[nodiscard]] const std::vector<SamplerKind>& sampler_kinds();
// By name or alias; fails naming those there are.
[[nodiscard]] const SamplerKind& find_sampler(const std::string& name);
// Fails where options do not go with the sampler.
void check(const SamplerOptions& options);
[[nodiscard]] std::unique_ptr<Chains> make_chains(const SamplerOptions& options, ChainsInput input);

}  // namespace harmonium
