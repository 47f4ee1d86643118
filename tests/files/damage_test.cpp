// Whatever is done to a file, the answer is a data set or an Error: checked for every format, every cut and every byte.
#include <algorithm>

#include "harmonium/data/formats/mat.h"
#include "harmonium/data/formats/npz.h"
#include "harmonium/data/formats/read_dataset.h"
#include "harmonium/data/formats/safetensors.h"
#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

namespace {

void parse_as(const std::string& kind, std::string_view bytes) {
  if (kind == "safetensors") {
    (void)parse_safetensors(bytes, kind);
  } else if (kind == "png") {
    (void)decode_png(bytes, kind);
  } else if (kind == "gzip") {
    (void)gunzip(bytes, kind);
  } else {
    (void)parse_dataset(bytes, kind);
  }
}

// True when it parses_as; an exception of any other kind than Error ends the test.
bool parses_as(const std::string& kind, std::string_view bytes) {
  try {
    parse_as(kind, bytes);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(std::string_view(error.what()).find(kind), 0U) << error.what();
    return false;
  }
}

}  // namespace

TEST(Damage, EverySampleIsValidBeforeItIsDamaged) {
  for (const auto& [kind, bytes] : samples::all()) EXPECT_TRUE(parses_as(kind, bytes)) << kind;
}

TEST(Damage, EveryBinaryFileCutAnywhereIsRejected) {
  // Cut between two members or two variables, a file is a shorter valid file.
  const std::vector<std::string> shorter_files{gzip("a"),
                                               samples::mat(samples::mat_double("x", {2, 3}, {0, 1, 2, 3, 4, 0.5})),
                                               samples::mat(samples::mat_sequences("traindata"))};
  for (const auto& [kind, bytes] : samples::all()) {
    if (kind == "csv" || kind == "amat") continue;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string cut = bytes.substr(0, size);
      const bool is_whole = std::ranges::find(shorter_files, cut) != shorter_files.end();
      EXPECT_EQ(parses_as(kind, cut), is_whole) << kind << " cut at " << size;
    }
  }
}

TEST(Damage, ATextFileCutAnywhereIsRejectedOrHasFewerRows) {
  for (const auto& [kind, bytes] : samples::all()) {
    if (kind != "csv" && kind != "amat") continue;
    const std::int64_t rows = parse_dataset(bytes, kind).rows();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      if (parses_as(kind, bytes.substr(0, size))) {
        EXPECT_LE(parse_dataset(bytes.substr(0, size), kind).rows(), rows) << kind << " cut at " << size;
      }
    }
  }
}

TEST(Damage, AnyByteMayTakeAnyValueWithoutAnythingWorseThanAnError) {
  for (const auto& [kind, bytes] : samples::all()) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF, bytes[at] ^ 0x04}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(value);
        EXPECT_NO_THROW((void)parses_as(kind, damaged)) << kind << " with byte " << at << " set to " << value;
      }
    }
  }
}

}  // namespace harmonium
