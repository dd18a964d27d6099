// jpegcoefdec where pictures of another kind come in the middle of a stream, and on hostile and
// unsupported data: which pictures it refuses, and at what cost.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/jpeg/jpegdecoder.h"

namespace {

using namespace testing;

Bytes with_depth_12() {
  const Segment sof = segment_of(good(), 0xc0);
  return with_byte(with_byte(good(), sof.begin + 1, 0xc1), sof.begin + 4, 12);
}

Bytes with_sof(gsize at, guint8 value) {
  return with_byte(good(), segment_of(good(), 0xc0).begin + at, value);
}

std::string to_raw(const std::string& fields) {
  return "! " + inverse() + " ! capsfilter caps=video/x-raw(ANY)," + fields;
}

// A kind of picture that cannot follow good(), after jpegcoefdec.
struct Kind {
  std::string name, downstream;
  Bytes picture;
  std::vector<const char*> named;  // parts of the message

  void expect_in(const std::string& text) const {
    for (const char* part : named)
      fail_unless(contains(text, part), "%s: '%s' lacks '%s'", name.c_str(), text.c_str(), part);
  }
};

std::vector<Kind> kinds() {
  const std::string any = to_raw("format={I420,NV12}");
  return {
      {"4:2:2",
       any,
       make_jpeg(64, 48, Subsampling::k422),
       {"YCbCr-4:2:2", "outputs Y42B or RGB, downstream accepts I420, NV12; insert videoconvert"}},
      {"4:2:2 behind filters",
       "! cudadctquant ! identity " + any,
       make_jpeg(64, 48, Subsampling::k422),
       {"YCbCr-4:2:2", "Y42B", "I420, NV12"}},
      {"gray", any, make_jpeg(64, 48, Subsampling::kGray), {"GRAYSCALE", "GRAY8", "I420"}},
      {"12 bits", any, with_depth_12(), {"12 bits", "outputs I420_12LE, downstream", "I420, NV12"}},
      {"width", to_raw("width=64"), make_jpeg(128, 48), {"128x48", "width 64", "videoscale"}},
      {"CMYK",
       to_raw("width=64"),
       make_four_components({false, 1, 1, ""}, 64, 48),
       {"CMYK-4:4:4", "no raw video format"}},
      {"coefficients of 4:2:2",
       "! capsfilter caps=video/x-dct(ANY),sampling=YCbCr-4:2:0 ! jpegcoefenc",
       make_jpeg(64, 48, Subsampling::k422),
       {"YCbCr-4:2:2", "accepts YCbCr-4:2:0"}},
      {"coefficients of 12 bits",
       "! capsfilter caps=video/x-dct(ANY),depth=8",
       with_depth_12(),
       {"12 bits", "accepts depth 8"}},
      {"lossless", "", with_sof(1, 0xc3), {"0xc3"}},
      {"10 bits", "", with_sof(4, 10), {"10 bits"}},
  };
}

// Counts the caps that arrive at the end of a harness.
class CapsCount {
 public:
  explicit CapsCount(GstHarness* h)
      : pad_(h->sinkpad),
        probe_(gst_pad_add_probe(pad_, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, count, this, nullptr)) {
  }
  ~CapsCount() { gst_pad_remove_probe(pad_, probe_); }
  CapsCount(const CapsCount&) = delete;
  CapsCount& operator=(const CapsCount&) = delete;
  int events = 0;

 private:
  static GstPadProbeReturn count(GstPad*, GstPadProbeInfo* info, gpointer self) {
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS)
      static_cast<CapsCount*>(self)->events++;
    return GST_PAD_PROBE_OK;
  }
  GstPad* pad_;
  gulong probe_;
};

