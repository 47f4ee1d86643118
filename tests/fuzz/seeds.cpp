#include <filesystem>

#include "harmonium/core/atomic_file.h"
#include "harmonium/experiments/experiment_file.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/config_file.h"
#include "tests/files/sample_files.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/targets.h"

namespace harmonium {

namespace {

using Seeds = std::vector<std::pair<std::string, std::string>>;

// Models of all families, their configurations, and the state of a training.
void add_models(Seeds& seeds) {
  for (const Family& family : families()) {
    RunData data = small_rows(family.name);
    const RunConfig config = small_run(family.name, data);
    const std::unique_ptr<Model> model = small_model(config, data);
    seeds.emplace_back("model", model->encode_file());
    seeds.emplace_back("config", to_toml(config));
    // Several layers of latent variables, convolutions, penalties.
    if (family.name == "vae" || family.name == "ladder" || family.name == "ssrbm") {
      RunConfig deep = config;
      RunConfig::visit(deep, [](const char* name, auto& field, const char*) {
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>) {
          const std::string_view option = name;
          if (option == "latent") field = "2,1";
          if (option == "net") field = "conv";
          if (option == "scales") field = "0,1";
          if (option == "definite") field = "penalty";
          if (option == "penalties") field = "learnt";
        }
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::int64_t>)
          if (std::string_view(name) == "channels") field = 4;
      });
      resolve(deep, data);
      seeds.emplace_back("model", small_model(deep, data)->encode_file());
    }
    if (family.name != "rbm") continue;
    const auto trainee = family.train(config, data, *model);
    for (int i = 0; i < 2; ++i) trainee->training().step();
    TensorFile state;
    for (auto& [name, value] : trainee->training().state()) state.tensors.emplace_back(name, value);
    seeds.emplace_back("checkpoint", encode_safetensors(state));
  }
}

void add_records(Seeds& seeds) {
  seeds.emplace_back("journal", encode_safetensors({.tensors = {{"step", at::scalar_tensor(2, at::kLong)},
                                                                {"log_weights", at::zeros({2}, at::kDouble)},
                                                                {"layer0", at::zeros({2, 3})},
                                                                {"layer1", at::zeros({2, 2})}},
                                                    .metadata = {}}));
  for (const EmbeddedExperiment& each : embedded_experiments())
    if (each.text.size() < 2000) seeds.emplace_back("experiment", each.text);
  seeds.emplace_back("log", "{\"update\":1,\"seconds\":0.5,\"epoch\":2.0,\"gradient_norm\":null}\n");
  seeds.emplace_back("log",
                     "{\"model\":\"m\",\"updates\":5,\"data\":\"digits\",\"n\":3,\"binarization\":\"none\",\"log_z\":{"
                     "\"value\":1.5,\"low\":1,\"high\":2,\"kind\":\"exact\",\"method\":\"exact\"}}\n");
  seeds.emplace_back("log",
                     "{\"data\":\"digits\",\"n\":4,\"wrong\":1,\"confusion\":[[1,0],[1,2]],\"mistakes\":[{\"row\":1,"
                     "\"truth\":0,\"predicted\":1,\"probability\":0.5}]}\n");
  const std::string digest(64, 'a');
  seeds.emplace_back("checkpoint_index",
                     "[{\"file\":\"update-00000002.safetensors\",\"update\":2,\"seconds\":1.0,\"sha256\":\"" + digest +
                         "\"},{\"file\":\"update-00000001.safetensors\",\"update\":1,\"seconds\":1,\"sha256\":\"\"}]");
  seeds.emplace_back("search_outcome", "{\"score\":-1.5,\"seconds\":2.0,\"updates\":10,\"data\":\"digits\"}");
  seeds.emplace_back("search_outcome", "{\"reason\":\"training diverged\",\"exit_code\":1}");
  seeds.emplace_back("betas", "0 0.25 0.5\n1\n");
}

}  // namespace

void write_seeds(const std::filesystem::path& folder) {
  Seeds all = samples::all();
  // Parts of sparse matrices as fuzz_sparse takes them: csr, coo.
  all.emplace_back("sparse",
                   std::string("\0\3\3", 3) + samples::raw<std::int32_t>({2, 3, 2, 0, 1, 0, 1, 3}) + "\1\2\3");
  all.emplace_back("sparse", std::string("\2\2\2", 3) + samples::raw<std::int32_t>({2, 3, 1, 0, 2, 1}) + "\4\5");
  add_models(all);
  add_records(all);
  int number = 0;
  for (const auto& [target, bytes] : all) {
    std::filesystem::create_directories(folder / target);
    write_file_atomically(folder / target / std::to_string(number++), bytes);
  }
}

}  // namespace harmonium
