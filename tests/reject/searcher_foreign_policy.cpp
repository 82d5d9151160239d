// Searcher: a policy has no 'policy_kind'
#include <gnas/search/random.hpp>
#include <gnas/search/searcher.hpp>

#ifdef GNAS_FIXED
using Policy = gnas::search::Random;
#else
struct Policy {};
#endif
gnas::Searcher<Policy> const searcher;
int main() { return searcher.space.hidden > 0 ? 0 : 1; }
