#include "harmonium/report/monitor_curves.h"

namespace harmonium {

const std::vector<MonitorCurve>& monitor_curves() {
  static const std::vector<MonitorCurve> curves = {
      {"classification_error", "Classification error", "share of rows",
       "Share of the watched rows that are misclassified: validation rows where there are any, else "
       "training rows.",
       true},
      {"loss", "Training loss", "nats or squared error per row",
       "Mean loss of the batches since the previous line, dropout included, under the parameters of that time, not the "
       "averaged ones."},
      {"validation_loss", "Validation loss", "nats or squared error per row",
       "Of all validation rows under the averaged parameters. Where it rises while the training loss falls, the net "
       "learns rows by heart."},
      {"perplexity", "Perplexity", "words",
       "exp of the mean loss per word of the watched rows: the number of equally likely words."},
      {"log_likelihood", "Log-likelihood of training batches", "nats per row",
       "Mean of the batches since the previous line, or of the lower bound that is trained, under the parameters "
       "of that time, not the averaged ones."},
      {"validation_log_likelihood", "Log-likelihood of validation rows", "nats per row",
       "Of at most 1000 validation rows under the averaged parameters, or the lower bound that is trained. Where it "
       "falls while that of training batches rises, the model overfits. For Boltzmann machines log Z is updated from one "
       "line to the next: good enough to choose a model; `harmonium evaluate` estimates it properly."},
      {"watched_log_likelihood", "Log-likelihood of watched rows", "nats per row",
       "Of at most 1000 training rows under the averaged parameters; there are no validation rows."},
      {"pseudo_log_likelihood", "Pseudo-log-likelihood", "nats",
       "Σ log p(vᵢ | the other units), one random unit per row of the watched data. It rises while the model learns "
       "local structure; it is not a likelihood."},
      {"free_energy_gap", "Free-energy gap", "nats",
       "Mean free energy of validation rows minus that of training rows. A steady rise means the model is fitting the "
       "training rows themselves."},
      {"reconstruction_error", "Reconstruction error", "squared error per row",
       "After one pass up and down by conditional means. It measures the chain's memory as much as the model."},
      {"log_f_gap", "Data against chains", "nats",
       "Mean log f of the batches less that of the chains. Near 0 where the model fits and its chains keep up."},
      {"log_f_overfit", "Training rows against validation rows", "nats",
       "Mean log f of training rows less that of validation rows. A steady rise means the model is fitting the training "
       "rows themselves."},
      {"chain_scale", "Length of chains", "ratio",
       "Mean squared length of chains over that of the data. Far above 1 chains run away: lower the rates."},
      {"hmc_acceptance", "Accepted trajectories", "share",
       "Of Hamiltonian Monte Carlo. The step of the chains follows it."},
      {"definite_strength", "Weights against their limit", "share of the limit",
       "At 1 nothing shows any more that Z is finite. Training keeps weights below it, and is held back near it."},
      {"active_units", "Active units", "units of a row",
       "Spikes that are on in a row of the batches, on average. Where it falls towards 0 units die: lower the rates."},
      {"pixel_error", "Squared error of a pixel", "squared error",
       "Of the watched rows under the averaged parameters, without noise or dropout. The best model is kept by it."},
      {"manager_entropy", "Entropy of the choice of composites", "nats",
       "Mean over watched rows. It is log(number of composites) where all are mixed alike, and 0 where each row is "
       "drawn by one."},
      {"smallest_share", "Least used composite", "share of rows",
       "Share of the watched rows that the least used composite draws. At 0 a composite is out of use."},
      {"awake_units", "Awake units of upper layers", "share of units",
       "Share of the hidden units without a neighbour among the data whose means vary between the watched rows (by a "
       "standard deviation of 0.05 or more). The others are the same for every row, so the model could do without them."},
      {"wake_log_probability", "Wake: the way down given the way up", "nats per row",
       "Σ log p(layer below | layer) of watched rows drawn upwards; training of the generative weights raises it. "
       "Without "
       "the top machine, so it is not a bound."},
      {"sleep_log_probability", "Sleep: the way up given samples of the net", "nats per row",
       "Σ log q(layer | layer below) of samples of the net; training of the recognition weights raises it."},
      {"gradient_norm", "Gradient norm", "norm",
       "Of the gradient of one batch, penalties included. It falls to the noise of batches and chains."},
  };
  return curves;
}

Chart monitor_chart(const MonitorCurve& curve) {
  Chart chart;
  chart.id = curve.metric;
  chart.title = curve.title;
  chart.x_label = "updates";
  chart.y_label = curve.y_label;
  chart.log_y = curve.log_y;
  chart.caption = curve.caption;
  return chart;
}

Series monitor_series(const MonitorCurve& curve, const std::string& name, const std::vector<MetricsRow>& rows) {
  Series series{.name = name, .x = {}, .y = {}, .low = {}, .high = {}};
  for (const MetricsRow& row : rows) {
    const auto value = row.values.find(curve.metric);
    if (value == row.values.end()) continue;
    series.x.push_back(static_cast<double>(row.update));
    series.y.push_back(value->second);
  }
  return series;
}

std::vector<Chart> monitor_charts(const std::vector<MetricsRow>& rows) {
  std::vector<Chart> charts;
  for (const MonitorCurve& curve : monitor_curves()) {
    Series series = monitor_series(curve, curve.title, rows);
    if (series.x.empty()) continue;
    charts.push_back(monitor_chart(curve));
    charts.back().series.push_back(std::move(series));
  }
  return charts;
}

}  // namespace harmonium
