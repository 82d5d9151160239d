// Reads the reference values that tests/reference/make_reference.py made with PyTorch and PyTorch
// Geometric.
#pragma once

#include <gnas/data/npz.hpp>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace gnas_test {

class Reference {
 public:
  explicit Reference(std::string const& name)
      : npz_(GNAS_SOURCE_ROOT "/tests/reference/data/" + name + ".npz") {
    std::ifstream in(GNAS_SOURCE_ROOT "/tests/reference/data/" + name + ".tsv");
    std::string line;
    std::vector<std::string> header;
    while (std::getline(in, line)) {
      std::vector<std::string> fields;
      std::istringstream row(line);
      for (std::string f; std::getline(row, f, '\t');) fields.push_back(f);
      if (header.empty()) {
        header = fields;
        continue;
      }
      std::map<std::string, std::string> c;
      for (std::size_t k = 0; k < header.size() && k < fields.size(); ++k) c[header[k]] = fields[k];
      cases.push_back(std::move(c));
    }
  }
  bool has(std::string const& id, std::string const& key) const { return npz_.has(id + "/" + key); }
  template <class T = double>
  std::vector<T> get(std::string const& id, std::string const& key) const {
    return npz_.get(id + "/" + key).to<T>();
  }

  std::vector<std::map<std::string, std::string>> cases;

 private:
  gnas::data::Npz npz_;
};

// Largest difference, relative to the larger of the reference's largest entry and 1.
template <class A, class B>
double difference(A const& got, B const& expected) {
  if (got.size() != expected.size()) return 1e300;
  double worst = 0, scale = 1;
  for (std::size_t i = 0; i < expected.size(); ++i)
    scale = std::max(scale, std::abs(static_cast<double>(expected[i])));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const d = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    worst = d > worst || d != d ? d : worst;
  }
  return worst / scale;
}

}  // namespace gnas_test
