// Finding documents by codes: what `retrieve` and experiments have in common.
#pragma once

#include <string>

#include "harmonium/runs/retrieval_result.h"
#include "harmonium/runs/run_folder.h"
#include "harmonium/sessions/shown_data.h"

namespace harmonium {

struct RetrieveOptions {
  ShownDataOptions source;  // the model and the queries
  std::string against;      // the pool; empty: the queries among themselves
};

// The curve of the model's codes, and for comparison those of latent semantic analysis with as many numbers and of the
// words themselves.
[[nodiscard]] RetrievalResult retrieve_documents(RetrieveOptions options);
// In a run folder the answer is recorded and the report made anew; nothing for other models.
void record(const RetrievalResult& result, const RunFolder& folder);

}  // namespace harmonium
