// A trained model of any family, as commands, reports and Python see it. They ask what it can do, never what it is: a
// capability that a model lacks is null, and cannot() says in one sentence what it can do instead.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/core/named_tensors.h"
#include "harmonium/families/test_data.h"
#include "harmonium/likelihood/evaluation.h"
#include "harmonium/likelihood/judging.h"
#include "harmonium/units/unit.h"

namespace harmonium {

struct TensorFile;
struct StudiedNet;
struct TrainedMachine;

// The log-likelihood of data: exact, bounded, or by an estimate of log Z. The estimates say which.
class Density {
 public:
  virtual ~Density() = default;

  // Fails where an option does not go with the model.
  virtual void check(const EstimationOptions& options) const { harmonium::check(options); }
  // An answer for each of `tests`, all from one estimate of log Z, which may use rows of the first. Without tests: one
  // answer about log Z alone. Names of model and run are the caller's to add. `journal` may be null.
  [[nodiscard]] virtual std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                                      const EstimationOptions& options, Watcher& watcher,
                                                      Journal* journal) const = 0;
  // Whether an answer was found in the way that `options` ask for.
  [[nodiscard]] virtual bool same_way(const Evaluation& old, const EstimationOptions& options) const = 0;
  // Whether states are enumerated, on the CPU whatever device there is.
  [[nodiscard]] virtual bool enumerates(const EstimationOptions&) const { return false; }
  // Multiplications of one step of the estimate: what decides whether threads are worth their while.
  [[nodiscard]] virtual double products(const EstimationOptions& options, bool with_data) const = 0;
};

// New rows.
class Generator {
 public:
  virtual ~Generator() = default;

  struct Request {
    std::int64_t count = 100;
    std::int64_t sweeps = 1000;  // of chains, before a state is taken
    // Of generators that walks(): states taken of each chain, which are rows one after the other, and sweeps between.
    std::int64_t per_chain = 1, every = 1;
    bool from_noise = false;  // chains begin as fair coins, not as the biases say
    bool means = false;       // means of the visible units in place of draws
    at::Tensor labels = {};   // the class held in each row (int64); undefined: none is held
    at::Tensor known = {};    // values held in each row, rows × visible units, NaN where free; undefined: none
    std::uint64_t seed = 0;
    Progress progress = [](std::int64_t, std::int64_t) {};
  };
  // Rows × visible units, on the CPU.
  [[nodiscard]] virtual at::Tensor draw(const Request& request) const = 0;
  // In words: "Gibbs sampling", "Gibbs sampling in the top machine, then down", "exact draws".
  [[nodiscard]] virtual std::string method() const = 0;
  // Whether draws come from chains, so that `sweeps` matters.
  [[nodiscard]] virtual bool markov() const { return true; }
  // Whether several states can be taken of a chain.
  [[nodiscard]] virtual bool walks() const { return false; }
  // Of models of sequences: frames of a usual one. A draw is then `per_chain` rows, one after the other. 0: draws are
  // independent rows.
  [[nodiscard]] virtual std::int64_t frames() const { return 0; }
  // Whether visible values can be held.
  [[nodiscard]] virtual bool completes() const { return false; }
  // Classes that can be held; 0 where there are none.
  [[nodiscard]] virtual std::int64_t classes() const { return 0; }
  // Multiplications of one step of so many chains.
  [[nodiscard]] virtual double products(std::int64_t count) const = 0;
};

// The class of rows.
class Classifier {
 public:
  virtual ~Classifier() = default;
  [[nodiscard]] virtual std::int64_t classes() const = 0;
  // log p(class | row), rows × classes, float64.
  [[nodiscard]] virtual at::Tensor log_probabilities(const at::Tensor& rows) const = 0;
};

// Codes of rows.
class Encoder {
 public:
  virtual ~Encoder() = default;
  // Layers that can be the code, from the data up; the last is the usual one.
  [[nodiscard]] virtual std::vector<std::string> code_layers() const = 0;
  // Rows × numbers of layer number `layer` of code_layers().
  [[nodiscard]] virtual at::Tensor encode(const at::Tensor& rows, std::size_t layer) const = 0;
  // What becomes of rows on the way to the code and back; undefined for models that only encode.
  [[nodiscard]] virtual at::Tensor reconstruct(const at::Tensor&) const { return {}; }
  [[nodiscard]] virtual bool reconstructs() const { return true; }
};

// Groups that rows fall into, found without labels.
class Clusters {
 public:
  virtual ~Clusters() = default;
  // What a group is, as one says it: "composite".
  [[nodiscard]] virtual std::string group_name() const = 0;
  [[nodiscard]] virtual std::int64_t groups() const = 0;
  // How much a row belongs to each group: logarithms of shares up to a constant of the row, rows × groups, float64 on
  // the CPU. Shares themselves round to 0 and 1.
  [[nodiscard]] virtual at::Tensor log_weights(const at::Tensor& rows) const = 0;
};

// Descriptions of rows that can be changed before they are drawn again: samples by posing. What is described is one of
// several wholes, made of parts. All rows are float32 on the CPU.
class Poser {
 public:
  virtual ~Poser() = default;
  [[nodiscard]] virtual std::int64_t wholes() const = 0;
  // Numbers of a description that can be moved: "rotation", "distortion:0", ….
  [[nodiscard]] virtual std::vector<std::string> movable() const = 0;
  // A whole as it usually is, one of its numbers moved from −2 to 2 standard deviations in so many steps: a row each.
  [[nodiscard]] virtual at::Tensor sweep(std::int64_t whole, const std::string& moved, std::int64_t steps) const = 0;
  // One row (1 × values), drawn in `count` poses near its own: its whole's usual spread, times `spread`.
  [[nodiscard]] virtual at::Tensor around(const at::Tensor& row, double spread, std::int64_t count,
                                          std::uint64_t seed) const = 0;
  // Rows drawn as each whole describes them, rows × wholes × values, and the whole that they are, rows.
  struct Tries {
    at::Tensor drawn, chosen;
  };
  [[nodiscard]] virtual Tries tries(const at::Tensor& rows) const = 0;
  // What is drawn, shared out among parts: rows × parts × values that sum to the drawn rows.
  [[nodiscard]] virtual at::Tensor parts_of(const at::Tensor& rows) const = 0;
};

