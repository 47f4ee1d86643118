#include "harmonium/data/formats/sparse.h"

#include <algorithm>
#include <array>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"

namespace harmonium {

namespace {

const at::Tensor* find_part(const NamedTensors& arrays, const char* name) {
  const auto found = std::ranges::find(arrays, name, &NamedTensors::value_type::first);
  return found == arrays.end() ? nullptr : &found->second;
}

const at::Tensor& part_of(const NamedTensors& arrays, const char* name, const std::string& where) {
  const at::Tensor* found = find_part(arrays, name);
  require(found != nullptr, "{}: a sparse matrix without the array {}", where, name);
  require(found->dim() == 1, "{}: the array {} of a sparse matrix has {} dimensions instead of one", where, name,
          found->dim());
  return *found;
}

at::Tensor whole_numbers(const NamedTensors& arrays, const char* name, const std::string& where) {
  const at::Tensor& part = part_of(arrays, name, where);
  require(at::isIntegralType(part.scalar_type(), /*includeBool=*/false),
          "{}: the array {} of a sparse matrix does not hold whole numbers", where, name);
  return part.to(at::kLong).contiguous();
}

std::string format_of(const NamedTensors& arrays, const std::string& where) {
  const at::Tensor text = part_of(arrays, "format", where).to(at::kByte).contiguous();
  return {reinterpret_cast<const char*>(text.data_ptr<std::uint8_t>()), static_cast<std::size_t>(text.numel())};
}

// Every place is checked before anything is written to it.
void require_below(const at::Tensor& places, std::int64_t size, const char* name, const std::string& where) {
  const auto* place = places.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < places.numel(); ++i)
    require(place[i] >= 0 && place[i] < size, "{}: entry {} of {} is {}, and the matrix has places 0 … {}", where, i,
            name, place[i], size - 1);
}

// For each value, the row (csr) or column (csc) it belongs to.
at::Tensor owners(const at::Tensor& starts, std::int64_t size, std::int64_t values, const std::string& where) {
  const auto* start = starts.data_ptr<std::int64_t>();
  require(starts.numel() == size + 1, "{}: {} rows or columns need {} entries of indptr, there are {}", where, size,
          size + 1, starts.numel());
  require(start[0] == 0 && std::is_sorted(start, start + size + 1) && start[size] == values,
          "{}: indptr does not rise from 0 to the number of values, {}", where, values);
  at::Tensor result = at::empty({values}, at::kLong);
  for (std::int64_t i = 0; i < size; ++i) result.narrow(0, start[i], start[i + 1] - start[i]).fill_(i);
  return result;
}

}  // namespace

bool is_sparse_matrix(const NamedTensors& arrays) {
  return find_part(arrays, "format") != nullptr && find_part(arrays, "shape") != nullptr &&
         find_part(arrays, "data") != nullptr;
}

at::Tensor dense_matrix(const NamedTensors& arrays, const std::string& where) {
  const std::string format_name = format_of(arrays, where);
  require(format_name == "csr" || format_name == "csc" || format_name == "coo",
          "{}: a sparse matrix of format '{}'; csr, csc and coo are read (in scipy: .tocsr())", where,
          printable(format_name));
  const at::Tensor shape = whole_numbers(arrays, "shape", where);
  require(shape.numel() == 2, "{}: the shape of a sparse matrix has {} numbers instead of 2", where, shape.numel());
  const auto rows = shape[0].item<std::int64_t>(), columns = shape[1].item<std::int64_t>();
  const at::Tensor& stored = part_of(arrays, "data", where);
  const std::int64_t count = stored.numel();

  // Nothing in the file vouches for the zeros, so how many there may be is a matter of judgement.
  constexpr std::int64_t most_zeros_each = 1024, most_values = std::int64_t{1} << 28;
  require(rows > 0 && columns > 0, "{}: a sparse matrix of {} rows and {} columns", where, rows, columns);
  const std::array sizes{rows, columns};
  const auto dense = bytes_needed(sizes, 1);
  require(
      dense.has_value() && *dense <= static_cast<std::uint64_t>(std::min(most_values, most_zeros_each * (count + 1))),
      "{}: a sparse matrix of {} with {} values is too empty to be used as a dense one", where, shape_text(sizes),
      count);

  at::Tensor row, column;
  if (format_name == "coo") {
    row = whole_numbers(arrays, "row", where);
    column = whole_numbers(arrays, "col", where);
  } else {
    const bool by_rows = format_name == "csr";
    const at::Tensor major = owners(whole_numbers(arrays, "indptr", where), by_rows ? rows : columns, count, where);
    const at::Tensor minor = whole_numbers(arrays, "indices", where);
    row = by_rows ? major : minor;
    column = by_rows ? minor : major;
  }
  require(row.numel() == count && column.numel() == count, "{}: {} values of a sparse matrix have {} places", where,
          count, std::min(row.numel(), column.numel()));
  require_below(row, rows, "rows", where);
  require_below(column, columns, "columns", where);
  return at::zeros({rows * columns}, at::kFloat)
      .index_add_(0, row * columns + column, stored.to(at::kFloat))
      .view({rows, columns});
}

}  // namespace harmonium
