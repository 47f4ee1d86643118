// Text into HTML: escaping, and JSON that may stand inside a <script>.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace harmonium {

// Safe between tags and inside a quoted attribute.
[[nodiscard]] std::string escape_html(std::string_view text);

// JSON in ASCII without '<', '>' and '&', so that no text in it can end the <script> around it.
[[nodiscard]] std::string script_json(const nlohmann::json& value);

}  // namespace harmonium
