// ModelSpec: a model as a directed acyclic graph of layers, the common language between search
// spaces (which write it) and plans (which compile it). Plain data, no parameters.
#pragma once

#include <gnas/core/activation.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace gnas {

enum class LayerKind : std::uint8_t {
  input,       // the node features; always layer 0
  dense,       // x W (+ bias)
  message,     // a message-passing operator of the space's OperatorList
  batch_norm,  // over the nodes, eps 1e-5, momentum 0.1, learned scale and shift
  activation,
  dropout,
  concat,  // of its inputs, in order
  add      // sum of its inputs, equal widths
};

struct LayerSpec {
  LayerKind kind = LayerKind::input;
  std::vector<int> inputs = {};  // earlier layers
  int out = 0;                   // dense: width. message: width of one head's output
  bool bias = true;              // dense, message
  // message only
  int op = -1;               // index in the OperatorList
  int heads = 1;             //
  bool concat_heads = true;  // else the mean over heads
  double attention_dropout = 0;
  // dropout only
  double p = 0;
  // activation only
  Activation activation = Activation::identity;
  // dense, message: whether weight decay applies to this layer's parameters
  bool decay = true;
};

struct ModelSpec {
  int in_features = 0;
  int num_classes = 0;
  std::vector<LayerSpec> layers;  // layers[0] is the input, the last one gives the logits

  // Appends a layer and returns its index.
  int push(LayerSpec layer) {
    layers.push_back(std::move(layer));
    return static_cast<int>(layers.size()) - 1;
  }
  int input() { return push({.kind = LayerKind::input}); }
  int dense(int in, int out, bool bias = true) {
    return push({.kind = LayerKind::dense, .inputs = {in}, .out = out, .bias = bias});
  }
  int batch_norm(int in) { return push({.kind = LayerKind::batch_norm, .inputs = {in}}); }
  int activation(int in, Activation a) {
    return push({.kind = LayerKind::activation, .inputs = {in}, .activation = a});
  }
  int dropout(int in, double p) {
    return push({.kind = LayerKind::dropout, .inputs = {in}, .p = p});
  }
  int concat(std::vector<int> ins) {
    return push({.kind = LayerKind::concat, .inputs = std::move(ins)});
  }
  int add(std::vector<int> ins) { return push({.kind = LayerKind::add, .inputs = std::move(ins)}); }
};

}  // namespace gnas
