// Tables of numbers on both sides: numpy arrays and tensors that share their memory.
#pragma once

#include <ATen/ATen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace harmonium::python {

namespace py = pybind11;

// A tensor over the memory of a numpy array (float32, float64, uint8, bool, int64, int32), which it keeps alive; a copy
// only where strides are such that a tensor cannot have them. Nothing here writes to it.
[[nodiscard]] at::Tensor to_tensor(const py::array& array);
// An array over the memory of a tensor, which it keeps alive; tensors of a device are copied.
[[nodiscard]] py::array to_array(const at::Tensor& tensor);

}  // namespace harmonium::python
