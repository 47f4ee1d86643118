// Rows that are frames of sequences, from a file to a trained model and what it draws.
#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Sequences : public Tool {
 protected:
  // Tunes of 4 to 7 frames: a note that goes up by one at each, and its octave. Labels tell tunes apart, or lengths.
  void write_tunes(int tunes) const {
    std::string table = "tune,a,b,c,d\n";
    Array frames{{0, 4}, {}}, lengths{{static_cast<std::size_t>(tunes)}, {}};
    for (int tune = 0; tune < tunes; ++tune) {
      const int length = 4 + tune % 4;
      lengths.values.push_back(static_cast<float>(length));
      for (int t = 0; t < length; ++t) {
        table += std::to_string(100 - tune);
        for (int note = 0; note < 4; ++note) {
          const bool on = (tune * 7 + t) % 4 == note;
          table += on ? ",1" : ",0";
          frames.values.push_back(on ? 1.0F : 0.0F);
        }
        table += "\n";
        ++frames.shape[0];
      }
    }
    write_bytes(folder / "tunes.csv", table);
    write_bytes(folder / "tunes.npz", npz({{"x", frames}, {"lengths", lengths}}));
  }
  const Arguments small = {"--model", "vrnn", "--hidden", "8", "--latent", "2", "--updates", "30", "--batch", "5"};
};

TEST_F(Sequences, AreReadFromAColumnAndFromAnArrayOfLengths) {
  write_tunes(40);
  for (const Arguments& file : {Arguments{"tunes.csv", "--sequences", "tune"}, Arguments{"tunes.npz"}}) {
    const ordered_json info = json(Arguments{"data", "info"} + file);
    EXPECT_EQ(info["rows"], 220);
    EXPECT_EQ(info["columns"], 4);
    EXPECT_EQ(info["sequences"], (ordered_json{{"count", 40}, {"shortest", 4}, {"longest", 7}}));
    EXPECT_NE(succeed(Arguments{"data", "info"} + file).out.find("40 sequences of 4 to 7"), std::string::npos);
  }
  EXPECT_EQ(json({"data", "info", "tunes.csv", "--sequences", "10"})["sequences"]["count"], 22);
  EXPECT_TRUE(json({"data", "info", "tunes.npz", "--sequences", "none"})["sequences"].is_null());
  // Parts and limits hold whole ones.
  EXPECT_EQ(json({"data", "info", "tunes.npz:test"})["sequences"]["count"], 4);
  refuses({"data", "info", "tunes.csv", "--sequences", "7"}, {"tunes.csv", "--sequences 7", "220 rows"});
  refuses({"data", "info", "digits", "--sequences", "7"}, {"digits", "--sequences"});
}

TEST_F(Sequences, AreLearntJudgedAndDrawn) {
  write_tunes(40);
  succeed(Arguments{"train", "--data", "tunes.csv:train", "--sequences", "tune", "--limit", "20", "--out", "run"} +
          small);
  // Other files are read as in training.
  const ordered_json found = json({"evaluate", "run", "--data", "tunes.csv:test", "--importance", "20"});
  EXPECT_EQ(found["sequences"]["count"], 4);
  EXPECT_NEAR(found["sequences"]["mean"].get<double>() * 4,
              found["log_likelihood"]["value"].get<double>() * found["n"].get<double>(), 1e-6);
  EXPECT_EQ(found["log_likelihood"]["method"], "particle filter");
  const Outcome said = succeed({"evaluate", "run", "--data", "tunes.csv:test", "--method", "bound"});
  EXPECT_NE(said.out.find("4 sequences"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("one-draw bound"), std::string::npos) << said.out;
  refuses({"evaluate", "run", "--data", "tunes.csv:test", "--method", "exact"}, {"particles", "importance", "bound"});

  EXPECT_NE(succeed({"sample", "run", "-n", "3", "--frames", "6", "--out", "drawn.npy"}).out.find("3 sequences of 6"),
            std::string::npos);
  EXPECT_EQ(json({"data", "info", "drawn.npy"})["rows"], 18);
  EXPECT_EQ(json({"sample", "run", "--out", "rolls.png"})["samples"], 10);
  refuses({"sample", "run", "--frames", "-1"}, {"--frames -1"});
  refuses({"encode", "run", "--data", "tunes.csv:test", "--out", "codes.npy"}, {"run is a Variational recurrent net"});
  refuses({"train", "--data", "tunes.csv", "--model", "rbm", "--sequences", "tune", "--out", "no"},
          {"--sequences", "vrnn"});
}

// All others take frames as they come.
TEST_F(Sequences, AreIndependentRowsForOtherModels) {
  write_tunes(40);
  succeed({"train", "--data", "tunes.npz:train", "--hidden", "3", "--updates", "10", "--out", "frames"});
  EXPECT_EQ(json({"evaluate", "frames", "--data", "tunes.npz:test"})["n"],
            json({"data", "info", "tunes.npz:test"})["rows"]);
}

}  // namespace
}  // namespace harmonium::testing
