// Transforms between frames and coefficients: the steps of a frame, and negotiation.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <memory>

#include "gst/engine/properties.h"
#include "gst/stream/coef_input.h"
#include "gst/stream/coef_output.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/frame_transform.h"
#include "gst/stream/source_frames.h"

namespace cudatransform {

// The facts about a stream of coefficients in its caps.
struct CoefStream {
  CoefLayout layout;
  SourcePicture picture;  // the picture that they describe
};

// A frame while its job is built.
class CoefStep {
 public:
  CoefPlaces places;  // of the coefficients
  FencePtr done;      // the job

  // Where the engine finds the samples and the coefficients.
  const Rects& raw() const { return raw_; }
  const Rects& coefs() const { return coefs_; }
  // Inverse: the source frame to compare with, or null.
  const SourceFrame* source() const { return source_.buffer ? &source_ : nullptr; }

 private:
  friend class CoefTransform;
  Rects raw_, coefs_;
  bool copies_source_ = false;  // forward: for keep-reference
  FrameInput frame_in_;         // forward
  EngineCoefs coefs_out_;
  CoefInput coefs_in_;  // inverse
  SourceFrame source_;
};

struct ReferenceSettings {
  bool keep = false;
};

// One negotiated stream of frames through one engine. A forward transform brings a frame to the
// engine, enqueues its job, and delivers the coefficients; an inverse goes the other way. A kind of
// coefficients derives from it and adds its caps, its settings, its job and its meta.
class CoefTransform : public FrameTransform {
 public:
  // `producer`: the element whose coefficients may carry their source frames.
  CoefTransform(FrameMover& mover, Direction direction, const char* producer)
      : engine_(mover.engine()), mover_(mover), direction_(direction), finder_(producer) {}
  ~CoefTransform() override { release_memory(); }

  ReferenceSettings reference;  // of a forward transform: guarded by the object lock

  Direction direction() const { return direction_; }
  bool is_forward() const { return direction_ == Direction::kForward; }
  const GstVideoInfo& raw_info() const { return raw_; }

  void start() override;
  Status configure(const GstCaps* in, const GstCaps* out) override;
  Status allocate(GstQuery* query, GstCaps* caps) final;
  void propose(GstQuery* query, GstCaps* caps, guint buffers) final;
  guint kept_buffers() const final { return reference.keep ? SourceKeeper::kBuffers : 0; }
  bool waits_for_frames() const final {
    return is_forward() ? coefs_.waits_for_frames() : frames_.waits_for_frames();
  }
  bool can_hold_frames() const final { return is_forward() || !frames_.is_bounded(); }
  void stop() override { release_memory(); }

  // Fixes caps of coefficients (transfer full): device memory first if `prefer_cuda`.
  virtual GstCaps* fixate(GstCaps* candidates, bool prefer_cuda) const = 0;
  // The bytes of a buffer of such caps in system memory.
  virtual bool size_of(const GstCaps* coefs, gsize* size) const = 0;
  virtual GType meta_api() const = 0;
  virtual const char* media_type() const = 0;

 protected:
  // Takes new caps of coefficients. Fails if they do not belong to frames of `raw`.
  virtual Status read_caps(const GstCaps* coefs, const GstVideoInfo& raw, CoefStream* stream) = 0;
  // The steps of submit() before and after the job. begin() brings the frame, or the coefficients
  // at step->places, to the engine. finish() delivers the result of step->done; places of
  // coefficients are in step->places then.
  Status begin(FrameTask& task, CoefStep* step);
  Status finish(FrameTask& task, CoefStep* step);

  Engine& engine_;
  FrameMover& mover_;
  GstVideoInfo raw_ = {};
  // Settings of the frame; take_settings() takes them.
  bool keeps_reference_ = false;
  const char* incomparable_ = nullptr;  // why it cannot be compared with its source; null: it can

 private:
  Status begin_forward(FrameTask& task, CoefStep* step);
  Status begin_inverse(FrameTask& task, CoefStep* step);
  void release_memory();

  const Direction direction_;
  SourcePicture picture_ = {};
  BlockPool input_blocks_;
  CoefOutput coefs_{engine_, CoefMaker::kEngine};  // forward
  FrameOutput frames_{engine_};                    // inverse
  SourceKeeper keeper_;
  SourceFinder finder_;
  bool warned_of_incomparable_ = false;
};

// The error if frames of `raw` do not belong to coefficients of that size.
Status sizes_differ(const GstVideoInfo& raw, int width, int height);

// Sets up an element whose transform is a CoefTransform: the caps to prefer, and the size of
// buffers. The element sets transform_caps itself, and ends it with filter_caps().
void install_coef_negotiation(GstBaseTransformClass* klass);
// The row of the property of ReferenceSettings.
Property keep_reference_property();
// The caps that transform_caps of `trans` has found for `caps` (transfer full), as far as `filter`
// (may be null) allows. Transfer full.
GstCaps* filter_caps(GstBaseTransform* trans, const GstCaps* caps, GstCaps* found, GstCaps* filter);

}  // namespace cudatransform
