#include "../support/graphs.hpp"
#include "../support/reference.hpp"

#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/space/reference.hpp>
#include <gnas/train/trainer.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace {

using Space = gnas::space::NasBenchGraph;

gnas::TrainConfig config() {
  gnas::TrainConfig c;
  c.lr = 0.02;
  c.epochs = 12;
  c.seed = 3;
  c.keep_history = true;
  c.keep_best_state = true;
  return c;
}

gnas::ModelSpec spec(gnas::Dataset const& d, char const* text = "0,0,1,2:gat,cheb,gin,sage") {
  Space const space{.pre = 0, .post = 1, .hidden = 16, .dropout = 0.5};
  return space.decode(space.parse(text), d.features.cols, d.num_classes);
}

void check_equal(gnas::TrainResult const& a, gnas::TrainResult const& b) {
  CHECK(a.val == b.val);
  CHECK(a.test == b.test);
  CHECK(a.best_epoch == b.best_epoch);
  REQUIRE(a.history.size() == b.history.size());
  for (std::size_t k = 0; k < a.history.size(); ++k) CHECK(a.history[k].loss == b.history[k].loss);
  CHECK(a.best_state == b.best_state);
}

}  // namespace

TEST_CASE("a model learns two communities") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  auto c = config();
  c.epochs = 40;
  gnas::Trainer<Space::operators> trainer(shard, spec(d), c);
  auto const r = trainer.run();
  CHECK(r.status == gnas::Status::completed);
  CHECK(r.epochs == 40);
  CHECK(r.val > 0.8);
  CHECK(r.history.back().loss < r.history.front().loss);
}

TEST_CASE("one, two and three threads give the same bits (O08)") {
  gnas::Dataset const d = gnas_test::two_communities(700);
  gnas::Shard<float> shard(d);
  auto c = config();
  auto const one = gnas::Trainer<Space::operators>(shard, spec(d), c).run();
  for (int threads : {2, 3}) {
    c.threads = threads;
    check_equal(one, gnas::Trainer<Space::operators>(shard, spec(d), c).run());
  }
}

TEST_CASE(
    "a training that is put away and taken up again continues to the bit, with Adam and dropout "
    "(T04)") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  for (auto optimizer : {gnas::Optimizer::adam, gnas::Optimizer::sgd}) {
    auto c = config();
    c.optimizer = optimizer;
    c.momentum = 0.9;
    auto const whole = gnas::Trainer<Space::operators>(shard, spec(d), c).run();
    gnas::Trainer<Space::operators> first(shard, spec(d), c);
    auto const half = first.run([](gnas::EpochMetrics const& m) { return m.epoch < 5; });
    CHECK(half.status == gnas::Status::interrupted);
    CHECK(half.epochs == 5);
    auto const bytes = first.checkpoint();
    gnas::Trainer<Space::operators> second(shard, spec(d), c);
    second.restore(bytes);
    check_equal(whole, second.run());
    // Damaged or foreign bytes are refused.
    auto cut = bytes;
    cut.resize(cut.size() - 9);
    CHECK_THROWS_AS((gnas::Trainer<Space::operators>(shard, spec(d), c).restore(cut)),
                    gnas::InvalidArgument);
    CHECK_THROWS_WITH((gnas::Trainer<Space::operators>(shard, spec(d, "0,0,0,0:gcn,gcn,gcn,gcn"), c)
                           .restore(bytes)),
                      Catch::Contains("another model"));
  }
}

TEST_CASE("the reported epoch is the first that reached the best validation accuracy (T06)") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  auto c = config();
  c.epochs = 30;
  auto const r = gnas::Trainer<Space::operators>(shard, spec(d), c).run();
  double best = 0;
  int first = 0;
  double test = 0;
  for (auto const& m : r.history) {
    if (first == 0 || m.val > best) {
      best = m.val;
      first = m.epoch;
      test = m.test;
    }
  }
  CHECK(r.best_epoch == first);
  CHECK(r.val == best);
  CHECK(r.test == test);
}

TEST_CASE("patience stops a training that no longer improves") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  auto c = config();
  c.epochs = 500;
  c.patience = 6;
  auto const r = gnas::Trainer<Space::operators>(shard, spec(d), c).run();
  CHECK(r.status == gnas::Status::completed);
  CHECK(r.epochs < 500);
  CHECK(r.epochs == r.best_epoch + 6);
}

