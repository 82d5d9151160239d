// Shard: the part of a graph that one device trains on, with what is derived from it and does not
// depend on weights: self-loop variants, row subsets, transposes, degrees, chunks. Computed once,
// shared by all candidates.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/graph/dataset.hpp>
#include <gnas/graph/row_set.hpp>
#include <gnas/op/operator.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace gnas {

// Bounds of row chunks with about equal work (edges + rows); a function of the matrix alone.
inline std::vector<NodeId> balanced_chunks(std::vector<EdgeId> const& row_ptr, EdgeId work = 4096) {
  NodeId const rows = static_cast<NodeId>(row_ptr.size()) - 1;
  std::vector<NodeId> bounds{0};
  EdgeId last = 0;
  for (NodeId i = 1; i <= rows; ++i) {
    EdgeId const cost = row_ptr[static_cast<std::size_t>(i)] + 4 * static_cast<EdgeId>(i);
    if (cost - last >= work || i == rows) {
      bounds.push_back(i);
      last = cost;
    }
  }
  return bounds;
}

// A sparse matrix by columns: row j of `csr` lists the rows of the original that hold column j.
struct TransposedCsr {
  Csr csr;
  std::vector<EdgeId> perm;  // (num_edges): position of each entry in the original
};

// Stable counting sort. complexity: rows + columns + entries.
inline TransposedCsr transpose_with_positions(CsrView m) {
  TransposedCsr out;
  EdgeId const edges = m.row_ptr[m.num_rows];
  out.csr.num_rows = m.num_cols;
  out.csr.num_cols = m.num_rows;
  out.csr.row_ptr.assign(static_cast<std::size_t>(m.num_cols) + 1, 0);
  out.csr.col.resize(static_cast<std::size_t>(edges));
  out.perm.resize(static_cast<std::size_t>(edges));
  for (EdgeId e = 0; e < edges; ++e) ++out.csr.row_ptr[static_cast<std::size_t>(m.col[e]) + 1];
  std::partial_sum(out.csr.row_ptr.begin(), out.csr.row_ptr.end(), out.csr.row_ptr.begin());
  std::vector<EdgeId> at(out.csr.row_ptr.begin(), out.csr.row_ptr.end() - 1);
  for (NodeId i = 0; i < m.num_rows; ++i) {
    for (EdgeId e = m.row_ptr[i]; e < m.row_ptr[i + 1]; ++e) {
      EdgeId const to = at[static_cast<std::size_t>(m.col[e])]++;
      out.csr.col[static_cast<std::size_t>(to)] = i;
      out.perm[static_cast<std::size_t>(to)] = e;
    }
  }
  return out;
}

// The graph as one operator sees it: self-loops treated, rows restricted, both directions.
template <class T>
struct GraphVariant {
  Csr csr;                     // targets x sources, local numbers
  TransposedCsr transposed;    // sources x targets
  std::vector<NodeId> target;  // (R): a target's place among the sources; empty: the same number
  std::vector<EdgeId>
      first_edge;  // (R): number of a row's first edge in the unrestricted variant; or empty
  std::vector<T> edge_weight;                               // (E), or empty: all 1
  std::vector<T> edge_weight_transposed;                    // likewise, in transposed order
  std::vector<T> inv_sqrt_target, inv_sqrt_source;          // d^-1/2 of in-degrees, 0 where d = 0
  std::vector<T> inv_sqrt_out_target, inv_sqrt_out_source;  // of out-degrees
  std::vector<T> inv_degree;                   // (R): 1 / number of in-edges, 0 where none
  std::vector<T> inv_sqrt_degree;              // (R): d^-1/2 / number of in-edges
  std::vector<NodeId> row_chunks, col_chunks;  // bounds of balanced chunks
};

// Sparse features as a matrix of T, and its transposes over row sets.
template <class T>
struct FeatureMatrix {
  bool sparse = true;
  NodeId rows = 0;
  int cols = 0;
  std::vector<EdgeId> row_ptr;
  std::vector<NodeId> col;
  std::vector<T> value;  // sparse: (nonzeros), or empty: all 1; dense: (rows, cols)
  CsrView view() const { return {row_ptr.data(), col.data(), rows, static_cast<NodeId>(cols)}; }
  EdgeId nonzeros() const { return sparse ? row_ptr.back() : EdgeId{rows} * cols; }
};

template <class T>
struct FeatureTransposed {
  TransposedCsr matrix;        // features x local rows; perm into the nonzeros of the whole matrix
  std::vector<NodeId> chunks;  // over features
  std::vector<NodeId> row_chunks;  // over the rows of the set
};

template <class T>
class Shard {
 public:
  // Keeps a reference to `data`, which must outlive the shard. row_normalize: each feature row is
  // divided by its sum.
  explicit Shard(Dataset const& data, bool row_normalize = false) : data_(data) {
    Features const& f = data.features;
    expects(
        f.cols > 0,
        data.name + ": no node features; give a features file, training needs at least 1 column");
    features_.sparse = f.sparse;
    features_.rows = f.rows;
    features_.cols = f.cols;
    if (f.sparse) {
      features_.row_ptr = f.row_ptr;
      features_.col = f.col;
    }
    features_.value.assign(f.value.begin(), f.value.end());
    if (row_normalize) normalize_rows();
  }

