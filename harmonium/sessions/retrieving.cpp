#include "harmonium/sessions/retrieving.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/measures/latent_semantics.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/sessions/refresh_report.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

void require_classes(const Dataset& data) {
  require(data.labels.defined(),
          "{} has no labels, so nothing says which documents belong together; give labelled data (in a column: "
          "--label-column first or last)",
          data.name);
}

// What the model was trained on; empty where nothing says so.
std::string training_data(const RetrieveOptions& options, const Model& model) {
  if (const RunFolder folder(options.source.model); folder.is_run()) {
    RunConfig config;
    read_toml(folder.config(), config);
    return config.data;
  }
  return model.info().note("data");
}

// Rows of words, or of whatever the data are, in one piece: they are compared with each other.
at::Tensor all_values(const ShownData& found, const Dataset& data) { return shown_values(data, found.binarization); }

}  // namespace

RetrievalResult retrieve_documents(RetrieveOptions options) {
  const ShownData found = open_shown_data(options.source);
  const auto open = [&](const std::string& spec, std::int64_t limit) {
    const Dataset data = open_dataset(spec, {.limit = limit, .reading = reading_for(spec, options.source.reading)});
    require(data.columns() == found.data.columns(), "{} has {} columns, {} has {}", spec, data.columns(),
            options.source.data, found.data.columns());
    return found.counts ? as_counts(data) : data;
  };
  require_classes(found.data);
  const bool among = options.against.empty();
  if (among) options.against = options.source.data;
  const Dataset pool = among ? found.data : open(options.against, options.source.limit);
  require_classes(pool);
  RetrievalResult result{.model = options.source.model,
                         .data = options.source.data,
                         .against = options.against,
                         .fitted = training_data(options, *found.model),
                         .queries = found.data.rows(),
                         .pool = pool.rows() - (among ? 1 : 0),
                         .curves = {}};
  if (found.seen) result.trained_rows = found.seen->seen;
  if (result.fitted.empty()) result.fitted = options.against;
  const Dataset fitted = result.fitted == options.against ? pool : open(result.fitted, 0);
  result.updates = found.model->info().updates();
  result.unfinished = found.model->info().note("unfinished");

  const auto add = [&](const std::string& name, const auto& encode) {
    const at::Tensor codes = encode(found.data);
    const Documents queries{codes, found.data.labels};
    result.curves.push_back(
        {.name = name,
         .numbers = codes.size(1),
         .points = among ? retrieval_curve(queries) : retrieval_curve(queries, Documents{encode(pool), pool.labels})});
  };
  add("code", [&](const Dataset& data) { return codes_of(found, data, options.source.layer); });
  const std::int64_t numbers = std::min(result.curves.front().numbers, found.data.columns());
  const std::vector<WordWeighting> weightings =
      found.counts ? std::vector{WordWeighting::log, WordWeighting::tf_idf} : std::vector{WordWeighting::counts};
  for (const WordWeighting weighting : weightings) {
    const LatentSemantics semantics(fitted, weighting, numbers);
    add(found.counts ? "LSA, " + to_string(weighting) : "LSA",
        [&](const Dataset& data) { return semantics.encode(all_values(found, data)); });
  }
  if (found.counts) {
    const WeightedWords words(fitted, WordWeighting::tf_idf);
    add("words, tf-idf", [&](const Dataset& data) { return words.weigh(all_values(found, data)); });
  }
  add(found.counts ? "words, counts" : "values", [&](const Dataset& data) { return all_values(found, data); });
  return result;
}

void record(const RetrievalResult& result, const RunFolder& folder) {
  if (!folder.is_run()) return;
  record_retrieval(folder.path(), result);
  refresh_report(folder);
}

}  // namespace harmonium
