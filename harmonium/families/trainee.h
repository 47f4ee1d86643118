// A model under training: one Training, what is watched on the way, and how parameters become a model again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harmonium/families/model.h"
#include "harmonium/training/training.h"

namespace harmonium {

class Trainee {
 public:
  explicit Trainee(Training training) : training_(std::move(training)) {}
  virtual ~Trainee() = default;

  [[nodiscard]] Training& training() { return training_; }
  [[nodiscard]] const Training& training() const { return training_; }
  [[nodiscard]] std::int64_t update() const { return training_.update(); }  // updates done

  // All that the next update and the next line of metrics need, and back.
  [[nodiscard]] virtual NamedTensors state() const { return training_.state(); }
  virtual void restore(std::int64_t update, const NamedTensors& saved) { training_.restore(update, saved); }

  // A line of metrics. May remember the best model so far, which is then part of the training's state.
  [[nodiscard]] virtual std::map<std::string, double> measure() = 0;
  // The model under these parameters, which are shared, with notes that say of which update it is.
  [[nodiscard]] virtual std::unique_ptr<Model> model(const Training::Kept& of) const = 0;
  // What a person should know about the model that is kept.
  [[nodiscard]] virtual std::vector<std::string> closing_words(const Training::Kept&) const { return {}; }

  // The averaged model as it is now, and the one to keep at the end.
  [[nodiscard]] std::unique_ptr<Model> current() const { return model({training_.averaged(), update()}); }
  [[nodiscard]] std::unique_ptr<Model> kept() const { return model(training_.kept()); }

 protected:
  Training training_;
};

}  // namespace harmonium
