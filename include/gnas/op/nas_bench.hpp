// The message-passing operators of NAS-Bench-Graph (Qin et al., NeurIPS 2022), with the behavior of
// the PyTorch Geometric layers that the benchmark used. a -> b: input width, output width.
#pragma once

#include <gnas/op/fwd.hpp>
#include <gnas/op/operator.hpp>

namespace gnas::op {

// Velickovic et al. 2018: softmax_j LeakyReLU_0.2(w_l . h_i + w_r . h_j), h = x W. ab + 2b + b
// parameters.
struct Gat : Attention {
  static constexpr std::string_view name = "gat";
  template <class T>
  GNAS_HD static constexpr T score(Endpoint<T> i, Endpoint<T> j) {
    return leaky_relu(i.left + j.right, 0.2);
  }
};

// Kipf and Welling 2017: D^-1/2 (A + I) D^-1/2 x W, self-loops added where missing. ab + b.
struct Gcn : Operator {
  static constexpr std::string_view name = "gcn";
  using normalize = op::normalize::Symmetric;
  static constexpr Loops loops = Loops::add_missing;
};

// Xu et al. 2019 with eps fixed at 0: (x_i + sum_j x_j) W. ab + b.
struct Gin : Operator {
  static constexpr std::string_view name = "gin";
  static constexpr Loops loops = Loops::add;
  static constexpr Init init = Init::torch;
};

// Defferrard et al. 2016, K = 2, lambda_max = 2: x W_root - D^-1/2 A D^-1/2 x W. 2ab + b.
struct Cheb : Operator {
  static constexpr std::string_view name = "cheb";
  using normalize = op::normalize::SymmetricOut;
  static constexpr Loops loops = Loops::remove;
  static constexpr bool root = true;
  template <std::floating_point T>
  GNAS_HD static constexpr T score() {
    return T{-1};
  }
};

// Hamilton et al. 2017: mean_j(x_j) W + x_i W_root. 2ab + b.
struct Sage : Operator {
  static constexpr std::string_view name = "sage";
  using aggregate = op::aggregate::Mean;
  static constexpr bool root = true;
  static constexpr Init init = Init::torch;
};

// Bianchi et al. 2021, one stack, one layer: ReLU(D^-1/2 A D^-1/2 x W + x W_root). 2ab + b.
struct Arma : Operator {
  static constexpr std::string_view name = "arma";
  using normalize = op::normalize::Symmetric;
  static constexpr bool root = true;
  static constexpr Activation activation = Activation::relu;
};

// Morris et al. 2019 (k-GNN): sum_j(x_j) W + x_i W_root. 2ab + b.
struct Graph : Operator {
  static constexpr std::string_view name = "graph";
  static constexpr bool root = true;
  static constexpr Init init = Init::torch;
};

}  // namespace gnas::op
