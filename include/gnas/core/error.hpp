// The exceptions of the library and the one run-time check.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gnas {

// Base of everything the library throws on purpose.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A caller's argument or setting breaks a rule; the text names value, rule and way out.
struct InvalidArgument : Error {
  using Error::Error;
};

// A file, or what it holds, breaks a rule; the text begins with the file (and line or member).
struct DataError : Error {
  using Error::Error;
};

// A CUDA call failed.
struct DeviceError : Error {
  using Error::Error;
};

// A peer is dead, absent or late.
struct TransportError : Error {
  using Error::Error;
};

// The feature exists but was not compiled in; the text names the option to enable.
struct NotBuilt : Error {
  using Error::Error;
};

// Throws InvalidArgument when `condition` is false. Does not add the place to the text that users
// see: the message has to say what is wrong in the user's own terms.
inline void expects(bool condition, std::string_view message) {
  if (!condition) throw InvalidArgument(std::string(message));
}

// For rules that only a defect of this library can break: the text names the place.
inline void ensures(bool condition, std::string_view message, char const* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (!condition) {
    throw Error(std::string(file) + ":" + std::to_string(line) + ": " + std::string(message) +
                " (a defect of gnas; please report it)");
  }
}

}  // namespace gnas
