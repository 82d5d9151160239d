// Row bodies with four lanes against one lane: the split of work over lanes, without a device.
#include "../support/graphs.hpp"
#include "../support/reference.hpp"

#include <gnas/graph/shard.hpp>
#include <gnas/kernel/aggregate_grad.hpp>
#include <gnas/kernel/sparse_row.hpp>
#include <gnas/op/graph_nas.hpp>
#include <gnas/op/nas_bench.hpp>
#include <gnas/testing/lockstep.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

static_assert(gnas::Group<gnas::testing::LockstepGroup>);

namespace {

struct PlainMax : gnas::op::Operator {
  static constexpr std::string_view name = "plain_max";
  using aggregate = gnas::op::aggregate::Max;
};
struct GatMax : gnas::op::Gat {
  static constexpr std::string_view name = "gat_max";
  using aggregate = gnas::op::aggregate::Max;
};

struct Buffers {
  std::vector<float> value, left, right, channel_left, channel_right, vector, out, lse, upstream,
      delta, score_grad, value_grad, left_grad, right_grad, channel_grad, sum_left, sum_right,
      sum_vector;
  std::vector<std::int32_t> arg;
};

template <class Op>
Buffers run(gnas::GraphVariant<float> const& g, int heads, int width, int lanes) {
  std::size_t const R = static_cast<std::size_t>(g.csr.num_rows),
                    S = static_cast<std::size_t>(g.csr.num_cols),
                    E = static_cast<std::size_t>(g.csr.num_edges()),
                    H = static_cast<std::size_t>(heads), F = H * static_cast<std::size_t>(width);
  Buffers b;
  auto const fill = [](std::vector<float>& v, std::size_t n, std::uint64_t seed) {
    v.resize(n);
    for (std::size_t k = 0; k < n; ++k)
      v[k] = static_cast<float>(gnas_test::draw(seed, k, 256)) / 128 - 1;
  };
  fill(b.value, S * F, 1);
  fill(b.left, S * H, 2);
  fill(b.right, S * H, 3);
  fill(b.channel_left, F, 4);
  fill(b.channel_right, F, 5);
  fill(b.vector, static_cast<std::size_t>(width), 6);
  fill(b.upstream, R * F, 7);
  b.out.assign(R * F, -9);
  b.arg.assign(R * F, -9);
  b.lse.assign(R * H, -9);
  b.delta.assign(R * H, 0);
  b.score_grad.assign(E * H, 0);
  b.value_grad.assign(S * F, -9);
  b.left_grad.assign(S * H, -9);
  b.right_grad.assign(S * H, -9);
  b.channel_grad.assign(S * F, -9);
  b.sum_left.assign(F, 0);
  b.sum_right.assign(F, 0);
  b.sum_vector.assign(F, 0);
  gnas::AggregateGradArgs<float> a;
  a.forward.graph = g.csr.view();
  a.forward.heads = heads;
  a.forward.width = width;
  a.forward.row_scale = g.inv_degree.data();
  a.forward.value = a.forward.channel = b.value.data();
  a.forward.value_ld = a.forward.channel_ld = static_cast<std::int64_t>(F);
  a.forward.left = b.left.data();
  a.forward.right = b.right.data();
  a.forward.channel_left = b.channel_left.data();
  a.forward.channel_right = b.channel_right.data();
  a.forward.channel_vector = b.vector.data();
  a.forward.out = b.out.data();
  a.forward.out_ld = static_cast<std::int64_t>(F);
  a.forward.lse = b.lse.data();
  a.forward.arg = b.arg.data();
  a.transposed = g.transposed.csr.view();
  a.perm = g.transposed.perm.data();
  a.upstream = b.upstream.data();
  a.upstream_ld = static_cast<std::int64_t>(F);
  a.delta = b.delta.data();
  a.score_grad = b.score_grad.data();
  a.value_grad = b.value_grad.data();
  a.value_grad_ld = static_cast<std::int64_t>(F);
  a.left_grad = b.left_grad.data();
  a.right_grad = b.right_grad.data();
  a.channel_grad = b.channel_grad.data();
  a.channel_grad_ld = static_cast<std::int64_t>(F);
  gnas::ChannelSums<float> const sums{b.sum_left.data(), b.sum_right.data(), b.sum_vector.data()};
  std::vector<float> scratch(static_cast<std::size_t>(gnas::row_scratch(heads)));
  auto const all = [&](auto const& group) {
    for (gnas::NodeId i = 0; i < g.csr.num_rows; ++i)
      gnas::aggregate_row<Op>(group, a.forward, i, scratch.data(), static_cast<int>(F));
    group.sync();
    if (group.rank() == 0) {
      for (std::size_t i = 0; i < R * H; ++i) {
        for (std::size_t d = 0; d < F / H; ++d)
          b.delta[i] += b.upstream[i * (F / H) + d] * b.out[i * (F / H) + d];
      }
    }
    group.sync();
    for (gnas::NodeId j = 0; j < g.csr.num_cols; ++j)
      gnas::aggregate_grad_column<Op>(group, a, j, scratch.data(), sums);
    group.sync();
    for (gnas::NodeId i = 0; i < g.csr.num_rows; ++i)
      gnas::aggregate_grad_row<Op>(group, a, i, sums);
  };
  if (lanes == 1) {
    all(gnas::SerialGroup{});
  } else {
    gnas::testing::in_lockstep(lanes, all);
  }
  return b;
}

template <class Op>
void compare(char const* name) {
  for (auto const& graph : gnas_test::nasty_graphs()) {
    gnas::Dataset const data = gnas_test::make_dataset(graph, 3);
    gnas::Shard<float> shard(data);
    auto const all = gnas::RowSet::all(data.num_nodes());
    auto const g = shard.variant(Op::loops, all, all);
    for (auto [heads, width] : {std::pair{1, 7}, std::pair{3, 5}, std::pair{2, 16}}) {
      Buffers const one = run<Op>(*g, heads, width, 1), four = run<Op>(*g, heads, width, 4);
      INFO(name << " on " << graph.name << ", heads " << heads << ", width " << width);
      CHECK(gnas_test::difference(four.out, one.out) < 1e-5);
      CHECK(gnas_test::difference(four.value_grad, one.value_grad) < 1e-5);
      CHECK(gnas_test::difference(four.score_grad, one.score_grad) < 1e-5);
      CHECK(gnas_test::difference(four.left_grad, one.left_grad) < 1e-5);
      CHECK(gnas_test::difference(four.right_grad, one.right_grad) < 1e-5);
      CHECK(gnas_test::difference(four.channel_grad, one.channel_grad) < 1e-5);
      CHECK(gnas_test::difference(four.sum_left, one.sum_left) < 1e-5);
      CHECK(gnas_test::difference(four.sum_right, one.sum_right) < 1e-5);
      CHECK(gnas_test::difference(four.sum_vector, one.sum_vector) < 1e-5);
    }
  }
}

}  // namespace

