// The family draw where pictures are looked at through attention; contract_test.cpp has it without.
#include <gtest/gtest.h>

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/families/draw_model.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"

namespace harmonium {
namespace {

DrawModel small_draw_model() {
  DrawNet net({.visible = "bernoulli:12",
               .height = 3,
               .width = 4,
               .steps = 15,
               .latent = 2,
               .hidden = 4,
               .read = 2,
               .write = 3});
  initialize(net, Key(1), at::full({12}, 0.3));
  return {{.family = "draw", .image = ImageShape{.height = 3, .width = 4}}, std::move(net)};
}

std::string replaced(std::string bytes, const std::string& from, const std::string& to) {
  const std::size_t place = bytes.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  EXPECT_EQ(from.size(), to.size()) << "the header would have another length";
  return bytes.replace(place, from.size(), to);
}

TEST(DrawFamily, ComesBackFromAFileWithItsGrids) {
  const DrawModel model = small_draw_model();
  const std::unique_ptr<Model> back = decode_model(model.encode_file(), "a file");
  EXPECT_EQ(back->encode_file(), model.encode_file());
  EXPECT_EQ(back->subtitle(), model.subtitle());
  EXPECT_NE(model.subtitle().find("15 steps"), std::string::npos);
  EXPECT_NE(model.subtitle().find("reads 2 × 2, writes 3 × 3"), std::string::npos);
  const Generator::Request request{.count = 7, .seed = 2};
  EXPECT_TRUE(at::equal(back->generator()->draw(request), model.generator()->draw(request)));
}

TEST(DrawFamily, RefusesFilesThatClaimWhatTheyDoNotHold) {
  const std::string bytes = small_draw_model().encode_file();
  // How the description stands in the header, where quotes are those of a text.
  const auto damaged = [&](const std::string& name, const std::string& from, const std::string& to) {
    const std::string key =
        bytes.find("\\\"" + name + "\\\":") == std::string::npos ? "\"" + name + "\":" : "\\\"" + name + "\\\":";
    try {
      (void)decode_model(replaced(bytes, key + from, key + to), "some file");
    } catch (const Error& error) {
      EXPECT_NE(error.marked().find("some file"), std::string::npos) << error.marked();
      return;
    }
    ADD_FAILURE() << name << " " << to << " was accepted";
  };
  damaged("hidden", "4", "9");
  damaged("latent", "2", "0");
  damaged("latent", "2", "3");
  damaged("read", "2", "3");
  damaged("write", "3", "0");
  damaged("height", "3", "9");
  damaged("steps", "15", "-1");
}

TEST(DrawFamily, ShowsHowSamplesArePaintedInAtMostTenFrames) {
  const DrawModel model = small_draw_model();
  const Dataset nothing{.name = "nothing", .values = at::zeros({0, 12}, at::kByte)};
  const NamedTensors none;
  const std::vector<Exhibit> all = model.exhibits({.checkpoint = none, .train = nothing});
  const auto film = std::ranges::find(all, "filmstrip", &Exhibit::id);
  ASSERT_NE(film, all.end());
  EXPECT_EQ(film->rows.size(0), 10 * film->columns);
  EXPECT_NE(film->caption.find("step 1, 3, 4"), std::string::npos) << film->caption;
  EXPECT_NE(film->caption.find("13, 15"), std::string::npos) << film->caption;
  // The last frame is what was painted: another run of the same samples ends there.
  const at::Tensor last = film->rows.narrow(0, 9 * film->columns, film->columns);
  EXPECT_TRUE(at::allclose(last, model.net().sample(Key(2), film->columns).means, 0, 1e-6));
}

TEST(DrawFamily, AsksForPicturesWhereThereIsAttention) {
  const auto resolved = [](std::int64_t read, std::int64_t steps, bool picture) {
    RunConfig config = usual_config("draw");
    config.data = "rows";
    RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::int64_t>) {
        if (std::string_view(name) == "read") field = read;
        if (std::string_view(name) == "steps") field = steps;
      }
    });
    RunData data;
    data.train = {.name = "rows", .values = at::zeros({20, 12}, at::kByte)};
    if (picture) data.train.image = ImageShape{.height = 3, .width = 4};
    try {
      resolve(config, data);
    } catch (const Error& error) {
      return error.marked();
    }
    return std::string();
  };
  EXPECT_EQ(resolved(2, 3, true), "");
  EXPECT_EQ(resolved(0, 3, false), "");
  EXPECT_NE(resolved(2, 3, false).find("@shape HEIGHTxWIDTH"), std::string::npos);
  EXPECT_NE(resolved(2, 0, true).find("@steps 0"), std::string::npos);
  EXPECT_NE(resolved(1000, 3, true).find("@read 1000"), std::string::npos);
}

}  // namespace
}  // namespace harmonium
