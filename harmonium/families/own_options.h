// Options of a family's own: any struct with a static visit(), held by value beside the options that families share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

namespace harmonium {

// One option: its name (a key in TOML, a flag with - for _), where its value is, and a line of help.
struct OptionRef {
  const char* name;
  std::variant<std::string*, std::int64_t*, std::uint64_t*, double*> field;
  const char* help;
};

class OwnOptions {
 public:
  OwnOptions() = default;
  // `Struct` has a static template visit(self, visitor) that calls visitor(name, field, help) for every field.
  template <class Struct>
  explicit OwnOptions(Struct value) : held_(std::make_unique<Holder<Struct>>(std::move(value))) {}
  OwnOptions(const OwnOptions& other) : held_(other.held_ ? other.held_->clone() : nullptr) {}
  OwnOptions& operator=(const OwnOptions& other) {
    held_ = other.held_ ? other.held_->clone() : nullptr;
    return *this;
  }
  OwnOptions(OwnOptions&&) = default;
  OwnOptions& operator=(OwnOptions&&) = default;

  // The struct itself; it must be of that type.
  template <class Struct>
  [[nodiscard]] Struct& as() {
    auto* holder = dynamic_cast<Holder<Struct>*>(held_.get());
    if (holder == nullptr) throw std::logic_error("a configuration holds the options of another family");
    return holder->value;
  }
  template <class Struct>
  [[nodiscard]] const Struct& as() const {
    return const_cast<OwnOptions*>(this)->as<Struct>();
  }

  // The same, or null where another struct is held, or none.
  template <class Struct>
  [[nodiscard]] const Struct* find() const {
    const auto* holder = dynamic_cast<const Holder<Struct>*>(held_.get());
    return holder == nullptr ? nullptr : &holder->value;
  }

  [[nodiscard]] bool has(const std::string& name) const {
    bool found = false;
    visit([&](const OptionRef& each) { found = found || name == each.name; });
    return found;
  }

  void visit(const std::function<void(const OptionRef&)>& visitor) const {
    if (held_) held_->visit(visitor);
  }

 private:
  struct Base {
    virtual ~Base() = default;
    [[nodiscard]] virtual std::unique_ptr<Base> clone() const = 0;
    virtual void visit(const std::function<void(const OptionRef&)>& visitor) = 0;
  };
  template <class Struct>
  struct Holder final : Base {
    explicit Holder(Struct given) : value(std::move(given)) {}
    [[nodiscard]] std::unique_ptr<Base> clone() const override { return std::make_unique<Holder>(value); }
    void visit(const std::function<void(const OptionRef&)>& visitor) override {
      Struct::visit(value, [&](const char* name, auto& field, const char* help) { visitor({name, &field, help}); });
    }
    Struct value;
  };
  std::unique_ptr<Base> held_;
};

}  // namespace harmonium
