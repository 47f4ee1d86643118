// kind = "search"; search_experiment.h lists its keys. Each search is a folder VARIANT-32s as `harmonium search` makes
// it; timing.json holds how fast each variant is.
#include <fmt/core.h>

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/experiments/search_comparison.h"
#include "harmonium/experiments/search_experiment.h"
#include "harmonium/experiments/search_folder.h"
#include "harmonium/experiments/search_page.h"
#include "harmonium/report/html.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string time_text(double seconds) { return seconds > 0 ? format("{} s", seconds) : ""; }

// "PCD, 32 s"
std::string title_of(const std::string& variant, double seconds) {
  return variant + (seconds > 0 ? ", " + time_text(seconds) : "");
}

// Runs that test different variants share no seed, so that their means are independent.
std::uint64_t seeds_of(const std::string& title) {
  constexpr std::uint64_t places = 1'000'000, apart = 10'000;
  Key key;
  for (const char c : title) key = key.fold_in(static_cast<unsigned char>(c));
  return key.bits() % places * apart;
}

// Variant by variant, in order of time.
std::vector<Search> searches_of(const SearchExperiment& experiment, const ExperimentFile& file, const fs::path& out) {
  std::vector<Search> searches;
  for (SearchVariant variant : experiment.variants) {
    const std::string valid = resolve_plan(variant.plan, format("{}, variant '{}'", file.source, variant.name));
    std::string folder = variant.name;
    std::ranges::replace(folder, ' ', '_');
    for (const double seconds : experiment.seconds) {
      Search search{.title = title_of(variant.name, seconds),
                    .plan = variant.plan,
                    .folder = out / (folder + (seconds > 0 ? format("-{}s", seconds) : "")),
                    .speed_name = variant.name,
                    .valid = valid};
      search.plan.options.seconds = seconds;
      search.plan.first_test_seed = seeds_of(search.title);
      searches.push_back(std::move(search));
    }
  }
  return searches;
}

// Everything about an experiment that has ended.
class FinishedSearches {
 public:
  FinishedSearches(const SearchExperiment& experiment, const std::vector<Search>& searches)
      : experiment_(experiment), searches_(searches), scale_(score_scale(experiment.options.score)) {}

  [[nodiscard]] SearchComparison comparison() const {
    SearchComparison result{
        .scale = scale_, .valid = searches_.front().valid, .test = searches_.front().plan.options.test};
    for (const SearchVariant& variant : experiment_.variants)
      for (const double seconds : experiment_.seconds) result.searches.push_back(compared(variant.name, seconds));
    for (const SearchExpectation& each : experiment_.orders) result.orders.push_back(order(each));
    return result;
  }

  [[nodiscard]] ordered_json rows() const {
    ordered_json result = ordered_json::array();
    for (const SearchVariant& variant : experiment_.variants)
      for (const double seconds : experiment_.seconds) result.push_back(mean_row(variant.name, seconds));
    for (const SearchExpectation& each : experiment_.orders) result.push_back(order_row(each));
    for (const SearchExpectation& each : experiment_.settings)
      if (ordered_json row = setting_row(each); !row.is_null()) result.push_back(std::move(row));
    return result;
  }

  // What was expected of means and settings, for people.
  [[nodiscard]] std::vector<std::string> sentences() const {
    std::vector<std::string> result;
    for (const SearchExpectation& each : experiment_.means) {
      const Search* search = find(each.variant, seconds_of(each));
      const auto summary = search == nullptr ? std::nullopt : search->summary();
      result.push_back(format("{}: {}, expected {} ± {}{}: {}", title_of(each.variant, seconds_of(each)),
                              summary ? scale_.with_unit(summary->mean) : "–", scale_.text(each.value),
                              scale_.text(each.tolerance), from(each),
                              !summary                                                 ? "not measured"
                              : std::abs(summary->mean - each.value) <= each.tolerance ? "within tolerance"
                                                                                       : "MISSED"));
    }
    for (const SearchExpectation& each : experiment_.settings)
      if (const ordered_json row = setting_row(each); !row.is_null())
        result.push_back(format("{}: chosen {} {:.3g}, expected {:.3g}{}", title_of(each.variant, seconds_of(each)),
                                each.option, row.at("value").get<double>(), each.value, from(each)));
    return result;
  }

