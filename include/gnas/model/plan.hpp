// Plan: a spec compiled against a shard. The order of steps, which rows of each layer anybody
// needs, whether a sparse propagation comes before or after its dense product, and where every
// buffer lies in the arena.
#pragma once

#include <gnas/core/matrix_view.hpp>
#include <gnas/core/rng.hpp>
#include <gnas/graph/shard.hpp>
#include <gnas/model/arena.hpp>
#include <gnas/model/params.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gnas {

// Columns of a tensor that lie together. Dense: a (rows, cols) buffer. Sparse: the nonzeros of the
// shard's features, in a buffer of their values.
struct Segment {
  int buffer = -1;  // -1: the shard's own feature values
  int grad = -1;    // buffer of its gradient, -1 when nobody needs it
  int cols = 0;
  bool sparse = false;
};

// A layer's output. A concatenation is its inputs' segments side by side: nothing is copied.
struct PlanTensor {
  std::vector<Segment> segments;
  RowSet rows;
  int cols = 0;
};

enum class StepKind : std::uint8_t { features, take_rows, transform, message, pointwise, add };

template <class T>
struct Step {
  StepKind kind = StepKind::transform;
  int layer = 0;
  std::vector<PlanTensor>
      in;  // message: sources, and targets where there is a root weight; add: several; else one
  std::vector<char> add;     // (segments of all inputs, in order): gradient is added, not assigned
  Segment out;               // what the step computes
  RowSet rows;               // of out
  std::vector<NodeId> from;  // take_rows, pointwise: input row of an output row; empty: the same

  // pointwise and features
  int batch_norm = -1;  // layer
  Activation activation = Activation::identity;
  int dropout = -1;  // layer
  double p = 0;
  int first_col = 0, total_cols = 0;  // this segment's place in the layer
  int scale = -1, mean = -1,
      work = -1;  // buffers: (2, cols) affine map; (2, cols) mean and 1 / deviation; dz

  // message
  OperatorInfo op{};
  int op_index = -1;
  int heads = 1, width = 0;
  double attention_dropout = 0;
  bool average = false;
  bool propagate_first = false;  // (A X) W instead of A (X W)
  std::shared_ptr<GraphVariant<T> const> graph;
  int h = -1,
      dh = -1;  // (S, F): x W and its gradient; propagate_first: (R, in) A x, and its gradient
  int left = -1, right = -1;      // (S, H)
  int dleft = -1, dright = -1;    //
  int hidden = -1, dhidden = -1;  // (S, H * 128): between the two dense layers of a message
  int z = -1, dz = -1;            // (S, F): value after them
  int raw = -1, draw = -1;        // (R, F): weighted sum where the output differs from it
  int root = -1;                  // (R, F): x W_root
  int lse = -1, delta = -1, score_grad = -1, keep = -1, arg = -1;
};

template <class T>
struct Plan {
  ParamLayout layout;
  std::vector<Step<T>> steps;
  PlanTensor logits;
  int logits_grad = -1;
  ArenaLayout arena;
  bool training = false;

  std::int64_t bytes() const { return arena.bytes(); }
};

namespace detail {

template <class T>
class PlanBuilder {
 public:
  PlanBuilder(ModelSpec const& spec, std::span<OperatorInfo const> ops, Shard<T>& shard,
              RowSet rows, bool training)
      : spec_(spec), ops_(ops), shard_(shard), training_(training) {
    plan_.layout = param_layout(spec, ops);
    plan_.training = training;
    expects(shard.features().cols == spec.in_features,
            "model: made for " + std::to_string(spec.in_features) + " features, the data have " +
                std::to_string(shard.features().cols));
    need_rows(rows);
  }

  Plan<T> build() {
    std::size_t const n = spec_.layers.size();
    tensors_.resize(n);
    // Steps get their times first: step k runs forward at k and backward at 2 * last - k.
    for (std::size_t l = 0; l < n; ++l) {
      if (live_[l] > 0 || l + 1 == n) emit(static_cast<int>(l));
    }
    plan_.logits = tensors_[n - 1];
    ensures(plan_.logits.segments.size() == 1 && !plan_.logits.segments[0].sparse,
            "the last layer must be a dense, message, pointwise or add layer");
    lifetimes();
    plan_.arena.pack();
    return std::move(plan_);
  }

