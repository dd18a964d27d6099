// cudadctflip with video-direction=auto: Exif data and tags; and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/video/video.h>

#include <cstring>

#include "tests/check/coeffilter/qcoefs.h"

namespace {

using namespace testing;

// Segments of Exif data in one byte order: an orientation, and a size in the Exif directory.
std::vector<guint8> exif_segment(bool little, int orientation) {
  std::vector<guint8> tiff;
  const auto put = [&](guint value, int size) {
    for (int i = 0; i < size; i++)
      tiff.push_back(static_cast<guint8>(value >> 8 * (little ? i : size - 1 - i)));
  };
  const auto entry = [&](guint tag, guint type, guint value) {
    put(tag, 2);
    put(type, 2);
    put(1, 4);
    put(value, type == 3 ? 2 : 4);
    if (type == 3) put(0, 2);
  };
  tiff.assign(2, little ? 'I' : 'M');
  put(42, 2);
  put(8, 4);
  put(2, 2);
  entry(0x112, 3, static_cast<guint>(orientation));
  entry(0x8769, 4, 38);
  put(0, 4);
  put(2, 2);
  entry(0xa002, 3, 75);
  entry(0xa003, 4, 44);
  put(0, 4);
  std::vector<guint8> segment = {0xff, 0xe1, 0, static_cast<guint8>(tiff.size() + 8), 'E', 'x', 'i',
                                 'f',  0,    0};
  segment.insert(segment.end(), tiff.begin(), tiff.end());
  return segment;
}

GBytes* segments_with(bool little, int orientation) {
  std::vector<guint8> all = {0xff, 0xfe, 0, 5, 'o', 'n', 'e'};
  const std::vector<guint8> exif = exif_segment(little, orientation);
  all.insert(all.end(), exif.begin(), exif.end());
  return g_bytes_new(all.data(), all.size());
}

// The picture's Exif data determine its direction, from one buffer to the next.
CHECK_TEST(test_auto_follows_exif) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  g_autoptr(GstHarness) h =
      new_harness(coef_filter("cudadctflip", "name=flip video-direction=auto") +
                  " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(h->element), "flip");
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  for (const bool little : {true, false})
    for (const Direction& direction : kDirections) {
      GstBuffer* in = make_qcoefs(info);
      g_autoptr(GBytes) segments = segments_with(little, direction.exif);
      gst_dct_jpeg_meta_set_trailing(gst_buffer_add_dct_jpeg_meta(in, segments), segments, nullptr,
                                     0);
      g_autoptr(GstBuffer) out = passed(h, in);
      const GstDctInfo made = current_info(h);
      fail_unless_equals_int(made.width, direction.transposes ? 44 : 75);
      g_autoptr(GstStructure) stats = stats_of(flip);
      fail_unless_equals_string(gst_structure_get_string(stats, "method"), direction.nick);
      const GstDctJpegMeta* meta = gst_buffer_get_dct_jpeg_meta(out);
      fail_unless(meta && meta->trailing && g_bytes_equal(meta->trailing, segments));
      const bool is_identity = direction.exif == 1;
      fail_unless_equals_int(out == in, is_identity);
      if (is_identity) continue;
      // Upright, with the new size; all else is as it was.
      gsize size = 0;
      const auto* bytes = static_cast<const guint8*>(g_bytes_get_data(meta->segments, &size));
      std::vector<guint8> expected = exif_segment(little, 1);
      if (direction.transposes) {
        guint8* entries = &expected[10 + 38 + 2];
        entries[little ? 8 : 9] = 44;
        entries[12 + (little ? 8 : 11)] = 75;
      }
      fail_unless_equals_uint64(size, 7 + expected.size());
      fail_unless(std::memcmp(bytes + 7, expected.data(), expected.size()) == 0);
    }
}

// What cannot follow the picture is dropped, and so is the stripe of partial MCUs that cannot be
// mirrored; each is reported once in a stream, and of each picture by the statistics.
CHECK_TEST(test_losses_are_reported_once) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  g_autoptr(GstHarness) h =
      new_harness(coef_filter("cudadctflip", "name=flip video-direction=auto") +
                  " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(h->element), "flip");
  const Messages bus(h->element);
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  for (int i = 0; i < 3; i++) {
    GstBuffer* in = make_qcoefs(info);
    g_autoptr(GBytes) segments = segments_with(true, i < 2 ? 3 : 1);
    g_autoptr(GBytes) behind = g_bytes_new_static("no image", 8);
    const GstDctJpegPlace place = {0, 8};
    gst_dct_jpeg_meta_set_trailing(gst_buffer_add_dct_jpeg_meta(in, segments), behind, &place, 1);
    g_autoptr(GstBuffer) out = passed(h, in);
    const GstDctJpegMeta* meta = gst_buffer_get_dct_jpeg_meta(out);
    fail_unless_equals_int(static_cast<int>(meta->n_attachments), i < 2 ? 0 : 1);
    g_autoptr(GstStructure) stats = stats_of(flip);
    fail_unless_equals_string(gst_structure_get_string(stats, "dropped-metadata"),
                              i < 2 ? "attachment 1 of 1" : nullptr);
    fail_unless_equals_string(gst_structure_get_string(stats, "unmirrored-edges"),
                              i < 2 ? "right and bottom edges" : nullptr);
  }
  const std::vector<Report> reported = take_messages(bus, GST_MESSAGE_WARNING);
  fail_unless_equals_int(static_cast<int>(reported.size()), 2);
  fail_unless(reported[0].text.find("attachment 1 of 1") != std::string::npos);
  fail_unless(reported[1].text.find("partial MCUs") != std::string::npos ||
              reported[1].text.find("Partial MCUs") != std::string::npos);
}

// A direction that the user sets leaves the orientation as it is.
CHECK_TEST(test_exif_stays_with_a_set_direction) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  g_autoptr(GstHarness) h = new_harness(coef_filter("cudadctflip", "video-direction=horiz") +
                                        " ! capsfilter caps=video/x-dct");
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  GstBuffer* in = make_qcoefs(info);
  g_autoptr(GBytes) segments = segments_with(true, 6);
  gst_buffer_add_dct_jpeg_meta(in, segments);
  gst_buffer_add_video_region_of_interest_meta(in, "face", 1, 2, 3, 4);
  g_autoptr(GstBuffer) out = passed(h, in);
  fail_unless(g_bytes_equal(gst_buffer_get_dct_jpeg_meta(out)->segments, segments));
  fail_if(gst_buffer_get_video_region_of_interest_meta_id(out, 0));
}

