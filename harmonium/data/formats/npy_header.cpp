#include "harmonium/data/formats/npy_header.h"

#include <charconv>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"

namespace harmonium {

namespace {

constexpr std::size_t max_npy_dimensions = 32;  // numpy's own limit

class NpyHeaderScanner {
 public:
  NpyHeaderScanner(std::string_view text, std::size_t start, const std::string& where)
      : text_(text), start_(start), where_(where) {}

  [[noreturn]] void fail_here(std::string_view expected) const {
    fail("{}: bad NPY header at byte {}: expected {}, found '{}'", where_, start_ + at_, expected,
         printable(text_.substr(at_), 16));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  [[nodiscard]] bool accept(std::string_view token) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail_here(token);
  }
  [[nodiscard]] bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }

  [[nodiscard]] std::string quoted() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail_here("a quoted text (structured types are not supported)");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail_here("a closing quote");
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(content);
  }

  [[nodiscard]] std::int64_t size() {
    skip_spaces();
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc{} || value < 0) fail_here("a size");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  [[nodiscard]] std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect("(");
    while (!accept(")")) {
      if (sizes.size() == max_npy_dimensions) fail_here("at most 32 dimensions");
      sizes.push_back(size());
      if (!accept(",")) {
        expect(")");
        break;
      }
    }
    return sizes;
  }

 private:
  std::string_view text_;
  std::size_t start_, at_ = 0;
  const std::string& where_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, std::size_t start, const std::string& where) {
  NpyHeaderScanner scanner(text, start, where);
  NpyHeader header;
  bool has_descr = false, has_order = false, has_shape = false;
  scanner.expect("{");
  while (!scanner.accept("}")) {
    const std::string key = scanner.quoted();
    scanner.expect(":");
    if (key == "descr" && !has_descr) {
      header.descr = scanner.quoted();
      has_descr = true;
    } else if (key == "fortran_order" && !has_order) {
      header.fortran_order = scanner.accept("True");
      if (!header.fortran_order) scanner.expect("False");
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      header.shape = scanner.tuple();
      has_shape = true;
    } else {
      scanner.fail_here("descr, fortran_order and shape, once each");
    }
    if (!scanner.accept(",")) {
      scanner.expect("}");
      break;
    }
  }
  if (!scanner.at_end()) scanner.fail_here("the end of the header");
  require(has_descr && has_order && has_shape, "{}: the NPY header at byte {} lacks descr, fortran_order or shape",
          where, start);
  return header;
}

}  // namespace harmonium
