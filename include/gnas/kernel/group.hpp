// A Group is the set of lanes that work on one row together. Row bodies are written once over it:
// one lane on the host, a warp on a device, emulated lanes in tests.
#pragma once

#include <gnas/core/config.hpp>

#include <concepts>

namespace gnas {

// rank() in 0..size()-1; max(x) and sum(x) give every lane the reduction over all lanes; sync()
// makes what each lane wrote to the row's scratch visible to the others. All lanes call each the
// same number of times.
template <class G>
concept Group = requires(G const g, float x) {
  { g.rank() } -> std::convertible_to<int>;
  { g.size() } -> std::convertible_to<int>;
  { g.max(x) } -> std::same_as<float>;
  { g.sum(x) } -> std::same_as<float>;
  g.sync();
};

// One lane: every reduction is the value itself.
struct SerialGroup {
  GNAS_HD static constexpr int rank() noexcept { return 0; }
  GNAS_HD static constexpr int size() noexcept { return 1; }
  template <class T>
  GNAS_HD static constexpr T max(T x) noexcept {
    return x;
  }
  template <class T>
  GNAS_HD static constexpr T sum(T x) noexcept {
    return x;
  }
  GNAS_HD static constexpr void sync() noexcept {}
};
static_assert(Group<SerialGroup>);

}  // namespace gnas
