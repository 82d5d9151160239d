// The summary counts what the README of the data formats says, in JSON with fixed keys.
#include <gnas/data/finish.hpp>
#include <gnas/data/summary.hpp>

#include <catch2/catch.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace {

// Rows 0-1 twice, 1-0, 2-2, 1-2 of six nodes; 4 without a label; 3, 4, 5 without a neighbor.
gnas::Dataset six() {
  gnas::Dataset d;
  d.name = std::string(300, 'n');
  d.format = "edge-list";
  d.graph.num_rows = d.graph.num_cols = 6;
  d.edges = {{0, 0, 1, 2, 1}, {1, 1, 0, 2, 2}, {}};
  d.features.sparse = false;
  d.features.rows = 6;
  d.features.cols = 1;
  d.features.value = {1, 0, 2, 0, 0, 0};
  d.labels = {0, 0, 1, 1, -1, 1};
  d.num_classes = 2;
  d.splits.push_back({"public", {0}, {1}, {2, 3}});
  d.notes = {"a note"};
  gnas::finish(d, {});
  return d;
}

}  // namespace

TEST_CASE("a summary counts rows, neighbors, components, labels and splits", "[data][summary]") {
  gnas::DatasetSummary const s = gnas::summarize(six());
  CHECK(s.nodes == 6);
  CHECK(s.edge_rows == 5);
  CHECK(s.distinct_directed == 4);
  CHECK(s.duplicate_rows == 1);
  CHECK(s.self_loop_rows == 1);
  CHECK(s.undirected_edges == 2);
  CHECK(s.graph_edges == 4);
  CHECK(s.max_degree == 2);
  CHECK(s.max_degree_node == 1);
  CHECK(s.isolated == 3);
  CHECK(s.components == 4);
  CHECK(s.largest_component == 3);
  CHECK(s.feature_nonzeros == 2);
  CHECK(s.class_counts == std::vector<std::int64_t>{2, 3});
  CHECK(s.unlabelled == 1);
  CHECK(s.edge_homophily == 0.5);
  CHECK(s.edge_policy == "symmetrized, duplicates merged, self-loops removed");
}

TEST_CASE("the JSON has these keys in this order", "[data][summary]") {
  nlohmann::ordered_json const j = gnas::to_json(gnas::summarize(six()));
  std::vector<std::string> keys;
  for (auto const& item : j.items()) keys.push_back(item.key());
  CHECK(keys == std::vector<std::string>{"format",
                                         "name",
                                         "nodes",
                                         "edge_rows",
                                         "distinct_directed",
                                         "undirected_edges",
                                         "self_loop_rows",
                                         "duplicate_rows",
                                         "isolated",
                                         "max_degree",
                                         "max_degree_node",
                                         "features",
                                         "feature_nonzeros",
                                         "classes",
                                         "unlabelled",
                                         "class_counts",
                                         "splits",
                                         "checksum",
                                         "edge_policy",
                                         "graph_edges",
                                         "edge_homophily",
                                         "components",
                                         "largest_component",
                                         "notes"});
  CHECK(j["splits"]["public"] == nlohmann::ordered_json({{"train", 1}, {"val", 1}, {"test", 2}}));
  CHECK(j["checksum"].get<std::string>().size() == 16);
  CHECK(j["checksum"].get<std::string>().find_first_not_of("0123456789abcdef") ==
        std::string::npos);
}

TEST_CASE("names that are not UTF-8 can still be written as JSON", "[data][summary]") {
  gnas::Dataset d = six();
  d.name = "caf\xe9";
  d.splits[0].name = "\xff";
  d.notes = {"\xc3\xa9t\xe9"};
  nlohmann::ordered_json const j = gnas::to_json(gnas::summarize(d));
  std::string const text = j.dump();
  CHECK(text.find("\"caf\xef\xbf\xbd\"") != std::string::npos);
  CHECK(text.find("\"\xc3\xa9t\xef\xbf\xbd\"") != std::string::npos);
  CHECK(j["splits"]["\xef\xbf\xbd"]["test"] == 2);
  CHECK(j["edge_homophily"] == 0.5);
  CHECK(j["max_degree_node"] == 1);
}

TEST_CASE("the table for people keeps each fact on a line, however long", "[data][summary]") {
  std::ostringstream out;
  gnas::print(out, gnas::summarize(six()));
  std::string const text = out.str();
  CHECK(text.find(std::string(300, 'n') + " (edge-list)\n") != std::string::npos);
  CHECK(text.find("5 (4 distinct, 1 repeated, 1 self-loops)\n") != std::string::npos);
  CHECK(text.find("2: 2, 3 (1 unlabelled)\n") != std::string::npos);
  CHECK(text.find("train 1, validation 1, test 2\n") != std::string::npos);
  CHECK(text.find("note: a note\n") != std::string::npos);
}
