#include <fmt/core.h>

#include <algorithm>

#include "harmonium/cli/command.h"
#include "harmonium/cli/reading_flags.h"
#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/data/catalog/fetch.h"
#include "harmonium/kernels/random.h"
#include "harmonium/report/picture.h"

namespace harmonium::cli {

namespace {

struct DataOptions {
  SessionOptions common;
  std::string spec, picture;
  Reading reading;
};

int list(const DataOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const CatalogEntry& entry : list_datasets()) {
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    std::string text;
    for (const CatalogPart& part : entry.parts) {
      parts.push_back({{"name", part.name}, {"rows", part.rows ? nlohmann::ordered_json(*part.rows) : nullptr}});
      text +=
          fmt::format("{}{}{}", text.empty() ? "" : ", ", part.name, part.rows ? fmt::format(" {}", *part.rows) : "");
    }
    json.push_back({{"name", entry.name},
                    {"description", entry.description},
                    {"license", entry.license},
                    {"columns", entry.columns},
                    {"parts", parts},
                    {"available", entry.available},
                    {"location", entry.location}});
    if (!options.common.json)
      fmt::print("{} {:<26} {}\n{:29}{} columns; {}\n{:29}{}\n", entry.available ? "●" : "○", entry.name,
                 entry.description, "", entry.columns, text, "", entry.location);
  }
  if (options.common.json) print_json({{"datasets", json}});
  return 0;
}

nlohmann::ordered_json sequences_json(const Dataset& data) {
  if (data.lengths.empty()) return nullptr;
  return {{"count", data.lengths.size()},
          {"shortest", std::ranges::min(data.lengths)},
          {"longest", std::ranges::max(data.lengths)}};
}

int info(const DataOptions& options) {
  const Dataset data = open_dataset(options.spec, {.reading = options.reading, .missing_values = true});
  const at::Tensor means = data.column_means();
  const bool binary = data.is_binary();
  const at::Tensor values = data.first(10'000).to_float().nan_to_num(0);
  if (!options.picture.empty()) {
    const at::Tensor chosen = permutation(Key(0), data.rows()).narrow(0, 0, std::min<std::int64_t>(100, data.rows()));
    write_png(options.picture,
              tile_images(data.gather(chosen), data.image.value_or(near_square_shape(data.columns()))));
  }
  const std::string kind = data.counts                                                            ? "count"
                           : data.whole_numbers                                                   ? "whole-number"
                           : binary                                                               ? "binary"
                           : values.min().item<double>() >= 0 && values.max().item<double>() <= 1 ? "gray"
                                                                                                  : "real";
  if (options.common.json) {
    nlohmann::ordered_json json = {
        {"data", options.spec},
        {"rows", data.rows()},
        {"columns", data.columns()},
        {"sequences", sequences_json(data)},
        {"values", kind},
        {"mean", means.mean().item<double>()},
        {"constant_columns", means.eq(0).logical_or(means.eq(1)).sum().item<std::int64_t>()},
        {"image",
         data.image ? nlohmann::ordered_json(fmt::format("{}x{}", data.image->height, data.image->width)) : nullptr},
        {"classes",
         data.labels.defined() ? nlohmann::ordered_json(data.labels.max().item<std::int64_t>() + 1) : nullptr},
        {"first_label", data.first_label},
        {"divided_by", data.divided_by},
        {"missing", data.missing},
        {"parts", data.own_parts},
        {"remarks", data.remarks}};
    print_json(json);
    return 0;
  }
  fmt::print("{}\n  {} rows × {} columns, {} values, mean {:.4f}\n", options.spec, data.rows(), data.columns(), kind,
             means.mean().item<double>());
  if (!data.lengths.empty())
    fmt::print(
        "  rows are frames of {} sequences of {} to {}; vrnn models sequences, others take frames as independent\n",
        data.lengths.size(), std::ranges::min(data.lengths), std::ranges::max(data.lengths));
  if (data.image) fmt::print("  pictures of {} × {}\n", data.image->height, data.image->width);
  if (data.labels.defined())
    fmt::print("  labels {} … {}\n", data.first_label, data.labels.max().item<std::int64_t>() + data.first_label);
  for (const std::string& remark : data.remarks) fmt::print("  {}\n", as_flags(remark));
  if (data.whole_numbers)
    fmt::print(
        "  whole numbers {} … {}: train asks for --scale (gray values), or --visible softmax:K (categories), counts or "
        "gaussian\n",
        values.min().item<float>(), values.max().item<float>());
  if (data.counts) fmt::print("  {:.1f} words a row: train with --visible counts\n", mean_length(data));
  if (kind == "real") fmt::print("  real values: train with --visible gaussian\n");
  return 0;
}

int fetch(const DataOptions& options) {
  const FetchResult result =
      fetch_dataset(options.spec, [&](const std::string& step) { fmt::print(stderr, "{}\n", step); });
  if (options.common.json)
    print_json({{"name", options.spec}, {"folder", result.folder.string()}, {"already_there", result.already_there}});
  else
    fmt::print("{} {} in {}\n", options.spec, result.already_there ? "was already" : "is now", result.folder.string());
  return 0;
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "See, describe and fetch data sets");
  data->require_subcommand(1);
  data->footer("Examples:\n  harmonium data list\n  harmonium data info digits:test\n");
  auto options = std::make_shared<DataOptions>();
  add_command(*data, "list", "Data sets known by name, and where they are", "  harmonium data list\n", options->common,
              [options] { return list(*options); });
  CLI::App* info_command =
      add_command(*data, "info", "What a data set or file holds",
                  "  harmonium data info digits:test\n  harmonium data info images.npy --picture look.png\n",
                  options->common, [options] { return info(*options); });
  info_command->add_option("data", options->spec, "NAME or PATH, with :part or :array")->required();
  declare_reading(*info_command, options->reading);
  info_command->add_option("--picture", options->picture, "write a PNG of 100 rows");
  CLI::App* fetch_command =
      add_command(*data, "fetch", "Download a public data set and check it", "  harmonium data fetch mnist\n",
                  options->common, [options] { return fetch(*options); });
  fetch_command->add_option("name", options->spec, "mnist, fashion_mnist")->required();
}

}  // namespace harmonium::cli