// One warning for each run, and the others pass with the caps that they had.
CHECK_TEST(test_refused_in_the_middle) {
  for (const Kind& kind : kinds()) {
    for (const char* on_error : {"", "on-error=conceal "}) {
      Decoder decoder(on_error + kind.downstream);
      const CapsCount caps(decoder.harness());
      for (const Bytes& jpeg : {good(), kind.picture, good(), kind.picture, kind.picture, good()})
        fail_unless_equals_int(decoder.push(jpeg), GST_FLOW_OK);
      decoder.finish();
      fail_unless(decoder.count() == 3, "%s: %d pictures", kind.name.c_str(), decoder.count());
      fail_unless_equals_int(caps.events, 1);
      fail_unless_equals_uint64(decoder.stat("damaged"), 3);
      fail_unless_equals_uint64(decoder.stat("dropped"), 3);
      const auto warnings = take_messages(decoder.bus(), GST_MESSAGE_WARNING);
      fail_unless(warnings.size() == 2, "%s: %zu warnings", kind.name.c_str(), warnings.size());
      kind.expect_in(warnings[0].text);
    }
  }
}

CHECK_TEST(test_policies) {
  for (const Kind& kind : kinds()) {
    Decoder fails("on-error=fail " + kind.downstream), counts("max-errors=1 " + kind.downstream);
    fails.push(good());
    fail_unless_equals_int(fails.push(kind.picture), GST_FLOW_ERROR);
    kind.expect_in(fails.message(GST_MESSAGE_ERROR));
    fail_unless_equals_int(fails.count(), 1);
    for (const Bytes& jpeg : {good(), kind.picture, good(), kind.picture})
      fail_unless_equals_int(counts.push(jpeg), GST_FLOW_OK);
    fail_unless_equals_int(counts.push(kind.picture), GST_FLOW_ERROR);
    kind.expect_in(counts.message(GST_MESSAGE_ERROR));
    fail_unless_equals_int(counts.count(), 2);
  }
}

// A stream that begins with such a picture fails immediately with a reason, for any on-error.
CHECK_TEST(test_refused_at_the_beginning) {
  for (const Kind& kind : kinds()) {
    Decoder decoder(kind.downstream);
    fail_unless_equals_int(decoder.push(kind.picture), GST_FLOW_ERROR);
    fail_unless_equals_int(decoder.count(), 0);
    kind.expect_in(decoder.message(GST_MESSAGE_ERROR));
  }
}

// What downstream accepts is renegotiated.
CHECK_TEST(test_accepted_in_the_middle) {
  for (const std::string& downstream : {std::string(), "! " + inverse()}) {
    Decoder decoder(downstream);
    const CapsCount caps(decoder.harness());
    for (const Bytes& jpeg : {good(), make_jpeg(64, 48, Subsampling::k422), make_jpeg(128, 96),
                              make_jpeg(64, 48, Subsampling::kGray), good(), good()})
      fail_unless_equals_int(decoder.push(jpeg), GST_FLOW_OK);
    decoder.finish();
    fail_unless_equals_int(decoder.count(), 6);
    fail_unless_equals_int(caps.events, 5);
    fail_unless_equals_uint64(decoder.stat("damaged"), 0);
  }
}

// Accepts any caps in queries, and 4:2:0 alone in events.
gboolean refuse_others(GstPad* pad, GstObject* parent, GstEvent* event) {
  GstCaps* caps = nullptr;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) gst_event_parse_caps(event, &caps);
  const char* sampling =
      caps ? gst_structure_get_string(gst_caps_get_structure(caps, 0), "sampling") : nullptr;
  if (sampling && !g_str_equal(sampling, "YCbCr-4:2:0")) {
    gst_event_unref(event);
    return FALSE;
  }
  return gst_pad_event_default(pad, parent, event);
}

CHECK_TEST(test_refused_against_all_answers) {
  const Bytes other = make_jpeg(64, 48, Subsampling::k422);
  for (const bool fails : {false, true}) {
    Decoder decoder(fails ? "max-errors=1" : "");
    gst_pad_set_event_function(decoder.harness()->sinkpad, refuse_others);
    for (const Bytes& jpeg : {good(), other, good(), other})
      fail_unless_equals_int(decoder.push(jpeg), GST_FLOW_OK);
    fail_unless_equals_int(decoder.push(other), fails ? GST_FLOW_ERROR : GST_FLOW_OK);
    fail_unless_equals_int(decoder.push(good()), fails ? GST_FLOW_ERROR : GST_FLOW_OK);
    decoder.finish();
    fail_unless_equals_int(decoder.count(), fails ? 2 : 3);
    fail_unless_equals_int(decoder.messages(GST_MESSAGE_WARNING), 2);
    fail_unless_equals_uint64(decoder.stat("damaged"), 3);
    fail_unless_equals_uint64(decoder.stat("frames"), fails ? 2 : 3);
  }
}

