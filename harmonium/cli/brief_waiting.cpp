// How threads wait for each other between pieces of work. libgomp lets them spin for milliseconds by default; on a
// machine that has other work to do they take the processor from the thread they wait for, and two threads are many
// times slower than one. A short spin costs a quiet machine 10 to 20 % (docs/design_notes.md).
//
// libgomp reads GOMP_SPINCOUNT when it is loaded, so the program starts itself anew, once, with the variable set: in
// its .preinit_array, which runs before LibTorch's initializers (a second of work) and costs a twentieth of a second.
// Nothing is done where the user has chosen (GOMP_SPINCOUNT, OMP_WAIT_POLICY) or has one thread. Programs alone can do
// that, so this file is none of the library.
#include <unistd.h>

#include <array>
#include <cstring>

#if defined(__linux__) && defined(__GLIBC__) && !defined(HARMONIUM_SANITIZED)

namespace {

constexpr std::size_t most_variables = 8192;

bool begins_with(const char* text, const char* start) { return std::strncmp(text, start, std::strlen(start)) == 0; }

// The environment comes as an argument: getenv() does not work yet.
void start_with_brief_waiting(int, char** arguments, char** environment) {
  static std::array<char*, most_variables> changed;
  static std::array<char, 32> brief = {"GOMP_SPINCOUNT=1000"};
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    const char* const variable = environment[count];
    if (begins_with(variable, "GOMP_SPINCOUNT=") || begins_with(variable, "OMP_WAIT_POLICY=") ||
        std::strcmp(variable, "OMP_NUM_THREADS=1") == 0 || count + 2 >= most_variables)
      return;
    changed[count] = environment[count];
  }
  changed[count] = brief.data();
  ::execve("/proc/self/exe", arguments, changed.data());  // where it fails, all stays as it was
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)(int, char**,
                                                                             char**) = start_with_brief_waiting;

}  // namespace

#endif
