// jpegcoefdec where pictures of another kind come in the middle of a stream: sizes, samplings,
// depths and files that downstream or the decoder refuses are damaged pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/folder.h"
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

// A kind of picture that cannot follow good(), behind jpegcoefdec.
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
       {"YCbCr-4:2:2", "as Y42B or RGB, downstream accepts I420, NV12: put videoconvert"}},
      {"4:2:2 behind filters",
       "! cudadctquant ! identity " + any,
       make_jpeg(64, 48, Subsampling::k422),
       {"YCbCr-4:2:2", "Y42B", "I420, NV12"}},
      {"gray", any, make_jpeg(64, 48, Subsampling::kGray), {"GRAYSCALE", "GRAY8", "I420"}},
      {"12 bits", any, with_depth_12(), {"12 bits", "as I420_12LE, downstream", "I420, NV12"}},
      {"width", to_raw("width=64"), make_jpeg(128, 48), {"128x48", "width 64", "videoscale"}},
      {"CMYK",
       to_raw("width=64"),
       make_four_components({false, 1, 1, ""}, 64, 48),
       {"CMYK-4:4:4", "four components"}},
      {"coefficients of 4:2:2",
       "! capsfilter caps=video/x-dct(ANY),sampling=YCbCr-4:2:0 ! jpegcoefenc",
       make_jpeg(64, 48, Subsampling::k422),
       {"YCbCr-4:2:2", "accepts YCbCr-4:2:0"}},
      {"coefficients of 12 bits",
       "! capsfilter caps=video/x-dct(ANY),depth=8",
       with_depth_12(),
       {"12 bits", "accepts depth 8"}},
      {"3x1", "", with_sof(11, 0x31), {"sampling factors 3x1"}},
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

// A stream that begins with such a picture fails at once and says why, whatever on-error says.
CHECK_TEST(test_refused_at_the_beginning) {
  for (const Kind& kind : kinds()) {
    Decoder decoder(kind.downstream);
    fail_unless_equals_int(decoder.push(kind.picture), GST_FLOW_ERROR);
    fail_unless_equals_int(decoder.count(), 0);
    kind.expect_in(decoder.message(GST_MESSAGE_ERROR));
  }
}

// What downstream accepts is negotiated anew.
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

// The bin, several threads, and files one after the other.
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

}  // namespace
