#include "harmonium/families/model.h"

#include <cstdlib>
#include <string_view>

#include "harmonium/core/error.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/gradients/objectives/studied_net.h"

namespace harmonium {

std::string ModelInfo::note(const std::string& name) const {
  const auto found = notes.find(name);
  return found == notes.end() ? std::string() : found->second;
}

std::int64_t ModelInfo::updates() const { return std::atoll(note("updates").c_str()); }

std::unique_ptr<Model> Model::to(const at::Device& device) const {
  require(device.is_cpu(), "@device {}: models of family {} compute on the CPU", device.str(), info_.family);
  return clone();
}

std::unique_ptr<Model> Model::refined_by(std::int64_t) const { return nullptr; }

std::optional<StudiedNet> Model::studied_net() const { return std::nullopt; }

std::pair<double, double> Model::shown_range() const {
  return machine() != nullptr ? machine()->shown_range() : std::pair{0.0, 1.0};
}

std::string Model::remark() const {
  return "Log-likelihoods are in nats per row. Numbers under different binarizations are not comparable.";
}

void cannot(const Model& model, const std::string& path, const std::string& lacks) {
  std::string verbs;
  const auto add = [&](bool can, const char* verb) {
    if (can) verbs += (verbs.empty() ? "" : ", ") + std::string(verb);
  };
  add(model.density() != nullptr, "evaluate");
  add(model.generator() != nullptr, "sample");
  add(model.classifier() != nullptr, "classify");
  add(model.clusters() != nullptr, "cluster");
  add(model.encoder() != nullptr, "encode");
  add(model.encoder() != nullptr, "retrieve");
  add(model.studied_net().has_value(), "gradients");
  add(model.encoder() != nullptr && model.encoder()->reconstructs(), "reconstruct");
  const std::string title = model.title();
  const bool vowel = std::string_view("AEIO").find(title.front()) != std::string_view::npos || title.starts_with("RBM");
  fail("{} is {} {}, which {}; commands that take it: {}", path, vowel ? "an" : "a", title, lacks,
       verbs.empty() ? "none" : verbs);
}

}  // namespace harmonium
