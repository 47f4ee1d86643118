// Data that are missing, damaged or of the wrong kind: exit 2, a message with file and place, nothing changed.
#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class BadData : public Tool {
 protected:
  void train_refuses(const std::string& data, const std::vector<std::string>& parts, const Arguments& more = {}) const {
    refuses(Arguments{"train", "--data", data, "--hidden", "2", "--updates", "3", "--out", "run"} + more, parts);
  }
};

TEST_F(BadData, ThatAreNotThereAreNamed) {
  train_refuses("missing.csv", {"'missing.csv'", "data sets: digits"});
  train_refuses("diggits", {"'diggits'", "did you mean digits?"});
  train_refuses("mnist", {"mnist", "harmonium data fetch mnist", "HARMONIUM_DATA"});
  write_bytes(folder / "empty/readme.txt", "nothing to see");
  train_refuses("empty", {"empty"});
}

TEST_F(BadData, InATruncatedIdxAreRefusedWithTheByte) {
  const std::string header("\0\0\x08\x03\0\0\0\x05\0\0\0\x02\0\0\0\x02", 16);
  write_bytes(folder / "cut.idx", header + "abc");
  train_refuses("cut.idx", {"cut.idx", "5×2×2", "byte 19"});
}

TEST_F(BadData, InACsvAreRefusedWithTheLine) {
  write_bytes(folder / "ragged.csv", "1,0,1\n0,1\n1,1,1\n");
  train_refuses("ragged.csv", {"ragged.csv", "line 2", "2 columns", "3"});
  write_bytes(folder / "inf.csv", "1,0,1\n1,0,0\n0,inf,1\n");
  train_refuses("inf.csv", {"inf.csv", "line 3, column 2", "inf"});
}

TEST_F(BadData, OutsideTheUnitIntervalAreForGaussianUnits) {
  write_bytes(folder / "real.csv", "0.5,0,1\n0,-2.5,1\n1,1,0\n");
  train_refuses("real.csv", {"real.csv", "row 1, column 1", "-2.5", "--visible gaussian"});
  train_refuses("real.csv", {"real.csv", "--visible gaussian"}, {"--binarize", "none"});
  const Outcome advised =
      harmonium({"train", "--data", "real.csv", "--visible", "gaussian", "--hidden", "2", "--updates", "3",
                 "--rate-weights", "0.001", "--rate-bias", "0.001", "--out", "run"});
  EXPECT_EQ(advised.code, 0) << "the advice does not work: " << advised.err;
}

TEST_F(BadData, OutsideTheUnitIntervalAreFoundInTheValidationPartToo) {
  write_bytes(folder / "bits.csv", "1,0,1\n0,1,1\n");
  write_bytes(folder / "real.csv", "0.5,0,1\n0,-2.5,1\n");
  train_refuses("bits.csv", {"real.csv", "-2.5"}, {"--valid", "real.csv"});
  write_bytes(folder / "wide.csv", "1,0,1,1\n");
  train_refuses("bits.csv", {"wide.csv", "4 columns", "3"}, {"--valid", "wide.csv"});
}

TEST_F(BadData, WithoutLabelsCannotTrainAJointModel) {
  write_bytes(folder / "bits.csv", "1,0,1\n0,1,1\n");
  train_refuses("bits.csv", {"bits.csv", "labels"}, {"--model", "classification_rbm"});
}

TEST_F(BadData, AreRefusedByEvaluateToo) {
  write_bytes(folder / "model.npz", npz({{"W", {{3, 2}, std::vector<float>(6, 0)}},
                                         {"visible_bias", {{3}, {0, 0, 0}}},
                                         {"hidden_bias", {{2}, {0, 0}}}}));
  const auto evaluate_refuses = [&](const std::string& data, const Arguments& more,
                                    const std::vector<std::string>& parts) {
    refuses(Arguments{"evaluate", "model.npz", "--data", data} + more, parts);
  };
  write_bytes(folder / "gray.csv", "1,0,1\n0,0.25,1\n");
  evaluate_refuses("gray.csv", {"--binarize", "none"}, {"gray.csv", "row 1, column 1", "0.25", "binarize"});
  evaluate_refuses("gray.csv", {"--binarize", "maybe"}, {"'maybe'", "threshold"});
  evaluate_refuses("digits:test", {}, {"digits:test", "64 columns", "3 visible"});
  evaluate_refuses("missing.csv", {}, {"'missing.csv'"});
  write_bytes(folder / "real.csv", "1,0,1\n0,-4,1\n");
  evaluate_refuses("real.csv", {}, {"real.csv", "-4", "--scale", "--visible"});
  evaluate_refuses("gray.csv", {"--limit", "-2"}, {"limit", "-2"});
}

}  // namespace
}  // namespace harmonium::testing
