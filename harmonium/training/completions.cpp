#include "harmonium/training/completions.h"

#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

constexpr std::uint64_t first_draws_stream = 0x6D697373;  // of the batches' own key

}  // namespace

Completions::Completions(BatchStream batches, const BoltzmannMachine& machine, std::int64_t sweeps)
    : batches_(std::move(batches)), visible_(machine.observed().front()), sweeps_(sweeps) {
  const Dataset& data = batches_.data();
  missing_ = data.values.isnan();
  const at::Tensor means = data.column_means().to(missing_.device(), machine.scalar_type());
  drawn_ = means.unsqueeze(0).expand({data.rows(), data.columns()}).clone();
  if (machine.unit(visible_).support() == Unit::Support::bits)
    drawn_ = uniform(batches_.key_of(0).fold_in(first_draws_stream), drawn_.sizes(), drawn_.options())
                 .lt(drawn_)
                 .to(machine.scalar_type());
}

at::Tensor Completions::fill(const BoltzmannMachine& machine, const at::Tensor& batch, std::int64_t update,
                             const Key& key) {
  const at::Tensor rows = batches_.rows_of(update), missing = missing_.index_select(0, rows);
  if (!missing.any().item<bool>()) return batch;
  const at::Tensor values = at::where(missing, drawn_.index_select(0, rows), batch);
  State state = machine.observe({values});
  (void)sample_layers(machine, state, key.fold_in(0), machine.hidden());
  KnownUnits known(machine.layers().size());
  known[visible_] = batch.masked_fill(missing, std::numeric_limits<double>::quiet_NaN());
  conditional_gibbs(machine, state, key.fold_in(1), sweeps_, known);
  const at::Tensor filled = at::where(missing, state.layers[visible_], batch);
  drawn_.index_copy_(0, rows, filled);
  return filled;
}

at::Tensor Completions::state() const { return drawn_.masked_select(missing_); }

void Completions::restore(const at::Tensor& saved) {
  const auto places = missing_.sum().item<std::int64_t>();
  require(saved.dim() == 1 && saved.numel() == places,
          "the checkpoint has {} drawn values, and {} values of {} are missing; the data have changed", saved.numel(),
          places, batches_.data().name);
  drawn_.masked_scatter_(missing_, saved.to(drawn_.options()));
}

}  // namespace harmonium
