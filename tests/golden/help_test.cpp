// What --help says, word for word: a change of the command line must be seen, and meant.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

const fs::path texts = fs::path(HARMONIUM_GOLDEN_FOLDER) / "help";

// harmonium, train, data-list, …: the tool itself, or a command and what is below it.
std::vector<std::string> text_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(texts)) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

Arguments words_of(const std::string& name) {
  Arguments words;
  std::istringstream text(name == "harmonium" ? "" : name);
  for (std::string word; std::getline(text, word, '-');) words.push_back(word);
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Lines that are only in one of two texts, after - and +: what is left beside a longest common subsequence.
std::string changed_lines(const std::string& then, const std::string& now) {
  const auto a = lines_of(then), b = lines_of(now);
  std::vector common(a.size() + 1, std::vector<std::size_t>(b.size() + 1));  // of what follows line i of a and j of b
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string text;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j])
      ++i, ++j;
    else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]))
      text += "- " + a[i++] + "\n";
    else
      text += "+ " + b[j++] + "\n";
  }
  return text;
}

class Help : public Tool, public ::testing::WithParamInterface<std::string> {};

TEST_P(Help, IsWhatItWas) {
  const std::string then = read_bytes(texts / (GetParam() + ".txt"));
  const std::string now = succeed(words_of(GetParam()) + Arguments{"--help"}).out;
  EXPECT_TRUE(then == now) << changed_lines(then, now) << "Where this is meant: tests/golden/renew_help "
                           << HARMONIUM_BINARY;

  // No command without a text.
  bool listed = false;
  for (const std::string& line : lines_of(now)) {
    if (line == "Subcommands:") listed = true;
    if (line.empty()) listed = false;
    if (!listed || !line.starts_with("  ")) continue;
    const std::string command = line.substr(2, line.find(' ', 2) - 2);
    const std::string name = GetParam() == "harmonium" ? command : GetParam() + "-" + command;
    EXPECT_TRUE(fs::exists(texts / (name + ".txt"))) << name << " is new; tests/golden/renew_help writes its text";
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Help, ::testing::ValuesIn(text_names()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace harmonium::testing
