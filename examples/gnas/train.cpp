#include "commands.hpp"
#include "run_folder.hpp"

#include <gnas/report/json.hpp>
#include <gnas/report/table.hpp>
#include <gnas/store/checkpoint.hpp>
#include <gnas/store/safetensors.hpp>

#include <cstdio>
#include <iostream>

namespace {

using nlohmann::ordered_json;

ordered_json mean_json(gnas::MeanStd const& m) {
  return {{"mean", gnas::report::json_number(m.mean)}, {"std", gnas::report::json_number(m.std)}};
}

ordered_json result_json(gnas::Trial const& t, Settings const& s) {
  ordered_json json;
  json["arch"] = t.arch;
  json["space"] = s.space;
  json["status"] = to_string(t.status);
  json["parameters"] = t.parameters;
  json["memory_bytes"] = t.memory_bytes;
  json["n"] = t.seeds.size();
  gnas::TrialSummary const summary = gnas::summarize(t);
  json["val"] = mean_json(summary.val);
  json["test"] = mean_json(summary.test);
  std::vector<double> epochs, seconds;
  ordered_json seeds = ordered_json::array();
  for (gnas::SeedResult const& r : t.seeds) {
    epochs.push_back(r.epochs);
    seconds.push_back(r.seconds);
    seeds.push_back({{"seed", r.seed},
                     {"val", gnas::report::json_number(r.val)},
                     {"test", gnas::report::json_number(r.test)},
                     {"parameters", t.parameters},
                     {"best_epoch", r.best_epoch},
                     {"epochs", r.epochs},
                     {"seconds", r.seconds},
                     {"status", to_string(r.status)}});
    if (!r.reason.empty()) seeds.back()["reason"] = r.reason;
  }
  json["epochs"] = mean_json(gnas::mean_std(epochs));
  json["seconds"] = mean_json(gnas::mean_std(seconds));
  json["seeds"] = std::move(seeds);
  return json;
}

ordered_json config_json(gnas::TrainConfig const& c) {
  return {{"optimizer", c.optimizer == gnas::Optimizer::adam ? "adam" : "sgd"},
          {"lr", c.lr},
          {"weight_decay", c.weight_decay},
          {"momentum", c.momentum},
          {"epochs", c.epochs},
          {"patience", c.patience},
          {"selection", to_string(c.selection)},
          {"row_normalize", c.row_normalize},
          {"split", c.split},
          {"seed", c.seed},
          {"threads", c.threads},
          {"time_limit_s", c.time_limit_s}};
}

// One seed, from its checkpoint when there is one. Writes the curve and, when asked, stops early.
gnas::TrainResult train_seed(gnas::BasicTrainer<float>& trainer, fs::path const& folder,
                             std::uint64_t seed, int stop_after) {
  fs::path const checkpoint =
      folder.empty() ? fs::path() : folder / ("seed-" + std::to_string(seed) + ".ckpt");
  if (!checkpoint.empty()) {
    if (auto bytes = gnas::load_checkpoint(checkpoint)) trainer.restore(*bytes);
  }
  gnas::TrainResult r = trainer.run([&](gnas::EpochMetrics const& m) {
    return !interrupted() && (stop_after == 0 || m.epoch < stop_after);
  });
  if (!checkpoint.empty()) gnas::save_checkpoint(checkpoint, trainer.checkpoint());
  return r;
}

void write_curve(fs::path const& folder, gnas::TrainResult const& r) {
  std::string csv = "epoch,loss,train,val,val_loss,test\n";
  char line[160];
  for (gnas::EpochMetrics const& m : r.history) {
    std::snprintf(line, sizeof line, "%d,%.17g,%.17g,%.17g,%.17g,%.17g\n", m.epoch, m.loss, m.train,
                  m.val, m.val_loss, m.test);
    csv += line;
  }
  gnas::write_atomically(folder / ("seed-" + std::to_string(r.seed) + ".csv"), csv);
}

int run_training(Settings s, Output const& o, fs::path const& folder, gnas::Dataset const& data,
                 AnySpace const& space) {
  gnas::TrainConfig config = train_config(s);
  config.threads = s.threads > 0 ? s.threads : 1;
  config.keep_best_state = true;
  config.keep_history = !folder.empty();
  gnas::Trial t;
  t.number = 0;
  t.code = gnas::space::canonical(space, gnas::space::parse(space, s.arch));
  t.arch = space.to_text(t.code);
  gnas::ModelSpec const spec = space.decode(t.code, data.features.cols, data.num_classes);
  gnas::Shard<float> shard(data, config.row_normalize);
  std::vector<float> best_state;
  double best_val = -1;
  bool stopped = false;
  for (int k = 0; k < s.seeds && !stopped; ++k) {
    config.seed = s.seed + static_cast<std::uint64_t>(k);
    gnas::BasicTrainer<float> trainer(space.operator_table(), shard, spec, config,
                                      std::hash<gnas::ArchCode>{}(t.code));
    t.parameters = trainer.parameters();
    t.memory_bytes = trainer.memory_bytes();
    if (o.dry_run) {
      ordered_json json = {{"command", "train"},
                           {"data", data.name},
                           {"arch", t.arch},
                           {"space", s.space},
                           {"space_settings", space.f->settings},
                           {"parameters", t.parameters},
                           {"memory_bytes", t.memory_bytes},
                           {"seeds", s.seeds},
                           {"training", config_json(config)}};
      std::cout << json.dump(2) << '\n';
      return kGood;
    }
    gnas::TrainResult r = train_seed(trainer, folder, config.seed, s.stop_after.value_or(0));
    stopped = r.status == gnas::Status::interrupted;
    if (!folder.empty()) write_curve(folder, r);
    if (!o.json) {
      std::fprintf(stderr,
                   "seed %llu: validation %.2f%%, test %.2f%% at epoch %d of %d, %.1f s, %s%s%s\n",
                   static_cast<unsigned long long>(r.seed), 100 * r.val, 100 * r.test, r.best_epoch,
                   r.epochs, r.seconds, std::string(to_string(r.status)).c_str(),
                   r.reason.empty() ? "" : ": ", r.reason.c_str());
    }
    if (r.best_epoch > 0 && r.val > best_val) {
      best_val = r.val;
      best_state = std::move(r.best_state);
    }
    if (t.status == gnas::Status::completed && r.status != gnas::Status::completed) {
      t.status = r.status;
      t.reason = r.reason;
    }
    t.seeds.push_back(r);
  }
  gnas::TrialSummary const summary = gnas::summarize(t);
  t.val = summary.val.mean;
  t.test = summary.test.mean;
  if (!folder.empty()) {
    gnas::write_atomically(folder / "result.json", result_json(t, s).dump(2) + "\n");
    if (!stopped && !best_state.empty())
      write_model(folder / "best", s, space, data, t, best_state);
  }
  if (o.json) {
    std::cout << result_json(t, s).dump(2) << '\n';
  } else {
    gnas::print_table(std::cout, std::span<gnas::Trial const>(&t, 1));
  }
  if (stopped) {
    if (folder.empty()) {
      std::fprintf(stderr, "stopped; give --out to be able to continue\n");
    } else {
      std::fprintf(stderr, "stopped; continue with: gnas resume %s\n", folder.c_str());
    }
    return kInterrupted;
  }
  return gnas::is_ranked(t) ? kGood : kNoTrial;
}

// What a saved model says about data it did not come from.
int evaluate_saved(Settings s, Output const& o, std::string const& from) {
  std::vector<float> params, statistics;
  gnas::ArchitectureFile const file = read_model(from, params, statistics);
  Settings made = s;
  made.space = file.space;
  made.recipe.clear();
  made.pre = made.post = made.hidden = made.layers = std::nullopt;
  made.dropout = std::nullopt;
  AnySpace const space = make_space(made);
  gnas::Dataset const data = load_data(s);
  gnas::expects(
      data.features.cols == file.spec.in_features && data.num_classes == file.spec.num_classes,
      from + ": the model was made for " + std::to_string(file.spec.in_features) +
          " features and " + std::to_string(file.spec.num_classes) + " classes, " + data.name +
          " has " + std::to_string(data.features.cols) + " and " +
          std::to_string(data.num_classes));
  gnas::TrainConfig config = train_config(s);
  config.row_normalize =
      file.settings.contains("row_normalize") && file.settings.at("row_normalize") != 0;
  config.threads = s.threads > 0 ? s.threads : 1;
  gnas::Shard<float> shard(data, config.row_normalize);
  gnas::BasicTrainer<float> trainer(space.operator_table(), shard, file.spec, config);
  auto& state = trainer.state();
  std::copy(params.begin(), params.end(), state.params().begin());
  std::copy(statistics.begin(), statistics.end(), state.statistics().begin());
  auto const [val, test] = trainer.accuracy();
  if (o.json) {
    std::cout << ordered_json{{"arch", file.arch},
                              {"val", val},
                              {"test", test},
                              {"parameters", trainer.parameters()}}
                     .dump(2)
              << '\n';
  } else {
    std::printf("%s: validation %.2f%%, test %.2f%%\n", file.arch.c_str(), 100 * val, 100 * test);
  }
  return kGood;
}

}  // namespace

