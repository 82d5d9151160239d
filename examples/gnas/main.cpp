// The program gnas: search for the best graph neural network without writing code.
#include "commands.hpp"

#include <gnas/core/config.hpp>
#include <gnas/core/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

volatile std::sig_atomic_t interrupts = 0;

extern "C" void on_interrupt(int signal) {
  // The second Ctrl-C stops at once; whatever was saved stays valid.
  interrupts = interrupts + 1;
  if (interrupts > 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

// "90", "90s", "5m", "2h" in seconds.
double seconds_of(std::string const& text, char const* option) {
  char* end = nullptr;
  double const value = std::strtod(text.c_str(), &end);
  std::string const unit = end;
  double const factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  gnas::expects(
      end != text.c_str() && factor > 0 && value >= 0,
      std::string(option) + " is '" + text + "', a time such as 90, 90s, 5m or 2h was needed");
  return value * factor;
}

void data_options(CLI::App& app, Settings& s) {
  app.add_option("data", s.data,
                 "folder or file: Planetoid, LINQS, Geom-GCN, .npz, edge list, CSV folder")
      ->required();
  app.add_option("--format", s.format, "reader to use instead of looking at the content");
  app.add_option("--features", s.features, "features file beside an edge list");
  app.add_flag("--sparse-features", s.sparse_features,
               "the features file has lines 'node column [value]'");
  app.add_option("--labels", s.labels, "labels file beside an edge list");
  app.add_option("--splits", s.splits, "splits file beside an edge list");
  app.add_option(
      "--split", s.split,
      "a split's name, or random:TRAIN,VAL per class, or ratio:TRAIN,VAL,TEST (both with :SEED)");
  app.add_flag("--relabel", s.relabel, "renumber node ids that are not 0..n-1");
  app.add_option("--direction", s.direction, "keep or symmetrize")->capture_default_str();
  app.add_option("--duplicates", s.duplicates, "keep, merge or sum")->capture_default_str();
  app.add_option("--self-loops", s.self_loops, "keep, remove or add-missing")
      ->capture_default_str();
}

void model_options(CLI::App& app, Settings& s) {
  app.add_option("--space", s.space, "nas-bench-graph, graph-nas or reference")
      ->capture_default_str();
  app.add_option("--recipe", s.recipe,
                 "training recipe by name: cora, citeseer, pubmed, ..., gcn, gat");
  app.add_option("--pre", s.pre, "dense layers before the cell");
  app.add_option("--post", s.post, "dense layers after the cell");
  app.add_option("--hidden", s.hidden, "hidden width");
  app.add_option("--layers", s.layers, "layers of graph-nas");
  app.add_option("--dropout", s.dropout, "dropout probability");
  app.add_option("--optimizer", s.optimizer, "sgd or adam");
  app.add_option("--lr", s.lr, "learning rate");
  app.add_option("--weight-decay", s.weight_decay, "L2 weight decay");
  app.add_option("--momentum", s.momentum, "of sgd");
  app.add_option("--epochs", s.epochs, "epochs of each training");
  app.add_option("--patience", s.patience,
                 "stop after so many epochs without a better validation accuracy; 0 = never");
  app.add_option(
      "--selection", s.selection,
      "epoch that counts: accuracy (first of the best validation accuracy), loss (first of "
      "the lowest validation loss) or accuracy-and-loss (last with both at their best)");
  app.add_flag("--no-early-stop", s.no_early_stop, "run all epochs whatever the recipe says");
  app.add_flag_callback(
      "--row-normalize", [&s] { s.row_normalize = true; }, "divide each feature row by its sum");
  app.add_flag_callback(
      "--no-row-normalize", [&s] { s.row_normalize = false; }, "whatever the recipe says");
  app.add_option("--seed", s.seed, "seed of everything random")->capture_default_str();
  app.add_option("--seeds", s.seeds,
                 "trainings of each architecture, with seeds SEED, SEED + 1, ...")
      ->capture_default_str();
}

// The lines 'name = value' of a file as arguments; '#' and ';' begin comments, a [section] line
// means nothing.
std::vector<std::string> config_arguments(std::string const& file) {
  std::ifstream in(file);
  if (!in) throw gnas::InvalidArgument("--config " + file + ": cannot be read");
  std::vector<std::string> out;
  int number = 0;
  auto const trim = [](std::string text) {
    text.erase(0, std::min(text.find_first_not_of(" \t\""), text.size()));
    text.erase(text.find_last_not_of(" \t\r\"") + 1);
    return text;
  };
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = trim(line.substr(0, line.find_first_of("#;")));
    if (line.empty() || line.front() == '[') continue;
    std::size_t const equals = line.find('=');
    if (equals == std::string::npos) {
      throw gnas::InvalidArgument(file + ":" + std::to_string(number) + ": '" + line +
                                  "' is no 'name = value'");
    }
    out.push_back("--" + trim(line.substr(0, equals)) + "=" + trim(line.substr(equals + 1)));
  }
  return out;
}

// The command line with the options of a --config file put first, so that what is typed wins.
std::vector<std::string> expand_config(int argc, char** argv) {
  std::vector<std::string> args, config;
  for (int k = 1; k < argc; ++k) {
    std::string const a = argv[k];
    if (a == "--config" && k + 1 < argc) {
      config = config_arguments(argv[++k]);
    } else if (a.starts_with("--config=")) {
      config = config_arguments(a.substr(9));
    } else {
      args.push_back(a);
    }
  }
  if (!args.empty()) args.insert(args.begin() + 1, config.begin(), config.end());
  return args;
}

}  // namespace

