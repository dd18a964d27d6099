// Streams of JPEG bytes whose lengths, indices and markers claim more than there is.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cudatransform::test {

using Bytes = std::vector<uint8_t>;

inline Bytes joined_bytes(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// As many copies as fit into `size` bytes, one at least.
inline Bytes repeated(const Bytes& part, size_t size) {
  Bytes all = part;
  while (all.size() + part.size() <= size) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Bytes marker_segment(uint8_t code, const Bytes& data) {
  const size_t length = data.size() + 2;
  return joined_bytes(
      {{0xff, code, static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length)}, data});
}

// A gray picture of one block, in which all quantized coefficients are 0; `extra` follows its SOI.
inline Bytes tiny_picture(const Bytes& extra = {}, uint8_t width = 8) {
  Bytes table(65, 1);
  table[0] = 0;
  const auto codes = [](uint8_t table_class) {
    Bytes data(18, 0);
    data[0] = table_class;
    data[1] = 1;
    return data;
  };
  return joined_bytes({{0xff, 0xd8},
                       extra,
                       marker_segment(0xdb, table),
                       marker_segment(0xc0, {8, 0, 8, 0, width, 1, 1, 0x11, 0}),
                       marker_segment(0xc4, codes(0x00)),
                       marker_segment(0xc4, codes(0x10)),
                       marker_segment(0xda, {1, 1, 0, 0, 63, 0}),
                       {static_cast<uint8_t>(0xff >> (width / 4)), 0xff, 0xd9}});
}

// Where a picture is, counted from the first byte of the one that has the index.
struct Claim {
  size_t begin = 0, size = 0;
};

// A tiny picture with an index of itself and others, in big-endian order.
inline Bytes with_claims(const std::vector<Claim>& others) {
  Bytes data = {'M', 'P', 'F', 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 2};
  const auto put = [&data](size_t value, size_t bytes) {
    for (size_t i = bytes; i-- > 0;) data.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  constexpr size_t kTiffAt = 2 + 4 + 4, kEntriesAt = 8 + 2 + 2 * 12 + 4;
  const size_t count = others.size() + 1;
  put(0xb001, 2), put(4, 2), put(1, 4), put(count, 4);
  put(0xb002, 2), put(7, 2), put(16 * count, 4), put(kEntriesAt, 4);
  put(0, 4);
  put(0x30000, 4), put(0, 4), put(0, 4), put(0, 4);
  for (const Claim& other : others)
    put(0, 4), put(other.size, 4), put(other.begin - kTiffAt, 4), put(0, 4);
  return tiny_picture(marker_segment(0xe2, data));
}

// Each picture claims what `claim` says of the number of pictures after it.
template <typename Function>
Bytes all_claim(size_t size, const Function& claim) {
  const size_t one = with_claims({Claim()}).size(), count = std::max<size_t>(size / one, 1);
  Bytes all;
  for (size_t i = 0; i < count; i++) {
    const Bytes next = with_claims({{one, claim(count - i - 1, one)}});
    all.insert(all.end(), next.begin(), next.end());
  }
  return all;
}

// Each has an index of this many pictures after it, of which all but the last are there.
inline Bytes chained_indices(size_t size) {
  constexpr size_t kOthers = 255;
  const size_t one = with_claims(std::vector<Claim>(kOthers)).size();
  std::vector<Claim> others;
  for (size_t i = 0; i < kOthers; i++) others.push_back({(i + 1) * one, one});
  others.back().size += 2;  // the next SOI
  return repeated(with_claims(others), size);
}

struct HostileStream {
  const char* name;
  Bytes (*make)(size_t size);
};

inline const HostileStream kHostileJpegs[] = {
    {"tiny pictures", [](size_t size) { return repeated(tiny_picture(), size); }},
    {"tiny pictures of two sizes",
     [](size_t size) {
       return repeated(joined_bytes({tiny_picture(), tiny_picture({}, 16)}), size);
     }},
    {"an index that claims 200 MB",
     [](size_t size) {
       const size_t first = with_claims({Claim()}).size();
       return joined_bytes(
           {with_claims({{first, size_t{200} << 20}}), repeated(tiny_picture(), size)});
     }},
    {"indices that claim all that follows",
     [](size_t size) {
       return all_claim(
           size, [](size_t behind, size_t one) { return std::max<size_t>(behind * one, 1); });
     }},
    {"indices that claim 1 MB",
     [](size_t size) { return all_claim(size, [](size_t, size_t) { return size_t{1} << 20; }); }},
    {"indices whose last picture is not there", chained_indices},
    {"indices of one long picture",
     [](size_t size) {
       const size_t one = with_claims({Claim()}).size();
       const Bytes open = {0xff, 0xd8, 0xff, 0xda, 0, 2};
       // Each claims the last one, which has no end.
       Bytes all;
       const size_t count = std::max<size_t>(size / 2 / one, 1);
       for (size_t i = 0; i < count; i++) {
         const Bytes next = with_claims({{(count - i) * one, size / 2 - 100}});
         all.insert(all.end(), next.begin(), next.end());
       }
       return joined_bytes({all, open, Bytes(size / 2, 0)});
     }},
    {"a trailer of beginnings",
     [](size_t size) {
       return joined_bytes({tiny_picture(), {0}, repeated({0xff, 0xd8, 0xff, 0xc0}, size)});
     }},
    {"a trailer of segments that lead nowhere",
     [](size_t size) {
       const Bytes start = {0xff, 0xd8, 0xff, 0xe0, 0xff, 0xf0};
       return joined_bytes({tiny_picture(), {0}, repeated(start, size)});
     }},
    {"tiny segments",
     [](size_t size) {
       return tiny_picture(repeated({0xff, 0xfe, 0, 2}, size));
     }},
    {"stray bytes", [](size_t size) { return tiny_picture(Bytes(size, 1)); }},
    {"fill bytes", [](size_t size) { return tiny_picture(Bytes(size, 0xff)); }},
    {"SOI",
     [](size_t size) {
       return repeated({0xff, 0xd8}, size);
     }},
    {"SOI and EOI",
     [](size_t size) {
       return repeated({0xff, 0xd8, 0xff, 0xd9}, size);
     }},
    {"SOI and half a segment",
     [](size_t size) {
       return repeated({0xff, 0xd8, 0xff, 0xdb}, size);
     }},
    {"a picture without an end",
     [](size_t size) {
       Bytes open = tiny_picture();
       open.resize(open.size() - 2);
       return joined_bytes({open, Bytes(size, 0)});
     }},
};

}  // namespace cudatransform::test
