#include "harmonium/data/formats/mat.h"

#include <algorithm>
#include <array>
#include <memory>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/gzip.h"

namespace harmonium {

namespace {

constexpr std::size_t mat_file_header = 128, mat_tag_size = 8;
constexpr std::uint32_t mat_int8 = 1, mat_int32 = 5, mat_uint32 = 6, mat_matrix = 14, mat_compressed = 15;
constexpr std::uint32_t mat_class_cell = 1;
constexpr std::uint32_t mat_class_struct = 2;
constexpr std::uint32_t mat_class_sparse = 5;
constexpr std::uint32_t mat_flag_complex = 0x08;

// Types of stored values and classes of matrices have numbers of their own; values may be stored in a smaller type
// than their class. Unsigned classes that tensors lack become the next larger type.
struct MatStored {
  std::uint32_t type;
  at::ScalarType scalar;
  std::uint32_t size;
  bool is_widened;  // unsigned bytes that have to be read as the signed type and masked
};
constexpr std::array<MatStored, 9> mat_stored_types{{{1, at::kChar, 1, false},
                                                     {2, at::kByte, 1, false},
                                                     {3, at::kShort, 2, false},
                                                     {4, at::kShort, 2, true},
                                                     {5, at::kInt, 4, false},
                                                     {6, at::kInt, 4, true},
                                                     {7, at::kFloat, 4, false},
                                                     {9, at::kDouble, 8, false},
                                                     {12, at::kLong, 8, false}}};

struct MatClass {
  const char* name;
  at::ScalarType result;  // Undefined: cannot be read
};
constexpr std::array<MatClass, 18> mat_classes{{{"unknown", at::ScalarType::Undefined},
                                                {"cell", at::ScalarType::Undefined},
                                                {"struct", at::ScalarType::Undefined},
                                                {"object", at::ScalarType::Undefined},
                                                {"char", at::ScalarType::Undefined},
                                                {"sparse", at::kFloat},
                                                {"double", at::kDouble},
                                                {"single", at::kFloat},
                                                {"int8", at::kChar},
                                                {"uint8", at::kByte},
                                                {"int16", at::kShort},
                                                {"uint16", at::kInt},
                                                {"int32", at::kInt},
                                                {"uint32", at::kLong},
                                                {"int64", at::kLong},
                                                {"uint64", at::kLong},
                                                {"function", at::ScalarType::Undefined},
                                                {"opaque", at::ScalarType::Undefined}}};

struct MatElement {
  std::uint32_t type = 0;
  std::size_t offset = 0;  // of the data, within the bytes being read
  std::string_view data;
};

// A walk over the elements of a file, or of one matrix.
class MatElements {
 public:
  MatElements(std::string_view bytes, std::size_t start, std::endian order, const std::string& where)
      : bytes_(bytes), at_(start), order_(order), where_(&where) {}

  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] std::size_t offset() const { return at_; }

  MatElement next() {
    require(bytes_.size() - std::min(at_, bytes_.size()) >= mat_tag_size,
            "{}: the file ends at byte {}, inside the tag of an element; it was cut short", *where_, bytes_.size());
    const auto first = load<std::uint32_t>(bytes_, at_, order_);
    MatElement element;
    std::size_t size = first >> 16;
    if (size != 0) {  // the small form: type, size and up to four bytes of data in the eight bytes of a tag
      element.type = first & 0xFFFF;
      element.offset = at_ + 4;
      require(size <= 4, "{}: damaged element at byte {}", *where_, at_);
      at_ += mat_tag_size;
    } else {
      element.type = first;
      size = load<std::uint32_t>(bytes_, at_ + 4, order_);
      element.offset = at_ + mat_tag_size;
      require(size <= bytes_.size() - element.offset,
              "{}: the element at byte {} claims {} bytes, only {} follow; the file was cut short or is damaged",
              *where_, at_, size, bytes_.size() - element.offset);
      // All but compressed elements are padded to a multiple of eight bytes.
      at_ = element.offset + (element.type == mat_compressed ? size : (size + 7) / 8 * 8);
    }
    element.data = bytes_.substr(element.offset, size);
    return element;
  }
  MatElement next(std::uint32_t type, const char* what) {
    const std::size_t start = at_;
    const MatElement element = next();
    require(element.type == type, "{}: byte {}: expected the {} of a matrix, found an element of type {}", *where_,
            start, what, element.type);
    return element;
  }

