#include "harmonium/data/formats/text_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"

namespace harmonium {

namespace {

constexpr std::size_t sniffed_text_bytes = 4096;

bool is_blank_in_table(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank_in_table(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank_in_table(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 9> marks{"", "NaN", "nan", "NAN", "NA", "N/A", "null", "NULL", "?"};
  return std::ranges::find(marks, field) != marks.end();
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

struct TextField {
  std::string text;  // without quotes and blanks around it
  bool quoted = false;
};

class TextTableParser {
 public:
  TextTableParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  TextTable parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // the mark some editors put before UTF-8
    TextTable table;
    bool is_first = true;
    for (std::size_t start = 0; start < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', start), text_.size());
      const std::string_view line = without_line_end(text_.substr(start, end - start));
      start = end + 1;
      ++line_;
      if (trim_blanks(line).empty() || trim_blanks(line).front() == '#') continue;
      if (is_first) separator_ = find_separator(line);
      if (is_first && is_header(line))
        for (TextField& field : fields_of(line)) table.header.push_back(std::move(field.text));
      else
        parse_row(separator_ == ' ' ? trim_blanks(line) : line);
      is_first = false;
    }
    require(rows_ > 0, "{}: no row of numbers in {} lines", where_, line_);
    if (!table.header.empty() && static_cast<std::int64_t>(table.header.size()) != columns_)
      fail("{}: the header has {} fields ({}, …), the rows have {} (fields are {})", where_, table.header.size(),
           printable(table.header.front()), columns_, separated_by());
    table.values = values_.table(rows_, columns_);
    table.dialect = separated_by();
    if (decimal_ == ',') table.dialect += ", decimal commas";
    return table;
  }

 private:
  static std::string_view without_line_end(std::string_view line) {
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  static char find_separator(std::string_view line) {
    for (const char candidate : {';', ',', '\t'}) {
      bool quoted = false;
      for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == candidate && !quoted) return candidate;
      }
    }
    return ' ';
  }

  [[nodiscard]] std::string separated_by() const {
    if (separator_ == ' ') return "separated by blanks";
    return separator_ == '\t' ? "separated by tabs" : format("separated by {}", separator_);
  }

  [[nodiscard]] bool is_separator(char c) const { return separator_ == ' ' ? is_blank_in_table(c) : c == separator_; }

  // The field that begins at `at`, which moves to the separator after it or to the end.
  [[nodiscard]] TextField next_field(std::string_view line, std::size_t& at) const {
    const auto skip_blanks = [&] {
      while (at < line.size() && is_blank_in_table(line[at]) && (separator_ == ' ' || line[at] != separator_)) ++at;
    };
    skip_blanks();
    TextField field;
    if (at < line.size() && line[at] == '"') {
      field.quoted = true;
      for (++at; at < line.size(); ++at) {
        if (line[at] == '"' && at + 1 < line.size() && line[at + 1] == '"')
          ++at;
        else if (line[at] == '"')
          break;
        field.text += line[at];
      }
      require(at < line.size(), "{}: line {}: a quote that opens is not closed", where_, line_);
      ++at;
      field.text = trim_blanks(field.text);
    }
    const std::size_t start = at;
    while (at < line.size() && !is_separator(line[at])) ++at;
    field.text += trim_blanks(line.substr(start, at - start));
    if (separator_ == ' ') skip_blanks();
    return field;
  }

  [[nodiscard]] std::vector<TextField> fields_of(std::string_view line) const {
    std::vector<TextField> fields;
    if (separator_ == ' ') line = trim_blanks(line);
    for (std::size_t at = 0;;) {
      fields.push_back(next_field(line, at));
      if (at >= line.size()) return fields;
      if (separator_ != ' ') ++at;
    }
  }

  // The number that a field is; nothing where it is none. `decimal` becomes '.' or ',' where the field shows it.
  [[nodiscard]] std::optional<double> number_of(std::string_view field, char& decimal) const {
    std::string changed;
    if (separator_ == ';') {
      const std::size_t comma = field.find(',');
      if (comma != std::string_view::npos && field.find(',', comma + 1) == std::string_view::npos &&
          field.find('.') == std::string_view::npos) {
        changed = field;
        changed[comma] = '.';
        field = changed;
        decimal = ',';
      }
    }
    if (decimal != ',' && field.find('.') != std::string_view::npos) decimal = '.';
    // from_chars does not allow a leading '+'.
    if (field.size() > 1 && field.front() == '+' && field[1] != '-') field.remove_prefix(1);
    double value = 0;
    const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (end != field.data() + field.size() || code == std::errc::invalid_argument) return std::nullopt;
    if (code == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
    return value;
  }

  [[nodiscard]] bool is_header(std::string_view line) const {
    bool numbers = false, text = false, quoted_text = false;
    for (const TextField& field : fields_of(line)) {
      char decimal = 0;
      const bool number = number_of(field.text, decimal).has_value() && !is_missing(field.text);
      numbers = numbers || number;
      text = text || (!number && !is_missing(field.text));
      quoted_text = quoted_text || (!number && field.quoted && !is_missing(field.text));
    }
    return quoted_text || (text && !numbers);
  }

  void parse_row(std::string_view line) {
    std::size_t at = 0;
    std::int64_t column = 0;
    for (;; ++column) {
      while (at < line.size() && line[at] == ' ') ++at;
      // A single digit is nearly every field of a binary data set, and not worth a call.
      if (at < line.size() && line[at] >= '0' && line[at] <= '9' &&
          (at + 1 == line.size() || is_separator(line[at + 1]))) {
        values_.push_byte(static_cast<std::uint8_t>(line[at++] - '0'));
        if (separator_ == ' ')
          while (at < line.size() && is_blank_in_table(line[at])) ++at;
      } else {
        const TextField field = next_field(line, at);
        values_.push(value_of(field.text, column));
      }
      if (at >= line.size()) break;
      if (separator_ != ' ') ++at;
    }
    ++column;
    if (rows_ == 0) columns_ = column;
    require(column == columns_, "{}: line {} has {} columns, the rows before it have {} (fields are {})", where_, line_,
            column, columns_, separated_by());
    ++rows_;
  }

  double value_of(const std::string& field, std::int64_t column) {
    if (is_missing(field)) return std::numeric_limits<double>::quiet_NaN();
    char decimal = 0;
    const std::optional<double> value = number_of(field, decimal);
    require(value.has_value() && std::isfinite(static_cast<float>(*value)),
            "{}: line {}, column {}: '{}' is not a finite number (fields are {})", where_, line_, column + 1,
            printable(field), separated_by());
    require(decimal == 0 || decimal_ == 0 || decimal == decimal_,
            "{}: line {}, column {}: '{}' has a decimal {}, numbers before it a decimal {}", where_, line_, column + 1,
            printable(field), decimal == ',' ? "comma" : "point", decimal == ',' ? "point" : "comma");
    if (decimal != 0) decimal_ = decimal;
    return *value;
  }

  std::string_view text_;
  const std::string& where_;
  char separator_ = ' ', decimal_ = 0;
  std::int64_t line_ = 0, rows_ = 0, columns_ = 0;
  NumberBuffer values_;
};

}  // namespace

bool is_text(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, sniffed_text_bytes);
  return std::ranges::all_of(head, [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code >= 0x20 && code != 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

TextTable parse_text_table(std::string_view text, const std::string& where) {
  return TextTableParser(text, where).parse();
}

}  // namespace harmonium
