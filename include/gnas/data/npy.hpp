// NumPy's .npy arrays (format versions 1 to 3), strictly: numbers of every type and byte order,
// fixed-width text.
#pragma once

#include <gnas/core/error.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gnas::data {

// One array in C order. kind: 'b' bool, 'i', 'u', 'f', 'U' (UCS-4), 'S' (bytes), 'O' (pickled
// objects, no bytes kept).
struct NpyArray {
  std::string name;  // for messages: file and member
  char kind = 'f';
  std::size_t item = 0;  // bytes an element
  bool big_endian = false;
  std::vector<std::size_t> shape;
  std::string bytes;

  bool is_object() const noexcept { return kind == 'O'; }
  bool is_number() const noexcept {
    return kind == 'b' || kind == 'i' || kind == 'u' || kind == 'f';
  }
  std::size_t size() const noexcept {
    std::size_t n = 1;
    for (std::size_t s : shape) n *= s;
    return n;
  }
  std::string shape_text() const {
    std::string text = "(";
    for (std::size_t k = 0; k < shape.size(); ++k)
      text += (k ? ", " : "") + std::to_string(shape[k]);
    return text + (shape.size() == 1 ? ",)" : ")");
  }

  // All elements as T. Throws DataError naming the array and the element that does not fit.
  template <class T>
  std::vector<T> to() const {
    if (kind == 'O') {
      throw DataError(
          name +
          ": holds pickled Python objects, which gnas never executes; save it as a numeric array");
    }
    if (!is_number()) throw DataError(name + ": holds text, numbers were needed");
    std::vector<T> out(size());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = element<T>(k);
    return out;
  }

  // Elements of a text array as UTF-8, without trailing zeros.
  std::vector<std::string> strings() const {
    if (kind != 'U' && kind != 'S') throw DataError(name + ": does not hold text");
    std::vector<std::string> out(size());
    for (std::size_t k = 0; k < out.size(); ++k) {
      char const* const at = bytes.data() + k * item;
      if (kind == 'S') {
        out[k].assign(at, item);
      } else {
        for (std::size_t c = 0; c < item / 4; ++c) {
          std::uint32_t const u = static_cast<std::uint32_t>(word(at + 4 * c, 4));
          if (u > 0x10FFFF || (u >= 0xD800 && u < 0xE000))
            fail(k, "code point " + std::to_string(u), "which is no character");
          append_utf8(out[k], u);
        }
      }
      out[k].erase(out[k].find_last_not_of('\0') + 1);  // numpy pads with zeros
    }
    return out;
  }

