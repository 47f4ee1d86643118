// Files of the user's own: parts, scales, shapes, labels, and rows that were trained on. Commands of docs/data.md run.
#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class OwnData : public Tool {
 protected:
  // Different rows: row i is the number i in bits, and a few bits of another function of it.
  [[nodiscard]] static std::string bits_csv(int rows, int first = 0) {
    std::string text;
    for (int i = first; i < first + rows; ++i) {
      for (int bit = 0; bit < 8; ++bit) text += (i >> bit & 1) ? "1," : "0,";
      text += (i * i >> 3 & 1) ? "1\n" : "0\n";
    }
    return text;
  }
  [[nodiscard]] static Array grays(std::size_t rows, std::size_t columns, std::size_t first = 0) {
    Array array{{rows, columns}, {}};
    for (std::size_t i = first * columns; i < (first + rows) * columns; ++i)
      array.values.push_back(static_cast<float>(i * i % 257 % 256));
    return array;
  }
  [[nodiscard]] static Array classes(std::size_t rows, std::size_t first_label = 0) {
    Array array{{rows}, {}};
    for (std::size_t i = 0; i < rows; ++i) array.values.push_back(static_cast<float>(i % 3 + first_label));
    return array;
  }
  void write_pictures(const std::string& name) const {
    write_bytes(folder / name, npz({{"x_test", grays(12, 16, 100)},
                                    {"y_test", classes(12)},
                                    {"x_train", grays(60, 16)},
                                    {"y_train", classes(60)}}));
  }
  void train(const std::string& data, const std::string& out, const Arguments& more = {}) const {
    succeed(Arguments{"train", "--data", data, "--hidden", "3", "--updates", "10", "--out", out} + more);
  }
  [[nodiscard]] ordered_json info(const std::string& data, const Arguments& more = {}) const {
    return json(Arguments{"data", "info", data} + more);
  }
  [[nodiscard]] static bool says(const ordered_json& info, const std::string& words) {
    for (const std::string remark : info["remarks"])
      if (remark.find(words) != std::string::npos) return true;
    return false;
  }
};

