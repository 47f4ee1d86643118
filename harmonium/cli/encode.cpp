#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/shown_data_flags.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/sessions/open_for_use.h"

namespace harmonium::cli {

namespace {

struct EncodeOptions {
  ShownDataOptions source;
  std::string out = "codes.npy";
};

// A line per row; with labels, the class is the last column.
std::string table_text(const at::Tensor& codes, const at::Tensor& labels) {
  std::string text;
  const at::Tensor values = codes.to(at::kDouble).contiguous();
  for (std::int64_t row = 0; row < values.size(0); ++row) {
    const double* value = values.data_ptr<double>() + row * values.size(1);
    for (std::int64_t i = 0; i < values.size(1); ++i) text += fmt::format("{}{:.7g}", i == 0 ? "" : ",", value[i]);
    if (labels.defined()) text += fmt::format(",{}", labels[row].item<std::int64_t>());
    text += "\n";
  }
  return text;
}

int encode(EncodeOptions options) {
  const bool table = options.out.ends_with(".csv");
  require(table || options.out.ends_with(".npy"), "--out {}: the name must end in .npy or .csv", options.out);
  const ShownData found = open_shown_data(options.source);
  const at::Tensor codes = codes_of(found, found.data, options.source.layer);
  if (table)
    write_file_atomically(options.out, table_text(codes, found.data.labels));
  else
    write_npy(options.out, codes);
  if (options.source.common.json)
    print_json(with_standing({{"model", options.source.model},
                              {"data", options.source.data},
                              {"rows", codes.size(0)},
                              {"numbers", codes.size(1)},
                              {"labels", table && found.data.labels.defined()},
                              {"out", options.out}},
                             *found.model));
  else
    fmt::print("{} rows of {} as {} numbers each{}  {}\n", codes.size(0), options.source.data, codes.size(1),
               table && found.data.labels.defined() ? ", the class last" : "", options.out);
  return 0;
}

}  // namespace

void add_encode(CLI::App& app) {
  auto options = std::make_shared<EncodeOptions>();
  CLI::App* command = add_command(
      app, "encode", "Codes of data: what an autoencoder's narrow layer, or a model's top layer, makes of them",
      "  harmonium encode runs/autoencoder --data digits:test --out codes.npy\n"
      "  harmonium encode runs/rbm --data digits --out codes.csv          # hidden means, the class last\n"
      "  harmonium encode runs/dbm --layer all                            # all hidden layers, by mean field\n",
      options->source.common, [options] { return encode(*options); });
  declare_shown_data(*command, options->source);
  command->add_option("--out", options->out, "x.npy (rows × numbers), or x.csv (with labels, where there are any)")
      ->capture_default_str();
}

}  // namespace harmonium::cli
