#include "harmonium/report/run_report.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/classification.h"
#include "harmonium/report/comparison.h"
#include "harmonium/report/confusion.h"
#include "harmonium/report/html.h"
#include "harmonium/report/monitor_curves.h"
#include "harmonium/report/net_report.h"
#include "harmonium/report/retrieval.h"
#include "harmonium/report/stack_report.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/training/files/checkpoint.h"
#include "harmonium/training/files/evaluation.h"
#include "harmonium/training/files/metrics_log.h"
#include "harmonium/training/files/model_file.h"
#include "harmonium/training/files/net_file.h"
#include "harmonium/training/files/snapshots.h"

namespace harmonium {

namespace {

std::string title_of(const std::string& kind) {
  if (kind == "classification_rbm") return "Classification RBM";
  if (kind == "dbm") return "Deep Boltzmann machine";
  if (kind == "mrf") return "Markov random field";
  return kind == "semi_restricted" ? "Semi-restricted Boltzmann machine" : "RBM";
}

// Up to `count` filters, the most used first: columns of the first weight matrix ordered by length.
Gallery filters(const BoltzmannMachine& machine, ImageShape shape, std::int64_t count) {
  // A machine without hidden units: what every unit asks of the others.
  const bool couplings = machine.hidden().empty();
  const EdgeInfo& edge = *std::ranges::find(machine.topology().edges, couplings, &EdgeInfo::inner);
  const at::Tensor columns = couplings ? machine.couplings(edge.lower) : machine.parameters()[edge.weights].t();
  const at::Tensor order =
      columns.norm(2, 1).argsort(0, /*descending=*/true).narrow(0, 0, std::min(count, columns.size(0)));
  return {.id = "filters",
          .title = couplings ? "Couplings" : "Filters",
          .caption = format("Weights of {} of {} {} units, largest first. Red adds to a pixel, blue takes away; "
                            "each on its own scale.",
                            order.size(0), columns.size(0), couplings ? "visible" : "hidden"),
          .picture =
              tile_images(columns.index_select(0, order), shape, {.colouring = Colouring::diverging, .columns = 12})};
}

// The layers above the first of a deep machine, seen through all below them: products of weights. A unit there has no
// weights to pixels; this is what it would add to them if the layers between were linear.
std::vector<Gallery> deep_filters(const BoltzmannMachine& machine, ImageShape shape, std::int64_t count) {
  std::vector<Gallery> galleries;
  at::Tensor projection;  // pixels × units
  std::size_t below = 0;
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower != below || machine.layers()[edge.upper].observed) break;
    const at::Tensor& weights = machine.parameters()[edge.weights];
    projection = projection.defined() ? projection.mm(weights) : weights;
    below = edge.upper;
    if (edge.lower == 0) continue;  // filters()
    const std::string& name = machine.layers()[below].name;
    const at::Tensor columns = projection.t();
    const at::Tensor order =
        columns.norm(2, 1).argsort(0, /*descending=*/true).narrow(0, 0, std::min(count, columns.size(0)));
    galleries.push_back({.id = "filters-" + name,
                         .title = "Filters of " + name,
                         .caption = format("{} of {} units of {}, largest first: the filters of the layer below, added "
                                           "up by the weights to them. Linear pictures of units that are not.",
                                           order.size(0), columns.size(0), name),
                         .picture = tile_images(columns.index_select(0, order), shape,
                                                {.colouring = Colouring::diverging, .columns = 12})});
  }
  return galleries;
}

// Pairs of rows: samples above the training rows nearest to them.
Gallery nearest(const at::Tensor& samples, const Dataset& train, ImageShape shape) {
  constexpr std::int64_t searched = 20'000;
  const at::Tensor data = train.first(searched).to_float();
  const at::Tensor distance = at::cdist(samples, data);
  const at::Tensor closest = std::get<1>(distance.min(1));
  return {
      .id = "nearest",
      .title = "Samples and the data nearest to them",
      .caption = format("Above: samples (probabilities). Below each: the closest of {} training rows. A model that "
                        "only remembers would show the same picture twice.",
                        data.size(0)),
      .picture = tile_images(at::cat({samples, data.index_select(0, closest)}), shape, {.columns = samples.size(0)})};
}