 private:
  [[nodiscard]] static std::string from(const SearchExpectation& each) {
    return each.source.empty() ? "" : " (" + each.source + ")";
  }
  [[nodiscard]] double seconds_of(const SearchExpectation& each) const {
    return each.seconds > 0 ? each.seconds : experiment_.seconds.back();
  }
  [[nodiscard]] const Search* find(const std::string& variant, double seconds) const {
    const auto found = std::ranges::find(searches_, title_of(variant, seconds), &Search::title);
    return found == searches_.end() ? nullptr : &*found;
  }

  [[nodiscard]] ComparedSearch compared(const std::string& variant, double seconds) const {
    const Search& search = *find(variant, seconds);
    ComparedSearch result{
        .variant = variant, .when = time_text(seconds), .seconds = seconds, .tested = search.summary()};
    result.trials = static_cast<std::int64_t>(search.trials.size());
    result.failed = std::ranges::count_if(search.trials, [](const SearchedRun& run) { return !run.failure.empty(); });
    if (!search.chosen) return result;
    const SearchedRun& best = search.trials[*search.chosen];
    result.chosen = without_ties(search.plan.space, best.settings);
    result.updates = best.config.updates;
    if (seconds == 0) result.seconds = best.seconds;
    return result;
  }

  [[nodiscard]] SearchOrder order(const SearchExpectation& expected) const {
    const double seconds = seconds_of(expected);
    SearchOrder result{
        .better = expected.variant, .than = expected.than, .when = time_text(seconds), .source = expected.source};
    const Search *better = find(expected.variant, seconds), *than = find(expected.than, seconds);
    if (better == nullptr || than == nullptr) return result;
    const auto a = better->summary(), b = than->summary();
    if (a && b) result.difference = difference_of(*a, *b);
    return result;
  }

  [[nodiscard]] ordered_json mean_row(const std::string& variant, double seconds) const {
    const Search& search = *find(variant, seconds);
    const ComparedSearch found = compared(variant, seconds);
    ordered_json row = {
        {"what", format("{}, {} updates: {} of {}; chosen of {}: {}", search.title, found.updates, scale_.name,
                        search.plan.options.test, found.trials, settings_text(found.chosen))},
        {"value", nullptr},
        {"low", nullptr},
        {"high", nullptr},
        {"kind", "every run failed"},
        {"expected", nullptr},
        {"source", nullptr},
        {"variant", variant},
        {"seconds", seconds},
        {"updates", found.updates},
        {"settings", search.chosen ? to_json(search.trials[*search.chosen].settings) : ordered_json(nullptr)},
        {"trials", found.trials},
        {"failed", found.failed}};
    if (!found.tested) return row;
    row["value"] = found.tested->mean;
    row["low"] = found.tested->low;
    row["high"] = found.tested->high;
    row["kind"] = format("mean of {} runs", found.tested->n);
    row["interval"] = "Student, of the mean";
    row["standard_deviation"] =
        found.tested->deviation ? ordered_json(*found.tested->deviation) : ordered_json(nullptr);
    for (const SearchedRun& run : search.tests)
      if (run.score) {
        row["rows"] = run.judged.at("rows");
        row["binarization"] = run.judged.at("binarization");
        row["method"] = run.judged.at("method");
      }
    for (const SearchExpectation& each : experiment_.means)
      if (each.variant == variant && seconds_of(each) == seconds) {
        row["expected"] = each.value;
        row["source"] = each.source;
        row["tolerance"] = each.tolerance;
        row["difference"] = found.tested->mean - each.value;
        row["within"] = std::abs(found.tested->mean - each.value) <= each.tolerance;
      }
    return row;
  }

  [[nodiscard]] ordered_json order_row(const SearchExpectation& expected) const {
    const SearchOrder found = order(expected);
    const std::string direction = scale_.lower_is_better ? "below" : "above";
    ordered_json row = {{"what", format("{} − {}{}: difference of the means", found.better, found.than,
                                        found.when.empty() ? "" : ", " + found.when)},
                        {"value", nullptr},
                        {"low", nullptr},
                        {"high", nullptr},
                        {"kind", "difference of means"},
                        {"expected", format("{} 0: {}", direction, found.outcome(scale_))},
                        {"source", found.source},
                        {"sentence", found.sentence(scale_)}};
    if (!found.difference) return row;
    row["value"] = row["low"] = row["high"] = found.difference->value;
    if (!found.difference->standard_error) return row;
    row["low"] = found.difference->value - 1.96 * *found.difference->standard_error;
    row["high"] = found.difference->value + 1.96 * *found.difference->standard_error;
    row["standard_error"] = *found.difference->standard_error;
    return row;
  }

