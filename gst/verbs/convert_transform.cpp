// cudadctconvert's transform: coefficients in another layout, order or format.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/convert_transform.h"

namespace cudatransform {

Status ConvertTransform::enqueue(const CoefArray*, const FrameTables&, const CoefArray*,
                                 const FrameTables&, MeasuredFrame*, FencePtr*) {
  return Status::error(StatusCode::kUnsupported, "caps differ");
}

}  // namespace cudatransform
