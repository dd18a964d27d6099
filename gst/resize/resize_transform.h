// cudaresize's transform: frames of one size to frames of another.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <vector>

#include "gst/engine/block_pool.h"
#include "gst/resize/borders.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/frame_transform.h"
#include "transform/resize/resize.h"

namespace cudatransform {

// The properties. Guarded by the object lock.
struct ResizeSettings {
  ResizeFilter method = ResizeFilter::kBicubic;
  ResizeOrder order = ResizeOrder::kPillow13;
  double left = 0, top = 0, width = 0, height = 0;  // the box; sides of 0: up to the edge
  double reducing_gap = 0;                          // 0: none
  bool add_borders = false;

  bool has_box() const { return left != 0 || top != 0 || width != 0 || height != 0; }
};

const char* nick_of(ResizeFilter method);

// The formats that it takes, and whether the gstcuda of this build can hold them.
struct ResizeFormat {
  GstVideoFormat format;
  bool in_cuda_memory;
};
const std::vector<ResizeFormat>& resize_formats();

class ResizeTransform : public FrameTransform {
 public:
  explicit ResizeTransform(FrameMover& mover) : engine_(mover.engine()), mover_(mover) {}
  ~ResizeTransform() override { give_up_memory(); }

  ResizeSettings settings;  // guarded by the object lock

  Status configure(const GstCaps* in, const GstCaps* out) override;
  Status allocate(GstQuery* query, GstCaps* caps) override { return out_.allocate(query, caps); }
  void propose(GstQuery* query, GstCaps* caps, guint buffers) override;
  bool waits_for_frames() const override { return out_.waits_for_frames(); }
  bool can_hold_frames() const override { return !out_.is_bounded(); }
  Status take_settings(const char** changed_property) override;
  Status submit(FrameTask& task) override;
  void describe(GstStructure* stats) const override;
  void stop() override { give_up_memory(); }

 private:
  Status find_crop(GstBuffer* in, PixelRect* crop) const;
  Status find_box(const PixelRect& crop, ResizeBox* box) const;
  bool passes(const PixelRect& crop) const;
  Status pass(FrameTask& task);
  PixelRect inside_of(const ResizeBox& box) const;
  Status make_jobs(const PixelRect& crop, const Rects& from, const Rects& to);
  Status run(guint64 bytes, MeasuredFrame* frame, FencePtr* done);
  void give_up_memory();

  Engine& engine_;
  FrameMover& mover_;
  ResizeSettings taken_;  // of the next frame
  GstVideoInfo in_info_ = {}, out_info_ = {};
  bool same_caps_ = false;
  std::vector<ResizeJob> jobs_;  // kept for their memory
  BlockPool input_blocks_;
  FrameOutput out_{engine_};
  Borders borders_;
};

}  // namespace cudatransform