 private:
  using S = Step<T>;

  LayerSpec const& layer(int l) const { return spec_.layers[static_cast<std::size_t>(l)]; }
  int width(int l) const { return plan_.layout.widths[static_cast<std::size_t>(l)]; }
  PlanTensor& tensor(int l) { return tensors_[static_cast<std::size_t>(l)]; }

  // How many live layers read each layer, and which rows of it they need.
  void need_rows(RowSet const& rows) {
    std::size_t const n = spec_.layers.size();
    live_.assign(n, 0);
    need_.assign(n, RowSet::of(rows.total, {}));
    need_[n - 1] = rows;
    for (std::size_t l = n; l-- > 0;) {
      if (live_[l] == 0 && l + 1 != n) continue;
      LayerSpec const& s = spec_.layers[l];
      RowSet in = need_[l];
      if (s.kind == LayerKind::message) in = shard_.sources_of(in);
      // The statistics of a training step are over every node.
      if (s.kind == LayerKind::batch_norm && training_) in = RowSet::all(rows.total);
      for (int i : s.inputs) {
        auto const at = static_cast<std::size_t>(i);
        need_[at] = unite(need_[at], in);
        ++live_[at];
      }
    }
  }

  std::int64_t matrix_bytes(std::int64_t rows, int cols) const {
    return rows * padded<T>(cols) * static_cast<std::int64_t>(sizeof(T));
  }
  int matrix(std::int64_t rows, int cols) { return plan_.arena.add(matrix_bytes(rows, cols)); }
  int numbers(std::int64_t count) {
    return plan_.arena.add(count * static_cast<std::int64_t>(sizeof(T)));
  }

  Segment dense_segment(NodeId rows, int cols, bool with_grad) {
    Segment s{.buffer = matrix(rows, cols), .cols = cols};
    if (training_ && with_grad) s.grad = matrix(rows, cols);
    return s;
  }

  // The tensor of layer l with exactly these rows; dense segments of other row sets are gathered.
  PlanTensor at_rows(int l, RowSet const& rows) {
    PlanTensor t = tensor(l);
    if (t.rows == rows) return t;
    for (Segment& s : t.segments) {
      if (s.sparse) continue;
      Segment const found = taken(s, rows);
      if (found.cols > 0) {
        s = found;
        continue;
      }
      S step;
      step.kind = StepKind::take_rows;
      step.layer = l;
      step.in.push_back({{s}, t.rows, s.cols});
      step.rows = rows;
      for (NodeId k = 0; k < rows.size(); ++k) step.from.push_back(t.rows.local(rows.node(k)));
      step.out = dense_segment(rows.size(), s.cols, s.grad >= 0);
      taken_.push_back({s.buffer, rows, step.out});
      s = step.out;
      plan_.steps.push_back(std::move(step));
    }
    t.rows = rows;
    return t;
  }
  Segment taken(Segment const& s, RowSet const& rows) const {
    for (auto const& t : taken_) {
      if (t.buffer == s.buffer && t.rows == rows) return t.segment;
    }
    return {};
  }

