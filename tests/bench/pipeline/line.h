// Elements between two pads of the benchmark's own, which push frames and take the output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tests/bench/turns.h"

namespace cudatransform::bench {

// An 8-bit 4:2:0 frame size.
struct PipeSize {
  const char* name;
  int width, height;
  size_t ring = 0;   // frames in a ring; 0: as many as no cache of a GPU or a CPU holds
  bool rgb = false;  // packed RGB in place of I420
  size_t frame_bytes() const { return size_t(width) * size_t(height) * 3 / (rgb ? 1 : 2); }
};

// Packed I420 with a camera's picture in it.
std::vector<uint8_t> pipe_picture(const PipeSize& size);
// How many frames there are.
size_t pipe_ring(const PipeSize& size);

// Frames go round a ring in memory of the pool that the first element proposes. The last pad
// promises to honor GstCoefFence. Throws std::runtime_error when an element fails.
class Line {
 public:
  // `elements` in gst-launch-1.0's syntax; `sink_caps`: the last pad's caps. `pictures`,
  // alternately in the ring: without any, the one of pipe_picture().
  Line(const std::string& elements, const PipeSize& size, bool frames_in_cuda,
       const std::string& sink_caps, const std::vector<std::vector<uint8_t>>& pictures = {});
  // Pushes `files` of JPEG in place of frames, from memory that it does not copy.
  Line(const std::string& elements, const std::vector<const std::vector<uint8_t>*>& files,
       const PipeSize& size, const std::string& sink_caps);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Pushes frames for a while, and waits until all of them have come out and are complete.
  Reading run(double seconds, int min_frames);
  // Seconds for a frame when as many leave as come, after the first ones: for elements that hold
  // frames back.
  double rate(int frames);
  // The median of `count` frames' times from push to complete output, each pushed when the one
  // before is complete. For elements that do not hold frames back.
  double latency(int count);
  GstElement* element(const char* name) const { return gst_bin_get_by_name(GST_BIN(bin_), name); }

 private:
  static GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer);
  static gboolean event(GstPad* pad, GstObject* parent, GstEvent* event);
  static gboolean query(GstPad* pad, GstObject* parent, GstQuery* query);
  void push_event(GstEvent* event);
  void connect(const std::string& elements, const std::string& sink_caps);
  void begin(GstCaps* caps);
  void fill_ring(const PipeSize& size, GstCaps* caps,
                 const std::vector<std::vector<uint8_t>>& pictures);
  void push_next();
  void wait_written();
  void drain();
  void fail(const std::string& what) const;

  GstElement* pipeline_ = nullptr;
  GstElement* bin_ = nullptr;
  GstPad *src_ = nullptr, *sink_ = nullptr;
  GstCaps* sink_caps_ = nullptr;
  GstBufferPool* pool_ = nullptr;
  std::vector<GstBuffer*> ring_;
  size_t next_ = 0;
  guint64 pushed_ = 0, sent_marks_ = 0;

  std::mutex lock_;
  std::condition_variable arrived_;
  guint64 frames_ = 0, marks_ = 0;
  GstBuffer* last_ = nullptr;
};

}  // namespace cudatransform::bench
