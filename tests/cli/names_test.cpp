// Names of files and folders with characters that are seldom there: nothing is lost, or all is refused at once.
#include <sys/stat.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Names : public Tool {};

TEST_F(Names, WithControlCharactersTrainResumeEvaluateAndReport) {
  const std::string table = "0,1,1\n1,0,0\n0,0,1\n1,1,0\n";
  for (const std::string& name : {std::string("new\nline.csv"), std::string("esc\x1b[1m.csv"),
                                  std::string("tab\t\"quoted\".csv"), std::string("del\x7f.csv")}) {
    write_bytes(folder / name, table);
    const std::string out = "run of " + name;
    succeed({"train", "--data", name, "--hidden", "2", "--updates", "5", "--out", out});
    succeed({"resume", out});
    succeed({"evaluate", out, "--data", name, "--method", "exact"});
    succeed({"report", out});
  }
}

TEST_F(Names, ThatAreNotUtf8AreRefusedBeforeAnythingIsDone) {
  const std::string name = "caf\xE9.csv";
  write_bytes(folder / name, "0,1\n1,0\n");
  write_bytes(folder / "good.csv", "0,1\n1,0\n");
  refuses({"train", "--data", name, "--hidden", "2", "--updates", "5", "--out", "run"},
          {"argument 3", "not UTF-8", "caf\\xE9.csv"});
  refuses({"train", "--data", "good.csv", "--hidden", "2", "--updates", "5", "--out", "out\xE9"},
          {"not UTF-8", "out\\xE9"});
  refuses({"resume", "out\xE9"}, {"not UTF-8"});
  EXPECT_FALSE(fs::exists(folder / "run"));
  EXPECT_FALSE(fs::exists(folder / "out\xE9"));
}

TEST_F(Names, OfPipesLoopsAndDevicesAreRefusedWithASentence) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink("loop", folder / "loop");
  const auto says = [&](const Arguments& arguments, const std::string& sentence) {
    const Outcome outcome = harmonium(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
  };
  says({"data", "info", "pipe"}, "cannot read pipe: it is a pipe, not a file");
  says({"data", "info", "loop"}, "cannot read loop: it is a symbolic link that leads back to itself");
  says({"data", "info", "loop:test"}, "cannot read loop: it is a symbolic link that leads back to itself");
  says({"data", "info", "/dev/urandom"}, "cannot read /dev/urandom: it is a device, not a file");
  says({"train", "--data", "pipe", "--out", "run"}, "cannot read pipe: it is a pipe, not a file");
}

}  // namespace
}  // namespace harmonium::testing
