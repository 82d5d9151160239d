// The subset of Python's pickle that old graph files use for arrays: CSR matrices, dense arrays,
// adjacency dicts. It builds data and nothing else: no name in a file is ever looked up or called.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/data/npy.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnas::data {

struct PickledCsr {
  std::size_t rows = 0, cols = 0;
  std::vector<std::int64_t> indptr, indices;
  std::vector<float> data;
};

// A value of the subset. Copies share what is below. Tuples hold neither lists, dicts nor arrays,
// lists only numbers, and dicts neither dicts nor matrices, so no value can hold itself and none is
// deep.
struct PickleValue {
  enum Kind {
    none,
    boolean,
    integer,
    bytes,
    tuple,
    list,
    dict,
    name,
    dtype,
    array,
    csr
  } kind = none;
  std::int64_t number = 0;                          // integer, boolean
  std::string text;                                 // bytes; name: "module attribute"; dtype: "<f4"
  std::vector<std::shared_ptr<PickleValue>> items;  // tuple, list; dict: key, value, key, value ...
  NpyArray content;                                 // array
  bool built = false;  // dtype, array, csr: BUILD has filled it, which happens once
  int depth = 0;       // tuple: of the tuples in it
};

// Reads one pickled value; `who` is the file in messages. Throws DataError for every opcode or name
// outside the subset.
class PickleReader {
 public:
  using Value = std::shared_ptr<PickleValue>;

  PickleReader(std::string_view bytes, std::string who) : in_(bytes), who_(std::move(who)) {}

  Value read() {
    for (;;) {
      op_at_ = at_;
      auto const op = static_cast<unsigned char>(take(1)[0]);
      switch (op) {
        case 0x80: {  // PROTO
          auto const version = static_cast<unsigned char>(take(1)[0]);
          if (version > 2)
            fail("is a pickle of protocol " + std::to_string(version) + ", protocol 2 is read");
          break;
        }
        case 'c': {  // GLOBAL
          std::string const module = line();
          std::string const attribute = line();
          push_name(module + " " + attribute);
          break;
        }
        case 'q':
          memo_[static_cast<unsigned char>(take(1)[0])] = top();
          break;  // BINPUT
        case 'r':
          memo_[static_cast<std::uint32_t>(number(4))] = top();
          break;  // LONG_BINPUT
        case 'h':
          push(recall(static_cast<unsigned char>(take(1)[0])));
          break;  // BINGET
        case 'j':
          push(recall(static_cast<std::uint32_t>(number(4))));
          break;  // LONG_BINGET
        case ')':
          push(make(PickleValue::tuple));
          break;  // EMPTY_TUPLE
        case '}':
          push(make(PickleValue::dict));
          break;  // EMPTY_DICT
        case ']':
          push(make(PickleValue::list));
          break;  // EMPTY_LIST
        case '(':
          marks_.push_back(stack_.size());
          break;  // MARK
        case 0x85:
          gather(1);
          break;  // TUPLE1
        case 0x86:
          gather(2);
          break;  // TUPLE2
        case 0x87:
          gather(3);
          break;  // TUPLE3
        case 't':
          gather(stack_.size() - mark());
          break;  // TUPLE
        case 'U':
          push_bytes(static_cast<unsigned char>(take(1)[0]));
          break;  // SHORT_BINSTRING
        case 'T':
          push_bytes(static_cast<std::size_t>(number(4)));
          break;  // BINSTRING
        case 'K':
          push_integer(static_cast<unsigned char>(take(1)[0]));
          break;  // BININT1
        case 'M':
          push_integer(static_cast<std::int64_t>(number(2)));
          break;  // BININT2
        case 'J':
          push_integer(static_cast<std::int32_t>(number(4)));
          break;  // BININT
        case 'N':
          push(make(PickleValue::none));
          break;  // NONE
        case 0x88:
          push(truth(1));
          break;  // NEWTRUE
        case 0x89:
          push(truth(0));
          break;  // NEWFALSE
        case 0x81:
          new_object();
          break;  // NEWOBJ
        case 'R':
          reduce();
          break;  // REDUCE
        case 'b':
          build();
          break;  // BUILD
        case 's':
          set_items(stack_.size() < 2 ? 0 : stack_.size() - 2);
          break;  // SETITEM
        case 'u':
          set_items(mark());
          break;  // SETITEMS
        case 'a':
          append(stack_.empty() ? 0 : stack_.size() - 1);
          break;  // APPEND
        case 'e':
          append(mark());
          break;     // APPENDS
        case '.': {  // STOP
          Value v = pop();
          if (!stack_.empty() || !marks_.empty()) fail("ends with values left over");
          if (at_ != in_.size()) fail("goes on after its end at byte " + std::to_string(at_));
          if (v->kind == PickleValue::array || v->kind == PickleValue::csr) need_built(*v);
          return v;
        }
        default: {
          constexpr char hex[] = "0123456789abcdef";
          fail(std::string("uses the pickle opcode 0x") + hex[op >> 4] + hex[op & 15] +
               " at byte " + std::to_string(op_at_) +
               "; gnas reads arrays only and never executes pickles: convert the file to .npz");
        }
      }
    }
  }

