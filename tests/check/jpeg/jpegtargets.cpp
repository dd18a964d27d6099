// Target sizes of JPEG files: of files that exist already, by cudadctquant, and out of reach.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

// jpegcoefdec, cudadctquant and jpegcoefenc, with something between them that queries have to pass.
struct Coder {
  GstHarness* h;
  GstElement* quant;
  Messages messages;

  explicit Coder(const std::string& properties, const std::string& file = "",
                 const char* caps = "image/jpeg,framerate=25/1")
      : h(new_harness(std::string("jpegcoefdec n-threads=1 backend=") + backend() +
                      " ! cudadctquant name=quant backend=" + backend() + " " + properties +
                      " ! capsfilter caps=video/x-dct(ANY) ! jpegcoefenc n-threads=1 backend=" +
                      backend() + " " + file)),
        quant(gst_bin_get_by_name(GST_BIN(h->element), "quant")),
        messages(h->element) {
    gst_harness_set_src_caps_str(h, caps);
  }
  ~Coder() {
    gst_object_unref(quant);
    end_harness(h);
  }
  void set_target(gsize bytes) { g_object_set(quant, "target-size", guint(bytes), nullptr); }
  double quality() const {
    g_autoptr(GstStructure) stats = stats_of(quant);
    double value = 0;
    fail_unless(gst_structure_get_double(stats, "active-quality", &value));
    return value;
  }
  // The file of a picture whose other parts follow immediately.
  Bytes file(const Bytes& jpeg) {
    fail_unless_equals_int(gst_harness_push(h, buffer_of(jpeg, time_ += 40 * GST_MSECOND)),
                           GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_gap(time_ + 1, 0));
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    fail_unless(out != nullptr);
    return bytes_of(out);
  }

 private:
  GstClockTime time_ = 0;
};

Bytes with_exif(const Bytes& jpeg, gsize bytes) {
  Bytes segment = {0xff, 0xe1, guint8((bytes + 2) >> 8), guint8(bytes + 2)};
  segment.resize(4 + bytes, 7);
  return inserted(jpeg, 2, segment);
}

Bytes with_trailer(Bytes jpeg, gsize bytes) {
  jpeg.resize(jpeg.size() + bytes, 9);
  return jpeg;
}

struct Kind {
  const char* name;
  Bytes jpeg;
  std::string properties, file;
};

std::vector<Kind> kinds() {
  const Bytes usual = make_jpeg(160, 120, Subsampling::k420, 92);
  // Declares RGB.
  const Bytes adobe = {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};
  return {
      {"4:2:0", usual, "", ""},
      {"4:2:2, finer tables, too", make_jpeg(167, 93, Subsampling::k422, 60),
       "coarser-only=false quant-preset=perceptual", "optimize=true"},
      {"gray", make_jpeg(150, 150, Subsampling::kGray, 95), "quant-preset=perceptual",
       "restart-interval=3"},
      {"Exif and trailing data", with_trailer(with_exif(usual, 500), 700), "", "optimize=true"},
      {"the same, left out", with_trailer(with_exif(usual, 500), 700), "", "keep-metadata=false"},
      {"CMYK", make_four_components({false, 1, 1, ""}, 100, 90), "", ""},
      {"YCCK", make_four_components({true, 2, 2, ""}, 120, 90), "coarser-only=false",
       "optimize=true"},
      {"RGB-2x2,1x1,1x1", inserted(without_segments(usual, 0xe0), 2, adobe), "", ""},
  };
}

