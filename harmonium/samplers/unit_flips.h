// Single-unit changes of many chains at once, with log f following by rank-one updates: the moves of Wang–Landau.
//
// The kept block's layers fall into parts (a binary unit, a softmax group), each with one of finitely many values. The
// table of what value k of a part adds to the fields of the summed layers makes a change the difference of two rows.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class UnitFlips {
 public:
  // `machine` in float64; `kept` a block of discrete layers, `summed` the other.
  UnitFlips(BoltzmannMachine machine, LayerSet kept, LayerSet summed);

  [[nodiscard]] double log_state_count() const { return log_state_count_; }

  struct Chains {
    at::Tensor values;  // rows × parts, int64
    at::Tensor own;     // rows: θ·t of the kept layers
    Fields fields;      // of the summed layers
    at::Tensor log_f;   // rows
  };
  // Values drawn uniformly.
  [[nodiscard]] Chains start(const Key& key, std::int64_t rows) const;
  // Everything but the values computed anew, which takes away the rounding of many changes.
  [[nodiscard]] Chains refreshed(const at::Tensor& values) const;

  struct Proposal {
    at::Tensor part, value;  // rows: one part, another value for it
    at::Tensor own;
    Fields fields;
    at::Tensor log_f;
  };
  // For every row a part and another value of it, uniformly; `chances` is 2 × rows of uniform numbers.
  [[nodiscard]] Proposal propose(const Chains& chains, const at::Tensor& chances) const;
  static void accept(Chains& chains, const Proposal& proposal, const at::Tensor& accepted);

  [[nodiscard]] State to_state(const at::Tensor& values) const;

 private:
  [[nodiscard]] at::Tensor log_f(const at::Tensor& own, const Fields& fields) const;

  BoltzmannMachine machine_;
  LayerSet kept_, summed_;
  at::Tensor value_count_, first_row_;  // of every part: number of values, row of value 0 in the tables
  at::Tensor own_table_;
  Fields field_tables_;
  double log_state_count_ = 0;
};

}  // namespace harmonium
