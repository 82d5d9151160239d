// The folder of a run: config.json, trials.db, trials.csv, checkpoints/, best/.
#pragma once

#include "settings.hpp"
#include "spaces.hpp"

#include <gnas/data/load.hpp>
#include <gnas/data/split.hpp>
#include <gnas/search/trial.hpp>
#include <gnas/store/architecture_json.hpp>
#include <gnas/train/trainer.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;

// Loads what the settings name, makes the split they ask for, and puts its name into s.split.
gnas::Dataset load_data(Settings& s);

// The same for a run that is continued: its data, or what `where` names now, must have the checksum
// of the start.
gnas::Dataset load_same_data(Settings& s, std::string const& folder, std::string const& where);

// The folder to write into: `wanted`, which must not hold another run, or the next free one under
// gnas-runs/.
fs::path new_run_folder(std::string const& wanted, std::string const& name);
void write_config(fs::path const& folder, Settings const& s);
Settings read_config(fs::path const& folder);

// best/architecture.json and best/weights.safetensors. `state`: a ModelState block for float
// parameters.
void write_model(fs::path const& folder, Settings const& s, AnySpace const& space,
                 gnas::Dataset const& data, gnas::Trial const& trial,
                 std::vector<float> const& state);
// Reads what write_model wrote. Throws gnas::DataError when the two files do not fit each other.
gnas::ArchitectureFile read_model(fs::path const& folder, std::vector<float>& params,
                                  std::vector<float>& statistics);

gnas::ParamLayout layout_of(AnySpace const& space, gnas::ModelSpec const& spec);
std::string checksum_text(gnas::Dataset const& data);
