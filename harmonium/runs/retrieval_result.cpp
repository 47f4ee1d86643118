#include "harmonium/runs/retrieval_result.h"

#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/runs/json_lines.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

namespace {

bool same_retrieval(const RetrievalResult& a, const RetrievalResult& b) {
  return a.data == b.data && a.against == b.against && a.fitted == b.fitted && a.queries == b.queries &&
         a.pool == b.pool && a.updates == b.updates;
}

}  // namespace

nlohmann::ordered_json to_json(const RetrievalResult& result) {
  nlohmann::ordered_json curves = nlohmann::ordered_json::array();
  for (const NamedCurve& curve : result.curves) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const RetrievalPoint& point : curve.points)
      points.push_back(
          {{"retrieved", point.retrieved}, {"precision", point.precision}, {"low", point.low}, {"high", point.high}});
    curves.push_back({{"name", curve.name}, {"numbers", curve.numbers}, {"points", points}});
  }
  nlohmann::ordered_json json = {
      {"model", result.model},
      {"updates", result.updates},
      {"data", result.data},
      {"against", result.against},
      {"fitted", result.fitted},
      {"queries", result.queries},
      {"pool", result.pool},
      {"trained_rows", result.trained_rows ? nlohmann::ordered_json(*result.trained_rows) : nullptr},
      {"curves", curves}};
  if (!result.unfinished.empty()) json["unfinished"] = result.unfinished;
  return json;
}

RetrievalResult retrieval_from_json(const nlohmann::ordered_json& json) {
  RetrievalResult result{.model = json.at("model"),
                         .updates = whole_number(json.at("updates")),
                         .data = json.at("data"),
                         .against = json.at("against"),
                         .fitted = json.at("fitted"),
                         .queries = whole_number(json.at("queries")),
                         .pool = whole_number(json.at("pool")),
                         .curves = {},
                         .unfinished = json.value("unfinished", "")};
  if (json.contains("trained_rows") && json.at("trained_rows").is_number())
    result.trained_rows = whole_number(json.at("trained_rows"));
  for (const auto& each : json.at("curves")) {
    NamedCurve curve{.name = each.at("name"), .numbers = whole_number(each.at("numbers")), .points = {}};
    for (const auto& point : each.at("points"))
      curve.points.push_back({.retrieved = whole_number(point.at("retrieved")),
                              .precision = point.at("precision"),
                              .low = point.at("low"),
                              .high = point.at("high")});
    require(
        !curve.points.empty() && (result.curves.empty() || curve.points.size() == result.curves.front().points.size()),
        "the curve '{}' has {} points, another number than the first", curve.name, curve.points.size());
    result.curves.push_back(std::move(curve));
  }
  require(!result.curves.empty(), "there is no curve");
  return result;
}

void record_retrieval(const std::filesystem::path& folder, const RetrievalResult& result) {
  change_json_lines(RunFolder(folder).retrievals(), retrieval_from_json, [&](std::vector<RetrievalResult>& all) {
    std::erase_if(all, [&](const RetrievalResult& each) { return same_retrieval(each, result); });
    all.push_back(result);
  });
}

std::vector<RetrievalResult> read_retrievals(const std::filesystem::path& folder) {
  return read_json_lines(RunFolder(folder).retrievals(), retrieval_from_json).values;
}

}  // namespace harmonium
