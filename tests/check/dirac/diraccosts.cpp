// cudadiracdec on streams that claim more than there is: time that grows with the bytes alone, in
// small buffers and in one.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/costs.h"
#include "tests/dirac/bit_writer.h"

namespace {

using namespace testing;

constexpr guint8 kPadding = 0x30, kPicture = 0x0c;

Bytes number(guint64 value) {
  Bytes bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<guint8>(value >> shift));
  return bytes;
}

Bytes parse_info(guint8 code, guint64 next, guint64 previous) {
  return joined({{'B', 'B', 'C', 'D', code}, number(next), number(previous)});
}

// Its pictures may have 256 MiB.
Bytes sequence_header() {
  cudatransform::test::BitWriter bits;
  for (const int version_to_format : {2, 2, 0, 0, 0})
    bits.unsigned_code(guint64(version_to_format));
  bits.bit(true);
  bits.unsigned_code(8000);
  bits.unsigned_code(8000);
  bits.number(0, 7);
  bits.unsigned_code(0);
  return joined({parse_info(0, 13 + bits.bytes().size(), 0), bits.bytes()});
}

// A picture that claims that size, 0 for none, and copies of a part.
Bytes picture_of(const Bytes& part, gsize size, guint64 claim) {
  const Bytes head = sequence_header();
  Bytes stream = joined({head, parse_info(kPicture, claim, head.size())});
  while (stream.size() < size) stream.insert(stream.end(), part.begin(), part.end());
  return stream;
}

CHECK_TEST(test_time_grows_with_the_bytes) {
  struct Kind {
    const char* name;
    Bytes (*make)(gsize size);
  };
  const Kind kinds[] = {
      {"a picture without an end", [](gsize size) { return picture_of(Bytes(13, 0), size, 0); }},
      {"a picture that claims all",
       [](gsize size) { return picture_of(Bytes(13, 0), size, size + 1000); }},
      {"parse infos inside of a picture",
       [](gsize size) { return picture_of(parse_info(kPadding, 5, 7), size, 0); }},
      {"parse infos that lead far away",
       [](gsize size) { return picture_of(parse_info(kPicture, size / 2, 0), size, 0); }},
      {"halves of prefixes",
       [](gsize size) {
         return picture_of({'B', 'B', 'C'}, size, 0);
       }},
      {"units between pictures",
       [](gsize size) { return picture_of(parse_info(kPadding, 13, 13), size, 13); }},
  };
  for (const Kind& kind : kinds)
    expect_linear_cost("cudadiracdec backend=cpu n-threads=1", "video/x-dirac", kind.name,
                       kind.make);
}

}  // namespace
