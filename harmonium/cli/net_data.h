// What `encode` and `reconstruct` share: a net, or a stack unrolled into one, and rows that are shown to it.
#pragma once

#include <string>

#include "harmonium/cli/command.h"
#include "harmonium/data/dataset.h"
#include "harmonium/training/files/net_file.h"

namespace harmonium::cli {

struct NetDataOptions {
  CommonOptions common;
  std::string model;  // run folder or file
  std::string data;   // empty: the test part of what the model was trained on
  std::string label_column = "none";
  std::int64_t limit = 0;
};

// Declares the options above.
void declare_net_data(CLI::App& command, NetDataOptions& options);

struct NetAndData {
  NetModel model;
  Dataset data;
  bool counts = false;                             // rows are numbers of words
  Binarization binarization = Binarization::none;  // as rows are shown to the net (training/net_error.h)
};

// A net is taken as it is; a stack of machines is unrolled: up and down again, so that encode() is the way up.
[[nodiscard]] NetAndData open_net_and_data(NetDataOptions& options);

// Codes of rows that are shown to the net in the same way, rows × numbers.
[[nodiscard]] at::Tensor codes_of(const NetAndData& found, const Dataset& data);

}  // namespace harmonium::cli