TEST_CASE("selection by accuracy and loss reports the last epoch where both are at their best") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  auto c = config();
  c.epochs = 400;
  c.patience = 8;
  c.selection = gnas::Selection::accuracy_and_loss;
  auto const r = gnas::Trainer<Space::operators>(shard, spec(d), c).run();
  double accuracy = -1, loss = 1e300;
  int counts = 0, better = 0, end = 0;
  for (auto const& m : r.history) {
    CHECK(m.val_loss > 0);
    if (m.val >= accuracy && m.val_loss <= loss) counts = m.epoch;
    if (m.val >= accuracy || m.val_loss <= loss) better = m.epoch;
    accuracy = std::max(accuracy, m.val);
    loss = std::min(loss, m.val_loss);
    end = m.epoch;
    if (m.epoch - better >= c.patience) break;
  }
  CHECK(r.best_epoch == counts);
  CHECK(r.val == r.history[static_cast<std::size_t>(counts - 1)].val);
  CHECK(r.epochs == end);
  CHECK(end < 400);
  // The rule's own state goes through a checkpoint.
  gnas::Trainer<Space::operators> first(shard, spec(d), c), second(shard, spec(d), c);
  for (int k = 0; k < end / 2; ++k) first.epoch();
  second.restore(first.checkpoint());
  auto const resumed = second.run();
  check_equal(r, resumed);
  CHECK(resumed.epochs == r.epochs);
}

TEST_CASE("a loss that is no number is a status with its epoch, not a crash (S05)") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  auto c = config();
  c.lr = 1e30;
  c.optimizer = gnas::Optimizer::sgd;
  auto const r =
      gnas::Trainer<Space::operators>(shard, spec(d, "0,1,2,3:gin,gin,gin,gin"), c).run();
  CHECK(r.status == gnas::Status::diverged);
  CHECK_THAT(r.reason, Catch::Contains("loss of epoch"));
}

TEST_CASE("the time limit ends a training with what it reached") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  auto c = config();
  c.epochs = 1000000;
  c.time_limit_s = 1e-9;
  auto const r = gnas::Trainer<Space::operators>(shard, spec(d), c).run();
  CHECK(r.status == gnas::Status::timed_out);
  CHECK(r.epochs == 1);
  CHECK(r.best_epoch == 1);
}

TEST_CASE("splits and settings that cannot work are refused before anything is trained (T03)") {
  gnas::Dataset d = gnas_test::two_communities();
  d.splits[0].val.clear();
  gnas::Shard<float> shard(d);
  CHECK_THROWS_WITH((gnas::Trainer<Space::operators>(shard, spec(d), config())),
                    Catch::Contains("no validation nodes"));
  auto c = config();
  c.split = "geom0";
  CHECK_THROWS_WITH((gnas::Trainer<Space::operators>(shard, spec(d), c)),
                    Catch::Contains("no split named 'geom0'; it has all"));
  d = gnas_test::two_communities();
  c = config();
  c.lr = 0;
  CHECK_THROWS_WITH((gnas::Trainer<Space::operators>(shard, spec(d), c)),
                    Catch::Contains("lr is 0, it must be a number above 0"));
}

TEST_CASE("each setting of a training has its range, and the one outside it is named") {
  auto const message = [](auto change) -> std::string {
    gnas::TrainConfig c;
    change(c);
    try {
      check_settings(c);
    } catch (gnas::InvalidArgument const& e) {
      return e.what();
    }
    return "";
  };
  double const nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  using C = gnas::TrainConfig;
  CHECK(message([](C&) {}).empty());
  CHECK(message([&](C& c) { c.lr = nan; }) == "training: lr is nan, it must be a number above 0");
  CHECK(message([&](C& c) { c.lr = inf; }) == "training: lr is inf, it must be a number above 0");
  CHECK(message([](C& c) { c.weight_decay = -1e-9; }) ==
        "training: weight_decay is -1e-09, it must be a number of at least 0");
  CHECK(message([](C& c) { c.weight_decay = 0; }).empty());
  CHECK(message([&](C& c) { c.momentum = nan; }) ==
        "training: momentum is nan, it must be a number of at least 0");
  CHECK(message([](C& c) { c.time_limit_s = -1; }) ==
        "training: time_limit_s is -1, it must be a number of at least 0");
  CHECK(message([](C& c) { c.epochs = 0; }) == "training: epochs is 0, it must be at least 1");
  CHECK(message([](C& c) { c.patience = -1; }) ==
        "training: patience is -1, it must be at least 0 (0 = never stop early)");
  CHECK(message([](C& c) { c.threads = 1025; }) ==
        "training: threads is 1025, it must be in 1..1024");
}

