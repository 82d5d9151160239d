// Everything for a host program: data sets, spaces, strategies, training, search, reports, the
// trial store. Needs zlib, libzip, nlohmann-json and SQLite; code that has its own
// data sets can include gnas/search/searcher.hpp alone, which needs the standard library only.
#pragma once

#include <gnas/core/config.hpp>
#include <gnas/core/error.hpp>
#include <gnas/data/load.hpp>
#include <gnas/data/split.hpp>
#include <gnas/data/summary.hpp>
#include <gnas/op/graph_nas.hpp>
#include <gnas/op/nas_bench.hpp>
#include <gnas/report/csv.hpp>
#include <gnas/report/json.hpp>
#include <gnas/report/progress.hpp>
#include <gnas/report/table.hpp>
#include <gnas/search/random.hpp>
#include <gnas/search/regularized_evolution.hpp>
#include <gnas/search/searcher.hpp>
#include <gnas/space/graph_nas.hpp>
#include <gnas/space/layerwise.hpp>
#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/space/recipes.hpp>
#include <gnas/space/reference.hpp>
#include <gnas/store/architecture_json.hpp>
#include <gnas/store/journal.hpp>
#include <gnas/store/safetensors.hpp>
#include <gnas/train/trainer.hpp>
