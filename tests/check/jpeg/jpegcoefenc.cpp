// jpegcoefenc's files, read by libjpeg: they have the input's quantized coefficients and tables,
// which are those that libjpeg makes of the same frames, for any options.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// With the argument "cjpeg": whole files against those of libjpeg-turbo's cjpeg.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

using Bytes = std::vector<guint8>;

struct Kind {
  GstVideoFormat format;
  GstCoefSampling sampling;
  int h_samp, v_samp;
};

constexpr Kind kKinds[] = {
    {GST_VIDEO_FORMAT_GRAY8, GST_COEF_SAMPLING_GRAYSCALE, 1, 1},
    {GST_VIDEO_FORMAT_I420, GST_COEF_SAMPLING_420, 2, 2},
    {GST_VIDEO_FORMAT_Y42B, GST_COEF_SAMPLING_422, 2, 1},
    {GST_VIDEO_FORMAT_Y444, GST_COEF_SAMPLING_444, 1, 1},
    {GST_VIDEO_FORMAT_Y41B, GST_COEF_SAMPLING_411, 4, 1},
    {GST_VIDEO_FORMAT_GBR, GST_COEF_SAMPLING_RGB, 1, 1},
};

// 40x24 and 65x9 have blocks that fill no MCU of a subsampled picture. The first two are enough
// where things are slow.
constexpr int kSizes[][2] = {{17, 33}, {65, 9},  {1, 1},   {7, 9},   {8, 8},
                             {9, 7},   {16, 16}, {40, 24}, {100, 75}};
std::span<const int[2]> sizes() { return std::span(kSizes).first(quick() ? 2 : std::size(kSizes)); }

const GstCoefSampling kAllSamplings[] = {GST_COEF_SAMPLING_GRAYSCALE,
                                         GST_COEF_SAMPLING_420,
                                         GST_COEF_SAMPLING_422,
                                         GST_COEF_SAMPLING_444,
                                         GST_COEF_SAMPLING_440,
                                         GST_COEF_SAMPLING_411,
                                         GST_COEF_SAMPLING_RGB,
                                         GST_COEF_SAMPLING_CMYK,
                                         GST_COEF_SAMPLING_YCCK_420,
                                         GST_COEF_SAMPLING_YCCK_422,
                                         GST_COEF_SAMPLING_YCCK_444,
                                         GST_COEF_SAMPLING_YCCK_440,
                                         GST_COEF_SAMPLING_YCCK_411,
                                         GST_COEF_SAMPLING_441,
                                         GST_COEF_SAMPLING_YCCK_441,
                                         gst_coef_sampling_from_string("YCbCr-1x1,2x1,1x2"),
                                         gst_coef_sampling_from_string("YCbCr-3x2,2x1,1x3"),
                                         gst_coef_sampling_from_string("YCbCr-4x4,1x1,1x1"),
                                         gst_coef_sampling_from_string("RGB-2x2,2x2,1x1"),
                                         gst_coef_sampling_from_string("CMYK-2x2,1x1,1x1,2x2"),
                                         gst_coef_sampling_from_string("YCCK-4x4,2x1,1x2,3x3"),
                                         gst_coef_sampling_from_string("2CLR-2x1,1x1")};

// The coefficients of a frame, in system memory.
GstBuffer* coefficients_of(const GstVideoInfo& raw, GstBuffer* frame, int quality,
                           GstDctInfo* info) {
  g_autoptr(GstHarness) h =
      new_harness(forward("quality=" + std::to_string(quality)) + " ! capsfilter caps=video/x-dct");
  gst_harness_set_src_caps(h, video_caps(raw));
  GstBuffer* buffer = gst_harness_push_and_pull(h, gst_buffer_ref(frame));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  fail_unless(gst_dct_info_from_caps(info, caps, nullptr));
  return buffer;
}

void check_same(const char* what, const JpegFile& file, const JpegFile& expected,
                const GstDctInfo& info) {
  const std::string text = difference(file, expected);
  fail_unless(text.empty(), "%s: %s %dx%d: %s", what, gst_coef_sampling_to_string(info.sampling),
              static_cast<int>(info.width), static_cast<int>(info.height), text.c_str());
}

// Whether libjpeg makes pixels of the sampling: not of two components, nor of fractional ratios.
bool has_pixels(GstCoefSampling sampling) {
  guint h[4], v[4], count = 0;
  while (count < 4 && gst_coef_sampling_get_factors(sampling, count, &h[count], &v[count])) count++;
  const guint max_h = *std::max_element(h, h + count), max_v = *std::max_element(v, v + count);
  const auto divides = [&](guint c) { return max_h % h[c] == 0 && max_v % v[c] == 0; };
  for (guint c = 0; c < count; c++)
    if (!divides(c)) return false;
  return count != 2;
}

