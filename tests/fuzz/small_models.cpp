#include "tests/fuzz/small_models.h"

#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

RunData small_rows(const std::string& family) {
  constexpr std::int64_t rows = 20, columns = 8;
  const auto make = [real = find_family(family).real_values](std::uint64_t seed) {
    const at::Tensor gray = uniform(Key(seed), {rows, columns}, at::kFloat), bits = gray.gt(0.5).to(at::kByte);
    return Dataset{.name = "fuzz",
                   .values = real ? gray : bits,
                   .labels = bits.select(1, 0).to(at::kLong),
                   .image = ImageShape{2, columns / 2}};
  };
  return {.train = make(1), .valid = make(2)};
}

RunConfig small_run(const std::string& name, RunData& data) {
  RunConfig config = usual_config(name);
  const Family& family = find_family(name);
  config.data = "fuzz";
  config.valid = "others";
  if (family.has("hidden")) config.hidden = "3";
  if (family.has("layers")) config.layers = "3,2";
  const bool convolves = name != "vae";  // whose convolutions have to be asked for
  RunConfig::visit(config, [&](const char* option, auto& field, const char*) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::int64_t>)
      if (std::string_view(option) == "channels" && convolves) field = 4;
  });
  config.updates = 4;
  config.batch = 5;
  resolve(config, data);
  return config;
}

std::unique_ptr<Model> small_model(const RunConfig& config, const RunData& data) {
  const Family& family = find_family(config.model);
  const std::optional<Stages> stages = family.stages == nullptr ? std::nullopt : family.stages(config, data);
  StageModels models;
  if (stages) {
    RunData seen = stages->data;
    for (std::size_t i = 0; i < stages->count; ++i) {
      const RunConfig one = stages->config(i);
      const auto trainee = find_family(one.model).train(one, seen, *small_model(one, seen));
      while (!trainee->training().finished()) trainee->training().step();
      models.push_back(trainee->kept()->clone());
      if (i + 1 < stages->count) seen = stages->encode(*models.back(), seen);
    }
  }
  return family.make(config, data, models);
}

}  // namespace harmonium
