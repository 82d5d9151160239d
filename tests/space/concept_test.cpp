#include <gnas/space/concept.hpp>

#include <catch2/catch.hpp>

using gnas::ArchCode;

namespace {

// Two genes of 2 and 3 values; the code 1,2 is refused. No optional member.
struct Small {
  using policy_kind = gnas::SearchSpaceTag;
  using operators = gnas::OperatorList<>;
  static constexpr std::string_view name = "small";
  int num_genes() const { return 2; }
  int radix(int gene) const { return 2 + gene; }
  bool is_valid(ArchCode const& c) const {
    return gnas::space::genes_in_range(*this, c) && !(c[0] == 1 && c[1] == 2);
  }
  gnas::ModelSpec decode(ArchCode const&, int features, int classes) const {
    return {.in_features = features, .num_classes = classes, .layers = {}};
  }
};
static_assert(gnas::check_search_space<Small>());

// Each lacks one thing.
struct NoTag : Small {
  using policy_kind = int;
};
struct NoValidity : Small {
  void is_valid(ArchCode const&) const {}
};
struct WrongDecode : Small {
  int decode(ArchCode const&, int, int) const { return 0; }
};
struct NotCopyable : Small {
  NotCopyable(NotCopyable const&) = delete;
};
static_assert(!gnas::SearchSpace<NoTag> && gnas::HasDecode<NoTag>);
static_assert(!gnas::SearchSpace<NoValidity> && !gnas::HasValidity<NoValidity>);
static_assert(!gnas::SearchSpace<WrongDecode> && !gnas::HasDecode<WrongDecode>);
static_assert(!gnas::SearchSpace<NotCopyable>);
static_assert(!gnas::SearchSpace<int>);

// With the optional members.
struct Named : Small {
  ArchCode canonical(ArchCode c) const {
    c[0] = 0;
    return c;
  }
  std::string to_text(ArchCode const& c) const { return "g" + std::to_string(c[1]); }
  ArchCode parse(std::string_view text) const {
    return {{0, gnas::space::parse_int(text.substr(1), "small: gene")}};
  }
};

}  // namespace

TEST_CASE("A space without optional members is its own canonical form and writes its genes") {
  Small const s;
  CHECK(gnas::space::canonical(s, {{1, 1}}) == ArchCode{{1, 1}});
  CHECK(gnas::space::to_text(s, {{1, 0}}) == "1,0");
  CHECK(gnas::space::parse(s, "1,0") == ArchCode{{1, 0}});
  CHECK(gnas::space::parse(s, " 0 , 2 ") == ArchCode{{0, 2}});
}

TEST_CASE("A space's own canonical, to_text and parse are used where it has them") {
  Named const s;
  CHECK(gnas::space::canonical(s, {{1, 1}}) == ArchCode{{0, 1}});
  CHECK(gnas::space::to_text(s, {{0, 2}}) == "g2");
  CHECK(gnas::space::parse(s, "g2") == ArchCode{{0, 2}});
  CHECK_THROWS_WITH(gnas::space::parse(s, "g3"),
                    "small: architecture 'g3': is not an architecture of this space");
}

TEST_CASE("Text that is no architecture is refused in one line with gene, value and range") {
  Small const s;
  CHECK_THROWS_WITH(gnas::space::parse(s, "0,3"),
                    "small: architecture '0,3': gene 1 is 3, it must be in 0..2");
  CHECK_THROWS_WITH(gnas::space::parse(s, "-1,0"),
                    "small: architecture '-1,0': gene 0 is -1, it must be in 0..1");
  CHECK_THROWS_WITH(gnas::space::parse(s, "0"), "small: architecture '0': has 1 genes, needs 2");
  CHECK_THROWS_WITH(gnas::space::parse(s, "0,1,1"),
                    "small: architecture '0,1,1': has 3 genes, needs 2");
  CHECK_THROWS_WITH(gnas::space::parse(s, "0,x"),
                    "small: architecture '0,x': gene 1 is 'x', a whole number was needed");
  CHECK_THROWS_WITH(gnas::space::parse(s, ""),
                    "small: architecture '': gene 0 is '', a whole number was needed");
  CHECK_THROWS_WITH(gnas::space::parse(s, "0,99999999999999"), Catch::Contains("gene 1"));
  CHECK_THROWS_WITH(gnas::space::parse(s, "1,2"), Catch::Contains("is not an architecture"));
  CHECK_THROWS_AS(gnas::space::parse(s, "1,2"), gnas::InvalidArgument);
}

TEST_CASE("genes_in_range refuses a wrong number of genes and values outside") {
  Small const s;
  CHECK(gnas::space::genes_in_range(s, {{1, 2}}));
  CHECK_FALSE(gnas::space::genes_in_range(s, {{2, 2}}));
  CHECK_FALSE(gnas::space::genes_in_range(s, {{0, -1}}));
  CHECK_FALSE(gnas::space::genes_in_range(s, {{0}}));
  CHECK_FALSE(gnas::space::genes_in_range(s, ArchCode{}));
}

TEST_CASE("find_name gives the place of a name or lists the names") {
  constexpr std::array<std::string_view, 2> names = {"a", "b"};
  CHECK(gnas::space::find_name(names, "b", "letter") == 1);
  CHECK_THROWS_WITH(gnas::space::find_name(names, "c", "letter"),
                    "letter is 'c', it must be one of a, b");
}
