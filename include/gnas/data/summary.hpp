// What a data set holds, in numbers: for 'gnas check', reports and tests.
#pragma once

#include <gnas/graph/dataset.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

// Edge counts are of the rows as published; degree counts distinct neighbors of the undirected
// graph without loops.
struct DatasetSummary {
  std::string name, format;
  std::int64_t nodes = 0, edge_rows = 0, distinct_directed = 0, undirected_edges = 0,
               self_loop_rows = 0, duplicate_rows = 0;
  std::int64_t isolated = 0;  // nodes with no neighbor but themselves
  std::int64_t max_degree = 0, max_degree_node = -1;
  std::int64_t features = 0, feature_nonzeros = 0;
  bool features_sparse = true;
  std::int64_t classes = 0, unlabelled = 0;
  std::vector<std::int64_t> class_counts;
  std::vector<std::pair<std::string, std::array<std::int64_t, 3>>>
      splits;  // train, validation, test
  std::string checksum, edge_policy;
  std::int64_t graph_edges = 0;  // directed, of the graph that trainings see
  double edge_homophily =
      0;  // share of undirected edges between labeled nodes that join equal labels
  std::int64_t components = 0, largest_component = 0;
  std::vector<std::string> notes;
};

inline std::string to_words(EdgePolicy p) {
  constexpr std::array<char const*, 2> direction = {"direction kept", "symmetrized"};
  constexpr std::array<char const*, 3> duplicates = {"duplicates kept", "duplicates merged",
                                                     "duplicates summed"};
  constexpr std::array<char const*, 3> loops = {"self-loops kept", "self-loops removed",
                                                "self-loops added where missing"};
  return std::string(direction[static_cast<std::size_t>(p.direction)]) + ", " +
         duplicates[static_cast<std::size_t>(p.duplicates)] + ", " +
         loops[static_cast<std::size_t>(p.self_loops)];
}

// complexity: edge rows log edge rows.
inline DatasetSummary summarize(Dataset const& d) {
  DatasetSummary s;
  s.name = d.name;
  s.format = d.format;
  s.nodes = d.num_nodes();
  s.edge_rows = static_cast<std::int64_t>(d.edges.src.size());
  using Pair = std::pair<NodeId, NodeId>;
  std::vector<Pair> directed, undirected;
  for (std::size_t e = 0; e < d.edges.src.size(); ++e) {
    NodeId const a = d.edges.src[e], b = d.edges.dst[e];
    directed.emplace_back(a, b);
    s.self_loop_rows += a == b;
    if (a != b) undirected.emplace_back(std::min(a, b), std::max(a, b));
  }
  auto const distinct = [](std::vector<Pair>& v) {
    std::sort(v.begin(), v.end());
    v.erase(std::unique(v.begin(), v.end()), v.end());
  };
  distinct(directed);
  distinct(undirected);
  s.distinct_directed = static_cast<std::int64_t>(directed.size());
  s.undirected_edges = static_cast<std::int64_t>(undirected.size());
  s.duplicate_rows = s.edge_rows - s.distinct_directed;
  std::vector<std::int64_t> degree(static_cast<std::size_t>(s.nodes), 0);
  std::vector<NodeId> root(static_cast<std::size_t>(s.nodes));
  std::iota(root.begin(), root.end(), 0);
  auto const find = [&](NodeId i) {
    while (root[static_cast<std::size_t>(i)] != i) {
      auto& r = root[static_cast<std::size_t>(i)];
      r = root[static_cast<std::size_t>(r)];
      i = r;
    }
    return i;
  };
  std::int64_t equal = 0, labeled = 0;
  for (auto const& [a, b] : undirected) {
    ++degree[static_cast<std::size_t>(a)];
    ++degree[static_cast<std::size_t>(b)];
    root[static_cast<std::size_t>(find(a))] = find(b);
    std::int32_t const x = d.labels[static_cast<std::size_t>(a)],
                       y = d.labels[static_cast<std::size_t>(b)];
    labeled += x >= 0 && y >= 0;
    equal += x >= 0 && x == y;
  }
  s.edge_homophily = labeled > 0 ? static_cast<double>(equal) / static_cast<double>(labeled) : 0;
  std::vector<std::int64_t> size(static_cast<std::size_t>(s.nodes), 0);
  for (NodeId i = 0; i < s.nodes; ++i) {
    auto const at = static_cast<std::size_t>(i);
    s.isolated += degree[at] == 0;
    if (degree[at] > s.max_degree || s.max_degree_node < 0) {
      s.max_degree = degree[at];
      s.max_degree_node = i;
    }
    auto& members = size[static_cast<std::size_t>(find(i))];
    s.components += members == 0;
    s.largest_component = std::max(s.largest_component, ++members);
  }
  s.features = d.features.cols;
  s.features_sparse = d.features.sparse;
  s.feature_nonzeros =
      d.features.sparse
          ? static_cast<std::int64_t>(d.features.col.size())
          : static_cast<std::int64_t>(std::count_if(
                d.features.value.begin(), d.features.value.end(), [](float v) { return v != 0; }));
  s.classes = d.num_classes;
  s.class_counts.assign(static_cast<std::size_t>(d.num_classes), 0);
  for (std::int32_t y : d.labels)
    y < 0 ? ++s.unlabelled : ++s.class_counts[static_cast<std::size_t>(y)];
  for (Split const& p : d.splits) {
    s.splits.push_back(
        {p.name,
         {static_cast<std::int64_t>(p.train.size()), static_cast<std::int64_t>(p.val.size()),
          static_cast<std::int64_t>(p.test.size())}});
  }
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(d.checksum));
  s.checksum = text;
  s.edge_policy = to_words(d.edge_policy);
  s.graph_edges = d.graph.num_edges();
  s.notes = d.notes;
  return s;
}