// Never more bytes, little less, and stats have the size before the file is written.
CHECK_TEST(test_target_size) {
  int all = 0, close = 0;
  for (const Kind& kind : kinds()) {
    for (const bool still : {false, true}) {
      // What differs for stills does so for every kind.
      if (quick() && still && !(kind.properties + kind.file).empty()) continue;
      Coder coder(kind.properties, kind.file,
                  still ? "image/jpeg,framerate=0/1" : "image/jpeg,framerate=25/1");
      Coder plain("quality=100", kind.file);
      const double usual = double(plain.file(kind.jpeg).size());
      for (double part = 0.35; part < 1; part *= quick() ? 1.6 : 1.08) {
        const auto target = gsize(part * usual);
        coder.set_target(target);
        const gsize size = coder.file(kind.jpeg).size();
        const double quality = coder.quality();
        fail_unless(size <= target || quality == 1, "%s: %zu of %zu bytes", kind.name, size,
                    target);
        fail_unless_equals_uint64(stat_of(coder.quant, "file-size"), size);
        if (quality == 1) continue;
        all++;
        close += double(size) >= 0.97 * double(target);
      }
      fail_unless(all > 0);
    }
  }
  fail_unless(close * 100 >= all * (quick() ? 60 : 85), "%d of %d files are close", close, all);
}

// A file that fits is forwarded unchanged; with a byte less it is not.
CHECK_TEST(test_files_that_fit) {
  for (const Kind& kind : kinds()) {
    Coder coder(kind.properties, kind.file), plain("quality=100", kind.file);
    const Bytes usual = plain.file(kind.jpeg);
    coder.set_target(usual.size());
    fail_unless(coder.file(kind.jpeg) == usual, "%s", kind.name);
    fail_unless(coder.quality() == -1);
    coder.set_target(usual.size() - 1);
    const Bytes smaller = coder.file(kind.jpeg);
    fail_unless(smaller.size() < usual.size(), "%s", kind.name);
    fail_unless(take_text(coder.messages, GST_MESSAGE_WARNING).empty());
  }
}

// Sizes go up and down by a little from quality to quality, as old and new rounding add up.
CHECK_TEST(test_highest_quality) {
  const Bytes jpeg = make_jpeg(160, 120, Subsampling::k420, 95);
  Coder coder("", "", "image/jpeg,framerate=0/1"), fixed("");
  std::vector<gsize> sizes(101);
  for (int quality = 1; quality <= 100; quality++) {
    g_object_set(fixed.quant, "quality", quality, nullptr);
    sizes[gsize(quality)] = fixed.file(jpeg).size();
  }
  for (int quality = 5; quality < 90; quality += quick() ? 20 : 4) {
    const gsize target = sizes[gsize(quality)];
    coder.set_target(target);
    fail_unless(coder.file(jpeg).size() <= target);
    fail_unless(coder.quality() > quality - 2, "%g, not %d", coder.quality(), quality);
  }
}

// The smallest file there is, and one warning in a stream.
CHECK_TEST(test_out_of_reach) {
  const Bytes jpeg = make_jpeg(160, 120, Subsampling::k420, 92);
  Coder coder("target-size=300"), least("quality=1");
  for (int i = 0; i < 3; i++) fail_unless(coder.file(jpeg) == least.file(jpeg));
  auto warnings = take_messages(coder.messages, GST_MESSAGE_WARNING);
  fail_unless_equals_int(int(warnings.size()), 1);
  expect(warnings[0].text, {"target-size=300 exceeded", "bytes at quality 1", "raise target-size"});
  fail_unless_equals_uint64(stat_of(coder.quant, "oversized-files"), 3);

  Coder heavy("target-size=3000");
  heavy.file(with_exif(jpeg, 5000));
  warnings = take_messages(heavy.messages, GST_MESSAGE_WARNING);
  fail_unless_equals_int(int(warnings.size()), 1);
  expect(warnings[0].text, {"of them metadata", "keep-metadata=false"});
}

