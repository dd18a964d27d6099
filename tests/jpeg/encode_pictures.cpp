// Random quantized coefficients: pictures, all runs and sizes, the longest codes, bytes FF.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/jpeg/encode_pictures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "jpeg/coef_arrays.h"
#include "jpeg/encode_bits.h"

namespace cudatransform::test {

JpegTestQcoefs::JpegTestQcoefs(const JpegCase& c)
    : random_(c.width * 31 + c.height + unsigned(c.fill) * 7) {
  const int count = components_of(c.color);
  const JpegSampling sampling = c.sampling();
  for (int i = 0; i < count; ++i) {
    JpegBlocks component;
    component.blocks_w = sampling.blocks_w(c.width, i);
    component.blocks_h = sampling.blocks_h(c.height, i);
    component.stride = size_t{component.blocks_w} * 64 + 8 * size_t(i);
    component.qcoefs.assign(component.stride * component.blocks_h, 12345);
    for (uint32_t y = 0; y < component.blocks_h; ++y)
      for (uint32_t x = 0; x < component.blocks_w; ++x)
        fill(c.fill, &component.qcoefs[component.stride * y + size_t{64} * x]);
    components.push_back(std::move(component));
  }
}

void JpegTestQcoefs::fill(JpegFill kind, int16_t* block) {
  std::fill_n(block, 64, int16_t{0});
  const auto set = [&](int k, int value) {
    block[jpeg_natural_index(unsigned(k))] = static_cast<int16_t>(value);
  };
  switch (kind) {
    case JpegFill::kPicture: {
      set(0, up_to(300));
      const double decay = 1.0 + std::abs(up_to(20));
      for (int k = 1; k < 64; ++k) set(k, int(up_to(100) * std::exp(-k / decay)));
      break;
    }
    case JpegFill::kDense:
      set(0, up_to(1023));
      for (int k = 1; k < 64; ++k) set(k, up_to(1023));
      break;
    case JpegFill::kSparse:  // runs of all lengths
      set(0, up_to(5));
      if (one_in(2)) set(1 + std::abs(up_to(62)), one_in(2) ? 1 : up_to(1023));
      if (one_in(4)) set(63, 1);
      break;
    case JpegFill::kZero:
      break;
    case JpegFill::kExtreme:  // the longest codes, and the largest differences
      dc_ = -dc_ - 1;
      for (int k = 1; k < 64; ++k) set(k, one_in(2) ? jpeg_max_ac(8) : -jpeg_max_ac(8));
      set(0, dc_);
      break;
    case JpegFill::kOnes:  // consecutive FF bytes
      set(0, 0);
      for (int k = 1; k < 64; ++k) set(k, one_in(8) ? 511 : jpeg_max_ac(8));
      break;
  }
}

JpegPicture describe(const JpegCase& c, JpegTestQcoefs& qcoefs, const uint16_t (&tables)[2][64]) {
  JpegPicture picture;
  picture.width = c.width;
  picture.height = c.height;
  picture.color = c.color;
  picture.sampling = c.sampling();
  for (size_t i = 0; i < qcoefs.components.size(); ++i) {
    JpegBlocks& component = qcoefs.components[i];
    picture.tables[i] = tables[i == 0 ? 0 : 1];
    picture.qcoefs[i] = {component.qcoefs.data(), ptrdiff_t(component.stride * 2),
                         component.blocks_w, component.blocks_h};
  }
  return picture;
}

}  // namespace cudatransform::test
