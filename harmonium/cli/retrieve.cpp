#include <fmt/core.h>

#include <filesystem>

#include "harmonium/cli/command.h"
#include "harmonium/cli/shown_data_flags.h"
#include "harmonium/report/retrieval.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/retrieving.h"

namespace harmonium::cli {

namespace {

int retrieve(const RetrieveOptions& options) {
  const RetrievalResult result = retrieve_documents(options);
  if (options.source.common.json) {
    print_json(to_json(result));
    return 0;
  }
  if (result.against == result.data)
    fmt::print("{} documents of {}, each against the others", result.queries, result.data);
  else
    fmt::print("{} documents of {} against {} of {}", result.queries, result.data, result.pool, result.against);
  fmt::print(
      ": share of the query's class among the nearest\n(LSA and tf-idf from {}; numbers a document in "
      "brackets)\n\n{}",
      result.fitted, retrieval_text(result));
  if (is_run_folder(options.source.model))
    fmt::print("\nreport    {}\n", (std::filesystem::path(options.source.model) / "report.html").string());
  return 0;
}

}  // namespace

void add_retrieve(CLI::App& app) {
  auto options = std::make_shared<RetrieveOptions>();
  CLI::App* command =
      add_command(app, "retrieve",
                  "Find documents of the same class by the angle between codes, beside LSA and the words themselves",
                  "  harmonium train --data corpus --hidden 50 --out runs/topics\n"
                  "  harmonium retrieve runs/topics --data corpus:test\n"
                  "  harmonium train --data 20news --model autoencoder --layers 500,250,10 --out runs/news\n"
                  "  harmonium retrieve runs/news --data 20news:test --against 20news\n",
                  options->source.common, [options] { return retrieve(*options); });
  declare_shown_data(*command, options->source);
  command->add_option("--against", options->against,
                      "labelled documents to rank: NAME or PATH[:part]; without it: the other documents of --data");
}

}  // namespace harmonium::cli
