// JPEG files for the element tests: libjpeg as their judge and maker, and files of several
// pictures, with a writer and a parser of the tests' own.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <array>
#include <string>
#include <vector>

#include <gst/coef/dct.h>
#include "tests/check/files.h"

namespace testing {

struct JpegComponent {
  int id, h_samp, v_samp;
  guint blocks_w, blocks_h;       // without those that only fill up MCUs
  std::vector<gint16> qcoefs;     // block after block, natural order
  std::array<guint16, 64> table;  // natural order
  int table_slot;
};

struct JpegFile {
  int width = 0, height = 0;
  bool jfif = false, adobe = false;
  int adobe_transform = -1;
  int frame_marker = 0;        // the low byte of SOFn: 0xc0 is baseline
  int table_precision = 0;     // 1 if some table has entries of 16 bits
  guint restart_interval = 0;  // MCUs
  int restart_markers = 0;
  std::vector<JpegComponent> components;
};

// With jpeg_read_coefficients(). Fails the test on an error and, unless `may_warn`, on a warning of
// libjpeg's.
JpegFile read_jpeg(const std::vector<guint8>& file, bool may_warn = false);

// With jpeg_write_raw_data(), JDCT_ISLOW and jpeg_set_quality(quality, TRUE), of the planes of an
// 8-bit planar frame, whose edges are replicated. The factors are those of luma.
std::vector<guint8> jpeg_of_frame(const GstVideoInfo& info, GstBuffer* frame, int h_samp,
                                  int v_samp, int quality);

// The buffer's quantized coefficients and tables, as a file would have them.
JpegFile qcoefs_of(const GstDctInfo& info, GstBuffer* buffer);

// Fails the test where djpeg cannot read the file, or warns about it. Checks nothing without djpeg
// (see has_djpeg()) or when quick().
bool has_djpeg();
void check_djpeg(const std::vector<guint8>& file);

// Caps that jpegcoefenc takes.
GstDctInfo qcoefs_info(GstCoefSampling sampling, int width, int height, guint depth = 8);
// A buffer of random quantized coefficients and tables, mostly small ones, in the default layout
// or, with `odd_layout`, with rows apart and 2 bytes off any alignment.
GstBuffer* make_qcoefs(const GstDctInfo& info, guint seed, bool odd_layout = false);
// Sets quantized coefficient `k` (natural order) of a component's block in a buffer of the default
// layout.
void set_qcoef(const GstDctInfo& info, GstBuffer* buffer, guint component, guint block, guint k,
               gint16 qcoef);

// jpegcoefenc with these properties, on the engine under test.
std::string encoder(const std::string& properties = "");
// A harness of jpegcoefenc whose sink pad has the caps of `info`.
GstHarness* encoder_harness(const GstDctInfo& info, const std::string& properties = "");
// Pushes a buffer (transfer full) and returns the file; needs n-threads=1.
std::vector<guint8> encode(GstHarness* h, GstBuffer* buffer);

// Streams of frames: frame `number` (its quantized coefficients follow from it) at its time, and a
// harness of jpegcoefenc for them.
inline constexpr GstClockTime kFrame = 40 * GST_MSECOND;
GstBuffer* numbered(const GstDctInfo& info, guint number);
GstHarness* harness_with(const std::string& properties, const GstDctInfo& info);
// Pulls `count` files and checks that they match the input, from frame `first` on.
void check_output(GstHarness* h, const GstDctInfo& info, guint first, guint count);

bool contains(const std::string& text, const char* part);

// Whether two files have the same quantized coefficients and tables; names the difference.
std::string difference(const JpegFile& a, const JpegFile& b);

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

  // Size, sampling, quantized coefficients and tables of a sample of video/x-dct.
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

// A number as its bytes.
Bytes number(guint64 value, gsize size, bool big);

// The pictures of a file by its index, the first one included.
std::vector<Bytes> pictures_of(const Bytes& file);

// The picture with an index of itself and `others`, without them; `gap` bytes are to come between.
Bytes first_of(const Bytes& picture, const std::vector<Bytes>& others, bool big, gsize gap = 0);

// Two pictures of other sizes than good(), and a file of good(), these, and `tail`.
const std::vector<Bytes>& others();
Bytes several(bool big = true, const Bytes& tail = {});
bool has_others(const Bytes& file);

// What comes out where a file goes in as pieces of a stream.
std::vector<Bytes> through(const Bytes& stream, const std::string& decoder = "",
                           const std::string& encoder = "", gsize piece = 0,
                           const char* caps = "image/jpeg", GstFormat format = GST_FORMAT_BYTES);

}  // namespace testing
