#include "harmonium/data/formats/png.h"

#include <png.h>

#include <csetjmp>
#include <cstring>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr png_uint_32 max_png_side = 1 << 15;
constexpr png_alloc_size_t max_png_chunk = 8'000'000;

void ignore_png_warning(png_structp, png_const_charp) {}

// libpng reports errors by longjmp, which must not jump over a destructor. So all that has one lives in these objects,
// outside the functions that call setjmp, whose own locals are plain numbers and pointers.
struct PngReader {
  explicit PngReader(std::string_view file) : bytes(file) {
    png = ::png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &PngReader::on_error, &ignore_png_warning);
    info = png == nullptr ? nullptr : ::png_create_info_struct(png);
    if (info == nullptr) {
      ::png_destroy_read_struct(&png, nullptr, nullptr);
      throw std::bad_alloc();
    }
    ::png_set_read_fn(png, this, &PngReader::on_read);
    ::png_set_user_limits(png, max_png_side, max_png_side);
    ::png_set_chunk_malloc_max(png, max_png_chunk);
    ::png_set_chunk_cache_max(png, 64);
  }
  ~PngReader() { ::png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  static void on_error(png_structp png, png_const_charp text) {
    auto* self = static_cast<PngReader*>(::png_get_error_ptr(png));
    std::strncpy(self->message, text, sizeof self->message - 1);
    ::png_longjmp(png, 1);
  }
  static void on_read(png_structp png, png_bytep out, png_size_t count) {
    auto* self = static_cast<PngReader*>(::png_get_io_ptr(png));
    if (count > self->bytes.size() - self->offset) {
      self->offset = self->bytes.size();
      ::png_error(png, "the file ends early");
    }
    std::memcpy(out, self->bytes.data() + self->offset, count);
    self->offset += count;
  }

  std::string_view bytes;
  std::size_t offset = 0;
  char message[128] = "";  // not a std::string: on_error never returns, nothing in it may allocate
  png_structp png = nullptr;
  png_infop info = nullptr;
};

bool read_png_header(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  ::png_read_info(reader.png, reader.info);
  ::png_set_scale_16(reader.png);
  ::png_set_packing(reader.png);
  ::png_set_expand(reader.png);  // palettes to colours, 1, 2 and 4 bits of gray to 8
  ::png_set_strip_alpha(reader.png);
  ::png_set_interlace_handling(reader.png);
  ::png_read_update_info(reader.png, reader.info);
  return true;
}

// An interlaced picture comes in seven passes over all rows; each adds to what the buffer already holds.
bool read_png_rows(PngReader& reader, png_bytep rows, std::size_t row_bytes, png_uint_32 height, int passes) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < height; ++y) ::png_read_row(reader.png, rows + y * row_bytes, nullptr);
  }
  ::png_read_end(reader.png, nullptr);
  return true;
}

std::uint8_t luma_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
}

struct PngWriter {
  PngWriter() {
    png = ::png_create_write_struct(PNG_LIBPNG_VER_STRING, this, &PngWriter::on_error, &ignore_png_warning);
    info = png == nullptr ? nullptr : ::png_create_info_struct(png);
    if (info == nullptr) {
      ::png_destroy_write_struct(&png, nullptr);
      throw std::bad_alloc();
    }
    ::png_set_write_fn(png, this, &PngWriter::on_write, nullptr);
  }
  ~PngWriter() { ::png_destroy_write_struct(&png, &info); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  static void on_error(png_structp png, png_const_charp) { ::png_longjmp(png, 1); }
  static void on_write(png_structp png, png_bytep data, png_size_t count) {
    static_cast<PngWriter*>(::png_get_io_ptr(png))->append(data, count);
  }
  // noexcept: running out of memory here must end the program rather than unwind through libpng's C frames.
  void append(const png_byte* data, std::size_t count) noexcept {
    bytes.append(reinterpret_cast<const char*>(data), count);
  }

  std::string bytes;
  png_structp png = nullptr;
  png_infop info = nullptr;
};

bool write_png_rows(PngWriter& writer, const std::uint8_t* pixels, png_uint_32 height, png_uint_32 width,
                    int channels) {
  if (setjmp(png_jmpbuf(writer.png)) != 0) return false;
  ::png_set_IHDR(writer.png, writer.info, width, height, 8, channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  ::png_write_info(writer.png, writer.info);
  const std::size_t row_bytes = std::size_t{width} * static_cast<std::size_t>(channels);
  for (png_uint_32 y = 0; y < height; ++y) ::png_write_row(writer.png, pixels + y * row_bytes);
  ::png_write_end(writer.png, nullptr);
  return true;
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

GrayImage decode_png(std::string_view bytes, const std::string& where) {
  require(is_png(bytes), "{}: not a PNG picture (byte 0 is not \\x89PNG)", where);
  PngReader reader(bytes);
  require(read_png_header(reader), "{}: bad PNG header before byte {}: {}", where, reader.offset, reader.message);
  const png_uint_32 height = ::png_get_image_height(reader.png, reader.info);
  const png_uint_32 width = ::png_get_image_width(reader.png, reader.info);
  const std::size_t channels = ::png_get_channels(reader.png, reader.info);
  const std::size_t row_bytes = ::png_get_rowbytes(reader.png, reader.info);
  const int passes = ::png_set_interlace_handling(reader.png);
  require((channels == 1 || channels == 3) && row_bytes == width * channels, "{}: unexpected kind of PNG at byte 25",
          where);
  // One bit of a palette becomes three bytes, deflate packs at most 1032 to 1: a larger picture cannot be in the file.
  require(row_bytes * height / (24 * 1032) <= bytes.size(),
          "{}: the header at byte 16 claims {}×{} pixels, more than {} bytes can hold; the file is damaged", where,
          height, width, bytes.size());

  std::vector<std::uint8_t> rows(row_bytes * height);
  require(read_png_rows(reader, rows.data(), row_bytes, height, passes), "{}: damaged PNG before byte {}: {}", where,
          reader.offset, reader.message);
  require(reader.offset == bytes.size(), "{}: {} bytes too many, from byte {}, follow the picture", where,
          bytes.size() - reader.offset, reader.offset);

  GrayImage image{height, width, {}};
  if (channels == 1) {
    image.pixels = std::move(rows);
  } else {
    image.pixels.resize(rows.size() / 3);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = luma_of(rows.data() + 3 * i);
  }
  return image;
}

std::string encode_png(const std::uint8_t* pixels, std::int64_t height, std::int64_t width, std::int64_t channels) {
  require(channels == 1 || channels == 3, "encode_png: {} channels; gray has 1, colour 3", channels);
  require(height > 0 && width > 0 && height <= max_png_side && width <= max_png_side,
          "encode_png: cannot write a picture of {}×{} pixels; each side must be 1 to {}", height, width, max_png_side);
  PngWriter writer;
  if (!write_png_rows(writer, pixels, static_cast<png_uint_32>(height), static_cast<png_uint_32>(width),
                      static_cast<int>(channels)))
    throw std::logic_error("encode_png: libpng refused a valid picture");
  return std::move(writer.bytes);
}

GrayImage read_png(const std::filesystem::path& path) { return decode_png(read_file(path), path.string()); }

void write_png(const std::filesystem::path& path, const std::uint8_t* pixels, std::int64_t height, std::int64_t width,
               std::int64_t channels) {
  write_file_atomically(path, encode_png(pixels, height, width, channels));
}

}  // namespace harmonium
