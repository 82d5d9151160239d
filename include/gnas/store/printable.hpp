// Text of unknown origin as part of a one-line message.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace gnas::store {

// Text of a file as part of a one-line message: control and non-ASCII bytes shown as \xNN, cut at
// `limit` characters.
inline std::string printable(std::string_view text, std::size_t limit = 60) {
  std::string out;
  for (char c : text.substr(0, limit)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      char hex[5];
      std::snprintf(hex, sizeof hex, "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += hex;
    }
  }
  if (text.size() > limit) out += "...";
  return out;
}

}  // namespace gnas::store
