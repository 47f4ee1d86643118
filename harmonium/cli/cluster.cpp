#include <fmt/core.h>

#include <algorithm>

#include "harmonium/cli/command.h"
#include "harmonium/cli/reading_flags.h"
#include "harmonium/cli/shown_data_flags.h"
#include "harmonium/sessions/clustering.h"
#include "harmonium/sessions/seen_rows.h"

namespace harmonium::cli {

namespace {

// A line for every group: its size and, where there are labels, its most frequent class and the class it is matched to.
void print_groups(const ClusteredRows& found) {
  fmt::print("{:>10}  {:>8}{}\n", found.group_name, "rows", found.agreement ? "  most often        matched to" : "");
  for (std::size_t c = 0; c < found.sizes.size(); ++c) {
    fmt::print("{:>10}  {:>8}", c, found.sizes[c]);
    if (found.agreement && found.sizes[c] > 0) {
      const std::vector<std::int64_t>& counts = found.agreement->counts[c];
      const auto most = std::ranges::max_element(counts);
      fmt::print("  {:>3} ({:5.1f} %)", most - counts.begin(),
                 100 * static_cast<double>(*most) / static_cast<double>(found.sizes[c]));
      if (found.agreement->matching[c] >= 0) fmt::print("   {:>12}", found.agreement->matching[c]);
    }
    fmt::print("\n");
  }
}

int cluster(const ShownDataOptions& options) {
  watch_interrupts();
  const ClusteredRows found = cluster_data(options);
  if (options.common.json) {
    print_json(to_json(found));
    return 0;
  }
  fmt::print("{} rows of {} in {} of {} {}s\n\n", found.rows, found.data,
             std::ranges::count_if(found.sizes, [](std::int64_t size) { return size > 0; }), found.sizes.size(),
             found.group_name);
  print_groups(found);
  if (found.agreement)
    fmt::print(
        "\npurity    {:.2f} %: right where every {} has its most frequent class\n"
        "matched   {:.2f} %: right where each has a class of its own, by the best matching\n"
        "NMI       {:.4f}: normalized mutual information with the classes\n"
        "          labels are used to judge, and for nothing else\n",
        100 * found.agreement->purity, found.group_name, 100 * found.agreement->matched,
        found.agreement->normalized_information);
  if (found.seen && found.seen->seen > 0) fmt::print("note      {}\n", in_words(*found.seen));
  if (!found.unfinished.empty()) fmt::print("\nunfinished  {}: the run has not ended\n", found.unfinished);
  return 0;
}

}  // namespace

void add_cluster(CLI::App& app) {
  auto options = std::make_shared<ShownDataOptions>();
  CLI::App* command = add_command(
      app, "cluster", "Clusters that a model finds without labels: sizes, and how they agree with classes",
      "  harmonium cluster runs/capsules --data digits:test\n"
      "  harmonium cluster runs/mixture --data digits:test --json\n"
      "  harmonium classify runs/capsules --labels 25                     # the same clusters, named by 25 labels\n",
      options->common, [options] { return cluster(*options); });
  command->add_option("model", options->model, "run folder or file of capsules, mixture or factor_analyzers")
      ->required();
  command->add_option("--data", options->data,
                      "NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  command->add_option("--limit", options->limit, "use at most N rows (0: all)")->capture_default_str();
  declare_refine(*command, options->refine);
  declare_reading(*command, options->reading);
  options->allow_trained_rows = false;
  declare_allow_trained_rows(*command, options->allow_trained_rows);
}

}  // namespace harmonium::cli
