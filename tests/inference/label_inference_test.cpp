// Classes of rows against sums over all hidden states written out.
#include "harmonium/inference/label_inference.h"

#include "harmonium/models/builders.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

at::Tensor label_rows() { return support::to_tensor(support::points_of("bernoulli:3").rows); }

// log p(c | v), hidden state by hidden state.
at::Tensor exact_labels(const BoltzmannMachine& machine) {
  const support::PlainMachine plain(machine);
  const std::size_t label = label_layer(machine);
  std::vector<support::Row> result;
  for (const support::Row& v : support::points_of("bernoulli:3").rows) {
    support::Configuration x(machine.layers().size());
    x[0] = v;
    support::Row scores;
    for (const support::Row& one : support::points_of(machine.unit(label).spec()).rows) {
      x[label] = one;
      scores.push_back(plain.log_sum(x, machine.hidden()));
    }
    for (double& p : scores = support::normalized(scores)) p = std::log(p);
    result.push_back(scores);
  }
  return support::to_tensor(result);
}

TEST(InferLabels, IsExactWhereHiddenLayersShareNoEdge) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("bernoulli:3", 4, "bernoulli:3", at::kDouble), 31);
  support::expect_close(infer_labels(machine, label_rows()), exact_labels(machine), 1e-11);
}

// Without an edge between the hidden layers mean field leaves nothing out; with a weak one, hardly anything.
TEST(InferLabels, TendsToTheTruthAsHiddenLayersComeApart) {
  BoltzmannMachine machine =
      support::randomized(make_labelled_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2"}, 4, at::kDouble), 32);
  const at::Tensor weights = machine.parameters()["hidden1_hidden2.weights"].clone();
  double before = 1e9;
  for (const double scale : {1.0, 0.3, 0.1, 0.0}) {
    machine.parameters()["hidden1_hidden2.weights"].copy_(scale * weights);
    const at::Tensor found = infer_labels(machine, label_rows(), {.most_sweeps = 2000, .tolerance = 1e-12});
    EXPECT_LT((found.exp().sum(1) - 1).abs().max().item<double>(), 1e-12);
    const double error = (found - exact_labels(machine)).abs().max().item<double>();
    EXPECT_LT(error, before);
    before = error;
  }
  EXPECT_LT(before, 1e-10);
}

TEST(InferLabels, DoesNotDependOnItsPieces) {
  const BoltzmannMachine machine =
      support::randomized(make_labelled_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2"}, 4, at::kDouble), 33);
  const MeanFieldOptions precise{.most_sweeps = 2000, .tolerance = 1e-13};
  const at::Tensor many = infer_labels(machine, label_rows().repeat({150, 1}), precise);  // 1200 rows × 4 classes
  ASSERT_EQ(many.sizes(), at::IntArrayRef({1200, 4}));
  support::expect_close(many.narrow(0, 1192, 8), infer_labels(machine, label_rows(), precise), 1e-11);
}

TEST(InferLabels, NeedsALabelLayer) {
  const BoltzmannMachine machine = make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2"}, at::kDouble);
  support::expect_mentions(support::message_of([&] { (void)infer_labels(machine, label_rows()); }),
                           {"label", "classification_rbm", "labels top"});
}

}  // namespace
}  // namespace harmonium
