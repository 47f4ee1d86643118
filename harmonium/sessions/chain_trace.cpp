#include "harmonium/sessions/chain_trace.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/report/html.h"
#include "harmonium/samplers/diagnostics.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_directions = 5;
// With fewer, what they leave out of the data says little.
constexpr std::int64_t fewest_chains = 10;

// Of all weights that the first layer has.
at::Tensor leading_directions(const BoltzmannMachine& machine) {
  std::vector<at::Tensor> weights;
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower == 0) weights.push_back(machine.parameters()[edge.weights]);
    if (edge.upper == 0) weights.push_back(machine.parameters()[edge.weights].t());
  }
  if (weights.empty()) return at::zeros({machine.unit(0).width(), 0}, machine.options());
  const at::Tensor all = at::cat(weights, 1);
  // Eigenvectors of W Wᵀ or Wᵀ W, whichever is smaller.
  const bool tall = all.size(0) > all.size(1);
  const at::Tensor wide = (tall ? all.t() : all).to(at::kDouble);
  const auto [values, vectors] = at::linalg_eigh(at::mm(wide, wide.t()));
  const std::int64_t count = std::min(most_directions, wide.size(0));
  const at::Tensor leading = vectors.narrow(1, wide.size(0) - count, count).flip(1);
  return (tall ? at::mm(all.to(at::kDouble), leading) : leading).to(machine.scalar_type());
}

at::Tensor log_f(const BoltzmannMachine& machine, const State& state) {
  return machine.blocks().size() == 2 ? machine.log_sum_out(state, machine.blocks()[1]) : machine.log_potential(state);
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

nlohmann::ordered_json to_json(const Chains::Notes& notes) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, number] : notes.numbers)
    std::visit([&, key = name](const auto& value) { json[key] = value; }, number);
  return json;
}

ChainTrace::ChainTrace(const BoltzmannMachine& machine, const ClassAssigner* classes)
    : machine_(machine), classes_(classes), directions_(leading_directions(machine)) {}

void ChainTrace::observe(const State& state, double seconds) {
  seconds_ += seconds;
  log_f_.push_back(log_f(machine_, state));
  activity_.push_back(state.layers[0].mean(1));
  projections_.push_back(at::mm(state.layers[0], directions_));
  last_ = state.layers[0];
  if (classes_ == nullptr) return;
  const NearestLabelled::Assignment found = classes_->assign(state);
  modes_.push_back(found.label);
  if (found.distance.defined()) distance_ += found.distance.mean().item<double>();
}

Diagnosis ChainTrace::diagnose(Chains::Notes notes) const {
  const at::Tensor projections = at::stack(projections_, 1);  // chains × steps × directions
  Diagnosis result{.chains = projections.size(0), .steps = projections.size(1), .seconds = seconds_};
  result.notes = std::move(notes);
  result.time_of_log_f = autocorrelation_time(at::stack(log_f_, 1));
  result.slowest_time = result.time_of_log_f;
  result.slowest = "log f";
  const auto consider = [&](const at::Tensor& series, const std::string& name) {
    const double time = autocorrelation_time(series);
    if (time <= result.slowest_time) return;
    result.slowest_time = time;
    result.slowest = name;
  };
  consider(at::stack(activity_, 1), "mean activity");
  for (std::int64_t i = 0; i < projections.size(2); ++i)
    consider(projections.select(2, i), format("direction {} of the weights", i + 1));
  result.effective_samples = static_cast<double>(result.chains * result.steps) / result.slowest_time;
  if (classes_ == nullptr) return result;
  result.jumps = count_jumps(at::stack(modes_, 1), classes_->classes());
  result.how_assigned = classes_->how();
  for (double* const each : {&result.assignment_accuracy, &result.nearest, &result.nearest_of_data, &result.left_out,
                             &result.left_out_by_data})
    *each = std::nan("");
  if (const auto& nearest = classes_->nearest()) {
    const auto among_themselves = nearest->leave_one_out();
    result.assignment_accuracy = among_themselves.accuracy;
    result.nearest_of_data = among_themselves.mean_distance;
    result.nearest = distance_ / static_cast<double>(result.steps);
    if (result.chains >= fewest_chains && result.chains < nearest->rows()) {
      result.left_out = nearest->distance_to_nearest_of(last_);
      result.left_out_by_data = nearest->distance_to_first(result.chains);
    }
  }
  return result;
}

