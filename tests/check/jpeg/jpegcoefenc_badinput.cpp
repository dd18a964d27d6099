// Levels that JPEG cannot hold and buffers that contradict their caps: errors, never crashes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

using Bytes = std::vector<guint8>;

// The text of the error on the bus, which the stream has.
std::string stream_error(GstBus* bus) {
  const std::vector<Told> errors = take_messages(bus, GST_MESSAGE_ERROR);
  fail_unless(errors.size() == 1 && errors[0].domain == GST_STREAM_ERROR);
  return errors[0].text;
}

struct BadLevel {
  guint k;           // of the coefficient
  gint16 levels[2];  // of the first two blocks
  const char* text;  // of the error
};

constexpr BadLevel kBadLevels[] = {
    {1, {1024, 0}, "level 1024 of coefficient (1, 0) of block (0, 0)"},
    {63, {0, -1024}, "level -1024 of coefficient (7, 7) of block (1, 0)"},
    {8, {32767, 0}, "level 32767"},
    {8, {-32768, 0}, "level -32768"},
    {0, {1024, -1024}, "DC levels from -1024 to 1024"},
    {0, {2047, -1}, "DC levels from "},
    {0, {2048, 2048}, "to 2048 of component"},
    {0, {16383, -16384}, "DC levels from -16384 to 16383"},
    {0, {-32768, 32767}, "DC levels from -32768 to 32767"},
};

CHECK_LOOP_TEST(test_levels_out_of_range, 0, G_N_ELEMENTS(kBadLevels)) {
  const BadLevel& bad = kBadLevels[__i__];
  const GstDctInfo info = levels_info(GST_COEF_SAMPLING_420, 64, 40);
  for (const char* options : {"", "optimize=true", "progressive=true", "arithmetic=true",
                              "arithmetic=true progressive=true", "restart-interval=1000"}) {
    for (const guint component : {0u, 2u}) {
      g_autoptr(GstHarness) h = encoder_harness(info, options);
      const Messages bus(h->element);
      GstBuffer* buffer = make_levels(info, 1);
      for (guint block = 0; block < 2; block++)
        set_level(info, buffer, component, block, bad.k, bad.levels[block]);
      fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
      const std::string text = stream_error(bus);
      fail_unless(contains(text, bad.text), "%s: %s", options, text.c_str());
    }
  }
}

// The largest levels that there are, and DC levels that no 8-bit samples have.
CHECK_TEST(test_large_levels) {
  const GstDctInfo info = levels_info(GST_COEF_SAMPLING_420, 64, 40);
  g_autoptr(GstHarness) h = encoder_harness(info);
  for (const gint16 dc : {-1024, 1023, 2047, -2047}) {
    GstBuffer* buffer = make_levels(info, 2);
    gst_buffer_memset(buffer, 0, 0, info.size);
    for (guint k = 0; k < 64; k++) {
      set_level(info, buffer, 0, 3, k, k % 2 ? 1023 : -1023);
      set_level(info, buffer, 1, 3, k, k % 2 ? -1023 : 1023);
    }
    set_level(info, buffer, 0, 3, 0, dc);
    const JpegFile expected = levels_of(info, buffer);
    const Bytes file = encode(h, buffer);
    fail_unless(difference(read_jpeg(file), expected).empty(), "DC %d", dc);
  }
}

// A buffer contradicts its caps. Earlier buffers come out, and after NULL all is well again.
CHECK_TEST(test_bad_buffers) {
  const GstDctInfo info = levels_info(GST_COEF_SAMPLING_420, 64, 40);
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
    if (kind == 3) meta->tables[1].values[63] = 0;
    if (kind == 4) meta->n_components = 4;
    fail_unless_equals_int(gst_harness_push(h, bad), GST_FLOW_ERROR);
    const std::string text = stream_error(bus);
    fail_unless(contains(text, "cannot be written"), "%s", text.c_str());
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
