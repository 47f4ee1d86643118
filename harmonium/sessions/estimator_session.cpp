#include "harmonium/sessions/estimator_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/families/test_data.h"
#include "harmonium/kernels/random.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/shown_data.h"

namespace harmonium {

namespace {

// Characters of UTF-8 text.
std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

// Columns as wide as their widest cell; all but the first and the third (names) to the right.
void print_table(const Table& table) {
  std::vector<std::size_t> widths;
  const auto take = [&](const std::vector<std::string>& row) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], letters(row[i]));
  };
  take(table.header);
  for (const auto& row : table.rows) take(row);
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - letters(row[i]), ' ');
      text += (i > 0 ? "  " : "") + (i == 0 || i == 2 ? row[i] + space : space + row[i]);
    }
    fmt::print("{}\n", text);
  };
  fmt::print("\n{}\n", table.title);
  line(table.header);
  for (const auto& row : table.rows) line(row);
}

}  // namespace

EstimatorResult look_at_estimators(const std::string& model, const StudiedNet& net, const std::string& data,
                                   const at::Tensor& rows, const EstimatorStudyOptions& options,
                                   const SessionOptions& common) {
  double numbers = 0;
  for (const auto& [name, value] : net.parameters.entries()) numbers += static_cast<double>(value.numel());
  limit_threads(common, numbers * static_cast<double>(rows.size(0)));
  ProgressBar bar("estimators", common.json);
  const auto progress = [&](const std::string& stage, std::int64_t done, std::int64_t total) {
    if (interrupted()) throw RunFailure("interrupted; nothing was written");
    bar.show(done, total, 0, stage);
  };
  return {.model = model,
          .data = data,
          .seed = options.seed,
          .repetitions = options.repetitions,
          .study = study_estimators(net, rows, options, progress)};
}

EstimatorResult look_at_estimators(const std::string& path, const EstimatorSessionOptions& options,
                                   const SessionOptions& common) {
  require(options.rows >= 1, "@rows {}: give a number of rows, 1 or more", options.rows);
  const std::unique_ptr<Model> model = open_for_use(path);
  const std::optional<StudiedNet> net = model->studied_net();
  if (!net) cannot(*model, path, "has no latent variables whose inference has parameters of its own");
  std::string data = options.data;
  Reading reading = options.reading;
  choose_data(path, *model, data, reading);
  const TestData test = open_test_data({.spec = data}, {.reading = reading}, model->visible());
  require(test.rows.rows() > 0, "{} has no rows", data);
  const at::Tensor order = permutation(Key(options.study.seed), test.rows.rows());
  const at::Tensor chosen = order.narrow(0, 0, std::min(options.rows, test.rows.rows()));
  const std::filesystem::path given(path);
  return look_at_estimators(given.filename().empty() ? path : given.filename().string(), *net, data,
                            test.rows.gather(chosen).to(at::kDouble), options.study, common);
}

void write_estimators(const std::filesystem::path& folder, const EstimatorResult& result) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw RunFailure(format("cannot create the folder {}: {}", folder.string(), failure.message()));
  write_file_atomically(folder / "estimators.json", to_json(result).dump(1) + "\n");
  write_report(folder / "estimators.html", estimator_report(result));
}

void print_estimators(const EstimatorResult& result) {
  fmt::print("{}: {} rows of {}, {}\n", result.model, result.study.rows, result.data, how_measured(result));
  for (const bool recognition : {false, true}) print_table(estimator_table(result, recognition));
  fmt::print("\n");
}

}  // namespace harmonium
