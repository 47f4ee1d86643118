// Word counts in the tool: training on documents, their codes, and finding documents by them.
#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

std::string document_row(int a, int b, int c, int d, int label) {
  std::string line;
  for (const int value : {a, b, c, d}) line += std::to_string(value) + ",";
  return line + std::to_string(label) + "\n";
}

class DocumentCodes : public Tool {
 protected:
  // A model of the generated corpus in a few seconds.
  void train(const std::string& out, const Arguments& more) const {
    succeed(Arguments{"train", "--out", out, "--data", "corpus", "--limit", "2000"} +
            with_defaults(more, {{"--updates", "400"}, {"--log-every", "200"}}));
  }
  [[nodiscard]] ordered_json retrieve(const std::string& run, const Arguments& more = {}) const {
    return json(Arguments{"retrieve", run, "--data", "corpus:test", "--limit", "400"} + more);
  }
};

TEST_F(DocumentCodes, OfAMachineFindDocumentsOfTheSameTopic) {
  train("run", {"--hidden", "30"});
  EXPECT_NE(read_bytes(folder / "run" / "config.toml").find("counts:200"), std::string::npos);
  const ordered_json found = retrieve("run");
  EXPECT_EQ(found["queries"], 400);
  EXPECT_EQ(found["pool"], 399);
  EXPECT_EQ(found["fitted"], "corpus");
  ASSERT_EQ(found["curves"].size(), 5U);
  EXPECT_EQ(found["curves"][0]["numbers"], 30);
  EXPECT_EQ(found["curves"][1]["numbers"], 30);
  EXPECT_EQ(found["curves"][4]["numbers"], 200);
  EXPECT_GT(found["curves"][0]["points"][0]["precision"], 0.5);  // by chance: an eighth
  // All documents are found in the end, whatever the code.
  for (const ordered_json& curve : found["curves"])
    EXPECT_DOUBLE_EQ(curve["points"].back()["precision"], found["curves"][0]["points"].back()["precision"]);
  const std::string page = read_bytes(folder / "run" / "report.html");
  for (const std::string part : {"Retrieval, corpus:test", "share of the query", "LSA, tf-idf (30)"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  // Asked again, the answer is the same and stands once; another pool is another question.
  EXPECT_EQ(retrieve("run"), found);
  EXPECT_EQ(retrieve("run", {"--against", "corpus:valid"})["pool"], 400);
  const std::string lines = read_bytes(folder / "run" / "retrievals.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
}

TEST_F(DocumentCodes, OfAnAutoencoderComeFromSharesOfWords) {
  train("run", {"--model", "autoencoder", "--layers", "40,5", "--rate-weights", "0.01"});
  const auto rows = metrics_without_seconds(folder / "run");
  EXPECT_LT(rows.back()["perplexity"], 110);  // 200 words; at the start all are alike
  EXPECT_NEAR(rows.front()["perplexity"], 200, 20);
  EXPECT_GT(retrieve("run")["curves"][0]["points"][0]["precision"], 0.4);
  EXPECT_EQ(json({"encode", "run", "--data", "corpus:test", "--out", "codes.npy"})["numbers"], 5);
  refuses({"reconstruct", "run"}, {"word counts", "retrieve"});
}

TEST_F(DocumentCodes, OfNetsThatBeginWithMachines) {
  train("deep", {"--model", "autoencoder", "--layers", "40,5", "--pretrain", "rbm", "--pretrain-updates", "200",
                 "--updates", "100", "--log-every", "50"});
  EXPECT_TRUE(fs::exists(folder / "deep" / "pretraining" / "layer-2" / "model.safetensors"));
  train("flat", {"--model", "autoencoder", "--layers", "5", "--pretrain", "rbm", "--pretrain-updates", "200",
                 "--updates", "50", "--log-every", "50"});
  train("rbm", {"--hidden", "20", "--updates", "200"});
  succeed({"finetune", "rbm", "--to", "autoencoder", "--updates", "50", "--log-every", "50", "--out", "tuned"});
  // Documents of the mean length are what the machine makes of them: the start is better than chance.
  EXPECT_LT(metrics_without_seconds(folder / "tuned").front()["perplexity"], 190);
  succeed({"finetune", "rbm", "--to", "classifier", "--updates", "200", "--log-every", "100", "--out", "classes"});
  EXPECT_LT(json({"classify", "classes", "--limit", "500"})["error"], 0.6);  // guessing is wrong in 7/8
}

TEST_F(DocumentCodes, ComeFromTablesOfAUsersOwn) {
  // Two kinds of documents: words 0 and 1, or words 2 and 3; the class is in the last column.
  std::string table;
  for (int row = 0; row < 60; ++row)
    table += row % 2 == 0 ? document_row(3 + row % 5, 20 - row % 7, 0, row % 3, 0)
                          : document_row(0, row % 4, 5 + row % 3, 17 - row % 6, 1);
  write_bytes(folder / "words.csv", table);
  succeed({"train", "--data", "words.csv", "--label-column", "last", "--visible", "counts", "--hidden", "3",
           "--updates", "300", "--log-every", "100", "--out", "run"});
  const ordered_json found = json({"retrieve", "run", "--data", "words.csv", "--label-column", "last"});
  EXPECT_GT(found["curves"][4]["points"][0]["precision"], 0.95);
  EXPECT_GT(found["curves"][0]["points"][0]["precision"], 0.9);
  EXPECT_EQ(json({"retrieve", "run", "--data", "words.csv"}), found) << "read as training read it";
  refuses({"retrieve", "run", "--data", "words.csv", "--label-column", "none"},
          {"columns"});  // the class taken for a word
  write_bytes(folder / "wrong.csv", "1,2,3\n4,-5,6\n");
  refuses({"train", "--data", "wrong.csv", "--visible", "counts"}, {"row 1, column 1", "number of words"});
}

TEST_F(DocumentCodes, AreRefusedWhatNeedsLengths) {
  refuses({"train", "--data", "corpus", "--gradient", "pcd"}, {"--gradient pcd", "cd"});
  refuses({"train", "--data", "corpus", "--model", "dbm", "--layers", "5,3"}, {"--model dbm", "word counts"});
  refuses({"train", "--data", "corpus", "--binarize", "stochastic"}, {"--binarize stochastic"});
  refuses({"train", "--data", "corpus", "--model", "autoencoder", "--layers", "5", "--loss", "squared"},
          {"--loss squared", "multinomial"});
  train("run", {"--hidden", "3", "--updates", "10"});
  refuses({"evaluate", "run", "--data", "corpus:test"}, {"length of a document", "retrieve"});
  refuses({"sample", "run"}, {"length of a document", "retrieve"});
}

}  // namespace
}  // namespace harmonium::testing
