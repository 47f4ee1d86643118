#include "harmonium/data/formats/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/gzip.h"
#include "harmonium/data/formats/npy.h"

namespace harmonium {

namespace {

constexpr zip_int64_t max_npz_members = 10'000;

struct CloseZipArchive {
  void operator()(zip_t* archive) const { ::zip_discard(archive); }
};
struct CloseZipMember {
  void operator()(zip_file_t* member) const { ::zip_fclose(member); }
};
using ZipArchive = std::unique_ptr<zip_t, CloseZipArchive>;

std::string zip_message(zip_error_t& error) {
  std::string text = ::zip_error_strerror(&error);
  ::zip_error_fini(&error);
  return text;
}

ZipArchive open_zip(std::string_view bytes, const std::string& where) {
  zip_error_t error;
  ::zip_error_init(&error);
  zip_source_t* source = ::zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) fail("{}: cannot open the archive: {}", where, zip_message(error));
  zip_t* archive = ::zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  if (archive == nullptr) {
    ::zip_source_free(source);
    fail("{}: damaged ZIP archive of {} bytes (its directory is at the end): {}; get the file again", where,
         bytes.size(), zip_message(error));
  }
  ::zip_error_fini(&error);
  return ZipArchive(archive);
}

// Reads piece by piece: the size in the directory is a claim, the bytes that arrive are not. `budget` is what all
// members together may still unpack to.
std::string unpack_zip_member(zip_t* archive, zip_uint64_t index, const std::string& where, std::uint64_t& budget) {
  const std::unique_ptr<zip_file_t, CloseZipMember> member(::zip_fopen_index(archive, index, 0));
  require(member != nullptr, "{}: cannot open the member: {}", where, ::zip_strerror(archive));
  constexpr std::size_t first_piece = 4096, largest_piece = std::size_t{16} << 20;
  std::string bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::clamp(before, first_piece, largest_piece));
    const zip_int64_t got = ::zip_fread(member.get(), bytes.data() + before, bytes.size() - before);
    require(got >= 0, "{}: damaged at unpacked byte {}: {}; get the file again", where, before,
            ::zip_file_strerror(member.get()));
    bytes.resize(before + static_cast<std::size_t>(got));
    require(static_cast<std::uint64_t>(got) <= budget,
            "{}: the archive unpacks to more than it may (stopped at byte {} of this member)", where, bytes.size());
    budget -= static_cast<std::uint64_t>(got);
    if (got == 0) return bytes;
  }
}

}  // namespace

bool is_zip(std::string_view bytes) { return bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6"); }

NamedTensors parse_npz(std::string_view bytes, const std::string& where) {
  require(is_zip(bytes), "{}: not an NPZ file (byte 0 is not a ZIP archive's PK)", where);
  const ZipArchive archive = open_zip(bytes, where);
  const zip_int64_t members = ::zip_get_num_entries(archive.get(), 0);
  require(members > 0, "{}: the archive is empty; expected arrays named NAME.npy", where);
  require(members <= max_npz_members, "{}: {} members are too many for an NPZ file", where, members);

  // Members may overlap in a hostile archive; deflate's 1032 to 1 of the whole file is a bound no honest one reaches.
  std::uint64_t budget = std::min(max_unpacked_bytes, 1100 * static_cast<std::uint64_t>(bytes.size()));
  NamedTensors arrays;
  for (zip_int64_t i = 0; i < members; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* raw_name = ::zip_get_name(archive.get(), index, 0);
    require(raw_name != nullptr, "{}: member {} has no name", where, i);
    std::string name = raw_name;
    const std::string member_where = format("{}, member {}", where, printable(name));
    require(name.ends_with(".npy"), "{}: not an array; an NPZ file holds only .npy members{}", member_where,
            name.starts_with("xl/") || name.starts_with("[Content_Types]") ? ". This is an Excel file: save it as CSV"
            : name.ends_with("data.pkl") ? ". This is a PyTorch file: save the tensor with numpy.save"
                                         : "");
    at::Tensor array = parse_npy(unpack_zip_member(archive.get(), index, member_where, budget), member_where);
    name.resize(name.size() - 4);
    arrays.emplace_back(std::move(name), std::move(array));
  }
  return arrays;
}

NamedTensors read_npz(const std::filesystem::path& path) { return parse_npz(read_file(path), path.string()); }

}  // namespace harmonium
