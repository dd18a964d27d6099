// Spreads streams over all CUDA devices of the host, and reports the frames per second of each.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: many_streams [--streams=N] [--devices=N] [--frames=N] [--width=N] [--height=N]
//                     [--backend=auto|cuda|cpu] [--memory=system|cuda] [--compare]
//
// Every stream is a pipeline of its own: a repeated frame, its coefficients, and frames made from
// those. Stream i runs on device i modulo the number of devices; without a device all run on the
// CPU. The repeated frame stays where cudaidct8x8 has left it, so that nothing is uploaded: in
// system memory that the GPU reads by itself, like the frames of a decoder that takes the proposed
// pool, or with --memory=cuda on the device.
// --compare plays all streams on device 0 first, then on all devices.
//
// Outside of this tree: c++ many_streams.cpp $(pkg-config --cflags --libs gstreamer-1.0)
#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Options {
  gint streams = 8, devices = G_MAXINT, frames = 500, width = 1920, height = 1080;
  gchar* backend = nullptr;
  gchar* memory = nullptr;
  gboolean compare = FALSE;
};

struct Stream {
  GstElement* pipeline = nullptr;
  int device = -1;
  std::atomic<bool> started = false;
  std::atomic<guint64> frames = 0;  // since then
  std::atomic<gint64> end = 0;      // the time of EOS
};

