// How retrievals are shown: curves of precision against the number of documents retrieved, and their numbers.
#pragma once

#include "harmonium/report/report.h"
#include "harmonium/runs/retrieval_result.h"

namespace harmonium {

// "10-number code", "LSA, tf-idf (10)".
[[nodiscard]] std::string curve_name(const NamedCurve& curve);
[[nodiscard]] Chart retrieval_chart(const RetrievalResult& result, const std::string& id);
[[nodiscard]] Table retrieval_table(const RetrievalResult& result, const std::string& id);
// Lines for a terminal: a row for every number of documents.
[[nodiscard]] std::string retrieval_text(const RetrievalResult& result);

// What a report says about retrievals: the first points at the top, curve and table of each.
void add_retrievals(ReportContent& content, const std::vector<RetrievalResult>& results);

}  // namespace harmonium
