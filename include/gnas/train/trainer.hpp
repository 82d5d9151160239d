// Trainer: full-batch training of one model on a shard, one epoch at a time, with early stopping,
// limits, and a state that can be put away and taken up again to the bit.
#pragma once

#include <gnas/cpu/loss.hpp>
#include <gnas/model/cpu_executor.hpp>
#include <gnas/train/config.hpp>
#include <gnas/train/optimizer.hpp>

#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

// The split that a configuration names: the data set's first when it names none.
inline Split const& find_split(Dataset const& data, std::string const& name) {
  std::string known;
  for (Split const& s : data.splits) {
    if (name.empty() || s.name == name) return s;
    known += (known.empty() ? "" : ", ") + s.name;
  }
  if (data.splits.empty()) {
    throw InvalidArgument(data.name +
                          ": no split; make one, for example random:20,30 or ratio:0.6,0.2,0.2");
  }
  throw InvalidArgument(data.name + ": no split named '" + name + "'; it has " + known);
}

// The split as a training uses it: nodes without a label left out. Throws InvalidArgument when a
// part is empty then, or a node or label is out of range.
inline Split trainable(Dataset const& data, Split const& split) {
  Split out{.name = split.name, .train = {}, .val = {}, .test = {}};
  auto const part = [&](char const* what, std::vector<NodeId> const& nodes,
                        std::vector<NodeId>& to) {
    for (NodeId i : nodes) {
      expects(i >= 0 && i < data.num_nodes(), data.name + ": split '" + split.name +
                                                  "' names node " + std::to_string(i) + " of " +
                                                  std::to_string(data.num_nodes()));
      std::int32_t const y = data.labels[static_cast<std::size_t>(i)];
      expects(y < data.num_classes, data.name + ": node " + std::to_string(i) + " of split '" +
                                        split.name + "' has label " + std::to_string(y) +
                                        ", the classes are 0.." +
                                        std::to_string(data.num_classes - 1));
      if (y >= 0) to.push_back(i);
    }
    expects(
        !to.empty(),
        data.name + ": split '" + split.name + "' has no " + what +
            " nodes with a label; choose another split or make one, for example ratio:0.6,0.2,0.2");
  };
  part("train", split.train, out.train);
  part("validation", split.val, out.val);
  part("test", split.test, out.test);
  return out;
}

// The operators that a trainer may meet, as data: an OperatorList at run time.
template <class T>
struct OperatorTable {
  std::span<OperatorInfo const> infos;
  std::span<OperatorFunctions<T> const> functions;
};

template <class Ops, class T>
OperatorTable<T> operator_table() {
  static constexpr auto infos = Ops::infos();
  return {infos, host_table<Ops, T>};
}

namespace detail {

// Numbers and arrays one after the other, as a checkpoint holds them.
struct ByteWriter {
  std::vector<std::byte> bytes;
  template <class U>
  void put(U x) {
    array(std::span<U const>(&x, 1));
  }
  template <class Span>
  void array(Span s) {
    auto const b = std::as_bytes(std::span(s));
    bytes.insert(bytes.end(), b.begin(), b.end());
  }
};
struct ByteReader {
  std::span<std::byte const> bytes;
  template <class U>
  U get() {
    U x{};
    array(std::span<U>(&x, 1));
    return x;
  }
  template <class Span>
  void array(Span s) {
    auto const to = std::as_writable_bytes(std::span(s));
    expects(to.size() <= bytes.size(), "checkpoint: cut short; delete it to train from the start");
    std::copy_n(bytes.begin(), to.size(), to.begin());
    bytes = bytes.subspan(to.size());
  }
};

}  // namespace detail

