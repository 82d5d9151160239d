// NAS-Bench-Graph (Qin et al., NeurIPS 2022): a cell of four computing nodes, 26,206 architectures.
#pragma once

#include <gnas/op/nas_bench.hpp>
#include <gnas/space/concept.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnas::space {

// Genes: four links (gene i: input of computing node i + 1, 0 = the cell's input, k = computing
// node k), then four operators in the order of `op_names`. Text: "0,0,1,2:gat,gcn,gin,cheb", or
// "hash:87072" as in the published tables.
struct NasBenchGraph {
  using policy_kind = SearchSpaceTag;
  using operators =
      OperatorList<op::Gat, op::Gcn, op::Gin, op::Cheb, op::Sage, op::Arma, op::Graph>;
  static constexpr std::string_view name = "nas-bench-graph";
  static constexpr std::array<std::string_view, 9> op_names = {
      "gat", "gcn", "gin", "cheb", "sage", "arma", "graph", "fc", "skip"};
  static constexpr int kFc = 7, kSkip = 8;
  // The nine canonical links; a hash counts them in this order.
  static constexpr std::array<std::array<int, 4>, 9> links = {{{0, 0, 0, 0},
                                                               {0, 0, 0, 1},
                                                               {0, 0, 1, 1},
                                                               {0, 0, 1, 2},
                                                               {0, 0, 1, 3},
                                                               {0, 1, 1, 1},
                                                               {0, 1, 1, 2},
                                                               {0, 1, 2, 2},
                                                               {0, 1, 2, 3}}};

  int pre = 0;           // dense layers before the cell
  int post = 1;          // dense layers after the cell's own
  int hidden = 256;      // width; a multiple of 4 where gat is used
  double dropout = 0.7;  // on the input and before each operator that reads no raw input

  int num_genes() const { return 8; }
  int radix(int gene) const { return gene < 4 ? gene + 1 : 9; }
  // Every combination but four skips, which would be no network.
  bool is_valid(ArchCode const& c) const {
    return genes_in_range(*this, c) &&
           !(c[4] == kSkip && c[5] == kSkip && c[6] == kSkip && c[7] == kSkip);
  }

  ModelSpec decode(ArchCode const& c, int features, int classes) const {
    check(c);
    check_settings(c);
    ModelSpec spec{.in_features = features, .num_classes = classes, .layers = {}};
    int x = spec.dropout(spec.input(), dropout);
    for (int k = 0; k < pre; ++k) {
      x = spec.dense(x, hidden);
      if (k == pre - 2) x = spec.activation(x, Activation::elu);
    }
    std::array<int, 5> result{x};
    std::array<bool, 5> raw{pre == 0};
    std::array<bool, 5> read{};
    for (std::size_t i = 0; i < 4; ++i) {
      auto const from = static_cast<std::size_t>(c[i]);
      read[from] = true;
      int in = result[from];
      if (!raw[from]) {
        in = spec.dropout(spec.activation(spec.batch_norm(in), Activation::relu), dropout);
      }
      int const o = c[4 + i];
      if (o == kSkip) {
        result[i + 1] = in;
      } else if (o == kFc) {
        result[i + 1] = spec.dense(in, hidden);
      } else {
        int const heads = o == 0 ? 4 : 1;
        result[i + 1] = spec.push({.kind = LayerKind::message,
                                   .inputs = {in},
                                   .out = hidden / heads,
                                   .op = o,
                                   .heads = heads});
      }
      raw[i + 1] = raw[from] && o == kSkip;
    }
    std::vector<int> loose;
    for (std::size_t i = 1; i < 5; ++i) {
      if (!read[i]) loose.push_back(result[i]);
    }
    int y = spec.activation(spec.concat(loose), Activation::relu);
    y = spec.dense(y, post > 0 ? hidden : classes);
    for (int k = 0; k < post; ++k) {
      y = spec.dense(y, k == post - 1 ? classes : hidden);
      if (k == post - 2) y = spec.activation(y, Activation::elu);
    }
    return spec;
  }

