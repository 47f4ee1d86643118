#include "harmonium/training/net_error.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

// More rows than are looked at together, so that pieces must add up.
TEST(NetErrors, AreMeansOverAllRows) {
  const at::Tensor gray = uniform(Key(1), {2300, 4});
  const Dataset data{.name = "rows", .values = gray, .labels = at::arange(2300, at::kLong).remainder(3)};
  FeedForward classifier = make_classifier(4, {5}, 3, Activation::relu);
  initialize(classifier, Key(2));
  const NetErrors classes = net_errors(classifier, data, Binarization::stochastic, Loss::cross_entropy);
  EXPECT_NEAR(*classes.misclassified,
              classifier.forward(gray).argmax(1).ne(data.labels).to(at::kDouble).mean().item<double>(), 1e-12);
  EXPECT_NEAR(classes.loss, -classifier.forward(gray).log().gather(1, data.labels.unsqueeze(1)).mean().item<double>(),
              1e-5);
  EXPECT_FALSE(classes.squared.has_value());

  FeedForward pairs = make_autoencoder(4, {2}, Activation::relu, Activation::logistic);
  initialize(pairs, Key(3));
  const NetErrors rebuilt = net_errors(pairs, data, Binarization::none, Loss::bernoulli);
  EXPECT_NEAR(*rebuilt.squared, (pairs.forward(gray) - gray).square().sum(1).mean().item<double>(), 1e-5);
  EXPECT_GT(rebuilt.loss, *rebuilt.squared) << "nats, not squares";
  EXPECT_FALSE(rebuilt.misclassified.has_value());

  // A net that was trained on thresholded values sees nothing else.
  const at::Tensor sharp = gray.ge(0.5).to(at::kFloat);
  EXPECT_NEAR(*net_errors(pairs, data, Binarization::threshold, Loss::squared).squared,
              (pairs.forward(sharp) - sharp).square().sum(1).mean().item<double>(), 1e-5);
  Dataset bare = data;
  bare.labels = at::Tensor();
  EXPECT_THROW((void)net_errors(classifier, bare, Binarization::none, Loss::cross_entropy), Error);
}

}  // namespace
}  // namespace harmonium
