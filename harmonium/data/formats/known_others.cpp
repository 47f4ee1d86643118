#include "harmonium/data/formats/known_others.h"

namespace harmonium {

std::string known_other_format(std::string_view bytes) {
  if (bytes.starts_with("MATLAB 7.3") || bytes.starts_with("\x89HDF"))
    return "a MATLAB 7.3 or HDF5 file, which is not read; save it in MATLAB with -v7, or in Python with numpy.save";
  // Protocol 2 and later say so in two bytes; protocol 0 is text that names a class or opens a list, dict or tuple.
  const bool binary_pickle = bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  if (binary_pickle || bytes.starts_with("cnumpy.") || bytes.starts_with("cnumpy\n") || bytes.starts_with("(lp") ||
      bytes.starts_with("(dp") || bytes.starts_with("ccopy_reg\n") || bytes.starts_with("c__builtin__"))
    return "a Python pickle, which could run any program and is not read; load it in Python and save the array with "
           "numpy.save";
  if (bytes.size() > 2 && bytes[0] == '>' && bytes.find('\n') != std::string_view::npos)
    return "a FASTA file of sequences, which is not read; write each position as a number (A = 0, C = 1, …) into a CSV "
           "file, a sequence a line, and train with @visible softmax:K";
  if (bytes.starts_with("PAR1")) return "a Parquet file, which is not read; save the table as CSV or with numpy.save";
  if (bytes.starts_with("{") || bytes.starts_with("[")) return "JSON, which is not read; write the table as CSV";
  if (bytes.starts_with("\xD0\xCF\x11\xE0")) return "an Excel file, which is not read; save the sheet as CSV";
  return "";
}

}  // namespace harmonium