  // Null where nothing was chosen, or the option is not searched.
  [[nodiscard]] ordered_json setting_row(const SearchExpectation& expected) const {
    const double seconds = seconds_of(expected);
    const Search* search = find(expected.variant, seconds);
    if (search == nullptr || !search->chosen) return nullptr;
    const SearchedRun& best = search->trials[*search->chosen];
    const auto setting = std::ranges::find(best.settings, expected.option, &Setting::name);
    if (setting == best.settings.end() || std::holds_alternative<std::string>(setting->value)) return nullptr;
    const ordered_json value = to_json({*setting}).front();
    return {{"what", format("{}: chosen {}", search->title, expected.option)},
            {"value", value},
            {"low", nullptr},
            {"high", nullptr},
            {"kind", format("best of {}", search->trials.size())},
            {"expected", expected.value},
            {"source", expected.source}};
  }

  const SearchExperiment& experiment_;
  const std::vector<Search>& searches_;
  ScoreScale scale_;
};

void print_search_plan(const ExperimentFile& file, const SearchExperiment& experiment, const Search& any, int jobs,
                       const ReproduceOptions& options) {
  std::string names, times;
  for (const SearchVariant& each : experiment.variants) names += (names.empty() ? "" : ", ") + each.name;
  for (const double each : experiment.seconds)
    times += (times.empty() ? "" : ", ") + (each > 0 ? time_text(each) : format("{} updates", any.plan.config.updates));
  fmt::print(stderr, "{}{}\n{}\n", file.title, options.quick ? " (quick)" : "", file.question);
  fmt::print(
      stderr,
      "  {}; training for {}\n  for each {} trials, judged by the {} of {}, and {} tests, judged by {}; {} at once\n",
      names, times, experiment.options.runs, score_scale(experiment.options.score).name, any.valid,
      experiment.options.tests, any.plan.options.test, jobs);
  if (experiment.minutes > 0)
    fmt::print(stderr, "  about {:.0f} min on two cores; can be interrupted and continued at any time\n",
               experiment.minutes);
}

}  // namespace

int reproduce_search(const ExperimentFile& file, const ReproduceOptions& options) {
  const SearchExperiment experiment = parse_search_experiment(file, options.quick);
  std::vector<Search> searches = searches_of(experiment, file, options.out);
  const ChildrenAtOnce at_once = children_at_once(options.common, 0);
  if (!options.common.json) print_search_plan(file, experiment, searches.front(), at_once.jobs, options);
  watch_interrupts();
  for (const Search& search : searches) claim_search_folder(search.folder, to_toml(search.plan));
  const FolderLock lock(options.out);
  for (Search& search : searches) open_search(search);
  // The longest first: what is left for the end then fills the cores evenly.
  std::ranges::stable_sort(searches, std::greater<>(), [](const Search& each) { return each.plan.options.seconds; });
  SideBySide children(at_once.jobs, at_once.threads);
  SpeedBook book(options.out / "timing.json");
  if (!find_updates(searches, book, children, options.out / "timing") || !run_searches(searches, children))
    return stopped_experiment(options);

  for (const Search& search : searches) {
    write_file_atomically(search.folder / "search.json", to_json(search).dump(1) + "\n");
    ReportContent one = search_report(study_of(search));
    one.title = file.title + ": " + search.title;
    write_report(search.folder / "index.html", one);
  }
  const FinishedSearches finished(experiment, searches);
  const SearchComparison comparison = finished.comparison();
  ReportContent page = search_comparison_report(comparison);
  if (const std::vector<std::string> all = finished.sentences(); !all.empty()) {
    Table table{.id = "expected", .title = "Expected values", .caption = "", .header = {"what"}, .rows = {}};
    for (const std::string& each : all) table.rows.push_back({each});
    page.tables.push_back(std::move(table));
  }
  const auto found = experiment_results(file, options, finished.rows(), experiment.variants.front().plan.config.seed);
  return publish_experiment(file, options, found, std::move(page), [&] {
    fmt::print("{}", comparison_text(comparison));
    for (const SearchOrder& each : comparison.orders) fmt::print("{}\n", each.sentence(comparison.scale));
    for (const std::string& each : finished.sentences()) fmt::print("{}\n", each);
  });
}

}  // namespace harmonium
