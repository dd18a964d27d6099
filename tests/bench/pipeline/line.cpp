// Elements between two pads of the benchmark's own, which push frames and take the output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/pipeline/line.h"

#include <time.h>

#include <algorithm>
#include <stdexcept>

#include <gst/coef/dct.h>
#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::bench {
namespace {

constexpr int kTileWidth = 960, kTileHeight = 544;  // the definition's pictures take long to make
constexpr size_t kBeyondCaches = size_t{256} << 20;

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace

std::vector<uint8_t> pipe_picture(const PipeSize& size) {
  static const test::Picture tile = test::make_picture(test::Sampling::k420, kTileWidth,
                                                       kTileHeight, 8, test::Content::kPhoto, 1);
  std::vector<uint8_t> picture;
  picture.reserve(size.frame_bytes());
  for (const test::Plane& plane : tile) {
    const int half = &plane == &tile[0] ? 1 : 2;
    for (int y = 0; y < size.height / half; ++y)
      for (int x = 0; x < size.width / half; ++x)
        picture.push_back(uint8_t(plane.at(x % plane.width, y % plane.rows)));
  }
  return picture;
}

size_t pipe_ring(const PipeSize& size) {
  if (size.ring > 0) return size.ring;
  return std::max<size_t>(4, kBeyondCaches / size.frame_bytes());
}

void Line::fail(const std::string& what) const {
  std::string text = what;
  GstBus* bus = gst_element_get_bus(pipeline_);
  if (GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR)) {
    GError* error = nullptr;
    gchar* debug = nullptr;
    gst_message_parse_error(message, &error, &debug);
    text += std::string(": ") + error->message + ": " + (debug != nullptr ? debug : "");
    g_free(debug);
    g_error_free(error);
    gst_message_unref(message);
  }
  gst_object_unref(bus);
  throw std::runtime_error(text);
}

void Line::connect(const std::string& elements, const std::string& sink_caps) {
  GError* error = nullptr;
  bin_ = gst_parse_bin_from_description(elements.c_str(), TRUE, &error);
  if (error) throw std::runtime_error(error->message);
  pipeline_ = gst_pipeline_new(nullptr);
  gst_bin_add(GST_BIN(pipeline_), bin_);
  sink_caps_ = gst_caps_from_string(sink_caps.c_str());
  src_ = gst_pad_new("bench-src", GST_PAD_SRC);
  sink_ = gst_pad_new("bench-sink", GST_PAD_SINK);
  gst_pad_set_element_private(sink_, this);
  gst_pad_set_chain_function(sink_, &Line::chain);
  gst_pad_set_event_function(sink_, &Line::event);
  gst_pad_set_query_function(sink_, &Line::query);
  for (const char* name : {"sink", "src"}) {
    GstPad* inner = gst_element_get_static_pad(bin_, name);
    GstPad *from = name[1] == 'i' ? src_ : inner, *to = name[1] == 'i' ? inner : sink_;
    if (gst_pad_link_full(from, to, GST_PAD_LINK_CHECK_NOTHING) != GST_PAD_LINK_OK)
      throw std::runtime_error("pads cannot be linked");
    gst_object_unref(inner);
  }
  gst_pad_set_active(src_, TRUE);
  gst_pad_set_active(sink_, TRUE);
  if (gst_element_set_state(pipeline_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    fail("the elements do not start");
}

void Line::begin(GstCaps* caps) {
  push_event(gst_event_new_stream_start("bench"));
  push_event(gst_event_new_caps(caps));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
}

Line::Line(const std::string& elements, const PipeSize& size, bool frames_in_cuda,
           const std::string& sink_caps, const std::vector<std::vector<uint8_t>>& pictures) {
  connect(elements, sink_caps);
  GstVideoInfo info;
  gst_video_info_set_format(&info, size.rgb ? GST_VIDEO_FORMAT_RGB : GST_VIDEO_FORMAT_I420,
                            guint(size.width), guint(size.height));
  info.fps_n = 60;
  info.fps_d = 1;
  GstCaps* caps = gst_video_info_to_caps(&info);
  if (frames_in_cuda)
    gst_caps_set_features_simple(caps, gst_caps_features_new("memory:CUDAMemory", nullptr));
  begin(caps);
  if (pictures.empty())
    fill_ring(size, caps, {pipe_picture(size)});
  else
    fill_ring(size, caps, pictures);
  gst_caps_unref(caps);
}

Line::Line(const std::string& elements, const std::vector<const std::vector<uint8_t>*>& files,
           const PipeSize& size, const std::string& sink_caps) {
  connect(elements, sink_caps);
  GstCaps* caps = gst_caps_new_simple("image/jpeg", "parsed", G_TYPE_BOOLEAN, TRUE, "width",
                                      G_TYPE_INT, size.width, "height", G_TYPE_INT, size.height,
                                      "framerate", GST_TYPE_FRACTION, 60, 1, nullptr);
  begin(caps);
  gst_caps_unref(caps);
  for (const std::vector<uint8_t>* file : files)
    ring_.push_back(gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY,
                                                const_cast<uint8_t*>(file->data()), file->size(), 0,
                                                file->size(), nullptr, nullptr));
}

Line::~Line() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_clear_buffer(&last_);
  for (GstBuffer* buffer : ring_) gst_buffer_unref(buffer);
  if (pool_) gst_buffer_pool_set_active(pool_, FALSE);
  gst_clear_object(&pool_);
  gst_object_unref(src_);
  gst_object_unref(sink_);
  gst_caps_unref(sink_caps_);
  gst_object_unref(pipeline_);
}

