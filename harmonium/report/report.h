// The report: one HTML file that shows a run and needs nothing else — no network, no server, no installed files.
//
// What is shown is given as plain content (numbers, pictures, text) with no knowledge of training; render_report() lays
// it out. Everything given is text and is escaped; values that are not finite become gaps in a curve; long curves are
// thinned (see thinning.h). The page holds Chart.js, its own style and script, follows the reader's light or dark
// setting, prints, and forbids itself every outside request by a Content-Security-Policy.
//
// When all charts are on the page the script sets, on <html>, data-charts-drawn to the number of charts whose canvas
// holds pixels, and data-errors to the number of script errors: what a test in a real browser looks at.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/likelihood/judgement.h"
#include "harmonium/report/picture.h"

namespace harmonium {

struct Series {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low, high;  // a band around y; both empty or both as long as y
  bool dashed = false, dotted = false;
  int colour = 0;         // series of one colour belong together; 0: by the place in the chart
  bool marked = false;    // every point has a mark: values from elsewhere, against which others are held
  bool unjoined = false;  // points without a line
};

struct Chart {
  std::string id;  // unique in a report; letters, digits, '-' and '_'
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series;
  std::string caption;
};

struct Gallery {
  std::string id, title, caption;
  Picture picture;
};

struct EstimateRow {
  std::string what;  // "log-likelihood, test"
  Estimate estimate;
  std::string note;          // "10 000 images, threshold binarization"
  Judgement judgement = {};  // where it is not trusted its bracket is shown in place of value and interval
};

// Numbers side by side. Cells are text; columns after the first are set as numbers.
struct Table {
  std::string id, title, caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

enum class ReportSection { estimates, tables, charts, galleries, configuration, reproduce };

struct ReportContent {
  std::string title, subtitle;
  // The figures at the top: label and value. What follows two spaces in a value is set small below it, so that
  // headline(estimate) = "−21.3 nats  [−21.5, −21.1]  exact" keeps interval and kind with the number.
  std::vector<std::pair<std::string, std::string>> headline;
  std::vector<Chart> charts;
  std::vector<Gallery> galleries;
  std::vector<EstimateRow> estimates;
  std::vector<Table> tables;
  std::string configuration;           // TOML text
  std::vector<std::string> reproduce;  // shell lines
  std::string footer;
  // Sections in the order of the page; one that has nothing to show is left out.
  std::vector<ReportSection> order = {ReportSection::estimates, ReportSection::tables,        ReportSection::charts,
                                      ReportSection::galleries, ReportSection::configuration, ReportSection::reproduce};
};

// An estimate as one line: value in nats, interval and kind. Of an answer that is not trusted: its bracket, and why.
[[nodiscard]] std::string headline(const Estimate& estimate);
[[nodiscard]] std::string headline(const Evaluation& evaluation);

[[nodiscard]] std::string render_report(const ReportContent& content);
void write_report(const std::filesystem::path& path, const ReportContent& content);

}  // namespace harmonium
