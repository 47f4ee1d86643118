#include "harmonium/data/formats/read_dataset.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/choose_array.h"
#include "harmonium/data/formats/gzip.h"
#include "harmonium/data/formats/idx.h"
#include "harmonium/data/formats/known_others.h"
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

// An archive's arrays, whatever its format: what they are, and one of them.
struct Arrays {
  std::vector<ArrayInfo> infos;
  std::function<at::Tensor(std::size_t)> read;
};

// "no valid part", and what there is.
[[noreturn]] void fail_missing_part(const Arrays& arrays, const std::vector<ArrayPart>& parts, const std::string& part,
                                    const std::string& where) {
  std::string known;
  for (const ArrayPart& each : parts)
    known += format("{}{} ({})", known.empty() ? "" : ", ", each.part, arrays.infos[each.index].name);
  fail("{}: has no part {}; it has {}. A piece of an array is PATH:{}:{}", where, part, known,
       arrays.infos[parts.front().index].name, part);
}

// The array that is asked for, and in `data` what there is to say of the choice.
std::size_t choose_from_archive(const Arrays& arrays, const std::string& where, const ReadOptions& options,
                                Dataset& data) {
  const auto has_name = [&](const std::string& name) {
    return std::ranges::find(arrays.infos, name, &ArrayInfo::name) != arrays.infos.end();
  };
  if (!options.array.empty()) return choose_array(arrays.infos, options.array, where);
  const std::vector<ArrayPart> parts = find_parts(arrays.infos);
  for (const ArrayPart& each : parts) data.own_parts.push_back(each.part);
  if (!options.part.empty() && has_name(options.part)) {  // an array of just that name
    if (parts.empty()) data.own_parts = {options.part};
    return choose_array(arrays.infos, options.part, where);
  }
  std::size_t chosen = 0;
  if (parts.empty()) {
    chosen = choose_array(arrays.infos, "", where);
  } else {
    const auto found = std::ranges::find(parts, options.part.empty() ? "train" : options.part, &ArrayPart::part);
    if (found == parts.end()) fail_missing_part(arrays, parts, options.part, where);
    chosen = found->index;
  }
  if (arrays.infos.size() > 1)
    data.remarks.push_back(
        format("array {} of {}", printable(arrays.infos[chosen].name), list_of_arrays(arrays.infos)));
  return chosen;
}

// Rows become frames of sequences of these lengths, which are numbers that a file claims.
void set_lengths(Dataset& data, std::vector<std::int64_t> lengths, const std::string& where) {
  std::int64_t left = data.rows();
  for (const std::int64_t length : lengths) {
    require(length >= 1 && length <= left, "{}: a sequence of {} frames where {} of {} rows are left", where, length,
            left, data.rows());
    left -= length;
  }
  require(left == 0, "{}: {} sequences have {} frames in all, and there are {} rows", where, lengths.size(),
          data.rows() - left, data.rows());
  data.lengths = std::move(lengths);
}

// The lengths that stand in an array of their own. One that is only called so is remarked on.
void read_lengths(Dataset& data, const Arrays& arrays, std::size_t index, const std::string& where) {
  const std::string name = printable(arrays.infos[index].name);
  const at::Tensor numbers = arrays.read(index).reshape({-1}).to(at::kDouble);
  const bool fits = numbers.numel() >= 1 && numbers.eq(numbers.round()).all().item<bool>() &&
                    numbers.ge(1).all().item<bool>() &&
                    numbers.le(static_cast<double>(data.rows())).all().item<bool>() &&
                    numbers.sum().item<double>() == static_cast<double>(data.rows());
  if (!fits) {
    data.remarks.push_back(
        format("array {} holds no lengths of sequences, which would sum to {} rows: rows are taken as independent",
               name, data.rows()));
    return;
  }
  const at::Tensor whole = numbers.to(at::kLong).contiguous();
  set_lengths(data, {whole.data_ptr<std::int64_t>(), whole.data_ptr<std::int64_t>() + whole.numel()}, where);
  data.remarks.push_back(format("lengths of {} sequences from array {}", data.lengths.size(), name));
}