// Whether cjpeg is to judge; otherwise libjpeg and djpeg are.
bool with_cjpeg = false;

// Frames through cudadct8x8: the same quantized coefficients and tables as in its buffers and as
// libjpeg makes.
CHECK_LOOP_TEST(test_frames, 0, with_cjpeg ? 0 : G_N_ELEMENTS(kKinds)) {
  const Kind& kind = kKinds[__i__];
  for (const auto& size : sizes()) {
    for (const int quality : {20, 85, 100}) {
      const GstVideoInfo raw = video_info(kind.format, size[0], size[1]);
      g_autoptr(GstBuffer) frame = make_frame(raw, static_cast<guint>(quality));
      GstDctInfo info;
      g_autoptr(GstBuffer) coefficients = coefficients_of(raw, frame, quality, &info);
      fail_unless_equals_int(info.sampling, kind.sampling);
      g_autoptr(GstHarness) h = encoder_harness(info);
      const Bytes file = encode(h, gst_buffer_ref(coefficients));
      const JpegFile found = read_jpeg(file);
      check_same("the buffer", found, qcoefs_of(info, coefficients), info);
      const Bytes judge = jpeg_of_frame(raw, frame, kind.h_samp, kind.v_samp, quality);
      check_same("libjpeg", found, read_jpeg(judge), info);
      check_djpeg(file);
    }
  }
}

// Random quantized coefficients, in buffers with padded and unaligned rows, too.
CHECK_LOOP_TEST(test_qcoefs, 0, with_cjpeg ? 0 : G_N_ELEMENTS(kAllSamplings)) {
  for (const auto& size : sizes()) {
    const GstDctInfo info = qcoefs_info(kAllSamplings[__i__], size[0], size[1]);
    g_autoptr(GstHarness) h = encoder_harness(info);
    for (guint seed = 0; seed < 4; seed++) {
      GstBuffer* buffer = make_qcoefs(info, seed, seed % 2 == 1);
      const JpegFile expected = qcoefs_of(info, buffer);
      const Bytes file = encode(h, buffer);
      check_same("random coefficients", read_jpeg(file), expected, info);
      if (has_pixels(info.sampling)) check_djpeg(file);
    }
  }
}

struct Options {
  bool progressive, optimize, arithmetic;
  guint restart_interval;

  // Of the frame header (ITU-T T.81, table B.1).
  int frame_marker() const {
    if (arithmetic) return progressive ? 0xca : 0xc9;
    return progressive ? 0xc2 : 0xc0;
  }
};

std::vector<Options> all_options() {
  std::vector<Options> all;
  for (const bool progressive : {false, true})
    for (const bool optimize : {false, true})
      for (const bool arithmetic : {false, true})
        for (const guint restart_interval : {0u, 1u, 3u, 65535u})
          all.push_back({progressive, optimize, arithmetic, restart_interval});
  return all;
}

std::string text_of(bool value) { return value ? "true" : "false"; }

// Files of four components, written again: the bytes that libjpeg writes of the same coefficients,
// except the JFIF header that jpeg_copy_critical_parameters() does not request.
CHECK_TEST_IF(test_four_components_byte_for_byte, !with_cjpeg) {
  for (const FourComponents& kind : kFourComponents) {
    for (const auto& size : sizes().first(2)) {
      const Bytes jpeg = make_four_components(kind, size[0], size[1]);
      for (const Options& options : all_options()) {
        g_autoptr(GstHarness) h =
            new_harness("jpegcoefdec ! " +
                        encoder("n-threads=1 progressive=" + text_of(options.progressive) +
                                " optimize=" + text_of(options.optimize) +
                                " arithmetic=" + text_of(options.arithmetic) +
                                " restart-interval=" + std::to_string(options.restart_interval)));
        gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=25/1");
        gst_harness_push(h, buffer_of(jpeg, 0));
        gst_harness_push_event(h, gst_event_new_eos());
        g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
        fail_unless(out != nullptr, "no file");
        fail_unless(bytes_of(out) == written_again(jpeg, options.progressive, options.optimize,
                                                   options.arithmetic, options.restart_interval),
                    "%s %dx%d of %dx%d: progressive %d, optimize %d, arithmetic %d, restart %u",
                    kind.ycck ? "YCCK" : "CMYK", kind.h, kind.v, size[0], size[1],
                    options.progressive, options.optimize, options.arithmetic,
                    options.restart_interval);
      }
    }
  }
}

