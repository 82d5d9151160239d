// GraphNAS's macro space (Gao et al., IJCAI 2020): for each layer an attention, an aggregator, an
// activation, heads and hidden units; 9,408 choices a layer.
#pragma once

#include <gnas/op/graph_nas.hpp>
#include <gnas/space/concept.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace gnas::space {

namespace detail {

template <class Attentions, class Aggregators, class Index>
struct GraphNasOperators;
template <class... At, class... Ag, std::size_t... I>
struct GraphNasOperators<std::tuple<At...>, std::tuple<Ag...>, std::index_sequence<I...>> {
  using type =
      OperatorList<op::GraphNas<std::tuple_element_t<I / sizeof...(Ag), std::tuple<At...>>,
                                std::tuple_element_t<I % sizeof...(Ag), std::tuple<Ag...>>>...>;
};

}  // namespace detail

// Five genes a layer. Text: "gat,sum,relu,8,64;gat,sum,linear,1,-", layer by layer; the last
// layer's width is the number of classes, so its hidden gene has no meaning ("-", canonical 0).
// Hidden layers concatenate heads, the last averages them. The last layer's activation acts on the
// logits, as in the authors' code; no batch norm, no residual.
struct GraphNas {
  using policy_kind = SearchSpaceTag;
  using operators = detail::GraphNasOperators<
      std::tuple<op::attention::Gat, op::attention::Gcn, op::attention::Cos, op::attention::Const,
                 op::attention::GatSym, op::attention::Linear, op::attention::GeneralizedLinear>,
      std::tuple<op::aggregator::Sum, op::aggregator::Mean, op::aggregator::Max,
                 op::aggregator::Mlp>,
      std::make_index_sequence<28>>::type;
  static constexpr std::string_view name = "graph-nas";
  static constexpr std::array<std::string_view, 7> attentions = {
      "gat", "gcn", "cos", "const", "gat_sym", "linear", "generalized_linear"};
  static constexpr std::array<std::string_view, 4> aggregators = {"sum", "mean", "max", "mlp"};
  static constexpr std::array<std::string_view, 8> activations = {
      "sigmoid", "tanh", "relu", "linear", "softplus", "leaky_relu", "relu6", "elu"};
  static constexpr std::array<Activation, 8> activation_kinds = {
      Activation::sigmoid,  Activation::tanh,       Activation::relu,  Activation::identity,
      Activation::softplus, Activation::leaky_relu, Activation::relu6, Activation::elu};
  static constexpr std::array<int, 6> heads = {1, 2, 4, 6, 8, 16};
  static constexpr std::array<int, 7> hidden = {4, 8, 16, 32, 64, 128, 256};

  int layers = 2;
  double dropout = 0.6;  // before each layer and on the attention weights

  int num_genes() const { return 5 * layers; }
  int radix(int gene) const {
    constexpr std::array<int, 5> radices = {7, 4, 8, 6, 7};
    return radices[static_cast<std::size_t>(gene % 5)];
  }
  bool is_valid(ArchCode const& c) const { return layers > 0 && genes_in_range(*this, c); }

  ModelSpec decode(ArchCode const& c, int features, int classes) const {
    check(c);
    ModelSpec spec{.in_features = features, .num_classes = classes, .layers = {}};
    int x = spec.input();
    for (int l = 0; l < layers; ++l) {
      auto const at = static_cast<std::size_t>(5 * l);
      bool const last = l + 1 == layers;
      x = spec.dropout(x, dropout);
      x = spec.push({.kind = LayerKind::message,
                     .inputs = {x},
                     .out = last ? classes : hidden[static_cast<std::size_t>(c[at + 4])],
                     .op = 4 * c[at] + c[at + 1],
                     .heads = heads[static_cast<std::size_t>(c[at + 3])],
                     .concat_heads = !last,
                     .attention_dropout = dropout});
      Activation const a = activation_kinds[static_cast<std::size_t>(c[at + 2])];
      if (a != Activation::identity) x = spec.activation(x, a);
    }
    return spec;
  }

  ArchCode canonical(ArchCode c) const {
    if (is_valid(c)) c.genes.back() = 0;
    return c;
  }

  std::string to_text(ArchCode const& c) const {
    check(c);
    std::string text;
    for (int l = 0; l < layers; ++l) {
      auto const at = static_cast<std::size_t>(5 * l);
      if (l > 0) text += ';';
      text += std::string(attentions[static_cast<std::size_t>(c[at])]) + ',' +
              std::string(aggregators[static_cast<std::size_t>(c[at + 1])]) + ',' +
              std::string(activations[static_cast<std::size_t>(c[at + 2])]) + ',' +
              std::to_string(heads[static_cast<std::size_t>(c[at + 3])]) + ',' +
              (l + 1 == layers ? "-" : std::to_string(hidden[static_cast<std::size_t>(c[at + 4])]));
    }
    return text;
  }

  ArchCode parse(std::string_view text) const {
    std::string const who = "graph-nas: architecture '" + std::string(text) + "': ";
    auto const found = 1 + std::count(text.begin(), text.end(), ';');
    expects(found == layers, who + "has " + std::to_string(found) + " layers, needs " +
                                 std::to_string(layers) + " with ';' between them");
    ArchCode c;
    split_text(text, ';', [&](std::string_view layer, int l) {
      std::size_t const before = c.size();
      std::string const in = who + "layer " + std::to_string(l) + ": ";
      split_text(layer, ',', [&](std::string_view part, int k) {
        switch (k) {
          case 0:
            c.genes.push_back(find_name(attentions, part, in + "attention"));
            break;
          case 1:
            c.genes.push_back(find_name(aggregators, part, in + "aggregator"));
            break;
          case 2:
            c.genes.push_back(find_name(activations, part, in + "activation"));
            break;
          case 3:
            c.genes.push_back(find_number(heads, part, in + "heads"));
            break;
          case 4:
            // Only the last layer's width is the number of classes.
            c.genes.push_back(part == "-" && l + 1 == layers
                                  ? 0
                                  : find_number(hidden, part, in + "hidden units"));
            break;
          default:
            c.genes.push_back(-1);  // one part too many: counted below
        }
      });
      expects(c.size() == before + 5,
              in + "has " + std::to_string(c.size() - before) +
                  " parts, needs 5: attention,aggregator,activation,heads,hidden units");
    });
    return c;
  }

 private:
  void check(ArchCode const& c) const {
    expects(is_valid(c), "graph-nas: code " + c.key() + " is not an architecture of this space");
  }

  template <class Values>
  static int find_number(Values const& values, std::string_view text, std::string const& what) {
    int const value = parse_int(text, what);
    std::string known;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] == value) return static_cast<int>(k);
      known += (known.empty() ? "" : ", ") + std::to_string(values[k]);
    }
    throw InvalidArgument(what + " is " + std::to_string(value) + ", it must be one of " + known);
  }
};

}  // namespace gnas::space
