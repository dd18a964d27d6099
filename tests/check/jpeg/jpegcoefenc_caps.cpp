// Caps of jpegcoefenc: the negotiated, the refused, and those that cause a warning; and buffers
// that contradict theirs, or hold quantized coefficients that JPEG cannot.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

CHECK_TEST(test_refused_caps) {
  GstHarness* h = gst_harness_new_parse(encoder().c_str());
  const char* const kGood =
      "video/x-dct,format=S16LE,layout=block,order=raster,quantized=true,depth=8,"
      "sampling=YCbCr-4:2:0,colorspace=sYUV,width=64,height=40,framerate=25/1";
  const char* const bad[] = {"depth=10",     "order=zigzag",    "layout=plane", "quantized=false",
                             "format=S32LE", "colorspace=GRAY", "width=65501",  "height=65501"};
  g_autoptr(GstCaps) good = gst_caps_from_string(kGood);
  fail_unless(gst_pad_peer_query_accept_caps(h->srcpad, good));
  for (const char* change : bad) {
    // A structure without a name: the field alone.
    g_autoptr(GstStructure) field =
        gst_structure_from_string((std::string("x,") + change).c_str(), nullptr);
    g_autoptr(GstCaps) caps = gst_caps_copy(good);
    const char* name = gst_structure_nth_field_name(field, 0);
    gst_caps_set_value(caps, name, gst_structure_get_value(field, name));
    fail_if(gst_pad_peer_query_accept_caps(h->srcpad, caps), "%s is accepted", change);
  }
  gst_harness_teardown(h);
  // Names and factors of samplings are read, not negotiated.
  for (const char* wrong : {"RGB", "YCbCr-4:1:0", "YCbCr-5x1,1x1,1x1", "YCbCr-2x2,2x2,2x2"}) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(kGood);
    gst_caps_set_simple(caps, "sampling", G_TYPE_STRING, wrong, nullptr);
    g_autoptr(GstHarness) fresh = new_harness(encoder());
    gst_harness_set_src_caps(fresh, static_cast<GstCaps*>(g_steal_pointer(&caps)));
    const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
    fail_if(gst_harness_push(fresh, make_qcoefs(info, 1)) == GST_FLOW_OK, "%s is accepted", wrong);
  }

  const std::string ten_bits =
      run_pipeline("videotestsrc num-buffers=1 ! video/x-raw,format=I420_10LE ! " + forward() +
                   " ! " + encoder() + " ! fakesink");
  fail_unless(contains(ten_bits, "could not link") || contains(ten_bits, "not-negotiated"), "%s",
              ten_bits.c_str());
}

struct Warnings {
  int count = 0;
  std::string text, caps;
};

// Runs the pipeline to EOS and counts the warnings of the element "e"; `caps` are those of its sink
// pad.
Warnings warnings_of(const std::string& source, const std::string& settings = "",
                     const std::string& behind = "fakesink") {
  Warnings result;
  const std::string line =
      source + " ! " + forward() + " ! " + encoder("name=e " + settings) + " ! " + behind;
  g_autoptr(GstElement) pipeline = gst_parse_launch(line.c_str(), nullptr);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (bool done = false; !done;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, 20 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
    fail_unless(message != nullptr, "timeout: %s", source.c_str());
    fail_if(GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR, "%s", source.c_str());
    done = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING &&
        std::string(GST_MESSAGE_SRC_NAME(message)) == "e") {
      result.count++;
      result.text = report_of(message).text;
    }
  }
  g_autoptr(GstElement) e = gst_bin_get_by_name(GST_BIN(pipeline), "e");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(e, "sink");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  g_autofree gchar* text = gst_caps_to_string(caps);
  result.caps = text;
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return result;
}

CHECK_TEST(test_colorimetry) {
  // If the upstream element can choose, it makes the format that JPEG implies.
  for (const char* source : {"videotestsrc num-buffers=3",
                             "videotestsrc num-buffers=3 ! video/x-raw,format=BGRx ! videoconvert "
                             "! video/x-raw,format=I420"}) {
    const Warnings none = warnings_of(source);
    fail_unless_equals_int(none.count, 0);
    fail_unless(contains(none.caps, "colorimetry=(string)1:4:0:0"), "%s", none.caps.c_str());
  }
  const struct {
    const char* raw;
    int warnings;
  } cases[] = {{"format=I420,colorimetry=bt709", 1},   {"format=Y444,colorimetry=bt601", 0},
               {"format=I420,colorimetry=2:4:7:1", 0}, {"format=I420,colorimetry=1:3:5:1", 1},
               {"format=I420,colorimetry=1:4:7:1", 0}, {"format=GRAY8", 0},
               {"format=GRAY8,colorimetry=bt709", 0},  {"format=GBR", 0}};
  for (const auto& one : cases) {
    const Warnings found =
        warnings_of(std::string("videotestsrc num-buffers=3 ! video/x-raw,") + one.raw);
    fail_unless(found.count == one.warnings, "%s: %d warnings", one.raw, found.count);
    if (one.warnings == 0) continue;
    fail_unless(contains(found.text, "videoconvert ! video/x-raw,colorimetry=1:4:0:0"), "%s",
                found.text.c_str());
  }
}

