// A pipeline of JPEG elements between a source that never runs dry and a sink that counts.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg/contestants.h"

#include <gst/app/gstappsrc.h>

#include <stdexcept>

namespace cudatransform::bench {
namespace {

GstBuffer* wrap(const std::vector<uint8_t>& bytes) {
  return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, const_cast<uint8_t*>(bytes.data()),
                                     bytes.size(), 0, bytes.size(), nullptr, nullptr);
}

}  // namespace

double JpegSet::file_bytes() const {
  size_t bytes = 0;
  for (const JpegPicture& picture : pictures) bytes += picture.file.size();
  return static_cast<double>(bytes) / static_cast<double>(pictures.size());
}

JpegPipeline::JpegPipeline(JpegJob job, const JpegSet& set, const std::string& elements)
    : job_(job), set_(set) {
  const std::string line = "appsrc name=source format=time max-bytes=0 ! " + elements +
                           " ! fakesink name=sink sync=false signal-handoffs=true";
  GError* error = nullptr;
  pipeline_ = gst_parse_launch(line.c_str(), &error);
  if (error) throw std::runtime_error(error->message);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline_), "sink");
  g_signal_connect(sink, "handoff",
                   G_CALLBACK(+[](GstElement*, GstBuffer*, GstPad*, JpegPipeline* self) {
                     self->arrivals_.push_back(Clock::now());
                   }),
                   this);
  gst_object_unref(sink);
  source_ = gst_bin_get_by_name(GST_BIN(pipeline_), "source");
  GstCaps* caps = gst_caps_from_string(
      job == JpegJob::kEncode ? "video/x-raw,format=I420,framerate=60/1,colorimetry=1:4:0:0"
                              : "image/jpeg,parsed=true,framerate=60/1");
  gst_caps_set_simple(caps, "width", G_TYPE_INT, set.width, "height", G_TYPE_INT, set.height,
                      nullptr);
  gst_app_src_set_caps(GST_APP_SRC(source_), caps);
  gst_caps_unref(caps);
}

JpegPipeline::~JpegPipeline() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_object_unref(source_);
  gst_object_unref(pipeline_);
}

void JpegPipeline::push(int number) {
  const JpegPicture& picture = set_.pictures[static_cast<size_t>(number) % set_.pictures.size()];
  GstBuffer* buffer = wrap(job_ == JpegJob::kEncode ? picture.i420 : picture.file);
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * GST_SECOND / 60;
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 60;
  gst_app_src_push_buffer(GST_APP_SRC(source_), buffer);
}

double JpegPipeline::turn(int frames, int skipped) {
  arrivals_.clear();
  arrivals_.reserve(static_cast<size_t>(frames + skipped));
  gst_element_set_state(pipeline_, GST_STATE_PAUSED);  // before, the source takes nothing
  for (int i = 0; i < frames + skipped; ++i) push(i);
  gst_app_src_end_of_stream(GST_APP_SRC(source_));
  gst_element_set_state(pipeline_, GST_STATE_PLAYING);
  wait_for_end();
  // READY keeps contexts and modules.
  gst_element_set_state(pipeline_, GST_STATE_READY);
  if (arrivals_.size() != static_cast<size_t>(frames + skipped))
    throw std::runtime_error("frames are missing");
  const auto begin = arrivals_[static_cast<size_t>(skipped) - 1];
  return std::chrono::duration<double>(arrivals_.back() - begin).count() / frames;
}

void JpegPipeline::wait_for_end() {
  GstBus* bus = gst_element_get_bus(pipeline_);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, 120 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_object_unref(bus);
  std::string fault = message ? "" : "no end after two minutes";
  if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gchar* debug = nullptr;
    gst_message_parse_error(message, &error, &debug);
    fault = error->message + std::string(": ") + (debug != nullptr ? debug : "");
    g_free(debug);
    g_error_free(error);
  }
  if (message) gst_message_unref(message);
  if (!fault.empty()) throw std::runtime_error(fault);
}

}  // namespace cudatransform::bench
