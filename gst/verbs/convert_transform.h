// cudadctconvert's transform: coefficients in another layout, order or format.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "gst/verbs/verb_transform.h"

namespace cudatransform {

class ConvertTransform final : public VerbTransform {
 public:
  using VerbTransform::VerbTransform;

 protected:
  Status enqueue(const CoefArray from[kMostCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMostCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;
};

}  // namespace cudatransform
