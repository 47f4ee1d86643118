// Layers of a net that are learnt one by one before all of them are trained together (the option pretrain).
//
//   rbm          each layer is the hidden layer of an RBM on what the layers below make of the data (a belief net)
//   dbm          all layers are those of one deep Boltzmann machine, which begins with RBMs itself
//   autoencoder  each layer is the code of an autoencoder with one hidden layer
//   supervised   each layer is the hidden layer of a classifier with one hidden layer
//
// (Bengio, Lamblin, Popovici & Larochelle 2007 compare the others.) Stages are runs in pretraining/layer-1, …; RBMs are
// trained by pcd with fang, the Gaussian units of a code by cd with centering at a small rate. Training a dbn or a dbm
// and fine-tuning it does the same with every choice open.
#pragma once

#include "harmonium/families/family.h"
#include "harmonium/models/feed_forward.h"

namespace harmonium {

// Fails where the net cannot be pretrained in the way asked for; replaces what is "auto" and zero.
void resolve_pretraining(RunConfig& config);
// Fails where a stage could not be trained.
void check_pretraining(const RunConfig& config, const RunData& data);
// Nothing where there is no pretraining.
[[nodiscard]] std::optional<Stages> net_pretraining(const RunConfig& config, const RunData& data);
// Puts what the stages have learnt into the layers of `net`: of a classifier all but the last, of an autoencoder all.
void take_pretrained(FeedForward& net, const RunConfig& config, const RunData& data, const StageModels& stages);

}  // namespace harmonium
