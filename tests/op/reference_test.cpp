// Operators against PyTorch Geometric and against a dense implementation of GraphNAS's formulas:
// forward and all gradients. Tolerances: 1e-10 in double; 1e-5 of the largest entry in float.
#include "../support/reference.hpp"

#include "../support/run_layer.hpp"

#include <gnas/op/graph_nas.hpp>
#include <gnas/op/nas_bench.hpp>
#include <gnas/space/graph_nas.hpp>
#include <gnas/space/nas_bench_graph.hpp>

#include <catch2/catch.hpp>

namespace {

using gnas::Role;
using gnas_test::Reference;

gnas_test::NamedGraph graph_of(Reference const& ref, std::string const& id, int nodes) {
  gnas_test::NamedGraph g{id, nodes, {}};
  auto const src = ref.get<int>(id, "src"), dst = ref.get<int>(id, "dst");
  for (std::size_t e = 0; e < src.size(); ++e) g.edges.push_back({src[e], dst[e]});
  return g;
}

// Runs a case in T and gives the largest difference over output and gradients.
template <class Ops, class T>
double check_case(Reference const& ref, std::string const& id, int nodes,
                  gnas::LayerSpec const& layer, int in, std::map<std::string, Role> const& keys) {
  std::map<Role, std::vector<T>> params;
  for (auto const& [key, role] : keys) {
    if (ref.has(id, key)) params[role] = ref.get<T>(id, key);
  }
  auto const run = gnas_test::run_layer<Ops, T>(graph_of(ref, id, nodes), layer, in,
                                                ref.get<T>(id, "x"), params, ref.get<T>(id, "g"));
  double worst = gnas_test::difference(run.y, ref.get(id, "y"));
  worst = std::max(worst, gnas_test::difference(run.x_grad, ref.get(id, "x.grad")));
  for (auto const& [key, role] : keys) {
    if (!ref.has(id, key)) continue;
    worst = std::max(worst, gnas_test::difference(run.grads.at(role), ref.get(id, key + ".grad")));
  }
  return worst;
}

}  // namespace

TEST_CASE("NAS-Bench-Graph's operators agree with PyTorch Geometric, forward and backward") {
  using Ops = gnas::space::NasBenchGraph::operators;
  static constexpr auto infos = Ops::infos();
  Reference const ref("operators");
  int checked = 0;
  for (auto const& c : ref.cases) {
    if (c.at("op") == "fc") continue;  // a dense layer, no message
    gnas::LayerSpec layer{.kind = gnas::LayerKind::message};
    for (std::size_t k = 0; k < infos.size(); ++k) {
      if (infos[k].name == c.at("op")) layer.op = static_cast<int>(k);
    }
    layer.heads = std::stoi(c.at("heads"));
    layer.out = std::stoi(c.at("out"));
    layer.concat_heads = c.at("concat") == "1";
    std::map<std::string, Role> const keys = {{"W", Role::weight},
                                              {"W_root", Role::root},
                                              {"att_dst", Role::left},
                                              {"att_src", Role::right},
                                              {"bias", Role::bias}};
    std::string const& id = c.at("case");
    int const nodes = std::stoi(c.at("nodes")), in = std::stoi(c.at("in"));
    INFO(id);
    if (c.at("dtype") == "f64")
      CHECK(check_case<Ops, double>(ref, id, nodes, layer, in, keys) < 1e-10);
    CHECK(check_case<Ops, float>(ref, id, nodes, layer, in, keys) < 1e-5);
    ++checked;
  }
  CHECK(checked > 70);
}

TEST_CASE("GraphNAS's 28 operators agree with the dense formulas, forward and backward") {
  using Space = gnas::space::GraphNas;
  Reference const ref("graphnas");
  int checked = 0;
  for (auto const& c : ref.cases) {
    gnas::LayerSpec layer{.kind = gnas::LayerKind::message};
    layer.op = 4 * gnas::space::find_name(Space::attentions, c.at("attention"), "attention") +
               gnas::space::find_name(Space::aggregators, c.at("aggregator"), "aggregator");
    layer.heads = std::stoi(c.at("heads"));
    layer.out = std::stoi(c.at("out"));
    layer.concat_heads = c.at("concat") == "1";
    std::map<std::string, Role> const keys = {
        {"W", Role::weight},          {"left", Role::left},
        {"right", Role::right},       {"gvec", Role::vector},
        {"mlp1.W", Role::message_w1}, {"mlp1.bias", Role::message_b1},
        {"mlp2.W", Role::message_w2}, {"mlp2.bias", Role::message_b2},
        {"bias", Role::bias}};
    std::string const& id = c.at("case");
    std::map<std::string, Role> present;
    static constexpr auto infos = Space::operators::infos();
    gnas::OperatorInfo const& info = infos[static_cast<std::size_t>(layer.op)];
    for (auto const& [key, role] : keys) {
      bool const ours = role == Role::left || role == Role::right    ? info.learned()
                        : role == Role::vector                       ? info.channel_vector
                        : role == Role::weight || role == Role::bias ? true
                                                                     : info.message_hidden > 0;
      if (ours) present[key] = role;
    }
    int const nodes = std::stoi(c.at("nodes")), in = std::stoi(c.at("in"));
    INFO(id);
    if (c.at("dtype") == "f64")
      CHECK(check_case<Space::operators, double>(ref, id, nodes, layer, in, present) < 1e-10);
    CHECK(check_case<Space::operators, float>(ref, id, nodes, layer, in, present) < 1e-5);
    ++checked;
  }
  CHECK(checked > 80);
}