template <class T>
class BasicTrainer {
 public:
  // Compiles the model; allocates nothing of its size yet. `candidate` keys the random numbers
  // beside the seed. Throws InvalidArgument where spec, split or configuration break a rule. The
  // shard must outlive the trainer.
  BasicTrainer(OperatorTable<T> ops, Shard<T>& shard, ModelSpec spec, TrainConfig config,
               std::uint64_t candidate = 0)
      : ops_(ops),
        shard_(shard),
        spec_(std::move(spec)),
        config_(std::move(config)),
        key_(philox_key(config_.seed, candidate)) {
    Dataset const& data = shard.data();
    check_settings(config_);
    Split const split = trainable(data, find_split(data, config_.split));
    RowSet const train_rows = RowSet::of(data.num_nodes(), split.train);
    RowSet const eval_rows =
        unite(RowSet::of(data.num_nodes(), split.val), RowSet::of(data.num_nodes(), split.test));
    train_plan_ = make_plan<T>(spec_, ops_.infos, shard, train_rows, true);
    eval_plan_ = make_plan<T>(spec_, ops_.infos, shard, eval_rows, false);
    // Which rows of the logits count, and for what.
    std::vector<std::uint8_t> part(static_cast<std::size_t>(data.num_nodes()), 0);
    for (NodeId i : split.train) part[static_cast<std::size_t>(i)] = 1;
    RowSet const& train = train_plan_.logits.rows;
    for (NodeId k = 0; k < train.size(); ++k) {
      auto const i = static_cast<std::size_t>(train.node(k));
      train_labels_.push_back(part[i] == 1 ? data.labels[i] : -1);
    }
    train_count_ = static_cast<std::int64_t>(split.train.size());
    for (NodeId i : split.val) part[static_cast<std::size_t>(i)] = 2;
    for (NodeId i : split.test) part[static_cast<std::size_t>(i)] = 3;
    RowSet const& eval = eval_plan_.logits.rows;
    for (NodeId k = 0; k < eval.size(); ++k) {
      auto const i = static_cast<std::size_t>(eval.node(k));
      eval_labels_.push_back(data.labels[i]);
      eval_part_.push_back(part[i] == 1 ? std::uint8_t{0} : part[i]);
      val_labels_.push_back(part[i] == 2 ? data.labels[i] : -1);
    }
    val_count_ = static_cast<double>(split.val.size());
    test_count_ = static_cast<double>(split.test.size());
    result_.seed = config_.seed;
    result_.parameters = train_plan_.layout.size;
    std::int64_t const state =
        (train_plan_.layout.size * (1 + moments_of(config_)) + train_plan_.layout.statistics + 65) *
        static_cast<std::int64_t>(sizeof(T));
    std::int64_t scratch = 0;
    for (Step<T> const& s : train_plan_.steps) {
      bool const dense = s.kind == StepKind::transform || s.kind == StepKind::message;
      int const width = s.kind == StepKind::message ? s.heads * s.width : s.out.cols;
      for (PlanTensor const& x : s.in) {
        for (Segment const& g : x.segments) {
          if (dense && !g.sparse)
            scratch = std::max(scratch, gemm_scratch<T>(x.rows.size(), g.cols, width));
        }
      }
    }
    result_.memory_bytes =
        state + (train_plan_.layout.size + scratch) * static_cast<std::int64_t>(sizeof(T)) +
        std::max(train_plan_.bytes(), eval_plan_.bytes());
  }

  std::int64_t parameters() const noexcept { return result_.parameters; }
  // State, gradients, arena and the scratch of products: what training will allocate, beside
  // per-thread scratch of a few rows.
  std::int64_t memory_bytes() const noexcept { return result_.memory_bytes; }
  ParamLayout const& layout() const noexcept { return train_plan_.layout; }
  ModelSpec const& spec() const noexcept { return spec_; }
  TrainConfig const& config() const noexcept { return config_; }
  ModelState<T>& state() {
    start();
    return *state_;
  }

  // One training step and one evaluation. Returns what was measured; result() has the standing.
  EpochMetrics epoch() {
    start();
    auto const begin = Clock::now();
    EpochMetrics m;
    m.epoch = ++epoch_;
    executor_->forward(train_plan_, *state_, key_, static_cast<std::uint32_t>(epoch_));
    LossSums const loss = cross_entropy<T>(*pool_, executor_->logits(train_plan_), train_labels_,
                                           train_count_, executor_->logits_grad(train_plan_));
    m.loss = loss.loss;
    m.train = static_cast<double>(loss.correct) / static_cast<double>(train_count_);
    if (std::isfinite(loss.loss)) {
      executor_->backward(grads_);
      optimizer_step<T>(*pool_, config_, train_plan_.layout, *state_, grads_);
      evaluate(m);
    }
    seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
    m.seconds = seconds_;
    record(m);
    return m;
  }

  // True when another epoch() is due.
  bool unfinished() const {
    return status_ == Status::completed && !stopped_ && epoch_ < config_.epochs;
  }

