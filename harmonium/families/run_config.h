// Everything that defines a training run, with its defaults. Flags, TOML files and resumed runs all read this list.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "harmonium/data/reading.h"
#include "harmonium/families/own_options.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/gradients/negative_phase.h"
#include "harmonium/training/step_rule.h"

namespace harmonium {

// Help texts that name all entries of a table.
[[nodiscard]] const char* visible_help();
[[nodiscard]] const char* objective_help();
[[nodiscard]] const char* gradient_help();
[[nodiscard]] const char* optimizer_help();

struct RunConfig {
  std::string data = "digits";
  std::string valid = "auto";
  std::string binarize = "auto";
  double shrink = 0;
  std::int64_t limit = 0;
  std::string label_column = "none";
  std::string scale = "auto";
  std::string shape = "auto";
  std::string transpose = "no";
  std::string first_label = "auto";
  std::string first_category = "auto";
  std::string sequences = "auto";

  std::string model = "rbm";
  std::string visible = "auto";
  std::string hidden = "100";
  std::string layers = "none";
  std::string labels = "none";
  std::string activation = "auto";
  std::string code = "linear";
  std::string start = "none";
  std::string pretrain = "none";
  std::int64_t pretrain_updates = 0;
  double initial_weights = 0;
  std::string coordinates = "natural";

  std::string objective = "generative";
  double generative_weight = 0.01;
  std::string gradient = "auto";
  std::int64_t particles = 0;
  std::int64_t sweeps = 1;
  std::int64_t sweeps_final = 0;
  std::int64_t mean_field_steps = 0;
  std::int64_t rungs = 10;
  double fast_rate = 0.01;
  double fast_decay = 0.95;
  std::string optimizer = "auto";
  double damping = 0.01;
  std::string damping_of = "centered";
  std::int64_t statistics_every = 10;
  double statistics_averaging = 100;
  std::int64_t refit_every = 100;
  std::int64_t rank = 50;
  std::int64_t iterations = 10;
  double rate_weights = 0;
  double rate_bias = 0;
  std::string schedule = "linear";
  double schedule_tau = 1000;
  std::int64_t rate_warmup = 0;
  double momentum = 0;
  double weight_decay = 0;
  double weight_decay_l1 = 0;
  double sparsity_target = 0.1;
  double sparsity_cost = 0;
  std::int64_t updates = 10'000;
  std::int64_t batch = 100;
  double averaging = 100;
  std::string keep = "auto";
  std::string loss = "auto";
  double dropout = 0;
  double dropout_inputs = 0;
  std::int64_t patience = 0;

  std::int64_t log_every = 0;
  std::int64_t checkpoint_every = 1000;
  double checkpoint_minutes = 5;
  std::string snapshots = "none";
  std::string track = "none";
  std::int64_t track_chains = 100;
  std::int64_t track_betas = 1000;
  std::uint64_t seed = 0;
  std::string device = "cpu";
  std::string precision = "fast";

  OwnOptions own = {};  // of the family alone

