// The two graphs that come with the project hold what counts.json and their README say.
#include <gnas/data/load.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

std::filesystem::path folder() {
  return std::filesystem::path(GNAS_SOURCE_ROOT) / "examples" / "data" / "debian-bookworm";
}

// The numbers of one graph out of counts.json. make.py writes that file with one key a line, so a
// search for the quoted key is enough; no JSON reader stands between the test and the facts.
class Counts {
 public:
  explicit Counts(std::string const& graph) {
    std::ifstream file(folder() / "counts.json");
    std::string const all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    auto const begin = all.find("\"" + graph + "\": {");
    if (begin == std::string::npos) throw std::runtime_error("counts.json has no " + graph);
    auto const classes = all.find("\"class_sizes\": {", begin);
    text_ = all.substr(begin, all.find('}', classes) - begin);
    classes_ = classes - begin;
  }

  long long operator[](std::string const& key) const { return number(key, 0); }
  long long class_size(std::string const& name) const { return number(name, classes_); }

 private:
  long long number(std::string const& key, std::size_t from) const {
    auto const quoted = "\"" + key + "\": ";
    auto const at = text_.find(quoted, from);
    if (at == std::string::npos) throw std::runtime_error("counts.json has no " + key);
    return std::stoll(text_.substr(at + quoted.size()));
  }

  std::string text_;
  std::size_t classes_ = 0;
};

gnas::Dataset const& graph_of(std::string const& name) {
  static std::unordered_map<std::string, gnas::Dataset> loaded;
  auto found = loaded.find(name);
  if (found == loaded.end()) {
    found = loaded.emplace(name, gnas::load((folder() / (name + ".npz")).string())).first;
  }
  return found->second;
}

std::unordered_map<std::string, gnas::NodeId> numbers_of(gnas::Dataset const& data) {
  std::unordered_map<std::string, gnas::NodeId> numbers;
  for (std::size_t i = 0; i < data.node_names.size(); ++i) {
    numbers.emplace(data.node_names[i], static_cast<gnas::NodeId>(i));
  }
  return numbers;
}

long long size(std::vector<gnas::NodeId> const& nodes) {
  return static_cast<long long>(nodes.size());
}

}  // namespace

TEST_CASE("the embedded graphs hold exactly what counts.json says", "[data][embedded]") {
  for (std::string const name : {"debian-bookworm", "debian-small"}) {
    CAPTURE(name);
    Counts const counts(name);
    auto const& data = graph_of(name);

    CHECK(static_cast<long long>(std::filesystem::file_size(folder() / (name + ".npz"))) ==
          counts["bytes"]);
    REQUIRE(data.num_nodes() == counts["nodes"]);
    CHECK(static_cast<long long>(data.edges.src.size()) == counts["edges"]);
    CHECK(data.edges.dst.size() == data.edges.src.size());
    CHECK(data.graph.num_edges() == 2 * counts["undirected_edges"]);
    CHECK(data.graph.weight.empty());
    long long isolated = 0;
    for (gnas::NodeId i = 0; i < data.num_nodes(); ++i) isolated += data.graph.degree(i) == 0;
    CHECK(isolated == counts["isolated"]);

    CHECK(data.num_classes == counts["classes"]);
    REQUIRE(static_cast<long long>(data.class_names.size()) == counts["classes"]);
    CHECK(std::is_sorted(data.class_names.begin(), data.class_names.end()));
    REQUIRE(static_cast<long long>(data.labels.size()) == counts["nodes"]);
    for (std::size_t c = 0; c < data.class_names.size(); ++c) {
      CAPTURE(data.class_names[c]);
      CHECK(std::count(data.labels.begin(), data.labels.end(), static_cast<std::int32_t>(c)) ==
            counts.class_size(data.class_names[c]));
    }

    CHECK(data.features.sparse);
    CHECK(data.features.rows == counts["nodes"]);
    CHECK(data.features.cols == counts["features"]);
    CHECK(static_cast<long long>(data.features.col.size()) == counts["nonzeros"]);
    CHECK(std::all_of(data.features.value.begin(), data.features.value.end(),
                      [](float v) { return v == 1.0F; }));
  }
}

TEST_CASE("the counts are those that the README states", "[data][embedded]") {
  auto const& full = graph_of("debian-bookworm");
  CHECK(full.num_nodes() == 63436);
  CHECK(full.edges.src.size() == 244451);
  CHECK(full.graph.num_edges() == 2 * 244391);
  CHECK(full.num_classes == 58);
  CHECK(full.features.cols == 2256);
  CHECK(full.features.col.size() == 347823);

  auto const& small = graph_of("debian-small");
  CHECK(small.num_nodes() == 2815);
  CHECK(small.edges.src.size() == 19720);
  CHECK(small.num_classes == 12);
}

