// JPEG pictures of 12 bits a sample: to coefficients, to raw video and back, judged by a bit-by-bit
// codec.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <glib.h>

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/jpeg/slow_codec.h"

namespace testing {

// Quantized coefficient `i`, in natural order, of the block. All divisors are 1.
constexpr int deep_qcoef(int i) {
  const int value = (i * i * i * 37 + i * 911) % 16384;
  return i == 0 ? -16384 : i % 2 != 0 ? -value : value;
}

inline constexpr guint8 kProgressiveDeep[] = {
    255, 216, 255, 224, 0,   16,  74,  70,  73,  70,  0,   1,   1,   0,   0,   1,   0,   1,   0,
    0,   255, 219, 0,   67,  0,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   255, 194, 0,   11,  12,  0,
    8,   0,   8,   1,   1,   17,  0,   255, 196, 0,   20,  0,   1,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   14,  255, 218, 0,   8,   1,   1,   0,   0,   0,
    1,   63,  255, 0,   255, 196, 0,   22,  16,  1,   1,   1,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   10,  8,   12,  255, 218, 0,   8,   1,   1,   0,   1,   5,   2,
    132, 180, 207, 35,  195, 76,  132, 127, 255, 196, 0,   26,  16,  1,   1,   1,   1,   0,   3,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   12,  11,  10,  9,   2,   7,   8,   255, 218,
    0,   8,   1,   1,   0,   6,   63,  2,   194, 211, 65,  254, 90,  70,  211, 30,  10,  93,  171,
    211, 15,  87,  124, 225, 9,   29,  58,  22,  140, 192, 68,  193, 107, 90,  4,   217, 77,  32,
    198, 214, 217, 67,  26,  73,  150, 7,   205, 114, 195, 67,  35,  170, 82,  252, 90,  150, 165,
    27,  238, 138, 131, 186, 186, 228, 244, 162, 132, 45,  7,   208, 164, 104, 108, 52,  86,  50,
    77,  139, 228, 181, 180, 230, 185, 239, 207, 12,  248, 87,  203, 48,  26,  17,  2,   34,  106,
    57,  136, 55,  133, 79,  100, 51,  255, 196, 0,   20,  16,  1,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   255, 218, 0,   8,   1,   1,   0,   1,   63,
    33,  5,   8,   33,  20,  68,  72,  137, 18,  255, 218, 0,   8,   1,   1,   0,   0,   0,   16,
    127, 255, 196, 0,   20,  16,  1,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   0,   0,   255, 218, 0,   8,   1,   1,   0,   1,   63,  16,  0,   0,   0,   0,   0,
    0,   0,   0,   255, 217};
inline constexpr guint8 kArithmeticDeep[] = {
    255, 216, 255, 224, 0,   16,  74,  70,  73,  70,  0,   1,   1,   0,   0,   1,   0,   1,
    0,   0,   255, 219, 0,   67,  0,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   255,
    201, 0,   11,  12,  0,   8,   0,   8,   1,   1,   17,  0,   255, 204, 0,   6,   0,   16,
    16,  5,   255, 218, 0,   8,   1,   1,   0,   0,   63,  0,   255, 0,   255, 0,   127, 206,
    106, 46,  223, 246, 108, 26,  109, 189, 174, 224, 7,   106, 201, 121, 242, 132, 103, 127,
    240, 243, 232, 162, 129, 215, 228, 240, 148, 16,  7,   241, 251, 238, 120, 33,  56,  225,
    87,  86,  7,   254, 202, 229, 145, 7,   85,  38,  174, 226, 53,  158, 42,  14,  136, 87,
    163, 252, 42,  105, 44,  107, 77,  114, 30,  32,  170, 144, 145, 75,  123, 177, 31,  105,
    208, 90,  166, 174, 153, 185, 189, 157, 14,  245, 104, 48,  139, 97,  246, 59,  32,  0,
    217, 50,  56,  186, 109, 175, 12,  115, 217, 213, 87,  178, 26,  237, 111, 226, 32,  175,
    233, 79,  57,  112, 79,  198, 188, 47,  31,  66,  196, 14,  107, 250, 166, 154, 137, 245,
    168, 168, 101, 245, 24,  134, 159, 188, 12,  229, 92,  164, 236, 17,  6,   236, 218, 30,
    129, 224, 191, 146, 201, 87,  227, 150, 144, 190, 215, 70,  186, 107, 51,  176, 255, 217};
inline constexpr guint8 kBothDeep[] = {
    255, 216, 255, 224, 0,   16,  74,  70,  73,  70,  0,   1,   1,   0,   0,   1,   0,   1,   0,
    0,   255, 219, 0,   67,  0,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,
    1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   255, 202, 0,   11,  12,  0,
    8,   0,   8,   1,   1,   17,  0,   255, 204, 0,   4,   0,   16,  255, 218, 0,   8,   1,   1,
    0,   0,   0,   1,   255, 0,   255, 0,   255, 204, 0,   4,   16,  5,   255, 218, 0,   8,   1,
    1,   0,   1,   5,   2,   22,  176, 154, 104, 91,  246, 51,  237, 178, 33,  84,  8,   144, 255,
    204, 0,   4,   16,  5,   255, 218, 0,   8,   1,   1,   0,   6,   63,  2,   22,  186, 50,  247,
    24,  129, 207, 56,  231, 243, 167, 235, 189, 105, 52,  68,  120, 65,  104, 247, 51,  3,   68,
    7,   98,  249, 82,  54,  246, 70,  44,  0,   61,  192, 254, 211, 96,  179, 212, 8,   218, 205,
    46,  211, 28,  188, 239, 196, 213, 31,  64,  52,  173, 104, 164, 31,  83,  160, 27,  90,  168,
    57,  14,  14,  166, 199, 117, 38,  150, 238, 21,  49,  92,  96,  64,  204, 43,  194, 159, 69,
    178, 66,  210, 211, 122, 127, 146, 215, 182, 112, 41,  137, 246, 228, 213, 48,  180, 158, 189,
    151, 187, 242, 97,  29,  102, 33,  150, 213, 130, 223, 50,  55,  140, 164, 90,  206, 241, 245,
    249, 135, 191, 162, 117, 255, 0,   86,  254, 114, 113, 128, 255, 204, 0,   4,   16,  5,   255,
    218, 0,   8,   1,   1,   0,   1,   63,  33,  89,  241, 108, 102, 250, 105, 227, 64,  255, 218,
    0,   8,   1,   1,   0,   0,   0,   16,  255, 204, 0,   4,   16,  5,   255, 218, 0,   8,   1,
    1,   0,   1,   63,  16,  75,  198, 255, 217};

}  // namespace testing