 private:
  std::uint64_t word(char const* at, std::size_t n) const {
    std::uint64_t x = 0;
    for (std::size_t k = 0; k < n; ++k) {
      x = x << 8 | static_cast<unsigned char>(at[big_endian ? k : n - 1 - k]);
    }
    return x;
  }
  static void append_utf8(std::string& s, std::uint32_t u) {
    if (u < 0x80) {
      s += static_cast<char>(u);
    } else if (u < 0x800) {
      s += static_cast<char>(0xC0 | u >> 6);
      s += static_cast<char>(0x80 | (u & 0x3F));
    } else if (u < 0x10000) {
      s += static_cast<char>(0xE0 | u >> 12);
      s += static_cast<char>(0x80 | (u >> 6 & 0x3F));
      s += static_cast<char>(0x80 | (u & 0x3F));
    } else {
      s += static_cast<char>(0xF0 | (u >> 18 & 0x07));
      s += static_cast<char>(0x80 | (u >> 12 & 0x3F));
      s += static_cast<char>(0x80 | (u >> 6 & 0x3F));
      s += static_cast<char>(0x80 | (u & 0x3F));
    }
  }
  static double half(std::uint64_t h) {
    int const exponent = static_cast<int>(h >> 10 & 0x1F);
    double const fraction = static_cast<double>(h & 0x3FF);
    double const sign = h & 0x8000 ? -1 : 1;
    if (exponent == 31)
      return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    return sign *
           (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
  }

  template <class T>
  T element(std::size_t k) const {
    std::uint64_t const stored = word(bytes.data() + k * item, item);
    std::uint64_t const bits = kind == 'b' ? stored != 0 : stored;
    if (kind == 'f') {
      double const x =
          item == 2   ? half(bits)
          : item == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                      : std::bit_cast<double>(bits);
      if constexpr (std::floating_point<T>) {
        if (std::isfinite(x) && std::abs(x) > static_cast<double>(std::numeric_limits<T>::max())) {
          fail(k, std::to_string(x), "out of range");
        }
        return static_cast<T>(x);
      } else {
        T const y = x >= -9.2e18 && x <= 9.2e18 &&
                            x >= static_cast<double>(std::numeric_limits<T>::min()) &&
                            x <= static_cast<double>(std::numeric_limits<T>::max())
                        ? static_cast<T>(x)
                        : T{};
        if (static_cast<double>(y) != x)
          fail(k, std::to_string(x), "a whole number in range was needed");
        return y;
      }
    }
    if (kind == 'i') {
      std::int64_t x = static_cast<std::int64_t>(bits);
      if (item < 8) {
        std::uint64_t const sign = std::uint64_t{1} << (8 * item - 1);
        x = static_cast<std::int64_t>((bits ^ sign) - sign);
      }
      if constexpr (std::floating_point<T>) {
        return static_cast<T>(x);
      } else {
        if (!std::in_range<T>(x)) fail(k, std::to_string(x), "out of range");
        return static_cast<T>(x);
      }
    }
    if constexpr (std::floating_point<T>) {
      return static_cast<T>(bits);
    } else {
      if (!std::in_range<T>(bits)) fail(k, std::to_string(bits), "out of range");
      return static_cast<T>(bits);
    }
  }
  [[noreturn]] void fail(std::size_t k, std::string const& value, char const* rule) const {
    throw DataError(name + ": element " + std::to_string(k) + " is " + value + ", " + rule);
  }
};

namespace detail {

// The header's dict literal: 'descr', 'fortran_order' and 'shape', in any order, and nothing else.
class NpyHeader {
 public:
  NpyHeader(std::string_view text, std::string const& who) : text_(text), who_(who) {
    skip('{');
    while (!accept('}')) {
      std::string const key = quoted();
      skip(':');
      if (std::find(seen_.begin(), seen_.end(), key) != seen_.end())
        fail("has the header entry '" + key + "' twice");
      seen_.push_back(key);
      if (key == "descr") {
        blanks();
        if (at_ < text_.size() && text_[at_] == '[')
          fail("is a structured array; save each column as its own array");
        descr = quoted();
      } else if (key == "fortran_order") {
        fortran = accept_word("True");
        if (!fortran && !accept_word("False"))
          fail("has a fortran_order that is neither True nor False");
      } else if (key == "shape") {
        skip('(');
        while (!accept(')')) {
          shape.push_back(number());
          if (!accept(',') && !peek(')')) fail("has a broken shape");
        }
      } else {
        fail("has an unknown header entry '" + key + "'");
      }
      if (!accept(',') && !peek('}')) fail("has a broken header");
    }
    blanks();
    if (at_ != text_.size() || seen_.size() != 3)
      fail("has a broken header; descr, fortran_order and shape were needed");
  }
  std::string descr;
  bool fortran = false;
  std::vector<std::size_t> shape;

