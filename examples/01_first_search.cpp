// A first search: which architecture suits this graph?
#include <gnas/gnas.hpp>

#include <cstdio>

int main() {
  // example-begin first-search
  gnas::Dataset data =
      gnas::load(GNAS_SOURCE_ROOT "/examples/data/debian-bookworm/debian-small.npz");

  gnas::Searcher<gnas::space::NasBenchGraph,          // what may be built
                 gnas::search::RegularizedEvolution>  // what to try next
      searcher;
  searcher.space.hidden = 32;

  gnas::SearchResult found =
      searcher.run(data, {.trials = 8, .seed = 7, .train = {.lr = 0.01, .epochs = 20}});
  // example-end first-search

  std::printf("%zu trials, ended by: %s\n", found.trials.size(), found.ended.c_str());
  std::printf("best above 80%%: %s\n", found.best() && found.best()->val > 0.8 ? "yes" : "no");
}

// Expected output:
// 8 trials, ended by: trial limit
// best above 80%: yes