// Likewise those of cudadct8x8, whatever property is exceeded.
CHECK_TEST(test_out_of_reach_of_the_dct) {
  const struct {
    const char *properties, *named, *cure;
  } cases[] = {{"target-size=500", "target-size=500 exceeded", "scale the video down"},
               {"target-size=700 min-quality=20", "target-size=700", "lower min-quality"},
               {"max-size=600", "max-size=600 exceeded", "raise the limit"},
               {"bitrate=40", "bitrate=40 (", "raise the limit"},
               {"bitrate=40 max-size=100", "max-size=100 exceeded", "raise the limit"}};
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 160, 120);
  for (const auto& c : cases) {
    GstHarness* h = new_harness(forward(std::string("name=dct ") + c.properties) + " ! " +
                                encoder("n-threads=1"));
    const Messages messages(h->element);
    g_autoptr(GstElement) dct = gst_bin_get_by_name(GST_BIN(h->element), "dct");
    gst_harness_set_src_caps(h, video_caps(info));
    for (guint n = 0; n < 3; n++) gst_buffer_unref(passed(h, make_frame(info, n)));
    const auto is_other = [](const Report& reported) {
      return !contains(reported.text, "bytes at min");
    };
    auto warnings = take_messages(messages, GST_MESSAGE_WARNING);
    warnings.erase(std::remove_if(warnings.begin(), warnings.end(), is_other), warnings.end());
    fail_unless(warnings.size() == 1, "%s: %zu warnings", c.properties, warnings.size());
    expect(warnings[0].text, {c.named, "min-quality", c.cure});
    fail_unless_equals_uint64(stat_of(dct, "oversized-files"), 3);
    end_harness(h);
  }
}

// Quantized coefficients that no baseline file has codes for, at any scale: the search ends.
CHECK_TEST(test_qcoefs_without_codes) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 48);
  g_autoptr(GstHarness) h =
      new_harness(std::string("cudadctquant name=quant target-size=2000 backend=") + backend());
  g_autoptr(GstElement) quant = gst_bin_get_by_name(GST_BIN(h->element), "quant");
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  const gint64 begin = g_get_monotonic_time();
  for (guint frame = 0; frame < 4; frame++) {
    GstBuffer* in = make_qcoefs(info, frame);
    auto* meta = const_cast<GstDctMeta*>(gst_buffer_get_dct_meta(in));
    for (guint16& entry : meta->tables[meta->components[0].table].values) entry = 65535;
    for (guint k = 1; k < 64; k++) set_qcoef(info, in, 0, k % 4, k, frame % 2 ? 32767 : -32768);
    g_autoptr(GstBuffer) out = passed(h, in);
  }
  fail_unless_equals_uint64(stat_of(quant, "oversized-files"), 4);
  fail_unless(g_get_monotonic_time() - begin < 10 * G_USEC_PER_SEC);
}

// The error of a picture.
std::string refusal(const std::string& properties, const std::string& file, const Bytes& jpeg) {
  return push_one(std::string("jpegcoefdec n-threads=1 backend=") + backend() +
                      " ! cudadctquant backend=" + backend() + " " + properties +
                      " ! jpegcoefenc backend=" + backend() + " " + file,
                  gst_caps_from_string("image/jpeg,framerate=25/1"), buffer_of(jpeg));
}

CHECK_TEST(test_refusals) {
  const Bytes jpeg = make_jpeg(32, 24);
  expect(refusal("target-size=900", "progressive=true", jpeg), {"target-size", "progressive"});
  expect(refusal("target-size=900", "arithmetic=true", jpeg), {"target-size", "arithmetic"});
  const gsize sof = segment_of(jpeg, 0xc0).begin;
  Bytes deep = jpeg;
  deep[sof + 1] = 0xc1;
  deep[sof + 4] = 12;
  expect(refusal("target-size=900", "", deep), {"target-size", "8-bit", "12"});
  for (const char* fixed : {"quant-preset=flat", "qtable-file=/nowhere"}) {
    GstElement* pipeline = launch(std::string("cudadctquant target-size=900 ") + fixed);
    fail_unless(gst_element_set_state(pipeline, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE, "%s",
                fixed);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
}

}  // namespace
