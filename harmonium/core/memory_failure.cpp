#include "harmonium/core/memory_failure.h"

#include <c10/util/Exception.h>

#include <array>
#include <charconv>
#include <new>
#include <string_view>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

constexpr const char* memory_advice = "smaller @batch, @particles or @hidden need less, and so do fewer rows (@limit)";

// "you tried to allocate 4000000000 bytes", which is what LibTorch says of the CPU.
std::string amount_asked(std::string_view text) {
  constexpr std::string_view before = "tried to allocate ";
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = text.substr(at + before.size());
  double bytes = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bytes);
  const std::string_view unit = rest.substr(static_cast<std::size_t>(end - rest.data()));
  for (const auto& [name, size] : std::array<std::pair<std::string_view, double>, 5>{
           {{" bytes", 1}, {" KiB", 1024}, {" MiB", 1 << 20}, {" GiB", 1 << 30}, {" TiB", 1024.0 * (1 << 30)}}})
    if (error == std::errc() && unit.starts_with(name)) return format(" for another {}", bytes_text(bytes * size));
  return "";
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 7> units = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  return bytes < 9.95 && unit > 0 ? format("{:.1f} {}", bytes, units[unit]) : format("{:.0f} {}", bytes, units[unit]);
}

std::optional<std::string> memory_failure(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return format("not enough memory; {}", memory_advice);
  const auto* const refusal = dynamic_cast<const c10::Error*>(&error);
  if (refusal == nullptr) return std::nullopt;
  const std::string text = refusal->what_without_backtrace();
  for (const char* device : {"CUDA out of memory", "CUDA error: out of memory"})
    if (text.find(device) != std::string::npos)
      return format("not enough memory on the device{}; {}", amount_asked(text), memory_advice);
  for (const char* cpu : {"can't allocate memory", "not enough memory", "DefaultCPUAllocator"})
    if (text.find(cpu) != std::string::npos)
      return format("not enough memory{}; {}", amount_asked(text), memory_advice);
  // Sizes whose product is no number any more.
  for (const char* size : {"Storage size calculation overflowed", "numel: integer multiplication overflow"})
    if (text.find(size) != std::string::npos) return format("not enough memory on any machine; {}", memory_advice);
  return std::nullopt;
}

}  // namespace harmonium
