// Too little memory: said before the first update where it can be foreseen, and plainly where it cannot.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Memory : public Tool {
 protected:
  [[nodiscard]] Outcome with_space(const Arguments& arguments, rlim_t bytes) const {
    Process command = process(arguments);
    command.address_space = bytes;
    return run(command);
  }
  // "about 640 MB of memory" in the first line of a training.
  static double told(const std::string& text) {
    const std::string before = "; about ";
    const std::size_t at = text.find(before), end = text.find(" of memory");
    if (at == std::string::npos || end == std::string::npos) return 0;
    std::istringstream words(text.substr(at + before.size(), end - at - before.size()));
    double number = 0;
    std::string unit;
    words >> number >> unit;
    return number * (unit == "GB" ? 1e9 : unit == "MB" ? 1e6 : 0);
  }
};

TEST_F(Memory, ThatATrainingWouldNotFindIsRefusedWithTheEstimate) {
  refuses(small_run("run", {"--hidden", "1000000000"}), {"needs about", "TB", "this process may use", "--hidden"});
  refuses(small_run("run", {"--particles", "1000000000000"}), {"needs about", "--particles"});
  refuses(small_run("run", {"--batch", "1000000000000"}), {"needs about", "--batch"});
  refuses(small_run("run", {"--hidden", "1000000", "--optimizer", "fang"}), {"--optimizer fang", "TB"});
}

TEST_F(Memory, OfAnAddressSpaceThatIsTooSmallIsKnown) {
#if defined(HARMONIUM_SANITIZED)
  GTEST_SKIP() << "sanitizers need all addresses";
#endif
  const Outcome outcome = with_space(small_run("run", {"--hidden", "1000000", "--optimizer", "sgd"}), rlim_t{3} << 30);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("this process may use 3.2 GB"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST_F(Memory, ThatRunsOutOnTheWayIsNoBugAndNoAbort) {
#if defined(HARMONIUM_SANITIZED)
  GTEST_SKIP() << "sanitizers need all addresses";
#endif
  succeed(small_run("run"));
  const Outcome outcome =
      with_space({"sample", "run", "-n", "2000000000", "--sweeps", "1", "--out", "much.npy"}, rlim_t{4} << 30);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("not enough memory"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("internal error"), std::string::npos) << outcome.err;
}

TEST_F(Memory, ThatAFileDoesNotFitIntoIsAnErrorAndNotAShorterFile) {
#if defined(HARMONIUM_SANITIZED)
  GTEST_SKIP() << "sanitizers need all addresses";
#endif
  write_bytes(folder / "long.csv", "0,1\n1,0\n");
  fs::resize_file(folder / "long.csv", std::uintmax_t{8} << 30);  // of which the disk holds one block
  const Outcome outcome = with_space({"data", "info", "long.csv"}, rlim_t{4} << 30);
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("not enough memory"), std::string::npos) << outcome.err;
}

TEST_F(Memory, IsEstimatedWithinAFactorOfTwo) {
#if defined(HARMONIUM_SANITIZED)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const auto peak = [&](const Arguments& more) {
    const Outcome outcome =
        harmonium(small_run("run", Arguments{"--overwrite", "--updates", "4", "--log-every", "4"} + more));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return std::pair(static_cast<double>(outcome.most_memory), told(outcome.err));
  };
  const double program = peak({}).first;  // the program itself, LibTorch above all
  const Arguments soon = {"--statistics-every", "1", "--refit-every", "2"};
  for (const Arguments& each :
       std::vector<Arguments>{{"--hidden", "30000", "--optimizer", "sgd"},
                              {"--hidden", "30000", "--optimizer", "sgd", "--particles", "400"},
                              Arguments{"--hidden", "4000", "--optimizer", "fang"} + soon,
                              Arguments{"--hidden", "3000", "--optimizer", "block_diagonal"} + soon,
                              {"--model", "vae", "--layers", "20000,100"},
                              {"--model", "mlp", "--layers", "60000"}}) {
    const auto [used, estimate] = peak(each);
    const double ratio = estimate / (used - program);
    EXPECT_GT(ratio, 0.5) << each[1] << " " << each.back() << ": " << estimate << " told, " << used - program
                          << " used";
    EXPECT_LT(ratio, 2.0) << each[1] << " " << each.back() << ": " << estimate << " told, " << used - program
                          << " used";
  }
}

}  // namespace
}  // namespace harmonium::testing