TEST_F(OwnData, FileWithArraysForPartsIsItsTrainingPartAndItsTestPartIsTheOtherArray) {
  write_pictures("p.npz");
  EXPECT_EQ(info("p.npz")["rows"], 60);
  EXPECT_EQ(info("p.npz:train")["rows"], 60);
  EXPECT_EQ(info("p.npz:test")["rows"], 12);
  EXPECT_TRUE(says(info("p.npz"), "array x_train of x_test (12×16), y_test (12), x_train (60×16), y_train (60)"));
  refuses({"data", "info", "p.npz:valid"}, {"has no part valid", "train (x_train)", "test (x_test)"});
  const Outcome outcome = succeed({"train", "--data", "p.npz", "--hidden", "3", "--updates", "5", "--out", "run"});
  EXPECT_NE(outcome.err.find("array x_train"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("evaluate run --data p.npz:test"), std::string::npos) << outcome.out;
}

TEST_F(OwnData, SeveralArraysWithoutPartsAreListed) {
  write_bytes(folder / "two.npz", npz({{"left", grays(4, 3)}, {"right", grays(5, 3)}}));
  refuses({"data", "info", "two.npz"}, {"left (4×3)", "right (5×3)", "PATH:NAME"});
}

TEST_F(OwnData, TestPartOfAFileThatWasTrainedOnAsAWholeIsRefusedUnlessAllowed) {
  write_bytes(folder / "t.csv", bits_csv(200));
  train("t.csv", "all");
  refuses({"evaluate", "all", "--data", "t.csv:test", "--method", "exact"},
          {"20 of 20 rows were trained on", "t.csv:train", "--allow-trained-rows"});
  const ordered_json answer =
      json({"evaluate", "all", "--data", "t.csv:test", "--method", "exact", "--allow-trained-rows"});
  EXPECT_EQ(answer["trained_rows"], 20);
  EXPECT_EQ(answer["trained_rows_note"], "20 of 20 rows were trained on");
  EXPECT_EQ(evaluations("all").back()["trained_rows"], 20);
  EXPECT_EQ(json({"evaluate", "all", "--data", "t.csv", "--method", "exact"})["trained_rows"], 200)
      << "data that do not call themselves a test are a note";
  train("t.csv:train", "part");
  EXPECT_EQ(json({"evaluate", "part", "--data", "t.csv:test", "--method", "exact"})["trained_rows"], 0);
  // A copy under another name, and the other commands.
  write_bytes(folder / "copy.csv", bits_csv(200));
  refuses({"evaluate", "all", "--data", "copy.csv:test", "--method", "exact"}, {"20 of 20"});
  refuses({"reconstruct", "all", "--data", "t.csv:test"}, {"20 of 20"});
  EXPECT_EQ(json({"reconstruct", "all", "--data", "t.csv"})["trained_rows"], 200);
}

TEST_F(OwnData, ClassifyAndRetrieveSayWhichRowsWereTrainedOn) {
  write_pictures("p.npz");
  train("p.npz", "run", {"--model", "classification_rbm"});
  EXPECT_EQ(json({"classify", "run", "--data", "p.npz"})["trained_rows"], 60);
  EXPECT_EQ(json({"classify", "run"})["data"], "p.npz:test") << "the test part of the training data";
  EXPECT_EQ(json({"classify", "run"})["trained_rows"], 0);
  EXPECT_EQ(json({"retrieve", "run", "--data", "p.npz"})["trained_rows"], 60);
}

TEST_F(OwnData, RepeatedRowsAreNoContamination) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += i * 7 % 5 < 2 ? "0,1,1\n" : i % 3 == 0 ? "1,0,0\n" : "1,1,0\n";
  write_bytes(folder / "few.csv", text);
  train("few.csv:train", "run");
  const ordered_json answer = json({"evaluate", "run", "--data", "few.csv:test", "--method", "exact"});
  EXPECT_EQ(answer["trained_rows"], 40);
  EXPECT_NE(answer["trained_rows_note"].get<std::string>().find("rows repeat"), std::string::npos);
  // The same file learnt as a whole is another matter, however often its rows repeat.
  train("few.csv", "whole");
  refuses({"evaluate", "whole", "--data", "few.csv:test", "--method", "exact"}, {"40 of 40 rows were trained on"});
  // All patterns learnt, some drawn again.
  train("bars_and_stripes:all", "bars");
  succeed({"evaluate", "bars", "--data", "bars_and_stripes:test", "--method", "exact"});
}

TEST_F(OwnData, WholeNumbersAreAskedAboutAndGrayOnesSaidToBeDivided) {
  write_bytes(folder / "grades.csv", "1,5,3\n2,4,3\n5,5,1\n1,2,2\n");
  EXPECT_EQ(info("grades.csv")["values"], "whole-number");
  refuses({"train", "--data", "grades.csv", "--out", "run"},
          {"grades.csv", "whole numbers", "--scale", "--visible softmax:", "--visible counts", "--visible gaussian"});
  write_bytes(folder / "gray.csv", "0,128,255\n1,2,3\n");
  const Outcome outcome = succeed({"train", "--data", "gray.csv", "--hidden", "2", "--updates", "3", "--out", "gray"});
  EXPECT_NE(outcome.err.find("values divided by 255"), std::string::npos) << outcome.err;
  EXPECT_TRUE(says(info("gray.csv"), "values divided by 255"));
  EXPECT_EQ(info("gray.csv", {"--scale", "none"})["divided_by"], 1);
}

TEST_F(OwnData, OtherFilesAreReadAsTheTrainingFileWas) {
  write_bytes(folder / "train.csv", "0,4,8\n8,4,0\n2,2,6\n0,0,8\n");
  write_bytes(folder / "other.csv", "0,4,4\n2,4,0\n");  // whose own largest value is 4
  train("train.csv", "run", {"--scale", "max"});
  EXPECT_NE(read_bytes(folder / "run/config.toml").find("scale = \"8\""), std::string::npos);
  const double here = json({"evaluate", "run", "--data", "other.csv", "--binarize", "threshold", "--method",
                            "exact"})["log_likelihood"]["value"];
  const double told = json({"evaluate", "run", "--data", "other.csv", "--scale", "8", "--binarize", "threshold",
                            "--method", "exact"})["log_likelihood"]["value"];
  const double wrong = json({"evaluate", "run", "--data", "other.csv", "--scale", "4", "--binarize", "threshold",
                             "--method", "exact"})["log_likelihood"]["value"];
  EXPECT_EQ(here, told);
  EXPECT_NE(here, wrong);
}

