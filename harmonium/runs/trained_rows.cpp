#include "harmonium/runs/trained_rows.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/safetensors.h"

namespace harmonium {

void write_trained_rows(const RunFolder& folder, const Dataset& train) {
  const RowDigests digests = digest_rows(train);
  const at::Tensor counts = at::tensor({digests.rows, digests.once, std::int64_t{digests.whole ? 1 : 0}}, at::kLong);
  write_file_atomically(folder.trained_rows(),
                        encode_safetensors({.tensors = {{"hashes", digests.hashes}, {"rows_once_whole", counts}},
                                            .metadata = {{"format", "harmonium-trained-rows/1"},
                                                         {"data", std::filesystem::absolute(train.name).string()}}}));
}

std::optional<RowDigests> read_trained_rows(const RunFolder& folder) {
  const std::filesystem::path path = folder.trained_rows();
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) return std::nullopt;
  const auto file = parse_safetensors(read_file(path), path.string());
  at::Tensor hashes, counts;
  for (const auto& [name, tensor] : file.tensors) {
    if (name == "hashes") hashes = tensor;
    if (name == "rows_once_whole") counts = tensor;
  }
  require(hashes.defined() && hashes.scalar_type() == at::kLong && hashes.dim() == 1 && counts.defined() &&
              counts.scalar_type() == at::kLong && counts.numel() == 3,
          "{}: not a file of trained rows; remove it to go on without", path.string());
  const auto* numbers = counts.data_ptr<std::int64_t>();
  const auto source = file.metadata.find("data");
  return RowDigests{.rows = numbers[0],
                    .once = numbers[1],
                    .whole = numbers[2] != 0,
                    .hashes = hashes,
                    .source = source == file.metadata.end() ? "" : source->second};
}

}  // namespace harmonium
