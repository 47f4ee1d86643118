// Help, version, `data`, `models` and `report`.
#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

using Commands = Tool;

TEST_F(Commands, AllHaveAHelpWithAnExample) {
  for (const Arguments& command : std::vector<Arguments>{{},
                                                         {"train"},
                                                         {"resume"},
                                                         {"evaluate"},
                                                         {"sample"},
                                                         {"cluster"},
                                                         {"fisher"},
                                                         {"compare"},
                                                         {"reproduce"},
                                                         {"report"},
                                                         {"data"},
                                                         {"data", "list"},
                                                         {"data", "info"},
                                                         {"data", "fetch"},
                                                         {"models"},
                                                         {"models", "show"}}) {
    const Outcome outcome = succeed(command + Arguments{"--help"});
    std::string line = "  harmonium";
    for (const std::string& word : command) line += " " + word;
    EXPECT_NE(outcome.out.find("\n" + line), std::string::npos) << "no example of '" << line << "' in: " << outcome.out;
  }
}

TEST_F(Commands, TellTheirVersion) {
  const Outcome outcome = succeed({"--version"});
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(outcome.out.c_str(), "%d.%d.%d\n", &major, &minor, &patch), 3) << outcome.out;
}

TEST_F(Commands, ThatDoNotExistAreNamedWithThoseThatDo) {
  refuses({"tarin"}, {"'tarin'", "train", "evaluate"});
  refuses({"data", "delete"}, {"'delete'", "list", "fetch"});
  refuses({}, {"train", "--help"});
  refuses({"data"}, {"list", "data --help"});
}

TEST_F(Commands, ListDataSetsByNameWithTheirState) {
  const ordered_json sets = json({"data", "list"})["datasets"];
  std::map<std::string, ordered_json> by_name;
  for (const ordered_json& set : sets) by_name[set["name"]] = set;
  EXPECT_EQ(by_name.at("digits")["available"], true);
  EXPECT_EQ(by_name.at("digits")["columns"], 64);
  EXPECT_EQ(by_name.at("digits")["parts"][0]["rows"], 1297);
  EXPECT_EQ(by_name.at("mnist")["available"], false);
  EXPECT_NE(by_name.at("mnist")["location"].get<std::string>().find("harmonium data fetch mnist"), std::string::npos);
  EXPECT_NE(by_name.at("binarized_mnist")["location"].get<std::string>().find("nowhere/binarized_mnist"),
            std::string::npos)
      << "one of the folders that it may be put into";
  const Outcome text = succeed({"data", "list"});
  for (const auto& [name, set] : by_name) EXPECT_NE(text.out.find(name), std::string::npos) << name;
}

TEST_F(Commands, DescribeADataSetAndAFile) {
  const ordered_json digits = json({"data", "info", "digits:test"});
  EXPECT_EQ(digits["rows"], 300);
  EXPECT_EQ(digits["columns"], 64);
  EXPECT_EQ(digits["values"], "gray");
  EXPECT_EQ(digits["image"], "8x8");
  EXPECT_EQ(digits["classes"], 10);
  write_bytes(folder / "real.csv", "0.5,-3\n1,2.5\n0,7\n");
  const ordered_json table = json({"data", "info", "real.csv"});
  EXPECT_EQ(table["rows"], 3);
  EXPECT_EQ(table["columns"], 2);
  EXPECT_EQ(table["values"], "real");
  EXPECT_TRUE(table["classes"].is_null());
  const Outcome text = succeed({"data", "info", "real.csv", "--picture", "look.png"});
  EXPECT_NE(text.out.find("--visible gaussian"), std::string::npos) << text.out;
  EXPECT_TRUE(read_bytes(folder / "look.png").starts_with("\x89PNG"));
}

TEST_F(Commands, ThatNeedDataRefuseWhatIsNotThere) {
  refuses({"data", "fetch", "nosuch"}, {"'nosuch'", "mnist", "fashion_mnist"});
  refuses({"data", "info", "nosuch.npy"}, {"'nosuch.npy'", "digits"});
  refuses({"report", "nowhere"}, {"nowhere", "config.toml"});
  refuses({"models", "show", "nowhere"}, {"nowhere", ".safetensors", ".npz"});
}

TEST_F(Commands, ShowAModel) {
  succeed(small_run("run"));
  const ordered_json shown = json({"models", "show", "run"});
  EXPECT_EQ(keys(shown),
            (std::vector<std::string>{"model", "kind", "layers", "parameters", "dimension", "image", "notes"}));
  EXPECT_EQ(shown["kind"], "rbm");
  EXPECT_EQ(shown["layers"][0], (ordered_json{{"name", "visible"}, {"unit", "bernoulli:64"}, {"observed", true}}));
  EXPECT_EQ(shown["layers"][1], (ordered_json{{"name", "hidden"}, {"unit", "bernoulli:8"}, {"observed", false}}));
  EXPECT_EQ(shown["dimension"], 64 + 8 + 64 * 8);
  EXPECT_EQ(shown["notes"]["data"], "digits");
  EXPECT_EQ(shown["notes"]["updates"], "60");
  const Outcome text = succeed({"models", "show", "run"});
  for (const char* part : {"bernoulli:64", "visible_hidden.weights", "64×8", "584 in all"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " is not in: " << text.out;
}

TEST_F(Commands, WriteALostReportAgain) {
  succeed(small_run("run"));
  const std::string report = read_bytes(folder / "run/report.html");
  fs::remove(folder / "run/report.html");
  EXPECT_EQ(json({"report", "run"})["report"], "run/report.html");
  EXPECT_TRUE(read_bytes(folder / "run/report.html") == report);
}

TEST_F(Commands, WriteAReportOfARunWhoseDataAreGone) {
  write_bytes(folder / "table.csv", "0,1,1\n1,0,0\n1,1,1\n");
  succeed({"train", "--data", "table.csv", "--hidden", "2", "--updates", "5", "--out", "run"});
  fs::remove(folder / "table.csv");
  fs::remove(folder / "run/report.html");
  succeed({"report", "run"});
  EXPECT_TRUE(fs::exists(folder / "run/report.html"));
  refuses({"resume", "run"}, {"'table.csv'"});
}

}  // namespace
}  // namespace harmonium::testing
