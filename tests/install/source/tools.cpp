// A consumer of the tools tier: a reader is called, so its libraries must be linked.
#include <gnas/gnas.hpp>

#include <iostream>

int main() {
  try {
    gnas::load("no-such-folder/graph.npz");
  } catch (gnas::Error const& error) {
    std::cout << "refused: " << error.what() << "\n";
    return 0;
  }
  return 1;
}
