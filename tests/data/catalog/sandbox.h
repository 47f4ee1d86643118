// A folder and environment of a test's own: HOME, XDG_CACHE_HOME and HARMONIUM_DATA point inside it, PATH can be given
// programs of the test's own first. Everything is put back and removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace harmonium::test {

class Sandbox : public testing::Test {
 protected:
  Sandbox() {
    std::string pattern = (std::filesystem::temp_directory_path() / "harmonium_sandbox_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    root = pattern;
    set("HOME", (root / "home").string());
    set("XDG_CACHE_HOME", (root / "cache").string());
    set("HARMONIUM_DATA", (root / "data").string());
  }

  ~Sandbox() override {
    for (const auto& [name, value] : saved_)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }

  // An empty optional removes the variable.
  void set(const std::string& name, const std::optional<std::string>& value) {
    const char* old = std::getenv(name.c_str());
    saved_.emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }

  std::filesystem::path write(const std::filesystem::path& relative, const std::string& bytes) const {
    const auto path = root / relative;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  // A shell script that is found first under `name` from now on.
  void install_program(const std::string& name, const std::string& script) {
    const auto path = write("bin/" + name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    const std::string folder = (root / "bin").string(), search = std::getenv("PATH");
    if (!search.starts_with(folder)) set("PATH", folder + ":" + search);
  }

  std::filesystem::path root;

 private:
  std::map<std::string, std::optional<std::string>> saved_;
};

template <class Exception>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace harmonium::test
