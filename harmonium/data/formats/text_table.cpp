#include "harmonium/data/formats/text_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"

namespace harmonium {

namespace {

constexpr std::size_t sniffed_text_bytes = 4096;

bool is_blank_in_table(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// A number as from_chars sees it, plus a leading '+', which it does not allow.
std::from_chars_result scan_number(const char* begin, const char* end, double& value) {
  if (end - begin > 1 && *begin == '+' && begin[1] != '-') ++begin;
  return std::from_chars(begin, end, value);
}

bool is_one_number(std::string_view field) {
  double value = 0;
  const char* end = field.data() + field.size();
  const auto result = scan_number(field.data(), end, value);
  return result.ptr == end && result.ec != std::errc::invalid_argument;
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank_in_table(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank_in_table(text.back())) text.remove_suffix(1);
  return text;
}

// Values stay bytes (a quarter of the memory, and most data sets are pixels) until one of them does not fit.
class NumberBuffer {
 public:
  void push(double value) {
    if (is_bytes_ && value >= 0 && value <= 255 && value == std::trunc(value)) {
      bytes_.push_back(static_cast<std::uint8_t>(value));
      return;
    }
    if (is_bytes_) {
      floats_.assign(bytes_.begin(), bytes_.end());
      bytes_ = {};
      is_bytes_ = false;
    }
    floats_.push_back(static_cast<float>(value));
  }
  void push_byte(std::uint8_t value) {
    if (is_bytes_)
      bytes_.push_back(value);
    else
      floats_.push_back(value);
  }
  [[nodiscard]] at::Tensor table(std::int64_t rows, std::int64_t columns) const {
    const std::vector<std::int64_t> shape{rows, columns};
    if (is_bytes_)
      return tensor_from_bytes({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}, at::kByte, shape,
                               std::endian::native);
    return tensor_from_bytes({reinterpret_cast<const char*>(floats_.data()), floats_.size() * sizeof(float)},
                             at::kFloat, shape, std::endian::native);
  }

 private:
  bool is_bytes_ = true;
  std::vector<std::uint8_t> bytes_;
  std::vector<float> floats_;
};

class TextTableParser {
 public:
  TextTableParser(std::string_view text, const std::string& where, LabelColumn labels)
      : text_(text), where_(where), label_column_(labels) {}

  TextTable parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // the mark some editors put before UTF-8
    bool is_first = true;
    for (std::size_t start = 0; start < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      const std::string_view line = trim_blanks(text_.substr(start, end - start));
      start = end + 1;
      ++line_;
      if (line.empty() || line.front() == '#') continue;
      if (is_first) separator_ = find_separator(line);
      if (!is_first || !is_header(line)) parse_row(line);
      is_first = false;
    }
    require(rows_ > 0, "{}: no row of numbers in {} lines", where_, line_);
    const std::int64_t label_columns = label_column_ == LabelColumn::none ? 0 : 1;
    require(columns_ > label_columns, "{}: besides the label column there is no data", where_);
    TextTable table{values_.table(rows_, columns_ - label_columns), {}};
    if (label_columns != 0) {
      const std::vector<std::int64_t> shape{rows_};
      table.labels =
          tensor_from_bytes({reinterpret_cast<const char*>(labels_.data()), labels_.size() * sizeof(std::int64_t)},
                            at::kLong, shape, std::endian::native);
    }
    return table;
  }

 private:
  static char find_separator(std::string_view line) {
    for (const char candidate : {';', ','}) {
      if (line.find(candidate) != std::string_view::npos) return candidate;
    }
    return ' ';
  }

  [[nodiscard]] std::size_t field_end(std::string_view line, std::size_t at) const {
    return std::min(separator_ == ' ' ? line.find_first_of(" \t\r", at) : line.find(separator_, at), line.size());
  }

  [[nodiscard]] bool is_header(std::string_view line) const {
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = field_end(line, at);
      if (is_one_number(trim_blanks(line.substr(at, end - at)))) return false;
      at = end + 1;
    }
    return true;
  }