void Line::push_event(GstEvent* event) {
  const std::string type = GST_EVENT_TYPE_NAME(event);
  if (!gst_pad_push_event(src_, event)) fail("no element takes the event " + type);
}

void Line::fill_ring(const PipeSize& size, GstCaps* caps,
                     const std::vector<std::vector<uint8_t>>& pictures) {
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  guint bytes = 0, min = 0, max = 0;
  if (gst_pad_peer_query(src_, query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool_, &bytes, &min, &max);
  gst_query_unref(query);
  if (!pool_) fail("no pool is proposed");
  GstStructure* config = gst_buffer_pool_get_config(pool_);
  gst_buffer_pool_config_set_params(config, caps, bytes, min, 0);
  if (!gst_buffer_pool_set_config(pool_, config) || !gst_buffer_pool_set_active(pool_, TRUE))
    fail("the proposed pool does not start");

  GstVideoInfo info;
  gst_video_info_from_caps(&info, caps);
  for (size_t i = 0; i < pipe_ring(size); ++i) {
    GstBuffer* buffer = nullptr;
    if (gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr) != GST_FLOW_OK)
      fail("no memory for frames");
    ring_.push_back(buffer);
    GstVideoFrame frame;
    if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE)) fail("a frame is not mapped");
    const uint8_t* from = pictures[i % pictures.size()].data();
    for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
      auto* to = static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
      const int width =
          GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
      for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); ++y, from += width)
        std::copy_n(from, width, to + ptrdiff_t(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p));
    }
    gst_video_frame_unmap(&frame);
  }
}

GstFlowReturn Line::chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
  auto* self = static_cast<Line*>(gst_pad_get_element_private(pad));
  std::lock_guard guard(self->lock_);
  std::swap(self->last_, buffer);
  if (buffer) gst_buffer_unref(buffer);
  self->frames_++;
  return GST_FLOW_OK;
}

gboolean Line::event(GstPad* pad, GstObject*, GstEvent* event) {
  auto* self = static_cast<Line*>(gst_pad_get_element_private(pad));
  if (GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM) {
    std::lock_guard guard(self->lock_);
    self->marks_++;
    self->arrived_.notify_one();
  }
  gst_event_unref(event);
  return TRUE;
}

gboolean Line::query(GstPad* pad, GstObject* parent, GstQuery* query) {
  auto* self = static_cast<Line*>(gst_pad_get_element_private(pad));
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) {
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    gst_query_add_allocation_meta(query, GST_COEF_FENCE_API_TYPE, nullptr);
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    GstCaps* filter = nullptr;
    gst_query_parse_caps(query, &filter);
    GstCaps* caps =
        filter ? gst_caps_intersect(filter, self->sink_caps_) : gst_caps_ref(self->sink_caps_);
    gst_query_set_caps_result(query, caps);
    gst_caps_unref(caps);
    return TRUE;
  }
  return gst_pad_query_default(pad, parent, query);
}

void Line::drain() {
  push_event(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("mark")));
  sent_marks_++;
  std::unique_lock lock(lock_);
  if (!arrived_.wait_for(lock, std::chrono::seconds(60), [&] { return marks_ == sent_marks_; }) ||
      frames_ != pushed_)
    fail("frames do not arrive");
  lock.unlock();
  wait_written();
}

// Coefficients on the device may be pushed before they are complete.
void Line::wait_written() {
  const GstDctMeta* meta = last_ ? gst_buffer_get_dct_meta(last_) : nullptr;
  if (meta && meta->fence) gst_coef_fence_wait_written(meta->fence, nullptr);
}

void Line::push_next() {
  if (gst_pad_push(src_, gst_buffer_ref(ring_[next_])) != GST_FLOW_OK) fail("a frame is refused");
  next_ = (next_ + 1) % ring_.size();
  pushed_++;
}

double Line::rate(int frames) {
  return seconds_of([&] {
           for (int i = 0; i < frames; ++i) push_next();
         }) /
         frames;
}

double Line::latency(int count) {
  return repeat(0, count,
                [&] {
                  return seconds_of([&] {
                    push_next();
                    if (frames_ != pushed_) fail("a frame is held back");
                    wait_written();
                  });
                })
      .median();
}

Reading Line::run(double seconds, int min_frames) {
  int frames = 0;
  Reading reading;
  const double all = seconds_of([&] {
    const double begin = thread_seconds();
    frames = take_rounds(seconds, min_frames, [&](int) { push_next(); });
    reading.host_seconds = (thread_seconds() - begin) / frames;
    drain();
  });
  reading.seconds = all / frames;
  return reading;
}

}  // namespace cudatransform::bench
