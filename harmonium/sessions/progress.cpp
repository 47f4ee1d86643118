#include "harmonium/sessions/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace harmonium {

namespace {

constexpr int line_parts = 20;  // plain lines per job when nobody watches

std::string duration(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bar(double fraction, int cells) {
  const int full = static_cast<int>(fraction * cells);
  std::string text;
  for (int i = 0; i < cells; ++i) text += i < full ? "━" : i == full ? "╸" : "─";
  return text;
}

std::string rate_text(double rate) {
  return rate <= 0     ? "?/s"
         : rate >= 100 ? fmt::format("{:.0f}/s", rate)
         : rate >= 1   ? fmt::format("{:.1f}/s", rate)
                       : fmt::format("{:.2f}/s", rate);
}

}  // namespace

ProgressBar::ProgressBar(std::string label, bool silent)
    : label_(std::move(label)), silent_(silent), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\n");
}

void ProgressBar::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

void ProgressBar::say(const std::string& sentence) {
  clear();
  fmt::print(stderr, "{}\n", sentence);
}

void ProgressBar::show(std::int64_t done, std::int64_t total, double rate, const std::string& detail) {
  if (silent_ || total <= 0) return;
  const Clock::time_point now = Clock::now();
  if (first_done_ < 0) {  // what was done before, and when, nobody has said
    first_done_ = done;
    first_shown_ = now;
  }
  const double elapsed = std::chrono::duration<double>(now - first_shown_).count();
  if (rate <= 0 && elapsed > 0) rate = static_cast<double>(done - first_done_) / elapsed;
  const double fraction = static_cast<double>(done) / static_cast<double>(total);
  const std::string left = done == total ? duration(0)
                           : rate > 0    ? duration(static_cast<double>(total - done) / rate)
                                         : "?";

  if (!terminal_) {
    const std::int64_t part = done * line_parts / total;
    if (part == last_line_part_ && done != total) return;
    if (last_line_part_ >= 0 || part > 0)
      fmt::print(stderr, "{} {}/{}  {}  ETA {}  {}\n", label_, done, total, rate_text(rate), left, detail);
    std::fflush(stderr);
    last_line_part_ = part;
    return;
  }
  if (done != total && now - last_draw_ < std::chrono::milliseconds(100)) return;
  last_draw_ = now;
  std::string tail =
      fmt::format(" {:3.0f} %  {}/{}  {}  ETA {}  {}", 100 * fraction, done, total, rate_text(rate), left, detail);
  const int room = std::max(8, std::min(30, terminal_width() - static_cast<int>(label_.size() + tail.size()) - 3));
  // Longer than the terminal, a line would wrap and the next redraw leave pieces behind.
  const std::size_t most =
      static_cast<std::size_t>(std::max(20, terminal_width() - static_cast<int>(label_.size()) - room - 2));
  if (tail.size() > most) {
    std::size_t end = most;
    while (end > 0 && (tail[end] & 0xC0) == 0x80) --end;  // never half a character
    tail.resize(end);
  }
  fmt::print(stderr, "\r\033[K{} {}{}", label_, bar(fraction, room), tail);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace harmonium