// A damaged picture that conceals is not shown where its kind is refused.
CHECK_TEST(test_damaged_and_refused) {
  const Bytes other = make_jpeg(64, 48, Subsampling::k422);
  Decoder decoder("on-error=conceal " + to_raw("format=I420"));
  const CapsCount caps(decoder.harness());
  for (const Bytes& jpeg : {good(), damaged(good()), damaged(other), good()})
    fail_unless_equals_int(decoder.push(jpeg), GST_FLOW_OK);
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 3);
  fail_unless_equals_int(caps.events, 1);
  fail_unless_equals_uint64(decoder.stat("dropped"), 1);
}

// The bin, several threads, and concatenated files.
CHECK_TEST(test_bin) {
  const Folder folder;
  const Bytes cmyk = make_four_components({false, 1, 1, ""}, 64, 48);
  for (int i = 0; i < 8; i++) {
    const Bytes& jpeg = i == 3 ? cmyk : good();
    g_file_set_contents(folder.file(std::to_string(i) + ".jpg").c_str(),
                        reinterpret_cast<const char*>(jpeg.data()), gssize(jpeg.size()), nullptr);
  }
  const std::string line =
      "multifilesrc location=" + folder.file("%d.jpg") +
      " caps=image/jpeg,framerate=10/1 ! cudajpegdec name=bin backend=" + backend() +
      " ! video/x-raw ! appsink name=sink sync=false";
  fail_unless_equals_uint64(play(line).size(), 7);
}

// ---- Bombs ----

glong peak_kilobytes() {
  g_autofree gchar* status = nullptr;
  glong peak = 0;
  if (g_file_get_contents("/proc/self/status", &status, nullptr, nullptr))
    if (const char* line = strstr(status, "VmHWM:")) sscanf(line, "VmHWM: %ld", &peak);
  return peak;
}

Bytes bomb(guint8 process) {
  const Segment sof = segment_of(good(), 0xc0);
  Bytes jpeg = good();
  jpeg[sof.begin + 1] = process;
  for (int i = 0; i < 4; i += 2) {
    jpeg[sof.begin + 5 + gsize(i)] = 65500 >> 8;
    jpeg[sof.begin + 6 + gsize(i)] = 65500 & 0xff;
  }
  return jpeg;
}

CHECK_TEST(test_bombs) {
  for (const char* mode : {"", "on-error=conceal", "max-pixels=0"}) {
    for (const guint8 process : {guint8{0xc0}, guint8{0xc2}, guint8{0xc9}}) {
      Decoder decoder(mode);
      decoder.push(good());
      const glong before = peak_kilobytes();
      for (int i = 0; i < 3; i++) decoder.push(bomb(process));
      decoder.push(good());
      decoder.finish();
      fail_unless_equals_int(decoder.count(), 2);
      fail_unless(peak_kilobytes() - before < 20000, "%s: %ld KB", mode, peak_kilobytes() - before);
    }
  }
}

CHECK_TEST(test_max_pixels) {
  Decoder decoder("max-pixels=3071");  // 64x48 - 1
  decoder.push(make_jpeg(40, 30));
  decoder.push(good());
  decoder.push(make_jpeg(40, 30));
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 2);
  fail_unless(contains(decoder.message(GST_MESSAGE_WARNING), "max-pixels"));
}

