#include "harmonium/report/confusion.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/png.h"
#include "harmonium/report/html.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

namespace {

// Digits of 3 × 5 pixels and the sign between two classes; rows from the top, the left pixel is the highest bit.
constexpr std::int64_t glyph_height = 5, glyph_width = 3;
constexpr std::string_view glyph_names = "0123456789>";
constexpr std::array<std::array<unsigned, glyph_height>, glyph_names.size()> glyphs = {{{7, 5, 5, 5, 7},
                                                                                        {2, 6, 2, 2, 7},
                                                                                        {7, 1, 7, 4, 7},
                                                                                        {7, 1, 7, 1, 7},
                                                                                        {5, 5, 7, 1, 1},
                                                                                        {7, 4, 7, 1, 7},
                                                                                        {7, 4, 7, 5, 7},
                                                                                        {7, 1, 1, 2, 2},
                                                                                        {7, 5, 7, 5, 7},
                                                                                        {7, 5, 7, 1, 7},
                                                                                        {4, 2, 1, 2, 4}}};

std::int64_t text_width(std::string_view text) {
  return static_cast<std::int64_t>(text.size()) * (glyph_width + 1) - 1;
}

// Calls paint(row, column) for every pixel of the text that is set.
template <class Paint>
void write_text(std::string_view text, Paint paint) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t glyph = glyph_names.find(text[i]);
    if (glyph == std::string_view::npos) continue;  // a space
    for (std::int64_t row = 0; row < glyph_height; ++row)
      for (std::int64_t column = 0; column < glyph_width; ++column)
        if ((glyphs[glyph][static_cast<std::size_t>(row)] >> (glyph_width - 1 - column) & 1U) != 0)
          paint(row, column + static_cast<std::int64_t>(i) * (glyph_width + 1));
  }
}

class Sheet {
 public:
  Sheet(std::int64_t height, std::int64_t width) : picture_{height, width, 3, {}} {
    picture_.pixels.assign(static_cast<std::size_t>(height * width * 3), 255);
  }
  using Ink = std::array<std::uint8_t, 3>;
  void fill(std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width, const Ink& ink) {
    for (std::int64_t row = top; row < top + height; ++row)
      for (std::int64_t column = left; column < left + width; ++column)
        std::copy(ink.begin(), ink.end(), picture_.pixels.begin() + (row * picture_.width + column) * 3);
  }
  // Centred in a square.
  void text(std::int64_t top, std::int64_t left, std::int64_t side, const std::string& words, const Ink& ink) {
    constexpr std::int64_t zoom = 2;
    top += (side - glyph_height * zoom) / 2;
    left += (side - text_width(words) * zoom) / 2;
    write_text(words, [&](std::int64_t row, std::int64_t column) {
      fill(top + row * zoom, left + column * zoom, zoom, zoom, ink);
    });
  }
  Picture take() { return std::move(picture_); }

 private:
  Picture picture_;
};

// From white to full colour.
Sheet::Ink shade(double share, const std::array<double, 3>& full) {
  Sheet::Ink ink{};
  for (std::size_t i = 0; i < ink.size(); ++i)
    ink[i] = static_cast<std::uint8_t>(std::lround(std::lerp(255.0, full[i], std::clamp(share, 0.0, 1.0))));
  return ink;
}

std::int64_t rows_of(const ClassificationResult& result, std::size_t truth) {
  std::int64_t rows = 0;
  for (const std::int64_t count : result.confusion[truth]) rows += count;
  return rows;
}

}  // namespace

std::string percent(const Proportion& share) {
  return format("{:.2f} % [{:.2f}, {:.2f}]", 100 * share.value, 100 * share.low, 100 * share.high);
}

std::string confusion_text(const ClassificationResult& result) {
  std::size_t width = 4;
  for (const auto& line : result.confusion)
    for (const std::int64_t count : line) width = std::max(width, std::to_string(count).size() + 1);
  std::string text = "true\\as";
  for (std::size_t c = 0; c < result.confusion.size(); ++c) text += format("{:>{}}", c, width);
  text += "   error\n";
  for (std::size_t truth = 0; truth < result.confusion.size(); ++truth) {
    text += format("{:>7}", truth);
    for (const std::int64_t count : result.confusion[truth])
      text += format("{:>{}}", count == 0 ? "." : std::to_string(count), width);
    text += rows_of(result, truth) == 0 ? "       –\n" : format("  {:5.2f} %\n", 100 * result.class_error(truth).value);
  }
  return text;
}

