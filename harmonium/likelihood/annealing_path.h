// A sequence of distributions from a base model to a target: straight lines of natural parameters from knot to knot.
//
// Annealed importance sampling takes the line from base to target (the geometric path); its moment-averaged form goes
// through knots in between. Place p of the path lies on line ⌊p⌋ at fraction t = p − ⌊p⌋: θ = (1−t) θ_knot + t θ_next.
// One block of layers is summed out, the others are kept (x), in f_p(x) = Σ e^{−E_p} (models/walked_layers.h): a Markov
// random field and a general Boltzmann machine are kept whole. Layers with an edge inside are redrawn unit by unit.
// Cost of a step for each chain: two products with the weights on a line that starts without weights, three on others.
#pragma once

#include <vector>

#include "harmonium/likelihood/base_model.h"
#include "harmonium/models/walked_layers.h"

namespace harmonium {

class AnnealingPath {
 public:
  // `knots` end with the target; `places` increase from 0 (the base) to knots.size() and contain every knot.
  AnnealingPath(BaseModel base, std::vector<BoltzmannMachine> knots, std::vector<double> places,
                SumOut sum_out = SumOut::odd);

  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(places_.size()) - 1; }
  [[nodiscard]] const BaseModel& base() const { return base_; }
  [[nodiscard]] const BoltzmannMachine& target() const { return lines_.back().end; }
  [[nodiscard]] const LayerSet& kept() const { return walked_.kept; }
  [[nodiscard]] const LayerSet& summed() const { return walked_.summed; }

  // Goes from one place (by number, 0 … steps()) to the next or the one before: adds log f_to(x) − log f_from(x) to
  // every row's log-weight, then makes a Gibbs sweep under `to` (summed layers, then kept ones).
  void move(State& state, std::int64_t from, std::int64_t to, const Key& key, at::Tensor& log_weights) const;

  struct Line {
    BoltzmannMachine start, end;
    std::vector<Unit::Parameters> slope;  // d θ_layer / dt
    bool weights_grow_from_zero;
    BoltzmannMachine growth;  // of the natural parameters: end − start

    [[nodiscard]] Unit::Parameters parameters(std::size_t layer, double t) const;
    [[nodiscard]] BoltzmannMachine at(double t) const;
  };
  // The only line of a path without knots in between whose weights grow from zero; else null.
  [[nodiscard]] const Line* straight_line() const {
    return lines_.size() == 1 && lines_[0].weights_grow_from_zero ? &lines_[0] : nullptr;
  }
  [[nodiscard]] const std::vector<double>& places() const { return places_; }

 private:
  BaseModel base_;
  std::vector<Line> lines_;
  std::vector<double> places_;
  WalkedLayers walked_;
};

}  // namespace harmonium
