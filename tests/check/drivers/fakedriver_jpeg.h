// Shared by the files of fakedriver_jpeg: input files, the output, and each other's tests.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/drivers/fakedriver.h"
#include "tests/check/jpeg/jpegs.h"

namespace testing {

// A JPEG file that a frame of that format makes, by libjpeg.
inline std::vector<guint8> make_file(int width, int height, guint seed) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, width, height);
  g_autoptr(GstBuffer) frame = make_frame(raw, seed);
  return jpeg_of_frame(raw, frame, 2, 2, 80);
}

// `out`, which is taken, is a file of the same coefficients; `number`: for messages.
inline void expect_file(GstBuffer* out, const std::vector<guint8>& file, guint number) {
  fail_unless(out != nullptr, "frame %u is missing", number);
  const std::string text = difference(read_jpeg(bytes_of(out)), read_jpeg(file));
  fail_unless(text.empty(), "frame %u: %s", number, text.c_str());
  gst_buffer_unref(out);
}

}  // namespace testing
