#include "run_folder.hpp"

#include <gnas/core/config.hpp>
#include <gnas/store/atomic_file.hpp>
#include <gnas/store/safetensors.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

std::string checksum_text(gnas::Dataset const& data) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(data.checksum));
  return text;
}

gnas::Dataset load_data(Settings& s) {
  gnas::LoadOptions options;
  options.format = s.format;
  options.features = s.features;
  options.labels = s.labels;
  options.splits = s.splits;
  options.relabel = s.relabel;
  options.sparse_features = s.sparse_features;
  options.edges = edge_policy(s);
  gnas::Dataset data = gnas::load(s.data, options);
  gnas::TrainConfig const config = train_config(s);
  if (!config.split.empty())
    s.split = gnas::ensure_split(
        data, config.split == "public" && data.splits.empty() ? "random:20,30" : config.split);
  s.data_checksum = checksum_text(data);
  s.version = GNAS_VERSION_STRING;
  return data;
}

gnas::Dataset load_same_data(Settings& s, std::string const& folder, std::string const& where) {
  if (!where.empty()) s.data = where;
  fix_paths(s);
  if (!fs::exists(s.data)) {
    throw gnas::DataError(folder + ": its data is not at " + s.data +
                          "; give its place with --data");
  }
  std::string const checksum = s.data_checksum;
  gnas::Dataset data = load_data(s);
  if (s.data_checksum != checksum) {
    throw gnas::DataError(s.data + ": its checksum is " + s.data_checksum + ", " + folder +
                          " was made with " + checksum +
                          "; give the data's place with --data or start a new run");
  }
  return data;
}

fs::path new_run_folder(std::string const& wanted, std::string const& name) {
  fs::path folder = wanted;
  if (wanted.empty()) {
    for (int k = 1; folder.empty() || fs::exists(folder); ++k) {
      folder = fs::path("gnas-runs") / (name + "-" + std::to_string(k));
    }
  } else {
    gnas::expects(!fs::exists(folder / "config.json"),
                  "--out " + wanted + " holds a run already; continue it with 'gnas resume " +
                      wanted + "' or name another folder");
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw gnas::DataError("--out " + folder.string() + ": cannot be made: " + error.message());
  return folder;
}

void write_config(fs::path const& folder, Settings const& s) {
  gnas::write_atomically(folder / "config.json", to_json(s).dump(2) + "\n");
}

Settings read_config(fs::path const& folder) {
  fs::path const file = folder / "config.json";
  std::ifstream in(file);
  if (!in) throw gnas::DataError(folder.string() + ": no config.json, so no run of gnas is here");
  std::stringstream text;
  text << in.rdbuf();
  auto const json = nlohmann::ordered_json::parse(text.str(), nullptr, false);
  if (json.is_discarded())
    throw gnas::DataError(file.string() + ": not JSON; restore it or start a new run");
  return settings_from_json(json, file.string());
}

gnas::ParamLayout layout_of(AnySpace const& space, gnas::ModelSpec const& spec) {
  return gnas::param_layout(spec, space.operator_table().infos);
}

void write_model(fs::path const& folder, Settings const& s, AnySpace const& space,
                 gnas::Dataset const& data, gnas::Trial const& trial,
                 std::vector<float> const& state) {
  gnas::ArchitectureFile file;
  file.space = s.space;
  file.code = trial.code;
  file.arch = trial.arch;
  file.class_names = data.class_names;
  file.data = data.name;
  file.data_checksum = data.checksum;
  file.settings["row_normalize"] = train_config(s).row_normalize ? 1 : 0;
  for (gnas::OperatorInfo const& op : space.operator_table().infos)
    file.operators.emplace_back(op.name);
  file.spec = space.decode(trial.code, data.features.cols, data.num_classes);
  gnas::ParamLayout const layout = layout_of(space, file.spec);
  gnas::Safetensors tensors;
  tensors.metadata["format"] = "gnas";
  tensors.metadata["architecture"] = trial.arch;
  for (gnas::Param const& p : layout.params) {
    auto const first = state.begin() + p.offset;
    tensors.tensors[p.name()] = {{p.rows, p.cols}, std::vector<float>(first, first + p.size())};
  }
  // Statistics lie behind the parameters and the optimizer's moments, before the step counter.
  auto const statistics = static_cast<std::ptrdiff_t>(state.size()) - 1 - layout.statistics;
  for (std::size_t l = 0; l < layout.running.size(); ++l) {
    if (layout.running[l] < 0) continue;
    auto const first = state.begin() + statistics + layout.running[l];
    int const width = layout.widths[l];
    std::string const name = "layers." + std::to_string(l) + ".running_";
    tensors.tensors[name + "mean"] = {{1, width}, std::vector<float>(first, first + width)};
    tensors.tensors[name + "var"] = {{1, width},
                                     std::vector<float>(first + width, first + 2 * width)};
  }
  fs::create_directories(folder);
  gnas::write_safetensors(folder / "weights.safetensors", tensors);
  gnas::write_architecture(folder / "architecture.json", file);
}

gnas::ArchitectureFile read_model(fs::path const& folder, std::vector<float>& params,
                                  std::vector<float>& statistics) {
  fs::path const json_file = folder / "architecture.json",
                 weights_file = folder / "weights.safetensors";
  if (!fs::exists(json_file)) {
    throw gnas::DataError(
        json_file.string() +
        ": cannot be read; --from takes a folder that 'gnas export' or a search wrote");
  }
  gnas::ArchitectureFile file = gnas::read_architecture(json_file);
  Settings s;
  s.space = file.space;
  gnas::ParamLayout const layout = layout_of(make_space(s), file.spec);
  gnas::Safetensors const tensors = gnas::read_safetensors(weights_file);
  auto const get = [&](std::string const& name, std::vector<std::int64_t> const& shape) {
    auto const at = tensors.tensors.find(name);
    if (at == tensors.tensors.end()) {
      throw gnas::DataError(weights_file.string() + ": no tensor '" + name +
                            "'; it belongs to another model than " + json_file.string());
    }
    auto const* values = std::get_if<std::vector<float>>(&at->second.data);
    if (!values || at->second.shape != shape) {
      throw gnas::DataError(weights_file.string() + ": tensor '" + name +
                            "' has another type or shape than " + json_file.string() + " asks for");
    }
    return *values;
  };
  params.assign(static_cast<std::size_t>(layout.size), 0);
  statistics.assign(static_cast<std::size_t>(layout.statistics), 0);
  for (gnas::Param const& p : layout.params) {
    auto const values = get(p.name(), {p.rows, p.cols});
    std::copy(values.begin(), values.end(), params.begin() + p.offset);
  }
  for (std::size_t l = 0; l < layout.running.size(); ++l) {
    if (layout.running[l] < 0) continue;
    int const width = layout.widths[l];
    std::string const name = "layers." + std::to_string(l) + ".running_";
    auto const mean = get(name + "mean", {1, width}), var = get(name + "var", {1, width});
    std::copy(mean.begin(), mean.end(), statistics.begin() + layout.running[l]);
    std::copy(var.begin(), var.end(), statistics.begin() + layout.running[l] + width);
  }
  return file;
}
