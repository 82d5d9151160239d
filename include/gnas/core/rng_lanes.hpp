// Sixteen Philox blocks side by side in vector registers: what dropout masks are made of on the
// host. A 64-bit lane holds one 32-bit word; its upper half may hold anything, since the widening
// product reads the lower halves only.
#pragma once

#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define GNAS_RNG_LANES 8
#elif defined(__AVX2__)
#define GNAS_RNG_LANES 4
#endif

#if defined(GNAS_RNG_LANES) && !defined(__CUDACC__)
#include <immintrin.h>

namespace gnas::detail {

#if GNAS_RNG_LANES == 8
using WordLanes = __m512i;
inline WordLanes lanes_all(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
inline WordLanes lanes_count() { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }
inline WordLanes lanes_add(WordLanes a, WordLanes b) { return _mm512_add_epi64(a, b); }
inline WordLanes lanes_product(WordLanes a, WordLanes b) { return _mm512_mul_epu32(a, b); }
// (a >> 32) ^ b ^ c
inline WordLanes lanes_mix(WordLanes a, WordLanes b, WordLanes c) {
  return _mm512_ternarylogic_epi64(_mm512_srli_epi64(a, 32), b, c, 0x96);
}
// The words of two vectors, in order, to 16 bytes each: whether their lower and upper 16 bits are
// at least the threshold.
inline void lanes_compare(WordLanes const* x, std::uint32_t threshold, std::uint8_t* low,
                          std::uint8_t* high) {
  __m512i const word = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(x[0])),
                                          _mm512_cvtepi64_epi32(x[1]), 1);
  __m512i const t = _mm512_set1_epi32(static_cast<int>(threshold));
  __mmask16 const l = _mm512_cmpge_epu32_mask(_mm512_and_si512(word, _mm512_set1_epi32(0xffff)), t);
  __mmask16 const h = _mm512_cmpge_epu32_mask(_mm512_srli_epi32(word, 16), t);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(low), _mm_maskz_set1_epi8(l, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(high), _mm_maskz_set1_epi8(h, 1));
}
#else
using WordLanes = __m256i;
inline WordLanes lanes_all(std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}
inline WordLanes lanes_count() { return _mm256_set_epi64x(3, 2, 1, 0); }
inline WordLanes lanes_add(WordLanes a, WordLanes b) { return _mm256_add_epi64(a, b); }
inline WordLanes lanes_product(WordLanes a, WordLanes b) { return _mm256_mul_epu32(a, b); }
inline WordLanes lanes_mix(WordLanes a, WordLanes b, WordLanes c) {
  return _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a, 32), b), c);
}
// The words of four vectors, likewise.
inline void lanes_compare(WordLanes const* x, std::uint32_t threshold, std::uint8_t* low,
                          std::uint8_t* high) {
  alignas(32) std::uint64_t word[16];
  for (int v = 0; v < 4; ++v) _mm256_store_si256(reinterpret_cast<__m256i*>(word + 4 * v), x[v]);
  for (int b = 0; b < 16; ++b) {
    low[b] = static_cast<std::uint8_t>((word[b] & 0xffffu) >= threshold);
    high[b] = static_cast<std::uint8_t>(((word[b] >> 16) & 0xffffu) >= threshold);
  }
}
#endif

// Words 0..3 of Philox 4x32 with `rounds` rounds at counters first + 0..15 (no carry into the
// second word: first is a multiple of 16), compared as above: out[32 w + b] and out[32 w + 16 + b]
// belong to word w of block b.
inline void philox_keep(std::uint64_t first, std::uint32_t c2, std::uint32_t c3, std::uint32_t k0,
                        std::uint32_t k1, int rounds, std::uint32_t threshold, std::uint8_t* out) {
  constexpr int V = 16 / GNAS_RNG_LANES;
  WordLanes x[4][V];
  for (int v = 0; v < V; ++v) {
    x[0][v] =
        lanes_add(lanes_all((first & 0xffffffffu) + static_cast<std::uint64_t>(v * GNAS_RNG_LANES)),
                  lanes_count());
    x[1][v] = lanes_all(first >> 32);
    x[2][v] = lanes_all(c2);
    x[3][v] = lanes_all(c3);
  }
  WordLanes const m0 = lanes_all(0xD2511F53u), m1 = lanes_all(0xCD9E8D57u);
  for (int r = 0; r < rounds; ++r) {
    WordLanes const key0 = lanes_all(k0), key1 = lanes_all(k1);
    for (int v = 0; v < V; ++v) {
      WordLanes const p = lanes_product(m0, x[0][v]), q = lanes_product(m1, x[2][v]);
      x[0][v] = lanes_mix(q, x[1][v], key0);
      x[2][v] = lanes_mix(p, x[3][v], key1);
      x[1][v] = q;
      x[3][v] = p;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int w = 0; w < 4; ++w) lanes_compare(x[w], threshold, out + 32 * w, out + 32 * w + 16);
}

}  // namespace gnas::detail
#endif
