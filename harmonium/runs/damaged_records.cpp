#include "harmonium/runs/damaged_records.h"

#include "harmonium/core/format.h"
#include "harmonium/runs/classification_result.h"
#include "harmonium/runs/evaluation.h"
#include "harmonium/runs/json_lines.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/runs/retrieval_result.h"

namespace harmonium {

std::vector<std::string> damaged_records(const RunFolder& folder) {
  std::vector<std::string> sentences;
  const auto add = [&](const std::filesystem::path& path, const std::vector<DamagedLine>& lines) {
    for (const DamagedLine& line : lines)
      sentences.push_back(
          format("{}, line {}: damaged and left out ({}); {}.damaged keeps it once the file is written again",
                 path.string(), line.number, line.reason, path.filename().string()));
  };
  add(folder.metrics(), MetricsLog(folder.metrics()).damaged());
  add(folder.evaluations(), read_json_lines(folder.evaluations(), evaluation_from_json).damaged);
  add(folder.classifications(), read_json_lines(folder.classifications(), classification_from_json).damaged);
  add(folder.retrievals(), read_json_lines(folder.retrievals(), retrieval_from_json).damaged);
  return sentences;
}

}  // namespace harmonium
