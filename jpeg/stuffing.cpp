// The markers of a JPEG file, and its entropy-coded bytes without their stuffing, many at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// There is an FF every hundred bytes or so, at places that cannot be predicted: a branch for each
// costs as much as a hundred bytes. Processors with AVX-512 VBMI2 take out bytes without a branch;
// others read as many bytes as they can before they branch.

#include "jpeg/stuffing.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cudatransform {
namespace {

#if defined(__SSE2__)
// Bits of the bytes that are FF, of 32.
constexpr ptrdiff_t kStep = 32;
uint32_t copy_step(const uint8_t* from, uint8_t* to) {
  const __m128i ff = _mm_set1_epi8(-1);
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), first);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), second);
  const auto low = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(first, ff)));
  const auto high = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(second, ff)));
  return low | high << 16;
}
// Whether an FF of 16 bytes has no 00 after it.
constexpr size_t kMarkerStep = 16;
bool has_marker(const uint8_t* from) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m128i behind = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 1));
  const __m128i ffs = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(-1));
  const __m128i zeros = _mm_cmpeq_epi8(behind, _mm_setzero_si128());
  return _mm_movemask_epi8(_mm_andnot_si128(zeros, ffs)) != 0;
}
// The number of bytes in front of the first FF, if there is one.
size_t before_ff(uint32_t found) { return static_cast<size_t>(std::countr_zero(found)); }
#else
constexpr ptrdiff_t kStep = 8;
uint64_t copy_step(const uint8_t* from, uint8_t* to) {
  constexpr uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  uint64_t word = 0;
  std::memcpy(&word, from, 8);
  std::memcpy(to, &word, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  // Finds zeros in the complement: the lowest bit that is set is right.
  return (~word - kOnes) & word & kTops;
}
size_t before_ff(uint64_t found) { return static_cast<size_t>(std::countr_zero(found)) / 8; }
#endif
static_assert(kStep <= static_cast<ptrdiff_t>(kUnstuffAtOnce));

#if defined(__x86_64__)
#define CT_VBMI2 __attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,popcnt")))

bool has_vbmi2() {
  static const bool has =
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vbmi2") != 0;
  return has;
}

// The FFs of 64 bytes, and those that no 00 follows.
struct Ffs {
  uint64_t all, markers;
};
CT_VBMI2 inline Ffs find_ffs(const uint8_t* from, __m512i bytes) {
  const __m512i behind = _mm512_loadu_si512(from + 1);
  const __mmask64 all = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(-1));
  return {all, _mm512_mask_test_epi8_mask(all, behind, behind)};
}

// Stops earlier: before 64 bytes with a marker, or the last ones.
CT_VBMI2 Unstuffed unstuff_by_64(const uint8_t* from, const uint8_t* end, uint8_t* to,
                                 const uint8_t* full) {
  uint64_t stuffs = 0;  // 1: the first byte stuffs the one before
  for (; end - from > 64 && to < full; from += 64) {
    const __m512i bytes = _mm512_loadu_si512(from);
    const Ffs ffs = find_ffs(from, bytes);
    if (ffs.markers != 0) break;
    const uint64_t kept = ~(ffs.all << 1 | stuffs);
    stuffs = ffs.all >> 63;
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(kept, bytes));
    to += std::popcount(kept);
  }
  return {from + stuffs, to};
}

// Those of 64 bytes without a marker.
CT_VBMI2 size_t bytes_by_64(const uint8_t* data, size_t size) {
  size_t at = 0;
  while (size - at > 64 && find_ffs(data + at, _mm512_loadu_si512(data + at)).markers == 0)
    at += 64;
  return at;
}
#endif

}  // namespace

Unstuffed unstuff_portably(const uint8_t* from, const uint8_t* end, uint8_t* to,
                           const uint8_t* full) {
  while (to < full && from < end) {
    if (end - from >= kStep) {
      const auto found = copy_step(from, to);
      const size_t bytes = found == 0 ? kStep : before_ff(found);
      from += bytes;
      to += bytes;
      if (found == 0) continue;
    } else if (*from != 0xff) {
      *to++ = *from++;
      continue;
    }
    if (end - from < 2 || from[1] != 0) break;
    *to++ = 0xff;
    from += 2;
  }
  return {from, to};
}

const uint8_t* marker_code(const uint8_t* ff, const uint8_t* end) {
  const uint8_t* code = ff;
  while (code < end && *code == 0xff) ++code;
  return code == ff || code == end || *code == 0 ? nullptr : code;
}

bool ends_without_marker(const uint8_t* ff, const uint8_t* end) {
  return std::all_of(ff, end, [](uint8_t byte) { return byte == 0xff; });
}

size_t bytes_before_marker_portably(const uint8_t* data, size_t size) {
  size_t at = 0;
#if defined(__SSE2__)
  while (size - at > kMarkerStep && !has_marker(data + at)) at += kMarkerStep;
#endif
  for (; at < size; at += 2) {
    const void* const ff = std::memchr(data + at, 0xff, size - at);
    if (ff == nullptr) return size;
    at = static_cast<size_t>(static_cast<const uint8_t*>(ff) - data);
    if (at + 1 == size || data[at + 1] != 0) return at;
  }
  return size;
}

#if defined(__x86_64__)
Unstuffed unstuff(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t* full) {
  if (!has_vbmi2()) return unstuff_portably(from, end, to, full);
  const Unstuffed most = unstuff_by_64(from, end, to, full);
  return unstuff_portably(most.from, end, most.to, full);
}

size_t bytes_before_marker(const uint8_t* data, size_t size) {
  const size_t most = has_vbmi2() ? bytes_by_64(data, size) : 0;
  return most + bytes_before_marker_portably(data + most, size - most);
}
#else
Unstuffed unstuff(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t* full) {
  return unstuff_portably(from, end, to, full);
}
size_t bytes_before_marker(const uint8_t* data, size_t size) {
  return bytes_before_marker_portably(data, size);
}
#endif

bool ScanWindow::begin(const uint8_t* from, const uint8_t* end) {
  from_ = from;
  end_ = end;
  marker_ = nullptr;
  used_ = 0;
  is_whole_ = false;
  return fill();
}

bool ScanWindow::move(const uint8_t** at) {
  if (is_whole_) return false;
  const auto before = static_cast<size_t>(*at - bytes_), kept = std::min(before, kKept);
  used_ -= before - kept;
  std::memmove(bytes_, *at - kept, used_);
  *at = bytes_ + kept;
  return fill();
}

bool ScanWindow::fill() {
  static_assert(2 * kUnstuffAtOnce < kBytes);
  const uint8_t* const full = bytes_ + kBytes - 2 * kUnstuffAtOnce;
  const auto [from, to] = unstuff(from_, end_, bytes_ + used_, full);
  from_ = from;
  if (to < full) {
    marker_ = marker_code(from, end_);
    if (marker_ == nullptr && !ends_without_marker(from, end_)) return false;
    is_whole_ = true;
    std::memset(to, 0, kZeros);
  }
  used_ = static_cast<size_t>(to - bytes_);
  // A word of bits may have been loaded from after the last byte.
  last_ = is_whole_ ? to + 8 : to - kMaxAhead;
  return true;
}

}  // namespace cudatransform
