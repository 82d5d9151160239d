// The simplest space over any operators: a stack of layers, each with one operator and one
// activation.
#pragma once

#include <gnas/space/concept.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace gnas::space {

// Genes: operator, activation of each layer; the last layer's activation has no meaning (canonical
// 0). Text: "gcn,relu;gat,-".
template <class Ops>
struct Layerwise {
  using policy_kind = SearchSpaceTag;
  using operators = Ops;
  static constexpr std::string_view name = "layerwise";
  static constexpr std::array<Activation, 3> activations = {Activation::relu, Activation::elu,
                                                            Activation::tanh};

  int layers = 2;
  int hidden = 64;
  double dropout = 0.5;  // before each layer

  int num_genes() const { return 2 * layers; }
  int radix(int gene) const { return gene % 2 == 0 ? static_cast<int>(Ops::size) : 3; }
  bool is_valid(ArchCode const& c) const { return layers > 0 && genes_in_range(*this, c); }
  ArchCode canonical(ArchCode c) const {
    if (is_valid(c)) c.genes.back() = 0;
    return c;
  }

  ModelSpec decode(ArchCode const& c, int features, int classes) const {
    check(c);
    ModelSpec spec{.in_features = features, .num_classes = classes, .layers = {}};
    int x = spec.input();
    for (int l = 0; l < layers; ++l) {
      bool const last = l + 1 == layers;
      x = spec.push({.kind = LayerKind::message,
                     .inputs = {spec.dropout(x, dropout)},
                     .out = last ? classes : hidden,
                     .op = c[static_cast<std::size_t>(2 * l)]});
      if (!last) {
        x = spec.activation(
            x, activations[static_cast<std::size_t>(c[static_cast<std::size_t>(2 * l + 1)])]);
      }
    }
    return spec;
  }

  std::string to_text(ArchCode const& c) const {
    check(c);
    static constexpr auto infos = Ops::infos();
    std::string text;
    for (int l = 0; l < layers; ++l) {
      auto const at = static_cast<std::size_t>(2 * l);
      text += (l > 0 ? ";" : "") + std::string(infos[static_cast<std::size_t>(c[at])].name) + ',';
      text += l + 1 == layers ? "-" : to_string(activations[static_cast<std::size_t>(c[at + 1])]);
    }
    return text;
  }

  ArchCode parse(std::string_view text) const {
    static constexpr auto infos = Ops::infos();
    std::array<std::string_view, Ops::size> names;
    for (std::size_t k = 0; k < Ops::size; ++k) names[k] = infos[k].name;
    std::array<std::string_view, 3> known;
    for (std::size_t k = 0; k < 3; ++k) known[k] = to_string(activations[k]);
    std::string const who = "layerwise: architecture '" + std::string(text) + "': ";
    auto const found = 1 + std::count(text.begin(), text.end(), ';');
    expects(found == layers, who + "has " + std::to_string(found) + " layers, needs " +
                                 std::to_string(layers) + " with ';' between them");
    ArchCode c;
    split_text(text, ';', [&](std::string_view layer, int l) {
      std::size_t const before = c.size();
      std::string const in = who + "layer " + std::to_string(l) + ": ";
      bool const last = l + 1 == layers;
      split_text(layer, ',', [&](std::string_view part, int k) {
        if (k == 0) {
          c.genes.push_back(find_name(names, part, in + "operator"));
        } else {
          c.genes.push_back(part == "-" && last ? 0 : find_name(known, part, in + "activation"));
        }
      });
      expects(c.size() == before + 2, in + "has " + std::to_string(c.size() - before) +
                                          " parts, needs 2: operator,activation");
    });
    return c;
  }

 private:
  void check(ArchCode const& c) const {
    expects(is_valid(c), "layerwise: code " + c.key() + " is not an architecture of this space");
  }
};

}  // namespace gnas::space
