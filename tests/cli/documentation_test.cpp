// docs/trust.md names a test for everything that was once found wrong: those tests exist.
#include <regex>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

TEST(Documentation, OfWhatWasMendedNamesTestsThatExist) {
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path();
  const std::string page = read_bytes(root / "docs/trust.md");
  const std::regex named("`((?:tests|python)/[A-Za-z0-9_/.]+)`:\\s+`(?:([A-Za-z0-9]+)\\.)?([A-Za-z0-9_]+)`");
  int tests = 0;
  for (std::sregex_iterator each(page.begin(), page.end(), named), end; each != end; ++each, ++tests) {
    const std::string file = (*each)[1], suite = (*each)[2], name = (*each)[3];
    const std::string written = suite.empty() ? "def " + name + "(" : "(" + suite + ", " + name + ")";
    EXPECT_NE(read_bytes(root / file).find(written), std::string::npos) << file << " has no " << written;
  }
  EXPECT_GT(tests, 80);
  for (int number = 1; number <= 23; ++number)
    EXPECT_NE(page.find("**F" + std::to_string(number) + "**"), std::string::npos) << number;
  for (int number = 1; number <= 13; ++number)
    EXPECT_NE(page.find("**U" + std::to_string(number) + "**"), std::string::npos) << number;
}

}  // namespace
}  // namespace harmonium::testing
