#include "errors.h"

#include <c10/util/Exception.h>

#include <map>
#include <new>
#include <optional>
#include <string>

#include "harmonium/core/error.h"
#include "harmonium/core/memory_failure.h"

namespace harmonium::python {

namespace {

PyObject* run_failure = nullptr;

}  // namespace

std::string in_python_words(const std::string& message) {
  static const std::map<std::string, std::string> renamed = {
      {"hidden", "n_components"}, {"batch", "batch_size"}, {"seed", "random_state"}, {"valid", "X_valid"}};
  return spell_options(message, [](const std::string& name) {
    const auto other = renamed.find(name);
    return other == renamed.end() ? name : other->second;
  });
}

void add_errors(pybind11::module_& module) {
  namespace py = pybind11;
  run_failure = PyErr_NewExceptionWithDoc("harmonium.RunFailure",
                                          "A run that went wrong through no mistake in its input, such as parameters "
                                          "that grow without bound.",
                                          PyExc_RuntimeError, nullptr);
  module.add_object("RunFailure", py::reinterpret_borrow<py::object>(run_failure));
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error& error) {
      PyErr_SetString(PyExc_ValueError, in_python_words(error.marked()).c_str());
    } catch (const RunFailure& failure) {
      PyErr_SetString(run_failure, in_python_words(failure.marked()).c_str());
    } catch (const std::bad_alloc& error) {
      PyErr_SetString(PyExc_MemoryError, in_python_words(*memory_failure(error)).c_str());
    } catch (const c10::Error& error) {
      if (const std::optional<std::string> shortage = memory_failure(error))
        PyErr_SetString(PyExc_MemoryError, in_python_words(*shortage).c_str());
      else
        PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
    }
  });
}

}  // namespace harmonium::python
