// What families share whose nets have an order of their variables (models/autoregressive): training by the exact
// log-likelihood, draws, and pictures.
#pragma once

#include <functional>
#include <memory>

#include "harmonium/core/device.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

// `climbed(net, leaves, rows, step)` is what an update climbs and shows. The net of a model is found by its net(), and
// has an exact log_probabilities().
template <class ModelOfNet, class Climbed>
[[nodiscard]] std::unique_ptr<Trainee> train_exact_net(const RunConfig& config, const RunData& data, const Model& start,
                                                       Climbed climbed) {
  const auto& begun = dynamic_cast<const ModelOfNet&>(start);
  const auto net = begun.net().to(at::TensorOptions().device(find_device(config.device)));
  auto objective = std::make_unique<SurrogateAscent>(
      net.parameters(), groups_by_name(net.parameters()), "log_likelihood",
      [net, climbed](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        return climbed(net, leaves, batch.front(), step);
      });
  return train_by_likelihood(
      std::move(objective), config, data,
      {.mean =
           [net](const Moments& parameters, const at::Tensor& rows) {
             return net.with_parameters(parameters).log_probabilities(rows).mean().template item<double>();
           },
       .model = [net, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<ModelOfNet>(info, net.with_parameters(parameters));
       }});
}

// Draws as a Generator is asked for them, by the net's sample() and complete().
template <class Net>
[[nodiscard]] at::Tensor drawn_rows(const Net& net, const Generator::Request& request) {
  const Key key(request.seed);
  const OrderedDraw drawn = request.known.defined() ? net.complete(key, request.known) : net.sample(key, request.count);
  return on_cpu(request.means ? drawn.means : drawn.values).to(at::kFloat);
}

// Sixty draws, as the means that their pixels were drawn by.
[[nodiscard]] Exhibit sample_exhibit(const std::function<OrderedDraw(const Key& key, std::int64_t count)>& sample,
                                     const std::string& caption);
// Of the data, which are binarized as those that the model has learnt from.
//
// Adds rows of the data with two draws below each of its second half given the first, where there are such rows.
void add_completions(std::vector<Exhibit>& exhibits,
                     const std::function<OrderedDraw(const Key& key, const at::Tensor& known)>& complete,
                     const Dataset& train, const Model& model);
// Adds a picture of what every pixel costs given those before it, −log p(x_i | …), in the mean over rows of the data,
// where there are such rows. `log_conditionals`: rows → rows × pixels.
void add_nats(std::vector<Exhibit>& exhibits, const std::function<at::Tensor(const at::Tensor& rows)>& log_conditionals,
              const Dataset& train, const Model& model);

}  // namespace harmonium
