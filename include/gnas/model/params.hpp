// The learned parameters of a model: their names, shapes, order and count, from the spec alone.
// This order is the layout of ModelState, of gradients and of exported weights.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/model/spec.hpp>
#include <gnas/op/list.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gnas {

// What a parameter is in its layer; the roles of a message layer in this order.
enum class Role : std::uint8_t {
  weight,      // W (in, heads * out), or a dense layer's (in, out)
  root,        // W_root (in, heads * out)
  left,        // (heads, out): projection or scale of the target
  right,       // (heads, out): of the source
  vector,      // (1, out): learned vector of a channel score
  message_w1,  // (out, hidden)
  message_b1,  // (1, hidden)
  message_w2,  // (hidden, out)
  message_b2,  // (1, out)
  bias,        // (1, width of the layer)
  bn_scale,    // (1, width)
  bn_shift     // (1, width)
};

constexpr std::string_view to_string(Role r) {
  constexpr std::array<std::string_view, 12> names = {
      "weight",     "root",       "left",       "right", "vector",   "message_w1",
      "message_b1", "message_w2", "message_b2", "bias",  "bn_scale", "bn_shift"};
  return names[static_cast<std::size_t>(r)];
}

struct Param {
  int layer = 0;
  Role role = Role::weight;
  int rows = 0, cols = 0;
  std::int64_t offset = 0;  // in elements, from the start of the parameter block
  bool decay = true;        // whether weight decay applies

  std::int64_t size() const { return static_cast<std::int64_t>(rows) * cols; }
  std::string name() const {
    return "layers." + std::to_string(layer) + "." + std::string(to_string(role));
  }
};

struct ParamLayout {
  std::vector<int> widths;            // (layers): output width of each layer
  std::vector<Param> params;          // in block order
  std::int64_t size = 0;              // number of learned values
  std::vector<std::int64_t> running;  // (layers): offset of a batch norm's running mean in the
                                      // statistics block (variance follows), -1 elsewhere
  std::int64_t statistics = 0;        // number of running statistics

  // The parameter of a layer, or nullptr.
  Param const* find(int layer, Role role) const {
    for (Param const& p : params) {
      if (p.layer == layer && p.role == role) return &p;
    }
    return nullptr;
  }
};

// Checks the spec and lays out its parameters. Throws InvalidArgument naming the layer and the
// rule.
inline ParamLayout param_layout(ModelSpec const& spec, std::span<OperatorInfo const> ops) {
  ParamLayout out;
  auto const fail = [](std::size_t layer, std::string const& what) {
    throw InvalidArgument("model: layer " + std::to_string(layer) + " " + what);
  };
  auto const add = [&out](int layer, Role role, int rows, int cols, bool decay) {
    out.params.push_back({layer, role, rows, cols, out.size, decay});
    out.size += out.params.back().size();
  };
  expects(!spec.layers.empty() && spec.layers[0].kind == LayerKind::input,
          "model: layer 0 must be the input");
  expects(spec.in_features > 0, "model: the input has 0 features; a model needs at least 1");
  expects(spec.num_classes > 0, "model: 0 classes; a model needs at least 1");
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    LayerSpec const& layer = spec.layers[l];
    int const id = static_cast<int>(l);
    std::size_t const need = layer.kind == LayerKind::input ? 0 : 1;
    bool const many = layer.kind == LayerKind::concat || layer.kind == LayerKind::add;
    if (layer.inputs.size() < need || (!many && layer.inputs.size() > need)) {
      fail(l,
           "has " + std::to_string(layer.inputs.size()) + " inputs, needs " + std::to_string(need));
    }
    for (int in : layer.inputs) {
      if (in < 0 || in >= id)
        fail(l, "reads layer " + std::to_string(in) + ", which is not earlier");
    }
    int const in = layer.inputs.empty() ? 0 : out.widths[static_cast<std::size_t>(layer.inputs[0])];
    int width = in;
    std::int64_t running = -1;
    switch (layer.kind) {
      case LayerKind::input:
        if (l != 0) fail(l, "is a second input");
        width = spec.in_features;
        break;
      case LayerKind::dense:
        if (layer.out <= 0) fail(l, "has width " + std::to_string(layer.out) + ", needs 1 or more");
        width = layer.out;
        add(id, Role::weight, in, width, layer.decay);
        if (layer.bias) add(id, Role::bias, 1, width, layer.decay);
        break;
      case LayerKind::message: {
        if (layer.op < 0 || static_cast<std::size_t>(layer.op) >= ops.size()) {
          fail(l,
               "names operator " + std::to_string(layer.op) + " of " + std::to_string(ops.size()));
        }
        if (layer.out <= 0 || layer.heads <= 0) {
          fail(l, "has " + std::to_string(layer.heads) + " heads of width " +
                      std::to_string(layer.out) + ", needs 1 or more of each");
        }
        OperatorInfo const& op = ops[static_cast<std::size_t>(layer.op)];
        int const full = layer.heads * layer.out;
        bool const averaged = !layer.concat_heads && layer.heads > 1;
        if (averaged && op.root) fail(l, "averages heads of an operator that has a root weight");
        width = averaged ? layer.out : full;
        add(id, Role::weight, in, full, layer.decay);
        if (op.root) add(id, Role::root, in, full, layer.decay);
        if (op.learned()) {
          add(id, Role::left, layer.heads, layer.out, layer.decay);
          add(id, Role::right, layer.heads, layer.out, layer.decay);
        }
        if (op.channel_vector) add(id, Role::vector, 1, layer.out, layer.decay);
        if (op.message_hidden > 0) {
          add(id, Role::message_w1, layer.out, op.message_hidden, layer.decay);
          add(id, Role::message_b1, 1, op.message_hidden, layer.decay);
          add(id, Role::message_w2, op.message_hidden, layer.out, layer.decay);
          add(id, Role::message_b2, 1, layer.out, layer.decay);
        }
        if (layer.bias) add(id, Role::bias, 1, width, layer.decay);
        break;
      }
      case LayerKind::batch_norm:
        add(id, Role::bn_scale, 1, in, layer.decay);
        add(id, Role::bn_shift, 1, in, layer.decay);
        running = out.statistics;
        out.statistics += 2 * static_cast<std::int64_t>(in);
        break;
      case LayerKind::activation:
        break;
      case LayerKind::dropout:
        if (!(layer.p >= 0 && layer.p < 1)) {
          fail(l, "has dropout " + std::to_string(layer.p) + ", needs 0 <= p < 1");
        }
        break;
      case LayerKind::concat:
        width = 0;
        for (int i : layer.inputs) width += out.widths[static_cast<std::size_t>(i)];
        break;
      case LayerKind::add:
        for (int i : layer.inputs) {
          if (out.widths[static_cast<std::size_t>(i)] != in) {
            fail(l, "adds widths " + std::to_string(in) + " and " +
                        std::to_string(out.widths[static_cast<std::size_t>(i)]));
          }
        }
        break;
    }
    out.widths.push_back(width);
    out.running.push_back(running);
  }
  if (out.widths.back() != spec.num_classes) {
    fail(spec.layers.size() - 1, "is the last and has width " + std::to_string(out.widths.back()) +
                                     ", but there are " + std::to_string(spec.num_classes) +
                                     " classes");
  }
  return out;
}

}  // namespace gnas
