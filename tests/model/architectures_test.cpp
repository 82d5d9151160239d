// Whole NAS-Bench-Graph networks against PyTorch Geometric: loss, all gradients, batch-norm
// statistics, evaluation logits.
#include "../support/graphs.hpp"
#include "../support/reference.hpp"

#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/train/optimizer.hpp>
#include <gnas/train/trainer.hpp>

#include <catch2/catch.hpp>

namespace {

using gnas::LayerKind;
using gnas::Role;
using Space = gnas::space::NasBenchGraph;

// The reference's name of a parameter's owner: "pre0", "op2", "bn1", "out", "post0", by the order
// of layers.
struct Namer {
  gnas::ModelSpec const& spec;
  gnas::ArchCode const& code;
  int pre;
  std::map<int, std::string> owner;

  Namer(gnas::ModelSpec const& s, gnas::ArchCode const& c, int p) : spec(s), code(c), pre(p) {
    // Walk the layers as decode() made them: dropout, pre layers, then for each operator its batch
    // norm chain and itself.
    std::size_t l = 2;
    for (int k = 0; k < pre; ++k) {
      owner[static_cast<int>(l)] = "pre" + std::to_string(k);
      l += k == pre - 2 ? 2 : 1;
    }
    for (int i = 0; i < 4; ++i) {
      if (l < spec.layers.size() && spec.layers[l].kind == LayerKind::batch_norm) {
        owner[static_cast<int>(l)] = "bn" + std::to_string(i);
        l += 3;
      }
      if (code[static_cast<std::size_t>(4 + i)] != Space::kSkip)
        owner[static_cast<int>(l++)] = "op" + std::to_string(i);
    }
    l += 2;  // concat, relu
    owner[static_cast<int>(l++)] = "out";
    for (int k = 0; l < spec.layers.size(); ++l) {
      if (spec.layers[l].kind == LayerKind::dense)
        owner[static_cast<int>(l)] = "post" + std::to_string(k++);
    }
  }
  std::string name(gnas::Param const& p) const {
    static std::map<Role, std::string> const role = {
        {Role::weight, "W"},      {Role::root, "W_root"}, {Role::left, "att_dst"},
        {Role::right, "att_src"}, {Role::bias, "bias"},   {Role::bn_scale, "scale"},
        {Role::bn_shift, "shift"}};
    return owner.at(p.layer) + "." + role.at(p.role);
  }
};

template <class T>
void check(gnas_test::Reference const& ref, std::map<std::string, std::string> const& c,
           double tolerance) {
  std::string const& id = c.at("case");
  auto const number = [&](char const* key) { return std::stoi(c.at(key)); };
  Space const space{.pre = number("num_pre"),
                    .post = number("num_post"),
                    .hidden = number("hidden"),
                    .dropout = 0};
  std::string link;
  for (char ch : c.at("link")) link += (link.empty() ? "" : ",") + std::string(1, ch);
  gnas::ArchCode const code = space.parse(link + ":" + c.at("ops"));
  gnas::ModelSpec const spec = space.decode(code, number("features"), number("classes"));
  INFO(id << " " << space.to_text(code));

  int const n = number("nodes"), F = number("features");
  gnas_test::NamedGraph graph{id, n, {}};
  auto const src = ref.get<int>(id, "src"), dst = ref.get<int>(id, "dst");
  for (std::size_t e = 0; e < src.size(); ++e) graph.edges.push_back({src[e], dst[e]});
  gnas::Dataset d = gnas_test::make_dataset(graph, F, 1, true);
  d.features.value = ref.get<float>(id, "x");
  d.labels = ref.get<std::int32_t>(id, "labels");
  d.num_classes = number("classes");
  d.splits[0].train = ref.get<std::int32_t>(id, "train");
  std::sort(d.splits[0].train.begin(), d.splits[0].train.end());
  d.splits[0].val.clear();
  for (int i = 0; i < n; ++i) d.splits[0].val.push_back(i);
  d.splits[0].test = d.splits[0].val;

  gnas::Shard<T> shard(d);
  gnas::TrainConfig config;
  config.optimizer = gnas::Optimizer::sgd;
  config.lr = 0.1;
  config.weight_decay = 5e-4;
  gnas::Trainer<Space::operators, T> trainer(shard, spec, config);
  Namer const namer(spec, code, space.pre);
  auto params = trainer.state().params();
  for (gnas::Param const& p : trainer.layout().params) {
    auto const v = ref.get<T>(id, namer.name(p));
    REQUIRE(static_cast<std::int64_t>(v.size()) == p.size());
    std::copy(v.begin(), v.end(), params.begin() + p.offset);
  }
  std::vector<T> grads(params.size(), T{0});
  double const loss = trainer.loss_and_gradients(1, grads);
  CHECK(std::abs(loss - ref.get(id, "loss")[0]) < tolerance);
  double scale = 0;
  for (gnas::Param const& p : trainer.layout().params) {
    for (double v : ref.get(id, namer.name(p) + ".grad")) scale = std::max(scale, std::abs(v));
  }
  for (gnas::Param const& p : trainer.layout().params) {
    std::vector<T> const mine(grads.begin() + p.offset, grads.begin() + p.offset + p.size());
    auto const expected = ref.get(id, namer.name(p) + ".grad");
    double worst = 0;
    for (std::size_t k = 0; k < mine.size(); ++k)
      worst = std::max(worst, std::abs(static_cast<double>(mine[k]) - expected[k]));
    INFO(namer.name(p));
    CHECK(worst < tolerance * std::max(scale, 1.0));
  }
  for (std::size_t l = 0; l < trainer.layout().running.size(); ++l) {
    std::int64_t const at = trainer.layout().running[l];
    if (at < 0) continue;
    std::string const name = namer.owner.at(static_cast<int>(l));
    auto const mean = ref.get(id, name + ".running_mean"), var = ref.get(id, name + ".running_var");
    auto const first = trainer.state().statistics().begin() + at;
    auto const width = static_cast<std::ptrdiff_t>(mean.size());
    CHECK(gnas_test::difference(std::vector<T>(first, first + width), mean) < tolerance);
    CHECK(gnas_test::difference(std::vector<T>(first + width, first + 2 * width), var) < tolerance);
  }
  gnas::Pool pool(1);
  gnas::optimizer_step<T>(pool, config, trainer.layout(), trainer.state(), grads);
  auto const logits = trainer.all_logits();
  std::vector<T> mine;
  for (std::int64_t r = 0; r < logits.rows; ++r)
    mine.insert(mine.end(), logits.row(r), logits.row(r) + logits.cols);
  CHECK(gnas_test::difference(mine, ref.get(id, "logits_eval")) < 10 * tolerance);
}

}  // namespace

TEST_CASE("twenty architectures agree with PyTorch Geometric in double and in float") {
  gnas_test::Reference const ref("architectures");
  int checked = 0;
  for (auto const& c : ref.cases) {
    bool const twice = c.at("dtype") == "f64";
    if (twice) check<double>(ref, c, 1e-10);
    check<float>(ref, c, 1e-5);
    ++checked;
  }
  CHECK(checked >= 20);
}
