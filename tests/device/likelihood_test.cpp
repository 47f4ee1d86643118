// Annealing on the device beside the CPU, in float64: the same chains, so the same weights.
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/decoder_annealing.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/moment_averaging.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/likelihood/schedule.h"
#include "tests/device/support.h"
#include "tests/support/machines.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

class LikelihoodOnDevice : public OnDevice, public testing::WithParamInterface<support::MachineCase> {
 protected:
  const BoltzmannMachine here_ = GetParam().make();
};

TEST_P(LikelihoodOnDevice, AnnealsTheSameWayUpAndDown) {
  const BoltzmannMachine there = here_.to(cuda_);
  const AnnealingPath path(uniform_base(here_), {here_}, linear_schedule(30)),
      path_there(uniform_base(there), {there}, linear_schedule(30));
  EXPECT_NEAR(path_there.base().log_z(), path.base().log_z(), same);
  const AisResult up = ais(path, 20, {.seed = 1}), up_there = ais(path_there, 20, {.seed = 1});
  EXPECT_TRUE(up_there.log_weights.is_cpu());
  expect_near(up_there.log_weights, up.log_weights, same);
  EXPECT_NEAR(up_there.log_z.low, up.log_z.low, same);
  const State rows = here_.independent_sample(Key(2), 6);
  State rows_there = rows;
  for (at::Tensor& layer : rows_there.layers) layer = layer.to(cuda_);
  expect_near(reverse_ais(path_there, rows_there, {.seed = 2}).log_weights,
              reverse_ais(path, rows, {.seed = 2}).log_weights, same);
  if (path.kept() != here_.observed()) return;
  const RaiseResult bound = raise(path, rows, 3, {.seed = 3}),
                    bound_there = raise(path_there, rows_there, 3, {.seed = 3});
  expect_near(bound_there.log_p, bound.log_p, same);
}

TEST_P(LikelihoodOnDevice, MomentAveragedAndAdaptivePathsAreTheSame) {
  const BoltzmannMachine there = here_.to(cuda_);
  const BaseModel base = uniform_base(here_), base_there = uniform_base(there);
  const State rows = here_.independent_sample(Key(4), 5);
  const MomentAveragingOptions options{.knots = 2, .updates = 10, .particles = 11, .sweeps = 6};
  State rows_there = rows;
  for (at::Tensor& layer : rows_there.layers) layer = layer.to(cuda_);
  const AnnealingPath path = moment_averaged_path(base, here_, rows, 12, options),
                      path_there = moment_averaged_path(base_there, there, rows_there, 12, options);
  expect_near(ais(path_there, 8, {}).log_weights, ais(path, 8, {}).log_weights, 1e-6);
  const std::vector<double> schedule = adaptive_schedule(base, here_, 20, {.chains = 10, .steps = 20}),
                            schedule_there = adaptive_schedule(base_there, there, 20, {.chains = 10, .steps = 20});
  for (std::size_t i = 0; i < schedule.size(); ++i) EXPECT_NEAR(schedule_there[i], schedule[i], same);
}

INSTANTIATE_TEST_SUITE_P(All, LikelihoodOnDevice, testing::ValuesIn(support::and_inner(support::shallow_machines())),
                         support::case_name);

TEST_F(OnDevice, ExactLogZIsThatOfTheCpu) {
  const BoltzmannMachine here = support::randomized(make_rbm("bernoulli:9", "bernoulli:7"), 3);
  EXPECT_EQ(exact_log_z(here.to(cuda_)).value, exact_log_z(here).value);
}

// Keeps what it is given, as files do: on the CPU.
class MemoryJournal final : public Journal {
 public:
  std::optional<NamedTensors> find(const std::string&) override { return kept; }
  void keep(const std::string&, const NamedTensors& tensors) override {
    kept.emplace();
    for (const auto& [name, value] : tensors) kept->emplace_back(name, on_cpu(value).clone());
  }
  bool due() override { return true; }
  std::optional<NamedTensors> kept;
};

TEST_F(OnDevice, AnAnnealingStoppedHereGoesOnThere) {
  const BoltzmannMachine here = support::randomized(make_rbm("bernoulli:9", "bernoulli:7", at::kDouble), 3),
                         there = here.to(cuda_);
  const AnnealingPath path(uniform_base(here), {here}, linear_schedule(30)),
      path_there(uniform_base(there), {there}, linear_schedule(30));
  MemoryJournal journal;
  const auto stop = [](std::int64_t done, std::int64_t) {
    if (done == 13) throw RunFailure("stopped");
  };
  EXPECT_THROW((void)ais(path_there, 20, {.progress = stop, .journal = &journal}), RunFailure);
  ASSERT_TRUE(journal.kept.has_value());
  const at::Tensor whole = ais(path, 20, {}).log_weights;
  MemoryJournal second = journal;
  expect_near(ais(path, 20, {.journal = &journal}).log_weights, whole, same);
  expect_near(ais(path_there, 20, {.journal = &second}).log_weights, whole, same);
}

// The pilot run, chains that begin at the encoder or the prior, and chains that walk down.
TEST_F(OnDevice, DecodersAreAnnealedTheSameWay) {
  const Vae here = support::small_deep_vae(), there = here.to(at::TensorOptions().device(cuda_));
  const at::Tensor rows = support::all_rows(4).repeat({7, 1});
  for (const DecoderBase base : {DecoderBase::encoder, DecoderBase::prior}) {
    const DecoderPath path(here, here.parameters(), base, Key(1)), path_there(there, there.parameters(), base, Key(1));
    EXPECT_NEAR(path.step(0.7), path_there.step(0.7), 1e-9);
    const DecoderAnnealingOptions options{.chains = 3, .betas = 8};
    const AnnealedDecoder up = anneal_decoder(path, rows, Key(2), options),
                          up_there = anneal_decoder(path_there, rows, Key(2), options);
    EXPECT_TRUE(up_there.log_weights.is_cpu());
    expect_near(up_there.log_weights, up.log_weights, 1e-6);
    const Dream made = here.sample(Key(3), 60);
    std::vector<at::Tensor> makers;
    for (const at::Tensor& each : made.latents) makers.push_back(each.to(cuda_));
    expect_near(anneal_decoder_down(path_there, made.visible, makers, Key(4), options).log_weights,
                anneal_decoder_down(path, made.visible, made.latents, Key(4), options).log_weights, 1e-6);
  }
}

}  // namespace
}  // namespace harmonium