  Dataset const& data() const noexcept { return data_; }
  FeatureMatrix<T> const& features() const noexcept { return features_; }
  NodeId num_nodes() const noexcept { return data_.graph.num_rows; }

  // The variant for targets `rows` whose sources are `sources` (a superset of rows and their
  // in-neighbors).
  std::shared_ptr<GraphVariant<T> const> variant(op::Loops loops, RowSet const& rows,
                                                 RowSet const& sources) {
    std::lock_guard lock(mutex_);
    for (auto const& v : variants_) {
      if (v.loops == loops && v.rows == rows && v.sources == sources) return v.graph;
    }
    auto made = std::make_shared<GraphVariant<T> const>(make_variant(loops, rows, sources));
    variants_.push_back({loops, rows, sources, made});
    return made;
  }

  std::shared_ptr<FeatureTransposed<T> const> features_transposed(RowSet const& rows) {
    std::lock_guard lock(mutex_);
    for (auto const& t : transposed_) {
      if (t.first == rows) return t.second;
    }
    auto made = std::make_shared<FeatureTransposed<T> const>(make_transposed(rows));
    transposed_.emplace_back(rows, made);
    return made;
  }

  // with_sources(), remembered.
  RowSet sources_of(RowSet const& rows) {
    if (rows.is_all()) return rows;
    std::lock_guard lock(mutex_);
    for (auto const& s : sources_) {
      if (s.first == rows) return s.second;
    }
    sources_.emplace_back(rows, with_sources(rows, data_.graph));
    return sources_.back().second;
  }

 private:
  struct VariantEntry {
    op::Loops loops;
    RowSet rows, sources;
    std::shared_ptr<GraphVariant<T> const> graph;
  };

  void normalize_rows() {
    if (features_.sparse && features_.value.empty()) {
      features_.value.assign(static_cast<std::size_t>(features_.row_ptr.back()), T{1});
    }
    for (NodeId i = 0; i < features_.rows; ++i) {
      auto const first =
          static_cast<std::size_t>(features_.sparse ? features_.row_ptr[static_cast<std::size_t>(i)]
                                                    : EdgeId{i} * features_.cols);
      auto const last = static_cast<std::size_t>(
          features_.sparse ? features_.row_ptr[static_cast<std::size_t>(i) + 1]
                           : (EdgeId{i} + 1) * features_.cols);
      T sum{0};
      for (std::size_t k = first; k < last; ++k) sum += features_.value[k];
      if (sum == T{0}) continue;
      for (std::size_t k = first; k < last; ++k) features_.value[k] /= sum;
    }
  }

  // Appends row i of the variant (global sources).
  void append_row(op::Loops loops, NodeId i, std::vector<NodeId>& col,
                  std::vector<float>* weight) const {
    Csr const& g = data_.graph;
    bool const drop = loops == op::Loops::remove || loops == op::Loops::replace;
    bool pending =
        loops == op::Loops::add || loops == op::Loops::replace || loops == op::Loops::add_missing;
    auto const push = [&](NodeId j, float w) {
      col.push_back(j);
      if (weight) weight->push_back(w);
    };
    for (EdgeId e = g.row_ptr[static_cast<std::size_t>(i)];
         e < g.row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
      NodeId const j = g.col[static_cast<std::size_t>(e)];
      if (j == i && loops == op::Loops::add_missing) pending = false;
      if (j == i && drop) continue;
      if (j > i && pending) {
        push(i, 1.0f);
        pending = false;
      }
      push(j, g.weight.empty() ? 1.0f : g.weight[static_cast<std::size_t>(e)]);
    }
    if (pending) push(i, 1.0f);
  }

