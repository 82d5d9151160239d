// Made splits: sizes, disjoint parts, and the same nodes for the same seed.
#include "scratch_files.hpp"

#include <gnas/data/split.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using gnas::Dataset;
using gnas::NodeId;
using gnas::Split;
using gnas_test::failure;

// `per_class` nodes of each of `classes`, dealt in turn, and `unlabelled` at the end.
Dataset labelled(int classes, int per_class, int unlabelled = 0) {
  Dataset d;
  d.name = "toy";
  d.num_classes = classes;
  for (int k = 0; k < classes * per_class; ++k) d.labels.push_back(k % classes);
  for (int k = 0; k < unlabelled; ++k) d.labels.push_back(-1);
  d.graph.num_rows = d.graph.num_cols = static_cast<NodeId>(d.labels.size());
  return d;
}

std::set<NodeId> all_nodes(Split const& s) {
  std::set<NodeId> out;
  for (auto const* part : {&s.train, &s.val, &s.test}) {
    CHECK(std::is_sorted(part->begin(), part->end()));
    for (NodeId const i : *part) CHECK(out.insert(i).second);
  }
  return out;
}

std::vector<int> per_class(Dataset const& d, std::vector<NodeId> const& part) {
  std::vector<int> out(static_cast<std::size_t>(d.num_classes), 0);
  for (NodeId const i : part)
    ++out[static_cast<std::size_t>(d.labels[static_cast<std::size_t>(i)])];
  return out;
}

}  // namespace

TEST_CASE("a random split has the asked number of each class, and the rest to test",
          "[data][split]") {
  Dataset const d = labelled(3, 20, 5);
  Split const s = gnas::random_split(d, 4, 6, 7);
  CHECK(s.name == "random:4,6:7");
  CHECK(per_class(d, s.train) == std::vector<int>{4, 4, 4});
  CHECK(per_class(d, s.val) == std::vector<int>{6, 6, 6});
  CHECK(per_class(d, s.test) == std::vector<int>{10, 10, 10});
  CHECK(all_nodes(s).size() == 60);
  CHECK(*all_nodes(s).rbegin() < 60);
  CHECK(gnas::random_split(d, 4, 6, 7).train == s.train);
  CHECK(gnas::random_split(d, 4, 6, 8).train != s.train);
}

TEST_CASE("every node is about equally often in the training part", "[data][split]") {
  Dataset const d = labelled(2, 10);
  std::vector<int> count(20, 0);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    for (NodeId const i : gnas::random_split(d, 3, 3, seed).train)
      ++count[static_cast<std::size_t>(i)];
  }
  // 300 expected, standard deviation 14.5.
  for (int const c : count) {
    CHECK(c > 230);
    CHECK(c < 370);
  }
}

TEST_CASE("a ratio split divides each class, or all nodes at once", "[data][split]") {
  Dataset const d = labelled(2, 50, 3);
  Split const s = gnas::ratio_split(d, 0.6, 0.2, 0.2, 1, true);
  CHECK(per_class(d, s.train) == std::vector<int>{30, 30});
  CHECK(per_class(d, s.val) == std::vector<int>{10, 10});
  CHECK(all_nodes(s).size() == 100);
  Split const whole = gnas::ratio_split(d, 0.6, 0.2, 0.2, 1, false);
  CHECK(whole.train.size() == 60);
  CHECK(whole.val.size() == 20);
  CHECK(whole.test.size() == 20);
  CHECK(all_nodes(whole).size() == 100);
  Split const part = gnas::ratio_split(d, 0.1, 0.1, 0.2, 1, true);
  CHECK(part.test.size() == 20);
  CHECK(all_nodes(part).size() == 40);
  // 7 nodes a class: bounds at 4.2, 5.6 and 7.
  Split const odd = gnas::ratio_split(labelled(2, 7), 0.6, 0.2, 0.2, 1, true);
  CHECK(odd.train.size() == 8);
  CHECK(odd.val.size() == 4);
  CHECK(odd.test.size() == 2);
}

