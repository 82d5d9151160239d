// The library's side of bench/peers: trains on request, so that a driver can interleave contenders
// in one run.
//   epoch_server --data DIR --debian NPZ --threads N
//   prepare DATASET ARCH gnas  ->  ready PARAMETERS     (after two warm-up epochs)
//   run N                      ->  ok SECONDS LOSS VAL TEST
//   quit; everything that goes wrong answers  failed REASON
#include <gnas/data/load.hpp>
#include <gnas/data/split.hpp>
#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/space/recipes.hpp>
#include <gnas/space/reference.hpp>
#include <gnas/train/trainer.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

namespace {

struct Loaded {
  gnas::Dataset data;
  std::map<bool, std::unique_ptr<gnas::Shard<float>>> shards;  // by row normalization
};

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> option = {{"--threads", "2"}};
  for (int k = 1; k + 1 < argc; k += 2) option[argv[k]] = argv[k + 1];
  std::map<std::string, std::unique_ptr<Loaded>> sets;
  std::optional<gnas::BasicTrainer<float>> trainer;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    if (verb == "quit") break;
    try {
      if (verb == "prepare") {
        std::string name, arch, mode;
        in >> name >> arch >> mode;
        bool const debian = name == "debian-bookworm";
        auto& set = sets[name];
        if (!set) {
          set = std::make_unique<Loaded>();
          set->data = gnas::load(debian ? option["--debian"] : option["--data"] + "/" + name);
        }
        gnas::TrainConfig config;
        config.epochs = 1 << 30;
        config.threads = std::stoi(option["--threads"]);
        gnas::ModelSpec spec;
        gnas::OperatorTable<float> ops;
        int const features = set->data.features.cols, classes = set->data.num_classes;
        if (arch == "gcn" || arch == "gat") {
          bool const pubmed = name == "pubmed" && arch == "gat";
          gnas::space::apply(gnas::space::recipe(pubmed ? "gat-pubmed" : arch), config);
          gnas::space::Reference const space;
          spec = space.decode(space.parse(pubmed ? "gat-pubmed" : arch), features, classes);
          ops = gnas::operator_table<gnas::space::Reference::operators, float>();
        } else {
          gnas::space::NasBenchGraph space{.pre = 0, .post = 1, .hidden = 64, .dropout = 0.3};
          config.lr = 0.005;
          if (!debian) {
            auto const& r = gnas::space::recipe(name);
            gnas::space::apply(r, config);
            space = {.pre = r.pre, .post = r.post, .hidden = r.hidden, .dropout = r.dropout};
          }
          spec = space.decode(space.canonical(space.parse(arch)), features, classes);
          ops = gnas::operator_table<gnas::space::NasBenchGraph::operators, float>();
        }
        config.epochs = 1 << 30;
        config.patience = 0;
        auto& shard = set->shards[config.row_normalize];
        if (!shard) shard = std::make_unique<gnas::Shard<float>>(set->data, config.row_normalize);
        trainer.reset();
        trainer.emplace(ops, *shard, spec, config);
        for (int k = 0; k < 2; ++k) trainer->epoch();
        std::printf("ready %lld\n", static_cast<long long>(trainer->parameters()));
      } else if (verb == "run") {
        int epochs = 0;
        in >> epochs;
        gnas::expects(trainer.has_value() && epochs > 0,
                      "run: prepare first, then a number of epochs");
        auto const begin = std::chrono::steady_clock::now();
        gnas::EpochMetrics m;
        for (int k = 0; k < epochs; ++k) m = trainer->epoch();
        double const seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::printf("ok %.9g %.9g %.9g %.9g\n", seconds, m.loss, m.val, m.test);
      } else {
        std::printf("failed unknown request '%s'\n", verb.c_str());
      }
    } catch (std::exception const& e) {
      std::printf("failed %s\n", e.what());
    }
    std::fflush(stdout);
  }
}