bool interrupted() { return interrupts > 0; }

int main(int argc, char** argv) {
  CLI::App app("Finds the best graph neural network for your graph.", "gnas");
  app.set_version_flag("--version", GNAS_VERSION_STRING);
  app.require_subcommand(1);
  // Of an option that is given twice, in the file and on the command line, the last one counts.
  app.option_defaults()->take_last();
  app.fallthrough(false);
  Settings s;
  Output o;
  std::string from, folder, time, trial_time, config;
  int top = 0, more_trials = 0, more_epochs = 0, threads = 0;
  std::int64_t trial = -1;
  bool csv = false;
  std::string failed = "skip";
  std::function<int()> run;
  auto const json = [&](CLI::App& c) { c.add_flag("--json", o.json, "results as JSON"); };

  CLI::App& c_check =
      *app.add_subcommand("check", "load data, print counts and what was changed; train nothing");
  data_options(c_check, s);
  json(c_check);
  c_check.callback([&] { run = [&] { return check(s, o); }; });

  CLI::App& c_train = *app.add_subcommand("train", "train one architecture");
  data_options(c_train, s);
  model_options(c_train, s);
  c_train.add_option("--arch", s.arch, "architecture, for example 0,0,1,2:gat,gcn,gin,cheb");
  c_train.add_option("--from", from, "folder of a saved model: evaluate it instead of training");
  c_train.add_option("--threads", s.threads,
                     "threads inside the training; results do not depend on it");
  c_train.add_option("--time", trial_time, "time limit of each training: 90, 90s, 5m, 2h");
  c_train.add_option("--stop-after", s.stop_after,
                     "stop after so many epochs, to be continued by 'gnas resume'");
  c_train.add_option("--out", o.out, "folder for curves, checkpoints and the model");
  c_train.add_flag("--dry-run", o.dry_run,
                   "print the resolved settings, parameters and memory; train nothing");
  c_train.add_option("--config", config,
                     "file with options, as 'name = value' lines; the command line wins");
  json(c_train);
  c_train.callback([&] {
    s.command = "train";
    run = [&] {
      if (!trial_time.empty()) s.trial_time_s = seconds_of(trial_time, "--time");
      return train(s, o, from);
    };
  });

  CLI::App& c_search =
      *app.add_subcommand("search", "search a space; several processes may share one --out folder");
  data_options(c_search, s);
  model_options(c_search, s);
  c_search.add_option("--strategy", s.strategy, "regularized-evolution or random")
      ->capture_default_str();
  c_search.add_option("--population", s.population, "of regularized-evolution")
      ->capture_default_str();
  c_search.add_option("--sample", s.sample, "tournament size of regularized-evolution")
      ->capture_default_str();
  c_search.add_option("--trials", s.trials, "architectures to train")->capture_default_str();
  c_search.add_option("--arch-file", s.arch_file,
                      "evaluate exactly the architectures of this file, one a line");
  c_search
      .add_option("--threads,--workers", s.threads,
                  "candidates in training at once; 0 = one a hardware thread")
      ->capture_default_str();
  c_search.add_option("--time", time, "time limit of the whole search: 90, 90s, 5m, 2h");
  c_search.add_option("--trial-time", trial_time, "time limit of each training");
  c_search.add_option("--max-parameters", s.max_parameters, "refuse larger models");
  c_search.add_option("--max-memory", s.max_memory_bytes, "refuse candidates that need more bytes");
  c_search.add_option("--out", o.out,
                      "folder of the run (default: the next free one under gnas-runs/)");
  c_search.add_flag("--dry-run", o.dry_run, "print the resolved settings; search nothing");
  c_search.add_option("--config", config,
                      "file with options, as 'name = value' lines; the command line wins");
  json(c_search);
  c_search.callback([&] {
    s.command = "search";
    run = [&] {
      if (!time.empty()) s.time_s = seconds_of(time, "--time");
      if (!trial_time.empty()) s.trial_time_s = seconds_of(trial_time, "--trial-time");
      return search(s, o);
    };
  });

  CLI::App& c_resume =
      *app.add_subcommand("resume", "continue a search or training from its folder");
  c_resume.add_option("folder", folder, "the run's --out folder")->required();
  c_resume.add_option("--trials", more_trials, "a new trial limit");
  c_resume.add_option("--epochs", more_epochs, "a new number of epochs, for a training");
  c_resume.add_option("--threads,--workers", threads, "as in search or train");
  c_resume.add_option("--failed", failed, "trials that failed: skip or restart")
      ->check(CLI::IsMember({"skip", "restart"}))
      ->capture_default_str();
  json(c_resume);
  c_resume.callback([&] {
    run = [&] { return resume(folder, o, more_trials, more_epochs, threads, failed == "restart"); };
  });

  CLI::App& c_report = *app.add_subcommand("report", "the table of a search, also while it runs");
  c_report.add_option("folder", folder, "the search's --out folder")->required();
  c_report.add_option("--top", top, "only the best so many (0 = all)");
  c_report.add_flag("--csv", csv, "as CSV");
  json(c_report);
  c_report.callback([&] { run = [&] { return report(folder, o, top, csv); }; });

  CLI::App& c_export = *app.add_subcommand(
      "export", "write a model of a search: architecture.json and weights.safetensors");
  c_export.add_option("folder", folder, "the search's --out folder")->required();
  c_export.add_option("--trial", trial, "number of the trial (default: the best)");
  c_export.add_option("--out", o.out, "folder to write")->required();
  c_export.callback([&] { run = [&] { return export_best(folder, o, trial); }; });

  CLI::App& c_doctor = *app.add_subcommand("doctor", "what this build can do on this machine");
  json(c_doctor);
  c_doctor.callback([&] { run = [&] { return doctor(o); }; });

  try {
    std::vector<std::string> args = expand_config(argc, argv);
    std::reverse(args.begin(), args.end());
    app.parse(args);
  } catch (gnas::InvalidArgument const& e) {
    std::fprintf(stderr, "gnas: %s\n", e.what());
    return kUsage;
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    std::fprintf(stderr, "gnas: %s; 'gnas --help' and 'gnas COMMAND --help' list the options\n",
                 e.what());
    return kUsage;
  }
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  try {
    return run();
  } catch (gnas::InvalidArgument const& e) {
    std::fprintf(stderr, "gnas: %s\n", e.what());
    return kUsage;
  } catch (gnas::DataError const& e) {
    std::fprintf(stderr, "gnas: %s\n", e.what());
    return kBadData;
  } catch (std::bad_alloc const&) {
    std::fprintf(stderr, "gnas: out of memory\n");
    return 1;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "gnas: %s\n", e.what());
    return 1;
  }
}
