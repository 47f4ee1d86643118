#include "harmonium/cli/config_flags.h"

#include <algorithm>
#include <filesystem>

#include "harmonium/cli/command.h"
#include "harmonium/core/error.h"
#include "harmonium/families/registry.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/sessions/session.h"

namespace harmonium::cli {

namespace {

std::vector<std::string>& command_line() {
  static std::vector<std::string> arguments;
  return arguments;
}

std::string flag(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

// A line for each; the help indents them.
std::string models_help() {
  std::string text = "what to train; `harmonium train --model NAME --help` shows the options of a model";
  for (const Family& each : families()) text += format("\n  {:<18} {}", each.name, each.help);
  return text;
}

}  // namespace

void remember_arguments(int count, char** arguments) { command_line().assign(arguments, arguments + count); }

std::string given_on_command_line(const std::string& name) {
  const std::vector<std::string>& all = command_line();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == name && i + 1 < all.size()) return all[i + 1];
    if (all[i].starts_with(name + "=")) return all[i].substr(name.size() + 1);
  }
  return "";
}

std::string family_on_command_line() {
  // Other commands have TOML files of their own.
  if (command_line().size() < 2 || command_line()[1] != "train") return RunConfig().model;
  if (const std::string name = given_on_command_line("--model"); !name.empty()) return name;
  for (const std::string& each : command_line()) {
    if (!each.ends_with(".toml") || !std::filesystem::is_regular_file(each)) continue;
    RunConfig config;
    read_toml(each, config);
    return config.model;
  }
  return RunConfig().model;
}

void ConfigFlags::declare(CLI::App& command, const std::string& name) {
  const Family& family = find_family(name);
  values_ = usual_config(name);
  RunConfig::visit(values_, [&](const char* option_name, auto& field, const char* help) {
    const bool own = family.has(option_name);
    const std::string text = std::string_view(option_name) == "model" ? models_help() : as_flags(help);
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
      if (field == "no")
        option = command.add_flag_function(
            flag(option_name), [&field](std::int64_t times) { field = times > 0 ? "yes" : "no"; }, text);
    if (option == nullptr) option = command.add_option(flag(option_name), field, text)->capture_default_str();
    if constexpr (std::is_unsigned_v<std::decay_t<decltype(field)>>) option->check(not_negative());
    if (!own) option->group("");
    (own ? options_ : foreign_).emplace_back(option_name, option);
  });
  for (const Family& other : families())
    other.own.visit([&](const OptionRef& each) {
      if (command.get_option_no_throw(flag(each.name)) != nullptr) return;
      // One that is no by default takes no value, here as with its own family.
      const auto* text = std::get_if<std::string*>(&each.field);
      CLI::Option* option = text != nullptr && **text == "no"
                                ? command.add_flag(flag(each.name))
                                : command.add_option(flag(each.name), unread_.emplace_back());
      foreign_.emplace_back(each.name, option->group(""));
    });
}

RunConfig ConfigFlags::resolve(const std::string& file) const {
  RunConfig config = usual_config(values_.model);
  if (!file.empty()) read_toml(file, config);
  return resolve(std::move(config));
}

RunConfig ConfigFlags::resolve(RunConfig config) const {
  const Family& family = find_family(config.model);
  for (const auto& [name, option] : foreign_) {
    const bool layers = name == "hidden" && family.has("layers"), hidden = name == "layers" && family.has("hidden");
    require(option->count() == 0, "{} does not apply to --model {}{}; it belongs to --model {}", flag(name),
            config.model,
            layers   ? ", which has --layers"
            : hidden ? ", which has --hidden"
                     : "",
            families_with(name));
  }
  const auto given = [&](const std::string& name) {
    return std::ranges::any_of(options_,
                               [&](const auto& each) { return each.first == name && each.second->count() > 0; });
  };
  RunConfig::visit(values_, [&](const char* name, const auto& value, const char*) {
    if (!given(name)) return;
    RunConfig::visit(config, [&](const char* other, auto& field, const char*) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::decay_t<decltype(value)>>)
        if (std::string_view(other) == name) field = value;
    });
  });
  return config;
}

}  // namespace harmonium::cli