TEST_CASE("nodes without a label take no part in a split") {
  gnas::Dataset d = gnas_test::two_communities();
  d.labels[0] = -1;
  gnas::Shard<float> shard(d);
  CHECK(gnas::trainable(d, d.splits[0]).train.size() + 1 == d.splits[0].train.size());
  auto const r = gnas::Trainer<Space::operators>(shard, spec(d), config()).run();
  CHECK(r.status == gnas::Status::completed);
}

TEST_CASE("batch norm of a single node gives numbers, not NaN (O10)") {
  gnas::Dataset d = gnas_test::make_dataset({"one node", 1, {}}, 4);
  d.splits[0].train = d.splits[0].val = d.splits[0].test = {0};
  gnas::Shard<float> shard(d);
  auto const r =
      gnas::Trainer<Space::operators>(shard, spec(d, "0,1,2,3:gat,gcn,sage,cheb"), config()).run();
  CHECK(r.status == gnas::Status::completed);
  CHECK(std::isfinite(r.history.back().loss));
}

TEST_CASE("memory is known before anything is allocated and covers the arena and the state") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  gnas::Trainer<Space::operators> trainer(shard, spec(d), config());
  std::int64_t const before = trainer.memory_bytes();
  CHECK(before > 4 * 4 * trainer.parameters());
  trainer.epoch();
  CHECK(trainer.result().memory_bytes == before);
}

TEST_CASE("saved weights give the same predictions in another trainer") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  gnas::Trainer<Space::operators> a(shard, spec(d), config());
  auto const r = a.run();
  gnas::Trainer<Space::operators> b(shard, spec(d), config());
  auto block = b.state().block();
  REQUIRE(block.size() == r.best_state.size());
  std::copy(r.best_state.begin(), r.best_state.end(), block.begin());
  auto const [val, test] = b.accuracy();
  CHECK(val == r.val);
  CHECK(test == r.test);
}

TEST_CASE("optimizers follow PyTorch's paths") {
  gnas_test::Reference const ref("optimizers");
  int checked = 0;
  for (auto const& c : ref.cases) {
    std::string const& id = c.at("case");
    if (!ref.has(id, "p0")) continue;
    gnas::TrainConfig config;
    config.optimizer = c.at("optimizer") == "adam" ? gnas::Optimizer::adam : gnas::Optimizer::sgd;
    config.lr = std::stod(c.at("lr"));
    config.weight_decay = std::stod(c.at("weight_decay"));
    config.momentum = std::stod(c.at("momentum"));
    auto const p0 = ref.get(id, "p0"), grads = ref.get(id, "grads"), path = ref.get(id, "p");
    gnas::ParamLayout layout;
    layout.params.push_back({.layer = 0,
                             .role = gnas::Role::weight,
                             .rows = 1,
                             .cols = static_cast<int>(p0.size()),
                             .offset = 0,
                             .decay = true});
    layout.size = static_cast<std::int64_t>(p0.size());
    gnas::ModelState<double> state(layout, gnas::moments_of(config));
    std::copy(p0.begin(), p0.end(), state.params().begin());
    gnas::Pool pool(1);
    std::vector<double> mine;
    for (std::size_t step = 0; step < grads.size() / p0.size(); ++step) {
      gnas::optimizer_step<double>(pool, config, layout, state,
                                   std::span(grads).subspan(step * p0.size(), p0.size()));
      mine.insert(mine.end(), state.params().begin(), state.params().end());
    }
    INFO(id);
    CHECK(gnas_test::difference(mine, path) < 1e-10);
    ++checked;
  }
  CHECK(checked >= 6);
}

TEST_CASE("GCN and GAT reference models train, weight decay on GCN's first layer only") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Shard<float> shard(d);
  gnas::space::Reference const space;
  for (char const* name : {"gcn", "gat", "gat-pubmed"}) {
    auto const s = space.decode(space.parse(name), d.features.cols, d.num_classes);
    auto c = config();
    c.epochs = 40;
    CHECK(gnas::Trainer<gnas::space::Reference::operators>(shard, s, c).run().val > 0.7);
  }
  auto const s = space.decode(space.parse("gcn"), d.features.cols, d.num_classes);
  CHECK(s.layers[2].decay);
  CHECK_FALSE(s.layers.back().decay);
}