 private:
  [[noreturn]] void fail(std::string const& what) const { throw DataError(who_ + ": " + what); }

  std::string_view take(std::size_t n) {
    if (in_.size() - at_ < n) fail("is cut short at byte " + std::to_string(in_.size()));
    std::string_view const s = in_.substr(at_, n);
    at_ += n;
    return s;
  }
  std::uint64_t number(std::size_t n) {
    std::string_view const s = take(n);
    std::uint64_t x = 0;
    for (std::size_t k = n; k-- > 0;) x = x << 8 | static_cast<unsigned char>(s[k]);
    return x;
  }
  std::string line() {
    std::size_t const end = in_.find('\n', at_);
    if (end == std::string_view::npos || end - at_ > 200)
      fail("has a broken name at byte " + std::to_string(at_));
    std::string s(in_.substr(at_, end - at_));
    for (char& c : s) {
      if (c < ' ' || c > '~') c = '?';  // the name may end in a message
    }
    at_ = end + 1;
    return s;
  }
  void need_built(PickleValue const& v) const {
    if (!v.built) fail("has an array without content before byte " + std::to_string(at_));
  }

  static Value make(PickleValue::Kind kind) {
    auto v = std::make_shared<PickleValue>();
    v->kind = kind;
    return v;
  }
  static Value truth(int x) {
    Value v = make(PickleValue::boolean);
    v->number = x;
    return v;
  }
  void push(Value v) { stack_.push_back(std::move(v)); }
  void push_integer(std::int64_t x) {
    Value v = make(PickleValue::integer);
    v->number = x;
    push(std::move(v));
  }
  void push_bytes(std::size_t n) {
    Value v = make(PickleValue::bytes);
    v->text = take(n);
    push(std::move(v));
  }
  void push_name(std::string text) {
    for (std::string_view known : {"scipy.sparse.csr csr_matrix", "scipy.sparse._csr csr_matrix",
                                   "numpy.core.multiarray _reconstruct", "numpy ndarray",
                                   "numpy dtype", "collections defaultdict", "__builtin__ list"}) {
      if (text == known) {
        Value v = make(PickleValue::name);
        v->text = std::move(text);
        push(std::move(v));
        return;
      }
    }
    fail("names '" + text + "' at byte " + std::to_string(op_at_) +
         ", which is not data; gnas reads arrays only and never executes pickles: convert the file "
         "to .npz");
  }
  Value const& top() const {
    if (stack_.empty())
      fail("is not a sound pickle (empty stack at byte " + std::to_string(op_at_) + ")");
    return stack_.back();
  }
  Value pop() {
    Value v = top();
    if (!marks_.empty() && marks_.back() >= stack_.size())
      fail("is not a sound pickle (mark at byte " + std::to_string(op_at_) + ")");
    stack_.pop_back();
    return v;
  }
  std::size_t mark() {
    if (marks_.empty())
      fail("is not a sound pickle (no mark at byte " + std::to_string(op_at_) + ")");
    std::size_t const m = marks_.back();
    marks_.pop_back();
    return m;
  }
  Value recall(std::uint32_t k) const {
    auto const at = memo_.find(k);
    if (at == memo_.end()) fail("recalls value " + std::to_string(k) + ", which it never stored");
    return at->second;
  }
  void gather(std::size_t n) {
    if (n > stack_.size())
      fail("is not a sound pickle (tuple at byte " + std::to_string(op_at_) + ")");
    Value v = make(PickleValue::tuple);
    v->items.assign(stack_.end() - static_cast<std::ptrdiff_t>(n), stack_.end());
    for (Value const& item : v->items) {
      bool const plain = item->kind != PickleValue::list && item->kind != PickleValue::dict &&
                         item->kind != PickleValue::array && item->kind != PickleValue::csr;
      if (!plain)
        fail("has a tuple of something else than plain values at byte " + std::to_string(op_at_));
      if (item->kind == PickleValue::tuple) v->depth = std::max(v->depth, item->depth + 1);
    }
    if (v->depth > 4) fail("nests tuples too deep at byte " + std::to_string(op_at_));
    stack_.resize(stack_.size() - n);
    push(std::move(v));
  }

