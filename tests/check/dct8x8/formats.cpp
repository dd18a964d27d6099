// Formats whose frames lose a plane in CUDA memory, by version of GStreamer.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/stream/formats.h"

#include "tests/check/testing.h"

namespace {

using cudatransform::cuda_memory_loses_a_plane;

CHECK_TEST(test_lost_planes) {
  const struct {
    guint minor, micro;
    bool odd, even;  // whether frames of such heights lose one
  } cases[] = {
      {20, 3, true, false}, {22, 0, true, false},  {22, 12, true, false}, {24, 0, false, true},
      {24, 3, false, true}, {24, 4, false, false}, {26, 0, false, false}, {28, 1, false, false},
  };
  for (const auto& c : cases) {
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12,
                                  GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I420_12LE}) {
      fail_unless(cuda_memory_loses_a_plane(format, 45, c.minor, c.micro) == c.odd);
      fail_unless(cuda_memory_loses_a_plane(format, 1080, c.minor, c.micro) == c.even);
    }
    for (GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE,
                                  GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444})
      for (int height : {45, 1080})
        fail_if(cuda_memory_loses_a_plane(format, height, c.minor, c.micro));
  }
}

}  // namespace
