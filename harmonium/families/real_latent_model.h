// What families with real latent variables and a net as decoder share (vae, ladder, draw): how they are judged and
// drawn, and the options of their bounds.
#pragma once

#include <string>

#include "harmonium/distributions/distribution.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/gradients/objectives/elbo.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

// Judged by importance sampling, or by annealing its decoder (families/decoder_judging.h).
class RealLatentModel : public NormalizedModel, private LatentSpace {
 public:
  [[nodiscard]] const LatentSpace* latent_space() const override { return this; }
  [[nodiscard]] std::string remark() const override;

 protected:
  using NormalizedModel::NormalizedModel;
  // One that has a decoder; its parameters are parameters().
  [[nodiscard]] virtual const LatentModel& latent_model() const = 0;

  // The law of a row given the latent variables.
  [[nodiscard]] virtual const Distribution& output() const = 0;

  [[nodiscard]] at::Device device() const { return parameters().entries().front().second.device(); }
  // What rows make of the latent variables, in a sentence.
  [[nodiscard]] virtual std::string use_of_latents(const at::Tensor& rows) const = 0;
  // LatentSpace, of rows on this model's device: ε of each, and KL of each ε.
  [[nodiscard]] virtual at::Tensor placed(const at::Tensor& rows) const = 0;
  [[nodiscard]] virtual at::Tensor divergences(const at::Tensor& rows) const = 0;
  // Samples, what latent variables do, and rows of the data above what `reconstruct` makes of them.
  [[nodiscard]] std::vector<Exhibit> shown_rows(const ExhibitInput& input, const Encoder& encoder) const;

 private:
  // LatentSpace
  [[nodiscard]] std::int64_t variables() const override;
  [[nodiscard]] at::Tensor decode(const at::Tensor& variables) const override;
  [[nodiscard]] at::Tensor place(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor posterior(const at::Tensor& rows, std::int64_t draws, std::uint64_t seed) const override;
  [[nodiscard]] at::Tensor information(const at::Tensor& rows) const override;

  // Density
  void check(const EstimationOptions& options) const override;
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const override;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override;

  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }
};

// What is climbed: "elbo", or one of path_objectives() with its draws. Free nats and warm-up are those of the one-draw
// bound (gradients/objectives/elbo.h).
struct BoundOptions {
  std::string objective = "elbo";
  double free_nats = 0;
  std::int64_t warm_up = 0;  // updates

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("objective", self.objective, objective_help());
    visitor("free_nats", self.free_nats,
            "elbo: nats that the KL of each layer of latent variables may have at no cost, in the mean over a batch");
    visitor("warm_up", self.warm_up, "elbo: updates over which the weight of the KL rises from 0 to 1 (0: none)");
  }
  [[nodiscard]] static const char* objective_help();

  [[nodiscard]] bool one_draw() const { return objective == "elbo"; }
  // Of each row.
  [[nodiscard]] std::int64_t draws() const;
  // Settles the objective, and fails where options contradict each other.
  void resolve();
  // At an update, counted from 0.
  [[nodiscard]] ElboOptions at(std::int64_t update) const;
  [[nodiscard]] bool plain() const { return free_nats == 0 && warm_up == 0; }
};

// "layer 1: KL 12.10 nats, 20 of 20 variables active; layer 2: …" from the data up; a variable is active where the
// variance over rows of its mean is above 0.01.
[[nodiscard]] std::string latents_in_words(const std::vector<double>& kl, const std::vector<std::int64_t>& active,
                                           const std::vector<std::int64_t>& widths);

// "100,50" as numbers of latent variables from the data up; fails, naming the option latent, where an item is none.
[[nodiscard]] std::vector<std::int64_t> latent_widths(const std::string& latent);

}  // namespace harmonium