// Visible probabilities after Gibbs sampling from the chains of training where there are any, else from the biases.
at::Tensor draw_samples(const BoltzmannMachine& machine, const NamedTensors& checkpoint, std::int64_t count) {
  constexpr std::int64_t sweeps = 500;
  State state = machine.independent_sample(Key(1), count);
  for (std::size_t layer = 0; layer < state.layers.size(); ++layer)
    for (const auto& [name, value] : checkpoint)
      if (name == format("negative_phase/particles.{}", layer) && value.size(0) >= count)
        state.layers[layer] = value.narrow(0, 0, count).to(machine.scalar_type());
  gibbs(machine, state, Key(2), sweeps);
  return machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0));
}

// Some samples of every class, one class below the other: chains with the label held.
Gallery class_samples(const BoltzmannMachine& machine, ImageShape shape) {
  constexpr std::int64_t of_each = 12, sweeps = 300, most_classes = 30;
  const std::size_t label = label_layer(machine);
  const std::int64_t classes = machine.unit(label).width(), shown = std::min(classes, most_classes);
  State state = machine.independent_sample(Key(4), shown * of_each);
  KnownUnits known(machine.layers().size());
  known[label] =
      at::one_hot(at::arange(shown, at::kLong).repeat_interleave(of_each), classes).to(machine.scalar_type());
  state.layers[label] = known[label];
  conditional_gibbs(machine, state, Key(5), sweeps, known);
  return {.id = "classes",
          .title = "Samples of each class",
          .caption = format("One row for each class from 0: visible probabilities after {} Gibbs sweeps with the label "
                            "held. A model that learnt p(label | data) alone need not know what its classes look like.",
                            sweeps),
          .picture = tile_images(machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0)), shape,
                                 {.columns = of_each})};
}

}  // namespace