  // csr_matrix.__new__(csr_matrix): an empty matrix, filled by BUILD.
  void new_object() {
    Value const arguments = pop(), type = pop();
    if (type->kind != PickleValue::name || !type->text.ends_with("csr_matrix") ||
        arguments->kind != PickleValue::tuple || !arguments->items.empty()) {
      fail("makes an object that is no CSR matrix at byte " + std::to_string(op_at_));
    }
    push(make(PickleValue::csr));
  }
  // _reconstruct(ndarray, (0,), 'b'), dtype('f4', 0, 1), defaultdict(list): empty values, filled by
  // what follows.
  void reduce() {
    Value const arguments = pop(), callee = pop();
    auto const& a = arguments->items;
    if (callee->kind == PickleValue::name && arguments->kind == PickleValue::tuple) {
      if (callee->text.ends_with("_reconstruct") && a.size() == 3 &&
          is_name(*a[0], "numpy ndarray"))
        return push(make(PickleValue::array));
      if (callee->text == "collections defaultdict" && a.size() == 1 &&
          is_name(*a[0], "__builtin__ list"))
        return push(make(PickleValue::dict));
      if (callee->text == "numpy dtype" && a.size() == 3 && a[0]->kind == PickleValue::bytes) {
        constexpr std::array<std::string_view, 4> known = {"i4", "i8", "f4", "f8"};
        if (std::find(known.begin(), known.end(), a[0]->text) == known.end()) {
          fail("has an array of a type other than i4, i8, f4 and f8 at byte " +
               std::to_string(op_at_));
        }
        Value v = make(PickleValue::dtype);
        v->text = a[0]->text;
        return push(std::move(v));
      }
    }
    fail("calls something that makes no array at byte " + std::to_string(op_at_));
  }
  static bool is_name(PickleValue const& v, std::string_view text) {
    return v.kind == PickleValue::name && v.text == text;
  }
  void build() {
    Value const state = pop();
    Value const object = top();
    auto const& s = state->items;
    auto const broken = [&] { fail("has a broken array at byte " + std::to_string(op_at_)); };
    if (object->built) broken();
    object->built = true;
    if (object->kind == PickleValue::dtype) {
      if (state->kind != PickleValue::tuple || s.size() < 2 || s[1]->kind != PickleValue::bytes ||
          (s[1]->text != "<" && s[1]->text != ">")) {
        broken();
      }
      object->text = s[1]->text + object->text;
      return;
    }
    if (object->kind == PickleValue::array) {
      if (state->kind != PickleValue::tuple || s.size() != 5 || s[1]->kind != PickleValue::tuple ||
          s[2]->kind != PickleValue::dtype || !s[2]->built || s[1]->items.size() > 2 ||
          s[3]->kind != PickleValue::boolean || s[4]->kind != PickleValue::bytes) {
        broken();
      }
      // The bytes of an array are in the file once; a file that names them again and again is an
      // attack on memory.
      array_bytes_ += s[4]->text.size();
      if (array_bytes_ > in_.size()) broken();
      std::string header = "{'descr': '" + s[2]->text +
                           "', 'fortran_order': " + (s[3]->number ? "True" : "False") +
                           ", 'shape': (";
      for (auto const& d : s[1]->items) {
        if (d->kind != PickleValue::integer || d->number < 0) broken();
        header += std::to_string(d->number) + ",";
      }
      header += ")}";
      std::string npy = "\x93NUMPY\x02";
      npy += '\0';
      for (int k = 0; k < 4; ++k) npy += static_cast<char>(header.size() >> (8 * k) & 0xFF);
      object->content = parse_npy(npy + header + s[4]->text, who_ + ": an array");
      return;
    }
    if (object->kind == PickleValue::csr && state->kind == PickleValue::dict &&
        state->items.size() <= 64) {
      object->items = state->items;
      return;
    }
    fail("builds something that is no array at byte " + std::to_string(op_at_));
  }
  void set_items(std::size_t first) {
    if (first == 0 || first > stack_.size() || (stack_.size() - first) % 2 != 0 ||
        stack_[first - 1]->kind != PickleValue::dict) {
      fail("is not a sound pickle (dict at byte " + std::to_string(op_at_) + ")");
    }
    for (std::size_t k = first; k < stack_.size(); k += 2) {
      PickleValue const &key = *stack_[k], &value = *stack_[k + 1];
      if ((key.kind != PickleValue::integer && key.kind != PickleValue::bytes) ||
          value.kind == PickleValue::dict || value.kind == PickleValue::csr) {
        fail("has a dict of something else than numbers, texts, lists and arrays at byte " +
             std::to_string(op_at_));
      }
      if (value.kind == PickleValue::array) need_built(value);
    }
    auto& items = stack_[first - 1]->items;
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first);
  }
  void append(std::size_t first) {
    if (first == 0 || first > stack_.size() || stack_[first - 1]->kind != PickleValue::list) {
      fail("is not a sound pickle (list at byte " + std::to_string(op_at_) + ")");
    }
    auto& items = stack_[first - 1]->items;
    for (std::size_t k = first; k < stack_.size(); ++k) {
      // Only numbers belong into these lists; nesting could make cycles.
      if (stack_[k]->kind != PickleValue::integer)
        fail("has a list of something else than numbers at byte " + std::to_string(op_at_));
      items.push_back(stack_[k]);
    }
    stack_.resize(first);
  }

  std::string_view in_;
  std::string who_;
  std::size_t at_ = 0, op_at_ = 0;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint32_t, Value> memo_;
  std::size_t array_bytes_ = 0;
};

