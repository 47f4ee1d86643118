#include "harmonium/data/formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr int gzip_window = 15 + 16, zlib_window = 15;

class Inflater {
 public:
  explicit Inflater(int window) {
    if (::inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_{};
};

// Appends one compressed stream to `out` and returns how many bytes of `bytes` it took. `start` is where `bytes` begins
// in the file, for messages.
std::size_t inflate_member(std::string_view bytes, std::size_t start, int window, const std::string& where,
                           std::uint64_t max_bytes, std::string& out) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  Inflater stream(window);
  std::size_t consumed = 0;
  for (;;) {
    const std::size_t given = std::min(bytes.size() - consumed, chunk), before = out.size();
    // One byte beyond the limit is asked for, which is how exceeding it is noticed.
    const std::size_t room = std::min<std::uint64_t>(std::clamp(before, std::size_t{4096}, 16 * chunk),
                                                     max_bytes - std::min<std::uint64_t>(before, max_bytes) + 1);
    out.resize(before + room);
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
    stream->avail_in = static_cast<uInt>(given);
    stream->next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream->avail_out = static_cast<uInt>(room);
    const int status = ::inflate(stream.get(), Z_NO_FLUSH);
    consumed += given - stream->avail_in;
    out.resize(before + room - stream->avail_out);
    require(out.size() <= max_bytes, "{}: unpacks to more than {} bytes; refusing to go on at compressed byte {}",
            where, max_bytes, start + consumed);
    if (status == Z_STREAM_END) return consumed;
    const bool starved = consumed == bytes.size() && stream->avail_out > 0;
    require(!(starved && (status == Z_OK || status == Z_BUF_ERROR)),
            "{}: compressed data ends early, at byte {}; the file was cut short, get it again", where,
            start + consumed);
    require(status == Z_OK || status == Z_BUF_ERROR,
            "{}: compressed data is damaged near byte {} ({}); get the file again", where, start + consumed,
            stream->msg == nullptr ? "unknown cause" : stream->msg);
  }
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gunzip(std::string_view bytes, const std::string& where, std::uint64_t max_bytes) {
  require(is_gzip(bytes), "{}: not a gzip file (byte 0 is not 1f 8b)", where);
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    // Tape archives are padded with zeros behind the last member, which gzip itself accepts too.
    if (bytes.find_first_not_of('\0', at) == std::string_view::npos) break;
    require(is_gzip(bytes.substr(at)), "{}: {} bytes of something else follow the compressed data at byte {}", where,
            bytes.size() - at, at);
    at += inflate_member(bytes.substr(at), at, gzip_window, where, max_bytes, out);
  }
  return out;
}

std::string inflate_zlib(std::string_view bytes, const std::string& where, std::uint64_t max_bytes) {
  std::string out;
  inflate_member(bytes, 0, zlib_window, where, max_bytes, out);
  return out;
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  std::size_t read = 0, written = 0;
  int status = Z_OK;
  // zlib counts in 32 bits, files do not.
  constexpr std::size_t step = std::numeric_limits<uInt>::max();
  while (status == Z_OK) {
    const std::size_t given = std::min(bytes.size() - read, step), room = std::min(out.size() - written, step);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(room);
    status = ::deflate(&stream, read + given == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    read += given - stream.avail_in;
    written += room - stream.avail_out;
  }
  ::deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::logic_error("deflate stopped early");
  out.resize(written);
  return out;
}

}  // namespace harmonium
