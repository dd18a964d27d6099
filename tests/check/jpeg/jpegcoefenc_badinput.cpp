// Levels that JPEG cannot hold and buffers that contradict their caps: errors, never crashes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using testing::check_output;
using testing::contains;
using testing::harness_with;
using testing::JpegFile;
using testing::numbered;
using Bytes = std::vector<guint8>;

// The first error on the bus, "" without one.
std::string first_error(GstBus* bus, GQuark* domain) {
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  if (message == nullptr) return "";
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string text = error->message;
  *domain = error->domain;
  g_error_free(error);
  gst_message_unref(message);
  return text;
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

GST_START_TEST(test_levels_out_of_range) {
  const BadLevel& bad = kBadLevels[__i__];
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 64, 40);
  for (const char* options : {"", "optimize=true", "progressive=true", "arithmetic=true",
                              "arithmetic=true progressive=true", "restart-interval=1000"}) {
    for (const guint component : {0u, 2u}) {
      GstHarness* h = testing::encoder_harness(info, options);
      GstBus* bus = gst_bus_new();
      gst_element_set_bus(h->element, bus);
      GstBuffer* buffer = testing::make_levels(info, 1);
      for (guint block = 0; block < 2; block++)
        testing::set_level(info, buffer, component, block, bad.k, bad.levels[block]);
      fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
      GQuark domain = 0;
      const std::string text = first_error(bus, &domain);
      fail_unless(domain == GST_STREAM_ERROR);
      fail_unless(contains(text, bad.text), "%s: %s", options, text.c_str());
      gst_element_set_bus(h->element, nullptr);
      gst_object_unref(bus);
      gst_harness_teardown(h);
    }
  }
}
GST_END_TEST;

// The largest levels that there are, and DC levels that no 8-bit samples have.
GST_START_TEST(test_large_levels) {
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 64, 40);
  GstHarness* h = testing::encoder_harness(info);
  for (const gint16 dc : {-1024, 1023, 2047, -2047}) {
    GstBuffer* buffer = testing::make_levels(info, 2);
    gst_buffer_memset(buffer, 0, 0, info.size);
    for (guint k = 0; k < 64; k++) {
      testing::set_level(info, buffer, 0, 3, k, k % 2 ? 1023 : -1023);
      testing::set_level(info, buffer, 1, 3, k, k % 2 ? -1023 : 1023);
    }
    testing::set_level(info, buffer, 0, 3, 0, dc);
    const JpegFile expected = testing::levels_of(info, buffer);
    const Bytes file = testing::encode(h, buffer);
    fail_unless(testing::difference(testing::read_jpeg(file), expected).empty(), "DC %d", dc);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

// A buffer that contradicts its caps. Those before it come out, and after NULL all is well again.
GST_START_TEST(test_bad_buffers) {
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_420, 64, 40);
  for (int kind = 0; kind < 5; kind++) {
    GstHarness* h = harness_with("n-threads=7", info);
    GstBus* bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
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
    GQuark domain = 0;
    const std::string text = first_error(bus, &domain);
    fail_unless(domain == GST_STREAM_ERROR && contains(text, "cannot be written"), "%s",
                text.c_str());
    if (kind == 4) fail_unless(contains(text, "4 components in the meta, expected 3"));
    check_output(h, info, 0, 3);

    gst_element_set_state(h->element, GST_STATE_NULL);
    gst_element_set_state(h->element, GST_STATE_PLAYING);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    GstCaps* caps = gst_dct_info_to_caps(&info);
    gst_harness_push_event(h, gst_event_new_stream_start("again"));
    gst_harness_push_event(h, gst_event_new_caps(caps));
    gst_harness_push_event(h, gst_event_new_segment(&segment));
    gst_caps_unref(caps);
    for (guint i = 4; i < 6; i++)
      fail_unless_equals_int(gst_harness_push(h, numbered(info, i)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    check_output(h, info, 4, 2);
    gst_element_set_bus(h->element, nullptr);
    gst_harness_teardown(h);
    gst_object_unref(bus);
  }
}
GST_END_TEST;

// What JPEG could hold and this element cannot yet.
GST_START_TEST(test_caps_of_a_fourth_component) {
  const GstDctInfo info = testing::levels_info(GST_COEF_SAMPLING_444, 64, 40);
  GstCaps* caps = gst_dct_info_to_caps(&info);
  gst_caps_set_simple(caps, "sampling", G_TYPE_STRING, "CMYK", "colorspace", G_TYPE_STRING, "CMYK",
                      nullptr);
  fail_unless(testing::refuses_caps("jpegcoefenc", caps));
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("jpegcoefenc-badinput");
  TCase* tc = tcase_create("stream");
  suite_add_tcase(suite, tc);
  tcase_add_loop_test(tc, test_levels_out_of_range, 0, G_N_ELEMENTS(kBadLevels));
  tcase_add_test(tc, test_large_levels);
  tcase_add_test(tc, test_bad_buffers);
  tcase_add_test(tc, test_caps_of_a_fourth_component);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
