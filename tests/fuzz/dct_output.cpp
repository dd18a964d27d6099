// Shared by fuzz targets of elements that make the DCT's coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/dct_output.h"

#include <gst/coef/dct.h>
#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

void read_coefficients(GstBuffer* buffer, GstCaps* caps) {
  GstDctInfo info;
  promise(caps != nullptr && gst_dct_info_from_caps(&info, caps, nullptr),
          "coefficients have caps");
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  promise(
      meta != nullptr && gst_dct_meta_validate(meta, &info, gst_buffer_get_size(buffer), nullptr),
      "coefficients have a sound meta");
  read_bytes(buffer);
}

void read_passed_coefficients(GstBuffer* buffer, GstCaps* caps) {
  GstDctInfo info;
  if (gst_buffer_get_dct_meta(buffer)) return read_coefficients(buffer, caps);
  promise(gst_dct_info_from_caps(&info, caps, nullptr) &&
              gst_dct_meta_validate(nullptr, &info, gst_buffer_get_size(buffer), nullptr),
          "coefficients without a meta need none");
  read_bytes(buffer);
}

}  // namespace fuzzing
