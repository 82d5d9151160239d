#include "../support/graphs.hpp"
#include "../support/reference.hpp"

#include <gnas/model/arena.hpp>
#include <gnas/space/graph_nas.hpp>
#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/train/trainer.hpp>

#include <catch2/catch.hpp>

namespace {

using Space = gnas::space::NasBenchGraph;

gnas::Dataset sparse_graph() {
  gnas_test::NamedGraph g{"ring with chords", 200, {}};
  for (int i = 0; i < 200; ++i) {
    g.edges.push_back({i, (i + 1) % 200});
    g.edges.push_back({(i + 1) % 200, i});
    if (i % 9 == 0) g.edges.push_back({i, (i * 7) % 200});
  }
  return gnas_test::make_dataset(g, 12);
}

}  // namespace

TEST_CASE("a plan for few rows gives the same logits as one for all rows") {
  gnas::Dataset const data = sparse_graph();
  gnas::Shard<double> shard(data);
  gnas::Pool pool(1);
  auto const check = [&](gnas::OperatorTable<double> ops, gnas::ModelSpec const& spec) {
    gnas::CpuExecutor<double> executor(shard, pool, ops.functions);
    gnas::RowSet const few = gnas::RowSet::of(200, {3, 17, 18, 90, 151});
    for (bool training : {true, false}) {
      auto const whole =
          gnas::make_plan<double>(spec, ops.infos, shard, gnas::RowSet::all(200), training);
      auto const part = gnas::make_plan<double>(spec, ops.infos, shard, few, training);
      gnas::ModelState<double> state(whole.layout, 0);
      gnas::initialize<double>(state, whole.layout, spec, ops.infos, gnas::philox_key(3));
      gnas::ModelState<double> same = state;
      executor.prepare(whole);
      executor.prepare(part);
      executor.forward(whole, state, {1, 2}, 5);
      std::vector<double> expected, got;
      auto const a = executor.logits(whole);
      for (gnas::NodeId k = 0; k < few.size(); ++k)
        expected.insert(expected.end(), a.row(few.node(k)), a.row(few.node(k)) + a.cols);
      executor.forward(part, same, {1, 2}, 5);
      auto const b = executor.logits(part);
      for (std::int64_t r = 0; r < b.rows; ++r) got.insert(got.end(), b.row(r), b.row(r) + b.cols);
      CHECK(b.rows == few.size());
      CHECK(gnas_test::difference(got, expected) < 1e-12);
      CHECK(part.bytes() < whole.bytes());
    }
  };
  Space const space{.pre = 1, .post = 1, .hidden = 8, .dropout = 0.4};
  for (char const* text :
       {"0,1,2,3:gat,gcn,gin,cheb", "0,0,1,1:sage,arma,graph,gat", "0,1,1,3:skip,graph,fc,sage"}) {
    check(gnas::operator_table<Space::operators, double>(), space.decode(space.parse(text), 12, 3));
  }
  gnas::space::GraphNas const macro;
  for (char const* text : {"cos,max,relu,2,8;gcn,mlp,linear,4,-",
                           "generalized_linear,mean,tanh,2,4;gat_sym,sum,elu,2,-"}) {
    check(gnas::operator_table<gnas::space::GraphNas::operators, double>(),
          macro.decode(macro.parse(text), 12, 3));
  }
}

TEST_CASE("gradients are the same whether a loss needs few rows or is given zeros on the others") {
  gnas::Dataset data = sparse_graph();
  data.splits[0].train = {3, 17, 18, 90, 151};
  gnas::Shard<double> shard(data);
  Space const space{.pre = 0, .post = 1, .hidden = 8, .dropout = 0.4};
  auto const spec = space.decode(space.parse("0,1,1,2:gat,gcn,sage,cheb"), 12, 3);
  gnas::TrainConfig config;
  gnas::Trainer<Space::operators, double> trainer(shard, spec, config);
  std::vector<double> few(static_cast<std::size_t>(trainer.parameters()), 0.0), all = few;
  trainer.loss_and_gradients(1, few);

  auto const ops = gnas::operator_table<Space::operators, double>();
  gnas::Pool pool(2);
  gnas::CpuExecutor<double> executor(shard, pool, ops.functions);
  auto const plan = gnas::make_plan<double>(spec, ops.infos, shard, gnas::RowSet::all(200), true);
  executor.prepare(plan);
  executor.forward(plan, trainer.state(), gnas::philox_key(config.seed), 1);
  std::vector<std::int32_t> labels(200, -1);
  for (auto i : data.splits[0].train)
    labels[static_cast<std::size_t>(i)] = data.labels[static_cast<std::size_t>(i)];
  gnas::cross_entropy<double>(pool, executor.logits(plan), labels, 5, executor.logits_grad(plan));
  executor.backward(all);
  CHECK(gnas_test::difference(few, all) < 1e-12);
}

TEST_CASE("the arena never gives two living buffers the same bytes") {
  gnas::ArenaLayout layout;
  for (std::uint64_t k = 0; k < 60; ++k) {
    int const b = layout.add(1 + gnas_test::draw(1, k, 5000));
    int const first = gnas_test::draw(2, k, 40);
    layout.touch(b, first);
    layout.touch(b, first + gnas_test::draw(3, k, 15));
  }
  layout.pack();
  std::int64_t sum = 0;
  for (int a = 0; a < 60; ++a) {
    sum += layout.at(a).bytes;
    CHECK(layout.at(a).offset + layout.at(a).bytes <= layout.bytes());
    for (int b = 0; b < a; ++b) {
      auto const &x = layout.at(a), &y = layout.at(b);
      bool const together = x.first <= y.last && y.first <= x.last;
      bool const overlap = x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
      CHECK_FALSE((together && overlap));
    }
  }
  CHECK(layout.bytes() < sum);
}

TEST_CASE("specs that break a rule are refused with layer and rule") {
  using Ops = Space::operators;
  static constexpr auto infos = Ops::infos();
  auto const refuse = [&](gnas::ModelSpec const& s, char const* text) {
    CHECK_THROWS_WITH(gnas::param_layout(s, infos), Catch::Contains(text));
  };
  gnas::ModelSpec s{.in_features = 4, .num_classes = 2, .layers = {}};
  refuse(s, "layer 0 must be the input");
  s.input();
  gnas::ModelSpec t = s;
  t.dense(0, 3);
  refuse(t, "there are 2 classes");
  t = s;
  t.dense(5, 2);
  refuse(t, "layer 1 reads layer 5");
  t = s;
  t.push({.kind = gnas::LayerKind::message, .inputs = {0}, .out = 2, .op = 9});
  refuse(t, "names operator 9 of 7");
  t = s;
  t.dense(t.add({t.dense(0, 3), t.dense(0, 2)}), 2);
  refuse(t, "adds widths 3 and 2");
  t = s;
  t.dense(t.dropout(0, 1.0), 2);
  refuse(t, "needs 0 <= p < 1");
  gnas::Dataset const data = sparse_graph();
  gnas::Shard<float> shard(data);
  t = {.in_features = 12, .num_classes = 3, .layers = {}};
  t.dense(t.batch_norm(t.input()), 3);
  CHECK_THROWS_WITH(gnas::make_plan<float>(t, infos, shard, gnas::RowSet::all(200), true),
                    Catch::Contains("batch norm of sparse features"));
}
