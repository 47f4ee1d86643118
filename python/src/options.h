// RunConfig as Python sees it: names, defaults and help of every option, and a configuration from a dict.
#pragma once

#include <pybind11/pybind11.h>

#include "harmonium/families/run_config.h"

namespace harmonium::python {

namespace py = pybind11;

// (name, default, help) of every option, in order.
[[nodiscard]] py::list run_options();
// Options that are not there keep their defaults. Fails for names that do not exist and values of another type.
[[nodiscard]] RunConfig config_from(const py::dict& options);
[[nodiscard]] py::dict config_to(const RunConfig& config);

}  // namespace harmonium::python
