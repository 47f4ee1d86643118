// A model and the rows that are shown to it: what `encode`, `reconstruct`, `retrieve` and `classify` share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harmonium/data/reading.h"
#include "harmonium/data/row_digests.h"
#include "harmonium/families/model.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct ShownDataOptions {
  SessionOptions common;
  std::string model;  // run folder or file
  std::string data;   // empty: the test part of what the model was trained on
  Reading reading = {};
  bool allow_trained_rows = true;  // else data called test or valid that were trained on are refused
  std::int64_t limit = 0;
  std::int64_t refine = 0;  // steps by which descriptions are made better (Model::refined_by)
  std::string layer = {};   // the code: a layer by name, or all; empty: the model's usual one
};

// Where `data` is empty: the test part of what the model was trained on, read as training read it.
// `reading` takes over what the run says and nobody has given.
void choose_data(const std::string& path, const Model& model, std::string& data, Reading& reading);

struct ShownData {
  std::unique_ptr<Model> model;
  Dataset data;
  bool counts = false;                             // rows are numbers of words
  std::optional<RowsSeen> seen = std::nullopt;     // rows that the model has learnt from
  Binarization binarization = Binarization::none;  // as rows are shown to the model (training/net_error.h)
};

// Fills in what the options leave open.
[[nodiscard]] ShownData show_data_to(std::unique_ptr<Model> model, ShownDataOptions& options);
// The same for the model that the options name. Fails, saying what it can do instead, where it encodes nothing.
[[nodiscard]] ShownData open_shown_data(ShownDataOptions& options);

// Codes of rows that are shown to the model in the same way, rows × numbers. `layer` as in the options.
[[nodiscard]] at::Tensor codes_of(const ShownData& shown, const Dataset& data, const std::string& layer);

}  // namespace harmonium
