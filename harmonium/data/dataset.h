// A table of examples that knows what it is: where it came from, its picture shape, its labels and its binarization.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harmonium {

// How stored values become what a model sees. Numbers measured under different ones are not comparable.
enum class Binarization {
  none,         // values are used as they are (gray values act as probabilities, or the data are already binary)
  threshold,    // v = 1 where the gray value is at least one half
  stochastic,   // v ~ Bernoulli(gray value), drawn from a named seed
  dequantized,  // of whole numbers k: (k + u)·scale with u ~ U[0, 1), drawn from a named seed
  levels,       // whole numbers k·scale as they are, each with a probability of its own; 0 ≤ k ≤ 1/scale
};

[[nodiscard]] std::string to_string(Binarization binarization);
[[nodiscard]] Binarization parse_binarization(const std::string& name);

struct ImageShape {
  std::int64_t height = 0, width = 0;
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

struct Dataset {
  std::string name;        // as the user named it: "digits:train", "images.npy"
  at::Tensor values;       // rows × columns; uint8 (bits or gray values) or float32
  double scale = 1.0;      // what `values` is multiplied by to lie in [0, 1]; 1/255 for bytes of gray, 1 for bits
  at::Tensor labels = {};  // rows, int64; undefined where the data have none
  std::optional<ImageShape> image = std::nullopt;                 // columns as a picture, where they are one
  Binarization binarization = Binarization::none;                 // how `values` were made from gray ones
  std::optional<std::uint64_t> binarization_seed = std::nullopt;  // of a stochastic binarization
  bool counts = false;         // values are numbers of words of documents, one a row (see as_counts)
  bool whole_numbers = false;  // read from a file, and not obviously gray: see require_known_meaning
  double divided_by = 1;       // 1 / scale as reading decided it
  // What a step of 1 in the stored values has become where they were standardized (a number for each column) or
  // whitened (a matrix with a row for each column); undefined: `scale`.
  at::Tensor moved_step = {};
  std::int64_t missing = 0;                 // values that are NaN: nobody knows them
  std::int64_t first_label = 0;             // what the file calls class 0
  std::vector<std::string> own_parts = {};  // of a file with arrays for training and testing: train, valid, test
  std::vector<std::string> remarks = {};    // what reading did, for the user: "values divided by 255: …"
  // Where rows are frames of sequences, one sequence after the other: the number of frames of each, 1 or more, which
  // sum to the number of rows. Empty: rows are independent.
  std::vector<std::int64_t> lengths = {};

  [[nodiscard]] std::int64_t rows() const { return values.defined() ? values.size(0) : 0; }
  [[nodiscard]] std::int64_t columns() const { return values.defined() ? values.size(1) : 0; }
  // What is divided into parts and drawn into batches as a whole: sequences, or rows where these are independent.
  [[nodiscard]] std::int64_t cases() const {
    return lengths.empty() ? rows() : static_cast<std::int64_t>(lengths.size());
  }
  // Values of the given rows (int64 indices) as floats after `scale`.
  [[nodiscard]] at::Tensor gather(const at::Tensor& rows) const;
  // All values as floats after `scale`. Four times the memory of bytes: where a pass in chunks will do, use slice.
  [[nodiscard]] at::Tensor to_float() const;
  // A step of the stored values as models see it: a number, one for each column, or a matrix.
  [[nodiscard]] at::Tensor step() const;
  // True when every scaled value that is known is exactly 0 or 1.
  [[nodiscard]] bool is_binary() const;
  // Mean of each column after `scale`, in float64; of the values that are known.
  [[nodiscard]] at::Tensor column_means() const;
  // Rows that are taken are independent ones: who wants sequences takes cases.
  //
  // The first `limit` rows (all when limit <= 0 or larger than the table), sharing storage.
  [[nodiscard]] Dataset first(std::int64_t limit) const;
  // Rows begin … end−1 with their labels, sharing storage.
  [[nodiscard]] Dataset slice(std::int64_t begin, std::int64_t end) const;
  // The given rows (int64 indices, repeats allowed) with their labels, in that order.
  [[nodiscard]] Dataset select(const at::Tensor& rows) const;
  // The given cases (int64 numbers) in that order; sequences stay whole.
  [[nodiscard]] Dataset select_cases(const at::Tensor& cases) const;

 private:
  void count_missing();  // after rows were taken
};

// The same values taken for numbers of words: as they are stored, not as gray values or a picture. Throws Error naming
// the first that is none (negative, or no whole number).
[[nodiscard]] Dataset as_counts(Dataset data);

// Words of a document, on average over rows: the sum of a row.
[[nodiscard]] double mean_length(const Dataset& counts);

// Throws Error listing the options where values are whole numbers of which nobody has said whether they are gray
// values, counts or categories.
void require_known_meaning(const Dataset& data);

// Throws Error where values are missing; `who` cannot do without them.
void require_all_values(const Dataset& data, const std::string& who);

// The rows that lack nothing; where every row lacks something, all of them with column means in the gaps.
[[nodiscard]] Dataset complete_rows(const Dataset& data);

// A table of categories, each a whole number of 0 … K−1 or of 1 … K (where some value is K), as groups of K columns of
// which one is 1. Data that are coded so already stay as they are. `first` is 0 or 1, or nothing: decided by the values
// and returned.
[[nodiscard]] Dataset one_hot_coded(Dataset data, std::int64_t states, std::optional<std::int64_t>& first);

// What a Bernoulli visible layer can take: every scaled value in [0, 1]. Throws Error naming the data set and the row,
// column (both counted from 0) and value of the first offender; NaN offends.
void require_unit_interval(const Dataset& data);
// Every stored value that is known a whole number, so that noise of one step covers what was rounded away; throws like
// require_unit_interval.
void require_whole_numbers(const Dataset& data);
// Levels of gray that stored values can have, 0 … 1/scale: how many there are. Throws where that is no whole number, or
// a value is none of them.
[[nodiscard]] std::int64_t gray_levels(const Dataset& data);
// Every scaled value exactly 0 or 1; throws like require_unit_interval.
void require_binary(const Dataset& data);

}  // namespace harmonium
