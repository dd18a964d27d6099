// Removing the stuffing from a JPEG scan, against its definition, byte by byte.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "jpeg/stuffing.h"

namespace cudatransform::test {
namespace {

using Bytes = std::vector<uint8_t>;

bool is_marker(const Bytes& bytes, size_t at) {
  return bytes[at] == 0xff && (at + 1 == bytes.size() || bytes[at + 1] != 0);
}

size_t defined_marker(const Bytes& bytes) {
  size_t at = 0;
  while (at < bytes.size() && !is_marker(bytes, at)) at += bytes[at] == 0xff ? 2 : 1;
  return at;
}

Bytes defined_data(const Bytes& bytes, size_t end) {
  Bytes data;
  for (size_t at = 0; at < end; at += bytes[at] == 0xff ? 2 : 1) data.push_back(bytes[at]);
  return data;
}

// Memory of exactly these bytes, so that a sanitizer sees reads beyond them.
struct Exact {
  explicit Exact(const Bytes& bytes) : size(bytes.size()), data(new uint8_t[bytes.size()]) {
    std::copy(bytes.begin(), bytes.end(), data.get());
  }
  const size_t size;
  const std::unique_ptr<uint8_t[]> data;
};

void expect_unstuffed(decltype(unstuff)& way, const Bytes& bytes, size_t room) {
  constexpr uint8_t kUntouched = 0x5a;
  const Exact from(bytes);
  Bytes to(room + 2 * kUnstuffAtOnce + 1, kUntouched);
  const Unstuffed stopped =
      way(from.data.get(), from.data.get() + from.size, to.data(), to.data() + room);
  const auto read = static_cast<size_t>(stopped.from - from.data.get());
  const auto written = static_cast<size_t>(stopped.to - to.data());
  ASSERT_LE(read, from.size);
  ASSERT_LE(written, room + kUnstuffAtOnce);
  if (written < room) {
    ASSERT_EQ(read, defined_marker(bytes));
  }
  const Bytes data = defined_data(bytes, read);
  ASSERT_EQ(Bytes(to.begin(), to.begin() + static_cast<ptrdiff_t>(written)), data);
  for (size_t i = written + kUnstuffAtOnce; i < to.size(); ++i) ASSERT_EQ(to[i], kUntouched);
}

void expect_defined(const Bytes& bytes, std::mt19937& random) {
  const Exact exact(bytes);
  ASSERT_EQ(bytes_before_marker(exact.data.get(), exact.size), defined_marker(bytes));
  ASSERT_EQ(bytes_before_marker_portably(exact.data.get(), exact.size), defined_marker(bytes));
  for (const size_t room : {bytes.size() + 1, size_t{random() % (bytes.size() + 1)}}) {
    ASSERT_NO_FATAL_FAILURE(expect_unstuffed(unstuff, bytes, room));
    ASSERT_NO_FATAL_FAILURE(expect_unstuffed(unstuff_portably, bytes, room));
  }
}

// An FF every `apart` bytes or so, of which few are markers.
Bytes random_bytes(size_t size, uint32_t apart, std::mt19937& random) {
  Bytes bytes;
  while (bytes.size() < size) {
    if (random() % apart != 0) {
      bytes.push_back(static_cast<uint8_t>(random()));
      if (bytes.back() == 0xff) bytes.push_back(0);
      continue;
    }
    bytes.push_back(0xff);
    bytes.push_back(random() % 64 != 0 ? 0 : static_cast<uint8_t>(random()));
  }
  bytes.resize(size);
  return bytes;
}

TEST(JpegStuffing, RandomBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 6000; ++i) {
    const uint32_t apart = 1 + random() % (i % 3 == 0 ? 4 : 200);
    ASSERT_NO_FATAL_FAILURE(expect_defined(random_bytes(random() % 400, apart, random), random))
        << "number " << i;
  }
}

// The pair is across every boundary between steps.
TEST(JpegStuffing, EveryPlace) {
  std::mt19937 random(2);
  for (size_t size = 0; size < 200; ++size)
    for (size_t at = 0; at < size; at += 1 + size / 80)
      for (const uint8_t behind : {0x00, 0xd0, 0xff}) {
        Bytes bytes(size, 0x00);
        bytes[at] = 0xff;
        if (at + 1 < size) bytes[at + 1] = behind;
        ASSERT_NO_FATAL_FAILURE(expect_defined(bytes, random)) << size << " bytes, at " << at;
      }
}

TEST(JpegStuffing, NothingButFfs) {
  std::mt19937 random(3);
  for (size_t size = 0; size < 400; ++size) {
    Bytes bytes(size, 0xff);
    expect_defined(bytes, random);
    for (size_t i = 1; i < size; i += 2) bytes[i] = 0;
    ASSERT_NO_FATAL_FAILURE(expect_defined(bytes, random));
  }
}

TEST(JpegStuffing, CodesOfMarkers) {
  const Bytes bytes = {0xff, 0xff, 0xff, 0xd9, 0xff, 0x00, 0xff, 0xff};
  const uint8_t *const begin = bytes.data(), *const end = begin + bytes.size();
  EXPECT_EQ(marker_code(begin, end), begin + 3);
  EXPECT_EQ(marker_code(begin + 2, end), begin + 3);
  EXPECT_EQ(marker_code(begin + 3, end), nullptr);
  EXPECT_EQ(marker_code(begin + 4, end), nullptr);
  EXPECT_EQ(marker_code(begin + 6, end), nullptr);
  EXPECT_EQ(marker_code(end, end), nullptr);
}

}  // namespace
}  // namespace cudatransform::test
