#include "harmonium/families/normalized_model.h"

#include "harmonium/core/error.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"

namespace harmonium {

std::string encode_model(const ModelInfo& info, const Moments& parameters, const nlohmann::json& structure) {
  TensorFile file;
  for (const auto& [name, value] : parameters.entries())
    file.tensors.emplace_back(name, value.to(at::kCPU, at::kFloat));
  set_header(file, {.kind = info.family, .structure = structure, .image = info.image, .notes = info.notes});
  return encode_safetensors(file);
}

std::string NormalizedModel::encode_file() const { return encode_model(info_, parameters(), structure()); }

double NormalizedModel::products(std::int64_t count) const {
  return static_cast<double>(count * parameters().dimension());
}

void NormalizedModel::require_tests(const std::vector<const TestData*>& tests) const {
  require(!tests.empty(), "this model ({}) is normalized, so log Z is 0; give @data to judge it by", title());
}

void ExactModel::check(const EstimationOptions& options) const {
  require(options.method == "auto" || options.method == "exact",
          "@method {}: the log-likelihood of this model ({}) is exact; leave @method out", options.method, title());
  require(options.orders >= 0, "@orders {}: give a number of orders, 1 or more", options.orders);
  require(options.orders == 0 || takes_orders(),
          "@orders {}: the order of this model ({}) is part of it; leave @orders out", options.orders, title());
}

std::vector<Evaluation> ExactModel::judge(const std::vector<const TestData*>& tests, const EstimationOptions& options,
                                          Watcher& watcher, Journal*) const {
  check(options);
  require_tests(tests);
  verify();
  std::vector<Evaluation> answers;
  for (const TestData* test : tests)
    answers.push_back(judge_by_rows(*test, visible(), [&](const at::Tensor& rows) {
      const at::Tensor each = log_probabilities_of(rows, options, watcher);
      const double mean = each.mean().item<double>();
      return JudgedRows{.mean = {.value = mean,
                                 .low = mean,
                                 .high = mean,
                                 .kind = EstimateKind::exact,
                                 .method = exact_method(options)},
                        .each = each};
    }));
  return answers;
}

bool ExactModel::same_way(const Evaluation& old, const EstimationOptions& options) const {
  return old.log_likelihood && old.log_likelihood->kind == EstimateKind::exact &&
         (!takes_orders() || old.log_likelihood->method == exact_method(options));
}

std::unique_ptr<Model> read_structure(const ModelHeader& header, const char* key, const std::string& where,
                                      const std::function<std::unique_ptr<Model>(const nlohmann::json& shape)>& build) {
  if (!header.structure.is_object() || !header.structure.contains(key)) return nullptr;
  try {
    return build(header.structure.at(key));
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the description of the {} is damaged ({})", where, key, error.what());
  }
}

void read_parameters(const Moments& parameters, const TensorFile& file, const std::string& where) {
  for (const auto& [name, value] : parameters.entries())
    copy_parameter(value, name, find_tensor(file.tensors, name, where), where);
}

ModelInfo info_of(const ModelHeader& header, std::int64_t width) {
  ModelHeader rest = header;
  forget_other_image(rest, width);
  return {.family = rest.kind, .image = rest.image, .notes = std::move(rest.notes)};
}

}  // namespace harmonium
