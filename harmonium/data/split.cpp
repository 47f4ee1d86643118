#include "harmonium/data/split.h"

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

Split split(const Dataset& data, const SplitSizes& sizes, const Key& key) {
  const auto& [train, valid, test] = sizes;
  require(train >= 0 && valid >= 0 && test >= 0, "{}: the parts of a split cannot be negative ({}, {}, {})", data.name,
          train, valid, test);
  require(train + valid + test <= data.cases(), "{}: cannot split {} {} into {} train + {} valid + {} test", data.name,
          data.cases(), data.lengths.empty() ? "rows" : "sequences", train, valid, test);
  const at::Tensor order = permutation(key, data.cases());
  const auto part = [&](const char* name, std::int64_t begin, std::int64_t count) {
    Dataset rows = data.select_cases(order.narrow(0, begin, count));
    rows.name = format("{}:{}", data.name, name);
    return rows;
  };
  return {part("train", 0, train), part("valid", train, valid), part("test", train + valid, test)};
}

SplitSizes split_sizes(std::int64_t rows, double valid_share, double test_share) {
  require(valid_share >= 0 && test_share >= 0 && valid_share + test_share <= 1,
          "the shares of a split must be between 0 and 1 and leave room for each other, not {} and {}", valid_share,
          test_share);
  const auto valid = static_cast<std::int64_t>(static_cast<double>(rows) * valid_share);
  const auto test = static_cast<std::int64_t>(static_cast<double>(rows) * test_share);
  return {rows - valid - test, valid, test};
}

}  // namespace harmonium
