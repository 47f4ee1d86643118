// Model files that were damaged or made up: refused with the file's name, before memory is taken for what they claim.
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/open_model.h"
#include "harmonium/models/builders.h"

namespace harmonium {
namespace {

using nlohmann::json;

constexpr const char* where = "some/model.safetensors";

std::string file_of(const std::string& kind, const json& structure, const NamedTensors& tensors) {
  TensorFile file{.tensors = {tensors.begin(), tensors.end()}, .metadata = {}};
  set_header(file, {.kind = kind, .structure = structure});
  return encode_safetensors(file);
}

json layer(const std::string& name, const std::string& unit, bool observed) {
  return {{"name", name}, {"unit", unit}, {"observed", observed}};
}

json machine(const std::vector<json>& layers, const json& edges) { return {{"layers", layers}, {"edges", edges}}; }

const json joined = json::array({json::array({"visible", "hidden"})});

// What is said of the file; it must name it, and only once.
std::string refusal(const std::string& bytes) {
  try {
    (void)decode_model(bytes, where);
  } catch (const Error& error) {
    const std::string text = error.marked();
    const std::size_t first = text.find(where);
    EXPECT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find(where, first + 1), std::string::npos) << text;
    return text;
  }
  return "accepted";
}

void expect_refusal(const std::string& bytes, const std::string& part) {
  const std::string text = refusal(bytes);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(UntrustedMachine, WithoutAnObservedLayerIsRefused) {
  expect_refusal(file_of("rbm", machine({layer("hidden", "bernoulli:4", false)}, json::array()),
                         {{"hidden.bias", at::zeros({4})}}),
                 "no layer of the model is observed");
}

TEST(UntrustedMachine, OfKindRbmWithoutAHiddenLayerIsRefused) {
  expect_refusal(file_of("rbm", machine({layer("visible", "bernoulli:4", true)}, json::array()),
                         {{"visible.bias", at::zeros({4})}}),
                 "no hidden layer");
}

TEST(UntrustedMachine, WithoutLayersIsRefused) {
  expect_refusal(file_of("rbm", machine({}, json::array()), {{"x", at::zeros({1})}}), "observed");
}

TEST(UntrustedMachine, ThatClaimsMoreUnitsThanItsFileHoldsTakesNoMemory) {
  for (const char* unit : {"bernoulli:60000", "gaussian:1000000000", "softmax:1000000x1000000"})
    expect_refusal(file_of("rbm", machine({layer("visible", unit, true), layer("hidden", unit, false)}, joined),
                           {{"visible.bias", at::zeros({4})}}),
                   "the file holds 4");
}

TEST(UntrustedMachine, WithMoreUnitsThanNumbersCanCountIsRefused) {
  for (const char* unit : {"bernoulli:9223372036854775807", "softmax:9223372036854775807x2", "twin:1000000001"})
    expect_refusal(file_of("rbm", machine({layer("visible", unit, true)}, json::array()), {{"x", at::zeros({1})}}),
                   "too many");
}

TEST(UntrustedMachine, WhoseUnitsAreUnknownIsRefusedByName) {
  expect_refusal(
      file_of("rbm", machine({layer("visible", "rernoulli:4", true)}, json::array()), {{"x", at::zeros({1})}}),
      "unknown unit type 'rernoulli'");
}

TEST(UntrustedMachine, WhoseEdgeNamesNoLayerIsRefusedByName) {
  expect_refusal(file_of("rbm", machine({layer("visible", "bernoulli:1", true)}, joined), {{"x", at::zeros({1})}}),
                 "no layer named 'hidden'");
}

// A small RBM whose file is changed by `change`.
template <class Change>
std::string changed_rbm(Change&& change) {
  TrainedMachine model{make_rbm("bernoulli:4", "bernoulli:3")};
  model.data_moments = {{at::full({4}, 0.5)}};
  TensorFile file = parse_safetensors(encode_machine(model), where);
  change(file);
  return encode_safetensors(file);
}

TEST(UntrustedMachine, WithDataMomentsOfAnotherShapeIsRefused) {
  EXPECT_EQ(refusal(changed_rbm([](TensorFile&) {})), "accepted");
  for (const at::Tensor& wrong : {at::zeros({3}), at::zeros({1, 4}), at::full({4}, NAN)})
    expect_refusal(changed_rbm([&](TensorFile& file) {
                     for (auto& [name, value] : file.tensors)
                       if (name.starts_with("data_moments/")) value = wrong;
                   }),
                   "data_moments/visible.bias");
}

TEST(UntrustedMachine, WhoseLayersLackWeightsIsRefused) {
  expect_refusal(changed_rbm([](TensorFile& file) {
                   std::erase_if(file.tensors, [](const auto& each) { return each.first == "visible_hidden.weights"; });
                 }),
                 "numbers");
}

TEST(UntrustedMachine, WithAPictureOfAbsurdSizeForgetsThePicture) {
  const auto model = decode_model(
      changed_rbm([](TensorFile& file) { file.metadata["image"] = "9223372036854775807x9223372036854775807"; }), where);
  EXPECT_FALSE(model->info().image.has_value());
}

TEST(UntrustedStack, ThatClaimsMoreThanItsFileHoldsTakesNoMemory) {
  const json big =
      machine({layer("visible", "bernoulli:60000", true), layer("hidden", "bernoulli:60000", false)}, joined);
  expect_refusal(file_of("dbn", {{"stack", json::array({big})}}, {{"x", at::zeros({1})}}), "the file holds 1");
}

TEST(UntrustedStack, WhoseLayersHaveOtherNamesIsRefused) {
  expect_refusal(
      file_of("dbn",
              {{"stack", json::array({machine({layer("v", "bernoulli:2", true), layer("h", "bernoulli:1", false)},
                                              json::array({json::array({"v", "h"})}))})}},
              {{"machine1/v.bias", at::zeros({2})},
               {"machine1/h.bias", at::zeros({1})},
               {"machine1/v_h.weights", at::zeros({2, 1})}}),
      "'visible' and 'hidden'");
}

TEST(UntrustedModel, OfOtherFamiliesThatClaimsMoreThanItsFileHoldsTakesNoMemory) {
  const NamedTensors little = {{"x", at::zeros({1})}};
  expect_refusal(
      file_of("mlp", {{"net", json::array({{{"inputs", 30000}, {"outputs", 30000}, {"activation", "relu"}}})}}, little),
      "the file holds 1");
  expect_refusal(file_of("nade", {{"nade", {{"inputs", 30000}, {"hidden", 30000}, {"order", json::array()}}}}, little),
                 "the file holds 1");
  expect_refusal(file_of("mixture", {{"mixture", {{"inputs", 30000}, {"components", 30000}}}}, little),
                 "the file holds 1");
  const json masked = {{"visible", "bernoulli:30000"},
                       {"hidden", json::array({30000})},
                       {"activation", "relu"},
                       {"direct", true},
                       {"constant_spread", false},
                       {"masks", 1},
                       {"order", "raster"},
                       {"seed", 0}};
  expect_refusal(file_of("made", {{"masked_net", masked}}, little), "the file holds 1");
  expect_refusal(file_of("rbm", {{"masked_net", masked}}, little), "no masked net");
  expect_refusal(file_of("orderless_nade",
                         {{"orderless_nade",
                           {{"visible", "bernoulli:30000"},
                            {"hidden", json::array({30000})},
                            {"activation", "relu"},
                            {"orders", 2},
                            {"seed", 0}}}},
                         little),
                 "the file holds 1");
  const json net = {{"height", 28},   {"width", 28},    {"channels", 4096},
                    {"blocks", 1000}, {"attention", 2}, {"kernel", 3}};
  expect_refusal(file_of("pixel_net", {{"pixel_net", net}}, little), "the file holds 1");
  for (const auto& [name, value] : {std::pair{"width", 1 << 20}, {"attention", 1001}, {"kernel", 4}, {"blocks", 0}}) {
    json other = net;
    other[name] = value;
    expect_refusal(file_of("pixel_net", {{"pixel_net", other}}, little), "make no pixel net");
  }
  json real = {{"inputs", 30000}, {"hidden", 30000},     {"components", 10},       {"kernel", "gaussian"},
               {"orders", 2},     {"order", "random:1"}, {"means", json::array()}, {"deviations", json::array()}};
  expect_refusal(file_of("rnade", {{"rnade", real}}, little), "the file holds 1");
  real["components"] = 1'000'000;
  expect_refusal(file_of("rnade", {{"rnade", real}}, little), "make no RNADE");
  expect_refusal(file_of("sbn",
                         {{"sbn",
                           {{"visible", "bernoulli:30000"},
                            {"latent", json::array({30000})},
                            {"between", json::array()},
                            {"activation", "tanh"}}}},
                         little),
                 "the file holds 1");
  json slabs = {{"inputs", 30000}, {"hidden", 30000}, {"penalties", true}, {"certificate", true}, {"spread", 1.0}};
  expect_refusal(file_of("ssrbm", {{"spike_slab_model", slabs}}, little), "the file holds 1");
  expect_refusal(file_of("pot", {{"spike_slab_model", slabs}}, little), "no spikes and slabs");
  slabs["hidden"] = 1LL << 40;
  expect_refusal(file_of("ssrbm", {{"spike_slab_model", slabs}}, little), "make no layer");
  slabs["hidden"] = 0;
  slabs["inputs"] = 0;
  expect_refusal(file_of("ssrbm", {{"spike_slab_model", slabs}}, little), "needs inputs and hidden units");
  json energy = {{"inputs", 30000}, {"layers", {30000, 10}}, {"activation", "tanh"}, {"spread", 1.0}};
  expect_refusal(file_of("deep_energy", {{"deep_energy", energy}}, little), "the file holds 1");
  expect_refusal(file_of("rbm", {{"deep_energy", energy}}, little), "no deep energy model");
  for (const json& layers : {json{1LL << 40}, json{-1}, json{3, 1LL << 62}}) {
    energy["layers"] = layers;
    expect_refusal(file_of("deep_energy", {{"deep_energy", energy}}, little), "make no layer");
  }
  energy["inputs"] = 0;
  energy["layers"] = json::array();
  expect_refusal(file_of("deep_energy", {{"deep_energy", energy}}, little), "a number of inputs");
  json deep = {{"visible", "bernoulli:100"}, {"hidden", json::array()}, {"latent", 5}, {"activation", "tanh"}};
  deep["above"] = json::array({{{"hidden", json::array({30000})}, {"latent", 30000}}});
  expect_refusal(file_of("vae", {{"vae", deep}}, little), "the file holds 1");
  deep["above"] = json::array({{{"hidden", json::array()}, {"latent", 1LL << 40}}});
  expect_refusal(file_of("vae", {{"vae", deep}}, little), "no layer of a VAE");
  deep["above"] = json::array({{{"latent", 3}}});
  expect_refusal(file_of("vae", {{"vae", deep}}, little), "damaged");
  const json picture = {{"height", 28}, {"width", 28}, {"channels", 4096}, {"blocks", 50}, {"halvings", 2}};
  const auto convolved = [&](const char* name, const json& value) {
    json nets = {{"visible", "bernoulli:784"}, {"hidden", json::array()}, {"latent", 5}, {"activation", "tanh"}};
    nets["picture"] = picture;
    nets["picture"][name] = value;
    return file_of("vae", {{"vae", nets}}, little);
  };
  expect_refusal(convolved("height", 28), "the file holds 1");
  expect_refusal(convolved("height", 29), "29 × 28");
  expect_refusal(convolved("height", "tall"), "damaged");
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, json>>{{"width", 0},
                                                                                       {"height", 1LL << 40},
                                                                                       {"channels", 0},
                                                                                       {"channels", 5000},
                                                                                       {"blocks", 1001},
                                                                                       {"halvings", 9},
                                                                                       {"halvings", -1}})
    expect_refusal(convolved(name, value), "make no nets");
  const json rungs = {{"visible", "bernoulli:784"}, {"height", 28},     {"width", 28},  {"latent", {4, 4}},
                      {"scales", {0, 2}},           {"channels", 4096}, {"blocks", 50}, {"kernel", 3}};
  expect_refusal(file_of("ladder", {{"ladder", rungs}}, little), "the file holds 1");
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, json>>{{"width", 0},
                                                                                       {"height", 1LL << 40},
                                                                                       {"latent", {4, 0}},
                                                                                       {"latent", json::array()},
                                                                                       {"scales", {0}},
                                                                                       {"scales", {0, 40}},
                                                                                       {"channels", 0},
                                                                                       {"blocks", 1001},
                                                                                       {"kernel", 4}}) {
    json other = rungs;
    other[name] = value;
    expect_refusal(file_of("ladder", {{"ladder", other}}, little), "make no ladder");
  }
  for (const auto& [name, value, part] : std::initializer_list<std::tuple<const char*, json, const char*>>{
           {"scales", {2, 0}, "smaller"}, {"scales", {0, 6}, "halved"}, {"width", 27, "28 × 27"}}) {
    json other = rungs;
    other[name] = value;
    expect_refusal(file_of("ladder", {{"ladder", other}}, little), part);
  }
  expect_refusal(
      file_of("factor_analyzers",
              {{"factor_analyzers",
                {{"inputs", 30000}, {"varying", 30000}, {"components", 10000}, {"factors", 10}, {"noise", 0.1}}}},
              little),
      "the file holds 1");
  expect_refusal(file_of("s3c", {{"s3c", {{"inputs", 30000}, {"hidden", 30000}}}}, little), "the file holds 1");
  expect_refusal(file_of("s3c", {{"s3c", {{"inputs", 0}, {"hidden", 3}}}}, little), "make no sparse coding");
  expect_refusal(file_of("s3c", {{"s3c", {{"inputs", 3}}}}, little), "damaged");
  json drawn = {{"rows", 300},        {"columns", 300},        {"composites", 20000},       {"parts", 9},
                {"template", 11},     {"channels", 1},         {"distortions", 30},         {"hidden", {30000}},
                {"sharpness", 100.0}, {"negative_ink", false}, {"output_model", "semisoft"}};
  expect_refusal(file_of("capsules", {{"capsules", drawn}}, little), "the file holds 1");
  drawn["parts"] = 1LL << 40;
  expect_refusal(file_of("capsules", {{"capsules", drawn}}, little), "damaged");
  for (const char* visible : {"bernoulli:900000", "bernoulli:9223372036854775807"})
    EXPECT_NE(refusal(file_of(
                  "vae",
                  {{"vae",
                    {{"visible", visible}, {"hidden", json::array({1000000})}, {"latent", 5}, {"activation", "tanh"}}}},
                  little)),
              "accepted");
}

}  // namespace
}  // namespace harmonium