TEST_CASE("a split is found by its name or made from its text", "[data][split]") {
  Dataset d = labelled(2, 50);
  d.splits.push_back({"public", {0}, {1}, {2}});
  CHECK(gnas::ensure_split(d, "public") == "public");
  CHECK(d.splits.size() == 1);
  CHECK(gnas::ensure_split(d, "random:20,10:3") == "random:20,10:3");
  REQUIRE(d.splits.size() == 2);
  CHECK(d.splits[1].name == "random:20,10:3");
  CHECK(d.splits[1].train == gnas::random_split(d, 20, 10, 3).train);
  CHECK(gnas::ensure_split(d, "random:20,10:3") == "random:20,10:3");
  CHECK(d.splits.size() == 2);
  CHECK(gnas::ensure_split(d, "ratio:0.6,0.2,0.2") == "ratio:0.6,0.2,0.2");
  CHECK(d.splits[2].test == gnas::ratio_split(d, 0.6, 0.2, 0.2, 0, true).test);
  CHECK(gnas::ensure_split(d, "random:20,10:seed=3") == "random:20,10:seed=3");
  CHECK(d.splits[3].train == d.splits[1].train);
}

TEST_CASE("a split that cannot be made is refused in one line", "[data][split]") {
  Dataset d = labelled(2, 30);
  d.class_names = {"a", "b"};
  d.splits.push_back({"public", {0}, {1}, {2}});
  d.splits.push_back({"geom0", {0}, {1}, {2}});
  auto const said = [&](std::string const& spec) {
    return failure([&] { gnas::ensure_split(d, spec); });
  };
  CHECK(said("random:20,30") ==
        "toy: class 0 (a) has 30 nodes, the split random:20,30:0 needs more than 50 of each class; "
        "choose smaller numbers, or shares as ratio:0.6,0.2,0.2");
  CHECK(said("publik") ==
        "toy: no split 'publik'; it has public, geom0, and random:TRAIN,VAL[:SEED] or "
        "ratio:TRAIN,VAL,TEST[:SEED] are made");
  CHECK(said("random").find("no split 'random'") != std::string::npos);
  CHECK(said("random:1,2:3:4").find("no split") != std::string::npos);
  CHECK(said("random:x,2") == "split 'random:x,2': 'x' is not a number of nodes (1, 2, ...)");
  CHECK(said("random:2.5,2") == "split 'random:2.5,2': '2.5' is not a number of nodes (1, 2, ...)");
  CHECK(said("random:99999999999,2").find("is not a number of nodes") != std::string::npos);
  CHECK(said("random:2147483647,2147483647").find("more than 4294967294") != std::string::npos);
  CHECK(said("random:2") == "split 'random:2': random:TRAIN,VAL was needed, two numbers");
  CHECK(said("random:0,2") == "split random:0,2:0: both numbers must be at least 1");
  CHECK(said("random:1,2:x") == "split 'random:1,2:x': 'x' is not a seed (0, 1, ...)");
  CHECK(said("ratio:0.5,0.5") ==
        "split 'ratio:0.5,0.5': ratio:TRAIN,VAL,TEST was needed, three shares");
  for (std::string const bad :
       {"0.6,0.3,0.2", "0,0.5,0.5", "nan,0.2,0.2", "-1,1,1", "inf,0.1,0.1"}) {
    CAPTURE(bad);
    CHECK(said("ratio:" + bad).find("three shares above 0 with a sum of at most 1") !=
          std::string::npos);
  }
  CHECK(said("ratio:0.998,0.001,0.001") ==
        "toy: split ratio:0.998,0.001,0.001:0 leaves 60 nodes to train, 0 to validate and 0 to "
        "test; at least 1 each was needed");
  CHECK(d.splits.size() == 2);
  Dataset none;
  none.name = "bare";
  CHECK(failure([&] { gnas::ensure_split(none, "random:1,1"); }) ==
        "bare: has no labels, so no split can be made; give a labels file");
  CHECK(failure([&] { gnas::ensure_split(none, "public"); }).find("it has none") !=
        std::string::npos);
}
