#include "harmonium/runs/checkpoint.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/sha256.h"
#include "harmonium/data/formats/safetensors.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

namespace fs = std::filesystem;

Checkpoint of_update(std::int64_t update, double seconds = 1.5) {
  return {.update = update,
          .seconds = seconds,
          .tensors = {{"weights", at::arange(update, update + 6, at::kFloat).view({2, 3})}},
          .notes = {{"config", "a = \"b\"\nsha256 = \"" + std::string(64, '0') + "\"\n"}}};
}

class Checkpoints : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::int64_t update : {10, 20, 30}) write_checkpoint(place, of_update(update));
  }
  [[nodiscard]] fs::path file(int update) const { return place / format("update-{:08}.safetensors", update); }
  static void flip(const fs::path& path, std::size_t at) {
    std::string bytes = read_file(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::int64_t newest() const { return read_checkpoint(place).value().checkpoint.update; }
  [[nodiscard]] std::string warning() const { return read_checkpoint(place).value().warning; }

  const TemporaryFolder folder;
  const fs::path place = folder.path() / "checkpoint";
};

TEST_F(Checkpoints, GiveTheNewestBackAndKeepTwo) {
  const LoadedCheckpoint loaded = read_checkpoint(place).value();
  EXPECT_EQ(loaded.checkpoint.update, 30);
  EXPECT_EQ(loaded.checkpoint.seconds, 1.5);
  EXPECT_EQ(loaded.checkpoint.notes.at("config"), of_update(30).notes.at("config"));
  EXPECT_TRUE(at::equal(loaded.checkpoint.tensors.at(0).second, of_update(30).tensors.at(0).second));
  EXPECT_EQ(loaded.warning, "");
  EXPECT_FALSE(fs::exists(file(10)));
  EXPECT_TRUE(fs::exists(file(20)));
  EXPECT_FALSE(read_checkpoint(folder.path() / "nowhere").has_value());
}

TEST_F(Checkpoints, AreFoundWhereTheIndexNamesAnUpdateBeyondAllNumbers) {
  for (const char* update : {"45951614000000000000000000", "1.5", "-1e300", "\"30\""}) {
    std::ofstream(place / "latest.json") << format(
        R"([{{"file":"update-00000030.safetensors","update":{},"seconds":1}}])", update);
    EXPECT_EQ(newest(), 30) << update;
    EXPECT_NE(warning().find("latest.json is damaged"), std::string::npos) << warning();
  }
}

TEST_F(Checkpoints, OfEqualRunsAreEqualFilesHoweverLongTheyTook) {
  const std::string before = read_file(file(30));
  write_checkpoint(place, of_update(30, 99));
  EXPECT_TRUE(read_file(file(30)) == before);
}

TEST_F(Checkpoints, FindDamageAtEveryByteByTheirOwnSum) {
  const std::string good = read_file(file(30));
  for (std::size_t at = 0; at < good.size(); ++at) {
    flip(file(30), at);
    ASSERT_EQ(newest(), 20) << "byte " << at << " of " << good.size();
    ASSERT_NE(warning().find(file(30).string()), std::string::npos);
    flip(file(30), at);
  }
  EXPECT_EQ(newest(), 30);
}

TEST_F(Checkpoints, AreFoundWithoutTheirIndexAndThatIsSaid) {
  fs::remove(place / "latest.json");
  EXPECT_EQ(newest(), 30);
  EXPECT_FALSE(read_checkpoint(place).value().seconds_known);
  EXPECT_NE(warning().find("latest.json is missing"), std::string::npos) << warning();
  for (const char* text : {"", "[]", "{", "[{\"file\": 3}]", "[{\"file\": \"update-00000030.safetensors\"}]"}) {
    std::ofstream(place / "latest.json") << text;
    EXPECT_EQ(newest(), 30) << text;
    EXPECT_NE(warning().find("latest.json is damaged"), std::string::npos) << text << ": " << warning();
  }
  flip(file(30), 200);
  EXPECT_EQ(newest(), 20) << "the newest whose sum holds";
  write_checkpoint(place, of_update(40));
  EXPECT_EQ(newest(), 40);
  EXPECT_EQ(warning(), "") << "a good index is written over a bad one";
}

TEST_F(Checkpoints, OfWhichNoneIsWholeAreAnError) {
  flip(file(20), 100);
  flip(file(30), 100);
  EXPECT_THROW((void)read_checkpoint(place), Error);
}

// As version 0.1 wrote them: the sum stands in the index.
TEST_F(Checkpoints, OfOlderVersionsAreReadByTheSumInTheIndex) {
  const fs::path old = folder.path() / "old";
  fs::create_directories(old);
  const std::string bytes =
      encode_safetensors({.tensors = of_update(50).tensors, .metadata = {{"format", "harmonium-checkpoint/1"}}});
  write_file_atomically(old / "update-00000050.safetensors", bytes);
  const nlohmann::json index = nlohmann::json::array(
      {{{"file", "update-00000050.safetensors"}, {"update", 50}, {"seconds", 2.0}, {"sha256", sha256(bytes)}}});
  write_file_atomically(old / "latest.json", index.dump());
  EXPECT_EQ(read_checkpoint(old).value().checkpoint.update, 50);
  EXPECT_EQ(read_checkpoint(old).value().warning, "");
  write_checkpoint(old, of_update(60));
  flip(old / "update-00000060.safetensors", 300);
  EXPECT_EQ(read_checkpoint(old).value().checkpoint.update, 50) << "it is still known by its sum";
  flip(old / "update-00000050.safetensors", 100);
  EXPECT_THROW((void)read_checkpoint(old), Error);
}

}  // namespace
}  // namespace harmonium