nlohmann::ordered_json Diagnosis::to_json() const {
  nlohmann::ordered_json json = {{"chains", chains},
                                 {"steps", steps},
                                 {"seconds", seconds},
                                 {"autocorrelation_time_of_log_f", time_of_log_f},
                                 {"slowest_autocorrelation_time", slowest_time},
                                 {"slowest", slowest},
                                 {"effective_samples", effective_samples},
                                 {"effective_samples_per_second", effective_samples / seconds}};
  if (jumps) {
    std::vector<std::int64_t> histogram;
    for (std::int64_t i = 0; i < jumps->histogram.size(0); ++i)
      histogram.push_back(jumps->histogram[i].item<std::int64_t>());
    json["classes"] = {{"assigned_by", how_assigned},
                       {"assignment_accuracy", number_or_null(assignment_accuracy)},
                       {"jumps", jumps->jumps},
                       {"jumps_per_100_steps", jumps->per_hundred()},
                       {"jumps_per_100_if_independent", jumps->per_hundred_if_independent()},
                       {"classes", jumps->histogram.size(0)},
                       {"visited", jumps->visited()},
                       {"fraction_visited_per_chain", jumps->visited_per_chain},
                       {"histogram", histogram},
                       {"mean_distance_to_nearest_row", number_or_null(nearest)},
                       {"mean_distance_of_rows_to_each_other", number_or_null(nearest_of_data)},
                       {"mean_distance_of_rows_to_nearest_chain", number_or_null(left_out)},
                       {"mean_distance_of_rows_to_as_many_rows", number_or_null(left_out_by_data)}};
  }
  json["sampler"] = harmonium::to_json(notes);
  return json;
}

std::vector<std::string> Diagnosis::sentences() const {
  std::vector<std::string> all = {
      format("{} chains × {} steps in {:.2f} s: autocorrelation time {:.1f} steps of log f, {:.1f} of the slowest ({})",
             chains, steps, seconds, time_of_log_f, slowest_time, slowest),
      format("worth {:.0f} independent samples, {:.1f} per second", effective_samples, effective_samples / seconds)};
  // Autocorrelations are found from sums over the trace: a time of a good part of it is a lower bound at best.
  if (slowest_time > 0.1 * static_cast<double>(steps))
    all.push_back(
        "the trace is too short: the autocorrelation time is a lower bound, the effective samples an upper one; use a longer --trace");
  if (jumps) {
    all.push_back(format(
        "classes ({}{}): {:.2f} changes per chain and 100 steps ({:.0f} if states were independent), "
        "{} of {} visited, {:.0f} % of them by each chain",
        how_assigned,
        std::isfinite(assignment_accuracy)
            ? format("; {:.0f} % of those rows are classified correctly by the others", 100 * assignment_accuracy)
            : std::string(),
        jumps->per_hundred(), jumps->per_hundred_if_independent(), jumps->visited(), jumps->histogram.size(0),
        100 * jumps->visited_per_chain));
    std::string histogram = "states by class:";
    const at::Tensor share = jumps->histogram.to(at::kDouble) / jumps->histogram.sum();
    for (std::int64_t i = 0; i < share.size(0); ++i)
      histogram += format(" {} {:.1f} %{}", i, 100 * share[i].item<double>(), i + 1 < share.size(0) ? "," : "");
    constexpr std::int64_t readable = 20;
    if (share.size(0) <= readable) all.push_back(histogram);
    if (std::isfinite(nearest))
      all.push_back(format("nearest labelled row {:.2f} away on average; labelled rows are {:.2f} from each other",
                           nearest, nearest_of_data));
    if (std::isfinite(left_out))
      all.push_back(format("labelled rows {:.2f} from the nearest of the {} chains; from as many other rows {:.2f}",
                           left_out, chains, left_out_by_data));
  }
  all.insert(all.end(), notes.sentences.begin(), notes.sentences.end());
  return all;
}

}  // namespace harmonium
