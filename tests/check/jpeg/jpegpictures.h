// JPEG pictures for the element tests, whole and maltreated.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstharness.h>

#include <string>
#include <vector>

#include "tests/check/files.h"

namespace testing {

enum class Subsampling { kGray, k422, k420 };

// A baseline picture with libjpeg's own Huffman tables, the same for the same arguments.
Bytes make_jpeg(int width, int height, Subsampling subsampling = Subsampling::k420,
                int quality = 75, guint seed = 1);
// Of four components: CMYK, or YCCK with sampling factors `h` x `v` of Y and K.
struct FourComponents {
  bool ycck;
  int h, v;
  const char* sampling;  // in caps
};
inline constexpr FourComponents kFourComponents[] = {
    {false, 1, 1, "CMYK-4:4:4"}, {true, 1, 1, "YCCK-4:4:4"}, {true, 2, 1, "YCCK-4:2:2"},
    {true, 2, 2, "YCCK-4:2:0"},  {true, 1, 2, "YCCK-4:4:0"}, {true, 4, 1, "YCCK-4:1:1"}};
Bytes make_four_components(const FourComponents& kind, int width, int height, guint seed = 1);
// `jpeg` as libjpeg writes its coefficients again.
Bytes written_again(const Bytes& jpeg, bool progressive, bool optimize, bool arithmetic,
                    guint restart_interval);

// `jpeg` rewritten with arithmetic coding and that quantized coefficient in its first block:
// libjpeg's Huffman codes have no room for large quantized coefficients.
Bytes with_qcoef(const Bytes& jpeg, int k, int qcoef);

// `jpeg` rewritten with a restart marker after every `interval` MCUs.
Bytes with_restarts(const Bytes& jpeg, guint interval);

// A marker segment: its code, where its FF is, and where the next one's is (the entropy-coded data
// belongs to SOS).
struct Segment {
  guint8 code;
  gsize begin;
  gsize end;
};
std::vector<Segment> segments_of(const Bytes& jpeg);
// The first segment with that code; fails the test without one.
Segment segment_of(const Bytes& jpeg, guint8 code);

Bytes without_segments(const Bytes& jpeg, guint8 code);
Bytes inserted(const Bytes& jpeg, gsize at, const Bytes& what);
// A place in the entropy-coded data where decoders notice a change: it makes an invalid code or an
// early end.
Bytes damaged(const Bytes& jpeg);

// "" if the coefficients of `buffer` with `caps` are those of `jpeg`.
std::string compare(const Bytes& jpeg, GstBuffer* buffer, GstCaps* caps);

}  // namespace testing
