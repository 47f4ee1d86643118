#include "harmonium/core/error.h"

#include <algorithm>
#include <string_view>

namespace harmonium {

namespace {

constexpr std::string_view lower_case = "abcdefghijklmnopqrstuvwxyz",
                           in_a_name = "abcdefghijklmnopqrstuvwxyz0123456789_";

// Only there is a mark one: names of files may hold the character as well.
bool begins_a_word(const std::string& text, std::size_t place) {
  return place == 0 || std::string_view(" \n(`'\"[").find(text[place - 1]) != std::string_view::npos;
}

}  // namespace

std::string spell_options(const std::string& text,
                          const std::function<std::string(const std::string& name)>& spelling) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t mark = text.find('@'); mark != std::string::npos; mark = text.find('@', mark + 1)) {
    if (!begins_a_word(text, mark) || mark + 1 == text.size() ||
        lower_case.find(text[mark + 1]) == std::string_view::npos)
      continue;
    const std::size_t end = std::min(text.size(), text.find_first_not_of(in_a_name, mark + 1));
    result += text.substr(done, mark - done) + spelling(text.substr(mark + 1, end - mark - 1));
    done = end;
  }
  return result + text.substr(done);
}

std::string plain_options(const std::string& text) {
  return spell_options(text, [](const std::string& name) { return name; });
}

}  // namespace harmonium