// Text that is not UTF-8 (names come from files) has its wrong bytes replaced, so that the result
// can be written.
inline nlohmann::ordered_json to_json(DatasetSummary const& s) {
  using nlohmann::ordered_json;
  ordered_json splits = ordered_json::object();
  for (auto const& [name, n] : s.splits)
    splits[name] = {{"train", n[0]}, {"val", n[1]}, {"test", n[2]}};
  ordered_json const all = {{"format", s.format},
                            {"name", s.name},
                            {"nodes", s.nodes},
                            {"edge_rows", s.edge_rows},
                            {"distinct_directed", s.distinct_directed},
                            {"undirected_edges", s.undirected_edges},
                            {"self_loop_rows", s.self_loop_rows},
                            {"duplicate_rows", s.duplicate_rows},
                            {"isolated", s.isolated},
                            {"max_degree", s.max_degree},
                            {"max_degree_node", s.max_degree_node},
                            {"features", s.features},
                            {"feature_nonzeros", s.feature_nonzeros},
                            {"classes", s.classes},
                            {"unlabelled", s.unlabelled},
                            {"class_counts", s.class_counts},
                            {"splits", splits},
                            {"checksum", s.checksum},
                            {"edge_policy", s.edge_policy},
                            {"graph_edges", s.graph_edges},
                            {"edge_homophily", s.edge_homophily},
                            {"components", s.components},
                            {"largest_component", s.largest_component},
                            {"notes", s.notes}};
  return ordered_json::parse(all.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

inline void print(std::ostream& out, DatasetSummary const& s) {
  auto const row = [&](char const* what, std::string const& value) {
    std::string line = what;
    line.resize(std::max<std::size_t>(line.size() + 1, 23), ' ');
    out << line << value << '\n';
  };
  auto const number = [](std::int64_t x) { return std::to_string(x); };
  row("data set", s.name + " (" + s.format + ")");
  row("nodes", number(s.nodes));
  row("edge rows", number(s.edge_rows) + " (" + number(s.distinct_directed) + " distinct, " +
                       number(s.duplicate_rows) + " repeated, " + number(s.self_loop_rows) +
                       " self-loops)");
  row("undirected edges", number(s.undirected_edges));
  row("graph used", s.edge_policy + ": " + number(s.graph_edges) + " directed edges");
  row("largest degree",
      number(s.max_degree) +
          (s.max_degree_node >= 0 ? " (node " + number(s.max_degree_node) + ")" : ""));
  row("isolated nodes", number(s.isolated));
  row("components",
      number(s.components) + ", the largest of " + number(s.largest_component) + " nodes");
  row("features", number(s.features) + (s.features_sparse ? ", sparse, " : ", dense, ") +
                      number(s.feature_nonzeros) + " not zero");
  std::string counts;
  for (std::size_t c = 0; c < s.class_counts.size() && c < 12; ++c)
    counts += (c ? ", " : ": ") + number(s.class_counts[c]);
  row("classes", number(s.classes) + counts + (s.class_counts.size() > 12 ? ", ..." : "") +
                     (s.unlabelled > 0 ? " (" + number(s.unlabelled) + " unlabelled)" : ""));
  char homophily[16];
  std::snprintf(homophily, sizeof homophily, "%.3f", s.edge_homophily);
  row("edge homophily", homophily);
  for (auto const& [name, n] : s.splits)
    row(("split " + name).c_str(),
        "train " + number(n[0]) + ", validation " + number(n[1]) + ", test " + number(n[2]));
  row("checksum", s.checksum);
  for (std::string const& note : s.notes) out << "note: " << note << '\n';
}

}  // namespace gnas
