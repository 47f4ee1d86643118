# Embeds Chart.js and the report's own page, style and script into harmonium_files, so that writing a report needs no
# installed file and reading one needs no network. Declared in assets.h.
find_file(HARMONIUM_CHART_JS chart.min.js
          PATHS /usr/share/javascript/chart.js /usr/local/share/javascript/chart.js NO_DEFAULT_PATH
          DOC "Chart.js 3, minified, embedded into the report")
if(NOT HARMONIUM_CHART_JS)
  message(FATAL_ERROR "chart.min.js not found: install the package libjs-chart.js, or give -DHARMONIUM_CHART_JS=FILE")
endif()

set(report_assets ${CMAKE_CURRENT_LIST_DIR}/assets)
set(report_files chart_js ${HARMONIUM_CHART_JS} report_html ${report_assets}/report.html
                 report_css ${report_assets}/report.css report_js ${report_assets}/report.js)
set(embedded ${PROJECT_BINARY_DIR}/generated/harmonium/report/assets.cpp)
string(REPLACE ";" "|" names_and_files "${report_files}")
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${embedded}" "-DNAMES_AND_FILES=${names_and_files}" -P ${report_assets}/embed.cmake
  DEPENDS ${report_assets}/embed.cmake ${HARMONIUM_CHART_JS} ${report_assets}/report.html ${report_assets}/report.css
          ${report_assets}/report.js
  COMMENT "Embedding the report's assets" VERBATIM)
target_sources(harmonium_files PRIVATE ${embedded})
