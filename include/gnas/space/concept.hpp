// What a search space is: which operators it names, which codes are architectures, and what model
// each is.
#pragma once

#include <gnas/core/arch_code.hpp>
#include <gnas/core/error.hpp>
#include <gnas/model/spec.hpp>
#include <gnas/op/list.hpp>

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace gnas {

struct SearchSpaceTag {};

template <class S>
concept HasSpaceTag = std::same_as<typename S::policy_kind, SearchSpaceTag>;
template <class S>
concept HasSpaceName = requires {
  { S::name } -> std::convertible_to<std::string_view>;
};
template <class S>
concept HasOperators = requires {
  S::operators::size;
};
template <class S>
concept HasGenes = requires(S const& s, int gene) {
  { s.num_genes() } -> std::convertible_to<int>;
  { s.radix(gene) } -> std::convertible_to<int>;
};
template <class S>
concept HasValidity = requires(S const& s, ArchCode const& code) {
  { s.is_valid(code) } -> std::convertible_to<bool>;
};
template <class S>
concept HasDecode = requires(S const& s, ArchCode const& code, int n) {
  { s.decode(code, n, n) } -> std::same_as<ModelSpec>;
};

// A value that holds its settings (widths, dropout). Meaning:
//  1. gene k of a code is in 0..radix(k)-1; is_valid() may refuse further combinations.
//  2. decode(code, features, classes) is a pure function; messages index `operators`.
//  3. Optional canonical(code): one code for all that give the same network; idempotent.
//  4. Optional to_text(code) and parse(text), inverse to each other; the default is the genes,
//  comma separated.
template <class S>
concept SearchSpace = std::copyable<S> && HasSpaceTag<S> && HasSpaceName<S> && HasOperators<S> &&
    HasGenes<S> && HasValidity<S> && HasDecode<S>;

template <class S>
consteval bool check_search_space() {
  static_assert(HasSpaceTag<S>, "search space: needs 'using policy_kind = gnas::SearchSpaceTag;'");
  static_assert(HasSpaceName<S>,
                "search space: needs 'static constexpr std::string_view name = \"...\";'");
  static_assert(HasOperators<S>,
                "search space: needs 'using operators = gnas::OperatorList<...>;', the operators "
                "its models use");
  static_assert(HasGenes<S>,
                "search space: needs 'int num_genes() const' and 'int radix(int gene) const'");
  static_assert(HasValidity<S>, "search space: needs 'bool is_valid(gnas::ArchCode const&) const'");
  static_assert(HasDecode<S>,
                "search space: needs 'gnas::ModelSpec decode(gnas::ArchCode const&, int features, "
                "int classes) const'");
  static_assert(std::copyable<S>,
                "search space: must be copyable, it is a value that holds its settings");
  return SearchSpace<S>;
}

namespace space {

// Every gene in its range; what each is_valid() starts with.
template <class S>
bool genes_in_range(S const& space, ArchCode const& code) {
  if (static_cast<int>(code.size()) != space.num_genes()) return false;
  for (int k = 0; k < space.num_genes(); ++k) {
    int const g = code[static_cast<std::size_t>(k)];
    if (g < 0 || g >= space.radix(k)) return false;
  }
  return true;
}

template <class S>
ArchCode canonical(S const& space, ArchCode code) {
  if constexpr (requires { space.canonical(code); }) {
    return space.canonical(std::move(code));
  } else {
    return code;
  }
}

template <class S>
std::string to_text(S const& space, ArchCode const& code) {
  if constexpr (requires { space.to_text(code); }) {
    return space.to_text(code);
  } else {
    return code.key();
  }
}

// A whole number, or InvalidArgument naming what it was to be.
inline int parse_int(std::string_view text, std::string const& what) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  expects(error == std::errc() && end == text.data() + text.size() && !text.empty(),
          what + " is '" + std::string(text) + "', a whole number was needed");
  return value;
}

// Calls f(part, index) for the parts of `text` between separators.
template <class F>
void split_text(std::string_view text, char separator, F const& f) {
  for (int index = 0;; ++index) {
    std::size_t const at = text.find(separator);
    std::string_view part = text.substr(0, at);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    f(part, index);
    if (at == std::string_view::npos) return;
    text.remove_prefix(at + 1);
  }
}

// The valid code that `text` names. Throws InvalidArgument naming gene, value and range.
template <class S>
ArchCode parse(S const& space, std::string_view text) {
  ArchCode code;
  std::string const who = std::string(S::name) + ": architecture '" + std::string(text) + "': ";
  if constexpr (requires { space.parse(text); }) {
    code = space.parse(text);
  } else {
    split_text(text, ',', [&](std::string_view part, int k) {
      code.genes.push_back(parse_int(part, who + "gene " + std::to_string(k)));
    });
    expects(static_cast<int>(code.size()) == space.num_genes(),
            who + "has " + std::to_string(code.size()) + " genes, needs " +
                std::to_string(space.num_genes()));
    for (int k = 0; k < space.num_genes(); ++k) {
      int const g = code[static_cast<std::size_t>(k)];
      expects(g >= 0 && g < space.radix(k), who + "gene " + std::to_string(k) + " is " +
                                                std::to_string(g) + ", it must be in 0.." +
                                                std::to_string(space.radix(k) - 1));
    }
  }
  expects(space.is_valid(code), who + "is not an architecture of this space");
  return code;
}

// Place of `name` in `names`, or InvalidArgument listing them.
template <class Names>
int find_name(Names const& names, std::string_view name, std::string const& what) {
  std::string known;
  int k = 0;
  for (std::string_view n : names) {
    if (n == name) return k;
    known += (known.empty() ? "" : ", ") + std::string(n);
    ++k;
  }
  throw InvalidArgument(what + " is '" + std::string(name) + "', it must be one of " + known);
}

}  // namespace space
}  // namespace gnas
