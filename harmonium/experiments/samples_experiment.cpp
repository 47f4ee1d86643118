#include "harmonium/experiments/samples_experiment.h"

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

void assign_samples(SamplesPlan& plan, const toml::table& table, const ExperimentFile& file) {
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    const auto take = [&, &found = key, &value = node](std::string_view name, auto& field) {
      if (found.str() == name) assign_toml(field, value, where);
      return found.str() == name;
    };
    require(key.str() == "quick" || take("sampler", plan.draw.sampler.name) || take("starts", plan.starts) ||
                take("count", plan.draw.chains) || take("sweeps", plan.draw.sweeps) || take("trace", plan.draw.trace) ||
                take("rungs", plan.draw.sampler.rungs) || take("fast_rate", plan.draw.sampler.fast_rate) ||
                take("fast_decay", plan.draw.sampler.fast_decay) || take("seed", plan.draw.seed) ||
                take("labels", plan.labels) || take("order", plan.order),
            "{}: no such entry of [samples]; there are: sampler, starts, count, sweeps, trace, rungs, fast_rate, "
            "fast_decay, seed, labels, order, quick",
            where);
  }
}

}  // namespace

SamplesPlan parse_samples(const ExperimentFile& file, bool quick) {
  SamplesPlan plan;
  plan.draw.trace = 200;
  const toml::node* node = file.table.get("samples");
  require(node != nullptr, "{}: an experiment of kind samples needs a table [samples]", file.source);
  const toml::table& table = as_table(*node, place_in(file.source, "samples", *node));
  assign_samples(plan, table, file);
  if (const toml::node* shorter = table.get("quick")) {
    SamplesPlan ignored;  // wrong keys show without --quick too
    assign_samples(quick ? plan : ignored, as_table(*shorter, place_in(file.source, "quick", *shorter)), file);
  }
  require(!plan.starts.empty(), "{}: [samples] needs starts, such as [\"data\", \"noise\"]", file.source);
  for (const std::string& start : plan.starts) {
    DrawPlan each = plan.draw;
    each.start = start;
    check(each);
  }
  require(!find_sampler(plan.draw.sampler.name).single_chain, "{}: sampler = \"{}\" has one chain and no start to tell",
          file.source, plan.draw.sampler.name);
  require(plan.draw.trace > 0, "{}: trace = 0 leaves nothing to measure", file.source);
  return plan;
}

}  // namespace harmonium
