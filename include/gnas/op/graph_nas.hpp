// The operators of GraphNAS (Gao et al., IJCAI 2020): seven attentions times four aggregators.
// h = x W with `heads` heads of width b; self-loops are dropped and one is added.
#pragma once

#include <gnas/op/fwd.hpp>
#include <gnas/op/operator.hpp>

#include <string_view>

namespace gnas::op {

namespace attention {

// softmax LeakyReLU_0.2(w_l . h_i + w_r . h_j)
struct Gat : Attention {
  static constexpr std::string_view name = "gat";
  template <class T>
  GNAS_HD static constexpr T score(Endpoint<T> i, Endpoint<T> j) {
    return leaky_relu(i.left + j.right, 0.2);
  }
};

// 1 / sqrt(d_i d_j)
struct Gcn : Attention {
  static constexpr std::string_view name = "gcn";
  using normalize = op::normalize::Symmetric;
};

// softmax sum_k (w_l h_i)_k (w_r h_j)_k
struct Cos : Attention {
  static constexpr std::string_view name = "cos";
  template <class T>
  GNAS_HD static constexpr T pair(T l, T r, T) {
    return l * r;
  }
};

// 1, not normalized
struct Const : Attention {
  static constexpr std::string_view name = "const";
  using normalize = op::normalize::None;
};

// softmax LeakyReLU_0.2(w_l . h_i + w_r . h_j) + LeakyReLU_0.2(w_l . h_j + w_r . h_i)
struct GatSym : Attention {
  static constexpr std::string_view name = "gat_sym";
  template <class T>
  GNAS_HD static constexpr T score(Endpoint<T> i, Endpoint<T> j) {
    return leaky_relu(i.left + j.right, 0.2) + leaky_relu(j.left + i.right, 0.2);
  }
};

// softmax tanh(w_l . h_j + w_r . h_j)
struct Linear : Attention {
  static constexpr std::string_view name = "linear";
  template <class T>
  GNAS_HD static constexpr T score(Endpoint<T>, Endpoint<T> j) {
    return tanh(j.left + j.right);
  }
};

// softmax sum_k g_k tanh(w_l h_i + w_r h_j)_k
struct GeneralizedLinear : Attention {
  static constexpr std::string_view name = "generalized_linear";
  static constexpr bool channel_vector = true;
  template <class T>
  GNAS_HD static constexpr T pair(T l, T r, T g) {
    return g * tanh(l + r);
  }
};

}  // namespace attention

// mean, max and mlp pass each message through two dense layers b -> 128 -> b without an activation
// between. A linear map commutes with the scalar attention weight, so the layers run once a node
// and only their bias is left for the row: exact, and E * b * 128 multiplications cheaper.
namespace aggregator {
struct Sum {
  static constexpr std::string_view name = "sum";
  using aggregate = op::aggregate::Sum;
  static constexpr int message_hidden = 0;
};
struct Mean {
  static constexpr std::string_view name = "mean";
  using aggregate = op::aggregate::Mean;
  static constexpr int message_hidden = 128;
};
struct Max {
  static constexpr std::string_view name = "max";
  using aggregate = op::aggregate::Max;
  static constexpr int message_hidden = 128;
};
struct Mlp {
  static constexpr std::string_view name = "mlp";
  using aggregate = op::aggregate::Sum;
  static constexpr int message_hidden = 128;
};
}  // namespace aggregator

namespace detail {
// "gat" and "max" to "gat_max", at compile time.
template <class Attention, class Aggregator>
struct JoinedName {
  static constexpr std::size_t size = Attention::name.size() + 1 + Aggregator::name.size();
  struct Text {
    char at[size];
  };
  static constexpr Text text = [] {
    Text t{};
    std::size_t n = 0;
    for (char c : Attention::name) t.at[n++] = c;
    t.at[n++] = '_';
    for (char c : Aggregator::name) t.at[n++] = c;
    return t;
  }();
};
}  // namespace detail

template <class Attention, class Aggregator>
struct GraphNas : Attention {
  using Joined = detail::JoinedName<Attention, Aggregator>;
  static constexpr std::string_view name{Joined::text.at, Joined::size};
  using score_of = Attention;  // where the score comes from: aggregators share its kernels
  using aggregate = typename Aggregator::aggregate;
  static constexpr int message_hidden = Aggregator::message_hidden;
};

}  // namespace gnas::op