// Latent variables with a decoder. Variables are numbers that under the model are independent draws of N(0, 1),
// whatever layers a net has; layers stand side by side, from the data up. All rows are float32 on the CPU.
class LatentSpace {
 public:
  virtual ~LatentSpace() = default;
  [[nodiscard]] virtual std::int64_t variables() const = 0;
  // Means of the values given variables: count × variables → count × values.
  [[nodiscard]] virtual at::Tensor decode(const at::Tensor& variables) const = 0;
  // The means of the variables given rows, each layer's given those of the layers that inference has found before it.
  [[nodiscard]] virtual at::Tensor place(const at::Tensor& rows) const = 0;
  // Means of the values given draws of the variables given each row: rows × draws × values.
  [[nodiscard]] virtual at::Tensor posterior(const at::Tensor& rows, std::int64_t draws, std::uint64_t seed) const = 0;
  // How much each variable says of rows: the KL of what inference makes of it from its prior, in nats, the mean over
  // rows (at least two).
  [[nodiscard]] virtual at::Tensor information(const at::Tensor& rows) const = 0;
};

// Something to look at: rows of a table, each a small picture.
struct Exhibit {
  std::string id, title, caption;
  at::Tensor rows;
  bool weights = false;      // of both signs: red adds, blue takes away
  double full_colour = 0;    // the magnitude of weights that has full colour; 0: each picture's own largest
  std::int64_t columns = 0;  // pictures in a row; 0: a near-square grid
  bool samples = false;      // draws of the model, which the report shows beside data
  bool colours = false;      // values are those of red, then all of green, then all of blue
  std::optional<ImageShape> shape = std::nullopt;  // of each picture, where it is not that of a row of data
};

// What pictures may use beside the model.
struct ExhibitInput {
  const NamedTensors& checkpoint;  // of training; empty where there is none
  const Dataset& train;            // may have no rows
};

struct ModelInfo {
  std::string family;                              // its name in the table of families
  std::optional<ImageShape> image = std::nullopt;  // visible values as a picture
  std::map<std::string, std::string> notes = {};   // training data, binarization, updates, …: text for people

  [[nodiscard]] std::string note(const std::string& name) const;  // empty where there is none
  [[nodiscard]] std::int64_t updates() const;                     // of training; 0: not known
};

class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] const ModelInfo& info() const { return info_; }
  [[nodiscard]] ModelInfo& info() { return info_; }

  // "Deep Boltzmann machine", and its layers in one line.
  [[nodiscard]] virtual std::string title() const = 0;
  [[nodiscard]] virtual std::string subtitle() const = 0;
  // What one row is made of: width and possible values.
  [[nodiscard]] virtual const Unit& visible() const = 0;
  // Named tensors, shared with the model.
  [[nodiscard]] virtual Moments parameters() const = 0;
  struct LayerText {
    std::string name, unit;
    bool observed = false;
  };
  [[nodiscard]] virtual std::vector<LayerText> layers() const = 0;
  // Fails where the model computes on the CPU only.
  [[nodiscard]] virtual std::unique_ptr<Model> to(const at::Device& device) const;
  [[nodiscard]] virtual std::unique_ptr<Model> clone() const = 0;
  // The same model, which makes its descriptions of rows better by so many steps of descent whenever it looks at some.
  // Null: descriptions are final.
  [[nodiscard]] virtual std::unique_ptr<Model> refined_by(std::int64_t steps) const;

  [[nodiscard]] virtual const Density* density() const { return nullptr; }
  [[nodiscard]] virtual const Generator* generator() const { return nullptr; }
  [[nodiscard]] virtual const Classifier* classifier() const { return nullptr; }
  [[nodiscard]] virtual const Encoder* encoder() const { return nullptr; }
  [[nodiscard]] virtual const Clusters* clusters() const { return nullptr; }
  [[nodiscard]] virtual const Poser* poser() const { return nullptr; }
  [[nodiscard]] virtual const LatentSpace* latent_space() const { return nullptr; }
  // A single Boltzmann machine, for those who look inside: samplers, diagnosis of chains, the Fisher information.
  [[nodiscard]] virtual const TrainedMachine* machine() const { return nullptr; }
  // A net with latent variables and learned inference, for the study of gradient estimators. It refers to this model.
  [[nodiscard]] virtual std::optional<StudiedNet> studied_net() const;
  [[nodiscard]] virtual std::vector<Exhibit> exhibits(const ExhibitInput& input) const = 0;
  // Values of rows that pictures show as black and white.
  [[nodiscard]] virtual std::pair<double, double> shown_range() const;
  // What a reader of the report should know about its numbers.
  [[nodiscard]] virtual std::string remark() const;

  // The model as the bytes of a .safetensors file.
  [[nodiscard]] virtual std::string encode_file() const = 0;

 protected:
  explicit Model(ModelInfo info) : info_(std::move(info)) {}
  Model(const Model&) = default;
  ModelInfo info_;
};

// "runs/x is an Autoencoder, which has no likelihood; it can encode, reconstruct": `lacks` is what was asked for.
[[noreturn]] void cannot(const Model& model, const std::string& path, const std::string& lacks);

}  // namespace harmonium