// Options may change from frame to frame; none affects later frames.
CHECK_LOOP_TEST(test_options, 0, with_cjpeg ? 0 : G_N_ELEMENTS(kAllSamplings)) {
  const GstDctInfo info = qcoefs_info(kAllSamplings[__i__], 100, 75);
  g_autoptr(GstHarness) h = encoder_harness(info);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "jpegcoefenc");
  g_autoptr(GstBuffer) buffer = make_qcoefs(info, 7);
  const JpegFile expected = qcoefs_of(info, buffer);
  const Bytes plain = encode(h, gst_buffer_ref(buffer));
  for (const Options& options : all_options()) {
    g_object_set(element, "progressive", options.progressive, "optimize", options.optimize,
                 "arithmetic", options.arithmetic, "restart-interval", options.restart_interval,
                 nullptr);
    const Bytes file = encode(h, gst_buffer_ref(buffer));
    const JpegFile found = read_jpeg(file);
    check_same("options", found, expected, info);
    if (has_pixels(info.sampling)) check_djpeg(file);
    fail_unless_equals_int_hex(found.frame_marker, options.frame_marker());
    fail_unless_equals_uint64(found.restart_interval, options.restart_interval);
    const bool has_markers = options.restart_interval == 1 || options.restart_interval == 3;
    fail_unless_equals_int(found.restart_markers > 0, has_markers);
    const bool only_optimized = options.optimize && !options.progressive && !options.arithmetic &&
                                options.restart_interval == 0;
    if (only_optimized) fail_unless(file.size() < plain.size(), "optimize made no smaller file");

    g_object_set(element, "progressive", FALSE, "optimize", FALSE, "arithmetic", FALSE,
                 "restart-interval", 0, nullptr);
    fail_unless(encode(h, gst_buffer_ref(buffer)) == plain, "options were left behind");
  }
}

CHECK_TEST_IF(test_headers, !with_cjpeg) {
  for (const GstCoefSampling sampling : kAllSamplings) {
    const GstDctInfo info = qcoefs_info(sampling, 20, 20);
    g_autoptr(GstHarness) h = encoder_harness(info);
    const JpegFile file = read_jpeg(encode(h, make_qcoefs(info, 1)));
    const std::string colorspace = gst_coef_sampling_get_colorspace(sampling);
    const bool is_jfif = colorspace == "sYUV" || colorspace == "GRAY";
    fail_unless_equals_int(file.jfif, is_jfif);
    const bool is_adobe = !is_jfif && colorspace != "2CLR";
    fail_unless_equals_int(file.adobe, is_adobe);
    if (is_adobe) fail_unless_equals_int(file.adobe_transform, colorspace == "YCCK" ? 2 : 0);
    // Cb and Cr share a table; the others share another.
    const bool has_chroma = colorspace == "sYUV" || colorspace == "YCCK";
    for (size_t c = 0; c < file.components.size(); c++)
      fail_unless_equals_int(file.components[c].table_slot, has_chroma && (c == 1 || c == 2));

    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    const GstStructure* s = gst_caps_get_structure(caps, 0);
    fail_unless(gst_structure_has_name(s, "image/jpeg"));
    fail_unless_equals_string(gst_structure_get_string(s, "sampling"),
                              gst_coef_sampling_to_string(sampling));
    fail_unless_equals_string(gst_structure_get_string(s, "colorspace"),
                              gst_coef_sampling_get_colorspace(sampling));
  }
}

// Tables in every combination, also equal ones under two numbers, some with entries of 16 bits.
CHECK_TEST_IF(test_tables, !with_cjpeg) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_444, 20, 20);
  const struct {
    guint table[3];
    int slot[3];
  } cases[] = {{{0, 1, 2}, {0, 1, 2}}, {{0, 1, 1}, {0, 1, 1}}, {{0, 0, 1}, {0, 0, 1}},
               {{0, 1, 0}, {0, 1, 0}}, {{2, 1, 3}, {0, 1, 2}}, {{3, 2, 3}, {0, 1, 0}}};
  for (const bool large : {false, true}) {
    g_autoptr(GstHarness) h = encoder_harness(info);
    for (const auto& one : cases) {
      GstBuffer* buffer = make_qcoefs(info, 5);
      GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
      meta->n_tables = 4;  // 2 and 3 are equal
      for (guint t = 0; t < 4; t++)
        for (guint k = 0; k < 64; k++)
          meta->tables[t].values[k] =
              static_cast<guint16>((large ? 65000 : 1) + 64 * MIN(t, 2) + k);
      for (guint c = 0; c < 3; c++) meta->components[c].table = one.table[c];
      const JpegFile expected = qcoefs_of(info, buffer);
      const Bytes bytes = encode(h, buffer);
      const JpegFile file = read_jpeg(bytes);
      check_same("tables", file, expected, info);
      check_djpeg(bytes);
      for (size_t c = 0; c < 3; c++)
        fail_unless_equals_int(file.components[c].table_slot, one.slot[c]);
      fail_unless_equals_int(file.table_precision, large);
      fail_unless_equals_int_hex(file.frame_marker, large ? 0xc1 : 0xc0);
    }
  }
}

