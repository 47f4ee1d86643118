// Tables of numbers as text: CSV in its dialects and .amat, one row a line.
//
//   separator   the first of ; , tab that the first line has outside quotes, else blanks
//   quotes      "0" is 0; separators inside quotes separate nothing; "" inside quotes is a quote
//   decimals    a point; with ; between fields also a comma (0,5), but not both in one file
//   header      the first line, where none of its fields is a number (and some field has text), or where a field in
//               quotes is no number
//   missing     an empty field, NaN, NA, N/A, null or ?
//
// Empty lines and lines that begin with # are passed over; \r\n is a line end. A line with another number of fields,
// infinities and other text are errors that name line and column. Reads about 40 million short numbers a second.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <string_view>
#include <vector>

namespace harmonium {

struct TextTable {
  at::Tensor values;  // rows × columns: uint8 when all are integers of 0 … 255, else float32 (NaN: missing)
  std::vector<std::string> header;  // names of the columns; empty without a header
  std::string dialect;              // "separated by ;, decimal commas"
};

// True when the bytes look like text at all: no control characters among the first few thousand.
[[nodiscard]] bool is_text(std::string_view bytes);
[[nodiscard]] TextTable parse_text_table(std::string_view text, const std::string& where);

}  // namespace harmonium
