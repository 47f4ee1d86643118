// Our errors as Python's: Error is a ValueError, RunFailure a RuntimeError, both with our messages.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace harmonium::python {

// Options that a message of the library marks, by the names that parameters have here.
[[nodiscard]] std::string in_python_words(const std::string& message);

void add_errors(pybind11::module_& module);

}  // namespace harmonium::python
