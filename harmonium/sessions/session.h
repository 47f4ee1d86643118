// What work has in common that a person waits for: threads, devices, Ctrl-C, and answers as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace harmonium {

// Options that every command takes.
struct SessionOptions {
  // Whether a command can use a device; one whose device is part of a run's configuration declares it there.
  enum class Devices { cpu, any, in_config } devices = Devices::cpu;
  std::string device = "cpu", precision = "fast";
  int threads = 0;  // 0: all
  bool json = false;
};

// Sets threads and precision, and checks the device.
void apply(const SessionOptions& session);

// Falls back to one thread for small work, where waiting for each other costs threads more than they save (many times
// more on a busy machine), unless the user has said how many. `products` is multiplications per step.
void limit_threads(const SessionOptions& session, double products);

// A message of the library with its options spelt as flags: "@rate_weights" as "--rate-weights".
[[nodiscard]] std::string as_flags(const std::string& message);

// One JSON object on standard output.
void print_json(const nlohmann::ordered_json& object);

// True after Ctrl-C, SIGTERM or the end of the terminal (SIGHUP), once watch_interrupts() was called; a second Ctrl-C
// ends the program at once.
void watch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace harmonium
