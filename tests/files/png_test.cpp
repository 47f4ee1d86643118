#include "harmonium/data/formats/png.h"

#include <png.h>

#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

namespace {

// A picture of any kind libpng can write from rows that are already packed.
std::string encode_png_as(int color_type, int depth, int interlace, png_uint_32 width,
                          const std::vector<std::vector<png_byte>>& rows) {
  std::string bytes;
  png_structp png = ::png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = ::png_create_info_struct(png);
  ::png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, png_size_t count) {
        static_cast<std::string*>(::png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), count);
      },
      nullptr);
  ::png_set_IHDR(png, info, width, static_cast<png_uint_32>(rows.size()), depth, color_type, interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[2] = {{255, 0, 0}, {255, 255, 255}};
  if (color_type == PNG_COLOR_TYPE_PALETTE) ::png_set_PLTE(png, info, palette, 2);
  ::png_set_gAMA(png, info, 0.2);  // must not change the values that are read
  std::vector<png_bytep> pointers;
  for (const auto& row : rows) pointers.push_back(const_cast<png_bytep>(row.data()));
  ::png_set_rows(png, info, pointers.data());
  ::png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  ::png_destroy_write_struct(&png, &info);
  return bytes;
}

using Pixels = std::vector<std::uint8_t>;

}  // namespace

TEST(Png, ReadsBackGray) {
  const Pixels pixels{0, 1, 2, 127, 128, 255};
  const GrayImage image = decode_png(encode_png(pixels.data(), 2, 3, 1), "f");
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.pixels, pixels);
}

TEST(Png, ReadsColourAsLuma) {
  const Pixels pixels{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
  EXPECT_EQ(decode_png(encode_png(pixels.data(), 1, 4, 3), "f").pixels, (Pixels{76, 150, 29, 255}));
}

TEST(Png, ReadsEveryKindOfPicture) {
  EXPECT_EQ(decode_png(encode_png_as(PNG_COLOR_TYPE_GRAY, 1, 0, 3, {{0b10100000}}), "f").pixels, (Pixels{255, 0, 255}));
  EXPECT_EQ(decode_png(encode_png_as(PNG_COLOR_TYPE_GRAY, 4, 0, 2, {{0x3F}}), "f").pixels, (Pixels{51, 255}));
  EXPECT_EQ(decode_png(encode_png_as(PNG_COLOR_TYPE_GRAY, 16, 0, 1, {{0x80, 0x80}}), "f").pixels, (Pixels{128}));
  EXPECT_EQ(decode_png(encode_png_as(PNG_COLOR_TYPE_GRAY_ALPHA, 8, 0, 1, {{77, 0}}), "f").pixels, (Pixels{77}));
  EXPECT_EQ(decode_png(encode_png_as(PNG_COLOR_TYPE_PALETTE, 1, 0, 2, {{0b01000000}}), "f").pixels, (Pixels{76, 255}));
  EXPECT_EQ(decode_png(encode_png_as(PNG_COLOR_TYPE_RGB_ALPHA, 8, 0, 1, {{9, 9, 9, 128}}), "f").pixels, (Pixels{9}));
}

TEST(Png, ReadsInterlacedPictures) {
  std::vector<std::vector<png_byte>> rows;
  Pixels expected;
  for (int y = 0; y < 9; ++y) {
    rows.emplace_back();
    for (int x = 0; x < 11; ++x) rows.back().push_back(static_cast<png_byte>(y * 20 + x));
    expected.insert(expected.end(), rows.back().begin(), rows.back().end());
  }
  EXPECT_EQ(decode_png(encode_png_as(PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_ADAM7, 11, rows), "f").pixels, expected);
}

TEST(Png, RejectsDamageNamingTheFileAndByte) {
  const std::string bytes = samples::png();
  expect_error([] { (void)decode_png("GIF89a", "a.png"); }, {"a.png", "byte 0"});
  expect_error([&] { (void)decode_png(bytes.substr(0, 20), "a.png"); }, {"a.png", "byte 20", "ends early"});
  expect_error([&] { (void)decode_png(bytes.substr(0, bytes.size() - 5), "a.png"); },
               {"a.png", format("byte {}", bytes.size() - 5)});
  expect_error([&] { (void)decode_png(bytes + "xy", "a.png"); },
               {"a.png", "2 bytes too many", format("byte {}", bytes.size())});
  std::string flipped = bytes;
  flipped[45] ^= 0x10;
  expect_error([&] { (void)decode_png(flipped, "a.png"); }, {"a.png", "damaged PNG before byte"});
}

TEST(Png, RejectsAHeaderThatClaimsMoreThanTheFileCanHold) {
  // The header's checksum is made right, so that only the claim itself is wrong.
  const auto claiming = [](std::uint32_t width, std::uint32_t height) {
    std::string bytes = samples::png();
    bytes.replace(16, 8, samples::big_endian(width) + samples::big_endian(height));
    const auto checksum = ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + 12), 17);
    return bytes.replace(29, 4, samples::big_endian(static_cast<std::uint32_t>(checksum)));
  };
  expect_error([&] { (void)decode_png(claiming(32768, 32768), "a.png"); }, {"a.png", "32768×32768"});
  expect_error([&] { (void)decode_png(claiming(2147483647, 2147483647), "a.png"); }, {"a.png", "byte"});
  expect_error([&] { (void)decode_png(claiming(0, 1), "a.png"); }, {"a.png", "byte"});
}

TEST(Png, RefusesToWriteImpossiblePictures) {
  const Pixels pixel{0, 0};
  expect_error([&] { (void)encode_png(pixel.data(), 1, 1, 2); }, {"2 channels"});
  expect_error([&] { (void)encode_png(pixel.data(), 0, 1, 1); }, {"0×1"});
}

TEST(PngFolder, ReadsPicturesInTheOrderOfTheirNames) {
  const TemporaryFolder folder;
  for (const auto& [name, value] : {std::pair{"c.png", 3}, {"a.png", 1}, {"b", 2}}) {
    const Pixels pixels(6, static_cast<std::uint8_t>(value));
    write_png(folder / name, pixels.data(), 2, 3, 1);
  }
  folder.write("readme.txt", "not a picture");
  const at::Tensor images = read_png_folder(folder.path());
  EXPECT_EQ(images.sizes(), (std::vector<std::int64_t>{3, 2, 3}));
  EXPECT_TRUE(images.select(1, 0).select(1, 0).equal(at::tensor({1, 2, 3}, at::kByte)));
  EXPECT_EQ(read_png(folder / "b").pixels, Pixels(6, 2));
}

TEST(PngFolder, RejectsPicturesOfDifferentSizesNamingBoth) {
  const TemporaryFolder folder;
  folder.write("a.png", samples::png(2, 3));
  folder.write("b.png", samples::png(3, 2));
  expect_error([&] { (void)read_png_folder(folder.path()); }, {"b.png: 3×2", "a.png has 2×3"});
}

TEST(PngFolder, RejectsFoldersWithoutPicturesAndFilesThatOnlyPretend) {
  const TemporaryFolder folder;
  expect_error([&] { (void)read_png_folder(folder.path()); }, {folder.path().string(), "no PNG"});
  expect_error([&] { (void)read_png_folder(folder / "missing"); }, {"missing"});
  folder.write("a.png", "pretender");
  expect_error([&] { (void)read_png_folder(folder.path()); }, {"a.png", "not a PNG"});
}

}  // namespace harmonium