TEST_F(OwnData, IntegerColumnsBecomeCategoriesOfSoftmaxUnits) {
  write_bytes(folder / "from1.csv", "1,3,2\n2,1,3\n3,3,1\n1,2,2\n");
  write_bytes(folder / "from0.csv", "0,2,1\n1,0,2\n2,2,0\n0,1,1\n");
  write_bytes(folder / "hot.csv", "1,0,0,0,0,1,0,1,0\n0,1,0,1,0,0,0,0,1\n0,0,1,0,0,1,1,0,0\n1,0,0,0,1,0,0,1,0\n");
  for (const char* name : {"from1", "from0", "hot"})
    train(name + std::string(".csv"), name, {"--visible", "softmax:3"});
  const auto value = [&](const std::string& run, const std::string& data) {
    return json({"evaluate", run, "--data", data, "--method", "exact"})["log_likelihood"]["value"].get<double>();
  };
  EXPECT_EQ(value("hot", "hot.csv"), value("from0", "from0.csv")) << "the same rows make the same model";
  EXPECT_EQ(value("hot", "hot.csv"), value("from1", "from1.csv"));
  // 1 … 2 in another file are still counted from 1.
  write_bytes(folder / "low.csv", "1,2,1\n2,1,2\n");
  write_bytes(folder / "low_hot.csv", "1,0,0,0,1,0,1,0,0\n0,1,0,1,0,0,0,1,0\n");
  EXPECT_EQ(value("from1", "low.csv"), value("hot", "low_hot.csv"));
  refuses({"train", "--data", "from1.csv", "--visible", "softmax:2", "--out", "no"},
          {"from1.csv", "1 … 3", "2 categories"});
  succeed({"resume", "from1"});
}

TEST_F(OwnData, ShapesTransposesAndLabelColumnsAreForEveryFormat) {
  write_bytes(folder / "faces.npy", npy(grays(20, 9)));  // a face of 4 × 5 in every column
  EXPECT_EQ(info("faces.npy", {"--transpose"})["rows"], 9);
  EXPECT_EQ(info("faces.npy", {"--transpose", "--shape", "4x5"})["image"], "4x5");
  train("faces.npy", "faces", {"--transpose", "--shape", "4x5"});
  succeed({"evaluate", "faces", "--data", "faces.npy", "--method", "exact"});
  Array labelled = grays(30, 5);
  for (std::size_t row = 0; row < 30; ++row) labelled.values[5 * row + 2] = static_cast<float>(row % 4 + 1);
  write_bytes(folder / "labelled.npy", npy(labelled));
  const ordered_json third = info("labelled.npy", {"--label-column", "3"});
  EXPECT_EQ(third["columns"], 4);
  EXPECT_EQ(third["classes"], 4) << "1 … 4 are four classes";
  EXPECT_EQ(third["first_label"], 1);
  train("labelled.npy", "classes", {"--label-column", "3", "--model", "classification_rbm"});
  EXPECT_EQ(json({"classify", "classes", "--data", "labelled.npy"})["confusion"].size(), 4U);
}

TEST_F(OwnData, SaysWhatOfATextTableIsNotARow) {
  write_bytes(folder / "h.csv", "a;\"b, c\";d\n0,5;1,0;0\n1;0;1\n");
  const ordered_json found = info("h.csv");
  EXPECT_EQ(found["rows"], 2);
  EXPECT_TRUE(says(found, "1 header line skipped: a, b, c, d"));
  EXPECT_TRUE(says(found, "separated by ;, decimal commas"));
  write_bytes(folder / "q.csv", "\"0\",\"1\"\n1,0\n0,1\n");
  EXPECT_EQ(info("q.csv")["rows"], 3);
}