// From the property of cudadct8x8 to the file.
CHECK_TEST_IF(test_large_qtable, !with_cjpeg) {
  std::string table = "300";
  for (int k = 1; k < 64; k++) table += ",300";
  const std::string line =
      forward("luma-qtable=\"<" + table + ">\"") + " ! " + encoder("n-threads=1");
  g_autoptr(GstHarness) h = new_harness(line);
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 40, 24);
  gst_harness_set_src_caps(h, video_caps(raw));
  const JpegFile file = read_jpeg(encode(h, make_frame(raw)));
  fail_unless_equals_int(file.table_precision, 1);
  fail_unless_equals_int_hex(file.frame_marker, 0xc1);
  for (const guint16 entry : file.components[0].table) fail_unless_equals_int(entry, 300);
}

// The gray frame's file by the two elements, linked as they are.
Bytes file_of(const GstVideoInfo& raw, GstBuffer* frame, int quality, const char* properties) {
  const std::string line = forward("quality=" + std::to_string(quality)) + " ! " +
                           encoder(std::string("n-threads=1 ") + properties);
  g_autoptr(GstHarness) h = new_harness(line);
  gst_harness_set_src_caps(h, video_caps(raw));
  return encode(h, gst_buffer_ref(frame));
}

// cjpeg's file of the same samples.
Bytes cjpeg_file(const GstVideoInfo& raw, GstBuffer* frame, int quality,
                 const std::string& options) {
  const Folder folder;
  const std::string pgm = folder.file("in.pgm"), jpg = folder.file("out.jpg");
  std::string picture =
      "P5\n" + std::to_string(raw.width) + " " + std::to_string(raw.height) + "\n255\n";
  const Bytes samples = bytes_of(frame);
  for (int y = 0; y < raw.height; y++)
    picture.append(reinterpret_cast<const char*>(
                       &samples[static_cast<size_t>(y * GST_VIDEO_INFO_PLANE_STRIDE(&raw, 0))]),
                   static_cast<size_t>(raw.width));
  fail_unless(g_file_set_contents(pgm.c_str(), picture.data(), static_cast<gssize>(picture.size()),
                                  nullptr));
  const std::string command = "cjpeg -dct int -quality " + std::to_string(quality) + " " + options +
                              " -outfile " + jpg + " " + pgm;
  gint status = -1;
  fail_unless(g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, &status, nullptr));
  fail_unless_equals_int(status, 0);
  g_autofree gchar* data = nullptr;
  gsize size = 0;
  fail_unless(g_file_get_contents(jpg.c_str(), &data, &size, nullptr));
  return {data, data + size};
}

CHECK_TEST_IF(test_cjpeg, with_cjpeg) {
  const struct {
    const char *ours, *theirs;
  } options[] = {{"", ""},
                 {"optimize=true", "-optimize"},
                 {"progressive=true", "-progressive"},
                 {"arithmetic=true", "-arithmetic"},
                 {"arithmetic=true progressive=true", "-arithmetic -progressive"},
                 {"restart-interval=5", "-restart 5B"},
                 {"restart-interval=5 progressive=true", "-restart 5B -progressive"}};
  for (const auto& size : sizes()) {
    const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_GRAY8, size[0], size[1]);
    g_autoptr(GstBuffer) frame = make_frame(raw);
    for (const auto& option : options)
      for (const int quality : {5, 75, 100})
        fail_unless(file_of(raw, frame, quality, option.ours) ==
                        cjpeg_file(raw, frame, quality, std::string("-baseline ") + option.theirs),
                    "%dx%d, quality %d %s: cjpeg makes another file", size[0], size[1], quality,
                    option.ours);
  }
}

// The documentation's list of qualities that need -baseline.
CHECK_TEST_IF(test_cjpeg_at_every_quality, with_cjpeg) {
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_GRAY8, 24, 16);
  g_autoptr(GstBuffer) frame = make_frame(raw);
  for (int quality = 1; quality <= 100; quality++) {
    const Bytes ours = file_of(raw, frame, quality, "");
    fail_unless(ours == cjpeg_file(raw, frame, quality, "-baseline"), "quality %d", quality);
    const bool same = ours == cjpeg_file(raw, frame, quality, "");
    fail_unless(same == (quality > 23), "quality %d without -baseline", quality);
  }
}

}  // namespace

int main(int argc, char** argv) {
  with_cjpeg = argc > 1 && g_str_equal(argv[1], "cjpeg");
  if (!testing::has_djpeg()) std::printf("no djpeg: files are read by libjpeg alone\n");
  gchar* cjpeg = g_find_program_in_path("cjpeg");
  g_free(cjpeg);
  if (with_cjpeg && !cjpeg) return testing::skip("no program cjpeg (libjpeg-turbo-progs)");
  return testing::run(argc, argv);
}
