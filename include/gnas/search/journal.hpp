// Journal: where a search writes down what it does, so that it can be taken up again and shared.
// The default forgets everything; the trial store keeps it in a database.
#pragma once

#include <gnas/search/trial.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gnas::search {

// Who may work on a proposal.
enum class Claim {
  mine,      // nobody else does; go
  elsewhere  // another process is at it: ask again later
};

// Called from several threads at once. Trials have the same numbers in every process of a search,
// since a strategy's proposals follow from the seed and the results in order.
class Journal {
 public:
  virtual ~Journal() = default;
  // The result of a proposal that is finished already.
  virtual std::optional<Trial> finished(std::int64_t /*number*/) { return std::nullopt; }
  virtual Claim claim(Trial const& /*proposal*/) { return Claim::mine; }
  // Durable on return.
  virtual void finish(Trial const& /*trial*/) {}
  // Called now and then while a proposal is worked on.
  virtual void alive(std::int64_t /*number*/) {}
  // The claim is given up; what was saved of the trial stays.
  virtual void release(std::int64_t /*number*/) {}
  virtual std::vector<SeedResult> seeds(std::int64_t /*number*/) { return {}; }
  virtual void finish_seed(std::int64_t /*number*/, SeedResult const& /*result*/) {}
  // A training in the middle.
  virtual bool wants_checkpoints() const { return false; }
  virtual std::vector<std::byte> checkpoint(std::int64_t /*number*/, std::uint64_t /*seed*/) {
    return {};
  }
  virtual void save_checkpoint(std::int64_t /*number*/, std::uint64_t /*seed*/,
                               std::span<std::byte const> /*bytes*/) {}
};

}  // namespace gnas::search