// A context for each device: asks elements for theirs until there is no further device. All streams
// of a device share it: work of several contexts takes turns on a device, work of one context
// overlaps.
std::vector<GstContext*> make_contexts(int most) {
  std::vector<GstContext*> contexts;
  for (bool found = true; found && static_cast<int>(contexts.size()) < most;) {
    GstElement* element = gst_element_factory_make("cudadct8x8", nullptr);
    if (!element) break;
    gst_object_ref_sink(element);
    gst_util_set_object_arg(G_OBJECT(element), "backend", "cuda");
    g_object_set(element, "cuda-device-id", static_cast<gint>(contexts.size()), nullptr);
    found = gst_element_set_state(element, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS;
    GstContext* context = found ? gst_element_get_context(element, "gst.cuda.context") : nullptr;
    found = context != nullptr;
    if (found) contexts.push_back(context);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
  }
  return contexts;
}

std::string line_of(const Options& options, int device) {
  const guint threads = std::max(1u, g_get_num_processors() / static_cast<guint>(options.streams));
  const std::string engine = device < 0 ? " backend=cpu n-threads=" + std::to_string(threads)
                                        : " backend=cuda cuda-device-id=" + std::to_string(device);
  const bool on_device = device >= 0 && g_strcmp0(options.memory, "cuda") == 0;
  const std::string both_ways = " ! cudadct8x8" + engine + " ! cudaidct8x8" + engine + " ! " +
                                (on_device ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw");
  return "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=" +
         std::to_string(options.width) + ",height=" + std::to_string(options.height) + both_ways +
         " ! imagefreeze num-buffers=" + std::to_string(options.frames) + both_ways +
         " ! fakesink name=sink sync=false enable-last-sample=false";
}

GstPadProbeReturn on_data(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto* stream = static_cast<Stream*>(data);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    stream->frames += stream->started;
  else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
    stream->end = g_get_monotonic_time();
  return GST_PAD_PROBE_OK;
}

// A pipeline that waits with its first frame at the sink. False, with a message, if it fails.
bool open(Stream* stream, const Options& options, const std::vector<GstContext*>& contexts) {
  GError* error = nullptr;
  stream->pipeline = gst_parse_launch(line_of(options, stream->device).c_str(), &error);
  if (error) {
    g_printerr("%s\n", error->message);
    g_error_free(error);
    return false;
  }
  if (stream->device >= 0)
    gst_element_set_context(stream->pipeline, contexts[static_cast<size_t>(stream->device)]);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(stream->pipeline), "sink");
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(
      pad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      on_data, stream, nullptr);
  gst_object_unref(pad);
  gst_object_unref(sink);
  gst_element_set_state(stream->pipeline, GST_STATE_PAUSED);
  return true;
}

// Waits for EOS, or in PAUSED for the first frame. False, with the message, after an error.
bool wait(Stream* stream, GstMessageType what) {
  GstBus* bus = gst_element_get_bus(stream->pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(what | GST_MESSAGE_ERROR));
  const bool good = GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR;
  if (!good) {
    GError* error = nullptr;
    gchar* debug = nullptr;
    gst_message_parse_error(message, &error, &debug);
    g_printerr("%s: %s\n", error->message, debug != nullptr ? debug : "");
    g_free(debug);
    g_error_free(error);
  }
  gst_message_unref(message);
  gst_object_unref(bus);
  return good;
}

void print_rates(const std::vector<std::unique_ptr<Stream>>& streams, gint64 begin, double* total) {
  guint64 frames = 0;
  gint64 end = begin + 1;
  for (size_t i = 0; i < streams.size(); i++) {
    const Stream& stream = *streams[i];
    frames += stream.frames;
    end = std::max<gint64>(end, stream.end);
    const double seconds = 1e-6 * static_cast<double>(std::max<gint64>(stream.end - begin, 1));
    const std::string where =
        stream.device < 0 ? "the CPU" : "device " + std::to_string(stream.device);
    g_print("stream %d on %s: %.1f frames/s\n", static_cast<int>(i), where.c_str(),
            static_cast<double>(stream.frames) / seconds);
  }
  *total = static_cast<double>(frames) / (1e-6 * static_cast<double>(end - begin));
  g_print("total: %.1f frames/s\n", *total);
}

// Plays all streams to their end, on the first `devices` devices.
bool play(const Options& options, const std::vector<GstContext*>& contexts, size_t devices,
          double* total) {
  std::vector<std::unique_ptr<Stream>> streams;
  bool good = true;
  for (int i = 0; good && i < options.streams; i++) {
    streams.push_back(std::make_unique<Stream>());
    if (devices > 0) streams.back()->device = i % static_cast<int>(devices);
    good = open(streams.back().get(), options, contexts);
  }
  for (auto& stream : streams) good = good && wait(stream.get(), GST_MESSAGE_ASYNC_DONE);
  const gint64 begin = g_get_monotonic_time();
  if (good) {
    for (auto& stream : streams) {
      stream->started = true;
      gst_element_set_state(stream->pipeline, GST_STATE_PLAYING);
    }
  }
  for (auto& stream : streams) good = good && wait(stream.get(), GST_MESSAGE_EOS);
  if (good) print_rates(streams, begin, total);
  for (auto& stream : streams) {
    if (!stream->pipeline) continue;
    gst_element_set_state(stream->pipeline, GST_STATE_NULL);
    gst_object_unref(stream->pipeline);
  }
  return good;
}

bool parse(int* argc, char*** argv, Options* options) {
  const GOptionEntry entries[] = {
      {"streams", 0, 0, G_OPTION_ARG_INT, &options->streams, "Streams (8)", "N"},
      {"devices", 0, 0, G_OPTION_ARG_INT, &options->devices, "At most so many devices", "N"},
      {"frames", 0, 0, G_OPTION_ARG_INT, &options->frames, "Frames of each stream (500)", "N"},
      {"width", 0, 0, G_OPTION_ARG_INT, &options->width, "Width of a frame (1920)", "N"},
      {"height", 0, 0, G_OPTION_ARG_INT, &options->height, "Height of a frame (1080)", "N"},
      {"backend", 0, 0, G_OPTION_ARG_STRING, &options->backend, "auto, cuda or cpu", "NAME"},
      {"memory", 0, 0, G_OPTION_ARG_STRING, &options->memory, "Of the frames: system or cuda",
       "NAME"},
      {"compare", 0, 0, G_OPTION_ARG_NONE, &options->compare, "Device 0 alone, then all", nullptr},
      {},
  };
  GOptionContext* context = g_option_context_new(nullptr);
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  GError* error = nullptr;
  bool good = g_option_context_parse(context, argc, argv, &error);
  if (!good) g_printerr("%s\n", error->message);
  g_clear_error(&error);
  g_option_context_free(context);
  if (good && (*argc > 1 || options->streams < 1 || options->devices < 1 || options->frames < 2)) {
    g_printerr("at least one stream, one device and two frames\n");
    good = false;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(&argc, &argv, &options)) return 2;
  const bool cpu = g_strcmp0(options.backend, "cpu") == 0;
  std::vector<GstContext*> contexts;
  if (!cpu) contexts = make_contexts(options.devices);
  bool good = cpu || !contexts.empty() || g_strcmp0(options.backend, "cuda") != 0;
  if (!good) g_printerr("no CUDA device\n");

  g_print("%d streams of %d frames of %d x %d, %d CUDA devices\n", options.streams, options.frames,
          options.width, options.height, static_cast<int>(contexts.size()));
  double one = 0, all = 0;
  if (good && options.compare && contexts.size() > 1) good = play(options, contexts, 1, &one);
  if (good) good = play(options, contexts, contexts.size(), &all);
  if (good && one > 0)
    g_print("%d devices: %.2f times the frames/s of one\n", static_cast<int>(contexts.size()),
            all / one);
  for (GstContext* context : contexts) gst_context_unref(context);
  g_free(options.backend);
  g_free(options.memory);
  return good ? 0 : 1;
}
