// harmonium: train Boltzmann machines and tell how good they are.
//
// Exit codes: 0 done; 1 the run failed (divergence, full disk); 2 the user's mistake; 130 interrupted and saved.
#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <system_error>

#include "harmonium/cli/command.h"
#include "harmonium/cli/config_flags.h"
#include "harmonium/core/error.h"
#include "harmonium/core/fast_arithmetic.h"
#include "harmonium/core/memory_failure.h"
#include "harmonium/core/tensor_pool.h"
#include "harmonium/core/utf8.h"
#include "harmonium/data/catalog/nearest_name.h"

namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// The first argument that looks like an option and is none of the command's; empty where there is none.
std::string unknown_option(const CLI::App& app) {
  for (const std::string& each : app.remaining())
    if (each.starts_with("--")) return each.substr(0, each.find('='));
  return "";
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = harmonium::nearest_name(word, names);
  return nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest);
}

// What was wrong with the command line, and which --help to read.
void explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* place = &app;
  std::string command = "harmonium";
  while (!place->get_subcommands().empty()) {
    place = place->get_subcommands().front();
    command += " " + place->get_name();
  }
  std::string problem = error.what(), known;
  for (const std::string& each : command_names(*place)) known += (known.empty() ? "" : ", ") + each;
  if (!known.empty() && !place->remaining().empty())
    problem = fmt::format("there is no command '{}'{}; there are: {}", place->remaining().front(),
                          did_you_mean(place->remaining().front(), command_names(*place)), known);
  else if (!known.empty())
    problem = fmt::format("a command is needed; there are: {}", known);
  else if (const std::string option = unknown_option(*place); !option.empty())
    problem = fmt::format("there is no option {}{}", option, did_you_mean(option, option_names(*place)));
  fmt::print(stderr, "harmonium: {}\n  `{} --help` explains\n", problem, command);
}

int run(int argc, char** argv) {
  using namespace harmonium;
  // A file over the limit of `ulimit -f` is then a failed write with a message, not a silent death.
  std::signal(SIGXFSZ, SIG_IGN);
  use_fast_arithmetic();
  use_tensor_pool();
  CLI::App app{"Trains generative models of the Boltzmann-machine family and tells how good they are.", "harmonium"};
  app.set_version_flag("--version", HARMONIUM_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Start here:\n"
      "  harmonium train --data digits --out runs/first\n"
      "  harmonium evaluate runs/first --data digits:test\n"
      "  harmonium COMMAND --help");
  cli::remember_arguments(argc, argv);
  try {
    for (int i = 1; i < argc; ++i)
      require(is_utf8(argv[i]),
              "argument {} is not UTF-8 text: {}. Names of files and folders are written into runs and reports, which "
              "are UTF-8: rename it (`mv` or `convmv -f latin1 -t utf8`)",
              i, escaped(argv[i]));
    cli::add_train(app);
    cli::add_resume(app);
    cli::add_evaluate(app);
    cli::add_classify(app);
    cli::add_cluster(app);
    cli::add_finetune(app);
    cli::add_encode(app);
    cli::add_reconstruct(app);
    cli::add_retrieve(app);
    cli::add_sample(app);
    cli::add_fisher(app);
    cli::add_gradients(app);
    cli::add_compare(app);
    cli::add_search(app);
    cli::add_trial(app);
    cli::add_reproduce(app);
    cli::add_report(app);
    cli::add_data(app);
    cli::add_models(app);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::RuntimeError& result) {
    return result.get_exit_code();
  } catch (const CLI::ParseError& error) {
    explain(app, error);
    return 2;
  } catch (const Error& error) {
    fmt::print(stderr, "harmonium: {}\n", as_flags(error.marked()));
    return 2;
  } catch (const RunFailure& failure) {
    fmt::print(stderr, "harmonium: {}\n", as_flags(failure.marked()));
    return 1;
  } catch (const std::system_error& error) {  // standard output, or a lock or thread of the system
    if (std::ferror(stdout) != 0)
      fmt::print(stderr, "harmonium: cannot write to standard output: {}\n", error.code().message());
    else
      fmt::print(stderr, "harmonium: {}\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    if (const std::optional<std::string> shortage = memory_failure(error)) {
      fmt::print(stderr, "harmonium: {}\n", as_flags(*shortage));
      return 1;
    }
    fmt::print(stderr,
               "harmonium: internal error: {}\n  This is a bug in harmonium; the command line above shows it.\n",
               error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv);
  // What is printed waits in a buffer: only now it shows whether it could be written.
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  if (code != 0) return code;  // which was explained
  fmt::print(stderr, "harmonium: cannot write to standard output: {}\n", std::strerror(errno));
  return 1;
}
