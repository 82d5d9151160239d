// A search space of your own: three genes, one model each.
#include <gnas/gnas.hpp>

#include <cstdio>

// example-begin space
// Depth, operator and width of a plain stack with batch norm.
struct StackSpace {
  using policy_kind = gnas::SearchSpaceTag;
  using operators = gnas::OperatorList<gnas::op::Gcn, gnas::op::Sage, gnas::op::Gin>;
  static constexpr std::string_view name = "stack";

  int num_genes() const { return 3; }
  int radix(int gene) const { return gene == 1 ? 3 : 2; }
  bool is_valid(gnas::ArchCode const& c) const { return gnas::space::genes_in_range(*this, c); }

  gnas::ModelSpec decode(gnas::ArchCode const& c, int features, int classes) const {
    gnas::ModelSpec m{.in_features = features, .num_classes = classes, .layers = {}};
    int x = m.dropout(m.input(), 0.3);
    for (int depth = 0; depth < 1 + c[0]; ++depth) {
      x = m.push(
          {.kind = gnas::LayerKind::message, .inputs = {x}, .out = c[2] ? 32 : 16, .op = c[1]});
      x = m.dropout(m.activation(m.batch_norm(x), gnas::Activation::relu), 0.3);
    }
    m.dense(x, classes);
    return m;
  }
};
static_assert(gnas::check_search_space<StackSpace>());
// example-end space

int main() {
  gnas::Dataset const data =
      gnas::load(GNAS_SOURCE_ROOT "/examples/data/debian-bookworm/debian-small.npz");
  gnas::Searcher<StackSpace, gnas::search::Random> const searcher;
  gnas::SearchResult const found = searcher.run(data, {.trials = 50, .train = {.epochs = 15}});
  std::printf("%zu architectures, ended by: %s\n", found.trials.size(), found.ended.c_str());
  std::printf("best above 70%%: %s\n", found.best()->val > 0.7 ? "yes" : "no");
}

// Expected output:
// 12 architectures, ended by: space exhausted
// best above 70%: yes
