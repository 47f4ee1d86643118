// kind = "retrieval": models of word counts, each by how well its codes find documents of the same class among the test
// data, beside latent semantic analysis with as many numbers. judged_runs.h has the keys of its file; `at_most` is the
// share of other classes among the nearest documents (1 − precision at 1).
#include <fmt/core.h>

#include <algorithm>

#include "harmonium/experiments/judged_runs.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/report/retrieval.h"
#include "harmonium/sessions/retrieving.h"

namespace harmonium {

namespace {

struct RetrievingRun : ExperimentRun {
  RetrievalResult result = {};

  [[nodiscard]] std::string verdict() const { return verdict_of(1 - result.curves.front().points.front().precision); }
};

// The curve that says most after a few documents and the one after many: where rows of results are given.
constexpr std::int64_t told_numbers[] = {1, 15, 127};

nlohmann::ordered_json precision_rows(const std::vector<RetrievingRun>& runs) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  std::vector<std::string> told;  // linear codes of as many numbers are the same for every run
  for (const RetrievingRun& run : runs)
    for (std::size_t c = 0; c < run.result.curves.size(); ++c) {
      const NamedCurve& curve = run.result.curves[c];
      const std::string who =
          c == 0 ? format("{} ({}, {}), {:.0f} s of training", run.name, run.config.model, run.layers(), run.seconds)
                 : curve_name(curve);
      if (c > 0 && std::ranges::find(told, who) != told.end()) continue;
      told.push_back(who);
      for (const RetrievalPoint& point : curve.points) {
        if (std::ranges::find(told_numbers, point.retrieved) == std::end(told_numbers)) continue;
        const bool expects = c == 0 && point.retrieved == 1 && run.expected != nullptr;
        rows.push_back(
            {{"what", format("{}: share of the query's class among the {} nearest documents of {}", who,
                             point.retrieved, run.result.against)},
             {"value", point.precision},
             {"low", point.low},
             {"high", point.high},
             {"kind", "mean"},
             {"expected", expects ? ordered_json("share of other classes " + run.verdict()) : ordered_json(nullptr)},
             {"source", expects ? ordered_json(run.expected->source) : ordered_json(nullptr)},
             {"run", c == 0 ? ordered_json(run.name) : ordered_json("linear")},
             {"data", run.result.data},
             {"updates", c == 0 ? ordered_json(run.config.updates) : ordered_json(nullptr)},
             {"seconds", c == 0 ? ordered_json(run.seconds) : ordered_json(nullptr)}});
      }
    }
  return rows;
}

// All runs in one chart and table; what is the same for several runs once.
RetrievalResult together(const std::vector<RetrievingRun>& runs) {
  RetrievalResult all = runs.front().result;
  all.curves.clear();
  for (const RetrievingRun& run : runs) {
    all.curves.push_back(run.result.curves.front());
    all.curves.back().name = run.name;
  }
  for (const RetrievingRun& run : runs)
    for (std::size_t c = 1; c < run.result.curves.size(); ++c) {
      const std::string name = curve_name(run.result.curves[c]);
      const auto same = [&](const NamedCurve& other) { return curve_name(other) == name; };
      if (std::ranges::none_of(all.curves, same)) all.curves.push_back(run.result.curves[c]);
    }
  return all;
}

}  // namespace

int reproduce_retrieval(const ExperimentFile& file, const ReproduceOptions& options) {
  RunConfig usual;
  usual.visible = "counts";
  const JudgedRuns experiment = parse_judged_runs(file, options.quick, usual);
  std::vector<RetrievingRun> runs = prepare_runs<RetrievingRun>(experiment, options.out);
  begin_experiment(file, options, experiment.time);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RetrievingRun& run = runs[i];
    if (!train_if_needed(run, i, runs.size(), options.common)) return stopped_experiment(options);
    RetrieveOptions question;
    question.source.model = run.folder.string();
    question.source.data = experiment.test;
    run.result = retrieve_documents(question);
    record(run.result, run.folder);
    if (interrupted()) return stopped_experiment(options);
  }
  const RetrievalResult all = together(runs);
  ReportContent page;
  for (const RetrievingRun& run : runs)
    page.headline.emplace_back(run.name, format("{:.1f} %  the nearest document is of the same class",
                                                100 * run.result.curves.front().points.front().precision));
  page.charts.push_back(retrieval_chart(all, "retrieval"));
  for (std::size_t i = 0; i < runs.size(); ++i) page.charts.back().series[i].dashed = false;  // what was learnt
  page.tables.push_back(retrieval_table(all, "precision"));
  const auto found = experiment_results(file, options, precision_rows(runs), runs.front().config.seed);
  return publish_experiment(file, options, found, page, [&] { fmt::print("{}", retrieval_text(all)); });
}

}  // namespace harmonium
