// Activation: the names of the element-wise functions, shared by operators, specs and back ends.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gnas {

enum class Activation : std::uint8_t {
  identity,
  relu,
  elu,         // alpha 1
  leaky_relu,  // slope 0.01 as a layer; attention scores bring their own 0.2
  sigmoid,
  tanh,
  softplus,
  relu6
};

inline constexpr std::array<std::string_view, 8> activation_names = {
    "identity", "relu", "elu", "leaky_relu", "sigmoid", "tanh", "softplus", "relu6"};

constexpr std::string_view to_string(Activation a) {
  return activation_names[static_cast<std::size_t>(a)];
}

}  // namespace gnas