  // The published tables count all four batch norms of a cell, and one unused (hidden, hidden)
  // matrix for each arma; a spec holds only what is used. parameters of the spec + this = the
  // table's count.
  std::int64_t unused_parameters(ArchCode const& c) const {
    check(c);
    std::int64_t unused = 0;
    std::array<bool, 5> raw{pre == 0};
    for (std::size_t i = 0; i < 4; ++i) {
      auto const from = static_cast<std::size_t>(c[i]);
      if (raw[from]) unused += 2 * std::int64_t{hidden};
      if (c[4 + i] == 5) unused += std::int64_t{hidden} * hidden;
      raw[i + 1] = raw[from] && c[4 + i] == kSkip;
    }
    return unused;
  }

  // The one code of all that the benchmark takes for the same network: skips moved towards the
  // input, then, over all orders of the computing nodes, the first in (place of the link,
  // operators).
  ArchCode canonical(ArchCode c) const {
    if (!is_valid(c)) return c;
    lift_skips(c);
    std::array<int, 4> order{0, 1, 2, 3};
    ArchCode best;
    int best_hash = -1;
    do {
      // order[k]: which old node becomes node k.
      std::array<int, 5> place{0, -1, -1, -1, -1};
      for (int k = 0; k < 4; ++k)
        place[static_cast<std::size_t>(order[static_cast<std::size_t>(k)]) + 1] = k + 1;
      ArchCode t{std::vector<int>(8)};
      bool fits = true;
      for (std::size_t k = 0; k < 4; ++k) {
        auto const old = static_cast<std::size_t>(order[k]);
        t[k] = place[static_cast<std::size_t>(c[old])];
        t[4 + k] = c[4 + old];
        fits = fits && t[k] <= static_cast<int>(k);
      }
      if (!fits || link_place(t) < 0) continue;
      int const h = digits(t);
      if (best_hash < 0 || h < best_hash) {
        best_hash = h;
        best = t;
      }
    } while (std::next_permutation(order.begin(), order.end()));
    ensures(best_hash >= 0, "a tree without a canonical order");
    return best;
  }

  // The benchmark's key: 10000 * place of the link + operators as digits, of the canonical code.
  int hash(ArchCode const& c) const {
    check(c);
    return digits(canonical(c));
  }
  ArchCode from_hash(int h) const {
    auto const fail = [&] {
      throw InvalidArgument(
          "nas-bench-graph: hash " + std::to_string(h) +
          " names no architecture; it is 10000 * link (0..8) + four operator digits (0..8)");
    };
    if (h < 0 || h / 10000 > 8) fail();
    ArchCode c;
    for (int l : links[static_cast<std::size_t>(h / 10000)]) c.genes.push_back(l);
    for (int unit = 1000; unit > 0; unit /= 10) c.genes.push_back(h / unit % 10);
    if (!is_valid(c)) fail();
    return c;
  }

  std::string to_text(ArchCode const& c) const {
    check(c);
    std::string text;
    for (std::size_t k = 0; k < 4; ++k) text += (k ? "," : "") + std::to_string(c[k]);
    for (std::size_t k = 4; k < 8; ++k) {
      text += (k == 4 ? ":" : ",") + std::string(op_names[static_cast<std::size_t>(c[k])]);
    }
    return text;
  }

