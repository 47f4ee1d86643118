// The numbers one watches while a belief net is trained as a whole, on a fixed sample of rows. None is a likelihood.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"
#include "harmonium/models/belief_net.h"

namespace harmonium {

// Share of labelled rows that a belief net with a label takes for another class; gray values as they are, thresholded
// where training knew nothing else.
[[nodiscard]] double belief_net_error(const BeliefNet& net, const Dataset& data, Binarization binarization);

class BeliefNetMonitor {
 public:
  // Takes at most `rows` rows of validation data, else of training data, and binarizes gray values once, by `seed`.
  BeliefNetMonitor(const Dataset& train, const Dataset& valid, Binarization binarization, std::uint64_t seed,
                   std::int64_t rows = 500);

  // Names and values:
  //   wake_log_probability   Σ_l log p_l(h_{l−1} | h_l) of a draw of the way up, the same random numbers every time
  //   sleep_log_probability  Σ_l log r_l(h_l | h_{l−1}) of the net's own dreams (v, h_1, …); where there are some
  //   reconstruction_error   mean squared error per row of means up to the top and down again
  //   classification_error   share of rows taken for another class; nets with a label only
  [[nodiscard]] std::map<std::string, double> measure(const BeliefNet& net,
                                                      const std::vector<at::Tensor>& dreams) const;

 private:
  Dataset watched_;
  Binarization binarization_;
  at::Tensor values_;
  Key key_;
};

}  // namespace harmonium
