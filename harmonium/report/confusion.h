// How a classification is shown: the confusion matrix as text, table and picture, and the surest mistakes.
#pragma once

#include "harmonium/report/report.h"
#include "harmonium/runs/classification_result.h"

namespace harmonium {

// "2.31 % [2.03, 2.62]".
[[nodiscard]] std::string percent(const Proportion& share);

// Lines for a terminal: a row for every true class, its error last.
[[nodiscard]] std::string confusion_text(const ClassificationResult& result);
[[nodiscard]] Table confusion_table(const ClassificationResult& result);
// Squares of counts, truth down and prediction across. What is right is blue, what is wrong red, each darker with its
// share of the true class (red ones on a scale of their own, since they are few).
[[nodiscard]] Picture confusion_picture(const ClassificationResult& result);

// Rows under which "truth > predicted" is written. `images` are those of result.mistakes, in order.
[[nodiscard]] Picture mistakes_picture(const ClassificationResult& result, const at::Tensor& images, ImageShape shape);

// One above the other, on white.
[[nodiscard]] Picture stacked(const std::vector<Picture>& pictures);

// What a report says about classifications: every error at the top, and the matrix and the mistakes (a picture, where
// there is one) of the last.
void add_classifications(ReportContent& content, const std::vector<ClassificationResult>& results,
                         const Picture& mistakes);

// The picture of the latest mistakes that `classify` has left in a run; empty where there is none.
[[nodiscard]] Picture read_mistakes(const std::filesystem::path& folder);

}  // namespace harmonium
