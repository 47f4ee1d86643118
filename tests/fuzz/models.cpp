// Model files of all families, checkpoints of a training, and unfinished estimates.
#include "harmonium/data/formats/safetensors.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/builders.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/targets.h"

namespace harmonium {

namespace {

// What is accepted must answer, and survive being written and read again.
void fuzz_model(std::string_view bytes) {
  allow_named_errors([&] {
    const std::unique_ptr<Model> model = decode_model(bytes, "fuzz");
    (void)(model->title() + model->subtitle());
    (void)model->layers();
    const std::string encoded = model->encode_file();
    if (decode_model(encoded, "fuzz")->encode_file() != encoded) __builtin_trap();
    allow_errors([&] {
      if (model->generator() != nullptr) (void)model->generator()->draw({.count = 2, .sweeps = 2});
    });
    allow_errors([&] {
      const at::Tensor row = at::zeros({1, model->visible().width()});
      if (model->encoder() != nullptr) (void)model->encoder()->encode(row, 0);
    });
  });
}

// The state of a training, after which an update more is made. Divergence is an honest end, and so is LibTorch's own
// refusal of a shape: a digest keeps damaged checkpoints away, so only one who made the file up sees that.
void fuzz_checkpoint(std::string_view bytes) {
  static RunData data = small_rows();
  static const RunConfig config = small_run("rbm", data);
  static const std::unique_ptr<Model> start = small_model(config, data);
  const std::unique_ptr<Trainee> trainee = find_family(config.model).train(config, data, *start);
  allow_errors([&] {
    const TensorFile file = parse_safetensors(bytes, "fuzz");
    try {
      trainee->training().restore(2, file.tensors);
      trainee->training().step();
    } catch (const RunFailure&) {
    } catch (const c10::Error&) {
    }
  });
}

class GivenJournal final : public Journal {
 public:
  explicit GivenJournal(NamedTensors tensors) : tensors_(std::move(tensors)) {}
  [[nodiscard]] std::optional<NamedTensors> find(const std::string&) override { return tensors_; }
  void keep(const std::string&, const NamedTensors&) override {}
  [[nodiscard]] bool due() override { return false; }

 private:
  NamedTensors tensors_;
};

// An annealing that is taken up again.
void fuzz_journal(std::string_view bytes) {
  static const BoltzmannMachine machine = make_rbm("bernoulli:3", "bernoulli:2");
  static const AnnealingPath path({machine, "uniform"}, {machine}, linear_schedule(4));
  allow_errors([&] {
    GivenJournal journal(parse_safetensors(bytes, "fuzz").tensors);
    (void)ais(path, 2, {.journal = &journal, .name = "fuzz"});
  });
}

}  // namespace

std::vector<FuzzTarget> model_targets() {
  return {{"model", fuzz_model, true}, {"checkpoint", fuzz_checkpoint, true}, {"journal", fuzz_journal, true}};
}

}  // namespace harmonium
