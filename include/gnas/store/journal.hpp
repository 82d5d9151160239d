// StoreJournal: a search's journal in a trial store, with checkpoint files beside it. Several
// processes may use one.
#pragma once

#include <gnas/search/journal.hpp>
#include <gnas/store/checkpoint.hpp>
#include <gnas/store/trial_store.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

class StoreJournal : public search::Journal {
 public:
  // folder: for checkpoints, made when needed. context: all that a result depends on beside
  // architecture and seeds.
  StoreJournal(TrialStore& store, std::filesystem::path folder, std::string context,
               std::vector<std::uint64_t> seeds)
      : store_(store),
        folder_(std::move(folder)),
        context_(std::move(context)),
        seeds_(std::move(seeds)) {
    for (Trial& t : store_.finished()) finished_.emplace(t.number, std::move(t));
  }

  std::optional<Trial> finished(std::int64_t number) override {
    {
      std::lock_guard lock(mutex_);
      if (auto const at = finished_.find(number); at != finished_.end()) return at->second;
    }
    return store_.trial(number);
  }
  search::Claim claim(Trial const& proposal) override {
    return store_.claim(proposal.number, TrialKey::of(proposal.code, context_, seeds_), "gnas")
               ? search::Claim::mine
               : search::Claim::elsewhere;
  }
  void finish(Trial const& trial) override {
    store_.finish(trial, TrialKey::of(trial.code, context_, seeds_));
    for (SeedResult const& s : trial.seeds) remove_checkpoint(file(trial.number, s.seed));
  }
  void alive(std::int64_t number) override { store_.heartbeat(number); }
  void release(std::int64_t number) override { store_.release(number); }
  std::vector<SeedResult> seeds(std::int64_t number) override { return store_.seeds(number); }
  void finish_seed(std::int64_t number, SeedResult const& result) override {
    store_.put_seed(number, result);
  }

  bool wants_checkpoints() const override { return true; }
  std::vector<std::byte> checkpoint(std::int64_t number, std::uint64_t seed) override {
    return load_checkpoint(file(number, seed)).value_or(std::vector<std::byte>());
  }
  void save_checkpoint(std::int64_t number, std::uint64_t seed,
                       std::span<std::byte const> bytes) override {
    std::filesystem::create_directories(folder_);
    gnas::save_checkpoint(file(number, seed), bytes);
  }

 private:
  std::filesystem::path file(std::int64_t number, std::uint64_t seed) const {
    return folder_ /
           ("trial-" + std::to_string(number) + "-seed-" + std::to_string(seed) + ".ckpt");
  }

  TrialStore& store_;
  std::filesystem::path folder_;
  std::string context_;
  std::vector<std::uint64_t> seeds_;
  std::mutex mutex_;
  std::map<std::int64_t, Trial> finished_;
};

}  // namespace gnas
