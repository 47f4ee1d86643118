// The report of a run that trained a feed-forward net: errors, curves, filters, and reconstructions of an autoencoder.
#pragma once

#include <filesystem>

#include "harmonium/data/dataset.h"
#include "harmonium/report/report.h"

namespace harmonium {

[[nodiscard]] ReportContent net_report(const std::filesystem::path& folder, const Dataset& train);

// Rows above, what the net makes of them below, in strips of `columns`.
[[nodiscard]] Picture reconstruction_picture(const at::Tensor& rows, const at::Tensor& rebuilt, ImageShape shape,
                                             std::int64_t columns = 20);

}  // namespace harmonium