  [[noreturn]] void fail_field(std::string_view field, std::int64_t column) const {
    if (field.empty()) fail("{}: line {}, column {}: the field is empty", where_, line_, column + 1);
    fail("{}: line {}, column {}: '{}' is not a finite number", where_, line_, column + 1, printable(field));
  }

  void parse_row(std::string_view line) {
    const char* at = line.data();
    const char* const end = at + line.size();
    std::int64_t column = 0;
    const auto skip_blanks = [&] {
      while (at != end && is_blank_in_table(*at)) ++at;
    };
    for (bool expects_field = true; expects_field; ++column) {
      skip_blanks();
      // A single digit is nearly every field of a binary data set, and not worth a call.
      const bool is_digit = end - at >= 1 && *at >= '0' && *at <= '9' && (end - at == 1 || at[1] == separator_);
      if (is_digit && label_column_ == LabelColumn::none) {
        values_.push_byte(static_cast<std::uint8_t>(*at++ - '0'));
      } else {
        at = parse_field(at, end, column);
      }
      skip_blanks();
      if (separator_ == ' ') {
        expects_field = at != end;
      } else {
        expects_field = at != end && *at == separator_;
        if (expects_field) ++at;
      }
    }
    if (at != end) fail_field(line.substr(static_cast<std::size_t>(at - line.data())), column - 1);
    if (label_column_ == LabelColumn::last) push_label(last_value_, column - 1);
    if (rows_ == 0) columns_ = column;
    require(column == columns_, "{}: line {} has {} columns, the rows before it have {}", where_, line_, column,
            columns_);
    ++rows_;
  }

  // Reads the field that begins at `at` and returns its end.
  const char* parse_field(const char* at, const char* end, std::int64_t column) {
    double value = 0;
    const auto [stop, code] = scan_number(at, end, value);
    const bool ends = stop == end || *stop == separator_ || is_blank_in_table(*stop);
    if (code == std::errc::invalid_argument || code == std::errc::result_out_of_range || !ends ||
        !std::isfinite(static_cast<float>(value))) {
      const std::string_view rest(at, static_cast<std::size_t>(end - at));
      fail_field(trim_blanks(rest.substr(0, field_end(rest, 0))), column);
    }
    // Whether a column is the last is known only at the end of the line, so one value is held back.
    if (label_column_ == LabelColumn::first && column == 0) {
      push_label(value, column);
    } else if (label_column_ == LabelColumn::last) {
      if (column > 0) values_.push(last_value_);
      last_value_ = value;
    } else {
      values_.push(value);
    }
    return stop;
  }

  void push_label(double value, std::int64_t column) {
    require(value == std::trunc(value) && std::abs(value) <= 0x1p53,
            "{}: line {}, column {}: the label {} is not an integer", where_, line_, column + 1, value);
    labels_.push_back(static_cast<std::int64_t>(value));
  }

  std::string_view text_;
  const std::string& where_;
  LabelColumn label_column_;
  char separator_ = ' ';
  std::int64_t line_ = 0, rows_ = 0, columns_ = 0;
  double last_value_ = 0;
  NumberBuffer values_;
  std::vector<std::int64_t> labels_;
};

}  // namespace

LabelColumn parse_label_column(std::string_view name) {
  if (name == "none") return LabelColumn::none;
  if (name == "first") return LabelColumn::first;
  if (name == "last") return LabelColumn::last;
  fail("label column '{}' is unknown; choose none, first or last", printable(name));
}

bool is_text(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, sniffed_text_bytes);
  return std::ranges::all_of(head, [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code >= 0x20 && code != 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

TextTable parse_text_table(std::string_view text, const std::string& where, LabelColumn labels) {
  return TextTableParser(text, where, labels).parse();
}

}  // namespace harmonium
