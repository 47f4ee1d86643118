#include "harmonium/families/model_header.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr const char* format_name = "harmonium-model/1";

}  // namespace

std::filesystem::path model_file_of(const std::filesystem::path& path) {
  require(std::filesystem::exists(path), "there is no model at {}; give a run folder, a .safetensors or an .npz file",
          path.string());
  if (!std::filesystem::is_directory(path)) return path;
  std::filesystem::path file = path / "model.safetensors";
  require(std::filesystem::exists(file),
          "{} holds no model.safetensors: it is not a run folder, or its run has not finished "
          "(`harmonium resume {}` goes on with it)",
          path.string(), path.string());
  return file;
}

void set_header(TensorFile& file, const ModelHeader& header) {
  file.metadata = {{"format", format_name}, {"structure", header.structure.dump()}, {"kind", header.kind}};
  if (header.image) file.metadata["image"] = format("{}x{}", header.image->height, header.image->width);
  for (const auto& [key, value] : header.notes) file.metadata["note." + key] = value;
}

ModelHeader get_header(const TensorFile& file, const std::string& where) {
  const auto metadata = [&](const std::string& key) {
    const auto it = file.metadata.find(key);
    require(it != file.metadata.end(), "{}: not a model of this program (metadata '{}' is missing)", where, key);
    return it->second;
  };
  require(!metadata("format").starts_with("harmonium-checkpoint/"),
          "{}: this is a checkpoint, the state of a training; give the folder of its run", where);
  require(metadata("format") == format_name, "{}: model format '{}' is not known to this version", where,
          metadata("format"));
  require(!file.tensors.empty(), "{}: the model has no tensors", where);
  ModelHeader header{.kind = metadata("kind")};
  try {
    header.structure = nlohmann::json::parse(metadata("structure"));
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the description of the model's structure is damaged ({})", where, error.what());
  }
  for (const auto& [key, value] : file.metadata) {
    long long height = 0, width = 0;
    constexpr long long most_pixels = 1'000'000;
    if (key.starts_with("note."))
      header.notes[key.substr(5)] = value;
    else if (key == "image" && std::sscanf(value.c_str(), "%lldx%lld", &height, &width) == 2 && height >= 1 &&
             width >= 1 && height <= most_pixels && width <= most_pixels)
      header.image = ImageShape{height, width};
  }
  return header;
}

ModelHeader read_header(const std::filesystem::path& path) {
  const std::filesystem::path source = model_file_of(path);
  return get_header(parse_safetensors(read_file(source), source.string()), source.string());
}

void forget_other_image(ModelHeader& header, std::int64_t width) {
  if (header.image && header.image->height * header.image->width != width) header.image.reset();
}

void require_numbers(const TensorFile& file, double needed, const std::string& where) {
  double held = 0;
  for (const auto& [name, value] : file.tensors) held += static_cast<double>(value.numel());
  require(needed <= held, "{}: the model's layers ask for {:.0f} numbers, and the file holds {:.0f}; it is damaged",
          where, needed, held);
}

void require_parameter(const at::Tensor& value, at::IntArrayRef shape, const std::string& name,
                       const std::string& where) {
  require(value.sizes() == shape, "{}: tensor '{}' does not have the shape its layers ask for", where, name);
  require(at::isfinite(value).all().item<bool>(), "{}: tensor '{}' holds values that are not finite", where, name);
}

void copy_parameter(at::Tensor target, const std::string& name, const at::Tensor& value, const std::string& where) {
  require_parameter(value, target.sizes(), name, where);
  target.copy_(value);
}

}  // namespace harmonium
