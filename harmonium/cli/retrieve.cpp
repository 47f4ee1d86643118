#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/shown_data_flags.h"
#include "harmonium/report/retrieval.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/retrieving.h"

namespace harmonium::cli {

namespace {

int retrieve(const RetrieveOptions& options) {
  const RetrievalResult result = retrieve_documents(options);
  const RunFolder folder(options.source.model);
  const auto exit_code = [&] { return record_or_say([&] { record(result, folder); }); };
  if (options.source.common.json) {
    print_json(to_json(result));
    return exit_code();
  }
  if (result.against == result.data)
    fmt::print("{} documents of {}, each against the others", result.queries, result.data);
  else
    fmt::print("{} documents of {} against {} of {}", result.queries, result.data, result.pool, result.against);
  fmt::print(
      ": share of the query's class among the nearest\n(LSA and tf-idf from {}; numbers a document in "
      "brackets)\n\n{}",
      result.fitted, retrieval_text(result));
  if (!result.unfinished.empty()) fmt::print("\nunfinished  {}: the run has not ended\n", result.unfinished);
  if (result.trained_rows.value_or(0) > 0)
    fmt::print("\nnote      {} of {} rows were trained on, or equal a row that was\n", *result.trained_rows,
               result.queries);
  const int code = exit_code();
  if (folder.is_run() && code == 0) fmt::print("\nreport    {}\n", folder.report().string());
  return code;
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
