// ArchCode: an architecture as a short list of small integers, one a gene of its search space.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gnas {

struct ArchCode {
  std::vector<int> genes;

  std::size_t size() const noexcept { return genes.size(); }
  int& operator[](std::size_t i) { return genes[i]; }
  int operator[](std::size_t i) const { return genes[i]; }
  friend bool operator==(ArchCode const&, ArchCode const&) = default;
  friend auto operator<=>(ArchCode const&, ArchCode const&) = default;

  // "3,0,1,2": the form that keys files and logs; a space's own text form is for people.
  std::string key() const {
    std::string text;
    for (std::size_t i = 0; i < genes.size(); ++i) {
      if (i != 0) text += ',';
      text += std::to_string(genes[i]);
    }
    return text;
  }
};

}  // namespace gnas

template <>
struct std::hash<gnas::ArchCode> {
  std::size_t operator()(gnas::ArchCode const& code) const noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;  // FNV-1a over the genes
    for (int g : code.genes) h = (h ^ static_cast<std::uint64_t>(g)) * 0x100000001b3u;
    return static_cast<std::size_t>(h);
  }
};
