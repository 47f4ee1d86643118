#include "harmonium/report/report.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/report/assets.h"
#include "harmonium/report/charts.h"
#include "harmonium/report/estimates.h"
#include "harmonium/report/html.h"

namespace harmonium {

namespace {

struct Part {
  std::string id, title, body;
};

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; (at = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(at + separator.size()))
    parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

// "−21.3 nats" is a figure and its unit; "784 × 500" and "2 min" are not taken apart.
std::string render_figure_and_unit(std::string_view value) {
  const auto words = split(value, " ");
  if (words.size() != 2 || words[1].find_first_of("0123456789") != std::string_view::npos) return escape_html(value);
  return format("{} <span class=\"unit\">{}</span>", escape_html(words[0]), escape_html(words[1]));
}

std::string render_headline(const ReportContent& content) {
  if (content.headline.empty()) return "";
  std::string html = "<dl class=\"headline\">\n";
  for (const auto& [label, value] : content.headline) {
    const auto parts = split(value, "  ");
    html += format("<div><dt>{}</dt><dd><span class=\"figure\">{}</span>", escape_html(label),
                   render_figure_and_unit(parts.front()));
    for (std::size_t i = 1; i < parts.size(); ++i)
      if (!parts[i].empty()) html += format(" <span class=\"detail\">{}</span>", escape_html(parts[i]));
    html += "</dd></div>\n";
  }
  return html + "</dl>\n";
}

std::string render_gallery(const Gallery& gallery) {
  const std::string alternative = gallery.caption.empty() ? gallery.title : gallery.title + ". " + gallery.caption;
  const std::string caption =
      gallery.caption.empty() ? "" : format("<figcaption>{}</figcaption>\n", escape_html(gallery.caption));
  return format(
      "<figure class=\"gallery\" id=\"gallery-{}\">\n<h3>{}</h3>\n<img src=\"{}\" width=\"{}\" height=\"{}\" "
      "alt=\"{}\">\n{}"
      "</figure>\n",
      escape_html(gallery.id), escape_html(gallery.title), to_data_uri(gallery.picture), gallery.picture.width,
      gallery.picture.height, escape_html(alternative), caption);
}

std::string render_table(const Table& table) {
  std::string head, body;
  for (std::size_t i = 0; i < table.header.size(); ++i)
    head += format("<th scope=\"col\"{}>{}</th>", i == 0 ? "" : " class=\"number\"", escape_html(table.header[i]));
  for (const std::vector<std::string>& row : table.rows) {
    body += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      body += i == 0 ? format("<th scope=\"row\">{}</th>", escape_html(row[i]))
                     : format("<td class=\"number\">{}</td>", escape_html(row[i]));
    body += "</tr>\n";
  }
  const std::string caption =
      table.caption.empty() ? "" : format("<p class=\"note\">{}</p>\n", escape_html(table.caption));
  return format(
      "<div id=\"table-{}\"><h3>{}</h3>\n<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}"
      "</tbody></table></div>\n{}</div>\n",
      escape_html(table.id), escape_html(table.title), head, body, caption);
}

// Text to take away, with a button that report.js shows where copying works.
std::string render_code(std::string_view id, std::string_view text) {
  return format(
      "<div class=\"code\"><button type=\"button\" class=\"copy\" data-copy=\"{0}\" hidden>Copy</button>"
      "<pre tabindex=\"0\"><code id=\"{0}\">{1}</code></pre></div>\n",
      id, escape_html(text));
}

Part render_part(ReportSection section, const ReportContent& content, const std::vector<Chart>& charts) {
  switch (section) {
    case ReportSection::estimates:
      return {"estimates", "Estimates", content.estimates.empty() ? "" : render_estimates(content.estimates)};
    case ReportSection::tables: {
      std::string tables;
      for (const Table& table : content.tables) tables += render_table(table);
      return {"tables", "Tables", tables};
    }
    case ReportSection::charts: {
      std::string figures;
      for (const Chart& chart : charts) figures += render_figure(chart);
      return {"curves", "Curves", figures.empty() ? "" : format("<div class=\"charts\">\n{}</div>\n", figures)};
    }
    case ReportSection::galleries: {
      std::string figures;
      for (const Gallery& gallery : content.galleries) figures += render_gallery(gallery);
      return {"pictures", "Pictures", figures.empty() ? "" : format("<div class=\"galleries\">\n{}</div>\n", figures)};
    }
    case ReportSection::configuration:
      return {"configuration", "Configuration",
              content.configuration.empty() ? "" : render_code("configuration-text", content.configuration)};
    case ReportSection::reproduce: {
      std::string lines;
      for (const std::string& line : content.reproduce) lines += line + "\n";
      return {"reproduce", "Reproduce", lines.empty() ? "" : render_code("reproduce-lines", lines)};
    }
  }
  return {};
}

// Fills the {{places}} of a template in one pass, so that braces inside what is filled in stay as they are.
std::string fill(std::string_view page, const std::function<std::string_view(std::string_view)>& value_of) {
  std::string filled;
  for (std::size_t open = 0; (open = page.find("{{")) != std::string_view::npos;) {
    const std::size_t close = page.find("}}", open);
    filled += page.substr(0, open);
    filled += value_of(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
  return filled += page;
}

}  // namespace

std::string render_report(const ReportContent& content) {
  std::vector<Chart> charts;
  nlohmann::json data = nlohmann::json::array();
  for (const Chart& chart : content.charts) {
    charts.push_back(prepare(chart));
    if (has_points(charts.back())) data.push_back(chart_data(charts.back()));
  }
  std::string sections, contents;
  for (const ReportSection section : content.order) {
    const Part part = render_part(section, content, charts);
    if (part.body.empty()) continue;
    sections +=
        format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
               part.id, part.title, part.body);
    contents += format("<li><a href=\"#{}\">{}</a></li>", part.id, part.title);
  }
  const std::string title = escape_html(content.title), headline_figures = render_headline(content);
  const std::string subtitle =
      content.subtitle.empty() ? "" : format("<p class=\"subtitle\">{}</p>", escape_html(content.subtitle));
  const std::string footer = content.footer.empty() ? "" : format("<footer>{}</footer>", escape_html(content.footer));
  const std::string chart_json = script_json(data);
  return fill(assets::report_html(), [&](std::string_view place) -> std::string_view {
    if (place == "title") return title;
    if (place == "subtitle") return subtitle;
    if (place == "headline") return headline_figures;
    if (place == "contents") return contents;
    if (place == "sections") return sections;
    if (place == "footer") return footer;
    if (place == "chart_data") return chart_json;
    if (place == "report_css") return assets::report_css();
    if (place == "chart_js") return assets::chart_js();
    if (place == "report_js") return assets::report_js();
    throw std::logic_error(format("report.html has an unknown place {}", place));
  });
}

void write_report(const std::filesystem::path& path, const ReportContent& content) {
  write_file_atomically(path, render_report(content));
}

}  // namespace harmonium