 private:
  std::string_view bytes_;
  std::size_t at_;
  std::endian order_;
  const std::string* where_;
};

struct MatHeader {
  MatVariable variable;
  std::uint32_t class_id = 0;
};

std::endian mat_byte_order(std::string_view bytes) {
  return bytes.substr(126, 2) == "IM" ? std::endian::little : std::endian::big;
}

MatHeader read_mat_header(MatElements& elements, std::endian order, const std::string& where) {
  MatHeader header;
  const MatElement flags = elements.next(mat_uint32, "flags");
  require(flags.data.size() == 8, "{}: bad flags of a matrix at byte {}", where, flags.offset);
  const auto bits = load<std::uint32_t>(flags.data, 0, order);
  header.class_id = bits & 0xFF;
  header.class_id = header.class_id < mat_classes.size() ? header.class_id : 0;
  header.variable.kind = mat_classes[header.class_id].name;
  const bool is_complex = ((bits >> 8) & mat_flag_complex) != 0;
  if (is_complex) header.variable.kind = "complex " + header.variable.kind;
  if (mat_classes[header.class_id].name == std::string_view("opaque"))
    return header;  // has neither sizes nor a name here

  const MatElement sizes = elements.next(mat_int32, "sizes");
  require(sizes.data.size() % 4 == 0 && sizes.data.size() <= 32 * 4, "{}: bad sizes of a matrix at byte {}", where,
          sizes.offset);
  for (std::size_t i = 0; i < sizes.data.size(); i += 4) {
    header.variable.shape.push_back(load<std::int32_t>(sizes.data, i, order));
    require(header.variable.shape.back() >= 0, "{}: negative size of a matrix at byte {}", where, sizes.offset + i);
  }
  header.variable.name = std::string(elements.next(mat_int8, "name").data);
  header.variable.is_readable = !is_complex && header.variable.shape.size() == 2 &&
                                mat_classes[header.class_id].result != at::ScalarType::Undefined;
  return header;
}

// Values of any stored type, as `count` numbers of type `result`.
at::Tensor read_mat_values(const MatElement& element, std::int64_t count, at::ScalarType result, std::endian order,
                           const std::string& where) {
  const auto* stored = std::ranges::find(mat_stored_types, element.type, &MatStored::type);
  require(stored != mat_stored_types.end(), "{}: byte {}: values of type {} are not supported", where, element.offset,
          element.type);
  const std::array shape{count};
  require(bytes_needed(shape, stored->size) == element.data.size(),
          "{}: byte {}: the matrix has {} values of {} bytes, but {} bytes are stored", where, element.offset, count,
          stored->size, element.data.size());
  const at::Tensor raw = tensor_from_bytes(element.data, stored->scalar, shape, order);
  if (!stored->is_widened) return raw.to(result);
  const std::int64_t mask = stored->size == 2 ? 0xFFFF : 0xFFFFFFFF;
  return raw.to(at::kLong).bitwise_and(mask).to(result);
}

at::Tensor read_mat_sparse(MatElements& elements, std::int64_t rows, std::int64_t columns, std::endian order,
                           const std::string& where) {
  // MATLAB writes these as int32, libmatio as uint32: as int32 a number beyond either's range is seen to be negative.
  const MatElement row_numbers = elements.next(), column_starts = elements.next();
  for (const MatElement& element : {row_numbers, column_starts}) {
    require(element.type == mat_int32 || element.type == mat_uint32,
            "{}: byte {}: expected row numbers and column starts of a sparse matrix, found an element of type {}",
            where, element.offset, element.type);
  }
  const MatElement data = elements.next();
  require(static_cast<std::int64_t>(column_starts.data.size()) == (columns + 1) * 4,
          "{}: byte {}: {} columns need {} column starts, {} bytes are stored", where, column_starts.offset, columns,
          columns + 1, column_starts.data.size());
  std::vector<std::int64_t> starts;
  for (std::int64_t c = 0; c <= columns; ++c)
    starts.push_back(load<std::int32_t>(column_starts.data, static_cast<std::size_t>(c) * 4, order));
  const auto stored = static_cast<std::int64_t>(row_numbers.data.size() / 4);
  const std::int64_t count = starts.back();
  require(starts.front() == 0 && std::ranges::is_sorted(starts) && count <= stored,
          "{}: byte {}: the column starts do not rise from 0 to the number of values", where, column_starts.offset);

  // Nothing in the file vouches for the zeros, so how many there may be is a matter of judgement.
  constexpr std::int64_t max_expansion = 1024, max_values = std::int64_t{1} << 28;
  const std::array shape{rows, columns};
  const auto dense = bytes_needed(shape, 1);
  require(dense.has_value() &&
              *dense <= static_cast<std::uint64_t>(std::min(max_values, max_expansion * (stored + columns + 1))),
          "{}: the sparse matrix at byte {} of {} with {} values is too empty to be used as a dense one", where,
          row_numbers.offset, shape_text(shape), count);

  // The values may be stored with room to spare (nzmax); only the first `count` mean something.
  const auto* type = std::ranges::find(mat_stored_types, data.type, &MatStored::type);
  require(type != mat_stored_types.end(), "{}: byte {}: values of type {} are not supported", where, data.offset,
          data.type);
  const at::Tensor values =
      read_mat_values(data, static_cast<std::int64_t>(data.data.size() / type->size), at::kFloat, order, where);
  require(values.numel() >= count, "{}: byte {}: {} values are stored, the columns need {}", where, data.offset,
          values.numel(), count);
  at::Tensor result = at::zeros({rows, columns}, at::kFloat);
  const float* from = values.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t k = starts[static_cast<std::size_t>(c)]; k < starts[static_cast<std::size_t>(c) + 1]; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * 4;
      const std::int64_t row = load<std::int32_t>(row_numbers.data, at, order);
      require(row >= 0 && row < rows, "{}: byte {}: row number {} of a matrix of {} rows", where,
              row_numbers.offset + at, row, rows);
      to[row * columns + c] = from[k];
    }
  }
  return result;
}

