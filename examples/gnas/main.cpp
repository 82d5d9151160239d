// The program gnas: search for the best graph neural network without writing code.
#include "commands.hpp"

#include <gnas/core/config.hpp>
#include <gnas/core/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
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
  double value = 0;
  char const* const end = text.data() + text.size();
  auto const [unit_begin, error] = std::from_chars(text.data(), end, value);
  std::string const unit(unit_begin, end);
  double const factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  gnas::expects(error == std::errc() && factor > 0 && value > 0 && std::isfinite(value),
                std::string(option) + " is '" + text +
                    "', a time above 0 such as 90, 90s, 5m or 2h was needed");
  return value * factor;
}

template <class T>
struct NumberOf {
  using type = T;
};
template <class T>
struct NumberOf<std::optional<T>> {
  using type = T;
};

// An option of one number, read to its last character: what does not fit is refused, never wrapped,
// cut or taken for octal.
template <class T>
CLI::Option* add_number(CLI::App& app, std::string const& name, T& value, std::string const& help) {
  using Number = typename NumberOf<T>::type;
  char const* const kind = std::is_floating_point_v<Number> ? "a number"
                           : std::is_unsigned_v<Number>     ? "a whole number of at least 0"
                                                            : "a whole number";
  auto const set = [&value, kind,
                    option = name.substr(0, name.find(','))](std::string const& text) {
    Number read{};
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    bool const whole = end == text.data() + text.size() && !text.empty();
    gnas::expects(error != std::errc::result_out_of_range || !whole,
                  option + " is " + text + ", which is out of range");
    gnas::expects(error == std::errc() && whole,
                  option + " is '" + text + "', " + kind + " was needed");
    value = read;
  };
  CLI::Option* const option = app.add_option_function<std::string>(name, set, help);
  option->type_name(std::is_floating_point_v<Number> ? "FLOAT" : "INT");
  if constexpr (std::is_same_v<T, Number>) option->default_str(std::to_string(value));
  return option;
}

