#include "harmonium/families/net_file.h"

#include "harmonium/data/formats/safetensors.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/families/net_model.h"
#include "harmonium/families/posterior_inputs.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/unrolling.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

TrainedNet small_net() {
  TrainedNet model{.net = make_autoencoder(4, {3, 2}, Activation::relu, Activation::logistic),
                   .kind = "autoencoder",
                   .image = ImageShape{2, 2},
                   .notes = {{"data", "digits"}, {"updates", "7"}}};
  initialize(model.net, Key(1));
  return model;
}

TEST(NetFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const TrainedNet model = small_net();
  write_net(folder / "model.safetensors", model);
  for (const std::filesystem::path& path : {folder / "model.safetensors", folder.path()}) {
    const TrainedNet read = read_net(path);
    EXPECT_EQ(read.kind, "autoencoder");
    EXPECT_EQ(read.image, model.image);
    EXPECT_EQ(read.notes, model.notes);
    EXPECT_EQ(read.net.code(), model.net.code());
    ASSERT_EQ(read.net.layers().size(), 4U);
    const at::Tensor rows = at::ones({3, 4});
    EXPECT_TRUE(at::equal(read.net.forward(rows), model.net.forward(rows)));
    EXPECT_TRUE(at::equal(read.net.encode(rows), model.net.encode(rows)));
  }
  TrainedNet documents = model;
  documents.net.set_input_form(InputForm::shares);
  write_net(folder / "documents.safetensors", documents);
  EXPECT_EQ(read_net(folder / "documents.safetensors").net.input_form(), InputForm::shares);
  // Parameters are float32 whatever they were.
  TrainedNet precise = model;
  precise.net = model.net.to(at::kDouble);
  write_net(folder / "precise.safetensors", precise);
  EXPECT_EQ(read_net(folder / "precise.safetensors").net.weights(0).scalar_type(), at::kFloat);
}

// 4 columns, hidden layers of 3 and 2, so the net takes 4 + 2 values.
TrainedNet net_beside_machine() {
  BoltzmannMachine machine = make_chain({"bernoulli:4", "bernoulli:3", "bernoulli:2"});
  initialize(machine, Key(2), 1.0);
  return {.net = unroll_with_posterior(machine, 2, Key(3)), .image = ImageShape{2, 2}, .posterior = machine};
}

TEST(NetFile, KeepsTheMachineWhosePosteriorTheNetTakes) {
  const TemporaryFolder folder;
  const TrainedNet model = net_beside_machine();
  write_net(folder / "model.safetensors", model);
  const TrainedNet read = read_net(folder / "model.safetensors");
  EXPECT_EQ(read.image, model.image) << "the machine's inputs are no part of the picture";
  ASSERT_TRUE(read.posterior.has_value());
  const at::Tensor rows = uniform(Key(4), {7, 4}, at::kFloat);
  EXPECT_EQ(read.input(rows).size(1), 6);
  EXPECT_TRUE(at::equal(read.input(rows), model.input(rows)));
  // As a model it takes rows of the data.
  const NetModel classifier(read);
  const Model& as_model = classifier;
  EXPECT_EQ(as_model.visible().width(), 4);
  const at::Tensor expected = model.net.forward(with_posterior(*model.posterior, rows));
  EXPECT_TRUE(at::allclose(as_model.classifier()->log_probabilities(rows).exp(), expected.to(at::kDouble), 0, 1e-6));
  // The same columns are made of data, whatever the pieces.
  const RunData data{.train = {.name = "rows", .values = rows}, .valid = {}};
  EXPECT_TRUE(at::equal(with_posterior(*model.posterior, data, at::kCPU).train.values, model.input(rows)));
}

TEST(NetFile, RefusesAMachineThatDoesNotFitTheNet) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "net.safetensors";
  TrainedNet model = net_beside_machine();
  model.posterior = make_chain({"bernoulli:4", "bernoulli:3", "bernoulli:3"});
  write_net(path, model);
  expect_error([&] { (void)read_net(path); }, {"net.safetensors", "takes 6", "7"});
  model.posterior = make_rbm("bernoulli:4", "bernoulli:2");
  write_net(path, model);
  expect_error([&] { (void)read_net(path); }, {"net.safetensors", "1 hidden"});
  TensorFile file = [&] {
    write_net(path, net_beside_machine());
    return read_safetensors(path);
  }();
  std::erase_if(file.tensors, [](const auto& each) { return each.first == "posterior/hidden1.bias"; });
  write_safetensors(path, file);
  expect_error([&] { (void)read_net(path); }, {"net.safetensors"});
}

TEST(NetFile, AndFilesOfMachinesAreToldApart) {
  const TemporaryFolder folder;
  write_net(folder / "net.safetensors", small_net());
  write_machine(folder / "rbm.safetensors", {make_rbm("bernoulli:4", "bernoulli:2")});
  expect_error([&] { (void)read_machine(folder / "net.safetensors"); }, {"net.safetensors", "autoencoder"});
  expect_error([&] { (void)read_net(folder / "rbm.safetensors"); }, {"rbm.safetensors", "'rbm'", "finetune"});
}

TEST(NetFile, SaysWhatIsWrongWithADamagedOne) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "net.safetensors";
  const auto damaged = [&](const std::function<void(TensorFile&)>& damage) {
    write_net(path, small_net());
    TensorFile file = read_safetensors(path);
    damage(file);
    write_safetensors(path, file);
    return [&] { (void)read_net(path); };
  };
  const auto structure = [&](const std::string& text) {
    return damaged([&](TensorFile& file) { file.metadata["structure"] = text; });
  };
  expect_error(structure("{"), {"net.safetensors", "structure", "damaged"});
  expect_error(structure(R"({"net": [{"inputs": 4}]})"), {"net.safetensors", "layers", "damaged"});
  expect_error(structure(R"({"net": [{"inputs": 4, "outputs": -3, "activation": "relu"}]})"), {"layer 1", "-3"});
  expect_error(structure(R"({"net": [{"inputs": 4, "outputs": 999999999999, "activation": "relu"}]})"),
               {"layer 1", "999999999999"});
  expect_error(structure(R"({"net": [{"inputs": 4, "outputs": 3, "activation": "cubic"}]})"), {"cubic"});
  expect_error(structure(R"({"net": [{"inputs": 4, "outputs": 3, "activation": "relu"}], "code": 1})"), {"code"});
  expect_error(structure(R"({"net": [{"inputs": 5, "outputs": 3, "activation": "relu"}]})"),
               {"layer1.weights", "shape"});
  expect_error(damaged([](TensorFile& file) { file.tensors.front().second.view(-1)[0] = NAN; }),
               {"net.safetensors", "not finite"});
  expect_error(damaged([](TensorFile& file) { std::swap(file.tensors.front().first, file.tensors.back().first); }),
               {"net.safetensors", "shape"});
  expect_error(damaged([](TensorFile& file) { file.tensors.erase(file.tensors.begin()); }),
               {"the file holds", "damaged"});
  expect_error(damaged([](TensorFile& file) { file.metadata.erase("kind"); }), {"kind", "missing"});
}

}  // namespace
}  // namespace harmonium
