#include "errors.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <regex>

#include "harmonium/core/error.h"

namespace harmonium::python {

namespace {

PyObject* run_failure = nullptr;

}  // namespace

std::string in_python_words(const std::string& message) {
  static const std::map<std::string, std::string> renamed = {
      {"hidden", "n_components"}, {"batch", "batch_size"}, {"seed", "random_state"}};
  static const std::regex flag("--([a-z][a-z0-9]*(-[a-z0-9]+)*)");
  std::string result;
  std::size_t done = 0;
  for (std::sregex_iterator found(message.begin(), message.end(), flag), end; found != end; ++found) {
    std::string name = (*found)[1];
    std::replace(name.begin(), name.end(), '-', '_');
    if (const auto other = renamed.find(name); other != renamed.end()) name = other->second;
    const auto place = static_cast<std::size_t>(found->position());
    result += message.substr(done, place - done) + name;
    done = place + static_cast<std::size_t>(found->length());
  }
  return result + message.substr(done);
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
      PyErr_SetString(PyExc_ValueError, in_python_words(error.what()).c_str());
    } catch (const RunFailure& failure) {
      PyErr_SetString(run_failure, in_python_words(failure.what()).c_str());
    } catch (const c10::Error& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
    }
  });
}

}  // namespace harmonium::python
