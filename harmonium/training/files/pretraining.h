// Layers of a net that are learnt one by one before all of them are trained together (--pretrain).
//
//   rbm          each layer is the hidden layer of an RBM on what the layers below make of the data (a belief net)
//   dbm          all layers are those of one deep Boltzmann machine, which begins with RBMs itself
//   autoencoder  each layer is the code of an autoencoder with one hidden layer
//   supervised   each layer is the hidden layer of a classifier with one hidden layer
//
// (Bengio, Lamblin, Popovici & Larochelle 2007 compare the others.) Stages are runs in pretraining/layer-1, …; RBMs are
// trained by pcd with fang at rates of 0.02 and 0.2 (biases), the Gaussian units of a code by cd with centering at a
// small one. `train --model dbn` or `dbm` and `finetune` do the same with every choice open.
#pragma once

#include "harmonium/models/feed_forward.h"
#include "harmonium/training/files/run.h"

namespace harmonium {

// Options by which an RBM learns what is worth starting from in few updates.
void learn_layers_soon(RunConfig& config);

// Fails where the net cannot be pretrained in the way asked for; replaces what is "auto" and zero.
void resolve_pretraining(RunConfig& config);
void check_pretraining(const RunConfig& config, const RunData& data);

// Trains what is not trained yet in `folder`/pretraining and puts the result into the layers of `net`: of a classifier
// all but the last, of an autoencoder all. `net` is as it was where that is interrupted.
[[nodiscard]] RunResult pretrain(FeedForward& net, const std::filesystem::path& folder, const RunConfig& config,
                                 const ConfigText& config_text, const RunData& data, const RunHooks& hooks);

}  // namespace harmonium
