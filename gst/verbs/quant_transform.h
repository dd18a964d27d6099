// cudadctquant's transform: levels with other quantisation tables.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/verbs/verb_transform.h"

namespace cudatransform {

// The properties. Guarded by the object lock.
struct VerbQuantSettings {
  QuantSettings quant;
  bool coarser_only = true;  // an old entry stays if it is the coarser one
};

class QuantTransform final : public VerbTransform {
 public:
  using VerbTransform::VerbTransform;

  VerbQuantSettings settings;

  Status prepare(FrameRequest* request) override;
  void describe(GstStructure* stats) const override;

 protected:
  bool keeps(const FrameTables& tables) const override;
  Status make_tables(const FrameTables& from, FrameTables* to) override;
  Status enqueue(const CoefArray from[kMostCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMostCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;

 private:
  QuantTable made_of(const FrameTables& from, int c) const;

  // State of the next frame.
  FrameTables wanted_;
  bool coarser_only_ = true;
};

}  // namespace cudatransform
