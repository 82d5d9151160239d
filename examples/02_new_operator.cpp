// An operator of your own, searched beside those in the box.
#include <gnas/gnas.hpp>

#include <cstdio>

// example-begin operator
// Attention that falls with the squared gap between the two projections.
struct RbfAttention : gnas::op::Attention {
  static constexpr std::string_view name = "rbf";
  template <class T>
  GNAS_HD static constexpr T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    T const gap = i.left - j.right;
    return -gap * gap;
  }
};
static_assert(gnas::check_message_operator<RbfAttention>());
// example-end operator

int main() {
  // example-begin use
  using Operators = gnas::OperatorList<gnas::op::Gcn, gnas::op::Gat, RbfAttention>;
  gnas::Searcher<gnas::space::Layerwise<Operators>, gnas::search::Random> searcher;
  // example-end use
  searcher.space.hidden = 16;

  gnas::Dataset const data =
      gnas::load(GNAS_SOURCE_ROOT "/examples/data/debian-bookworm/debian-small.npz");
  auto const found = searcher.run(data, {.trials = 100, .train = {.lr = 0.02, .epochs = 15}});

  // Two layers, three operators each, three activations in the first one.
  std::printf("%zu trials, ended by: %s\n", found.trials.size(), found.ended.c_str());
  int with_rbf = 0;
  for (gnas::Trial const& t : found.trials)
    with_rbf += t.arch.find("rbf") != std::string::npos && t.val > 0.5;
  std::printf("%d of them use rbf and learn\n", with_rbf);
}

// Expected output:
// 27 trials, ended by: space exhausted
// 15 of them use rbf and learn
