// Data that travels with a frame through both elements: timestamps, flags, metas about the picture;
// and data that must not: metas about the memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

void decorate(GstBuffer* buffer) {
  GST_BUFFER_PTS(buffer) = 7 * GST_SECOND + 1;
  GST_BUFFER_DTS(buffer) = 6 * GST_SECOND + 2;
  GST_BUFFER_DURATION(buffer) = 41708333;
  GST_BUFFER_OFFSET(buffer) = 175;
  GST_BUFFER_OFFSET_END(buffer) = 176;
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_TFF);
  gst_buffer_add_video_time_code_meta_full(buffer, 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE,
                                           1, 2, 3, 4, 0);
  g_autoptr(GstCaps) reference = gst_caps_new_empty_simple("timestamp/x-unix");
  gst_buffer_add_reference_timestamp_meta(buffer, reference, 123456789, 40);
  gst_buffer_add_video_region_of_interest_meta(buffer, "face", 1, 2, 3, 4);
  gst_buffer_add_video_caption_meta(buffer, GST_VIDEO_CAPTION_TYPE_CEA608_RAW,
                                    reinterpret_cast<const guint8*>("ab"), 2);
  gst_buffer_add_video_affine_transformation_meta(buffer);
}

void check_decorated(GstBuffer* buffer) {
  fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), 7 * GST_SECOND + 1);
  fail_unless_equals_uint64(GST_BUFFER_DTS(buffer), 6 * GST_SECOND + 2);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(buffer), 41708333);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(buffer), 175);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET_END(buffer), 176);
  fail_unless(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT));
  fail_unless(GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_TFF));
  GstVideoTimeCodeMeta* tc = gst_buffer_get_video_time_code_meta(buffer);
  fail_unless(tc != nullptr, "the time code is lost");
  fail_unless_equals_int(tc->tc.hours, 1);
  fail_unless_equals_int(tc->tc.frames, 4);
  GstReferenceTimestampMeta* reference = gst_buffer_get_reference_timestamp_meta(buffer, nullptr);
  fail_unless(reference != nullptr, "the reference timestamp is lost");
  fail_unless_equals_uint64(reference->timestamp, 123456789);
  auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_get_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  fail_unless(roi != nullptr, "the region of interest is lost");
  fail_unless_equals_int(roi->x, 1);
  fail_unless_equals_int(roi->h, 4);
  fail_unless(gst_buffer_get_video_caption_meta(buffer) != nullptr, "the caption is lost");
  fail_unless(gst_buffer_get_video_affine_transformation_meta(buffer) != nullptr,
              "the orientation is lost");
}

GstBuffer* decorated_frame(const GstVideoInfo& info) {
  GstBuffer* frame = make_frame(info);
  gst_buffer_add_video_meta(frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                            static_cast<guint>(info.width), static_cast<guint>(info.height));
  decorate(frame);
  return frame;
}

CHECK_TEST(test_forward) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 32, 24);
  g_autoptr(GstHarness) h = harness_of(forward(), info);
  gst_harness_push(h, decorated_frame(info));
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  check_decorated(out);
  fail_unless(gst_buffer_get_video_meta(out) == nullptr, "coefficients with a GstVideoMeta");
  GstDctMeta* meta = gst_buffer_get_dct_meta(out);
  fail_unless(meta != nullptr);
  fail_unless_equals_int(meta->n_components, 3);
  fail_unless_equals_int(meta->n_tables, 2);
  fail_unless(gst_buffer_get_coef_reference_meta(out) == nullptr, "keep-reference is off");
}

CHECK_TEST(test_both) {
  for (const char* between : {"", " ! identity", " ! queue", " ! tee"}) {
    const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_NV12, 31, 23);
    g_autoptr(GstHarness) h =
        harness_of(forward("keep-reference=true") + between + " ! " + inverse(), info);
    gst_harness_push(h, decorated_frame(info));
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    check_decorated(out);
    fail_unless(gst_buffer_get_dct_meta(out) == nullptr, "raw video with a GstDctMeta");
    fail_unless(gst_buffer_get_coef_reference_meta(out) == nullptr);
  }
}

