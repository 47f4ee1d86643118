// One process at a time trains in a run folder.
//
// The lock is the system's (flock on run.lock), so it ends with the process that holds it, however that ends. Who reads
// a folder needs none. The file says who holds it, for people, and is removed at the end.
#pragma once

#include <memory>
#include <string>

#include "harmonium/runs/run_folder.h"

namespace harmonium {

class RunLock {
 public:
  // Makes the folder where it is missing. Fails at once, saying which process works there and what to do, where another
  // one does. Within a process it may be taken several times; all are one lock.
  explicit RunLock(const RunFolder& folder);

 private:
  class Held;
  std::shared_ptr<Held> held_;
};

// Fails like RunLock where another process works in the folder, and changes nothing.
void require_unlocked(const RunFolder& folder);

}  // namespace harmonium