namespace {

using namespace testing;
using cudatransform::test::random_deep_picture;
using cudatransform::test::slow_decode;
using cudatransform::test::slow_encode;
using cudatransform::test::slow_picture;
using cudatransform::test::slow_samples;
using cudatransform::test::SlowComponent;
using cudatransform::test::SlowPicture;

struct Kind {
  int components, h, v;
  const char* sampling;
  const char* format;  // of raw video; null: there is none
};
constexpr Kind kKinds[] = {
    {1, 1, 1, "GRAYSCALE", "GRAY16_LE"},   {3, 2, 2, "YCbCr-4:2:0", "I420_12LE"},
    {3, 2, 1, "YCbCr-4:2:2", "I422_12LE"}, {3, 1, 1, "YCbCr-4:4:4", "Y444_12LE"},
    {3, 1, 2, "YCbCr-4:4:0", nullptr},     {3, 4, 1, "YCbCr-4:1:1", nullptr},
    {4, 2, 2, "YCCK-4:2:0", nullptr},
};

SlowPicture picture_of(const Kind& kind, int width, int height, guint seed, int restart = 0) {
  SlowPicture picture = random_deep_picture(width, height, kind.components, kind.h, kind.v, seed);
  picture.restart_interval = restart;
  return picture;
}

JpegFile file_of(const SlowPicture& picture) {
  JpegFile file;
  file.width = picture.width;
  file.height = picture.height;
  for (const SlowComponent& from : picture.components)
    file.components.push_back({from.id, from.h, from.v, static_cast<guint>(from.blocks_w),
                               static_cast<guint>(from.blocks_h), from.qcoefs, from.table, 0});
  return file;
}

// The next buffer of a harness has 12 bits and the picture's quantized coefficients.
void expect_qcoefs(GstHarness* h, const SlowPicture& picture, const char* sampling) {
  g_autoptr(GstBuffer) buffer = gst_harness_try_pull(h);
  fail_unless(buffer != nullptr, "a picture is missing");
  g_autoptr(GstCaps) caps = current_caps(h);
  GstDctInfo info;
  fail_unless(gst_dct_info_from_caps(&info, caps, nullptr));
  fail_unless_equals_uint64(info.depth, 12);
  fail_unless_equals_string(gst_coef_sampling_to_string(info.sampling), sampling);
  const std::string wrong = difference(file_of(picture), qcoefs_of(info, buffer));
  fail_unless(wrong.empty(), "%s: %s", sampling, wrong.c_str());
}

CHECK_TEST(test_qcoefs_of_every_sampling) {
  for (const Kind& kind : kKinds) {
    for (const int restart : {0, 3}) {
      Decoder decoder;
      const SlowPicture one = picture_of(kind, 75, 51, 1, restart);
      const SlowPicture other = picture_of(kind, 75, 51, 2, restart);
      for (const SlowPicture& picture : {one, other})
        fail_unless_equals_int(decoder.push(slow_encode(picture)), GST_FLOW_OK);
      decoder.finish();
      expect_qcoefs(decoder.harness(), one, kind.sampling);
      expect_qcoefs(decoder.harness(), other, kind.sampling);
      fail_unless_equals_uint64(decoder.stat("damaged") + decoder.stat("irregular"), 0);
    }
  }
}

GstHarness* harness_of(const std::string& line, const char* caps = "image/jpeg,framerate=25/1") {
  GstHarness* h = new_harness(line);
  gst_harness_set_src_caps_str(h, caps);
  return h;
}

// Within 1 of the definition, as `float` promises.
void expect_samples(const GstVideoInfo& info, GstBuffer* buffer, const SlowPicture& picture) {
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  // Gray is in the upper bits of its words.
  const int below = picture.components.size() == 1 ? 4 : 0;
  for (size_t c = 0; c < picture.components.size(); c++) {
    const auto component = static_cast<gint>(c);
    const int width = GST_VIDEO_FRAME_COMP_WIDTH(&frame, component);
    const auto* data = static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, component));
    const std::vector<double> samples = slow_samples(picture.components[c], 12);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, component); y++) {
      const guint8* row = data + gsize(y) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, component);
      for (int x = 0; x < width; x++) {
        const int word = row[2 * x] | row[2 * x + 1] << 8;
        const double expected =
            CLAMP(samples[gsize(y) * 8 * picture.components[c].blocks_w + x], 0.0, 4095.0);
        fail_unless(word % (1 << below) == 0 && std::abs((word >> below) - expected) <= 1.001,
                    "component %d, sample (%d, %d) is %d, not %f", component, x, y, word, expected);
      }
    }
  }
  gst_video_frame_unmap(&frame);
}

