#include "harmonium/report/estimates.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
#include "harmonium/report/html.h"

namespace harmonium {

namespace {

constexpr int decimals_of_a_point = 4, decimals_without_width = 2, most_decimals = 6;

int decimals_for(const Estimate& estimate) {
  const double half_width = (estimate.high - estimate.low) / 2;
  if (half_width == 0) return decimals_of_a_point;
  if (!std::isfinite(half_width) || half_width < 0) return decimals_without_width;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, most_decimals);
}

// Rounded away from the value, so that the interval shown covers the interval meant.
std::string interval_end(double end, int decimals, bool upwards) {
  if (!std::isfinite(end)) return fixed_number(end, decimals);
  const double unit = std::pow(10.0, decimals);
  return fixed_number((upwards ? std::ceil(end * unit - 1e-6) : std::floor(end * unit + 1e-6)) / unit, decimals);
}

// 10000 → "10 000", with the narrow space that does not break.
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, "\u202f");
  return digits;
}

std::string_view meaning(EstimateKind kind) {
  switch (kind) {
    case EstimateKind::exact:
      return "computed by enumeration, no error but rounding";
    case EstimateKind::unbiased_estimate:
      return "unbiased for Z, so log Z comes out too low on average and a log-likelihood from it too high";
    case EstimateKind::lower_bound:
      return "on average not above the true number";
    case EstimateKind::upper_bound:
      return "on average not below the true number";
    case EstimateKind::estimated_lower_bound:
      return "the truth is at least this if log Z is right; an estimated log Z comes out too low on average, and this "
             "number then too high";
    case EstimateKind::estimate:
      return "neither a bound nor unbiased; the interval covers sampling error only";
  }
  return "";
}

std::string render_row(const EstimateRow& row) {
  EstimateText text = describe(row.estimate);
  if (!row.judgement.trusted) {
    text.value = bracket(row.judgement);
    text.interval = "";
    text.kind = doubt(row.judgement);
  }
  const std::string note = row.note.empty() ? "" : format("<span class=\"note\">{}</span>", escape_html(row.note));
  return format(
      "<tr><th scope=\"row\">{}{}</th><td class=\"number value\">{}</td><td class=\"number\">{}</td>"
      "<td><span class=\"kind\">{}</span></td><td>{}</td></tr>\n",
      escape_html(row.what), note, text.value, text.interval, escape_html(text.kind), escape_html(text.method));
}

}  // namespace

EstimateText describe(const Estimate& estimate) {
  const int decimals = decimals_for(estimate);
  EstimateText text;
  text.value = fixed_number(estimate.value, decimals);
  text.interval = !has_interval(estimate)         ? interval_remark(estimate)
                  : estimate.low == estimate.high ? format("[{0}, {0}]", fixed_number(estimate.low, decimals))
                                                  : format("[{}, {}]", interval_end(estimate.low, decimals, false),
                                                           interval_end(estimate.high, decimals, true));
  text.kind = to_string(estimate.kind);
  text.method = estimate.method;
  if (estimate.chains > 0)
    text.method += format(", {} {}", grouped(estimate.chains),
                          estimate.method.starts_with("importance") ? "draws of each row" : "chains");
  if (estimate.betas > 0) text.method += format("{}{} β", estimate.chains > 0 ? " × " : ", ", grouped(estimate.betas));
  if (estimate.effective_samples)
    text.method += format(", effective sample size {}", fixed_number(*estimate.effective_samples, 1));
  return text;
}

std::string headline(const Estimate& estimate) {
  const EstimateText text = describe(estimate);
  return format("{} nats  {}  {}", text.value, text.interval, text.kind);
}

std::string headline(const Evaluation& evaluation) {
  const Judgement found = judgement(evaluation);
  if (found.trusted) return headline(*evaluation.log_likelihood);
  return format("{}  {}", bracket(found), doubt(found));
}

std::string render_estimates(const std::vector<EstimateRow>& rows) {
  std::string html =
      "<div class=\"scroll\"><table class=\"estimates\">\n<thead><tr><th scope=\"col\">Quantity</th>"
      "<th scope=\"col\" class=\"number\">Value, nats</th>"
      "<th scope=\"col\" class=\"number\">95 % interval</th><th scope=\"col\">Kind</th>"
      "<th scope=\"col\">Method</th></tr></thead>\n<tbody>\n";
  std::vector<EstimateKind> kinds;
  for (const EstimateRow& row : rows) {
    html += render_row(row);
    if (std::find(kinds.begin(), kinds.end(), row.estimate.kind) == kinds.end()) kinds.push_back(row.estimate.kind);
  }
  html += "</tbody></table></div>\n<dl class=\"kinds\">";
  for (const EstimateKind kind : kinds)
    html += format("<div><dt>{}</dt><dd>{}.</dd></div>", escape_html(to_string(kind)), meaning(kind));
  return html + "</dl>\n";
}

}  // namespace harmonium
