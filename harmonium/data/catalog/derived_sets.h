// Data sets made from those of file_sets.h when they are opened.
//
//   mnist_patches   5×5 windows at every place of every tenth image of MNIST (6000 + 1000 images, 4 032 000 windows),
//                   binarized at one half, shuffled and split 60/20/20: what the fully visible model of Tieleman's
//                   thesis (section 3.3.4) learns
#pragma once

#include <string>
#include <vector>

#include "harmonium/data/catalog/catalog.h"

namespace harmonium {

[[nodiscard]] std::vector<CatalogEntry> derived_sets();
// Throws Error saying how to get the files when they are not there.
[[nodiscard]] Dataset open_derived_set(const std::string& name, const std::string& part);

}  // namespace harmonium
