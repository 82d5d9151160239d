// Searcher: two search spaces were given; name one
#include <gnas/search/random.hpp>
#include <gnas/search/searcher.hpp>
#include <gnas/space/graph_nas.hpp>

#ifdef GNAS_FIXED
gnas::Searcher<gnas::space::GraphNas, gnas::search::Random> const searcher;
#else
gnas::Searcher<gnas::space::GraphNas, gnas::space::NasBenchGraph> const searcher;
#endif
int main() { return searcher.space.layers == 2 ? 0 : 1; }
