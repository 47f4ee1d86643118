#include "harmonium/data/formats/make_dataset.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/value_range.h"

namespace harmonium {

namespace {

std::optional<ImageShape> guess_square_image(std::int64_t columns) {
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(columns))));
  if (columns < 16 || side * side != columns) return std::nullopt;
  return ImageShape{side, side};
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "28x20" or "28x20x1".
std::optional<ImageShape> parse_image_shape(const std::string& text, std::int64_t columns, const std::string& where) {
  if (text == "auto" || text == "none") return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('x', start), text.size());
    const std::string part = text.substr(start, end - start);
    require(is_digits(part), "@shape {}: give height and width of a picture, such as 28x20, or none", text);
    sizes.push_back(std::stoll(part));
    start = end + 1;
  }
  require(sizes.size() == 2 || sizes.size() == 3,
          "@shape {}: give height and width of a picture, such as 28x20, or none", text);
  require(sizes.size() == 2 || sizes[2] == 1,
          "@shape {}: pictures of {} colours are not drawn; make them gray, or give {}x{} to see the colours side by "
          "side",
          text, sizes[2], sizes[0], sizes[1] * sizes[2]);
  require(sizes[0] * sizes[1] == columns, "{}: @shape {} is {} pixels, and a case has {} values", where, text,
          sizes[0] * sizes[1], columns);
  return ImageShape{sizes[0], sizes[1]};
}

// Cases along the first axis, and a single colour dropped.
at::Tensor with_cases_first(at::Tensor array, const Reading& reading) {
  if (array.dim() == 4 && array.size(3) == 1) array = array.squeeze(3);
  if (reading.transpose == "yes" && array.dim() == 2) return array.t();
  if (reading.transpose == "yes" && array.dim() == 3) return array.permute({2, 0, 1});
  require(reading.transpose == "yes" || reading.transpose == "no" || reading.transpose == "auto",
          "@transpose {}: there are yes and no", reading.transpose);
  return array;
}

at::Tensor without_column(const at::Tensor& table, std::int64_t column) {
  return at::cat({table.narrow(1, 0, column), table.narrow(1, column + 1, table.size(1) - column - 1)}, 1);
}

// The column that tells sequences apart; nothing where none does.
std::optional<std::int64_t> find_sequence_column(const Reading& reading, std::int64_t columns,
                                                 const std::vector<std::string>& header, const std::string& where) {
  const std::string& wanted = reading.sequences;
  if (wanted == "auto" || wanted == "none" || is_digits(wanted)) return std::nullopt;
  const auto named = std::ranges::find(header, wanted);
  require(
      named != header.end() || wanted == "first" || wanted == "last",
      "{}: @sequences {}: there is no such column; give a number of frames of each sequence, first, last, or a name "
      "in the header",
      where, wanted);
  require(columns > 1, "{}: besides the column that tells sequences apart there is no data", where);
  if (named != header.end()) return named - header.begin();
  return wanted == "first" ? 0 : columns - 1;
}

// Lengths of runs of equal values. A value that comes back would be a sequence in pieces.
std::vector<std::int64_t> lengths_of_runs(const at::Tensor& column, const std::string& where) {
  const at::Tensor values = column.to(at::kDouble).contiguous();
  const double* value = values.data_ptr<double>();
  std::vector<std::int64_t> lengths;
  std::unordered_set<double> seen;
  for (std::int64_t row = 0; row < values.size(0); ++row) {
    require(std::isfinite(value[row]), "{}: row {} does not say which sequence it belongs to", where, row + 1);
    if (row > 0 && value[row] == value[row - 1]) {
      ++lengths.back();
      continue;
    }
    require(seen.insert(value[row]).second,
            "{}: row {} belongs to sequence {}, whose rows stand elsewhere as well; put "
            "the rows of each sequence together",
            where, row + 1, value[row]);
    lengths.push_back(1);
  }
  return lengths;
}

// Equally long ones; nothing where no number is given.
std::vector<std::int64_t> lengths_of_equal(const Reading& reading, std::int64_t rows, const std::string& where) {
  if (!is_digits(reading.sequences)) return {};
  const std::int64_t frames = std::stoll(reading.sequences);
  require(frames >= 1 && rows % frames == 0,
          "{}: @sequences {}: {} rows are not a whole number of sequences of {} frames", where, reading.sequences, rows,
          frames);
  return std::vector<std::int64_t>(static_cast<std::size_t>(rows / frames), frames);
}

