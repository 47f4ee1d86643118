#include "harmonium/experiments/results_file.h"

#include <fmt/core.h>
#include <torch/version.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/core/format.h"
#include "harmonium/kernels/cuda/glue.h"
#include "harmonium/likelihood/judgement.h"
#include "harmonium/report/estimates.h"

namespace harmonium {

std::string machine_text(const SessionOptions& common) {
  std::string processor = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      processor = line.substr(line.find(": ") + 2);
      break;
    }
  const at::Device device = find_device(common.device);
  return format("{}{} threads of {}, LibTorch {}", device.is_cpu() ? "" : cuda::device_name(device) + " and ",
                std::thread::hardware_concurrency(), processor, TORCH_VERSION);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  gmtime_r(&now, &day);
  return format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

nlohmann::ordered_json experiment_results(const ExperimentFile& file, const ReproduceOptions& options,
                                          nlohmann::ordered_json measured, std::uint64_t seed) {
  return {{"title", file.title + (options.quick ? " (quick)" : "")},
          {"question", file.question},
          {"measured", std::move(measured)},
          {"commands",
           {format("harmonium reproduce {}{}{}", options.name, options.quick ? " --quick" : "",
                   options.common.device == "cpu" ? "" : " --device " + options.common.device)}},
          {"seed", seed},
          {"machine", machine_text(options.common)},
          {"date", today()}};
}

namespace {

// Of a sandwich: the log-likelihood as low as the upper bound on log Z puts it.
nlohmann::ordered_json bounded_row(const std::string& run, const Evaluation& each) {
  const double log_marginal = each.log_likelihood->value + each.log_z->value;
  return {{"what", format("{}, {} updates: the same with log Z bounded from above, {}", run, each.updates,
                          each.upper_log_z->method)},
          {"value", log_marginal - each.upper_log_z->value},
          {"low", log_marginal - each.upper_log_z->high},
          {"high", log_marginal - each.upper_log_z->low},
          {"kind", to_string(EstimateKind::lower_bound)},
          {"expected", nullptr},
          {"source", nullptr},
          {"run", run},
          {"data", each.data},
          {"updates", each.updates},
          {"seconds", each.seconds}};
}

}  // namespace

nlohmann::ordered_json measured_rows(const std::vector<ComparedRun>& runs, const std::vector<Expectation>& expected) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  const std::vector<Verdict> all = verdicts(runs, expected);
  for (const ComparedRun& run : runs)
    for (const Evaluation& each : run.evaluations) {
      const Estimate& value = *each.log_likelihood;
      Estimate method = each.way();
      method.effective_samples.reset();
      const auto verdict =
          std::ranges::find_if(all, [&](const Verdict& v) { return is_about(v.expected, run.name, each); });
      const bool known = verdict != all.end();
      ordered_json row = {{"what", format("{}, {} updates: log-likelihood of {} ({} rows, {}), {}", run.name,
                                          each.updates, each.data, each.n, each.binarization, describe(method).method)},
                          {"value", value.value},
                          {"low", value.low},
                          {"high", value.high},
                          {"kind", to_string(value.kind)},
                          {"expected", known ? ordered_json(verdict->expected.value) : ordered_json(nullptr)},
                          {"source", known ? ordered_json(verdict->expected.source) : ordered_json(nullptr)},
                          {"run", run.name},
                          {"data", each.data},
                          {"updates", each.updates},
                          {"seconds", each.seconds}};
      if (const Judgement found = judgement(each); !found.trusted) {
        row["trusted"] = false;
        row["remark"] = in_words(found);
      }
      if (known) {
        row["tolerance"] = verdict->expected.tolerance;
        row["difference"] = verdict->difference();
        row["within"] = verdict->met();
      }
      rows.push_back(std::move(row));
      if (each.gap) rows.push_back(bounded_row(run.name, each));
    }
  return rows;
}

int publish_experiment(const ExperimentFile& file, const ReproduceOptions& options, const nlohmann::ordered_json& found,
                       ReportContent page, const std::function<void()>& tell) {
  const std::filesystem::path results = options.out / (file.name + ".results.json"), shown = options.out / "index.html";
  std::filesystem::create_directories(options.out);
  write_file_atomically(results, found.dump(1) + "\n");
  page.title = found["title"];
  page.subtitle = file.question;
  page.configuration = file.text;
  page.reproduce = {found["commands"][0]};
  page.footer += (page.footer.empty() ? "" : "\n") + machine_text(options.common) + "; " + today() + ".";
  write_report(shown, page);
  if (options.common.json) {
    print_json({{"results", results.string()}, {"page", shown.string()}, {"experiment", found}});
    return 0;
  }
  tell();
  fmt::print("results  {}\npage     {}\n", results.string(), shown.string());
  return 0;
}

}  // namespace harmonium
