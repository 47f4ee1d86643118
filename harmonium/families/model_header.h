// What every model file says about its model beside the tensors, whatever kind it is.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harmonium/data/dataset.h"
#include "harmonium/data/formats/safetensors.h"

namespace harmonium {

struct ModelHeader {
  std::string kind;
  nlohmann::json structure = {};
  std::optional<ImageShape> image = std::nullopt;
  std::map<std::string, std::string> notes = {};
};

// The file that `path` means: itself, or the model.safetensors of a run folder. Fails, saying what is missing.
[[nodiscard]] std::filesystem::path model_file_of(const std::filesystem::path& path);

void set_header(TensorFile& file, const ModelHeader& header);
// Fails for a file that is no model, or one of a later version; `where` names it.
[[nodiscard]] ModelHeader get_header(const TensorFile& file, const std::string& where);
// That of the model at `path` (a run folder or a .safetensors file). Fails where there is none.
[[nodiscard]] ModelHeader read_header(const std::filesystem::path& path);
// A picture that does not have `width` pixels is none of this model.
void forget_other_image(ModelHeader& header, std::int64_t width);

// Fails where the layers of a model ask for more numbers than its file holds, so that a damaged or made-up count is
// refused before memory is taken for it.
void require_numbers(const TensorFile& file, double needed, const std::string& where);

// Copies a tensor of a file to where it belongs; fails where its shape or a value is wrong.
void copy_parameter(at::Tensor target, const std::string& name, const at::Tensor& value, const std::string& where);
void require_parameter(const at::Tensor& value, at::IntArrayRef shape, const std::string& name,
                       const std::string& where);

}  // namespace harmonium
