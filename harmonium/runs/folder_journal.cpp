#include "harmonium/runs/folder_journal.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/sha256.h"
#include "harmonium/data/formats/safetensors.h"

namespace harmonium {

namespace fs = std::filesystem;

std::optional<NamedTensors> FolderJournal::find(const std::string& name) {
  const fs::path path = folder_ / (name + ".safetensors");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  try {
    const TensorFile file = read_safetensors(path);
    return NamedTensors(file.tensors.begin(), file.tensors.end());
  } catch (const Error&) {
    return std::nullopt;  // damaged: the work is done again
  }
}

void FolderJournal::keep(const std::string& name, const NamedTensors& tensors) {
  last_ = std::chrono::steady_clock::now();
  try {
    create_folder(folder_);
    write_safetensors(folder_ / (name + ".safetensors"), {.tensors = {tensors.begin(), tensors.end()}, .metadata = {}});
  } catch (const RunFailure& failure) {
    if (trouble_.empty()) trouble_ = failure.marked();
  }
}

bool FolderJournal::due() { return std::chrono::steady_clock::now() - last_ >= interval_; }

void FolderJournal::finish() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove(folder_.parent_path(), ignored);  // where nothing else is in it
}

std::string question_digest(const Moments& parameters, const std::string& question) {
  std::string bytes = question;
  for (const auto& [name, value] : parameters.entries()) {
    const at::Tensor whole = on_cpu(value).contiguous();
    bytes += name;
    bytes.append(static_cast<const char*>(whole.data_ptr()), whole.nbytes());
  }
  return sha256(bytes).substr(0, 16);
}

}  // namespace harmonium