// The value as a CSR matrix, checked. Throws DataError.
inline PickledCsr pickled_csr(PickleValue const& v, std::string const& who) {
  auto const fail = [&](std::string const& what) { throw DataError(who + ": " + what); };
  if (v.kind != PickleValue::csr) fail("does not hold a CSR matrix");
  PickledCsr m;
  bool shape = false, indptr = false, indices = false, data = false;
  for (std::size_t k = 0; k + 1 < v.items.size(); k += 2) {
    std::string const& key = v.items[k]->text;
    PickleValue const& value = *v.items[k + 1];
    if (key == "_shape" || key == "shape") {
      auto const count = [](PickleValue const& x) {
        return x.kind == PickleValue::integer && x.number >= 0;
      };
      if (value.kind != PickleValue::tuple || value.items.size() != 2 || !count(*value.items[0]) ||
          !count(*value.items[1])) {
        fail("has a broken shape");
      }
      m.rows = static_cast<std::size_t>(value.items[0]->number);
      m.cols = static_cast<std::size_t>(value.items[1]->number);
      shape = true;
    } else if (key == "indptr" || key == "indices" || key == "data") {
      if (value.kind != PickleValue::array) fail("has no array '" + key + "'");
      if (key == "indptr") m.indptr = value.content.to<std::int64_t>(), indptr = true;
      if (key == "indices") m.indices = value.content.to<std::int64_t>(), indices = true;
      if (key == "data") m.data = value.content.to<float>(), data = true;
    }
  }
  if (!shape || !indptr || !indices || !data) fail("lacks one of shape, indptr, indices, data");
  if (m.indptr.size() != m.rows + 1 || m.indptr.front() != 0 ||
      m.indptr.back() != static_cast<std::int64_t>(m.indices.size()) ||
      m.data.size() != m.indices.size()) {
    fail("has row starts that do not fit its " + std::to_string(m.rows) + " rows and " +
         std::to_string(m.indices.size()) + " entries");
  }
  for (std::size_t i = 0; i < m.rows; ++i) {
    if (m.indptr[i] > m.indptr[i + 1])
      fail("has descending row starts at row " + std::to_string(i));
  }
  for (std::size_t e = 0; e < m.indices.size(); ++e) {
    if (m.indices[e] < 0 || m.indices[e] >= static_cast<std::int64_t>(m.cols)) {
      fail("has column " + std::to_string(m.indices[e]) + " at entry " + std::to_string(e) +
           ", there are " + std::to_string(m.cols));
    }
  }
  return m;
}

}  // namespace gnas::data