// The coefficients hold the source, and nothing does once they are freed.
CHECK_TEST(test_keep_reference) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 32, 24);
  GstHarness* h = harness_of(forward("keep-reference=true"), info);
  g_autoptr(GstBuffer) in = make_frame(info);
  gst_harness_push(h, gst_buffer_ref(in));
  GstBuffer* out = gst_harness_pull(h);
  GstCoefReferenceMeta* meta = gst_buffer_get_coef_reference_meta(out);
  fail_unless(meta != nullptr);
  fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&meta->info), GST_VIDEO_FORMAT_I420);
  fail_unless_equals_int(meta->info.width, 32);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
  ASSERT_BUFFER_REFCOUNT(in, "source", 1);
}

// Strides other than the width, and planes in another order than in caps.
CHECK_TEST(test_video_meta) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 37, 21);
  GstVideoInfo padded = info;
  padded.stride[0] = 64;
  padded.stride[1] = padded.stride[2] = 48;
  padded.offset[2] = 16;
  padded.offset[1] = padded.offset[2] + 48 * 11;
  padded.offset[0] = padded.offset[1] + 48 * 11;
  padded.size = padded.offset[0] + 64 * 21;
  g_autoptr(GstBuffer) frame = make_frame(padded);
  gst_buffer_add_video_meta_full(frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 37, 21, 3,
                                 padded.offset, padded.stride);
  g_autoptr(GstHarness) h = harness_of(
      forward("quality=100") + " ! " + inverse() + " ! capsfilter caps=video/x-raw", info);
  gst_harness_push(h, gst_buffer_ref(frame));
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  fail_unless(largest_difference(info, frame, out) <= 3);
}

// One frame in several memories, as a V4L2 source may deliver it.
CHECK_TEST(test_several_memories) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 40, 24);
  g_autoptr(GstBuffer) whole = make_frame(info);
  GstBuffer* split = gst_buffer_new();
  const gsize ends[] = {0, info.offset[1], info.offset[2], info.size};
  for (int p = 0; p < 3; p++) {
    GstMemory* part = gst_allocator_alloc(nullptr, ends[p + 1] - ends[p], nullptr);
    GstMapInfo map;
    gst_memory_map(part, &map, GST_MAP_WRITE);
    gst_buffer_extract(whole, ends[p], map.data, map.size);
    gst_memory_unmap(part, &map);
    gst_buffer_append_memory(split, part);
  }
  gst_buffer_add_video_meta(split, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 40, 24);
  g_autoptr(GstHarness) h = harness_of(
      forward("quality=100") + " ! " + inverse() + " ! capsfilter caps=video/x-raw", info);
  g_autoptr(GstBuffer) out = passed(h, split);
  fail_unless(largest_difference(info, whole, out) <= 3);
}

// The inverse reads GstDctMeta and waits for fences; the forward, whose frames are raw, lists
// neither.
CHECK_TEST(test_promises) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, 8, GST_COEF_SAMPLING_420, 32, 24,
                               nullptr));
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_I420, 32, 24);
  g_autoptr(GstHarness) reader = gst_harness_new_parse(inverse().c_str());
  gst_harness_set_src_caps(reader, gst_dct_info_to_caps(&info));
  g_autoptr(GstHarness) writer = harness_of(forward(), raw);
  for (const GType api : {GST_DCT_META_API_TYPE, GST_COEF_FENCE_API_TYPE}) {
    fail_unless(lists_meta(reader, gst_dct_info_to_caps(&info), api), "%s", g_type_name(api));
    fail_if(lists_meta(writer, video_caps(raw), api), "%s", g_type_name(api));
  }
}

}  // namespace
