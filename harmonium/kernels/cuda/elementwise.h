// The elementwise loops of kernels/ as CUDA kernels, by raw pointers to device memory and a stream: nothing here knows
// of LibTorch, so they compile wherever nvcc is. Uniforms are those of (key, element), as on the CPU (core/key.h), and
// functions are those of kernels/elementary.h, so that draws given equal fields agree but for the last bit of e^x.
//
// Every function starts its work on the stream and returns; T is float or double.
#pragma once

#include <cstdint>

#include "harmonium/core/key.h"

struct CUstream_st;  // what a cudaStream_t points to

namespace harmonium::cuda {

using Stream = CUstream_st*;

template <class T>
void launch_uniform(const Key& key, std::int64_t n, T* out, Stream stream);
template <class T>
void launch_normal(const Key& key, std::int64_t n, T* out, Stream stream);
// 64 random bits for each element, as signed numbers in the order of the unsigned ones: what permutations sort by.
void launch_tags(const Key& key, std::int64_t n, std::int64_t* out, Stream stream);
// 1 with the given probability, else 0.
template <class T>
void launch_sample_bernoulli(const Key& key, std::int64_t n, const T* probability, T* out, Stream stream);

// Rows of a table of bytes, by number: 1 with probability byte·scale, else 0. A number beyond the table stops the
// kernel, as an assertion would.
struct ByteRows {
  const std::uint8_t* bytes;  // known × columns
  std::int64_t known, columns;
  const std::int64_t* rows;  // count of them
  std::int64_t count;
  float scale;
};
void launch_sample_bernoulli(const Key& key, const ByteRows& from, float* out, Stream stream);

template <class T>
void launch_logistic(std::int64_t n, const T* field, T* out, Stream stream);
template <class T>
void launch_sample_logistic(const Key& key, std::int64_t n, const T* field, T* out, Stream stream);
// Σ_j log(1 + e^{field_ij}) of each row, added up in float64.
template <class T>
void launch_softplus_row_sums(std::int64_t rows, std::int64_t columns, const T* field, double* out, Stream stream);

// Fields bias_j + scale·input_ij that are never stored.
template <class T>
struct FieldTable {
  const T* input;
  const T* bias;
  T scale;
};
template <class T>
void launch_sample_logistic(const Key& key, std::int64_t rows, std::int64_t columns, FieldTable<T> field, T* out,
                            Stream stream);
// Adds Σ_j log(1 + e^{after_ij}) − log(1 + e^{before_ij}) to log_weights_i, and draws from σ(after).
template <class T>
void launch_anneal_logistic(const Key& key, std::int64_t rows, std::int64_t columns, FieldTable<T> before,
                            FieldTable<T> after, double* log_weights, T* out, Stream stream);

}  // namespace harmonium::cuda