  // Epochs until the end, a limit, or `callback` returns false.
  TrainResult run(EpochCallback const& callback = {}) {
    while (unfinished()) {
      EpochMetrics const m = epoch();
      if (callback && !callback(m) && unfinished()) {
        status_ = Status::interrupted;
        reason_ = "stopped after epoch " + std::to_string(epoch_) + " of " +
                  std::to_string(config_.epochs);
      }
    }
    return result();
  }

  TrainResult result() const {
    TrainResult r = result_;
    r.status = status_;
    r.reason = reason_;
    r.epochs = epoch_;
    r.seconds = seconds_;
    return r;
  }

  // Predicted class of every node with the current weights, in evaluation mode.
  std::vector<std::int32_t> predict() {
    MatrixView<T> const x = all_logits();
    std::vector<std::int32_t> out;
    for (std::int64_t r = 0; r < x.rows; ++r) {
      out.push_back(
          static_cast<std::int32_t>(std::max_element(x.row(r), x.row(r) + x.cols) - x.row(r)));
    }
    return out;
  }
  // Logits of every node in evaluation mode; valid until the next call.
  MatrixView<T> all_logits() {
    start();
    all_plan_.emplace(
        make_plan<T>(spec_, ops_.infos, shard_, RowSet::all(shard_.num_nodes()), false));
    executor_->prepare(*all_plan_);
    executor_->forward(*all_plan_, *state_, key_, 0);
    return executor_->logits(*all_plan_);
  }

  // Loss of the training nodes and gradients of all parameters at the current weights, without a
  // step.
  double loss_and_gradients(std::uint32_t epoch, std::span<T> grads) {
    start();
    executor_->forward(train_plan_, *state_, key_, epoch);
    LossSums const loss = cross_entropy<T>(*pool_, executor_->logits(train_plan_), train_labels_,
                                           train_count_, executor_->logits_grad(train_plan_));
    executor_->backward(grads);
    return loss.loss;
  }

  // Validation and test accuracy of the current weights.
  std::pair<double, double> accuracy() {
    start();
    EpochMetrics m;
    evaluate(m);
    return {m.val, m.test};
  }