// The matrix behind its header, which must be readable.
at::Tensor read_mat_dense_or_sparse(MatElements& parts, const MatHeader& header, std::endian order,
                                    const std::string& where) {
  const std::int64_t rows = header.variable.shape[0], columns = header.variable.shape[1];
  if (header.class_id == mat_class_sparse) return read_mat_sparse(parts, rows, columns, order, where);
  // Two sizes of 31 bits cannot overflow 63. Values lie column by column.
  return read_mat_values(parts.next(), rows * columns, mat_classes[header.class_id].result, order, where)
      .view({columns, rows})
      .t()
      .contiguous();
}

// Calls visit(walk, header) for every matrix of a cell, each of which takes bytes. The walk stands behind the cell's
// header; visit() may go on to the values.
template <class Visit>
void for_each_mat_sequence(MatElements& elements, std::endian order, const std::string& where, Visit visit) {
  while (!elements.at_end()) {
    MatElements inside(elements.next(mat_matrix, "sequence").data, 0, order, where);
    const MatHeader header = read_mat_header(inside, order, where);
    visit(inside, header);
  }
}

// Makes a cell readable where it holds sequences: dense matrices of the same number of columns, none of them empty. The
// walk stands behind the cell's header. A cell of anything else stays a cell.
void list_mat_sequences(MatElements& elements, std::endian order, const std::string& where, MatVariable& cell) {
  std::vector<std::int64_t> lengths;
  std::int64_t columns = 0, rows = 0, cells = 1;
  bool sequences = true;
  for (const std::int64_t size : cell.shape) cells = size > 0 && cells <= (std::int64_t{1} << 31) ? cells * size : 0;
  for_each_mat_sequence(elements, order, where, [&](MatElements&, const MatHeader& header) {
    const MatVariable& each = header.variable;
    sequences = sequences && each.is_readable && header.class_id != mat_class_sparse && each.shape[0] > 0 &&
                each.shape[1] > 0 && (lengths.empty() || each.shape[1] == columns);
    if (!sequences) return;
    columns = each.shape[1];
    rows += each.shape[0];
    lengths.push_back(each.shape[0]);
  });
  if (!sequences || lengths.empty() || static_cast<std::int64_t>(lengths.size()) != cells) return;
  cell.kind = format("{} sequences", lengths.size());
  cell.shape = {rows, columns};
  cell.lengths = std::move(lengths);
  cell.is_readable = true;
}

