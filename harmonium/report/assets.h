// The files a report carries inside, embedded into the library when it is built (see assets.cmake).
#pragma once

#include <string_view>

namespace harmonium::assets {

[[nodiscard]] std::string_view chart_js();     // Chart.js, from Debian's libjs-chart.js
[[nodiscard]] std::string_view report_html();  // assets/report.html, the page with {{places}} to fill
[[nodiscard]] std::string_view report_css();
[[nodiscard]] std::string_view report_js();

}  // namespace harmonium::assets
