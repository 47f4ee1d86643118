// How many updates a run makes in the time it has: timed once, with as many runs at once as there will be.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/experiments/search_session.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr double timing_seconds = 2;
constexpr std::int64_t first_guess = 20;  // updates

// Rates and penalties change what is learnt, not how long it takes.
std::string speed_key(const Search& search, const std::vector<Setting>& settings) {
  std::string key = search.speed_name;
  for (const Setting& each : settings)
    if (!std::holds_alternative<double>(each.value))
      key += format("{}{} {}", key.empty() ? "" : ", ", each.name, value_text(each.value));
  return key.empty() ? "run" : key;
}

// Seconds that so many updates of `config` take with all children at work on it; nothing where it was interrupted.
std::optional<double> seconds_of(RunConfig config, std::int64_t updates, SideBySide& children,
                                 const fs::path& scratch) {
  config.updates = updates;
  config.snapshots = config.track = "none";
  config.log_every = updates;
  config.checkpoint_every = updates;
  config.rate_weights = config.rate_bias = 1e-6;  // nothing diverges
  fs::remove_all(scratch);
  fs::create_directories(scratch);
  write_file_atomically(scratch / "timing.toml", to_toml(config));
  for (std::size_t i = 0; i < static_cast<std::size_t>(children.jobs()); ++i)
    children.start(i, {.arguments = {"train", (scratch / "timing.toml").string(), "--out",
                                     (scratch / format("run-{}", i)).string(), "--json"},
                       .out = scratch / format("{}.json", i),
                       .log = scratch / format("{}.log", i)});
  bool stopped = false;
  double seconds = 0;
  while (!children.idle()) {
    if (interrupted()) children.stop();
    const auto ended = children.wait(std::chrono::milliseconds(200));
    if (!ended) continue;
    if (ended->code == 2) fail("timing a run: {}", ended->message);
    stopped = stopped || interrupted() || ended->code >= 128;
    if (stopped) continue;
    if (ended->code != 0) throw RunFailure(format("timing a run: {}", ended->message));
    const ordered_json said = ordered_json::parse(read_file(scratch / format("{}.json", ended->id)));
    seconds += said.at("seconds").get<double>() / children.jobs();
  }
  fs::remove_all(scratch);
  if (stopped || interrupted()) return std::nullopt;
  return std::max(seconds, 1e-9);
}

// Updates per second, beyond what the first few updates cost (an epoch's order, caches): a first look says how many are
// needed for a second, and that one for the last.
std::optional<double> time_updates(const RunConfig& config, SideBySide& children, const fs::path& scratch) {
  const auto first = seconds_of(config, first_guess, children, scratch);
  if (!first) return std::nullopt;
  double speed = static_cast<double>(first_guess) / *first;
  std::int64_t updates = 10 * first_guess;
  for (int look = 0; look < 2; ++look) {
    updates = std::max(updates, static_cast<std::int64_t>(speed * timing_seconds));
    const auto now = seconds_of(config, updates, children, scratch);
    if (!now) return std::nullopt;
    const double more = std::max(*now - *first, 0.05 * *now);  // noise must not make it infinite
    speed = static_cast<double>(updates - first_guess) / more;
    if (*now > timing_seconds / 2) break;
  }
  return speed;
}

}  // namespace

SpeedBook::SpeedBook(fs::path path) : path_(std::move(path)) {
  if (!fs::exists(path_)) return;
  const ordered_json book = ordered_json::parse(read_file(path_));
  for (const auto& [name, speed] : book.at("updates_per_second").items()) speeds_[name] = speed;
}

std::optional<double> SpeedBook::find(const std::string& name) const {
  const auto found = speeds_.find(name);
  return found == speeds_.end() ? std::nullopt : std::optional(found->second);
}

void SpeedBook::keep(const std::string& name, double updates_per_second) {
  speeds_[name] = updates_per_second;
  fs::create_directories(path_.parent_path());
  write_file_atomically(path_, ordered_json{{"updates_per_second", speeds_}}.dump(1) + "\n");
}

bool find_updates(std::vector<Search>& searches, SpeedBook& book, SideBySide& children, const fs::path& scratch) {
  for (Search& search : searches) {
    if (search.plan.options.seconds == 0) continue;
    for (SearchedRun& run : search.trials) {
      const std::string key = speed_key(search, run.settings);
      std::optional<double> speed = book.find(key);
      if (!speed) {
        fmt::print(stderr, "timing {}: ", key);
        speed = time_updates(run.config, children, scratch);
        fmt::print(stderr, "{}\n",
                   speed ? format("{:.1f} updates/s, {} at once", *speed, children.jobs()) : "interrupted");
        if (!speed) return false;
        book.keep(key, *speed);
      }
      run.config.updates = std::max<std::int64_t>(1, std::llround(*speed * search.plan.options.seconds));
    }
  }
  return true;
}

}  // namespace harmonium
