// The other half of the link test in first.cpp.
#include <gnas/gnas.hpp>

char const* version_of_second() { return GNAS_VERSION_STRING; }
