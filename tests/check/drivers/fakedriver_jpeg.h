// What the files of fakedriver_jpeg share: files to feed, what comes out, and each other's tests.
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
  GstBuffer* frame = make_frame(raw, seed);
  const std::vector<guint8> file = jpeg_of_frame(raw, frame, 2, 2, 80);
  gst_buffer_unref(frame);
  return file;
}

// `out`, which is taken, is a file of the same coefficients; `number`: for messages.
inline void expect_file(GstBuffer* out, const std::vector<guint8>& file, guint number) {
  fail_unless(out != nullptr, "frame %u is missing", number);
  const std::string text = difference(read_jpeg(bytes_of(out)), read_jpeg(file));
  fail_unless(text.empty(), "frame %u: %s", number, text.c_str());
  gst_buffer_unref(out);
}

// Tests of fakedriver_jpeg_entropy.cpp.
void add_idle_kernels(TCase* tc);
void add_left_to_the_cpu(TCase* tc);

}  // namespace testing