Table confusion_table(const ClassificationResult& result) {
  Table table{.id = "confusion",
              .title = format("Confusion matrix, {}", result.data),
              .caption = format("Rows: the true class; columns: the predicted class. {} rows, binarization {}. "
                                "Intervals are 95 % (Wilson).",
                                result.n, result.binarization),
              .header = {"true"},
              .rows = {}};
  for (std::size_t c = 0; c < result.confusion.size(); ++c) table.header.push_back(format("as {}", c));
  table.header.emplace_back("error");
  for (std::size_t truth = 0; truth < result.confusion.size(); ++truth) {
    std::vector<std::string> row = {format("{}", truth)};
    for (const std::int64_t count : result.confusion[truth]) row.push_back(format("{}", count));
    row.push_back(rows_of(result, truth) == 0 ? "–" : percent(result.class_error(truth)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Picture confusion_picture(const ClassificationResult& result) {
  const auto classes = static_cast<std::int64_t>(result.confusion.size());
  std::int64_t largest_count = 0;
  double worst = 0;  // the largest share of a class that goes to one wrong class
  for (std::size_t truth = 0; truth < result.confusion.size(); ++truth)
    for (std::size_t c = 0; c < result.confusion.size(); ++c) {
      const std::int64_t count = result.confusion[truth][c];
      largest_count = std::max(largest_count, count);
      if (c != truth && count > 0)
        worst = std::max(worst, static_cast<double>(count) / static_cast<double>(rows_of(result, truth)));
    }
  const std::int64_t side = std::max<std::int64_t>(28, 2 * text_width(std::to_string(largest_count)) + 8), margin = 28;
  constexpr Sheet::Ink black = {20, 20, 20}, white = {255, 255, 255}, line = {225, 225, 225};
  constexpr std::array<double, 3> right = {8, 72, 140}, wrong = {190, 30, 45};
  Sheet sheet(margin + classes * side + 1, margin + classes * side + 1);
  for (std::int64_t truth = 0; truth < classes; ++truth) {
    sheet.text(margin + truth * side + (side - margin) / 2, 0, margin, std::to_string(truth), black);
    sheet.text(0, margin + truth * side + (side - margin) / 2, margin, std::to_string(truth), black);
    const auto t = static_cast<std::size_t>(truth);
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, rows_of(result, t)));
    for (std::int64_t c = 0; c < classes; ++c) {
      const std::int64_t count = result.confusion[t][static_cast<std::size_t>(c)];
      const double share = static_cast<double>(count) / rows;
      const double depth = c == truth ? share : worst > 0 ? share / worst : 0;
      const std::int64_t top = margin + truth * side, left = margin + c * side;
      sheet.fill(top, left, side + 1, side + 1, line);
      sheet.fill(top + 1, left + 1, side - 1, side - 1, shade(depth, c == truth ? right : wrong));
      if (count > 0) sheet.text(top, left, side, std::to_string(count), depth > 0.5 ? white : black);
    }
  }
  return sheet.take();
}

Picture mistakes_picture(const ClassificationResult& result, const at::Tensor& images, ImageShape shape) {
  const std::int64_t count = images.size(0);
  std::int64_t widest = shape.width;
  std::vector<std::string> captions;
  for (const Mistake& each : result.mistakes) {
    captions.push_back(format("{}>{}", each.truth, each.predicted));
    widest = std::max(widest, text_width(captions.back()) + 2);
  }
  // Small pictures are enlarged first, so that the letters stay in proportion.
  const std::int64_t zoom = (std::max<std::int64_t>(widest, 28) + shape.width - 1) / shape.width;
  const std::int64_t width = shape.width * zoom, height = shape.height * zoom, band = glyph_height + 2;
  at::Tensor cells = at::zeros({count, height + band, width});
  at::Tensor filled = at::zeros({count, shape.height * shape.width});
  filled.narrow(1, 0, images.size(1)).copy_(images);
  cells.narrow(1, 0, height)
      .copy_(filled.reshape({count, shape.height, shape.width}).repeat_interleave(zoom, 1).repeat_interleave(zoom, 2));
  float* const pixels = cells.data_ptr<float>();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string& caption = captions[static_cast<std::size_t>(i)];
    const std::int64_t left = (width - text_width(caption)) / 2;
    write_text(caption, [&](std::int64_t row, std::int64_t column) {
      pixels[(i * (height + band) + height + 1 + row) * width + left + column] = 1;
    });
  }
  return tile_images(cells.reshape({count, (height + band) * width}), {height + band, width}, {.zoom = 2});
}

Picture stacked(const std::vector<Picture>& pictures) {
  constexpr std::int64_t gap = 12;
  std::int64_t height = 0, width = 0;
  for (const Picture& each : pictures) {
    height += each.height + (height > 0 ? gap : 0);
    width = std::max(width, each.width);
  }
  Picture result{height, width, 3, std::vector<std::uint8_t>(static_cast<std::size_t>(height * width * 3), 255)};
  std::int64_t top = 0;
  for (const Picture& each : pictures) {
    for (std::int64_t row = 0; row < each.height; ++row)
      for (std::int64_t column = 0; column < each.width; ++column)
        for (std::int64_t channel = 0; channel < 3; ++channel)
          result.pixels[static_cast<std::size_t>(((top + row) * width + column) * 3 + channel)] =
              each.pixels[static_cast<std::size_t>((row * each.width + column) * each.channels +
                                                   (each.channels == 3 ? channel : 0))];
    top += each.height + gap;
  }
  return result;
}

Picture read_mistakes(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(RunFolder(folder).mistakes())) return {};
  GrayImage image = read_png(RunFolder(folder).mistakes());
  return {image.height, image.width, 1, std::move(image.pixels)};
}

void add_classifications(ReportContent& content, const std::vector<ClassificationResult>& results,
                         const Picture& mistakes) {
  if (results.empty()) return;
  for (const ClassificationResult& each : results) {
    const Proportion error = each.error();
    content.headline.emplace_back(
        format("classification error, {}", each.data),
        format("{:.2f} %  [{:.2f}, {:.2f}] %  {} of {} rows, binarization {}", 100 * error.value, 100 * error.low,
               100 * error.high, each.wrong, each.n, each.binarization));
  }
  const ClassificationResult& last = results.back();
  content.tables.push_back(confusion_table(last));
  content.galleries.push_back({.id = "confusion",
                               .title = "Confusion matrix",
                               .caption = format("{}, {} rows. Rows: the true class; columns: the predicted "
                                                 "class. Blue is right; red is wrong, on its own scale.",
                                                 last.data, last.n),
                               .picture = confusion_picture(last)});
  if (mistakes.height == 0) return;
  content.galleries.push_back({.id = "mistakes",
                               .title = "The surest mistakes",
                               .caption = format("Rows of {} that the model misclassifies with the most confidence "
                                                 "(true > predicted).",
                                                 last.data),
                               .picture = mistakes});
}

}  // namespace harmonium
