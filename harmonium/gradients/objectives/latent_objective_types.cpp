#include "harmonium/gradients/objectives/latent_objective.h"

namespace harmonium {

const std::vector<BaselineType>& signal_baselines() {
  static const std::vector<BaselineType> types = {
      {.name = "none", .help = "nothing"},
      {.name = "mean", .help = "the running mean of the signals of a layer"},
      {.name = "net", .help = "the running mean and a net of the layer below"},
      {.name = "leave_one_out", .help = "the mean of the other draws"},
      {.name = "optimal", .help = "for each parameter the constant with the least variance"},
  };
  return types;
}

const std::vector<LatentObjectiveType>& latent_objectives() {
  static const std::vector<LatentObjectiveType> types = {
      {.name = "vimco",
       .form = "vimco:K",
       .help = "the K-draw bound, with leave-one-out signals",
       .least = 2,
       .usual = 10,
       .chooses_draws = true},
      {.name = "rws", .form = "rws:K", .help = "reweighted wake-sleep", .least = 1, .usual = 10, .chooses_draws = true},
      {.name = "nvil", .form = "nvil", .help = "the one-draw bound, with learned baselines and normalized signals"},
      {.name = "elbo",
       .form = "elbo:K",
       .help = "the one-draw bound from K draws, each with the others as baseline unless another is chosen",
       .least = 1,
       .usual = 5,
       .chooses_draws = true},
      {.name = "iwae",
       .form = "iwae:K",
       .help = "the K-draw bound by the plain score function, very noisy",
       .least = 1,
       .usual = 10,
       .chooses_draws = true},
      {.name = "bihm",
       .form = "bihm:K",
       .help = "the bidirectional Helmholtz machine's K-draw bound",
       .least = 2,
       .usual = 10,
       .chooses_draws = true},
      {.name = "concrete",
       .form = "concrete:K",
       .help = "the K-draw bound of a net with relaxed bits, biased",
       .least = 1,
       .usual = 1,
       .chooses_draws = true},
      {.name = "straight_through",
       .form = "straight_through",
       .help = "the one-draw bound as if draws were their means, biased"},
      {.name = "wake_sleep", .form = "wake_sleep", .help = "the wake-sleep algorithm"},
  };
  return types;
}

}  // namespace harmonium
