// A consumer of the core tier: the smallest program that shows that headers are found and work.
#include <gnas/core/config.hpp>
#include <gnas/model/count.hpp>
#include <gnas/space/nas_bench_graph.hpp>

#include <iostream>

int main() {
  gnas::space::NasBenchGraph const space;
  gnas::ModelSpec const spec = space.decode(space.parse("0,0,1,2:gat,gcn,gin,cheb"), 100, 7);
  std::cout << "gnas " << GNAS_VERSION_STRING << ": " << spec.layers.size() << " layers\n";
  return spec.num_classes == 7 ? 0 : 1;
}
