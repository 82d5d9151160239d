#include "commands.hpp"

#include <gnas/core/config.hpp>
#include <gnas/cpu/usable_threads.hpp>
#include <gnas/data/load.hpp>
#include <gnas/data/split.hpp>
#include <gnas/data/summary.hpp>

#include <sqlite3.h>
#include <zip.h>
#include <zlib.h>

#include <cstdio>
#include <iostream>
#include <thread>

int check(Settings const& s, Output const& o) {
  gnas::LoadOptions options;
  options.format = s.format;
  options.features = s.features;
  options.labels = s.labels;
  options.splits = s.splits;
  options.relabel = s.relabel;
  options.sparse_features = s.sparse_features;
  options.edges = edge_policy(s);
  gnas::Dataset data = gnas::load(s.data, options);
  if (!s.split.empty()) gnas::ensure_split(data, s.split);
  gnas::DatasetSummary const summary = gnas::summarize(data);
  if (o.json) {
    std::cout << gnas::to_json(summary).dump(2) << '\n';
  } else {
    gnas::print(std::cout, summary);
  }
  return kGood;
}

int doctor(Output const& o) {
  char const* const simd =
#if defined(__AVX512F__)
      "AVX-512";
#elif defined(__AVX2__)
      "AVX2";
#elif defined(__AVX__)
      "AVX";
#else
      "128-bit vectors; build with -Dnative=true for this machine's own";
#endif
  nlohmann::ordered_json json = {
    {"gnas", GNAS_VERSION_STRING},
#if defined(__clang__)
    {"compiler", "clang " __clang_version__},
#else
    {"compiler", "g++ " __VERSION__},
#endif
    {"vectors", simd},
    {"usable_threads", gnas::usable_threads()},
    {"sqlite", sqlite3_libversion()},
    {"libzip", zip_libzip_version()},
    {"zlib", zlibVersion()},
    {"back_ends", {"cpu"}},
    {"cuda", "not in this version: training runs on the CPU"},
    {"mpi", "not in this version: one machine, several processes through a shared --out folder"},
    {"nccl", "not in this version"}
  };
  if (o.json) {
    std::cout << json.dump(2) << '\n';
    return kGood;
  }
  for (auto const& [key, value] : json.items()) {
    std::printf("%-18s %s\n", key.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
  }
  return kGood;
}