  void emit(int l) {
    LayerSpec const& s = layer(l);
    RowSet const& rows = need_[static_cast<std::size_t>(l)];
    switch (s.kind) {
      case LayerKind::input: {
        bool const sparse = shard_.features().sparse;
        // Dense features are one buffer of the shard with every row.
        tensor(l) = {{{.buffer = -1, .cols = width(l), .sparse = sparse}},
                     sparse ? rows : RowSet::all(shard_.num_nodes()),
                     width(l)};
        break;
      }
      case LayerKind::dense: {
        S step;
        step.kind = StepKind::transform;
        step.layer = l;
        step.in.push_back(at_rows(s.inputs[0], rows));
        step.rows = rows;
        step.out = dense_segment(rows.size(), s.out, true);
        finish(l, std::move(step));
        break;
      }
      case LayerKind::message:
        emit_message(l, rows);
        break;
      case LayerKind::batch_norm:
      case LayerKind::activation:
      case LayerKind::dropout:
        emit_pointwise(l, rows);
        break;
      case LayerKind::concat: {
        PlanTensor out{{}, rows, width(l)};
        for (int i : s.inputs) {
          PlanTensor const t = at_rows(i, rows);
          out.segments.insert(out.segments.end(), t.segments.begin(), t.segments.end());
        }
        tensor(l) = std::move(out);
        break;
      }
      case LayerKind::add: {
        S step;
        step.kind = StepKind::add;
        step.layer = l;
        step.rows = rows;
        for (int i : s.inputs) {
          step.in.push_back(at_rows(i, rows));
          expects(step.in.back().segments.size() == 1 && !step.in.back().segments[0].sparse,
                  "model: layer " + std::to_string(l) +
                      " adds sparse or concatenated inputs; put a dense layer between");
        }
        step.out = dense_segment(rows.size(), width(l), true);
        finish(l, std::move(step));
        break;
      }
    }
  }

  void finish(int l, S step) {
    tensor(l) = {{step.out}, step.rows, step.out.cols};
    plan_.steps.push_back(std::move(step));
  }

  static int rank(LayerKind k) {
    return k == LayerKind::batch_norm   ? 0
           : k == LayerKind::activation ? 1
           : k == LayerKind::dropout    ? 2
                                        : -1;
  }

  // batch norm -> activation -> dropout, as far as they follow each other with nobody else reading
  // between.
  void emit_pointwise(int l, RowSet const& rows) {
    // A layer that a later one of its chain absorbs emits nothing; the last of the chain emits all.
    int const next = sole_reader(l);
    if (next >= 0 && rank(layer(next).kind) > rank(layer(l).kind)) return;
    std::vector<int> chain{l};
    for (int in = layer(l).inputs[0];
         rank(layer(in).kind) >= 0 && rank(layer(in).kind) < rank(layer(chain.back()).kind) &&
         sole_reader(in) >= 0;
         in = layer(in).inputs[0]) {
      chain.push_back(in);
    }
    int const first = chain.back();
    int const input = layer(first).inputs[0];
    int bn = -1, drop = -1;
    Activation act = Activation::identity;
    double p = 0;
    for (int const c : chain) {
      if (layer(c).kind == LayerKind::batch_norm) bn = c;
      if (layer(c).kind == LayerKind::activation) act = layer(c).activation;
      if (layer(c).kind == LayerKind::dropout && training_ && DropRate(layer(c).p).active()) {
        drop = c;
        p = layer(c).p;
      }
    }
    bool const all = bn >= 0 && training_;
    PlanTensor const in = all ? at_rows(input, RowSet::all(rows.total)) : at_rows(input, rows);
    if (bn < 0 && drop < 0 && act == Activation::identity) {
      tensor(l) = in;  // dropout in evaluation
      return;
    }
    PlanTensor out{{}, rows, in.cols};
    int col = 0;
    for (Segment const& s : in.segments) {
      S step;
      step.layer = l;
      step.batch_norm = bn;
      step.activation = act;
      step.dropout = drop;
      step.p = p;
      step.first_col = col;
      step.total_cols = in.cols;
      step.rows = rows;
      step.in.push_back({{s}, in.rows, s.cols});
      col += s.cols;
      if (s.sparse) {
        step.kind = StepKind::features;
        expects(bn < 0, "model: layer " + std::to_string(bn) +
                            " is a batch norm of sparse features, which would make them dense; put "
                            "a dense layer before it");
        expects(
            act != Activation::sigmoid && act != Activation::softplus,
            "model: layer " + std::to_string(l) + " applies " + std::string(to_string(act)) +
                " to sparse features, which would make them dense; put a dense layer before it");
        step.out = {
            .buffer = numbers(shard_.features().nonzeros()), .cols = s.cols, .sparse = true};
      } else {
        step.kind = StepKind::pointwise;
        if (!(in.rows == rows)) {
          for (NodeId k = 0; k < rows.size(); ++k) step.from.push_back(in.rows.local(rows.node(k)));
        }
        step.out = dense_segment(rows.size(), s.cols, s.grad >= 0 || bn >= 0);
        if (bn >= 0) {
          step.scale = numbers(2 * s.cols);
          if (training_) {
            step.mean = numbers(2 * s.cols);
            step.work = matrix(in.rows.size(), s.cols);
          }
        }
      }
      out.segments.push_back(step.out);
      plan_.steps.push_back(std::move(step));
    }
    tensor(l) = std::move(out);
  }