at::Tensor as_whole_labels(const at::Tensor& column, const std::string& where, std::int64_t number) {
  const at::Tensor values = column.to(at::kDouble);
  const at::Tensor bad = values.ne(values.trunc()).logical_or(values.abs().gt(0x1p53)).nonzero();
  if (bad.size(0) > 0)
    fail("{}: row {}, column {}: the label {} is not a whole number", where, bad[0][0].item<std::int64_t>() + 1,
         number + 1, values[bad[0][0].item<std::int64_t>()].item<double>());
  return values.to(at::kLong);
}

}  // namespace

std::optional<std::int64_t> find_label_column(const Reading& reading, std::int64_t columns,
                                              const std::vector<std::string>& header, const std::string& where) {
  const std::string& wanted = reading.label_column;
  if (wanted == "none" || wanted == "auto") return std::nullopt;
  std::int64_t column = -1;
  if (wanted == "first") column = 0;
  if (wanted == "last") column = columns - 1;
  if (const auto named = std::ranges::find(header, wanted); named != header.end())
    column = named - header.begin();
  else if (is_digits(wanted))
    column = std::stoll(wanted) - 1;
  else if (column < 0)
    return std::nullopt;
  require(column >= 0 && column < columns, "{}: @label_column {}: there are columns 1 to {}", where, wanted, columns);
  require(columns > 1, "{}: besides the label column there is no data", where);
  return column;
}

void set_labels(Dataset& data, const at::Tensor& labels, const std::string& where, const Reading& reading) {
  const auto least = labels.min().item<std::int64_t>(), largest = labels.max().item<std::int64_t>();
  require(reading.first_label == "auto" || reading.first_label == "0" || reading.first_label == "1",
          "@first_label {}: there are auto, 0 and 1", reading.first_label);
  data.first_label = reading.first_label == "auto" ? (least == 1 ? 1 : 0) : reading.first_label == "1" ? 1 : 0;
  require(least >= data.first_label, "{}: there is a label {}, and the first class is {} (@first_label)", where, least,
          data.first_label);
  data.labels = labels - data.first_label;
  if (data.first_label != 0)
    data.remarks.push_back(format("labels {} … {} are {} classes", least, largest, largest - data.first_label + 1));
}

Dataset make_dataset(const at::Tensor& given, const std::string& where, const Reading& reading,
                     const std::vector<std::string>& header) {
  const std::string shape = shape_text({given.sizes().data(), given.sizes().size()});
  const at::Tensor array = with_cases_first(given, reading);
  require(array.dim() == 2 || array.dim() == 3,
          "{}: an array of {} is not a data set{}; expected rows × columns or images × height × width", where, shape,
          array.dim() == 1 ? " (are these the labels?)" : "");
  require(array.numel() > 0, "{}: the array of {} is empty", where, shape);

  Dataset data;
  at::Tensor table = array.reshape({array.size(0), -1});
  const auto label = find_label_column(reading, table.size(1), header, where),
             sequence = find_sequence_column(reading, table.size(1), header, where);
  require(!label || label != sequence, "{}: @sequences {}: this is the label column", where, reading.sequences);
  data.lengths =
      sequence ? lengths_of_runs(table.select(1, *sequence), where) : lengths_of_equal(reading, table.size(0), where);
  if (!data.lengths.empty())
    data.remarks.push_back(format("{} sequences{}", data.lengths.size(),
                                  sequence ? format(" from column {}", *sequence + 1) : std::string()));
  if (label) {
    set_labels(data, as_whole_labels(table.select(1, *label), where, *label), where, reading);
    data.remarks.push_back(format("labels from column {}", *label + 1));
  }
  if (label && sequence)  // the later one first, so that the other keeps its number
    table = without_column(without_column(table, std::max(*label, *sequence)), std::min(*label, *sequence));
  else if (label || sequence)
    table = without_column(table, label ? *label : *sequence);
  data.image = parse_image_shape(reading.shape, table.size(1), where);
  const bool pictures = array.dim() == 3 || data.image;
  if (reading.shape != "none" && !data.image && array.dim() == 3 && table.size(1) == array.size(1) * array.size(2))
    data.image = ImageShape{array.size(1), array.size(2)};
  if (reading.shape == "auto" && array.dim() == 2) {
    data.image = guess_square_image(table.size(1));
    if (data.image)
      data.remarks.push_back(
          format("pictures of {} × {} are a guess from {} columns; @shape decides (none: no pictures)",
                 data.image->height, data.image->width, table.size(1)));
  }
  if (reading.transpose == "yes") data.remarks.push_back(format("transposed: {} cases", table.size(0)));

  const bool bytes = table.scalar_type() == at::kByte || table.scalar_type() == at::kBool;
  data.values = bytes ? table.to(at::kByte).contiguous() : table.to(at::kFloat).contiguous();
  set_range(data, where, reading.scale, pictures && table.scalar_type() == at::kByte);
  return data;
}

}  // namespace harmonium