TEST_CASE("the embedded splits are disjoint, cover every node and give each class a fifth to train",
          "[data][embedded]") {
  for (std::string const name : {"debian-bookworm", "debian-small"}) {
    CAPTURE(name);
    Counts const counts(name);
    auto const& data = graph_of(name);
    REQUIRE_FALSE(data.splits.empty());
    auto const& split = data.splits.front();
    CHECK(size(split.train) == counts["train"]);
    CHECK(size(split.val) == counts["val"]);
    CHECK(size(split.test) == counts["test"]);

    std::vector<int> parts(data.labels.size(), 0);
    for (auto const* part : {&split.train, &split.val, &split.test}) {
      for (auto const node : *part) ++parts.at(static_cast<std::size_t>(node));
    }
    CHECK(std::count(parts.begin(), parts.end(), 1) == counts["nodes"]);

    std::vector<long long> train(data.class_names.size(), 0);
    for (auto const node : split.train) {
      ++train[static_cast<std::size_t>(data.labels[static_cast<std::size_t>(node)])];
    }
    for (std::size_t c = 0; c < train.size(); ++c) {
      CAPTURE(data.class_names[c]);
      CHECK(train[c] == (counts.class_size(data.class_names[c]) + 2) / 5);
    }
  }
}

TEST_CASE("a dependency points from the package to what it needs", "[data][embedded]") {
  for (std::string const name : {"debian-bookworm", "debian-small"}) {
    CAPTURE(name);
    Counts const counts(name);
    auto const& data = graph_of(name);
    REQUIRE(static_cast<long long>(data.node_names.size()) == counts["nodes"]);
    CHECK(std::is_sorted(data.node_names.begin(), data.node_names.end()));
    auto const numbers = numbers_of(data);
    auto const libc = numbers.at("libc6");
    CHECK(std::count(data.edges.dst.begin(), data.edges.dst.end(), libc) ==
          counts["most_needed_dependants"]);
    auto const label = data.labels[static_cast<std::size_t>(libc)];
    CHECK(data.class_names[static_cast<std::size_t>(label)] == "libs");

    // libc6 and libgcc-s1 need each other: two rows, one undirected edge.
    auto const around = data.graph.neighbors(libc);
    CHECK(std::count(around.begin(), around.end(), numbers.at("libgcc-s1")) == 1);
    CHECK(data.graph.degree(libc) >= counts["most_needed_dependants"]);
  }
}

TEST_CASE("the small graph is the part of the full one that its nodes span", "[data][embedded]") {
  auto const& full = graph_of("debian-bookworm");
  auto const& small = graph_of("debian-small");
  auto const numbers = numbers_of(full);
  std::vector<gnas::NodeId> in_full;
  std::vector<char> chosen(full.labels.size(), 0);
  for (std::size_t i = 0; i < small.node_names.size(); ++i) {
    in_full.push_back(numbers.at(small.node_names[i]));
    auto const there = static_cast<std::size_t>(in_full.back());
    chosen[there] = 1;
    REQUIRE(small.class_names[static_cast<std::size_t>(small.labels[i])] ==
            full.class_names[static_cast<std::size_t>(full.labels[there])]);
  }

  using Edges = std::vector<std::pair<gnas::NodeId, gnas::NodeId>>;
  Edges of_small, of_full;
  for (std::size_t e = 0; e < small.edges.src.size(); ++e) {
    of_small.emplace_back(in_full[static_cast<std::size_t>(small.edges.src[e])],
                          in_full[static_cast<std::size_t>(small.edges.dst[e])]);
  }
  for (std::size_t e = 0; e < full.edges.src.size(); ++e) {
    auto const src = full.edges.src[e], dst = full.edges.dst[e];
    if (chosen[static_cast<std::size_t>(src)] != 0 && chosen[static_cast<std::size_t>(dst)] != 0) {
      of_full.emplace_back(src, dst);
    }
  }
  std::sort(of_small.begin(), of_small.end());
  std::sort(of_full.begin(), of_full.end());
  CHECK(of_small == of_full);

  for (gnas::NodeId i = 0; i < small.num_nodes(); ++i) REQUIRE(small.graph.degree(i) > 0);
}
