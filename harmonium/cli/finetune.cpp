#include "harmonium/cli/command.h"
#include "harmonium/cli/config_flags.h"
#include "harmonium/core/error.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium::cli {

namespace {

struct FinetuneOptions {
  SessionOptions common;
  std::string model, to = "classifier", out;
  bool overwrite = false;
  ConfigFlags config;
};

std::string beginning_names() {
  std::string names;
  for (const Family* each : beginnings()) names += (names.empty() ? "" : ", ") + each->begin_from->to;
  return names;
}

std::string beginning_help() {
  std::string help;
  for (const Family* each : beginnings())
    help += (help.empty() ? "" : "; ") + each->begin_from->to + ": " + as_flags(each->begin_from->help);
  return help;
}

// The family whose options are declared: that of --to, or the usual one where --to is left out or wrong.
std::string shown_family(const std::string& given, const std::string& usual) {
  std::string name;
  for (const Family* each : beginnings())
    if (each->begin_from->to == given || (name.empty() && each->begin_from->to == usual)) name = each->name;
  return name;
}

// The family that --to means for this model. Fails saying why none can begin from it, and what can.
const Family& find_beginning(const std::string& to, const Model& source, const std::string& where) {
  std::string complaint, others;
  for (const Family& each : families()) {
    if (!each.begin_from) continue;
    const std::string one = each.begin_from->complaint(source, where);
    if (each.begin_from->to == to) {
      if (one.empty()) return each;
      if (complaint.empty()) complaint = one;
    } else if (one.empty()) {
      others += (others.empty() ? "" : ", ") + each.begin_from->to;
    }
  }
  require(!complaint.empty(), "--to {}: there are {}", to, beginning_names());
  fail("--to {}: {}; {}", to, complaint,
       others.empty() ? "finetune cannot begin from this model" : "this model can become: " + others);
}

// Training begins with the data that the model was trained on, as far as it says.
RunConfig starting_config(const FinetuneOptions& options) {
  const std::unique_ptr<Model> source = open_model(options.model);
  const Family& family = find_beginning(options.to, *source, options.model);
  RunConfig config = usual_config(family.name), run;
  config.start = options.model;
  const RunFolder folder(options.model);
  if (folder.is_run()) {
    read_toml(folder.config(), run);
    config.data = run.data;
    config.valid = run.valid;
    config.limit = run.limit;
    config.label_column = run.label_column;
    config.scale = run.scale;
    config.shape = run.shape;
    config.transpose = run.transpose;
    config.first_label = run.first_label;
    config.first_category = run.first_category;
    config.sequences = run.sequences;
  } else if (const std::string data = source->info().note("data"); !data.empty()) {
    config.data = data;
  }
  family.begin_from->configure(config, *source, folder.is_run() ? &run : nullptr);
  return config;
}

}  // namespace

void add_finetune(CLI::App& app) {
  auto options = std::make_shared<FinetuneOptions>();
  options->common.devices = SessionOptions::Devices::in_config;
  CLI::App* command =
      add_command(app, "finetune", "Train all layers of a trained model together: unrolled as a net, or by up-down",
                  "  harmonium train --data digits --hidden 200 --out runs/rbm\n"
                  "  harmonium finetune runs/rbm --to classifier --out runs/classifier\n"
                  "  harmonium classify runs/classifier\n"
                  "  harmonium finetune runs/rbm --to autoencoder --updates 2000 --out runs/autoencoder\n"
                  "  harmonium reconstruct runs/autoencoder --data digits:test\n"
                  "  harmonium train --data digits --model dbn --layers 100,50 --out runs/dbn\n"
                  "  harmonium finetune runs/dbn --to generative --out runs/tuned       # up-down (wake-sleep)\n"
                  "  harmonium evaluate runs/tuned --data digits:test\n",
                  options->common, [options] {
                    return begin_run(options->config.resolve(starting_config(*options)), options->out,
                                     options->overwrite, options->common);
                  });
  command->add_option("trained", options->model, "run folder or file of a trained model")->required();
  command->add_option("--to", options->to, beginning_help())->capture_default_str();
  options->config.declare(*command, shown_family(given_on_command_line("--to"), options->to));
  command->add_option("--out", options->out, "run folder (default: runs/NAME-1, -2, …)");
  command->add_flag("--overwrite", options->overwrite, "replace the run that is in the folder");
}

}  // namespace harmonium::cli