// An RTP payloader takes the caps of any JPEG file, but its packets have no Huffman tables.
CHECK_TEST(test_rtp) {
  GstElementFactory* factory = gst_element_factory_find("rtpjpegpay");
  if (!factory) return;
  gst_object_unref(factory);
  const struct {
    const char *settings, *behind;
    int warnings;
  } cases[] = {{"", "rtpjpegpay ! fakesink", 0},
               {"restart-interval=4", "rtpjpegpay ! fakesink", 0},
               {"optimize=true", "rtpjpegpay name=sender ! fakesink", 1},
               {"arithmetic=true", "rtpjpegpay name=sender ! fakesink", 1},
               {"progressive=true", "queue ! identity ! rtpjpegpay name=sender ! fakesink", 1},
               {"optimize=true", "queue ! fakesink", 0},
               {"optimize=true", "jpegparse ! avimux ! fakesink", 0}};
  for (const auto& one : cases) {
    const Warnings found = warnings_of("videotestsrc num-buffers=3", one.settings, one.behind);
    fail_unless(found.count == one.warnings, "%s ! %s: %d warnings", one.settings, one.behind,
                found.count);
    if (one.warnings == 0) continue;
    fail_unless(contains(found.text, "incompatible with sender") && contains(found.text, "Huffman"),
                "%s", found.text.c_str());
  }
}

// Caps that differ from earlier ones in colorimetry alone are checked, too. One warning in a stream
// is enough.
CHECK_TEST(test_new_colorimetry) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  const struct {
    const char *first, *second;  // null: none
    int warnings;
  } cases[] = {{"1:4:0:0", "bt709", 1},
               {"bt709", "bt601", 1},
               {"1:4:0:0", "1:4:7:1", 0},
               {nullptr, "what is this", 1}};
  for (const auto& one : cases) {
    g_autoptr(GstHarness) h = gst_harness_new_parse(encoder("n-threads=3").c_str());
    const Messages bus(h->element);
    guint number = 0;
    for (const char* colorimetry : {one.first, one.second}) {
      GstCaps* caps = gst_dct_info_to_caps(&info);
      if (colorimetry)
        gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, colorimetry, nullptr);
      gst_harness_set_src_caps(h, caps);
      for (int i = 0; i < 4; i++)
        fail_unless_equals_int(gst_harness_push(h, numbered(info, number++)), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    check_output(h, info, 0, number);
    const auto warnings = static_cast<int>(take_messages(bus, GST_MESSAGE_WARNING).size());
    fail_unless(warnings == one.warnings, "%s: %d warnings", one.second, warnings);
  }
}

// Caps that downstream requests reach the source.
CHECK_TEST(test_downstream_caps) {
  const Warnings found = warnings_of("videotestsrc num-buffers=1 ! video/x-raw,format=Y42B");
  fail_unless(contains(found.caps, "YCbCr-4:2:2"), "%s", found.caps.c_str());
  for (const char* sampling : {"YCbCr-4:4:4", "YCbCr-4:1:1", "GRAYSCALE", "RGB"}) {
    run_well("videotestsrc num-buffers=1 ! " + forward() + " ! " + encoder() +
             " ! image/jpeg,width=52,height=36,sampling=" + sampling + " ! fakesink");
  }
}

CHECK_TEST(test_caps_fields) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(encoder("n-threads=1").c_str());
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_422, 40, 24);
  GstCaps* caps = gst_dct_info_to_caps(&info);
  gst_caps_set_simple(caps, "pixel-aspect-ratio", GST_TYPE_FRACTION, 12, 11, "interlace-mode",
                      G_TYPE_STRING, "interleaved", "colorimetry", G_TYPE_STRING, "1:4:0:0",
                      "framerate", GST_TYPE_FRACTION, 30, 1, nullptr);
  gst_harness_set_src_caps(h, caps);
  gst_harness_push(h, numbered(info, 0));
  g_autoptr(GstCaps) found = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(GstCaps) expected = gst_caps_from_string(
      "image/jpeg,width=40,height=24,framerate=30/1,pixel-aspect-ratio=12/11,parsed=true,"
      "interlace-mode=interleaved,colorimetry=1:4:0:0,sampling=YCbCr-4:2:2,colorspace=sYUV");
  fail_unless(gst_caps_is_subset(found, expected), "other fields");
}

CHECK_TEST(test_promises) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  g_autoptr(GstHarness) h = encoder_harness(info);
  for (const GType api : {GST_DCT_META_API_TYPE, GST_COEF_FENCE_API_TYPE})
    fail_unless(lists_meta(h, gst_dct_info_to_caps(&info), api), "%s", g_type_name(api));
}

