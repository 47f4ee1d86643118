#include "harmonium/data/formats/safetensors.h"
#include "harmonium/families/belief_net_stages.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/models/builders.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

TrainedStack small_stack() {
  TrainedStack model{.machines = {}, .kind = "dbn", .image = ImageShape{2, 2}, .notes = {{"data", "digits"}}};
  for (const auto& [visible, hidden] : {std::pair{"bernoulli:4", "bernoulli:3"}, {"bernoulli:3", "gaussian:2"}}) {
    TrainedMachine machine{make_rbm(visible, hidden)};
    initialize(machine.machine, Key(model.machines.size()), 1.0);
    machine.data_moments = {{at::full({machine.machine.unit(0).width()}, 0.25)}};
    model.machines.push_back(machine);
  }
  return model;
}

TEST(StackFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const TrainedStack model = small_stack();
  write_stack(folder / "model.safetensors", model);
  const TrainedStack read = read_trained_stack(folder.path());
  EXPECT_EQ(read.kind, "dbn");
  EXPECT_EQ(read.image, model.image);
  EXPECT_EQ(read.notes, model.notes);
  ASSERT_EQ(read.machines.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const auto& [name, value] : model.machines[i].machine.parameters().entries())
      EXPECT_TRUE(at::equal(read.machines[i].machine.parameters()[name], value)) << name;
    EXPECT_TRUE(at::equal(read.machines[i].data_moments.at(0).at(0), model.machines[i].data_moments[0][0]));
  }
  expect_error([&] { (void)read_machine(folder.path()); }, {"dbn", "single Boltzmann machine"});
}

TEST(StackFile, KeepsAWayUpOfItsOwn) {
  const TemporaryFolder folder;
  TrainedStack model = small_stack();
  model.recognition.push_back(make_rbm("bernoulli:4", "bernoulli:3"));
  initialize(model.recognition[0], Key(9), 1.0);
  write_stack(folder / "model.safetensors", model);
  const TrainedStack read = read_trained_stack(folder.path());
  EXPECT_FALSE(read.net().tied);
  const auto expect_same = [](const BoltzmannMachine& a, const BoltzmannMachine& b) {
    for (const auto& [name, value] : a.parameters().entries()) EXPECT_TRUE(at::equal(value, b.parameters()[name]));
  };
  expect_same(read.net().up[0], model.recognition[0]);
  expect_same(read.net().up[1], model.machines[1].machine);
  expect_same(read.net().down[0], model.machines[0].machine);
  expect_same(read.stack()[0], model.recognition[0]);

  model.recognition.push_back(make_rbm("bernoulli:3", "gaussian:2"));
  EXPECT_THROW(write_stack(folder / "model.safetensors", model), Error);
  model.recognition = {make_rbm("bernoulli:4", "bernoulli:5")};
  EXPECT_THROW(write_stack(folder / "model.safetensors", model), Error);
  TensorFile file = read_safetensors(folder / "model.safetensors");
  file.metadata["structure"] =
      std::string(file.metadata["structure"])
          .replace(file.metadata["structure"].find("\"recognition\""), 13, "\"recognition\":[],\"x\"");
  write_safetensors(folder / "model.safetensors", file);
  expect_error([&] { (void)read_trained_stack(folder.path()); }, {"way up", "damaged"});
}

TEST(StackFile, SaysWhatIsWrongWithADamagedOne) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "stack.safetensors";
  write_machine(path, small_stack().machines.front());
  expect_error([&] { (void)read_trained_stack(path); }, {"stack.safetensors", "'rbm'"});
  TrainedStack upside_down = small_stack();
  std::swap(upside_down.machines[0], upside_down.machines[1]);
  write_stack(path, upside_down);
  expect_error([&] { (void)read_trained_stack(path); }, {"stack.safetensors", "machine 2", "bernoulli:4"});
  write_stack(path, small_stack());
  TensorFile file = read_safetensors(path);
  file.metadata["structure"] = R"({"stack": 3})";
  write_safetensors(path, file);
  expect_error([&] { (void)read_trained_stack(path); }, {"stack.safetensors", "damaged"});
}

TEST(StackRun, GivesEveryStageItsOwnConfiguration) {
  RunConfig config;
  config.model = "classification_dbn";
  config.visible = "gaussian:64";
  config.binarize = "none";
  config.layers = "12,gaussian:8,5";
  config.keep = "best";
  ASSERT_EQ(count_stages(config), 3U);
  const RunConfig first = stage_config(config, 0), second = stage_config(config, 1), third = stage_config(config, 2);
  EXPECT_EQ(first.model, "rbm");
  EXPECT_EQ(first.visible, "gaussian:64");
  EXPECT_EQ(first.hidden, "bernoulli:12");
  EXPECT_EQ(first.keep, "last");
  EXPECT_EQ(second.visible, "bernoulli:12");
  EXPECT_EQ(second.binarize, "stochastic") << "means of bits are drawn from";
  EXPECT_EQ(second.hidden, "gaussian:8");
  EXPECT_EQ(third.model, "classification_rbm");
  EXPECT_EQ(third.binarize, "none") << "real values are what they are";
  EXPECT_EQ(third.keep, "best");
  EXPECT_NE(first.seed, second.seed);
}

TEST(StackRun, EncodesDataByHiddenMeans) {
  const TrainedStack model = small_stack();
  const Dataset rows{.name = "rows", .values = at::rand({5000, 4}), .labels = at::zeros({5000}, at::kLong)};
  const RunData encoded = encode_data(model.machines[0].machine, {.train = rows, .valid = {}});
  EXPECT_EQ(encoded.binarization, Binarization::stochastic);
  EXPECT_EQ(encoded.valid.rows(), 0);
  EXPECT_TRUE(at::allclose(encoded.train.values, up_means({model.machines[0].machine}, rows.values)[0]));
  EXPECT_TRUE(at::equal(encoded.train.labels, rows.labels));
  EXPECT_EQ(encode_data(model.machines[1].machine, encoded).binarization, Binarization::none);
}

}  // namespace
}  // namespace harmonium
