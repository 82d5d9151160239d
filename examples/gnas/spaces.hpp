// Spaces and strategies by name, for a program that learns at run time what to search.
#pragma once

#include "settings.hpp"

#include <gnas/search/searcher.hpp>

#include <functional>
#include <memory>
#include <string>

// Compiled once, in trainer.cpp.
extern template class gnas::CpuExecutor<float>;
extern template class gnas::BasicTrainer<float>;

// A search space behind function pointers; satisfies gnas::SearchSpace.
struct AnySpace {
  using policy_kind = gnas::SearchSpaceTag;
  using operators = gnas::OperatorList<>;
  static constexpr std::string_view name = "any";

  struct Functions {
    std::string name;
    std::string settings;  // in words
    gnas::OperatorTable<float> table;
    gnas::search::SpaceView view;
    std::function<gnas::ModelSpec(gnas::ArchCode const&, int, int)> decode;
    std::function<std::string(gnas::ArchCode const&)> to_text;
    std::function<gnas::ArchCode(std::string_view)> parse_text;
  };
  std::shared_ptr<Functions const> f;

  int num_genes() const { return static_cast<int>(f->view.radix.size()); }
  int radix(int gene) const { return f->view.radix[static_cast<std::size_t>(gene)]; }
  bool is_valid(gnas::ArchCode const& c) const { return f->view.is_valid(c); }
  gnas::ArchCode canonical(gnas::ArchCode c) const { return f->view.canonical(std::move(c)); }
  gnas::ModelSpec decode(gnas::ArchCode const& c, int features, int classes) const {
    return f->decode(c, features, classes);
  }
  std::string to_text(gnas::ArchCode const& c) const { return f->to_text(c); }
  gnas::ArchCode parse(std::string_view text) const { return f->parse_text(text); }
  gnas::OperatorTable<float> operator_table() const { return f->table; }
};
static_assert(gnas::check_search_space<AnySpace>());

// A strategy behind an interface; satisfies gnas::SearchStrategy.
class AnyStrategy {
 public:
  using policy_kind = gnas::SearchStrategyTag;
  static constexpr std::string_view name = "any";

  AnyStrategy() = default;
  template <class S>
  explicit AnyStrategy(S strategy)
      : begin_([](void* s, gnas::search::SpaceView const& v, std::uint64_t seed) {
          static_cast<S*>(s)->begin(v, seed);
        }),
        ask_([](void* s) { return static_cast<S*>(s)->ask(); }),
        tell_([](void* s, gnas::Trial const& t) { static_cast<S*>(s)->tell(t); }),
        strategy_(std::make_shared<S>(std::move(strategy))) {}

  void begin(gnas::search::SpaceView const& v, std::uint64_t seed) {
    begin_(strategy_.get(), v, seed);
  }
  std::optional<gnas::ArchCode> ask() { return ask_(strategy_.get()); }
  void tell(gnas::Trial const& t) { tell_(strategy_.get(), t); }

 private:
  void (*begin_)(void*, gnas::search::SpaceView const&, std::uint64_t) = nullptr;
  std::optional<gnas::ArchCode> (*ask_)(void*) = nullptr;
  void (*tell_)(void*, gnas::Trial const&) = nullptr;
  std::shared_ptr<void> strategy_;
};
static_assert(gnas::check_search_strategy<AnyStrategy>());

// Throw gnas::InvalidArgument listing the names that exist.
AnySpace make_space(Settings const& s);
AnyStrategy make_strategy(Settings const& s);