CHECK_TEST(test_raw_video) {
  for (const Kind& kind : kKinds) {
    if (!kind.format) continue;
    g_autoptr(GstHarness) h =
        harness_of(std::string("jpegcoefdec n-threads=1 ! cudaidct8x8 backend=") + backend());
    const SlowPicture picture = picture_of(kind, 75, 51, 3);
    fail_unless_equals_int(gst_harness_push(h, buffer_of(slow_encode(picture), 0)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    g_autoptr(GstBuffer) frame = gst_harness_try_pull(h);
    fail_unless(frame != nullptr, "%s: no frame", kind.sampling);
    const GstVideoInfo info = output_info(h);
    fail_unless_equals_string(GST_VIDEO_INFO_NAME(&info), kind.format);
    expect_samples(info, frame, picture);
  }
}

// No raw video has 12 bits in these samplings.
CHECK_TEST(test_no_raw_video) {
  const Folder folder;
  const std::string path = std::string(folder.path()) + "/picture.jpg";
  for (const Kind& kind : kKinds) {
    if (kind.format) continue;
    const Bytes jpeg = slow_encode(picture_of(kind, 64, 48, 7));
    fail_unless(g_file_set_contents(path.c_str(), reinterpret_cast<const gchar*>(jpeg.data()),
                                    static_cast<gssize>(jpeg.size()), nullptr));
    const std::string error =
        run_pipeline("filesrc location=" + path +
                     " ! jpegcoefdec ! cudaidct8x8 backend=" + backend() + " ! fakesink");
    fail_unless(contains(error, kind.sampling) && contains(error, "no raw video format"), "%s",
                error.c_str());
  }
}

// Files of jpegcoefenc: sequential ones of 12 bits with the same quantized coefficients and tables.
CHECK_TEST(test_written_again) {
  for (const Kind& kind : kKinds) {
    for (const char* options : {"", "optimize=true", "restart-interval=4"}) {
      g_autoptr(GstHarness) h =
          harness_of("jpegcoefdec n-threads=1 ! " + encoder(std::string("n-threads=1 ") + options));
      const SlowPicture picture = picture_of(kind, 75, 51, 4);
      fail_unless_equals_int(gst_harness_push(h, buffer_of(slow_encode(picture), 0)), GST_FLOW_OK);
      gst_harness_push_event(h, gst_event_new_eos());
      g_autoptr(GstBuffer) buffer = gst_harness_try_pull(h);
      fail_unless(buffer != nullptr, "%s: no file", kind.sampling);
      const SlowPicture again = slow_decode(bytes_of(buffer));
      fail_unless_equals_int(again.depth, 12);
      fail_unless_equals_int(again.frame_marker, 0xc1);
      const std::string wrong = difference(file_of(picture), file_of(again));
      fail_unless(wrong.empty(), "%s, %s: %s", kind.sampling, options, wrong.c_str());
      g_autoptr(GstElement) element = gst_harness_find_element(h, "jpegcoefenc");
      fail_unless_equals_uint64(stat_of(element, "cpu-frames"), 1);
    }
  }
}

// Two bytes of a frame header: the marker and the precision.
Bytes with_frame(Bytes jpeg, guint8 from, guint8 to, guint8 precision) {
  const gsize sof = segment_of(jpeg, from).begin;
  jpeg[sof + 1] = to;
  jpeg[sof + 4] = precision;
  return jpeg;
}

// Every libjpeg reads all processes. Quantized coefficients that 8-bit samples have are coded
// alike, so the test makes these files of such of 8 bits: their divisors have 8 bits, their Huffman
// tables are Annex K's.
CHECK_TEST(test_other_processes) {
  const JpegFile expected = read_jpeg(good());
  for (const auto& [progressive, arithmetic, marker] : {std::tuple{false, false, 0xc1},
                                                        {true, false, 0xc2},
                                                        {false, true, 0xc9},
                                                        {true, true, 0xca}}) {
    const Bytes eight = written_again(good(), progressive, false, arithmetic, 0);
    const auto from = static_cast<guint8>(marker == 0xc1 ? 0xc0 : marker);
    Decoder decoder;
    decoder.push(with_frame(eight, from, static_cast<guint8>(marker), 12));
    decoder.finish();
    fail_unless_equals_int(decoder.count(), 1);
    g_autoptr(GstBuffer) buffer = decoder.pull();
    g_autoptr(GstCaps) caps = current_caps(decoder.harness());
    GstDctInfo info;
    fail_unless(gst_dct_info_from_caps(&info, caps, nullptr));
    fail_unless_equals_uint64(info.depth, 12);
    const std::string wrong = difference(expected, qcoefs_of(info, buffer));
    fail_unless(wrong.empty(), "process %x: %s", marker, wrong.c_str());
  }
}

// Progressive and arithmetic files with quantized coefficients of all sizes, which libjpeg-turbo 3
// has written, and again.
CHECK_TEST(test_files_of_libjpeg_turbo_3) {
  for (const auto& [jpeg, options] :
       {std::pair{Bytes(std::begin(kProgressiveDeep), std::end(kProgressiveDeep)),
                  "progressive=true"},
        {Bytes(std::begin(kArithmeticDeep), std::end(kArithmeticDeep)), "arithmetic=true"},
        {Bytes(std::begin(kBothDeep), std::end(kBothDeep)), "progressive=true arithmetic=true"}}) {
    SlowPicture picture = slow_picture(8, 8, 12, 1, 1, 1);
    for (int i = 0; i < 64; i++)
      picture.components[0].qcoefs[static_cast<gsize>(i)] = static_cast<gint16>(deep_qcoef(i));
    Decoder decoder;
    decoder.push(jpeg);
    decoder.finish();
    expect_qcoefs(decoder.harness(), picture, "GRAYSCALE");
    fail_unless_equals_uint64(decoder.stat("damaged") + decoder.stat("irregular"), 0);
    g_autoptr(GstHarness) h = harness_of("jpegcoefdec ! " + encoder(options));
    fail_unless_equals_int(gst_harness_push(h, buffer_of(jpeg, 0)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    g_autoptr(GstBuffer) again = gst_harness_try_pull(h);
    fail_unless(again != nullptr && bytes_of(again) == jpeg, "%s", options);
  }
}

// A depth for each picture of a stream: caps follow, and so do files.
CHECK_TEST(test_depths_take_turns) {
  g_autoptr(GstHarness) h = harness_of("jpegcoefdec n-threads=1 ! " + encoder("n-threads=1"));
  const Bytes twelve = slow_encode(picture_of(kKinds[1], 64, 48, 5));
  for (const Bytes& jpeg : {good(), twelve, twelve, good()})
    fail_unless_equals_int(gst_harness_push(h, buffer_of(jpeg, 0)), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  for (const int depth : {8, 12, 12, 8}) {
    g_autoptr(GstBuffer) buffer = gst_harness_try_pull(h);
    fail_unless(buffer != nullptr);
    fail_unless_equals_int(slow_decode(bytes_of(buffer)).depth, depth);
  }
}

// Faults that have names, in a stream of which the rest is shown.
CHECK_TEST(test_damage) {
  const SlowPicture sound = picture_of(kKinds[1], 64, 48, 6);
  SlowPicture too_large = sound;
  too_large.components[0].qcoefs[5] = 16384;
  too_large.depth = 13;  // for one category more
  const struct {
    Bytes jpeg;
    const char* text;
  } kCases[] = {
      {with_frame(slow_encode(too_large), 0xc1, 0xc1, 12), "coefficient 16384"},
      {with_frame(slow_encode(sound), 0xc1, 0xc0, 12), "baseline"},
      {with_frame(slow_encode(sound), 0xc1, 0xc1, 8), "out of range"},
      {damaged(slow_encode(sound)), ""},
  };
  for (const auto& one : kCases) {
    Decoder decoder;
    for (const Bytes& jpeg : {slow_encode(sound), one.jpeg, slow_encode(sound)})
      fail_unless_equals_int(decoder.push(jpeg), GST_FLOW_OK);
    decoder.finish();
    fail_unless_equals_uint64(decoder.stat("damaged"), 1);
    fail_unless_equals_int(decoder.count(), 2);
    const std::string text = decoder.message(GST_MESSAGE_WARNING);
    fail_unless(contains(text, one.text), "%s", text.c_str());
    for (int i = 0; i < 2; i++) expect_qcoefs(decoder.harness(), sound, "YCbCr-4:2:0");
  }
}

CHECK_TEST(test_qcoefs_that_do_not_fit) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40, 12);
  for (const auto& [k, first, second, text] :
       {std::tuple{1u, 16384, 0, "coefficient 16384 at (0, 1)"},
        {9u, 0, -32768, "coefficient -32768 at (1, 1) of block (0, 1)"},
        {0u, 16384, -16384, "DC coefficients -16384 to 16384"}}) {
    g_autoptr(GstHarness) h = encoder_harness(info);
    const Messages bus(h->element);
    GstBuffer* buffer = make_qcoefs(info, 1);
    set_qcoef(info, buffer, 0, 0, k, static_cast<gint16>(first));
    set_qcoef(info, buffer, 0, 1, k, static_cast<gint16>(second));
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
    const std::string error = take_text(bus, GST_MESSAGE_ERROR);
    fail_unless(contains(error, text), "%s", error.c_str());
  }
}

CHECK_TEST(test_written_by_other_processes) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40, 12);
  for (const char* options : {"progressive=true", "arithmetic=true"}) {
    g_autoptr(GstHarness) h = encoder_harness(info, options);
    fail_unless_equals_int(gst_harness_push(h, make_qcoefs(info, 1)), GST_FLOW_OK);
    g_autoptr(GstBuffer) file = gst_harness_try_pull(h);
    Decoder decoder;
    decoder.push(bytes_of(file));
    decoder.finish();
    g_autoptr(GstBuffer) coefficients = decoder.pull();
    g_autoptr(GstBuffer) wanted = make_qcoefs(info, 1);
    fail_unless(difference(qcoefs_of(info, wanted), qcoefs_of(info, coefficients)).empty());
  }
}

// Files of raw video: 12 bits only where 8 are not possible.
CHECK_TEST(test_from_raw_video) {
  const struct {
    GstVideoFormat format;
    const char* between;
    int depth;
  } kCases[] = {
      {GST_VIDEO_FORMAT_I420_12LE, "", 12},
      {GST_VIDEO_FORMAT_Y444_12LE, "", 12},
      {GST_VIDEO_FORMAT_GRAY16_LE, "", 12},
      {GST_VIDEO_FORMAT_I420, "", 8},
      {GST_VIDEO_FORMAT_I420_10LE, "videoconvert ! ", 8},
      {GST_VIDEO_FORMAT_I420_12LE, "videoconvert ! ", 8},
      {GST_VIDEO_FORMAT_I420_10LE, "videoconvert ! video/x-raw,format=I422_12LE ! ", 12},
  };
  for (const auto& one : kCases) {
    const GstVideoInfo info = video_info(one.format, 64, 48);
    g_autoptr(GstHarness) h = new_harness(one.between + forward() + " ! " + encoder("n-threads=1"));
    gst_harness_set_src_caps(h, gst_video_info_to_caps(&info));
    fail_unless_equals_int(gst_harness_push(h, make_frame(info, 1)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    g_autoptr(GstBuffer) buffer = gst_harness_try_pull(h);
    fail_unless(buffer != nullptr, "%s: no file", GST_VIDEO_INFO_NAME(&info));
    fail_unless_equals_int(slow_decode(bytes_of(buffer)).depth, one.depth);
  }
}

// Gray of 12 bits is the upper bits of GRAY16_LE in both directions.
CHECK_TEST(test_gray_there_and_back) {
  g_autoptr(GstHarness) h = harness_of(
      forward("quality=100") + " ! video/x-dct,depth=12 ! cudaidct8x8 backend=" + backend(),
      "video/x-raw,format=GRAY16_LE,width=64,height=48,framerate=25/1");
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_GRAY16_LE, 64, 48);
  GstBuffer* frame = make_frame(info, 1);
  const Bytes before = bytes_of(frame);
  fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
  g_autoptr(GstBuffer) back = gst_harness_try_pull(h);
  fail_unless(back != nullptr);
  const Bytes after = bytes_of(back);
  fail_unless_equals_uint64(after.size(), before.size());
  for (gsize i = 0; i < after.size(); i += 2) {
    const int was = before[i] | before[i + 1] << 8, is = after[i] | after[i + 1] << 8;
    fail_unless(is % 16 == 0 && std::abs(is / 16 - was / 16) <= 1, "%d became %d", was, is);
  }
}

}  // namespace
