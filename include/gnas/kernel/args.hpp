// What a row body reads and writes. One struct for forward and backward, host and device; pointers
// only. Letters: R targets (rows), S sources (columns), E edges, H heads, D width of a head, F = H
// * D.
#pragma once

#include <gnas/core/activation.hpp>
#include <gnas/core/rng.hpp>
#include <gnas/graph/csr.hpp>

#include <cstdint>

namespace gnas {

// Dropout on normalized weights: element = edge * H + head, by the edge's number in the whole
// graph.
struct EdgeDropout {
  PhiloxKey key;
  PhiloxStream stream;
  DropRate rate;
};

template <class T>
struct AggregateArgs {
  CsrView graph;                   // R rows, S columns
  T const* edge_weight = nullptr;  // (E), or null: all 1
  T const* row_scale = nullptr;    // (R), or null: factor of the finished sum of a row
  T const* col_scale = nullptr;    // (S), or null: factor of each edge by its source
  NodeId const* target =
      nullptr;  // (R): a target's own place among the sources; null: the same number
  EdgeId const* first_edge =
      nullptr;  // (R): number in the whole graph of a row's first edge; null: row_ptr
  T score{1};   // of every edge, for operators whose score is a constant
  int heads = 1;
  int width = 0;

  T const* value = nullptr;  // (S, F)
  std::int64_t value_ld = 0;

  // Endpoint scores
  T const* left = nullptr;   // (S, H)
  T const* right = nullptr;  // (S, H)
  // Channel scores
  T const* channel = nullptr;  // (S, F): what the score reads, before the scales below
  std::int64_t channel_ld = 0;
  T const* channel_left = nullptr;    // (H, D)
  T const* channel_right = nullptr;   // (H, D)
  T const* channel_vector = nullptr;  // (D), or null

  EdgeDropout dropout;
  std::uint8_t* keep = nullptr;  // (E, H): masks of this step, written forward and read backward

  // Epilogue of a row, in this order: out = activation(sum + root + bias)
  T const* root = nullptr;  // (R, F)
  std::int64_t root_ld = 0;
  T const* bias = nullptr;                       // (F)
  Activation activation = Activation::identity;  // identity or relu

  T* out = nullptr;  // (R, F)
  std::int64_t out_ld = 0;
  T* lse = nullptr;             // (R, H): log sum exp of the scores, softmax only
  std::int32_t* arg = nullptr;  // (R, F): which edge of the row won, extremum only
};

// The gradient of an operator whose weights are learned. `graph` of the base is the forward graph;
// the column pass walks `transposed`.
template <class T>
struct AggregateGradArgs {
  AggregateArgs<T> forward;
  CsrView transposed;            // S rows, R columns
  EdgeId const* perm = nullptr;  // (E): position in the forward graph of a transposed edge
  T const* upstream = nullptr;   // (R, F): gradient of the weighted sum
  std::int64_t upstream_ld = 0;
  T const* delta = nullptr;  // (R, H): upstream . out, softmax only
  T* score_grad = nullptr;   // (E, H): written by the column pass, read by the row pass
  T* value_grad = nullptr;   // (S, F), assigned
  std::int64_t value_grad_ld = 0;
  T* left_grad = nullptr;     // (S, H): assigned by the column pass, the row pass adds
  T* right_grad = nullptr;    // (S, H)
  T* channel_grad = nullptr;  // (S, F): assigned by the column pass, the row pass adds
  std::int64_t channel_grad_ld = 0;
};

// Edges of a row are taken in tiles: weights of a tile first, then its sums.
inline constexpr int kTile = 64;

// Elements of T that a row body needs as scratch (shared by its lanes).
constexpr std::int64_t row_scratch(int heads) {
  return std::int64_t{3} * kTile * heads + std::int64_t{3} * heads;
}

}  // namespace gnas
