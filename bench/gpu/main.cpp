// Times a CUDA device; see the usage below.
#include <fstream>
#include <iostream>
#include <string>

#include "bench/gpu/gpu_bench.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"

namespace {

void write_json(const std::string& path, const harmonium::bench::GpuLines& lines) {
  std::ofstream file(path);
  file << "[";
  for (std::size_t i = 0; i < lines.size(); ++i)
    file << harmonium::format("{}\n  {{\"what\": \"{}\", \"value\": {:.6g}, \"unit\": \"{}\"}}", i == 0 ? "" : ",",
                              lines[i].what, lines[i].value, lines[i].unit);
  file << "\n]\n";
  harmonium::require(file.good(), "{}: could not be written", path);
}

}  // namespace

int main(int count, char** arguments) {
  using namespace harmonium;
  using namespace harmonium::bench;
  std::string folder, json, only = "sweep,ais,update";
  Learning learning;
  DeepLearning deep;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == count) {
        std::cerr << name << " needs a value\n";
        std::exit(2);
      }
      return arguments[++i];
    };
    if (name == "--mnist") {
      folder = value();
    } else if (name == "--json") {
      json = value();
    } else if (name == "--only") {
      only = value();
    } else if (name == "--updates") {
      learning.updates = deep.updates = std::stoll(value());
    } else if (name == "--optimizer") {
      deep.optimizer = value();
    } else if (name == "--initial-weights") {
      deep.initial_weights = std::stod(value());
    } else if (name == "--schedule") {
      learning.schedule = value();
    } else if (name == "--averaging") {
      learning.averaging = std::stod(value());
    } else if (name == "--grays") {
      learning.grays = true;
    } else if (name == "--plain-damping") {
      learning.metric.centered_damping = false;
    } else if (name == "--rate-weights") {
      learning.rate_weights = deep.rate_weights = std::stod(value());
    } else if (name == "--rate-bias") {
      learning.rate_bias = deep.rate_bias = std::stod(value());
    } else if (name == "--betas") {
      learning.betas = deep.betas = std::stoll(value());
    } else if (name == "--chains") {
      learning.chains = std::stoll(value());
    } else if (name == "--raise") {
      learning.raise_rows = std::stoll(value());
    } else if (name == "--raise-betas") {
      learning.raise_betas = std::stoll(value());
    } else {
      std::cerr
          << "unknown option " << name
          << "\nusage: harmonium_gpu_bench [--mnist FOLDER] [--json FILE]\n                           [--only "
             "sweep,ais,update,modes,learn,deep,deep_update,directed,render]\n"
             "  learn: [--updates N] [--schedule S] [--averaging T] [--rate-weights R] [--rate-bias R] [--grays]\n"
             "         [--plain-damping]\n"
             "         [--chains N] [--betas N] [--raise IMAGES] [--raise-betas N]\n"
             "  deep: [--optimizer O] [--updates N] [--initial-weights S] [--rate-weights R] [--rate-bias R] [--betas "
             "N]\n";
      return 2;
    }
  }
  if (const std::string complaint = cuda_complaint(); !complaint.empty()) {
    std::cerr << complaint << "\n";
    return 2;
  }
  const auto wanted = [&](const std::string& name) {
    return ("," + only + ",").find("," + name + ",") != std::string::npos;
  };
  GpuLines all;
  const auto print = [&](const GpuLines& lines) {
    for (const GpuLine& line : lines)
      std::cout << format("{:<48} {:>12.4f} {}\n", line.what, line.value, line.unit) << std::flush;
    all.insert(all.end(), lines.begin(), lines.end());
  };
  try {
    const GpuSubject subject = gpu_subject(folder);
    if (wanted("sweep")) print(gpu_sweeps());
    if (wanted("ais")) print(gpu_annealing(subject));
    if (wanted("update")) print(gpu_updates(subject));
    if (wanted("modes")) print(gpu_modes(subject));
    if (wanted("learn")) print(gpu_learning(subject, learning));
    if (wanted("render")) print(gpu_render());
    if (wanted("directed")) print(gpu_directed(subject));
    if (wanted("deep_update")) print(gpu_deep_update(subject));
    if (wanted("deep")) print(gpu_deep(subject, deep));
    if (!json.empty()) write_json(json, all);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
