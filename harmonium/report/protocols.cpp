#include "harmonium/report/protocols.h"

#include <algorithm>
#include <map>
#include <set>

#include "harmonium/core/error.h"
#include "harmonium/runs/snapshots.h"

namespace harmonium {

namespace {

// Protocols under which one run was judged by certain data, with the number of rows last used for each.
struct JudgedUnder {
  const ComparedRun* run = nullptr;
  std::map<std::string, std::int64_t> protocols;
};

std::vector<JudgedUnder> judged_by(const std::vector<ComparedRun>& runs, const std::string& data) {
  std::vector<JudgedUnder> result;
  for (const ComparedRun& run : runs) {
    JudgedUnder judged{.run = &run, .protocols = {}};
    for (const Evaluation& each : run.evaluations)
      if (each.data == data) judged.protocols[protocol_of(each.binarization)] = each.n;
    if (!judged.protocols.empty()) result.push_back(std::move(judged));
  }
  return result;
}

std::string listed(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " and ") + word;
  return text;
}

std::set<std::string> words_of(const JudgedUnder& judged) {
  std::set<std::string> words;
  for (const auto& [protocol, rows] : judged.protocols) words.insert(protocol);
  return words;
}

std::set<std::string> common_to(const std::vector<JudgedUnder>& all) {
  std::set<std::string> common = words_of(all.front());
  for (const JudgedUnder& judged : all)
    std::erase_if(common, [&](const std::string& word) { return !judged.protocols.contains(word); });
  return common;
}

// The protocol that leaves the fewest runs to be judged again; of several the one that is usual for gray values.
std::string most_common(const std::vector<JudgedUnder>& all) {
  std::string best;
  std::ptrdiff_t most = 0;
  for (const char* word : {"stochastic", "threshold", "dequantized", "levels", "none"}) {
    const auto count =
        std::ranges::count_if(all, [&](const JudgedUnder& judged) { return judged.protocols.contains(word); });
    if (count > most) {
      best = word;
      most = count;
    }
  }
  return best;
}

std::string refusal(const std::string& data, const std::vector<JudgedUnder>& all) {
  const std::string wanted = most_common(all), gray = to_string(Binarization::levels);
  std::string text = format("these runs were judged by {} under different binarizations:\n", data), commands;
  std::int64_t rows = 0;
  bool has_levels = false;
  for (const JudgedUnder& judged : all)
    if (const auto known = judged.protocols.find(wanted); known != judged.protocols.end()) rows = known->second;
  for (const JudgedUnder& judged : all) {
    text += format("  {}: {}\n", judged.run->name, listed(words_of(judged)));
    if (judged.protocols.contains(wanted)) continue;
    has_levels = has_levels || wanted == gray || words_of(judged) == std::set<std::string>{gray};
    commands += format("\n  harmonium evaluate {}{} --data {} --limit {} --binarize {}", judged.run->folder,
                       list_snapshots(judged.run->folder).empty() ? "" : " --snapshots", data, rows, wanted);
  }
  if (has_levels)
    return text +
           "A model of gray levels has probabilities of these alone, and nothing to be laid beside those of bits or beside "
           "densities: compare it with others that were trained with @binarize levels.";
  return text +
         "Log-likelihoods of thresholded, of sampled and of noisy images are different quantities: a difference between "
         "them, even of tens of nats, means nothing. Evaluate both under one binarization, then compare again:" +
         commands;
}

}  // namespace

std::string protocol_of(const std::string& binarization) { return binarization.substr(0, binarization.find(' ')); }

std::vector<std::string> keep_common_protocols(std::vector<ComparedRun>& runs) {
  std::set<std::string> all_data;
  for (const ComparedRun& run : runs)
    for (const Evaluation& each : run.evaluations) all_data.insert(each.data);
  std::vector<std::string> sentences;
  for (const std::string& data : all_data) {
    const std::vector<JudgedUnder> judged = judged_by(runs, data);
    if (judged.size() < 2) continue;
    const std::set<std::string> common = common_to(judged);
    if (common.empty()) fail("{}", refusal(data, judged));
    std::string left_out;
    for (ComparedRun& run : runs) {
      std::map<std::string, std::int64_t> answers;
      std::erase_if(run.evaluations, [&](const Evaluation& each) {
        const std::string protocol = protocol_of(each.binarization);
        const bool lonely = each.data == data && !common.contains(protocol);
        if (lonely) ++answers[protocol];
        return lonely;
      });
      for (const auto& [protocol, count] : answers)
        left_out += format("{}{} of {} ({} answer{})", left_out.empty() ? "" : ", ", protocol, run.name, count,
                           count == 1 ? "" : "s");
    }
    if (!left_out.empty())
      sentences.push_back(format("{}: only binarization {} is common to all runs judged by it. Left out: {}.", data,
                                 listed(common), left_out));
  }
  return sentences;
}

}  // namespace harmonium