// The element gives up a picture that never ends.
CHECK_TEST(test_many_scans) {
  const Segment sos = segment_of(good(), 0xda);
  const Bytes& jpeg = good();
  // A progressive picture of a thousand scans, each of the first DC bits of nothing.
  Bytes progressive = cut(with_byte(jpeg, segment_of(jpeg, 0xc0).begin + 1, 0xc2), sos.begin);
  for (int i = 0; i < 1000; i++)
    progressive = joined({progressive, {0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0}, {0x12, 0x34}});
  progressive = joined({progressive, {0xff, 0xd9}});
  Decoder decoder("on-error=conceal");
  decoder.push(good());
  decoder.push(progressive);
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 3);
  fail_unless_equals_uint64(decoder.stat("damaged"), 1);
}

// A header takes time in proportion to its length, for any contents: not minutes.
CHECK_TEST(test_many_segments) {
  Bytes segments;
  for (int i = 0; i < 100000; i++) segments.insert(segments.end(), {0xff, 0xe0, 0, 2});
  Decoder decoder;
  const gint64 start = g_get_monotonic_time();
  decoder.push(inserted(good(), 2, segments));
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 1);
  fail_unless(g_get_monotonic_time() - start < 20 * G_USEC_PER_SEC);
}

// ---- What cannot be held ----

void expect_refusal(const char* name, const Bytes& jpeg, const char* part,
                    const char* caps = "image/jpeg,framerate=25/1") {
  Decoder decoder("", caps);
  fail_unless(decoder.push(jpeg) != GST_FLOW_OK || decoder.push(jpeg) != GST_FLOW_OK, "%s", name);
  const std::string error = decoder.message(GST_MESSAGE_ERROR);
  fail_unless(contains(error, part), "%s: '%s'", name, error.c_str());
  fail_unless_equals_int(decoder.count(), 0);
}

// No height in the frame header, and that many lines in a DNL segment after the scan.
Bytes with_lines_later(guint8 lines) {
  const Segment sof = segment_of(good(), 0xc0), sos = segment_of(good(), 0xda);
  const Bytes jpeg = with_byte(with_byte(good(), sof.begin + 5, 0), sof.begin + 6, 0);
  return inserted(jpeg, sos.end, {0xff, 0xdc, 0, 4, 0, lines});
}

// Without the lines, or without a width, it is damage.
CHECK_TEST(test_no_size) {
  const Segment sof = segment_of(good(), 0xc0);
  const Bytes no_height = with_byte(with_byte(good(), sof.begin + 5, 0), sof.begin + 6, 0);
  const Bytes lines = with_lines_later(48);
  const Bytes no_width = with_byte(with_byte(lines, sof.begin + 7, 0), sof.begin + 8, 0);
  for (const Bytes& jpeg : {no_height, with_lines_later(0), no_width, cut(lines, lines.size() - 5),
                            cut(lines, sof.begin + 10)}) {
    Decoder decoder;
    decoder.push(jpeg);
    decoder.push(good());
    decoder.finish();
    decoder.expect(good());
    fail_unless_equals_uint64(decoder.stat("damaged"), 1);
  }
}

CHECK_TEST(test_refusals) {
  const Segment sof = segment_of(good(), 0xc0);
  expect_refusal("DNL", with_lines_later(48), "DNL");
  expect_refusal("10 bits", with_byte(good(), sof.begin + 4, 10), "precision of 10 bits");
  expect_refusal("lossless", with_byte(good(), sof.begin + 1, 0xc3), "SOF type 0xc3");
}

// Samplings without a name are spelled by their factors, and so are those of other color spaces.
CHECK_TEST(test_any_factors) {
  // An Adobe marker whose transform is 0 declares 4:2:0 to be R, G and B.
  const Bytes adobe = {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};
  const struct {
    const char* sampling;
    Bytes file;
  } cases[] = {
      {"RGB-2x2,1x1,1x1", inserted(without_segments(good(), 0xe0), 2, adobe)},
      {"CMYK-2x2,1x1,1x1,2x2", make_four_components({false, 2, 2, ""}, 33, 31)},
      {"YCCK-3x1,1x1,1x1,3x1", make_four_components({true, 3, 1, ""}, 50, 9)},
  };
  for (const auto& [sampling, file] : cases) {
    Decoder decoder;
    fail_unless_equals_int(decoder.push(file), GST_FLOW_OK);
    decoder.finish();
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(decoder.harness()->sinkpad);
    fail_unless_equals_string(gst_structure_get_string(gst_caps_get_structure(caps, 0), "sampling"),
                              sampling);
    // The first has the ids of YCbCr.
    if (sampling[0] != 'R') decoder.expect(file);
  }
}