  // Calls visit(name, field, help) for every field in order. Names are flags (--rate-weights) and TOML keys
  // (rate_weights) alike; zero and "auto" mean "chosen for you" where the help says so.
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& every) {
    // A family may have an option of its own under a name that others share: then there is only that.
    const auto visitor = [&](const char* name, auto& field, const char* help) {
      if (!self.own.has(name)) every(name, field, help);
    };
    visitor("data", self.data, "what to learn: NAME or PATH, with :train, :valid or :test (see `harmonium data list`)");
    visitor(
        "valid", self.valid,
        "validation data, never learnt from: NAME or PATH; auto: the :valid part of the data set, if it has one; none");
    visitor(
        "binarize", self.binarize,
        "gray values: none, threshold, stochastic (drawn anew at every update), dequantized (@dequantize), levels (vae, ladder: each gray level has a probability); auto: stochastic for gray data, none for nets");
    visitor("shrink", self.shrink, "pull values away from 0 and 1 by this much before use");
    visitor("limit", self.limit, "use at most N rows, or N sequences where rows are frames of such (0: all)");
    visitor("label_column", self.label_column,
            "where a file keeps its labels: none (arrays are found by name), first, last, a column's number from 1 or "
            "its name, or the name of an array");
    visitor("scale", self.scale,
            "what values of a file are divided by: a number, max, none; auto: 255 where they look like gray values; "
            "standardize (gaussian units): training sees columns with mean 0 and deviation 1, and the model is one of "
            "the values themselves");
    visitor("shape", self.shape,
            "pictures of a file: HEIGHTxWIDTH, such as 28x20, or none; auto: by the array, or squares");
    visitor("transpose", self.transpose, "a case is a column of the file, not a row");
    visitor("first_label", self.first_label,
            "number of the first class in a file: 0, 1; auto: 1 if the least label is 1");
    visitor("first_category", self.first_category,
            "softmax units from whole numbers: the first category is 0, 1; auto: 1 if the largest is K");
    visitor("sequences", self.sequences,
            "rows as frames of sequences, one after the other: a number of frames of each, the column that tells them "
            "apart (first, last, or its name), none; auto: as the file says");
    visitor("model", self.model, "family of models");
    visitor("visible", self.visible, visible_help());
    visitor("hidden", self.hidden, "hidden units: a number, or a unit type such as gaussian:20 or softmax:10x5");
    visitor(
        "layers", self.layers,
        "hidden layers from the data up, such as 500,1000; each a number of units or, in Boltzmann machines, a unit type");
    visitor("labels", self.labels, "none, or top: a label layer is joined to the topmost hidden layer");
    visitor("activation", self.activation,
            "activation of hidden layers: logistic, relu, linear, tanh, elu, softplus; auto: the usual one");
    visitor("code", self.code, "activation of the code layer: linear, logistic, relu");
    visitor("start", self.start, "a trained model (run folder or file) to start from; see `harmonium finetune`");
    visitor("pretrain", self.pretrain,
            "learn layers one by one before all together: none, rbm; classifiers also dbm, autoencoder, supervised");
    visitor("pretrain_updates", self.pretrain_updates, "updates of each pretrained layer (0: as many as updates)");
    visitor("initial_weights", self.initial_weights,
            "standard deviation of the initial weights (0: the usual one, mostly 0.01); between gaussian visible and "
            "binary or spike-and-slab hidden units in units of the data's deviation");
    visitor("coordinates", self.coordinates,
            "gaussian data by @optimizer sgd: steps in biases, weights and precisions (natural), or in means and the "
            "logarithm of precisions (means), where a rate suits columns of every width");
    visitor("objective", self.objective, objective_help());
    visitor("generative_weight", self.generative_weight, "hybrid: weight of the generative part");
    visitor("gradient", self.gradient, gradient_help());
    visitor("particles", self.particles, "persistent chains (0: as many as the batch; deep machines: at least 500)");
    visitor("sweeps", self.sweeps, "Gibbs sweeps per update");
    visitor("sweeps_final", self.sweeps_final, "sweeps per update at the end; increases geometrically (0: constant)");
    visitor("mean_field_steps", self.mean_field_steps,
            "pcd, fpcd: mean-field steps from the chains before their statistics are taken");
    visitor("rungs", self.rungs, "pt, tempered: number of inverse temperatures from the base rates to the model");
    visitor("fast_rate", self.fast_rate, "fpcd: learning rate of the fast weights, constant (0: plain pcd)");
    visitor("fast_decay", self.fast_decay, "fpcd: factor by which the fast weights decay at each update");
    visitor("optimizer", self.optimizer, optimizer_help());
    visitor("damping", self.damping, "added to the diagonal of what an optimizer inverts (fang, exact, …)");
    visitor("damping_of", self.damping_of, "fang: damp centered products, or plain ones as published");
    visitor("statistics_every", self.statistics_every, "updates between an optimizer's looks at the chains");
    visitor("statistics_averaging", self.statistics_averaging, "time constant in updates of an optimizer's averages");
    visitor("refit_every", self.refit_every, "updates between an optimizer's factorizations");
    visitor("rank", self.rank, "low_rank: number of eigenvectors");
    visitor("iterations", self.iterations, "metric_free: conjugate-gradient steps");
    visitor("rate_weights", self.rate_weights, "initial learning rate of weights (0: the optimizer's usual one)");
    visitor("rate_bias", self.rate_bias, "initial learning rate of biases (0: the optimizer's usual one)");
    visitor("schedule", self.schedule,
            "learning rate over time: constant, linear (to zero), sqrt, inverse, sqrt_linear");
    visitor("schedule_tau", self.schedule_tau, "time constant in updates of the sqrt and inverse schedules");
    visitor("rate_warmup", self.rate_warmup, "updates over which learning rates rise from 0 (0: the usual number)");
    visitor("momentum", self.momentum, "momentum of the step (harms pcd)");
    visitor("weight_decay", self.weight_decay, "L2 penalty on weights");
    visitor("weight_decay_l1", self.weight_decay_l1, "L1 penalty on weights");
    visitor("sparsity_target", self.sparsity_target, "desired mean activity of hidden units");
    visitor("sparsity_cost", self.sparsity_cost, "strength of the sparsity penalty (0: none)");
    visitor("updates", self.updates, "number of updates");
    visitor("batch", self.batch, "rows per update");
    visitor("averaging", self.averaging, "time constant in updates of the averaged model (1: no averaging)");
    visitor(
        "keep", self.keep,
        "which averaged model to write: last, or best (on validation data, at any line of metrics: by classification error, loss or log-likelihood); auto: best where there are validation data, but last for models with labels, deep machines and word counts");
    visitor(
        "loss", self.loss,
        "what to minimize: cross_entropy (classes), bernoulli (−log p of a reconstruction), squared, multinomial (−log p of the words of a document); auto: by the output");
    visitor("dropout", self.dropout, "share of hidden values dropped in an update");
    visitor("dropout_inputs", self.dropout_inputs, "share of inputs dropped in an update");
    visitor("patience", self.patience, "stop after N updates without a new best on validation data (0: never)");
    visitor(
        "log_every", self.log_every,
        "updates between lines of metrics (0: about 200 lines in all, fewer where they would cost a short run much)");
    visitor("checkpoint_every", self.checkpoint_every, "updates between checkpoints");
    visitor("checkpoint_minutes", self.checkpoint_minutes, "minutes between checkpoints, if that is sooner");
    visitor(
        "snapshots", self.snapshots,
        "updates at which to keep the averaged model, such as 100,300,1000; log: 1, 3, 10, 30, … and the last; none");
    visitor(
        "track", self.track,
        "log-likelihood of the validation data (else of the training data) at every snapshot, estimated in the background during training: none, ais, exact, auto (exact where a side is small); without @snapshots: at those of log");
    visitor("track_chains", self.track_chains, "track: chains of ais");
    visitor("track_betas", self.track_betas, "track: steps of ais");
    visitor("seed", self.seed, "seed of everything random in training");
    visitor("device", self.device,
            "where to compute: cpu, cuda (what enumerates states or moves one unit at a time stays on the CPU)");
    visitor(
        "precision", self.precision,
        "with @device cuda: fast (weights rounded to fp16 or TF32 in products of an update), exact (fp32 throughout)");
    self.own.visit([&](const OptionRef& option) {
      std::visit(
          [&](auto* field) {
            if constexpr (std::is_const_v<Self>)
              every(option.name, std::as_const(*field), option.help);
            else
              every(option.name, *field, option.help);
          },
          option.field);
    });
  }
};

// How the files of a run are read.
[[nodiscard]] Reading reading_of(const RunConfig& config);
// The same for another file that is shown to the model of a run: what is not given is as it was in training.
[[nodiscard]] Reading reading_like(const RunConfig& run, const Reading& given);

// What parts of a run want to know of it.
[[nodiscard]] MetricOptions metric_options(const RunConfig& config);
[[nodiscard]] NegativePhaseOptions negative_phase_options(const RunConfig& config);
[[nodiscard]] StepOptions step_options(const RunConfig& config);

// The learning rates of an RBM on word counts: gradients are sums over the words of a document.
[[nodiscard]] Rates counts_rates(double mean_length);
// Those an optimizer of Boltzmann machines has where none are given, by its table.
[[nodiscard]] Rates default_rates(const std::string& optimizer, const std::string& objective = "generative");
// Those for so many rows and chains in an update: more of them average more noise away.
[[nodiscard]] Rates scaled_rates(const std::string& optimizer, const std::string& objective, std::int64_t batch,
                                 std::int64_t particles);

}  // namespace harmonium
