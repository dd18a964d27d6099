// Frames in, coefficients out: prints the share of zeros and the mean DC of every component.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: coefficients WIDTH HEIGHT [QUALITY [BACKEND]] <FRAMES
//
// FRAMES are I420 without padding, one after the other, as `ffmpeg -pix_fmt yuv420p -f rawvideo`
// writes them. Outside of this tree, all that a program like this needs is
//   c++ coefficients.cpp $(pkg-config --cflags --libs gstreamer-coef-1.0 gstreamer-app-1.0)
// and, for coefficients that stay on the GPU, -DHAVE_GST_CUDA=1, the folder of the CUDA toolkit's
// headers and the package gstreamer-cuda-1.0. Without them they are requested in system memory.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/coef/coef.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#if HAVE_GST_CUDA
#if __has_include(<gst/cuda/gstcuda.h>)  // from GStreamer 1.24 on
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#endif
#endif

namespace {

// With (ANY) the element leaves coefficients on the device if it computes there. These caps fix all
// properties that the loops below rely on.
#if HAVE_GST_CUDA
constexpr char kCoefficients[] = "video/x-dct(ANY),format=S16LE,layout=block,quantized=true";
#else
constexpr char kCoefficients[] = "video/x-dct,format=S16LE,layout=block,quantized=true";
#endif

// Fills a mapped frame, whose rows may be padded, from standard input. Returns the bytes read.
size_t read_planes(GstVideoFrame* frame) {
  size_t total = 0;
  for (guint c = 0; c < 3; c++) {
    const auto width = static_cast<size_t>(GST_VIDEO_FRAME_COMP_WIDTH(frame, c));
    const auto stride = GST_VIDEO_FRAME_COMP_STRIDE(frame, c);
    auto* row = static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(frame, c));
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(frame, c); y++, row += stride) {
      const size_t got = fread(row, 1, width, stdin);
      total += got;
      if (got < width) return total;
    }
  }
  return total;
}

// appsrc requests the next frame, on its own thread.
void on_need_data(GstAppSrc* source, guint, gpointer user_data) {
  const auto* info = static_cast<const GstVideoInfo*>(user_data);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info->size, nullptr);
  size_t got = 0;
  GstVideoFrame frame;
  if (gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE)) {
    got = read_planes(&frame);
    gst_video_frame_unmap(&frame);
  }
  const size_t whole = static_cast<size_t>(GST_VIDEO_INFO_COMP_WIDTH(info, 0)) *
                           static_cast<size_t>(GST_VIDEO_INFO_COMP_HEIGHT(info, 0)) +
                       2 * static_cast<size_t>(GST_VIDEO_INFO_COMP_WIDTH(info, 1)) *
                           static_cast<size_t>(GST_VIDEO_INFO_COMP_HEIGHT(info, 1));
  if (got == whole) {
    gst_app_src_push_buffer(source, buffer);  // takes the buffer
    return;
  }
  gst_buffer_unref(buffer);
  if (got > 0) {
    GST_ELEMENT_ERROR(
        source, STREAM, WRONG_TYPE,
        ("the last frame has %" G_GSIZE_FORMAT " bytes; %" G_GSIZE_FORMAT " were expected", got,
         whole),
        (nullptr));
  }
  gst_app_src_end_of_stream(source);
}

void print_component(const GstDctMeta* meta, guint index, const guint8* data) {
  const GstDctComponent& component = meta->components[index];
  gsize zeros = 0;
  gint64 sum = 0;
  for (guint by = 0; by < component.blocks_h; by++) {
    const guint8* row = data + component.offset + by * component.stride;
    const auto* qcoefs = reinterpret_cast<const gint16*>(row);
    zeros += static_cast<gsize>(std::count(qcoefs, qcoefs + 64 * component.blocks_w, 0));
    // DC comes first, whether blocks are in raster or in zigzag order.
    for (guint bx = 0; bx < component.blocks_w; bx++) sum += GINT16_FROM_LE(qcoefs[64 * bx]);
  }
  const double blocks = static_cast<double>(component.blocks_w) * component.blocks_h;
  const guint16 step = meta->tables[component.table].values[0];
  const double mean = static_cast<double>(sum) * step / blocks;
  // DC is eight times the mean of the samples after 128 has been subtracted.
  g_print(
      "  component %u, %u x %u blocks: %.2f %% of the coefficients are 0, mean DC %.2f (mean "
      "sample "
      "%.2f)\n",
      index + 1, component.blocks_w, component.blocks_h,
      100 * static_cast<double>(zeros) / (64 * blocks), mean, 128 + mean / 8);
}

void print_components(const GstDctMeta* meta, const char* where, const guint8* data) {
  g_print("%s memory\n", where);
  for (guint c = 0; c < meta->n_components; c++) print_component(meta, c, data);
}

