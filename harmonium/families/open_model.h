// From a file to a model, whatever family it is of; the file is read once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "harmonium/families/model.h"

namespace harmonium {

// `path` is a run folder (its model.safetensors), a .safetensors file of ours, or an .npz with W (visible × hidden),
// visible_bias and hidden_bias, read as a binary RBM.
[[nodiscard]] std::unique_ptr<Model> open_model(const std::filesystem::path& path);
// The bytes of such a .safetensors file; `where` names them in messages.
[[nodiscard]] std::unique_ptr<Model> decode_model(std::string_view bytes, const std::string& where);

}  // namespace harmonium
