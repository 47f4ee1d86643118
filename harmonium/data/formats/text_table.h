// Tables of numbers as text: CSV (comma or semicolon) and .amat (blanks or tabs), one row a line.
//
// The separator is the semicolon if the first line has one, else the comma, else blanks. The first line is a header,
// and skipped, when none of its fields is a number. Empty lines and lines that begin with # are skipped; \r\n is a line
// end. Numbers are decimal with a point; NaN, infinities, empty fields and rows of another length are errors that name
// line and column. Reads about 40 million short numbers a second.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <string_view>

namespace harmonium {

enum class LabelColumn { none, first, last };
// "none", "first" or "last"; throws Error for anything else.
[[nodiscard]] LabelColumn parse_label_column(std::string_view name);

struct TextTable {
  at::Tensor values;  // rows × columns: uint8 when all are integers of 0 … 255, else float32
  at::Tensor labels;  // rows, int64; undefined without a label column
};

// True when the bytes look like text at all: no control characters among the first few thousand.
[[nodiscard]] bool is_text(std::string_view bytes);
[[nodiscard]] TextTable parse_text_table(std::string_view text, const std::string& where,
                                         LabelColumn labels = LabelColumn::none);

}  // namespace harmonium
