#include "harmonium/runs/evaluation.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/likelihood/judgement.h"
#include "harmonium/report/evaluate_flags.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/files/support.h"

namespace harmonium {
namespace {

Evaluation answer(std::int64_t updates, double value, const std::string& data = "digits:test") {
  const Estimate log_z{
      .value = 5, .low = 4, .high = 6, .method = "ais", .chains = 10, .betas = 20, .effective_samples = std::nullopt};
  return {.model = "run",
          .updates = updates,
          .seconds = 0.5,
          .data = data,
          .n = 300,
          .binarization = "none",
          .log_z = log_z,
          .log_likelihood = Estimate{
              .value = value, .low = value - 1, .high = value + 1, .method = "ais", .effective_samples = std::nullopt}};
}

std::vector<std::pair<std::int64_t, double>> recorded(const std::filesystem::path& folder) {
  std::vector<std::pair<std::int64_t, double>> result;
  for (const Evaluation& each : read_evaluations(folder)) result.emplace_back(each.updates, each.log_likelihood->value);
  return result;
}

using Recorded = std::vector<std::pair<std::int64_t, double>>;

TEST(Evaluations, KeepOneAnswerPerQuestionAndUpdates) {
  const TemporaryFolder folder;
  record_evaluation(folder.path(), answer(100, -30));
  record_evaluation(folder.path(), answer(300, -20));
  record_evaluation(folder.path(), answer(100, -29));
  EXPECT_EQ(recorded(folder.path()), (Recorded{{300, -20}, {100, -29}}));
  record_evaluations(folder.path(), {answer(100, -31, "digits:train"), answer(300, -19)});
  EXPECT_EQ(recorded(folder.path()), (Recorded{{100, -29}, {100, -31}, {300, -19}}));
}

TEST(Evaluations, BringUpdatesAndSecondsBack) {
  const TemporaryFolder folder;
  record_evaluation(folder.path(), answer(300, -20));
  const Evaluation back = read_evaluations(folder.path()).at(0);
  EXPECT_EQ(back.updates, 300);
  EXPECT_EQ(back.seconds, 0.5);
  EXPECT_EQ(back.log_z->chains, 10);
}

TEST(Evaluations, BringSequencesBack) {
  const TemporaryFolder folder;
  Evaluation of_sequences = answer(300, -20);
  of_sequences.sequences = {
      .count = 7,
      .mean = -140.5,
      .intervals = JudgedSequences::Intervals{.low = -150, .high = -131, .frame_low = -21.5, .frame_high = -18.5}};
  record_evaluation(folder.path(), of_sequences);
  Evaluation back = read_evaluations(folder.path()).at(0);
  ASSERT_TRUE(back.sequences && back.sequences->intervals);
  EXPECT_EQ(in_words(*back.sequences), in_words(*of_sequences.sequences));
  EXPECT_EQ(in_words(*back.sequences).find("7 sequences"), 0U);
  of_sequences.sequences->intervals.reset();
  record_evaluation(folder.path(), of_sequences);
  back = read_evaluations(folder.path()).at(0);
  EXPECT_TRUE(back.sequences && !back.sequences->intervals);
  EXPECT_EQ(back.sequences->mean, -140.5);
}

TEST(Evaluations, BringDrawsTheirSpreadAndTheDeviceBack) {
  const TemporaryFolder folder;
  Evaluation averaged = answer(300, -20);
  averaged.draws = 5;
  averaged.draw_spread = 0.25;
  averaged.device = "cuda, precision exact";
  record_evaluations(folder.path(), {averaged, answer(100, -30)});
  EXPECT_EQ(read_evaluations(folder.path()).at(0).draws, 5);
  EXPECT_EQ(read_evaluations(folder.path()).at(0).draw_spread, 0.25);
  EXPECT_EQ(read_evaluations(folder.path()).at(0).device, "cuda, precision exact");
  EXPECT_EQ(read_evaluations(folder.path()).at(1).device, "cpu");
  EXPECT_EQ(read_evaluations(folder.path()).at(1).draws, 1);
  EXPECT_FALSE(read_evaluations(folder.path()).at(1).draw_spread.has_value());
}

Evaluation sandwich(std::int64_t updates, double value) {
  Evaluation both = answer(updates, value);
  both.raise = Estimate{.value = value - 0.5,
                        .low = value - 0.6,
                        .high = value - 0.4,
                        .kind = EstimateKind::lower_bound,
                        .method = "raise",
                        .chains = 5,
                        .betas = 20};
  both.raise_rows = 30;
  both.upper_log_z = Estimate{.value = 5.5,
                              .low = 5.4,
                              .high = 5.6,
                              .kind = EstimateKind::upper_bound,
                              .method = "raise",
                              .chains = 5,
                              .betas = 20};
  both.gap = 0.5;
  both.verdict = "trust it";
  return both;
}

TEST(Evaluations, BringBoundsAndVerdictBack) {
  const TemporaryFolder folder;
  Evaluation whole = sandwich(300, -20);
  whole.log_z->largest_weight = 0.25;
  whole.log_z->pareto_k = 0.6;
  record_evaluations(folder.path(), {whole, answer(100, -30)});
  const std::vector<Evaluation> back = read_evaluations(folder.path());
  EXPECT_EQ(to_json(back.at(0)), to_json(whole));
  EXPECT_EQ(back.at(0).raise_rows, 30);
  EXPECT_EQ(back.at(0).raise->kind, EstimateKind::lower_bound);
  EXPECT_EQ(back.at(0).verdict, "trust it");
  EXPECT_FALSE(back.at(1).raise || back.at(1).upper_log_z || back.at(1).gap);
  EXPECT_EQ(back.at(1).verdict, "");
}

TEST(Evaluations, OfOlderVersionsAreReadAndJudged) {
  const TemporaryFolder folder;
  Evaluation apart = sandwich(300, -20);
  apart.upper_log_z->value = 41;
  apart.gap = 36;
  nlohmann::ordered_json old = to_json(apart), empty = to_json(answer(100, -30));
  for (nlohmann::ordered_json* line : {&old, &empty}) {
    line->erase("judgement");
    for (const char* name : {"log_z", "log_likelihood", "raise", "upper_log_z"})
      if ((*line)[name].is_object()) (*line)[name].erase("coverage");
  }
  empty["log_z"]["value"] = empty["log_likelihood"]["value"] = nullptr;  // as NaN was written once
  write_file_atomically(folder.path() / "evaluations.jsonl", old.dump() + "\n" + empty.dump() + "\n");
  const std::vector<Evaluation> back = read_evaluations(folder.path());
  ASSERT_EQ(back.size(), 2U);
  EXPECT_FALSE(judgement(back[0]).trusted);
  EXPECT_EQ(judgement(back[0]).lower, -56);
  EXPECT_EQ(doubt(judgement(back[1])), "not trusted: what was found is not a finite number");
}

TEST(Evaluations, ThatAreNotFiniteAreRefusedAndWhatWasThereStays) {
  const TemporaryFolder folder;
  record_evaluation(folder.path(), answer(100, -30));
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
    EXPECT_THROW(record_evaluation(folder.path(), answer(300, bad)), Error);
  EXPECT_EQ(recorded(folder.path()), (Recorded{{100, -30}}));
}

TEST(Evaluations, SayHowHiddenLayersWereSummedOver) {
  const TemporaryFolder folder;
  Evaluation bound = answer(300, -20), exact = answer(300, -19);
  bound.hidden = HiddenLayers{.method = "mean field", .exact = false, .sweeps = 12, .change = 0.25, .converged = false};
  bound.log_likelihood->kind = EstimateKind::estimated_lower_bound;
  exact.hidden = HiddenLayers{.method = "2^5 states of hidden2"};
  record_evaluations(folder.path(), {bound, exact});  // a bound and the thing itself are no two answers to one question
  const std::vector<Evaluation> back = read_evaluations(folder.path());
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(to_json(back[0]), to_json(bound));
  EXPECT_EQ(to_json(back[1]), to_json(exact));
  EXPECT_EQ(back[0].log_likelihood->kind, EstimateKind::estimated_lower_bound);
  EXPECT_TRUE(back[0].log_likelihood->method.starts_with("mean field"));
  EXPECT_EQ(in_words(*back[0].hidden),
            "hidden layers by mean field, 12 sweeps, not converged (means still move by 0.2)");
  EXPECT_EQ(in_words(*back[1].hidden), "hidden layers by 2^5 states of hidden2");
  EXPECT_FALSE(evaluation_from_json(to_json(answer(1, 2))).hidden.has_value());
}

TEST(Evaluations, FoundInAnotherWayStandBesideEachOther) {
  const TemporaryFolder folder;
  Evaluation longer = answer(300, -21);
  longer.log_z->betas = 1000;
  record_evaluations(folder.path(), {answer(300, -20), longer, sandwich(300, -22)});
  EXPECT_EQ(recorded(folder.path()), (Recorded{{300, -20}, {300, -21}, {300, -22}}));
}

TEST(Evaluations, OfTwoWritersAtOnceAreAllKept) {
  const TemporaryFolder folder;
  constexpr int each = 40;
  const auto write = [&](std::int64_t first) {
    for (int i = 0; i < each; ++i) record_evaluation(folder.path(), answer(first + i, -20));
  };
  std::thread other([&] { write(1000); });
  write(1);
  other.join();
  EXPECT_EQ(read_evaluations(folder.path()).size(), 2U * each);
}

TEST(Evaluations, AreRankedExactFirstThenByAnnealing) {
  Evaluation exact = answer(300, -20), longer = answer(300, -21), bound = answer(300, -23);
  exact.log_z->kind = EstimateKind::exact;
  exact.log_z->betas = 0;
  longer.log_z->kind = EstimateKind::unbiased_estimate;
  longer.log_z->betas = 1000;
  bound.log_z->kind = EstimateKind::upper_bound;
  bound.log_z->betas = 5000;
  Evaluation plain = answer(300, -22), both = sandwich(300, -22);
  for (Evaluation* each : {&plain, &both}) each->log_z->kind = EstimateKind::unbiased_estimate;
  const std::vector<Evaluation> ascending = {bound, plain, both, longer, exact};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j)
      EXPECT_EQ(at_least_as_good(ascending[i], ascending[j]), i >= j) << i << " " << j;
}

TEST(Evaluations, KnowTheFlagsThatAskForThemAgain) {
  Evaluation one = answer(300, -20);
  EXPECT_EQ(evaluate_flags(one), "--method ais --chains 10 --betas 20");
  one.log_z->method = "ais, schedule adaptive, base uniform, even layers summed out";
  EXPECT_EQ(evaluate_flags(one),
            "--method ais --chains 10 --betas 20 --schedule adaptive --base uniform --sum-out even");
  EXPECT_EQ(evaluate_flags(sandwich(300, -20)),
            "--method sandwich --chains 10 --betas 20 --raise-rows 30 --raise-chains 5");
  one.log_z->kind = EstimateKind::exact;
  EXPECT_EQ(evaluate_flags(one), "--method exact");
  Evaluation decoder;
  decoder.n = 10;
  decoder.log_likelihood = Estimate{
      .value = -20, .low = -21, .high = -19, .method = "ais from the prior, 10 of 300 rows", .chains = 8, .betas = 500};
  EXPECT_EQ(evaluate_flags(decoder), "--method ais --chains 8 --betas 500 --rows 10 --base prior");
  decoder.log_likelihood->method = "ais from the encoder";
  EXPECT_EQ(evaluate_flags(decoder), "--method ais --chains 8 --betas 500 --rows 10");
  decoder.log_likelihood->betas = 0;
  EXPECT_EQ(evaluate_flags(decoder), "--importance 8");
}

TEST(Evaluations, OfOlderFilesAreReadAndReplacedByTheSameModels) {
  const TemporaryFolder folder;
  nlohmann::ordered_json old = to_json(answer(0, -20));
  for (const char* key : {"updates", "seconds", "draws", "draw_spread", "device"}) old.erase(key);
  (void)folder.write("evaluations.jsonl", old.dump() + "\n");
  EXPECT_EQ(read_evaluations(folder.path()).at(0).updates, 0);
  EXPECT_EQ(read_evaluations(folder.path()).at(0).seconds, 0);
  EXPECT_EQ(read_evaluations(folder.path()).at(0).draws, 1);
  Evaluation snapshot = answer(100, -30);
  snapshot.model = "run/snapshots/update-00000100.safetensors";
  record_evaluation(folder.path(), snapshot);
  EXPECT_EQ(recorded(folder.path()), (Recorded{{0, -20}, {100, -30}}));
  record_evaluation(folder.path(), answer(500, -19));
  EXPECT_EQ(recorded(folder.path()), (Recorded{{100, -30}, {500, -19}}));
}

}  // namespace
}  // namespace harmonium