// Refuses the options among `names` that were given.
void refuse_given(CLI::App const& app, std::vector<std::string> const& names,
                  std::string const& where) {
  for (std::string const& name : names) {
    gnas::expects(app.get_option(name)->count() == 0, name + " means nothing " + where);
  }
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
  add_number(app, "--pre", s.pre, "dense layers before the cell");
  add_number(app, "--post", s.post, "dense layers after the cell");
  add_number(app, "--hidden", s.hidden, "hidden width");
  add_number(app, "--layers", s.layers, "layers of graph-nas");
  add_number(app, "--dropout", s.dropout, "dropout probability");
  app.add_option("--optimizer", s.optimizer, "sgd or adam");
  add_number(app, "--lr", s.lr, "learning rate");
  add_number(app, "--weight-decay", s.weight_decay, "L2 weight decay");
  add_number(app, "--momentum", s.momentum, "of sgd");
  add_number(app, "--epochs", s.epochs, "epochs of each training");
  add_number(app, "--patience", s.patience,
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
  add_number(app, "--seed", s.seed, "seed of everything random");
  add_number(app, "--seeds", s.seeds,
             "trainings of each architecture, with seeds SEED, SEED + 1, ...");
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
  std::string from, folder, time, trial_time, config, moved;
  int top = 0;
  std::optional<int> more_trials, more_epochs, threads;
  std::optional<std::int64_t> trial;
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
  add_number(c_train, "--threads", s.threads,
             "threads inside the training; results do not depend on it");
  c_train.add_option("--time", trial_time, "time limit of each training: 90, 90s, 5m, 2h");
  add_number(c_train, "--stop-after", s.stop_after,
             "stop after so many epochs, to be continued by 'gnas resume'");
  c_train.add_option("--out", o.out, "folder for curves, checkpoints and the model");
  c_train.add_flag("--dry-run", o.dry_run,
                   "print the resolved settings, parameters and memory; train nothing");
  c_train.add_option("--config", config,
                     "file with options, as 'name = value' lines; the command line wins");
  json(c_train);
  c_train.callback([&] {
    s.command = "train";
    if (!from.empty()) {
      refuse_given(
          c_train,
          {"--space",         "--recipe",        "--pre",       "--post",      "--hidden",
           "--layers",        "--dropout",       "--optimizer", "--lr",        "--momentum",
           "--epochs",        "--weight-decay",  "--patience",  "--seed",      "--seeds",
           "--no-early-stop", "--row-normalize", "--arch",      "--selection", "--no-row-normalize",
           "--stop-after",    "--time",          "--out",       "--dry-run"},
          "with --from, which evaluates a saved model");
    }
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
  add_number(c_search, "--population", s.population, "of regularized-evolution");
  add_number(c_search, "--sample", s.sample, "tournament size of regularized-evolution");
  add_number(c_search, "--trials", s.trials, "architectures to train");
  c_search.add_option("--arch-file", s.arch_file,
                      "evaluate exactly the architectures of this file, one a line");
  add_number(c_search, "--threads,--workers", s.threads,
             "candidates in training at once; 0 = one a hardware thread");
  c_search.add_option("--time", time, "time limit of the whole search: 90, 90s, 5m, 2h");
  c_search.add_option("--trial-time", trial_time, "time limit of each training");
  add_number(c_search, "--max-parameters", s.max_parameters, "refuse larger models");
  add_number(c_search, "--max-memory", s.max_memory_bytes,
             "refuse candidates that need more bytes");
  c_search.add_option("--out", o.out,
                      "folder of the run (default: the next free one under gnas-runs/)");
  c_search.add_flag("--dry-run", o.dry_run, "print the resolved settings; search nothing");
  c_search.add_option("--config", config,
                      "file with options, as 'name = value' lines; the command line wins");
  json(c_search);
  c_search.callback([&] {
    s.command = "search";
    if (!s.arch_file.empty()) {
      refuse_given(c_search, {"--strategy", "--population", "--sample", "--trials"},
                   "with --arch-file, whose architectures are all evaluated");
    }
    run = [&] {
      if (!time.empty()) s.time_s = seconds_of(time, "--time");
      if (!trial_time.empty()) s.trial_time_s = seconds_of(trial_time, "--trial-time");
      return search(s, o);
    };
  });

  CLI::App& c_resume =
      *app.add_subcommand("resume", "continue a search or training from its folder");
  c_resume.add_option("folder", folder, "the run's --out folder")->required();
  c_resume.add_option("--data", moved, "where the data is now, if it was moved");
  add_number(c_resume, "--trials", more_trials, "a new trial limit");
  add_number(c_resume, "--epochs", more_epochs, "a new number of epochs, for a training");
  add_number(c_resume, "--threads,--workers", threads, "as in search or train");
  c_resume.add_option("--failed", failed, "trials that failed: skip or restart")
      ->check(CLI::IsMember({"skip", "restart"}))
      ->capture_default_str();
  json(c_resume);
  c_resume.callback([&] {
    run = [&] {
      Resume const r{.data = moved,
                     .trials = more_trials,
                     .epochs = more_epochs,
                     .threads = threads,
                     .failed_given = c_resume.get_option("--failed")->count() > 0,
                     .restart_failed = failed == "restart"};
      return resume(folder, o, r);
    };
  });

  CLI::App& c_report = *app.add_subcommand("report", "the table of a search, also while it runs");
  c_report.add_option("folder", folder, "the search's --out folder")->required();
  add_number(c_report, "--top", top, "only the best so many (0 = all)");
  c_report.add_flag("--csv", csv, "as CSV");
  json(c_report);
  c_report.callback([&] { run = [&] { return report(folder, o, top, csv); }; });

  CLI::App& c_export = *app.add_subcommand(
      "export", "write a model of a search: architecture.json and weights.safetensors");
  c_export.add_option("folder", folder, "the search's --out folder")->required();
  add_number(c_export, "--trial", trial, "number of the trial (default: the best)");
  c_export.add_option("--out", o.out, "folder to write")->required();
  c_export.add_option("--data", moved, "where the data is now, if it was moved");
  c_export.callback([&] { run = [&] { return export_best(folder, o, trial, moved); }; });

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
    int const status = run();
    // A full disk behind a redirection is no success.
    std::cout.flush();
    if (std::cout && std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
    std::fprintf(stderr, "gnas: standard output: cannot be written: %s\n", std::strerror(errno));
    return 1;
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
