#include "options.h"

#include "harmonium/core/error.h"

namespace harmonium::python {

namespace {

template <class Field>
void take(const std::string& name, Field& field, const py::handle& value) {
  try {
    if constexpr (std::is_same_v<Field, std::string>) {
      field = py::str(value).cast<std::string>();
    } else {
      if (py::isinstance<py::bool_>(value)) throw py::cast_error();
      field = value.cast<Field>();
    }
  } catch (const py::cast_error&) {
    throw py::type_error(format("{} must be {}, not {}", name,
                                std::is_same_v<Field, double> ? "a number" : "an integer",
                                py::repr(value).cast<std::string>()));
  }
}

}  // namespace

py::list run_options() {
  py::list options;
  const RunConfig defaults;
  RunConfig::visit(defaults, [&](const char* name, const auto& field, const char* help) {
    options.append(py::make_tuple(name, field, plain_options(help)));
  });
  return options;
}

RunConfig config_from(const py::dict& options) {
  RunConfig config;
  std::size_t used = 0;
  RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
    if (!options.contains(name)) return;
    ++used;
    take(name, field, options[name]);
  });
  if (used == options.size()) return config;
  const py::dict known = config_to(config);
  for (const auto& [name, value] : options)
    if (!known.contains(name))
      throw py::type_error(format("there is no option '{}'", py::str(name).cast<std::string>()));
  return config;
}

py::dict config_to(const RunConfig& config) {
  py::dict options;
  RunConfig::visit(config, [&](const char* name, const auto& field, const char*) { options[name] = field; });
  return options;
}

}  // namespace harmonium::python