  // The only live reader of l, or -1.
  int sole_reader(int l) const {
    if (live_[static_cast<std::size_t>(l)] != 1) return -1;
    for (std::size_t r = static_cast<std::size_t>(l) + 1; r < spec_.layers.size(); ++r) {
      if (live_[r] == 0 && r + 1 != spec_.layers.size()) continue;
      for (int i : spec_.layers[r].inputs) {
        if (i == l) return static_cast<int>(r);
      }
    }
    return -1;
  }

  void emit_message(int l, RowSet const& rows) {
    LayerSpec const& s = layer(l);
    RowSet const sources = shard_.sources_of(rows);
    S step;
    step.kind = StepKind::message;
    step.layer = l;
    step.op = ops_[static_cast<std::size_t>(s.op)];
    step.op_index = s.op;
    step.heads = s.heads;
    step.width = s.out;
    step.rows = rows;
    step.attention_dropout =
        training_ && DropRate(s.attention_dropout).active() ? s.attention_dropout : 0;
    step.average = !s.concat_heads && s.heads > 1;
    step.graph = shard_.variant(step.op.loops, rows, sources);
    step.in.push_back(at_rows(s.inputs[0], sources));
    if (step.op.root) step.in.push_back(at_rows(s.inputs[0], rows));
    PlanTensor const& x = step.in[0];
    OperatorInfo const& op = step.op;
    int const H = s.heads, F = H * s.out;
    std::int64_t const R = rows.size(), N = sources.size(), E = step.graph->csr.num_edges();
    bool const drop = step.attention_dropout > 0;
    bool const one_dense = x.segments.size() == 1 && !x.segments[0].sparse;

    // Multiplications of the dense product against gathered elements of the sparse one, which cost
    // about 6 times as much each as they run at memory speed.
    double const first =
        6.0 * static_cast<double>(E) * x.cols + static_cast<double>(R) * x.cols * F;
    double const later = 6.0 * static_cast<double>(E) * F + static_cast<double>(N) * x.cols * F;
    step.propagate_first = op.linear() && !drop && !step.average && op.message_hidden == 0 &&
                           one_dense && first < later;

    step.out = dense_segment(static_cast<NodeId>(R), width(l), true);
    if (step.propagate_first) {
      step.h = matrix(R, x.cols);
      if (training_) step.dh = matrix(R, x.cols);
    } else {
      step.h = matrix(N, F);
      if (training_) step.dh = matrix(N, F);
    }
    if (op.root && !step.propagate_first) step.root = matrix(R, F);
    if (op.endpoints) {
      step.left = numbers(N * H);
      step.right = numbers(N * H);
      if (training_) {
        step.dleft = numbers(N * H);
        step.dright = numbers(N * H);
      }
    }
    if (op.message_hidden > 0) {
      step.hidden = matrix(N * H, op.message_hidden);
      step.z = numbers(N * padded<T>(F));
      if (training_) {
        step.dhidden = matrix(N * H, op.message_hidden);
        step.dz = numbers(N * padded<T>(F));
      }
    }
    // The kernel's own output is kept apart where heads are averaged, a message bias is added, or
    // an activation of a learned operator follows.
    if (step.average || op.message_hidden > 0 ||
        (op.activation != Activation::identity && (!op.linear() || drop))) {
      step.raw = matrix(R, F);
    }
    if (training_) {
      bool const apart = step.raw >= 0 || op.activation != Activation::identity;
      if (apart) step.draw = matrix(R, F);
      if (op.learned()) step.score_grad = numbers(E * H);
      if (op.softmax) {
        step.lse = numbers(R * H);
        step.delta = numbers(R * H);
      }
      if (drop) step.keep = plan_.arena.add(E * H);
    }
    if (op.extremum())
      step.arg = plan_.arena.add(R * F * static_cast<std::int64_t>(sizeof(std::int32_t)));
    finish(l, std::move(step));
  }

