// Opens rendered reports in a real browser (Chromium, headless, from disk) and looks at what came of them: the DOM
// after all scripts have run, and the console. A machine without Chromium fails these tests, because nothing else would
// notice a report that stays blank.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/format.h"
#include "harmonium/report/report.h"
#include "tests/report/sample_content.h"
#include "tests/report/temporary_folder.h"

namespace harmonium {
namespace {

std::string find_chromium() {
  const char* const path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (const auto file = std::filesystem::path(folder) / name; ::access(file.c_str(), X_OK) == 0)
        return file.string();
  }
  return "";
}

struct Seen {
  int status = -1;
  std::string dom, console;

  [[nodiscard]] bool dom_has(std::string_view part) const { return dom.find(part) != std::string::npos; }
};

// Only lines that a page caused: a headless browser also talks about missing buses and devices.
std::string console_lines(const std::string& log) {
  std::string lines;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);)
    if (line.find("CONSOLE") != std::string::npos) lines += line + "\n";
  return lines;
}

class Browser : public ::testing::Test {
 protected:
  void SetUp() override {
    chromium_ = find_chromium();
    ASSERT_FALSE(chromium_.empty()) << "no chromium, chromium-browser or google-chrome on PATH: install the package "
                                       "'chromium' (make install-deps does)";
  }

  // Every path comes from mkdtemp and PATH, and is quoted. `timeout` only keeps a browser that hangs from hanging the
  // test for ever.
  Seen open(const std::string& page, const std::string& flags = "") {
    write_file_atomically(folder_ / "report.html", page);
    std::filesystem::create_directory(folder_ / "home");
    const auto file = [&](const char* name) { return (folder_ / name).string(); };
    const std::string command = format(
        "HOME='{0}' timeout 300 '{1}' --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
        "--disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage "
        "--user-data-dir='{0}/profile' --window-size=1200,900 --virtual-time-budget=5000 --enable-logging=stderr --v=0 "
        "{2} --dump-dom 'file://{3}' >'{4}' 2>'{5}'",
        file("home"), chromium_, flags, file("report.html"), file("dom"), file("log"));
    Seen seen;
    seen.status = std::system(command.c_str());
    seen.dom = read_file(folder_ / "dom");
    seen.console = console_lines(read_file(folder_ / "log"));
    EXPECT_TRUE(WIFEXITED(seen.status) && WEXITSTATUS(seen.status) == 0) << read_file(folder_ / "log");
    return seen;
  }

 private:
  testing::TemporaryFolder folder_;
  std::string chromium_;
};

TEST_F(Browser, EveryChartIsDrawnAndTheConsoleStaysEmpty) {
  const Seen seen = open(render_report(testing::sample_content()));
  EXPECT_TRUE(seen.dom_has("data-charts-drawn=\"3\"")) << seen.dom.substr(0, 300);
  EXPECT_TRUE(seen.dom_has("data-errors=\"0\""));
  EXPECT_EQ(seen.console, "");
}

TEST_F(Browser, ChartsAreDrawnInDarkColoursToo) {
  const Seen seen = open(render_report(testing::sample_content()), "--blink-settings=preferredColorScheme=0");
  EXPECT_TRUE(seen.dom_has("data-charts-drawn=\"3\"")) << seen.dom.substr(0, 300);
  EXPECT_EQ(seen.console, "");
}

TEST_F(Browser, HostileNamesAndBrokenCurvesDoNoHarm) {
  const std::string evil = "</script><img src=x onerror=\"document.title='owned'\">\xff";
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  ReportContent content = testing::sample_content();
  content.title = evil;
  content.charts.clear();
  content.charts.push_back(
      {evil, evil, evil, evil, false, false, {{evil, {1, 2, 3}, {nan, 1, infinity}, {}, {}, false}}, evil});
  content.charts.push_back({"one", "One point", "x", "y", true, true, {{"s", {5}, {7}, {6}, {8}, true}}, ""});
  content.charts.push_back({"flat",
                            "Constant",
                            "x",
                            "y",
                            false,
                            false,
                            {{"s", {1, 2}, {3, 3}, {}, {}, false}, {"none", {}, {}, {}, {}, false}},
                            ""});
  content.charts.push_back({"empty", "Empty", "x", "y", false, false, {}, ""});
  const Seen seen = open(render_report(content));
  EXPECT_TRUE(seen.dom_has("data-charts-drawn=\"3\"")) << seen.dom.substr(0, 300);
  EXPECT_TRUE(seen.dom_has("data-errors=\"0\""));
  EXPECT_FALSE(seen.dom_has("<title>owned"));
  EXPECT_EQ(seen.console, "");
}

// The control for the tests above: what they look at does change when a page is broken.
TEST_F(Browser, AFaultyScriptIsSeenInTheDomAndOnTheConsole) {
  std::string page = render_report(testing::sample_content());
  page.insert(page.rfind("</body>"), "<script>nothing.at.all();</script>");
  const Seen seen = open(page);
  EXPECT_TRUE(seen.dom_has("data-errors=\"1\"")) << seen.dom.substr(0, 300);
  EXPECT_NE(seen.console.find("nothing is not defined"), std::string::npos) << seen.console;
}

TEST_F(Browser, ThePageRefusesAnOutsideRequest) {
  std::string page = render_report({});
  page.insert(page.rfind("</body>"), "<img src=\"http://127.0.0.1:9/x.png\">");
  const Seen seen = open(page);
  EXPECT_NE(seen.console.find("Content Security Policy"), std::string::npos) << seen.console;
}

// A chart whose data were taken away still has its axes; they alone must not count.
TEST_F(Browser, AChartWithoutItsCurveIsNotCountedAsDrawn) {
  std::string page = render_report(testing::sample_content());
  const std::string_view line = "root.dataset.chartsDrawn";
  const std::size_t at = page.rfind(line);
  ASSERT_NE(at, std::string::npos);
  page.insert(at, "charts[1].data.datasets.forEach((d) => { d.data = []; }); charts[1].update('none');\n");
  const Seen seen = open(page);
  EXPECT_TRUE(seen.dom_has("data-charts-drawn=\"2\"")) << seen.dom.substr(0, 300);
}

}  // namespace
}  // namespace harmonium
