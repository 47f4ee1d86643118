// Refusals that name the file: inner code says what is wrong with a tensor or an option, whoever opened the file says
// which one it was.
#pragma once

#include <string>

#include "harmonium/core/error.h"

namespace harmonium {

// Calls `action`. Messages of its Errors begin with `where`, unless they name it already.
template <class Action>
decltype(auto) naming(const std::string& where, Action&& action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.marked().find(where) != std::string::npos) throw;
    fail("{}: {}", where, error.marked());
  }
}

}  // namespace harmonium