ReportContent run_report(const std::filesystem::path& folder, const Dataset& train) {
  if (is_net_file(folder)) return net_report(folder, train);
  if (is_stack_file(folder)) return stack_report(folder, train);
  const Model model = read_model(folder);
  const std::vector<MetricsRow> rows = MetricsLog(folder / "metrics.jsonl").read();
  const auto loaded = read_checkpoint(folder / "checkpoint");
  const ImageShape shape = model.image.value_or(near_square_shape(model.machine.unit(0).width()));

  ReportContent content;
  std::string layers;
  for (const Layer& layer : model.machine.layers())
    layers += (layers.empty() ? "" : " – ") + layer.name + " " + layer.unit->spec();
  content.title =
      format("{} on {}", title_of(model.kind), model.notes.contains("data") ? model.notes.at("data") : "data");
  content.subtitle = layers;

  const std::vector<Evaluation> evaluations = read_evaluations(folder);
  // The model may be that of an earlier update than the last (--keep best).
  const auto own = model.notes.find("updates");
  const std::int64_t last_update = own != model.notes.end() ? std::atoll(own->second.c_str())
                                   : rows.empty()           ? 0
                                                            : rows.back().update;
  for (const Evaluation& evaluation : evaluations) {
    if (evaluation.updates != 0 && evaluation.updates != last_update) continue;  // snapshots have a chart
    if (evaluation.log_likelihood) {
      const std::string what = "log-likelihood, " + evaluation.data;
      std::string note = format("{} rows, binarization {}", evaluation.n, evaluation.binarization);
      if (evaluation.draw_spread)
        note += format(", {} draws, spread {} nats", evaluation.draws, short_number(*evaluation.draw_spread));
      if (evaluation.hidden) note += "; " + in_words(*evaluation.hidden);
      if (!evaluation.verdict.empty()) note += "; " + evaluation.verdict;
      const bool best = std::ranges::all_of(evaluations, [&](const Evaluation& other) {
        return !other.log_likelihood || other.updates != evaluation.updates || other.data != evaluation.data ||
               other.n != evaluation.n || other.binarization != evaluation.binarization ||
               at_least_as_good(evaluation, other);
      });
      if (best) content.headline.emplace_back(what, headline(*evaluation.log_likelihood));
      content.estimates.push_back({what, *evaluation.log_likelihood, note});
      if (evaluation.raise && evaluation.gap)
        content.estimates.push_back(
            {what + ", from below", *evaluation.raise, format("RAISE with {} of the rows", evaluation.raise_rows)});
    }
    const bool about_log_z = !evaluation.log_likelihood;
    content.estimates.push_back({"log Z", evaluation.log_z, about_log_z ? evaluation.verdict : ""});
    if (evaluation.upper_log_z && evaluation.gap)
      content.estimates.push_back({"log Z, from above", *evaluation.upper_log_z, ""});
  }
  std::vector<ClassificationResult> classifications = read_classifications(folder);
  std::erase_if(classifications, [&](const ClassificationResult& each) { return each.updates != last_update; });
  add_classifications(content, classifications, read_mistakes(folder));
  std::vector<RetrievalResult> retrievals = read_retrievals(folder);
  std::erase_if(retrievals, [&](const RetrievalResult& each) { return each.updates != last_update; });
  add_retrievals(content, retrievals);
  if (!rows.empty()) {
    const bool earlier = last_update != rows.back().update;
    content.headline.emplace_back(
        "updates", format("{}", rows.back().update) + (earlier ? format("  model of update {}", last_update) : ""));
    content.headline.emplace_back("training time", format("{:.1f} s", rows.back().seconds));
    if (const auto value = rows.back().values.find("pseudo_log_likelihood"); value != rows.back().values.end())
      content.headline.emplace_back("pseudo-log-likelihood",
                                    fixed_number(value->second, 3) + " nats  not a likelihood");
  }
  // A single point is no curve: it stands among the estimates.
  for (Chart& chart : likelihood_charts({compared_run(folder, "")}))
    if (std::ranges::any_of(chart.series, [](const Series& series) { return series.x.size() > 1; }))
      content.charts.push_back(std::move(chart));
  for (Chart& chart : monitor_charts(rows)) content.charts.push_back(std::move(chart));

  // Words are no pictures, and lengths, without which none are drawn, no part of the model.
  if (model.machine.unit(0).width() >= 4 && !model.machine.unit(0).wants_own_state()) {
    content.galleries.push_back(filters(model.machine, shape, 96));
    for (Gallery& gallery : deep_filters(model.machine, shape, 48)) content.galleries.push_back(std::move(gallery));
    const at::Tensor samples = draw_samples(model.machine, loaded ? loaded->checkpoint.tensors : NamedTensors{}, 60);
    content.galleries.push_back(
        {.id = "samples",
         .title = "Samples",
         .caption =
             "Visible probabilities after 500 Gibbs sweeps of the chains that training left, under the averaged model.",
         .picture = tile_images(samples, shape)});
    if (model.machine.observed().size() == 2) content.galleries.push_back(class_samples(model.machine, shape));
    // A layer of a stack has learnt what the layers below make of the data.
    if (train.rows() > 0 && train.columns() == model.machine.unit(0).width()) {
      const at::Tensor chosen =
          permutation(Key(3), train.rows()).narrow(0, 0, std::min<std::int64_t>(60, train.rows()));
      content.galleries.push_back({.id = "data",
                                   .title = "Data",
                                   .caption = format("Rows of {}.", train.name),
                                   .picture = tile_images(train.gather(chosen), shape)});
      content.galleries.push_back(
          nearest(samples.narrow(0, 0, std::min<std::int64_t>(15, samples.size(0))), train, shape));
    }
  }
  content.configuration = read_file(folder / "config.toml");
  content.reproduce = {format("harmonium train {} --out again", (folder / "config.toml").string())};
  for (const Evaluation& evaluation : evaluations) {
    if (evaluation.data.empty()) continue;
    const std::string line =
        format("harmonium evaluate again{} --data {} {}", list_snapshots(folder).empty() ? "" : " --snapshots",
               evaluation.data, evaluate_flags(evaluation));
    if (std::ranges::find(content.reproduce, line) == content.reproduce.end()) content.reproduce.push_back(line);
  }
  for (const ClassificationResult& each : classifications)
    content.reproduce.push_back(format("harmonium classify again --data {} --binarize {}", each.data,
                                       each.binarization.substr(0, each.binarization.find(' '))));
  for (const RetrievalResult& each : retrievals)
    content.reproduce.push_back(format("harmonium retrieve again --data {}{}", each.data,
                                       each.against == each.data ? std::string() : " --against " + each.against));
  content.footer = "Log-likelihoods are in nats per row. Numbers under different binarizations are not comparable.";
  return content;
}

}  // namespace harmonium
