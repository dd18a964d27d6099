// libjpeg-turbo's coefficients and samples of a JPEG file, to compare ours with.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

namespace testing {

// Reads the file with plain libjpeg calls: jpeg_read_coefficients() and, when frames are compared,
// jpeg_read_raw_data() with JDCT_ISLOW. The comparisons return "" or the first difference.
class JpegJudge {
 public:
  explicit JpegJudge(std::vector<guint8> file);

  // Whether jpegcoefdec takes this kind of file; kind() is for messages.
  bool is_ours() const { return ours_; }
  const std::string& kind() const { return kind_; }
  // Whether it has four components, which no raw frame has.
  bool has_four() const { return four_; }

  // Size, sampling, levels and tables of a sample of video/x-dct.
  std::string compare_coefficients(GstSample* sample) const;
  // Samples of a raw frame in system memory, in the format that belongs to the sampling.
  std::string compare_frame(GstSample* sample) const;

 private:
  std::vector<guint8> file_;
  bool ours_ = false;
  bool rgb_ = false;
  bool four_ = false;
  std::string kind_;
};

}  // namespace testing