  ArchCode parse(std::string_view text) const {
    std::string const who = "nas-bench-graph: architecture '" + std::string(text) + "': ";
    if (text.starts_with("hash:")) return from_hash(parse_int(text.substr(5), who + "hash"));
    std::size_t const colon = text.find(':');
    expects(colon != std::string_view::npos, who +
                                                 "has no ':'; write four links, ':' and four "
                                                 "operators, for example 0,0,1,2:gat,gcn,gin,cheb");
    ArchCode c;
    split_text(text.substr(0, colon), ',', [&](std::string_view part, int k) {
      int const link = parse_int(part, who + "link " + std::to_string(k));
      expects(k < 4 && link >= 0 && link <= k, who + "link " + std::to_string(k) + " is " +
                                                   std::to_string(link) +
                                                   "; there are four links and link k is in 0..k");
      c.genes.push_back(link);
    });
    expects(c.size() == 4, who + "has " + std::to_string(c.size()) + " links, needs 4");
    split_text(text.substr(colon + 1), ',', [&](std::string_view part, int k) {
      c.genes.push_back(find_name(op_names, part, who + "operator " + std::to_string(k)));
    });
    expects(c.size() == 8, who + "has " + std::to_string(c.size() - 4) + " operators, needs 4");
    expects(is_valid(c), who + "has only skips, which is no network");
    return c;
  }

 private:
  void check(ArchCode const& c) const {
    expects(is_valid(c),
            "nas-bench-graph: code " + c.key() + " is not an architecture of this space");
  }

  void check_settings(ArchCode const& c) const {
    auto const within = [](char const* what, int value, int low, int high) {
      expects(value >= low && value <= high, std::string("nas-bench-graph: ") + what + " is " +
                                                 std::to_string(value) + ", it must be in " +
                                                 std::to_string(low) + ".." + std::to_string(high));
    };
    within("pre", pre, 0, 100);
    within("post", post, 0, 100);
    within("hidden", hidden, 1, 1 << 20);
    expects(hidden % 4 == 0 || std::find(c.genes.begin() + 4, c.genes.end(), 0) == c.genes.end(),
            "nas-bench-graph: hidden is " + std::to_string(hidden) +
                "; gat has 4 heads, so it must be a multiple of 4");
  }

  // The code must have a canonical link.
  static int digits(ArchCode const& c) {
    int h = link_place(c);
    for (std::size_t k = 4; k < 8; ++k) h = 10 * h + c[k];
    return h;
  }

  static int link_place(ArchCode const& c) {
    for (std::size_t t = 0; t < links.size(); ++t) {
      if (std::equal(links[t].begin(), links[t].end(), c.genes.begin())) return static_cast<int>(t);
    }
    return -1;
  }

  // A skip is taken out (its readers read what it read) and put in front of everything, as the
  // benchmark does. Only one that alone carries an operator's result to the output, past that
  // operator's other readers, stays.
  static void lift_skips(ArchCode& c) {
    int lifted = 0;
    std::array<int, 4> parent{c[0], c[1], c[2], c[3]};
    std::array<bool, 4> gone{};
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < 4; ++k) {
        if (gone[k] || c[4 + k] != kSkip) continue;
        int const me = static_cast<int>(k) + 1;
        bool feeds = false, shared = false;
        for (std::size_t r = 0; r < 4; ++r) {
          feeds = feeds || (!gone[r] && parent[r] == me);
          shared = shared || (!gone[r] && r != k && parent[r] == parent[k]);
        }
        if (!feeds && parent[k] != 0 && shared) continue;
        for (std::size_t r = 0; r < 4; ++r) {
          if (!gone[r] && parent[r] == me) parent[r] = parent[k];
        }
        gone[k] = true;
        moved = true;
        ++lifted;
      }
    }
    // The chain of lifted skips, then the rest in its old order, reading the end of the chain for
    // the input.
    ArchCode t;
    std::array<int, 5> place{lifted, 0, 0, 0, 0};
    int next = lifted;
    for (std::size_t k = 0; k < 4; ++k) {
      if (!gone[k]) place[k + 1] = ++next;
    }
    for (int k = 0; k < lifted; ++k) t.genes.push_back(k);
    for (std::size_t k = 0; k < 4; ++k) {
      if (!gone[k]) t.genes.push_back(place[static_cast<std::size_t>(parent[k])]);
    }
    for (int k = 0; k < lifted; ++k) t.genes.push_back(kSkip);
    for (std::size_t k = 0; k < 4; ++k) {
      if (!gone[k]) t.genes.push_back(c[4 + k]);
    }
    c = t;
  }
};

}  // namespace gnas::space