GstEvent* orientation_event(const char* orientation, GstTagScope scope) {
  GstTagList* tags = gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, orientation, nullptr);
  gst_tag_list_set_scope(tags, scope);
  return gst_event_new_tag(tags);
}

CHECK_TEST(test_auto_follows_tags) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  g_autoptr(GstHarness) h = new_harness(coef_filter("cudadctflip", "video-direction=auto") +
                                        " ! capsfilter caps=video/x-dct");
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  const struct {
    const char* orientation;
    GstTagScope scope;
    int width;
  } steps[] = {{"rotate-90", GST_TAG_SCOPE_GLOBAL, 44},
               {"rotate-180", GST_TAG_SCOPE_GLOBAL, 75},
               {"rotate-270", GST_TAG_SCOPE_STREAM, 44},
               {"rotate-0", GST_TAG_SCOPE_GLOBAL, 44}};  // the stream's tag is nearer
  for (const auto& step : steps) {
    gst_harness_push_event(h, orientation_event(step.orientation, step.scope));
    gst_buffer_unref(passed(h, make_qcoefs(info)));
    fail_unless_equals_int(current_info(h).width, step.width);
  }
  while (GstEvent* event = gst_harness_try_pull_event(h)) {
    if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) {
      GstTagList* tags = nullptr;
      gst_event_parse_tag(event, &tags);
      g_autofree gchar* reported = nullptr;
      fail_unless(gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &reported));
      fail_unless_equals_string(reported, "rotate-0");
    }
    gst_event_unref(event);
  }
}

// A tag list replaces the one before, even by nothing; a new stream has none, nor has a new start.
CHECK_LOOP_TEST(test_tags_are_forgotten, 0, 2) {
  const GstTagScope scope = __i__ ? GST_TAG_SCOPE_STREAM : GST_TAG_SCOPE_GLOBAL;
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, 75, 44);
  g_autoptr(GstHarness) h =
      new_harness(coef_filter("cudadctflip", "name=flip video-direction=auto") +
                  " ! capsfilter caps=video/x-dct");
  g_autoptr(GstElement) flip = gst_bin_get_by_name(GST_BIN(h->element), "flip");
  g_autoptr(GstPad) src = gst_element_get_static_pad(flip, "src");
  gst_harness_set_src_caps(h, qcoefs_caps(info));
  const auto next_width = [&] {
    gst_buffer_unref(passed(h, make_qcoefs(info)));
    return current_info(h).width;
  };
  gst_harness_push_event(h, orientation_event("rotate-90", scope));
  fail_unless_equals_int(next_width(), 44);
  GstTagList* title = gst_tag_list_new(GST_TAG_TITLE, "none", nullptr);
  gst_tag_list_set_scope(title, scope);
  gst_harness_push_event(h, gst_event_new_tag(title));
  fail_unless_equals_int(next_width(), 75);

  gst_harness_push_event(h, orientation_event("rotate-90", scope));
  fail_unless_equals_int(next_width(), 44);
  gst_harness_push_event(h, gst_event_new_stream_start("another"));
  fail_unless_equals_int(next_width(), 75);

  gst_harness_push_event(h, orientation_event("rotate-90", scope));
  fail_unless_equals_int(next_width(), 44);
  gst_element_set_state(h->element, GST_STATE_READY);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  g_autoptr(GstCaps) reported = gst_pad_query_caps(src, nullptr);
  gint width = 0;
  fail_unless(gst_structure_get_int(gst_caps_get_structure(reported, 0), "width", &width));
  fail_unless_equals_int(width, 75);
}

}  // namespace
