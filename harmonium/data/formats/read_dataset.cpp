#include "harmonium/data/formats/read_dataset.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/choose_array.h"
#include "harmonium/data/formats/gzip.h"
#include "harmonium/data/formats/idx.h"
#include "harmonium/data/formats/make_dataset.h"
#include "harmonium/data/formats/mat.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/data/formats/npz.h"
#include "harmonium/data/formats/png.h"
#include "harmonium/data/formats/sparse.h"
#include "harmonium/data/formats/text_table.h"

namespace harmonium {

namespace {

// An array of integers, one a row, as int64; nothing where it is something else, since labels are a courtesy.
at::Tensor integer_labels(const at::Tensor& array, std::int64_t rows) {
  if (array.numel() != rows) return {};
  const at::Tensor flat = array.reshape({-1});
  const at::Tensor labels = flat.to(at::kLong);
  return labels.to(flat.scalar_type()).eq(flat).all().item<bool>() ? labels : at::Tensor();
}

// One sparse matrix in place of the arrays it was stored as.
NamedTensors with_dense_matrix(const NamedTensors& arrays, const std::string& where) {
  if (!is_sparse_matrix(arrays)) return arrays;
  NamedTensors result = {{"data", dense_matrix(arrays, where)}};
  for (const auto& [name, array] : arrays)
    if (name == "labels" || name == "label" || name == "y" || name == "target") result.emplace_back(name, array);
  return result;
}

Dataset dataset_from_npz(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  const NamedTensors arrays = with_dense_matrix(parse_npz(bytes, where), where);
  std::vector<ArrayInfo> infos;
  for (const auto& [name, array] : arrays) infos.push_back({name, "", array.sizes().vec()});
  const std::size_t chosen = choose_array(infos, options.array, where);
  Dataset data = make_dataset(arrays[chosen].second, where + ":" + printable(arrays[chosen].first));
  if (const auto labels = find_labels(infos, chosen)) data.labels = integer_labels(arrays[*labels].second, data.rows());
  return data;
}

Dataset dataset_from_mat(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  const std::vector<MatVariable> variables = list_mat(bytes, where);
  std::vector<ArrayInfo> infos;
  for (const MatVariable& variable : variables)
    infos.push_back({variable.name, variable.kind, variable.shape, variable.is_readable});
  const std::size_t chosen = choose_array(infos, options.array, where);
  const std::string here = where + ":" + printable(variables[chosen].name);
  Dataset data = make_dataset(read_mat_variable(bytes, variables[chosen], here), here);
  if (const auto labels = find_labels(infos, chosen))
    data.labels = integer_labels(read_mat_variable(bytes, variables[*labels], where), data.rows());
  return data;
}

Dataset dataset_from_text(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  const TextTable table = parse_text_table(bytes, where, parse_label_column(options.label_column));
  Dataset data = make_dataset(table.values, ValueRange::guess, where);
  data.labels = table.labels;
  return data;
}

}  // namespace

Dataset parse_dataset(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  require(!bytes.empty(), "{}: the file is empty", where);
  if (is_gzip(bytes)) {
    const std::string unpacked = gunzip(bytes, where);
    require(!is_gzip(unpacked), "{}: gzipped twice; unpack it once", where);
    return parse_dataset(unpacked, where, options);
  }
  const bool is_archive = is_zip(bytes) || is_mat(bytes);
  require(is_archive || options.array.empty(), "{}: has no named arrays, so none is called {}", where,
          printable(options.array));
  require(is_text(bytes) || options.label_column == "none", "{}: only text tables can have a label column", where);
  if (is_zip(bytes)) return dataset_from_npz(bytes, where, options);
  if (is_npy(bytes)) return make_dataset(parse_npy(bytes, where), where);
  if (is_mat(bytes)) return dataset_from_mat(bytes, where, options);
  if (is_idx(bytes)) return make_dataset(parse_idx(bytes, where), where);
  require(!is_png(bytes), "{}: one picture is not a data set; name the folder of PNG files instead", where);
  require(!bytes.starts_with("MATLAB 7.3") && !bytes.starts_with("\x89HDF"),
          "{}: a MATLAB 7.3 or HDF5 file, which is not read; save it in MATLAB with -v7", where);
  require(
      is_text(bytes),
      "{}: not recognised (byte 0 begins '{}'); known are IDX, NPY, NPZ, CSV, .amat, MATLAB -v7 (each also .gz) and "
      "folders of PNG pictures",
      where, printable(bytes, 8));
  return dataset_from_text(bytes, where, options);
}

Dataset read_dataset(const std::filesystem::path& path, const ReadOptions& options) {
  Dataset data;
  if (std::filesystem::is_directory(path)) {
    require(options.array.empty(), "{}: a folder of pictures has no array named {}", path.string(),
            printable(options.array));
    data = make_dataset(read_png_folder(path), path.string());
  } else {
    data = parse_dataset(read_file(path), path.string(), options);
  }
  const auto name = path.filename().empty() ? path.parent_path().filename() : path.filename();
  data.name = options.array.empty() ? name.string() : name.string() + ":" + options.array;
  return data;
}

}  // namespace harmonium