  GraphVariant<T> make_variant(op::Loops loops, RowSet const& rows, RowSet const& sources) const {
    GraphVariant<T> v;
    Csr const& g = data_.graph;
    NodeId const n = g.num_rows;
    bool const weighted = !g.weight.empty();
    bool const whole = rows.is_all() && sources.is_all();
    // The unrestricted variant: degrees, and edge numbers.
    std::vector<NodeId> col;
    std::vector<float> weight;
    std::vector<T> inv_sqrt(static_cast<std::size_t>(n)), inv_degree(static_cast<std::size_t>(n));
    std::vector<double> out_degree(static_cast<std::size_t>(n), 0.0);
    std::vector<EdgeId> first(static_cast<std::size_t>(n) + 1, 0);
    v.csr.row_ptr.assign(1, 0);
    v.csr.row_ptr.reserve(static_cast<std::size_t>(rows.size()) + 1);
    NodeId next = 0;  // place in `rows`
    for (NodeId i = 0; i < n; ++i) {
      bool const wanted = rows.is_all() || (next < rows.size() && rows.node(next) == i);
      std::size_t const before = col.size();
      append_row(loops, i, col, weighted ? &weight : nullptr);
      std::size_t const count = col.size() - before;
      for (std::size_t e = before; e < col.size(); ++e) {
        out_degree[static_cast<std::size_t>(col[e])] +=
            weighted ? static_cast<double>(weight[e]) : 1.0;
      }
      double d = static_cast<double>(count);
      if (weighted)
        d = std::accumulate(weight.begin() + static_cast<std::ptrdiff_t>(before), weight.end(),
                            0.0);
      inv_sqrt[static_cast<std::size_t>(i)] = d > 0 ? static_cast<T>(1.0 / std::sqrt(d)) : T{0};
      inv_degree[static_cast<std::size_t>(i)] =
          count > 0 ? static_cast<T>(1.0 / static_cast<double>(count)) : T{0};
      first[static_cast<std::size_t>(i) + 1] =
          first[static_cast<std::size_t>(i)] + static_cast<EdgeId>(count);
      if (wanted) {
        ++next;
        v.csr.row_ptr.push_back(static_cast<EdgeId>(col.size()));
      } else {
        col.resize(before);
        if (weighted) weight.resize(before);
      }
    }
    if (!sources.is_all()) {
      for (NodeId& j : col) j = sources.local(j);
    }
    v.csr.num_rows = rows.size();
    v.csr.num_cols = sources.size();
    v.csr.col = std::move(col);
    v.transposed = transpose_with_positions(v.csr.view());
    if (weighted) {
      v.edge_weight.assign(weight.begin(), weight.end());
      v.edge_weight_transposed.resize(weight.size());
      for (std::size_t e = 0; e < weight.size(); ++e) {
        v.edge_weight_transposed[e] = v.edge_weight[static_cast<std::size_t>(v.transposed.perm[e])];
      }
    }
    auto const gather = [](std::vector<T> const& from, RowSet const& set) {
      std::vector<T> out(static_cast<std::size_t>(set.size()));
      for (NodeId k = 0; k < set.size(); ++k) {
        out[static_cast<std::size_t>(k)] = from[static_cast<std::size_t>(set.node(k))];
      }
      return out;
    };
    v.inv_sqrt_target = gather(inv_sqrt, rows);
    v.inv_sqrt_source = gather(inv_sqrt, sources);
    v.inv_degree = gather(inv_degree, rows);
    for (std::size_t i = 0; i < inv_sqrt.size(); ++i) {
      inv_sqrt[i] = out_degree[i] > 0 ? static_cast<T>(1.0 / std::sqrt(out_degree[i])) : T{0};
    }
    v.inv_sqrt_out_target = gather(inv_sqrt, rows);
    v.inv_sqrt_out_source = gather(inv_sqrt, sources);
    v.inv_sqrt_degree = v.inv_degree;
    for (std::size_t k = 0; k < v.inv_degree.size(); ++k)
      v.inv_sqrt_degree[k] *= v.inv_sqrt_target[k];
    if (!whole) {
      v.target.resize(static_cast<std::size_t>(rows.size()));
      v.first_edge.resize(static_cast<std::size_t>(rows.size()));
      for (NodeId k = 0; k < rows.size(); ++k) {
        v.target[static_cast<std::size_t>(k)] = sources.local(rows.node(k));
        v.first_edge[static_cast<std::size_t>(k)] = first[static_cast<std::size_t>(rows.node(k))];
      }
    }
    v.row_chunks = balanced_chunks(v.csr.row_ptr);
    v.col_chunks = balanced_chunks(v.transposed.csr.row_ptr);
    return v;
  }

  FeatureTransposed<T> make_transposed(RowSet const& rows) const {
    FeatureTransposed<T> out;
    std::vector<EdgeId> row_ptr{0};
    std::vector<NodeId> col;
    std::vector<EdgeId> position;
    for (NodeId k = 0; k < rows.size(); ++k) {
      auto const i = static_cast<std::size_t>(rows.node(k));
      for (EdgeId e = features_.row_ptr[i]; e < features_.row_ptr[i + 1]; ++e) {
        col.push_back(features_.col[static_cast<std::size_t>(e)]);
        position.push_back(e);
      }
      row_ptr.push_back(static_cast<EdgeId>(col.size()));
    }
    out.matrix = transpose_with_positions(
        {row_ptr.data(), col.data(), rows.size(), static_cast<NodeId>(features_.cols)});
    for (EdgeId& p : out.matrix.perm) p = position[static_cast<std::size_t>(p)];
    out.chunks = balanced_chunks(out.matrix.csr.row_ptr, 2048);
    out.row_chunks = balanced_chunks(row_ptr, 2048);
    return out;
  }

  Dataset const& data_;
  FeatureMatrix<T> features_;
  std::mutex mutex_;
  std::vector<VariantEntry> variants_;
  std::vector<std::pair<RowSet, std::shared_ptr<FeatureTransposed<T> const>>> transposed_;
  std::vector<std::pair<RowSet, RowSet>> sources_;
};

}  // namespace gnas