Dataset dataset_from_arrays(const Arrays& arrays, const std::string& where, const ReadOptions& options) {
  Dataset chosen_from;
  const std::size_t chosen = choose_from_archive(arrays, where, options, chosen_from);
  const std::string here = where + ":" + printable(arrays.infos[chosen].name);
  // A label column may be an array of its own.
  Reading reading = options.reading;
  const auto named = std::ranges::find(arrays.infos, reading.label_column, &ArrayInfo::name);
  std::optional<std::size_t> labels;
  if (named != arrays.infos.end()) {
    labels = static_cast<std::size_t>(named - arrays.infos.begin());
    reading.label_column = "auto";
  }
  Dataset data = make_dataset(arrays.read(chosen), here, reading);
  data.own_parts = chosen_from.own_parts;
  data.remarks.insert(data.remarks.begin(), chosen_from.remarks.begin(), chosen_from.remarks.end());
  const std::vector<std::int64_t>& own_lengths = arrays.infos[chosen].lengths;
  require(own_lengths.empty() || reading.transpose != "yes",
          "{}: @transpose: rows of these sequences are their frames; transpose them yourself", here);
  const bool as_the_file_says = reading.sequences == "auto";
  if (as_the_file_says && !own_lengths.empty())
    set_lengths(data, own_lengths, here);
  else if (const auto lengths = find_lengths(arrays.infos, chosen); as_the_file_says && lengths)
    read_lengths(data, arrays, *lengths, here);
  if (!labels && (reading.label_column == "none" || reading.label_column == "auto"))
    labels = find_labels(arrays.infos, chosen);
  if (!labels) return data;
  const at::Tensor numbers = integer_labels(arrays.read(*labels), data.rows());
  require(numbers.defined() || named == arrays.infos.end(),
          "{}: @label_column {}: not a whole number for each of the {} rows", where, options.reading.label_column,
          data.rows());
  if (!numbers.defined()) return data;
  set_labels(data, numbers, here, reading);
  data.remarks.push_back(format("labels from array {}", printable(arrays.infos[*labels].name)));
  return data;
}

Dataset dataset_from_npz(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  const NamedTensors arrays = with_dense_matrix(parse_npz(bytes, where), where);
  Arrays all{.infos = {}, .read = [&](std::size_t i) { return arrays[i].second; }};
  for (const auto& [name, array] : arrays) all.infos.push_back({name, "", array.sizes().vec()});
  return dataset_from_arrays(all, where, options);
}

Dataset dataset_from_mat(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  const std::vector<MatVariable> variables = list_mat(bytes, where);
  Arrays all{.infos = {}, .read = [&](std::size_t i) {
               return read_mat_variable(bytes, variables[i], where + ":" + printable(variables[i].name));
             }};
  for (const MatVariable& variable : variables)
    all.infos.push_back({variable.name, variable.kind, variable.shape, variable.is_readable, variable.lengths});
  return dataset_from_arrays(all, where, options);
}

Dataset dataset_from_text(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  const TextTable table = parse_text_table(bytes, where);
  Dataset data = make_dataset(table.values, where, options.reading, table.header);
  if (!table.header.empty()) {
    std::string names;
    for (const std::string& each : table.header) names += (names.empty() ? "" : ", ") + printable(each);
    data.remarks.insert(data.remarks.begin(), format("1 header line skipped: {}", printable(names, 200)));
  }
  data.remarks.insert(data.remarks.begin(), format("text {}", table.dialect));
  return data;
}

// A label column that is neither a place nor the name of anything is a mistake, not a table without labels.
void require_labels_found(const Dataset& data, const std::string& where, const Reading& reading) {
  require(reading.label_column == "none" || reading.label_column == "auto" || data.labels.defined(),
          "{}: @label_column {}: there is no such column or array; give none, first, last, a number from 1, or a name "
          "in the header",
          where, reading.label_column);
}

Dataset parse_known(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  if (is_zip(bytes)) return dataset_from_npz(bytes, where, options);
  if (is_npy(bytes)) return make_dataset(parse_npy(bytes, where), where, options.reading);
  if (is_mat(bytes)) return dataset_from_mat(bytes, where, options);
  if (is_idx(bytes)) return make_dataset(parse_idx(bytes, where), where, options.reading);
  require(!is_png(bytes), "{}: one picture is not a data set; name the folder of PNG files instead", where);
  const std::string other = known_other_format(bytes);
  require(other.empty(), "{}: {}", where, other);
  require(
      is_text(bytes),
      "{}: not recognised (byte 0 begins '{}'); known are IDX, NPY, NPZ, CSV, .amat, MATLAB -v7 (each also .gz) and "
      "folders of PNG pictures",
      where, printable(bytes, 8));
  return dataset_from_text(bytes, where, options);
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
  Dataset data = parse_known(bytes, where, options);
  require_labels_found(data, where, options.reading);
  return data;
}

Dataset read_dataset(const std::filesystem::path& path, const ReadOptions& options) {
  Dataset data;
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    require(options.array.empty(), "{}: a folder of pictures has no array named {}", path.string(),
            printable(options.array));
    data = make_dataset(read_png_folder(path), path.string(), options.reading);
    require_labels_found(data, path.string(), options.reading);
  } else {
    data = parse_dataset(read_file(path), path.string(), options);
  }
  const auto name = path.filename().empty() ? path.parent_path().filename() : path.filename();
  data.name = options.array.empty() ? name.string() : name.string() + ":" + options.array;
  return data;
}

}  // namespace harmonium