// libjpeg reads them, and whoever writes such a file again writes its tables.
CHECK_TEST(test_zeros_in_tables) {
  const Bytes file = with_byte(good(), segment_of(good(), 0xdb).begin + 5 + 7, 0);
  Decoder decoder;
  fail_unless_equals_int(decoder.push(file), GST_FLOW_OK);
  decoder.finish();
  fail_unless_equals_uint64(decoder.stat("damaged") + decoder.stat("irregular"), 0);
  decoder.expect(file);
  g_autoptr(GstHarness) h = new_harness("jpegcoefdec n-threads=1 ! " + encoder("n-threads=1"));
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=25/1");
  fail_unless_equals_int(gst_harness_push(h, buffer_of(file, 0)), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstBuffer) again = gst_harness_try_pull(h);
  fail_unless(again != nullptr);
  const std::string wrong = difference(read_jpeg(file), read_jpeg(bytes_of(again)));
  fail_unless(wrong.empty(), "%s", wrong.c_str());
}

// As with damage in a stream that began well.
CHECK_TEST(test_no_refusal_in_the_middle) {
  const Segment sof = segment_of(good(), 0xc0);
  Decoder decoder;
  decoder.push(good());
  decoder.push(with_byte(good(), sof.begin + 1, 0xc3));
  decoder.push(good());
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 2);
  fail_unless(decoder.message(GST_MESSAGE_ERROR).empty());
}

// Two fields a frame: never half a picture. They have the full width of the picture around them.
CHECK_TEST(test_fields) {
  const auto field = [](guint8 polarity) {
    return inserted(without_segments(good(), 0xe0), 2,
                    {0xff, 0xe0, 0, 16, 'A', 'V', 'I', '1', polarity, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  };
  for (const char* caps : {"image/jpeg,framerate=25/1,width=64,height=96",
                           "image/jpeg,framerate=25/1,width=64,height=95"}) {
    expect_refusal("fields, by the caps", joined({good(), good()}), "interlaced", caps);
    expect_refusal("fields", joined({field(1), field(2)}), "interlaced", caps);
  }
  expect_refusal("fields that are filled up", joined({field(1), field(2)}), "interlaced",
                 "image/jpeg,framerate=25/1,width=64,height=90");
  // Marks alone make no fields: caps must also have the same width and a much greater height.
  for (const char* caps : {"image/jpeg,framerate=25/1,width=128,height=96",
                           "image/jpeg,framerate=25/1,width=63,height=96",
                           "image/jpeg,framerate=25/1,width=64,height=48",
                           "image/jpeg,framerate=25/1,width=64,height=56",
                           "image/jpeg,framerate=25/1,height=96", "image/jpeg,framerate=25/1"}) {
    Decoder decoder("", caps);
    for (const guint8 polarity : {1, 2, 0}) decoder.push(field(polarity));
    decoder.finish();
    fail_unless(decoder.count() == 3, "%s: %d pictures", caps, decoder.count());
    for (int i = 0; i < 3; i++) decoder.expect(good());
  }
}

// In the middle of a stream whose container still states the first pictures' size.
CHECK_TEST(test_smaller_pictures_in_the_middle) {
  const Bytes large = make_jpeg(128, 96);
  Decoder decoder("", "image/jpeg,framerate=25/1,width=128,height=96");
  for (const Bytes& jpeg : {large, good(), good(), large, good()}) decoder.push(jpeg);
  decoder.finish();
  fail_unless_equals_int(decoder.count(), 5);
  fail_unless_equals_uint64(decoder.stat("damaged"), 0);
}

}  // namespace
