// How well a model's codes find documents of the same class, beside linear codes and words themselves: as `retrieve`
// prints it (--json), keeps it in a run folder and shows it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/measures/retrieval_curve.h"

namespace harmonium {

struct NamedCurve {
  std::string name;          // "code", "LSA, tf-idf"
  std::int64_t numbers = 0;  // of a document's code
  std::vector<RetrievalPoint> points;
};

struct RetrievalResult {
  std::string model;
  std::int64_t updates = 0;  // that the model was trained, as it says itself; 0: not known
  std::string data;          // the queries
  std::string against;       // the pool: the other documents of `data` where it is the same
  std::string fitted;        // what linear codes and weights of words were made from
  std::int64_t queries = 0, pool = 0;
  std::optional<std::int64_t> trained_rows = std::nullopt;  // queries that the model has learnt from; nothing: unknown
  std::vector<NamedCurve> curves = {};                      // that of the model first
  std::string unfinished = {};  // "update 2871 of 10000" where the run had not ended; empty otherwise
};

[[nodiscard]] nlohmann::ordered_json to_json(const RetrievalResult& result);
[[nodiscard]] RetrievalResult retrieval_from_json(const nlohmann::ordered_json& json);

// retrievals.jsonl of a run folder, one line each; the same question asked again of the same model (the same updates)
// replaces the old answer. The latest is last.
void record_retrieval(const std::filesystem::path& folder, const RetrievalResult& result);
[[nodiscard]] std::vector<RetrievalResult> read_retrievals(const std::filesystem::path& folder);

}  // namespace harmonium