TEST_CASE("four lanes give what one lane gives: softmax attention") {
  compare<gnas::op::Gat>("gat");
}
TEST_CASE("four lanes give what one lane gives: weighted sums") { compare<gnas::op::Sage>("sage"); }
TEST_CASE("four lanes give what one lane gives: maxima") {
  compare<PlainMax>("max");
  compare<GatMax>("gat max");
}
TEST_CASE("four lanes give what one lane gives: channel scores") {
  compare<gnas::op::attention::GeneralizedLinear>("generalized linear");
  compare<gnas::op::attention::Cos>("cos");
}

TEST_CASE("sparse rows skip zeros and give the dense product") {
  gnas::Dataset const d = gnas_test::make_dataset(gnas_test::nasty_graphs().back(), 30);
  gnas::Shard<double> shard(d);
  auto const& f = shard.features();
  std::vector<double> dense(30 * 5), out(5), expected(5);
  for (std::size_t k = 0; k < dense.size(); ++k) dense[k] = gnas_test::draw(1, k, 64) / 32.0 - 1;
  for (int i = 0; i < f.rows; ++i) {
    std::fill(expected.begin(), expected.end(), 0.0);
    for (auto e = f.row_ptr[static_cast<std::size_t>(i)];
         e < f.row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
      for (std::size_t c = 0; c < 5; ++c) {
        expected[c] += f.value[static_cast<std::size_t>(e)] *
                       dense[static_cast<std::size_t>(f.col[static_cast<std::size_t>(e)]) * 5 + c];
      }
    }
    gnas::sparse_row(gnas::SerialGroup{}, f.view(), nullptr, f.value.data(), i, dense.data(), 5, 5,
                     out.data(), false);
    CHECK(gnas_test::difference(out, expected) < 1e-14);
  }
}