int train(Settings s, Output const& o, std::string const& from) {
  fix_paths(s);
  if (!from.empty()) return evaluate_saved(std::move(s), o, from);
  gnas::expects(!s.arch.empty(),
                "train: which architecture? give --arch, or --from and a saved model");
  gnas::Dataset const data = load_data(s);
  AnySpace const space = make_space(s);
  s.arch = space.to_text(gnas::space::canonical(space, gnas::space::parse(space, s.arch)));
  // All that can be refused is, before a folder is made.
  train_config(s);
  at_least("--seeds", s.seeds, 1);
  gnas::expects(s.threads >= 0 && s.threads <= 1024,
                "--threads is " + std::to_string(s.threads) + ", it must be in 0..1024");
  at_least("--stop-after", s.stop_after.value_or(1), 1);
  space.decode(gnas::space::parse(space, s.arch), data.features.cols, data.num_classes);
  gnas::trainable(data, gnas::find_split(data, s.split));
  gnas::expects(!s.stop_after || !o.out.empty(),
                "train: --stop-after needs --out, where the training is kept to be continued");
  fs::path folder;
  if (!o.out.empty() && !o.dry_run) {
    folder = new_run_folder(o.out, "");
    write_config(folder, s);
  }
  return run_training(std::move(s), o, folder, data, space);
}

// Called by resume().
int resume_training(Settings s, Output const& o, std::string const& folder,
                    std::string const& where) {
  s.stop_after.reset();
  gnas::Dataset const data = load_same_data(s, folder, where);
  if (!where.empty()) write_config(folder, s);
  return run_training(s, o, folder, data, make_space(s));
}