using Bytes = std::vector<guint8>;

// The text of the error on the bus, which the stream has.
std::string stream_error(GstBus* bus) {
  const std::vector<Report> errors = take_messages(bus, GST_MESSAGE_ERROR);
  fail_unless(errors.size() == 1 && errors[0].domain == GST_STREAM_ERROR);
  return errors[0].text;
}

struct BadQcoef {
  guint k;           // of the coefficient
  gint16 qcoefs[2];  // of the first two blocks
  const char* text;  // of the error
};

constexpr BadQcoef kBadQcoefs[] = {
    {1, {1024, 0}, "coefficient 1024 at (0, 1) of block (0, 0)"},
    {63, {0, -1024}, "coefficient -1024 at (7, 7) of block (0, 1)"},
    {8, {32767, 0}, "coefficient 32767"},
    {8, {-32768, 0}, "coefficient -32768"},
    {0, {1024, -1024}, "DC coefficients -1024 to 1024"},
    {0, {2047, -1}, "DC coefficients "},
    {0, {2048, 2048}, "to 2048 of component"},
    {0, {16383, -16384}, "DC coefficients -16384 to 16383"},
    {0, {-32768, 32767}, "DC coefficients -32768 to 32767"},
};

CHECK_LOOP_TEST(test_qcoefs_out_of_range, 0, G_N_ELEMENTS(kBadQcoefs)) {
  const BadQcoef& bad = kBadQcoefs[__i__];
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  for (const char* options : {"", "optimize=true", "progressive=true", "arithmetic=true",
                              "arithmetic=true progressive=true", "restart-interval=1000"}) {
    for (const guint component : {0u, 2u}) {
      g_autoptr(GstHarness) h = encoder_harness(info, options);
      const Messages bus(h->element);
      GstBuffer* buffer = make_qcoefs(info, 1);
      for (guint block = 0; block < 2; block++)
        set_qcoef(info, buffer, component, block, bad.k, bad.qcoefs[block]);
      fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
      const std::string text = stream_error(bus);
      fail_unless(contains(text, bad.text), "%s: %s", options, text.c_str());
    }
  }
}

// The largest quantized coefficients that there are, and DC quantized coefficients that no 8-bit
// samples have.
CHECK_TEST(test_large_qcoefs) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  g_autoptr(GstHarness) h = encoder_harness(info);
  for (const gint16 dc : {-1024, 1023, 2047, -2047}) {
    GstBuffer* buffer = make_qcoefs(info, 2);
    gst_buffer_memset(buffer, 0, 0, info.size);
    for (guint k = 0; k < 64; k++) {
      set_qcoef(info, buffer, 0, 3, k, k % 2 ? 1023 : -1023);
      set_qcoef(info, buffer, 1, 3, k, k % 2 ? -1023 : 1023);
    }
    set_qcoef(info, buffer, 0, 3, 0, dc);
    const JpegFile expected = qcoefs_of(info, buffer);
    const Bytes file = encode(h, buffer);
    fail_unless(difference(read_jpeg(file), expected).empty(), "DC %d", dc);
  }
}

// A buffer contradicts its caps. Earlier buffers are output, and after NULL the element works
// again.
CHECK_TEST(test_bad_buffers) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 64, 40);
  for (int kind = 0; kind < 5; kind++) {
    g_autoptr(GstHarness) h = harness_with("n-threads=7", info);
    const Messages bus(h->element);
    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int(gst_harness_push(h, numbered(info, i)), GST_FLOW_OK);
    GstBuffer* bad = numbered(info, 3);
    GstDctMeta* meta = gst_buffer_get_dct_meta(bad);
    if (kind == 0) gst_buffer_remove_meta(bad, &meta->meta);
    if (kind == 1) gst_buffer_set_size(bad, static_cast<gssize>(info.size) - 1);
    if (kind == 2) meta->components[1].offset = info.size;
    if (kind == 3) meta->tables[1] = {};
    if (kind == 4) meta->n_components = 4;
    fail_unless_equals_int(gst_harness_push(h, bad), GST_FLOW_ERROR);
    const std::string text = stream_error(bus);
    fail_unless(contains(text, "Failed to encode JPEG"), "%s", text.c_str());
    if (kind == 4) fail_unless(contains(text, "4 components in the meta, expected 3"));
    check_output(h, info, 0, 3);

    gst_element_set_state(h->element, GST_STATE_NULL);
    gst_element_set_state(h->element, GST_STATE_PLAYING);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    g_autoptr(GstCaps) caps = gst_dct_info_to_caps(&info);
    gst_harness_push_event(h, gst_event_new_stream_start("again"));
    gst_harness_push_event(h, gst_event_new_caps(caps));
    gst_harness_push_event(h, gst_event_new_segment(&segment));
    for (guint i = 4; i < 6; i++)
      fail_unless_equals_int(gst_harness_push(h, numbered(info, i)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    check_output(h, info, 4, 2);
  }
}

}  // namespace
