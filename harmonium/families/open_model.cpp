#include "harmonium/families/open_model.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/registry.h"

namespace harmonium {

std::unique_ptr<Model> decode_model(std::string_view bytes, const std::string& where) {
  const TensorFile file = parse_safetensors(bytes, where);
  const ModelHeader header = get_header(file, where);
  for (const Family& family : families())
    if (std::unique_ptr<Model> model = naming(where, [&] { return family.read(header, file, where); })) return model;
  fail("{}: a model of kind '{}' is not known to this version", where, header.kind);
}

std::unique_ptr<Model> open_model(const std::filesystem::path& path) {
  const std::filesystem::path source = model_file_of(path);
  const std::string bytes = read_file(source);
  if (bytes.starts_with("PK")) return std::make_unique<MachineModel>(machine_from_arrays(source));
  return decode_model(bytes, source.string());
}

}  // namespace harmonium
