// Running another program without a shell, so that no name or path is ever interpreted as anything but itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace harmonium {

// Thrown where the program itself cannot be found on PATH, so that the caller can say how to install it.
class ProgramMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs `arguments` (the program first, looked up on PATH) inside `folder` and waits for it. Its output is kept in
// `folder`/command.log; on a failing exit status or a signal the last lines of it are part of the RunFailure thrown.
void run_command(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

}  // namespace harmonium
