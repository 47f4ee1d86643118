#include "arrays.h"

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

namespace harmonium::python {

namespace {

at::ScalarType scalar_type(const py::dtype& type) {
  if (type.equal(py::dtype::of<float>())) return at::kFloat;
  if (type.equal(py::dtype::of<double>())) return at::kDouble;
  if (type.equal(py::dtype::of<std::uint8_t>())) return at::kByte;
  if (type.equal(py::dtype::of<bool>())) return at::kByte;  // the same bytes
  if (type.equal(py::dtype::of<std::int64_t>())) return at::kLong;
  if (type.equal(py::dtype::of<std::int32_t>())) return at::kInt;
  throw py::type_error("arrays must be float32, float64, uint8, bool, int64 or int32, not " +
                       std::string(py::str(static_cast<const py::handle&>(type))));
}

py::dtype numpy_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return py::dtype::of<float>();
    case at::kDouble:
      return py::dtype::of<double>();
    case at::kByte:
      return py::dtype::of<std::uint8_t>();
    case at::kBool:
      return py::dtype::of<bool>();
    case at::kLong:
      return py::dtype::of<std::int64_t>();
    case at::kInt:
      return py::dtype::of<std::int32_t>();
    default:
      throw std::logic_error("a tensor of a type that no array has");
  }
}

bool fits(const py::array& array) {
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    if (array.strides(i) < 0 || array.strides(i) % array.itemsize() != 0) return false;
  return true;
}

}  // namespace

at::Tensor to_tensor(const py::array& given) {
  const at::ScalarType type = scalar_type(given.dtype());
  const py::array array = fits(given) ? given : py::array::ensure(given.attr("copy")());
  std::vector<std::int64_t> sizes, strides;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    sizes.push_back(array.shape(i));
    strides.push_back(array.strides(i) / array.itemsize());
  }
  // The last user may be a thread that does not hold the interpreter.
  auto* owner = new py::array(array);
  const auto release = [owner](void*) {
    const py::gil_scoped_acquire gil;
    delete owner;
  };
  return at::from_blob(const_cast<void*>(array.data()), sizes, strides, release, at::TensorOptions(type));
}

py::array to_array(const at::Tensor& given) {
  auto owner = std::make_unique<at::Tensor>(given.detach().cpu());
  const at::Tensor& tensor = *owner;
  const auto item = static_cast<py::ssize_t>(tensor.element_size());
  std::vector<py::ssize_t> shape(tensor.sizes().begin(), tensor.sizes().end()), strides;
  for (const std::int64_t stride : tensor.strides()) strides.push_back(static_cast<py::ssize_t>(stride) * item);
  void* data = tensor.data_ptr();
  const py::dtype type = numpy_type(tensor.scalar_type());
  const py::capsule keep(owner.release(), [](void* pointer) { delete static_cast<at::Tensor*>(pointer); });
  return {type, shape, strides, data, keep};
}

}  // namespace harmonium::python
