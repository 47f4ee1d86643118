// `harmonium cluster`, `classify --labels`, and what capsules draw by posing.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Cluster : public Tool {
 protected:
  void train_mixture() const {
    succeed(
        {"train", "--data", "digits", "--model", "mixture", "--components", "15", "--updates", "300", "--out", "run"});
  }
  void train_capsules() const {
    succeed({"train",   "--data",   "digits",       "--limit",   "200",        "--model", "capsules",
             "--parts", "3",        "--composites", "4",         "--template", "4",       "--distortions",
             "2",       "--layers", "20,20,20",     "--updates", "30",         "--out",   "capsules"});
  }
};

TEST_F(Cluster, TellsSizesAndAgreement) {
  train_mixture();
  const ordered_json found = json({"cluster", "run", "--data", "digits:test"});
  int rows = 0, right = 0, matched = 0;
  for (int c = 0; c < 15; ++c) {
    rows += found["sizes"][c].get<int>();
    int most = 0;
    for (int k = 0; k < 10; ++k) most = std::max(most, found["counts"][c][k].get<int>());
    right += most;
    if (const int match = found["matching"][c]; match >= 0) matched += found["counts"][c][match].get<int>();
  }
  EXPECT_EQ(rows, 300);
  EXPECT_NEAR(found["purity"], right / 300.0, 1e-12);
  EXPECT_NEAR(found["matched"], matched / 300.0, 1e-12);
  EXPECT_GT(found["purity"], 0.5) << "one in ten is right by chance";
  EXPECT_LE(found["matched"], found["purity"]);
  const std::string text = succeed({"cluster", "run"}).out;
  for (const std::string part : {"component", "purity", "matched", "NMI", "to judge"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  std::string table;
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 64; ++i) table += i == 0 ? "0" : ",0";
    table += "\n";
  }
  write_bytes(folder / "bare.csv", table);
  const ordered_json bare = json({"cluster", "run", "--data", "bare.csv"});
  EXPECT_FALSE(bare.contains("purity"));
  EXPECT_EQ(bare["rows"], 3);
}

TEST_F(Cluster, AsksForAFewLabelsAndCountsErrors) {
  train_mixture();
  const ordered_json found = json({"classify", "run", "--labels", "15", "--out", "asked.png"});
  const int asked = found["labels_asked"];
  EXPECT_LE(asked, 15);
  std::set<int> clusters;
  for (const ordered_json& each : found["asked"]) {
    clusters.insert(each["cluster"].get<int>());
    EXPECT_EQ(found["label_of_cluster"][each["cluster"].get<int>()], each["label"]);
  }
  EXPECT_EQ(static_cast<int>(clusters.size()), asked) << "one for each";
  int wrong = 0;
  for (int truth = 0; truth < 10; ++truth)
    for (int c = 0; c < 10; ++c)
      if (truth != c) wrong += found["confusion"][truth][c].get<int>();
  EXPECT_EQ(wrong, found["wrong"]);
  EXPECT_LT(found["error"], 0.6);
  EXPECT_EQ(found["asked_from"], "digits");
  EXPECT_TRUE(read_bytes(folder / "asked.png").starts_with("\x89PNG"));
  EXPECT_EQ(json({"classify", "run", "--labels", "40"})["labels_asked"], 40);
  EXPECT_EQ(json({"classify", "run", "--labels", "3"})["labels_asked"], 3);
  const std::string text = succeed({"classify", "run", "--labels", "15", "--out", "x.html"}).out;
  for (const std::string part : {"asked of digits", "for comparison only", "margin", "x.html"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_NE(read_bytes(folder / "x.html").find("gallery-asked"), std::string::npos);
}

TEST_F(Cluster, RefusesModelsWithoutClusters) {
  succeed(small_run("plain"));
  refuses({"cluster", "plain"}, {"plain", "no clusters", "capsules", "sample"});
  refuses({"classify", "plain", "--labels", "5"}, {"no clusters"});
  train_mixture();
  refuses({"classify", "run"}, {"--labels 25"});
  refuses({"classify", "run", "--labels", "0"}, {"--labels"});
  refuses({"classify", "run", "--ask", "digits"}, {"--ask", "--labels"});
  refuses({"classify", "run", "--labels", "5", "--binarize", "threshold"}, {"--binarize", "--labels"});
  refuses({"sample", "run", "--around", "3"}, {"--around", "capsules"});
}

TEST_F(Cluster, CapsulesDrawByPosing) {
  train_capsules();
  EXPECT_EQ(json({"sample", "capsules", "--composite", "1", "--sweep", "distortion:1", "--out", "a.npy"})["samples"],
            9);
  EXPECT_EQ(json({"sample", "capsules", "--composite", "1", "--out", "b.png"})["samples"], 9 * 9);
  EXPECT_EQ(json({"sample", "capsules", "--sweep", "rotation", "--out", "c.png"})["samples"], 4 * 9);
  EXPECT_EQ(json({"sample", "capsules", "--around", "7", "-n", "5", "--out", "d.png"})["samples"], 6);
  refuses({"sample", "capsules", "--composite", "4"}, {"--composite 4", "0 … 3"});
  refuses({"sample", "capsules", "--sweep", "distortion:2"}, {"distortion:2", "distortion:1"});
  refuses({"sample", "capsules", "--around", "300"}, {"--around 300", "299"});
  refuses({"sample", "capsules", "--around", "1", "--composite", "1"}, {"--around", "--composite"});
  succeed({"reconstruct", "capsules", "--parts", "--show", "20", "--out", "parts.png"});
  EXPECT_TRUE(read_bytes(folder / "parts.png").starts_with("\x89PNG"));
  EXPECT_EQ(json({"cluster", "capsules"})["clusters"], "composite");
  const std::string page = read_bytes(folder / "capsules/report.html");
  for (const std::string part : {"gallery-tries", "gallery-places", "gallery-distortions", "gallery-coloured_parts"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(Cluster, IsWhatAnExperimentMeasures) {
  write_bytes(
      folder / "few.toml",
      "kind = \"clusters\"\ntitle = \"t\"\nquestion = \"q\"\ntest = \"digits:test\"\nlabels = 12\nseeds = 2\n"
      "[config]\ndata = \"digits\"\nvalid = \"digits:valid\"\nmodel = \"mixture\"\ncomponents = 12\nupdates = 60\n"
      "seed = 5\n[quick]\nseeds = 1\nupdates = 10\n[[run]]\nname = \"a\"\n"
      "[[expected]]\nrun = \"a\"\nat_most = 100\nsource = \"here\"\n");
  const Arguments command = {"reproduce", "few.toml", "--out", "out"};
  const ordered_json rows = json(command)["experiment"]["measured"];
  ASSERT_EQ(rows.size(), 1U + 2 * 3);
  const double first = json({"classify", "out/a-1", "--labels", "12", "--data", "digits:test"})["error"],
               second = json({"classify", "out/a-2", "--labels", "12", "--data", "digits:test"})["error"];
  EXPECT_NEAR(rows[0]["value"], 50 * (first + second), 1e-9);
  EXPECT_EQ(rows[0]["expected"], "≤ 100: met");
  EXPECT_EQ(rows[1]["value"], 100 * first);
  EXPECT_EQ(json(command)["experiment"]["measured"], rows);
  EXPECT_EQ(json(Arguments{"reproduce", "few.toml", "--quick", "--out", "quick"})["experiment"]["measured"].size(), 4U);
}

}  // namespace
}  // namespace harmonium::testing
