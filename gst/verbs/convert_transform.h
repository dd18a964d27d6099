// cudadctconvert's transform: coefficients in another layout, order or format, or dequantised.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <mutex>

#include "gst/verbs/verb_transform.h"
#include "transform/verbs/convert.h"

namespace cudatransform {

class ConvertTransform final : public VerbTransform {
 public:
  using VerbTransform::VerbTransform;
  ~ConvertTransform() override { give_up_count(); }

  QuantSettings settings;  // of values that become levels; guarded by the object lock

  void start() override;
  Status take_settings() override;
  void describe(GstStructure* stats) const override;
  void stop() override;

 protected:
  Status make_tables(const FrameTables& from, FrameTables* to) override;
  Status enqueue(const CoefArray from[kMostCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMostCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;

 private:
  bool quantises() const { return out_info().quantized && !in_info().quantized; }
  void give_up_count();

  FrameTables new_tables_;  // of the next frame, if it is quantised
  // How many numbers were saturated: those of the engine, and those before it gave up its memory.
  mutable std::mutex lock_;
  std::unique_ptr<Memory> saturated_;
  guint64 saturated_before_ = 0;
  FencePtr last_;  // the last work that counts
};

}  // namespace cudatransform
