// cudadctflip's transform: flips, rotates and crops pictures of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <mutex>
#include <string>

#include <gst/coef/dct.h>
#include "gst/coeffilter/coeffilter.h"
#include "transform/coeffilter/flip.h"

namespace cudatransform {

FlipPicture flip_picture(const GstDctInfo& info);

// The directions of GStreamer; auto and custom are none.
Orientation orientation_of(GstVideoOrientationMethod method);
const char* nick_of(GstVideoOrientationMethod method);
GstVideoOrientationMethod method_of(const Orientation& orientation);

class FlipTransform final : public CoefFilter {
 public:
  using CoefFilter::CoefFilter;

  // Of the next frame: caps have been negotiated with it. Guarded by the object lock; written by
  // the streaming thread alone, which reads it without the lock.
  FlipRequest request;

  // Whether the frame's tag or Exif data decided its direction.
  bool is_upright = false;

  // The direction of `request`, as users spell it. Guarded by the object lock.
  const char* direction = "identity";

  // Makes the GstDctJpegMeta of the next frame's result, a copy of that of the frame, true of it.
  // Warns once in a stream of what had to be dropped.
  void flip_metadata(GstBuffer* out);

  void start() override;
  Status take_settings(const char** changed_property) override;
  void describe(GstStructure* stats) const override;

 protected:
  Status agree() override { return take_plan(); }
  bool keeps(const FrameTables& tables) const override;
  Status make_tables(const FrameTables& from, FrameTables* to) override;
  Status enqueue(const CoefArray from[kMaxCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMaxCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;

 private:
  // What the last picture lost, in words; empty: nothing.
  struct Losses {
    std::string metadata;
    std::string edges;  // with partial MCUs that should have been mirrored
  };
  Status take_plan();
  void set_losses(Losses losses);

  FlipPlan plan_;
  mutable std::mutex mutex_;
  Losses losses_;  // guarded by the mutex
  bool warned_of_metadata_ = false, warned_of_edges_ = false;
};

// The rotation that makes the picture upright by its Exif data. False: they name none.
bool read_upright_orientation(const GstDctJpegMeta& meta, Orientation* orientation);
// Updates a picture's meta for the result. Returns what had to be dropped, in words; empty:
// nothing. Without libjpeg, that is all of it.
std::string flip_jpeg_meta(const PictureFlip& flip, GstDctJpegMeta* meta);

// Changes `s`, caps of the input, into those of the output. A size that is unknown, because
// `s` leaves it open or the request cannot be met, may be any.
void flip_caps(GstStructure* s, const FlipRequest& request);
// The inverse.
void unflip_caps(GstStructure* s, const FlipRequest& request);

}  // namespace cudatransform