TEST_F(OwnData, MissingValuesAreLearntAroundByRbmsAndRefusedByNameElsewhere) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += (i % 3 == 0 ? "0,," : i % 2 == 0 ? "NA,1," : "1,0,") + std::string(i % 4 < 2 ? "1\n" : "0\n");
  write_bytes(folder / "gaps.csv", text);
  EXPECT_EQ(info("gaps.csv")["missing"], 40);
  const Arguments flags = {"--updates", "40", "--checkpoint-every", "7", "--batch", "10"};
  succeed(Arguments{"train", "--data", "gaps.csv", "--hidden", "2", "--out", "whole"} + flags);
  const ordered_json answer = json({"evaluate", "whole", "--data", "gaps.csv", "--method", "exact"});
  EXPECT_NE(answer["binarization"].get<std::string>().find("missing values summed out"), std::string::npos);
  EXPECT_LT(answer["log_likelihood"]["value"].get<double>(), 0);
  for (const auto& [model, hidden] :
       std::vector<std::pair<std::string, std::string>>{{"nade", "--hidden"}, {"dbm", "--layers"}, {"vae", "--layers"}})
    refuses({"train", "--data", "gaps.csv", "--model", model, hidden, model == "dbm" ? "2,2" : "2", "--out", "no"},
            {"gaps.csv: 40 values are missing", "--model " + model});
  refuses({"reconstruct", "whole", "--data", "gaps.csv"}, {"40 values are missing"});
  refuses({"train", "--data", "gaps.csv", "--gradient", "pl", "--out", "no"},
          {"40 values are missing", "--gradient pl"});
}

TEST_F(OwnData, NextNamesTheValidationDataThatWereGiven) {
  write_bytes(folder / "a.csv", bits_csv(50));
  write_bytes(folder / "b.csv", bits_csv(20, 60));
  const Outcome outcome =
      succeed({"train", "--data", "a.csv", "--valid", "b.csv", "--hidden", "2", "--updates", "5", "--out", "run"});
  EXPECT_NE(outcome.out.find("evaluate run --data b.csv"), std::string::npos) << outcome.out;
}

TEST_F(OwnData, EveryCommandOfTheDocumentationRuns) {
  std::string survey = "age,job,home,car,pet,garden,train,city,group\n";
  for (int i = 0; i < 120; ++i) {
    for (int bit = 0; bit < 8; ++bit) survey += (i * 37 >> bit & 1) ? "1," : "0,";
    survey += std::to_string(i % 3 + 1) + "\n";
  }
  write_bytes(folder / "survey.csv", survey);
  write_pictures("pictures.npz");
  std::string ratings;
  for (int i = 0; i < 60; ++i)
    ratings +=
        std::to_string(i % 5 + 1) + "," + std::to_string(i / 7 % 5 + 1) + "," + std::to_string(i * i % 5 + 1) + "\n";
  write_bytes(folder / "ratings.csv", ratings);
  write_bytes(folder / "faces.npy", npy(grays(20, 9)));
  write_bytes(folder / "gaps.csv",
              "0,1,\n1,,0\n0,1,1\n1,0,0\n0,1,1\n,0,0\n0,1,1\n1,0,0\n0,1,1\n1,0,0\n1,NA,0\n0,1,1\n");
  std::string walks = "walk,x,y\n";  // twenty of 5 to 9 steps
  for (int walk = 0; walk < 20; ++walk)
    for (int step = 0; step < 5 + walk % 5; ++step)
      walks += std::to_string(walk) + "," + std::to_string(0.1 * step) + "," + std::to_string(0.3 * (walk % 3)) + "\n";
  write_bytes(folder / "walks.csv", walks);
  int commands = 0;
  for (const char* page : {"README.md", "docs/data.md"}) {
    std::istringstream lines(read_bytes(fs::path(__FILE__).parent_path().parent_path().parent_path() / page));
    bool shell = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("```")) shell = line == "```sh";
      if (!shell || !line.starts_with("harmonium ")) continue;
      Arguments arguments;
      std::istringstream words(line);
      for (std::string word; words >> word && word != "#";) arguments.push_back(word);
      arguments.erase(arguments.begin());
      SCOPED_TRACE(line);
      succeed(arguments);
      ++commands;
    }
  }
  EXPECT_GE(commands, 20);
}

}  // namespace
}  // namespace harmonium::testing
