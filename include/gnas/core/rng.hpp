// Counter-based random numbers: Philox 4x32 (Salmon et al., SC 2011). A value is a function of a
// key and a position, so masks and initial weights are the same at any thread count, on any device,
// after a resume.
#pragma once

#include <gnas/core/config.hpp>
#include <gnas/core/rng_lanes.hpp>

#include <array>
#include <cstdint>
#include <cstring>

namespace gnas {

struct PhiloxKey {
  std::uint32_t k0 = 0, k1 = 0;
};

// What the random numbers are for: one stream an epoch, layer and purpose. 64 bits of the counter.
struct PhiloxStream {
  std::uint32_t layer = 0, epoch = 0;
};

// Four 32-bit words at `counter`. Rounds: 10 is the published generator; 7 is the fewest that pass
// BigCrush (same paper), used for dropout masks.
template <int Rounds = 10>
GNAS_HD constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                      PhiloxKey key) {
  auto [x0, x1, x2, x3] = counter;
  for (int r = 0; r < Rounds; ++r) {
    std::uint64_t const a = std::uint64_t{0xD2511F53u} * x0;
    std::uint64_t const b = std::uint64_t{0xCD9E8D57u} * x2;
    std::uint32_t const y0 = static_cast<std::uint32_t>(b >> 32) ^ x1 ^ key.k0;
    std::uint32_t const y2 = static_cast<std::uint32_t>(a >> 32) ^ x3 ^ key.k1;
    x1 = static_cast<std::uint32_t>(b);
    x3 = static_cast<std::uint32_t>(a);
    x0 = y0;
    x2 = y2;
    key.k0 += 0x9E3779B9u;
    key.k1 += 0xBB67AE85u;
  }
  return {x0, x1, x2, x3};
}

// Mixes 64 bits (the finalizer of MurmurHash3), to spread seeds over keys.
GNAS_HD constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  x ^= x >> 33;
  return x;
}

// The key of one training: from the seed and the candidate's own number.
GNAS_HD constexpr PhiloxKey philox_key(std::uint64_t seed, std::uint64_t candidate = 0) {
  std::uint64_t const m = mix64(seed + 0x9E3779B97F4A7C15u * (candidate + 1));
  return {static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(m >> 32)};
}

// Uniform on [0, 1) with 53 bits: element `index` of the stream.
GNAS_HD constexpr double uniform01(PhiloxKey key, PhiloxStream s, std::uint64_t index) {
  auto const w = philox<10>({static_cast<std::uint32_t>(index),
                             static_cast<std::uint32_t>(index >> 32), s.layer, s.epoch},
                            key);
  std::uint64_t const bits = (std::uint64_t{w[0]} << 32 | w[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

// A dropout probability as the masks use it: in steps of 1/65536, with the scale that fits it
// exactly.
struct DropRate {
  std::uint32_t threshold = 0;  // an element is dropped when its 16 bits are below
  double scale = 1;             // 1 / (1 - threshold / 65536)

  constexpr DropRate() = default;
  constexpr explicit DropRate(double p)
      : threshold(static_cast<std::uint32_t>(p * 65536.0 + 0.5)),
        scale(65536.0 / (65536.0 - static_cast<double>(threshold))) {}
  constexpr bool active() const { return threshold != 0; }
};

// Elements share blocks in groups of 128: a group is 16 blocks side by side, so that a compiler
// computes it in vector registers. Element e of the group is half (e / 16) % 2 of word e / 32 of
// block e % 16.
inline constexpr int kDropGroup = 128;

// keep[0..128) of one group.
inline void keep_group(PhiloxKey key, PhiloxStream s, DropRate rate, std::uint64_t group,
                       std::uint8_t* keep) {
  constexpr int rounds = 7;
#if defined(GNAS_RNG_LANES) && !defined(__CUDACC__)
  detail::philox_keep(group * 16, s.layer, s.epoch, key.k0, key.k1, rounds, rate.threshold, keep);
#else
  for (unsigned b = 0; b < 16; ++b) {
    std::uint64_t const block = group * 16 + b;
    auto const word = philox<rounds>({static_cast<std::uint32_t>(block),
                                      static_cast<std::uint32_t>(block >> 32), s.layer, s.epoch},
                                     key);
    for (unsigned w = 0; w < 4; ++w) {
      keep[32 * w + b] = (word[w] & 0xffffu) >= rate.threshold;
      keep[32 * w + 16 + b] = (word[w] >> 16) >= rate.threshold;
    }
  }
#endif
}

// keep[0..n) for elements first .. first + n - 1 of the stream: 1 with probability 1 - threshold /
// 65536. complexity: ceil(n / 128) (+ 1 when first is not a multiple of 128) groups.
inline void fill_keep(PhiloxKey key, PhiloxStream s, DropRate rate, std::uint64_t first,
                      std::int64_t n, std::uint8_t* keep) {
  std::int64_t done = 0;
  while (done < n) {
    std::uint64_t const at = first + static_cast<std::uint64_t>(done);
    std::uint64_t const group = at / kDropGroup;
    int const skip = static_cast<int>(at % kDropGroup);
    std::int64_t const take = n - done < kDropGroup - skip ? n - done : kDropGroup - skip;
    alignas(64) std::uint8_t part[kDropGroup];
    std::uint8_t* const out = take == kDropGroup ? keep + done : part;
    keep_group(key, s, rate, group, out);
    if (out == part) std::memcpy(keep + done, part + skip, static_cast<std::size_t>(take));
    done += take;
  }
}

}  // namespace gnas