  void lifetimes() {
    int const n = static_cast<int>(plan_.steps.size());
    auto const last = [&](int k) { return training_ ? 2 * n - k : k; };
    auto const touch = [&](int buffer, int when) {
      if (buffer >= 0) plan_.arena.touch(buffer, when);
    };
    // Buffers that live from one step to another.
    auto const both = [&](int first, int second, auto... buffers) {
      (touch(buffers, first), ...);
      (touch(buffers, second), ...);
    };
    for (int k = 0; k < n; ++k) {
      S& s = plan_.steps[static_cast<std::size_t>(k)];
      int const back = last(k);
      for (PlanTensor const& t : s.in) {
        for (Segment const& g : t.segments) {
          touch(g.buffer, k);
          touch(g.buffer, back);
          touch(g.grad, back);
        }
      }
      touch(s.out.buffer, k);
      touch(s.out.buffer, back);
      touch(s.out.grad, back);
      // Read again by the backward pass of the step.
      both(k, back, s.scale, s.mean, s.left, s.right, s.hidden, s.z, s.raw, s.lse, s.keep, s.arg);
      touch(s.h, k);
      if (s.propagate_first || !s.op.linear() || s.attention_dropout > 0 ||
          s.op.message_hidden > 0) {
        touch(s.h, back);
      }
      touch(s.root, k);
      if (s.op.softmax) touch(s.root, back);
      both(back, back, s.work, s.dh, s.dleft, s.dright, s.dhidden, s.dz, s.draw, s.delta,
           s.score_grad);
    }
    touch(plan_.logits.segments[0].buffer, n);
    touch(plan_.logits.segments[0].grad, n);
    plan_.logits_grad = plan_.logits.segments[0].grad;
    if (!training_) return;
    // Walking backward, the first step that writes a gradient assigns it, the others add.
    std::vector<char> written(plan_.arena.size(), 0);
    for (int k = n - 1; k >= 0; --k) {
      S& s = plan_.steps[static_cast<std::size_t>(k)];
      for (PlanTensor const& t : s.in) {
        for (Segment const& g : t.segments) {
          s.add.push_back(g.grad >= 0 ? written[static_cast<std::size_t>(g.grad)] : 0);
          if (g.grad >= 0) written[static_cast<std::size_t>(g.grad)] = 1;
        }
      }
    }
  }

  ModelSpec const& spec_;
  std::span<OperatorInfo const> ops_;
  Shard<T>& shard_;
  bool training_;
  Plan<T> plan_;
  std::vector<int> live_;
  std::vector<RowSet> need_;
  std::vector<PlanTensor> tensors_;
  struct Taken {
    int buffer;
    RowSet rows;
    Segment segment;
  };
  std::vector<Taken> taken_;
};

}  // namespace detail

// Compiles `spec` for logits of `rows`. training: with a backward pass, dropout, and batch
// statistics. Throws InvalidArgument where the spec breaks a rule. Allocates nothing of the size of
// the data but row lists.
template <class T>
Plan<T> make_plan(ModelSpec const& spec, std::span<OperatorInfo const> ops, Shard<T>& shard,
                  RowSet const& rows, bool training) {
  return detail::PlanBuilder<T>(spec, ops, shard, rows, training).build();
}

}  // namespace gnas
