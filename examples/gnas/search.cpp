#include "commands.hpp"
#include "run_folder.hpp"

#include <gnas/report/csv.hpp>
#include <gnas/report/json.hpp>
#include <gnas/report/progress.hpp>
#include <gnas/search/searcher.hpp>
#include <gnas/store/check_same.hpp>
#include <gnas/store/journal.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

int resume_training(Settings s, Output const& o, std::string const& folder,
                    std::string const& data);

namespace {

using nlohmann::ordered_json;

// One architecture a line; '#' begins a comment.
std::vector<gnas::ArchCode> read_arch_file(std::string const& file, AnySpace const& space) {
  std::ifstream in(file);
  if (!in) throw gnas::DataError("--arch-file " + file + ": cannot be read");
  std::vector<gnas::ArchCode> codes;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
      line.pop_back();
    if (line.empty()) continue;
    try {
      codes.push_back(gnas::space::parse(space, line));
    } catch (gnas::InvalidArgument const& e) {
      throw gnas::DataError(file + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  if (codes.empty()) throw gnas::DataError("--arch-file " + file + ": no architecture in it");
  return codes;
}

// The settings without those that only say how long to search, where and with what.
ordered_json same_search(Settings const& s) {
  ordered_json json = to_json(s);
  // What was read is in data_checksum, whatever it is called.
  for (char const* other : {"command", "data", "format", "features", "labels", "splits", "version",
                            "threads", "trials", "time_s", "max_parameters", "max_memory_bytes"}) {
    json.erase(other);
  }
  return json;
}

// Everything that a trial's result depends on, beside architecture and seeds.
std::string context_of(Settings const& s) {
  ordered_json json = same_search(s);
  for (char const* other : {"strategy", "population", "sample", "arch_file", "arch", "seeds"}) {
    json.erase(other);
  }
  return json.dump();
}

gnas::SearchConfig search_config(Settings const& s, AnySpace const& space) {
  gnas::SearchConfig c;
  c.trials = s.trials;
  c.seeds = s.seeds;
  c.seed = s.seed;
  c.workers = s.threads;
  c.time_limit_s = s.time_s;
  c.max_parameters = s.max_parameters.value_or(0);
  c.max_memory_bytes = s.max_memory_bytes.value_or(0);
  c.train = train_config(s);
  if (!s.arch_file.empty()) c.codes = read_arch_file(s.arch_file, space);
  at_least("--trials", s.trials, 1);
  at_least("--seeds", s.seeds, 1);
  gnas::expects(s.threads >= 0 && s.threads <= 1024,
                "--threads is " + std::to_string(s.threads) + ", it must be in 0..1024");
  at_least("--max-parameters", s.max_parameters.value_or(1), 1);
  at_least("--max-memory", s.max_memory_bytes.value_or(1), 1);
  return c;
}

ordered_json trials_json(std::vector<gnas::Trial> const& trials) {
  ordered_json list = ordered_json::array();
  gnas::Ranking const r = gnas::rank_trials(trials);
  for (std::size_t k : r.ranked) list.push_back(gnas::to_json(trials[k]));
  for (std::size_t k : r.unranked) list.push_back(gnas::to_json(trials[k]));
  return list;
}

// The best model's files. A best trial that another process or an earlier call trained is trained
// once more: the same seed gives the same weights.
void save_best(Settings const& s, AnySpace const& space, gnas::Dataset const& data,
               gnas::SearchResult& found, fs::path const& to) {
  gnas::Trial const* best = found.best();
  if (!best) return;
  if (found.best_number != best->number) {
    gnas::SeedResult top = best->seeds.front();
    for (gnas::SeedResult const& r : best->seeds) {
      if (r.val > top.val) top = r;
    }
    gnas::TrainConfig c = train_config(s);
    c.seed = top.seed;
    c.epochs = top.best_epoch;
    c.patience = 0;
    c.time_limit_s = 0;
    c.keep_best_state = true;
    gnas::Shard<float> shard(data, c.row_normalize);
    gnas::BasicTrainer<float> trainer(
        space.operator_table(), shard,
        space.decode(best->code, data.features.cols, data.num_classes), c,
        std::hash<gnas::ArchCode>{}(best->code));
    found.best_state = trainer.run().best_state;
  }
  write_model(to, s, space, data, *best, found.best_state);
  gnas::write_atomically(to / "metrics.json", gnas::to_json(*best).dump(2) + "\n");
}

int run_search(Settings const& s, Output const& o, fs::path const& folder,
               gnas::Dataset const& data, AnySpace const& space) {
  gnas::SearchConfig config = search_config(s, space);
  gnas::TrialStore store = gnas::TrialStore::create_or_open(folder / "trials.db");
  std::string const stored = store.config_or_put(to_json(s).dump());
  // One folder holds one search: a member that only one of the two has differs, too.
  std::vector<std::string> fields;
  for (ordered_json const& json :
       {same_search(s),
        same_search(settings_from_json(gnas::store::parse_config("trials.db", stored),
                                       (folder / "trials.db").string()))}) {
    for (auto const& [name, value] : json.items()) fields.push_back(name);
  }
  gnas::check_same((folder / "trials.db").string(), stored, to_json(s).dump(), fields);
  std::vector<std::uint64_t> seeds;
  for (int k = 0; k < s.seeds; ++k) seeds.push_back(s.seed + static_cast<std::uint64_t>(k));
  gnas::StoreJournal journal(store, folder / "checkpoints", context_of(s), seeds);
  config.journal = &journal;
  config.stop = interrupted;
  std::int64_t const limit =
      config.codes.empty() ? s.trials : static_cast<std::int64_t>(config.codes.size());
  gnas::ProgressOptions options;
  options.limit = limit;
  gnas::Progress progress(stderr, options);
  config.on_trial = [&](gnas::Trial const& t) {
    // Refused candidates cost no budget.
    if (!t.seeds.empty()) progress.trial_finished(gnas::is_ranked(t) ? t.val : std::nan(""));
  };
  config.on_epoch = [&](gnas::Trial const&, gnas::EpochMetrics const&) { progress.tick(); };

  gnas::BasicSearcher<AnySpace, AnyStrategy, gnas::backend::Cpu> const searcher(space,
                                                                                make_strategy(s));
  gnas::SearchResult found = searcher.run(data, config);
  progress.finish();
  gnas::write_csv(folder / "trials.csv", found.trials);
  save_best(s, space, data, found, folder / "best");

  bool const stopped = found.ended == "interrupted";
  gnas::Trial const* best = found.best();
  if (o.json) {
    ordered_json json = {{"space", s.space},         {"strategy", s.strategy},
                         {"data", data.name},        {"seed", s.seed},
                         {"ended", found.ended},     {"trained", found.trained},
                         {"reused", found.reused},   {"duplicates", found.duplicates},
                         {"seconds", found.seconds}, {"out", folder.string()}};
    json["best"] = best ? gnas::to_json(*best) : ordered_json(nullptr);
    json["trials"] = trials_json(found.trials);
    std::cout << json.dump(2) << '\n';
  } else {
    found.print_table(std::cout, 20);
    std::printf(
        "%zu trials (%lld trained now, %lld from the store), %lld duplicates answered, %.1f s, "
        "ended by: %s\n",
        found.trials.size(), static_cast<long long>(found.trained),
        static_cast<long long>(found.reused), static_cast<long long>(found.duplicates),
        found.seconds, found.ended.c_str());
    if (best) std::printf("best model: %s\n", (folder / "best").c_str());
    std::fflush(stdout);
  }
  std::fprintf(stderr,
               stopped ? "stopped; continue with: gnas resume %s\n"
                       : "more trials: gnas resume %s --trials N\n",
               folder.c_str());
  if (stopped) return kInterrupted;
  return best ? kGood : kNoTrial;
}

}  // namespace

int search(Settings s, Output const& o) {
  fix_paths(s);
  gnas::Dataset const data = load_data(s);
  AnySpace const space = make_space(s);
  gnas::SearchConfig const config = search_config(s, space);
  make_strategy(s);
  gnas::trainable(data, gnas::find_split(data, config.train.split));
  if (o.dry_run) {
    ordered_json json = to_json(s);
    json["space_settings"] = space.f->settings;
    json["space_size"] = space.f->view.size();
    json["resolved_training"] = {
        {"optimizer", config.train.optimizer == gnas::Optimizer::adam ? "adam" : "sgd"},
        {"lr", config.train.lr},
        {"weight_decay", config.train.weight_decay},
        {"epochs", config.train.epochs},
        {"patience", config.train.patience},
        {"selection", to_string(config.train.selection)},
        {"row_normalize", config.train.row_normalize},
        {"split", gnas::find_split(data, config.train.split).name}};
    std::cout << json.dump(2) << '\n';
    return kGood;
  }
  // Several processes that are given one folder share the search; the first decides its settings.
  fs::path folder = o.out;
  if (o.out.empty() || !fs::exists(folder / "trials.db"))
    folder = new_run_folder(o.out, data.name + "-" + s.space);
  if (!fs::exists(folder / "config.json")) write_config(folder, s);
  return run_search(s, o, folder, data, space);
}

int resume(std::string const& folder, Output const& o, Resume const& r) {
  Settings s = read_config(folder);
  bool const training = s.command == "train";
  std::string const where = training ? "for a training" : "for a search";
  auto const refuse = [&](bool given, std::string const& option, std::string const& why) {
    gnas::expects(!given, "resume: " + option + " means nothing " + where + why);
  };
  at_least("--trials", r.trials.value_or(1), 1);
  at_least("--epochs", r.epochs.value_or(1), 1);
  at_least("--threads", r.threads.value_or(0), 0);
  if (r.epochs) s.epochs = r.epochs;
  if (r.trials) s.trials = *r.trials;
  if (r.threads) s.threads = *r.threads;
  if (training) {
    refuse(r.trials.has_value(), "--trials", "");
    refuse(r.failed_given, "--failed", "");
    return resume_training(s, o, folder, r.data);
  }
  refuse(r.epochs.has_value(), "--epochs", ", whose trials must stay comparable");
  refuse(r.trials && !s.arch_file.empty(), "--trials", " of the architectures of a file");
  gnas::Dataset const data = load_same_data(s, folder, r.data);
  if (r.trials || !r.data.empty()) write_config(folder, s);
  {
    gnas::TrialStore store = gnas::TrialStore::create_or_open(fs::path(folder) / "trials.db");
    store.prepare_resume(r.restart_failed ? gnas::OnFailed::restart : gnas::OnFailed::skip);
  }
  return run_search(s, o, folder, data, make_space(s));
}

int report(std::string const& folder, Output const& o, int top, bool csv) {
  at_least("--top", top, 0);
  gnas::expects(!csv || !o.json, "report: --csv and --json exclude each other");
  fs::path const file = fs::path(folder) / "trials.db";
  if (!fs::exists(file))
    throw gnas::DataError(folder + ": no trials.db, so no search of gnas is here");
  gnas::TrialStore store = gnas::TrialStore::open_read_only(file);
  std::vector<gnas::Trial> const trials = store.finished();
  gnas::StoreCounts const counts = store.counts();
  if (csv) {
    gnas::write_csv(std::cout, trials);
  } else if (o.json) {
    ordered_json json = {
        {"finished", counts.finished}, {"running", counts.running}, {"waiting", counts.waiting}};
    json["trials"] = trials_json(trials);
    if (top > 0 && json["trials"].size() > static_cast<std::size_t>(top))
      json["trials"].erase(json["trials"].begin() + top, json["trials"].end());
    std::cout << json.dump(2) << '\n';
  } else {
    gnas::print_table(std::cout, trials, static_cast<std::size_t>(std::max(top, 0)));
    std::printf("%lld finished, %lld running, %lld waiting\n",
                static_cast<long long>(counts.finished), static_cast<long long>(counts.running),
                static_cast<long long>(counts.waiting));
  }
  return kGood;
}

int export_best(std::string const& folder, Output const& o, std::optional<std::int64_t> trial,
                std::string const& where) {
  gnas::expects(!o.out.empty(), "export: where to? give --out");
  Settings s = read_config(folder);
  gnas::expects(s.command == "search",
                folder + ": holds a training; its model is in " + folder + "/best");
  gnas::TrialStore store = gnas::TrialStore::open_read_only(fs::path(folder) / "trials.db");
  gnas::SearchResult found;
  found.trials = store.finished();
  if (trial) {
    std::erase_if(found.trials, [&](gnas::Trial const& t) { return t.number != *trial; });
    gnas::expects(!found.trials.empty(), "export: trial " + std::to_string(*trial) +
                                             " is not among the finished ones; 'gnas report " +
                                             folder + "' lists them");
  }
  if (!found.best()) {
    std::fprintf(stderr, "gnas: %s: no trial with a result to export\n", folder.c_str());
    return kNoTrial;
  }
  gnas::Dataset const data = load_same_data(s, folder, where);
  save_best(s, make_space(s), data, found, o.out);
  std::printf("%s\n", o.out.c_str());
  std::fprintf(stderr, "use it with: gnas train DATA --from %s\n", o.out.c_str());
  return kGood;
}