  // Everything that the rest of the training depends on. A trainer made with the same arguments and
  // restored from it continues to the bit (seconds aside). restore() throws InvalidArgument when
  // the bytes belong to another model.
  std::vector<std::byte> checkpoint() {
    start();
    detail::ByteWriter w;
    w.put(kMagic);
    w.put(static_cast<std::int64_t>(sizeof(T)));
    w.put(static_cast<std::int64_t>(state_->block().size()));
    w.put(static_cast<std::int64_t>(epoch_));
    w.put(static_cast<std::int64_t>(status_ == Status::interrupted ? Status::completed : status_));
    w.put(static_cast<std::int64_t>(stopped_));
    w.put(seconds_);
    w.put(result_.val);
    w.put(result_.test);
    w.put(static_cast<std::int64_t>(result_.best_epoch));
    w.put(best_val_);
    w.put(best_val_loss_);
    w.put(static_cast<std::int64_t>(better_epoch_));
    w.put(static_cast<std::int64_t>(result_.history.size()));
    w.put(static_cast<std::int64_t>(result_.best_state.size()));
    w.array(state_->block());
    w.array(std::span<EpochMetrics const>(result_.history));
    w.array(std::span<float const>(result_.best_state));
    return std::move(w.bytes);
  }
  void restore(std::span<std::byte const> bytes) {
    start();
    detail::ByteReader r{bytes};
    bool const mine = r.get<std::int64_t>() == kMagic &&
                      r.get<std::int64_t>() == static_cast<std::int64_t>(sizeof(T)) &&
                      r.get<std::int64_t>() == static_cast<std::int64_t>(state_->block().size());
    expects(mine,
            "checkpoint: made by another model, optimizer or version; delete it to train from the "
            "start");
    epoch_ = static_cast<int>(r.get<std::int64_t>());
    status_ = static_cast<Status>(r.get<std::int64_t>());
    stopped_ = r.get<std::int64_t>() != 0;
    seconds_ = r.get<double>();
    result_.val = r.get<double>();
    result_.test = r.get<double>();
    result_.best_epoch = static_cast<int>(r.get<std::int64_t>());
    best_val_ = r.get<double>();
    best_val_loss_ = r.get<double>();
    better_epoch_ = static_cast<int>(r.get<std::int64_t>());
    auto const history = static_cast<std::size_t>(r.get<std::int64_t>());
    auto const best = static_cast<std::size_t>(r.get<std::int64_t>());
    expects(history <= bytes.size() && best <= bytes.size(),
            "checkpoint: damaged; delete it to train from the start");
    r.array(state_->block());
    result_.history.resize(history);
    r.array(std::span<EpochMetrics>(result_.history));
    result_.best_state.resize(best);
    r.array(std::span<float>(result_.best_state));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kMagic = 0x32747061'73616e67;

  void start() {
    if (state_) return;
    pool_.emplace(config_.threads);
    executor_.emplace(shard_, *pool_, ops_.functions);
    executor_->prepare(train_plan_);
    executor_->prepare(eval_plan_);
    state_.emplace(train_plan_.layout, moments_of(config_));
    grads_.assign(static_cast<std::size_t>(train_plan_.layout.size), T{0});
    initialize<T>(*state_, train_plan_.layout, spec_, ops_.infos, key_);
  }

  void evaluate(EpochMetrics& m) {
    executor_->forward(eval_plan_, *state_, key_, 0);
    auto const correct = count_correct<T>(executor_->logits(eval_plan_), eval_labels_, eval_part_);
    m.val = static_cast<double>(correct[2]) / val_count_;
    m.val_loss = cross_entropy<T>(*pool_, executor_->logits(eval_plan_), val_labels_,
                                  static_cast<std::int64_t>(val_count_), {})
                     .loss;
    m.test = static_cast<double>(correct[3]) / test_count_;
  }

  void record(EpochMetrics const& m) {
    if (!std::isfinite(m.loss)) {
      status_ = Status::diverged;
      reason_ = "the loss of epoch " + std::to_string(m.epoch) + " is " + std::to_string(m.loss);
      return;
    }
    if (config_.keep_history) result_.history.push_back(m);
    bool const first = m.epoch == 1;
    bool counts = m.val > result_.val, better = counts;
    if (config_.selection == Selection::loss) counts = better = m.val_loss < best_val_loss_;
    if (config_.selection == Selection::accuracy_and_loss) {
      bool const accurate = m.val >= best_val_, sure = m.val_loss <= best_val_loss_;
      counts = accurate && sure;
      better = accurate || sure;
    }
    best_val_ = first ? m.val : std::max(best_val_, m.val);
    best_val_loss_ = first ? m.val_loss : std::min(best_val_loss_, m.val_loss);
    if (first || better) better_epoch_ = m.epoch;
    if (first || counts) {
      result_.val = m.val;
      result_.test = m.test;
      result_.best_epoch = m.epoch;
      if (config_.keep_best_state) {
        auto const block = state_->block();
        result_.best_state.assign(block.begin(), block.end());
      }
    }
    if (config_.patience > 0 && m.epoch - better_epoch_ >= config_.patience) stopped_ = true;
    if (config_.time_limit_s > 0 && seconds_ >= config_.time_limit_s && unfinished()) {
      status_ = Status::timed_out;
      reason_ = "its time limit was reached after epoch " + std::to_string(m.epoch);
    }
  }

  OperatorTable<T> ops_;
  Shard<T>& shard_;
  ModelSpec spec_;
  TrainConfig config_;
  PhiloxKey key_;
  Plan<T> train_plan_, eval_plan_;
  std::optional<Plan<T>> all_plan_;
  std::vector<std::int32_t> train_labels_, eval_labels_, val_labels_;
  std::vector<std::uint8_t> eval_part_;
  std::int64_t train_count_ = 0;
  double val_count_ = 0, test_count_ = 0;
  std::optional<Pool> pool_;
  std::optional<CpuExecutor<T>> executor_;
  std::optional<ModelState<T>> state_;
  std::vector<T> grads_;
  int epoch_ = 0, better_epoch_ = 0;
  double best_val_ = 0, best_val_loss_ = 0;
  bool stopped_ = false;
  double seconds_ = 0;
  Status status_ = Status::completed;
  std::string reason_;
  TrainResult result_;
};

// A trainer over the operators of `Ops`; all lists share one implementation.
template <class Ops, class T = float>
class Trainer : public BasicTrainer<T> {
 public:
  Trainer(Shard<T>& shard, ModelSpec spec, TrainConfig config, std::uint64_t candidate = 0)
      : BasicTrainer<T>(operator_table<Ops, T>(), shard, std::move(spec), std::move(config),
                        candidate) {}
};

}  // namespace gnas
