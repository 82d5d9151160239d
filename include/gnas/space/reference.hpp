// The two models that everything is compared with, as their papers have them, in the form of a
// search space.
#pragma once

#include <gnas/op/nas_bench.hpp>
#include <gnas/space/concept.hpp>

#include <array>
#include <string>
#include <string_view>

namespace gnas::space {

// One gene: "gcn" (Kipf and Welling 2017), "gat" (Velickovic et al. 2018), "gat-pubmed" (its
// variant with eight averaged output heads).
struct Reference {
  using policy_kind = SearchSpaceTag;
  using operators = OperatorList<op::Gcn, op::Gat>;
  static constexpr std::string_view name = "reference";
  static constexpr std::array<std::string_view, 3> names = {"gcn", "gat", "gat-pubmed"};

  int num_genes() const { return 1; }
  int radix(int) const { return 3; }
  bool is_valid(ArchCode const& c) const { return genes_in_range(*this, c); }

  ModelSpec decode(ArchCode const& c, int features, int classes) const {
    check(c);
    ModelSpec spec{.in_features = features, .num_classes = classes, .layers = {}};
    int x = spec.input();
    if (c[0] == 0) {
      // Weight decay on the first layer only.
      x = spec.push(
          {.kind = LayerKind::message, .inputs = {spec.dropout(x, 0.5)}, .out = 16, .op = 0});
      x = spec.dropout(spec.activation(x, Activation::relu), 0.5);
      spec.push(
          {.kind = LayerKind::message, .inputs = {x}, .out = classes, .op = 0, .decay = false});
      return spec;
    }
    x = spec.push({.kind = LayerKind::message,
                   .inputs = {spec.dropout(x, 0.6)},
                   .out = 8,
                   .op = 1,
                   .heads = 8,
                   .attention_dropout = 0.6});
    x = spec.dropout(spec.activation(x, Activation::elu), 0.6);
    spec.push({.kind = LayerKind::message,
               .inputs = {x},
               .out = classes,
               .op = 1,
               .heads = c[0] == 2 ? 8 : 1,
               .concat_heads = false,
               .attention_dropout = 0.6});
    return spec;
  }

  std::string to_text(ArchCode const& c) const {
    check(c);
    return std::string(names[static_cast<std::size_t>(c[0])]);
  }
  ArchCode parse(std::string_view text) const {
    return {{find_name(names, text, "reference: architecture")}};
  }

 private:
  void check(ArchCode const& c) const {
    expects(is_valid(c), "reference: code " + c.key() + " is not an architecture of this space");
  }
};

}  // namespace gnas::space