at::Tensor read_mat_sequences(MatElements& elements, std::endian order, const std::string& where) {
  std::vector<at::Tensor> pieces;
  bool bytes = true;
  for_each_mat_sequence(elements, order, where, [&](MatElements& inside, const MatHeader& header) {
    require(header.variable.is_readable && header.class_id != mat_class_sparse,
            "{}: {} in a cell is not a real numeric matrix of two dimensions", where, header.variable.kind);
    pieces.push_back(read_mat_dense_or_sparse(inside, header, order, where));
    bytes = bytes && pieces.back().scalar_type() == at::kByte;
    require(pieces.back().size(1) == pieces.front().size(1), "{}: sequences of {} and of {} columns", where,
            pieces.front().size(1), pieces.back().size(1));
  });
  require(!pieces.empty(), "{}: a cell without matrices", where);
  if (!bytes)
    for (at::Tensor& piece : pieces) piece = piece.to(at::kDouble);
  return at::cat(pieces);
}

// The names of a struct's fields.
std::vector<std::string> read_mat_field_names(MatElements& elements, std::endian order, const std::string& where) {
  const MatElement width = elements.next(mat_int32, "length of field names");
  require(width.data.size() == 4, "{}: bad length of field names at byte {}", where, width.offset);
  const auto length = load<std::int32_t>(width.data, 0, order);
  const MatElement names = elements.next(mat_int8, "field names");
  if (names.data.empty()) return {};
  require(length > 0 && names.data.size() % static_cast<std::size_t>(length) == 0,
          "{}: byte {}: {} bytes of field names cannot be names of {} bytes each", where, names.offset,
          names.data.size(), length);
  std::vector<std::string> result;
  for (std::size_t at = 0; at < names.data.size(); at += static_cast<std::size_t>(length)) {
    const std::string_view name = names.data.substr(at, static_cast<std::size_t>(length));
    result.emplace_back(name.substr(0, name.find('\0')));
  }
  return result;
}

// The fields of a single struct. The walk stands behind the struct's header.
std::vector<MatVariable> list_mat_fields(MatElements& elements, std::endian order, const std::string& where,
                                         const MatVariable& whole) {
  std::vector<MatVariable> fields;
  const std::vector<std::string> names = read_mat_field_names(elements, order, where);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const MatElement field = elements.next(mat_matrix, "field");
    if (field.data.empty()) continue;
    MatElements inside(field.data, 0, order, where);
    fields.push_back(read_mat_header(inside, order, where).variable);
    fields.back().name = whole.name + "." + names[i];
    fields.back().offset = whole.offset;
    fields.back().field = i;
  }
  return fields;
}

bool is_single_struct(const MatHeader& header) {
  return header.class_id == mat_class_struct &&
         std::ranges::all_of(header.variable.shape, [](auto n) { return n == 1; });
}

// The matrix in the element at the walk's position, unpacked if need be. `unpacked` keeps what the view points to.
struct MatMatrix {
  std::string unpacked;
  std::string where;
  std::string_view data;
};

