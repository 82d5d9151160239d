// Includes everything, as second.cpp does: linking both shows that no function is defined twice.
#include <gnas/gnas.hpp>

#include <cstdio>
#include <cstring>

char const* version_of_second();

int main() {
  std::printf("%s %s\n", GNAS_VERSION_STRING, version_of_second());
  return std::strcmp(GNAS_VERSION_STRING, version_of_second()) == 0 ? 0 : 1;
}
