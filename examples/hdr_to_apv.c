// Encodes HDR frames to an .apv file: pixels through appsrc, colors and light through caps, and
// what the encoder has done from its statistics.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: hdr_to_apv WIDTH HEIGHT FRAMES_PER_SECOND KBIT_PER_SECOND FILE.apv <FRAMES
//
// FRAMES are I422_10LE without padding, one after the other, as
// `ffmpeg -pix_fmt yuv422p10le -f rawvideo` writes them. Outside of this tree:
//   cc hdr_to_apv.c $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-video-1.0)
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>

// A PQ master: BT.2020 primaries with the white point D65 in 1/50000, luminance from 0.005 to 1000
// cd/m2 in 1/10000; the brightest sample has 1000 cd/m2, the brightest frame 400 on average.
static GstCaps* hdr_caps(int width, int height, int rate) {
  return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "I422_10LE", "width",
                             G_TYPE_INT, width, "height", G_TYPE_INT, height, "framerate",
                             GST_TYPE_FRACTION, rate, 1, "colorimetry", G_TYPE_STRING, "bt2100-pq",
                             "mastering-display-info", G_TYPE_STRING,
                             "35400:14600:8500:39850:6550:2300:15635:16450:10000000:50",
                             "content-light-level", G_TYPE_STRING, "1000:400", NULL);
}

// Fills a mapped frame, whose rows may be padded. Returns the bytes read.
static size_t read_planes(GstVideoFrame* frame) {
  size_t total = 0;
  for (int plane = 0; plane < 3; plane++) {
    const size_t row_bytes = 2 * (size_t)GST_VIDEO_FRAME_COMP_WIDTH(frame, plane);
    guint8* row = GST_VIDEO_FRAME_PLANE_DATA(frame, plane);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(frame, plane); y++) {
      const size_t got = fread(row, 1, row_bytes, stdin);
      total += got;
      if (got < row_bytes) return total;
      row += GST_VIDEO_FRAME_PLANE_STRIDE(frame, plane);
    }
  }
  return total;
}

typedef struct {
  GstVideoInfo info;
  guint64 frames;  // that were read
  size_t rest;     // bytes of half a frame behind them
} Input;

// appsrc requests the next frame, on its own thread.
static void on_need_data(GstAppSrc* source, guint length, gpointer user_data) {
  (void)length;
  Input* input = user_data;
  const GstVideoInfo* info = &input->info;
  const size_t whole = 4 * (size_t)info->width * (size_t)info->height;
  GstBuffer* buffer = gst_buffer_new_allocate(NULL, info->size, NULL);
  GstVideoFrame frame;
  size_t got = 0;
  if (gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE)) {
    got = read_planes(&frame);
    gst_video_frame_unmap(&frame);
  }
  if (got < whole) {
    input->rest = got;
    gst_buffer_unref(buffer);
    gst_app_src_end_of_stream(source);
    return;
  }
  const guint64 rate = (guint64)info->fps_n;
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(input->frames++, GST_SECOND, rate);
  GST_BUFFER_DURATION(buffer) = GST_SECOND / rate;
  gst_app_src_push_buffer(source, buffer);  // takes the buffer
}

// Waits until the file is complete. FALSE after an error, which it prints.
static gboolean wait_for_end(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const gboolean ok = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  if (!ok) {
    GError* error = NULL;
    gst_message_parse_error(message, &error, NULL);
    fprintf(stderr, "%s\n", error->message);
    g_error_free(error);
  }
  gst_message_unref(message);
  gst_object_unref(bus);
  return ok;
}

static void print_statistics(GstElement* encoder, int rate) {
  GstStructure* stats = NULL;
  g_object_get(encoder, "stats", &stats, NULL);
  guint64 frames = 0, bytes = 0, oversized = 0;
  int qp = 0;
  gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "bytes", G_TYPE_UINT64, &bytes,
                    "oversized-frames", G_TYPE_UINT64, &oversized, "last-qp", G_TYPE_INT, &qp,
                    NULL);
  gst_structure_free(stats);
  const double seconds = (double)frames / rate;
  printf("%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
         " bytes, %.0f kbit/s, last QP %d, %" G_GUINT64_FORMAT " oversized\n",
         frames, bytes, frames > 0 ? 8e-3 * (double)bytes / seconds : 0, qp, oversized);
}

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const int width = argc == 6 ? atoi(argv[1]) : 0, height = argc == 6 ? atoi(argv[2]) : 0;
  const int rate = argc == 6 ? atoi(argv[3]) : 0, kbits = argc == 6 ? atoi(argv[4]) : 0;
  if (width <= 0 || width % 2 != 0 || height <= 0 || rate <= 0 || kbits <= 0) {
    fprintf(stderr, "usage: %s WIDTH HEIGHT FRAMES_PER_SECOND KBIT_PER_SECOND FILE.apv <FRAMES\n",
            argv[0]);
    return 2;
  }
  GError* error = NULL;
  GstElement* pipeline = gst_parse_launch(
      "appsrc name=source format=time ! cudaapvenc name=encoder ! filesink name=file", &error);
  if (error != NULL) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  GstElement* encoder = gst_bin_get_by_name(GST_BIN(pipeline), "encoder");
  GstElement* file = gst_bin_get_by_name(GST_BIN(pipeline), "file");
  GstCaps* caps = hdr_caps(width, height, rate);
  Input input = {.frames = 0};
  if (!gst_video_info_from_caps(&input.info, caps)) {
    fprintf(stderr, "no frames of %dx%d at %d/s\n", width, height, rate);
    return 1;
  }
  g_object_set(source, "caps", caps, NULL);
  g_object_set(encoder, "bitrate", (guint)kbits, NULL);
  g_object_set(file, "location", argv[5], NULL);
  GstAppSrcCallbacks callbacks = {.need_data = on_need_data};
  gst_app_src_set_callbacks(GST_APP_SRC(source), &callbacks, &input, NULL);

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const gboolean ok = wait_for_end(pipeline);
  if (ok) print_statistics(encoder, rate);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  if (input.rest > 0)
    fprintf(stderr, "the last frame has %zu bytes, which were left out\n", input.rest);

  gst_caps_unref(caps);
  gst_object_unref(file);
  gst_object_unref(encoder);
  gst_object_unref(source);
  gst_object_unref(pipeline);
  return !ok || input.rest > 0;
}