std::unique_ptr<MatMatrix> next_mat_matrix(MatElements& elements, std::endian order, const std::string& where) {
  const std::size_t start = elements.offset();
  MatElement element = elements.next();
  auto matrix = std::make_unique<MatMatrix>();
  matrix->where = where;
  matrix->data = element.data;
  if (element.type == mat_compressed) {
    matrix->where = format("{}, variable at byte {}", where, start);
    matrix->unpacked = inflate_zlib(element.data, matrix->where);
    // zlib's checksum vouches for what was unpacked; the size in the inner tag adds nothing, and libmatio gets it
    // wrong.
    require(matrix->unpacked.size() >= mat_tag_size, "{}: unpacks to {} bytes, less than a tag", matrix->where,
            matrix->unpacked.size());
    element.type = load<std::uint32_t>(matrix->unpacked, 0, order);
    matrix->data = std::string_view(matrix->unpacked).substr(mat_tag_size);
  } else {
    matrix->where = format("{}, matrix at byte {}", where, start);
  }
  if (element.type != mat_matrix) return nullptr;  // something newer: passed over, as the format's page demands
  return matrix;
}

}  // namespace

bool is_mat(std::string_view bytes) {
  return bytes.size() >= mat_file_header && (bytes.substr(126, 2) == "IM" || bytes.substr(126, 2) == "MI") &&
         load<std::uint16_t>(bytes, 124, mat_byte_order(bytes)) == 0x0100;
}

std::vector<MatVariable> list_mat(std::string_view bytes, const std::string& where) {
  require(is_mat(bytes), "{}: not a MATLAB file of version 5 (bytes 124–127); save it with -v7", where);
  const std::endian order = mat_byte_order(bytes);
  std::vector<MatVariable> variables;
  for (MatElements elements(bytes, mat_file_header, order, where); !elements.at_end();) {
    const std::size_t offset = elements.offset();
    const auto matrix = next_mat_matrix(elements, order, where);
    if (matrix == nullptr || matrix->data.empty()) continue;
    MatElements parts(matrix->data, 0, order, matrix->where);
    const MatHeader header = read_mat_header(parts, order, matrix->where);
    variables.push_back(header.variable);
    variables.back().offset = offset;
    if (!is_single_struct(header) && header.class_id != mat_class_cell) continue;
    try {
      if (header.class_id == mat_class_cell)
        list_mat_sequences(parts, order, matrix->where, variables.back());
      else
        std::ranges::move(list_mat_fields(parts, order, matrix->where, variables.back()),
                          std::back_inserter(variables));
    } catch (const Error&) {
      // libmatio packs structs with wrong sizes inside. Such a struct or cell is passed over; the other matrices are
      // sound.
    }
  }
  return variables;
}

at::Tensor read_mat_variable(std::string_view bytes, const MatVariable& variable, const std::string& where) {
  const std::endian order = mat_byte_order(bytes);
  MatElements elements(bytes, variable.offset, order, where);
  const auto matrix = next_mat_matrix(elements, order, where);
  MatElements parts(matrix->data, 0, order, matrix->where);
  MatHeader header = read_mat_header(parts, order, matrix->where);
  if (variable.field) {
    (void)read_mat_field_names(parts, order, matrix->where);
    for (std::size_t i = 0; i < *variable.field; ++i) (void)parts.next();
    parts = MatElements(parts.next(mat_matrix, "field").data, 0, order, matrix->where);
    header = read_mat_header(parts, order, matrix->where);
  }
  if (!variable.lengths.empty() && header.class_id == mat_class_cell)
    return read_mat_sequences(parts, order, matrix->where);
  require(header.variable.is_readable, "{}: {} is not a real numeric matrix of two dimensions", matrix->where,
          printable(header.variable.name));
  return read_mat_dense_or_sparse(parts, header, order, matrix->where);
}

}  // namespace harmonium
