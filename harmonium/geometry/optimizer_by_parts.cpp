#include "harmonium/geometry/optimizer_by_parts.h"
#include "harmonium/core/error.h"

#include <ATen/ATen.h>

namespace harmonium {

namespace {

void put_scaled(Moments& target, const std::string& prefix, const Moments& part, double factor) {
  for (const auto& [name, value] : part.entries()) target.insert(prefix + name, factor == 1 ? value : value * factor);
}

}  // namespace

OptimizerByParts::OptimizerByParts(std::vector<Part> parts) : parts_(std::move(parts)) {
  require(!parts_.empty(), "an optimizer by parts needs at least one part");
  for (const Part& part : parts_) {
    if (!part.optimizer->wants_observations()) continue;
    if (observer_ != nullptr)
      fail("of the parts of an optimizer one may observe, not {} and {}", observer_->name(), part.optimizer->name());
    observer_ = part.optimizer.get();
  }
}

std::string OptimizerByParts::name() const {
  std::string text;
  for (const Part& part : parts_) text += (text.empty() ? "" : " and ") + part.optimizer->name();
  return text;
}

Cadence OptimizerByParts::cadence() const { return observer_ == nullptr ? Cadence{} : observer_->cadence(); }

void OptimizerByParts::observe(const Observation& observation) { observer_->observe(observation); }

std::size_t OptimizerByParts::part_of(const std::string& name) const {
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (name.starts_with(parts_[i].prefix)) return i;
  fail("no part of the optimizer moves {}", name);
}

Direction OptimizerByParts::direction(const Moments& gradient, std::int64_t update) {
  std::vector<Moments> shares(parts_.size());
  for (const auto& [name, value] : gradient.entries()) {
    const std::size_t part = part_of(name);
    shares[part].insert(name.substr(parts_[part].prefix.size()), value);
  }
  Direction whole;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (shares[i].empty()) continue;
    const Part& part = parts_[i];
    const Direction found = part.optimizer->direction(shares[i], update);
    put_scaled(whole.unary, part.prefix, found.unary, part.unary_rate);
    put_scaled(whole.pairwise, part.prefix, found.pairwise, part.pairwise_rate);
    for (std::string& sentence : part.optimizer->take_notes()) note(std::move(sentence));
  }
  return whole;
}

std::map<std::string, double> OptimizerByParts::measurements() const {
  std::map<std::string, double> all;
  for (const Part& part : parts_) all.merge(part.optimizer->measurements());
  return all;
}

std::string OptimizerByParts::state_prefix(const Part& part) const {
  return part.prefix + part.optimizer->state_name() + "/";
}

NamedTensors OptimizerByParts::state() const {
  NamedTensors all;
  for (const Part& part : parts_)
    for (auto& entry : with_prefix(state_prefix(part), part.optimizer->state())) all.push_back(std::move(entry));
  return all;
}

void OptimizerByParts::restore(const NamedTensors& saved) {
  for (const Part& part : parts_) part.optimizer->restore(under_prefix(state_prefix(part), saved));
}

}  // namespace harmonium
