#include "harmonium/sessions/open_for_use.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "harmonium/core/error.h"
#include "harmonium/runs/open_run.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

std::unique_ptr<Model> open_for_use(const std::filesystem::path& path) {
  OpenedRun opened = open_run(path);
  for (const std::string& sentence : opened.remarks) fmt::print(stderr, "{}\n", as_flags(sentence));
  return std::move(opened.model);
}

nlohmann::ordered_json with_standing(nlohmann::ordered_json answer, const Model& model) {
  if (const std::string progress = model.info().note("unfinished"); !progress.empty()) answer["unfinished"] = progress;
  return answer;
}

int record_or_say(const std::function<void()>& record) {
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
  const auto say = [](const std::string& why) {
    fmt::print(stderr, "harmonium: the answer is printed, but it could not be recorded: {}\n", as_flags(why));
    return 1;
  };
  try {
    record();
    return 0;
  } catch (const Error& error) {
    return say(error.marked());
  } catch (const RunFailure& failure) {
    return say(failure.marked());
  } catch (const std::filesystem::filesystem_error& error) {
    return say(error.what());
  }
}

}  // namespace harmonium
