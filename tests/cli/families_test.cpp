// Every family of the tool, as its users meet it: the help of `train --model NAME`, and the example in it.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class FamiliesOfTheTool : public Tool {
 protected:
  // "unknown model 'none_such'; there are: rbm, dbm, …".
  [[nodiscard]] std::vector<std::string> names() const {
    const std::string message = harmonium({"train", "--model", "none_such"}).err, start = "there are: ";
    std::istringstream list(message.substr(message.find(start) + start.size()));
    std::vector<std::string> found;
    for (std::string name; std::getline(list, name, ',');) {
      name.erase(0, name.find_first_not_of(" \n"));
      found.push_back(name.substr(0, name.find_last_not_of(" \n") + 1));
    }
    return found;
  }
};

TEST_F(FamiliesOfTheTool, HaveAnExampleInTheirHelpThatRuns) {
  ASSERT_GE(names().size(), 11U);
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const std::string help = succeed({"train", "--model", name, "--help"}).out;
    EXPECT_NE(help.find("--data"), std::string::npos);
    const std::size_t place = help.find("harmonium train", help.find("Examples:"));
    std::istringstream line(help.substr(place, help.find('\n', place) - place));
    Arguments words;
    for (std::string word; line >> word;) words.push_back(word);
    words.erase(words.begin());  // harmonium
    if (const auto updates = std::ranges::find(words, "--updates"); updates != words.end())
      words.erase(updates, updates + 2);
    succeed(words + Arguments{"--updates", "3", "--out", name});
    succeed({"models", "show", name});
    EXPECT_NE(read_bytes(folder / name / "report.html").find("</html>"), std::string::npos);
  }
}

TEST_F(FamiliesOfTheTool, ShowAndTakeTheirOwnOptionsOnly) {
  const std::string of_vae = succeed({"train", "--model", "vae", "--help"}).out;
  EXPECT_NE(of_vae.find("--latent"), std::string::npos);
  EXPECT_EQ(of_vae.find("--rungs"), std::string::npos);
  EXPECT_EQ(succeed({"train", "--help"}).out.find("--latent"), std::string::npos);
  refuses({"train", "--model", "mlp", "--rungs", "7"}, {"--rungs", "--model mlp", "rbm"});
  refuses({"train", "--model", "mrf", "--hidden", "50"}, {"--hidden", "--model mrf", "rbm"});
  refuses({"train", "--latent", "5"}, {"--latent", "--model rbm", "vae"});
  refuses({"train", "--rungs", "7"}, {"--rungs does not apply to --gradient pcd; it applies to pt, tempered"});
  write_bytes(folder / "recipe.toml", "model = \"mlp\"\nrungs = 7\n");
  refuses({"train", "recipe.toml"}, {"recipe.toml, line 2", "'rungs'", "mlp", "rbm"});
}

}  // namespace
}  // namespace harmonium::testing