#if HAVE_GST_CUDA
// map.data is a device pointer here. A kernel would read it in place, in the buffer's context; this
// program copies the data. An appsink promises nothing about fences, so it receives complete
// coefficients.
bool print_on_device(GstBuffer* buffer, const GstDctMeta* meta) {
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_CUDA))) {
    return false;
  }
  std::vector<guint8> host(map.size);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(map.data);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host.data();
  copy.WidthInBytes = map.size;
  copy.Height = 1;
  GstCudaContext* context = GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context;
  bool copied = false;
  if (gst_cuda_context_push(context)) {
    copied = CuMemcpy2D(&copy) == CUDA_SUCCESS;
    gst_cuda_context_pop(nullptr);
  }
  gst_buffer_unmap(buffer, &map);
  if (copied) print_components(meta, "CUDA", host.data());
  return copied;
}
#endif

bool print_in_system_memory(GstBuffer* buffer, const GstDctMeta* meta) {
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) return false;
  print_components(meta, "system", map.data);
  gst_buffer_unmap(buffer, &map);
  return true;
}

// The caps hold for all buffers, the meta for this one.
bool print_sample(GstSample* sample, guint number) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  GstDctInfo info;
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  gchar* reason = nullptr;
  // After this check no offset, stride or index in the meta leads out of the buffer.
  if (meta == nullptr || !gst_dct_info_from_caps(&info, gst_sample_get_caps(sample), &reason) ||
      !gst_dct_meta_validate(meta, &info, gst_buffer_get_size(buffer), &reason)) {
    g_printerr("frame %u: %s\n", number, reason ? reason : "no GstDctMeta");
    g_free(reason);
    return false;
  }
  g_print("frame %u: %d x %d, %s, in ", number, info.width, info.height,
          gst_coef_sampling_to_string(info.sampling));
#if HAVE_GST_CUDA
  const bool on_device = gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0));
  const bool printed =
      on_device ? print_on_device(buffer, meta) : print_in_system_memory(buffer, meta);
#else
  const bool printed = print_in_system_memory(buffer, meta);
#endif
  if (!printed) g_printerr("memory that cannot be read\n");
  return printed;
}

// Prints an error that the pipeline has posted. Returns whether there was one.
bool print_error(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  if (message != nullptr) {
    GError* error = nullptr;
    gchar* debug = nullptr;
    gst_message_parse_error(message, &error, &debug);
    g_printerr("%s: %s\n", error->message, debug != nullptr ? debug : "");
    g_free(debug);
    g_error_free(error);
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  return message != nullptr;
}

// Plays to the end, printing every frame. `frames` describes standard input.
bool run(GstElement* pipeline, GstVideoInfo* frames) {
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "frames");
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "coefficients");
  GstCaps* caps = gst_video_info_to_caps(frames);
  gst_app_src_set_caps(GST_APP_SRC(source), caps);
  gst_caps_unref(caps);
  GstAppSrcCallbacks callbacks = {};
  callbacks.need_data = on_need_data;
  gst_app_src_set_callbacks(GST_APP_SRC(source), &callbacks, frames, nullptr);

  bool good = gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  for (guint number = 0; good; number++) {
    // Null at the end of the stream, which an error causes, too.
    GstSample* sample = gst_app_sink_pull_sample(GST_APP_SINK(sink));
    if (sample == nullptr) break;
    good = print_sample(sample, number);
    gst_sample_unref(sample);
  }
  if (print_error(pipeline)) good = false;
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(source);
  gst_object_unref(sink);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GstVideoInfo frames;
  const int width = argc > 2 ? atoi(argv[1]) : 0;
  const int height = argc > 2 ? atoi(argv[2]) : 0;
  if (argc > 5 || width < 1 || height < 1 ||
      !gst_video_info_set_format(&frames, GST_VIDEO_FORMAT_I420, static_cast<guint>(width),
                                 static_cast<guint>(height))) {
    g_printerr("usage: coefficients WIDTH HEIGHT [QUALITY [BACKEND]] <FRAMES\n");
    return 2;
  }
  gchar* line = g_strdup_printf(
      "appsrc name=frames format=time ! "
      "cudadct8x8 quality=%s backend=%s ! appsink name=coefficients sync=false caps=\"%s\"",
      argc > 3 ? argv[3] : "85", argc > 4 ? argv[4] : "auto", kCoefficients);
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line, &error);
  g_free(line);
  if (error != nullptr) {
    g_printerr("%s\n", error->message);
    g_error_free(error);
    gst_clear_object(&pipeline);
    return 1;
  }
  const bool good = run(pipeline, &frames);
  gst_object_unref(pipeline);
  return good ? 0 : 1;
}
