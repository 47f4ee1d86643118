// Small runs of the family sbn on a few rows, and what its models are judged to be.
#pragma once

#include <map>
#include <string>

#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"

namespace harmonium::support {

class Silent final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

inline TestData test_of(const Model& model, const at::Tensor& rows) {
  return make_test_data("rows", {.name = "rows", .values = rows.to(at::kByte)}, {}, model.visible());
}

inline Evaluation judged(const Model& model, const at::Tensor& rows, const EstimationOptions& options) {
  const TestData test = test_of(model, rows);
  Silent watcher;
  model.density()->check(options);
  return model.density()->judge({&test}, options, watcher, nullptr).front();
}

using Given = std::map<std::string, std::string>;

// Options of a small run by name; numbers as text.
inline RunConfig config_of(const Given& given) {
  RunConfig config = usual_config("sbn");
  config.data = "rows";
  config.valid = "others";
  config.updates = 40;
  config.batch = 10;
  config.averaging = 5;
  config.seed = 3;
  RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
    const auto found = given.find(name);
    if (found == given.end()) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
      field = found->second;
    else
      field = static_cast<std::decay_t<decltype(field)>>(std::stod(found->second));
  });
  return config;
}

inline RunData data_of(const at::Tensor& train, const at::Tensor& valid) {
  return {.train = {.name = "rows", .values = train.to(at::kByte)},
          .valid = {.name = "others", .values = valid.to(at::kByte)}};
}

inline RunData few_rows() { return data_of((uniform(Key(1), {60, 8}) < 0.3), (uniform(Key(2), {30, 8}) < 0.3)); }

inline std::unique_ptr<Trainee> trainee_of(const RunConfig& config, const RunData& data) {
  const Family& family = find_family("sbn");
  return family.train(config, data, *family.make(config, data, {}));
}

inline NamedTensors copied(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, value] : tensors) copies.emplace_back(name, value.clone());
  return copies;
}

}  // namespace harmonium::support