 private:
  [[noreturn]] void fail(std::string const& what) const { throw DataError(who_ + ": " + what); }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool peek(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }
  void skip(char c) {
    if (!accept(c)) fail("has a broken header");
  }
  bool accept_word(std::string_view word) {
    blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::string quoted() {
    blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      fail("has a broken header");
    char const quote = text_[at_++];
    std::size_t const end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("has a broken header");
    std::string s(text_.substr(at_, end - at_));
    at_ = end + 1;
    return s;
  }
  std::size_t number() {
    blanks();
    std::size_t n = 0;
    auto const [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
    if (error != std::errc()) fail("has a broken shape");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long numbers so
    return n;
  }

  std::string_view text_;
  std::string const& who_;
  std::size_t at_ = 0;
  std::vector<std::string> seen_;
};

}  // namespace detail

// Reads the bytes of one .npy; `name` is for messages. Throws DataError naming what is wrong.
inline NpyArray parse_npy(std::string_view bytes, std::string const& name) {
  auto const fail = [&](std::string const& what) { throw DataError(name + ": " + what); };
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 10) fail("is not a .npy array");
  int const version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    fail("is of .npy version " + std::to_string(version) + ", versions 1 to 3 are read");
  std::size_t const width = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + width) fail("is cut short in its header");
  std::size_t length = 0;
  for (std::size_t k = width; k-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[8 + k]);
  if (bytes.size() - 8 - width < length) fail("is cut short in its header");
  detail::NpyHeader const header(bytes.substr(8 + width, length), name);
  NpyArray a;
  a.name = name;
  a.shape = header.shape;
  std::string_view d = header.descr;
  char const order = d.empty() ? ' ' : d[0];
  if (order == '<' || order == '>' || order == '|' || order == '=') d.remove_prefix(1);
  a.big_endian = order == '>';
  if (d.empty()) fail("has the type '" + header.descr + "', which is not read");
  a.kind = d[0];
  d.remove_prefix(1);
  if (a.kind == 'O') return a;
  std::size_t n = 0;
  auto const [end, error] = std::from_chars(d.data(), d.data() + d.size(), n);
  bool const whole = error == std::errc() && end == d.data() + d.size();
  bool const good =
      whole && ((a.kind == 'b' && n == 1) ||
                ((a.kind == 'i' || a.kind == 'u') && (n == 1 || n == 2 || n == 4 || n == 8)) ||
                (a.kind == 'f' && (n == 2 || n == 4 || n == 8)) ||
                ((a.kind == 'U' || a.kind == 'S') && n > 0 && n < (1u << 20)));
  if (!good)
    fail("has the type '" + header.descr +
         "', which is not read; save it as integers, float32 or float64");
  a.item = a.kind == 'U' ? 4 * n : n;
  if (a.shape.size() > 32)
    fail("has " + std::to_string(a.shape.size()) + " dimensions, at most 32 are possible");
  std::size_t total = a.item;
  for (std::size_t s : a.shape) {
    if (s != 0 && total > std::numeric_limits<std::size_t>::max() / s)
      fail("has the impossible shape " + a.shape_text());
    total *= s;
  }
  std::string_view const body = bytes.substr(8 + width + length);
  if (body.size() != total) {
    fail("has shape " + a.shape_text() + " of '" + header.descr + "', which is " +
         std::to_string(total) + " bytes, but holds " + std::to_string(body.size()));
  }
  a.bytes = body;
  if (header.fortran && a.shape.size() > 1 && total > 0) {
    // Column-major to row-major: walk the output, count the indices.
    std::vector<std::size_t> index(a.shape.size(), 0), stride(a.shape.size(), 1);
    for (std::size_t k = 1; k < stride.size(); ++k) stride[k] = stride[k - 1] * a.shape[k - 1];
    for (std::size_t to = 0; to < a.size(); ++to) {
      std::size_t from = 0;
      for (std::size_t k = 0; k < index.size(); ++k) from += index[k] * stride[k];
      std::memcpy(a.bytes.data() + to * a.item, body.data() + from * a.item, a.item);
      for (std::size_t k = index.size(); k-- > 0 && ++index[k] == a.shape[k];) index[k] = 0;
    }
  }
  return a;
}

// The bytes of a version 1.0 .npy file with `values` in C order, for float, double, int32, int64
// and uint8. Throws InvalidArgument when the shape does not hold as many elements as there are
// values.
template <class T>
std::string npy_bytes(std::span<T const> values, std::vector<std::size_t> const& shape) {
  constexpr bool real = std::is_same_v<T, float> || std::is_same_v<T, double>;
  constexpr bool whole = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
  constexpr bool byte = std::is_same_v<T, std::uint8_t>;
  static_assert(real || whole || byte, "npy_bytes: needs float, double, int32, int64 or uint8");
  NpyArray described;
  described.shape = shape;
  std::string const dims = described.shape_text();
  std::size_t count = 1;
  bool fits = true;
  for (std::size_t s : shape) {
    fits = fits && (s == 0 || count <= std::numeric_limits<std::size_t>::max() / s);
    count *= s;
  }
  if (!fits || count != values.size()) {
    throw InvalidArgument("npy_bytes: shape " + dims + " does not hold " +
                          std::to_string(values.size()) + " values");
  }
  std::string header = std::string("{'descr': '") +
                       (byte   ? "|u"
                        : real ? "<f"
                               : "<i") +
                       std::to_string(sizeof(T)) + "', 'fortran_order': False, 'shape': " + dims +
                       ", }";
  // Magic, version, length and header together fill a multiple of 64 bytes; the last one is a line
  // end.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > 0xFFFF) throw InvalidArgument("npy_bytes: too many dimensions");
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  if constexpr (std::endian::native == std::endian::little) {
    if (!values.empty())
      out.append(reinterpret_cast<char const*>(values.data()), values.size_bytes());
  } else {
    for (T const& value : values) {
      auto const* const at = reinterpret_cast<char const*>(&value);
      for (std::size_t k = sizeof(T); k-- > 0;) out += at[k];
    }
  }
  return out;
}

template <class T>
std::string npy_bytes(std::vector<T> const& values, std::vector<std::size_t> const& shape) {
  return npy_bytes(std::span<T const>(values), shape);
}

template <class T>
std::string npy_bytes(std::vector<T> const& values) {
  return npy_bytes(std::span<T const>(values), {values.size()});
}

}  // namespace gnas::data
