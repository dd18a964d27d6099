// The samples of a picture by the specifications: the judge of dirac/ and its renderer.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/dirac/encoder/picture_definition.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/engine/obmc/definition.h"

namespace cudatransform::test {
namespace {

using dwt::Rule;
using dwt::Values;

int64_t wrapped(int64_t value, Rule rule) {
  if (rule == Rule::kS16) return static_cast<int16_t>(value);
  return rule == Rule::kS32 ? static_cast<int32_t>(value) : value;
}

// Low delay and core intra pictures code their coarsest band as differences.
bool predicts_dc(const CodedPicture& picture) {
  return picture.is_intra() && picture.header.coding != DiracCoding::kHighQuality;
}

Values pyramid_of(const CodedPicture& picture, int component, Rule rule) {
  const std::vector<CodedBand>& bands = picture.bands[component];
  const CodedBand& last = bands.back();
  Values pyramid(last.x + last.width, last.y + last.height);
  for (size_t i = 0; i < bands.size(); ++i) {
    const CodedBand& band = bands[i];
    for (int32_t y = 0; y < band.height && band.is_coded; ++y) {
      for (int32_t x = 0; x < band.width; ++x) {
        if (band.at(x, y) == 0) continue;
        const int quantizer = quantizer_at(picture, component, static_cast<int>(i), x, y);
        pyramid.at(band.x + x, band.y + y) =
            define_dequantized(band.at(x, y), quantizer, picture.is_intra(), rule);
      }
    }
  }
  for (int32_t y = 0; y < bands[0].height && predicts_dc(picture); ++y) {
    for (int32_t x = 0; x < bands[0].width; ++x)
      pyramid.at(x, y) = wrapped(pyramid.at(x, y) + dc_prediction(pyramid, x, y), rule);
  }
  return pyramid;
}

int shift_of(const DiracSequence& sequence, bool is_vertical) {
  if (sequence.chroma == DiracChroma::k444) return 0;
  return is_vertical && sequence.chroma == DiracChroma::k422 ? 0 : 1;
}

// All parameters of motion compensation except the planes.
ObmcJob job_of(const DiracSequence& sequence, const CodedPicture& picture) {
  const DiracPrediction& p = picture.prediction;
  ObmcJob job;
  job.components = kMaxComponents;
  job.blocks_across = p.blocks_across;
  job.blocks_down = p.blocks_down;
  job.length_x = p.length_x;
  job.length_y = p.length_y;
  job.separation_x = p.separation_x;
  job.separation_y = p.separation_y;
  job.chroma_shift_x = shift_of(sequence, false);
  job.chroma_shift_y = shift_of(sequence, true);
  job.precision = p.precision;
  job.weight_bits = p.weight_bits;
  std::copy_n(p.weights, kMaxObmcReferences, job.weights);
  job.reference_count = picture.header.reference_count;
  job.blocks = picture.is_intra() ? nullptr : picture.blocks.data();
  return job;
}

Plane define_component(const DiracSequence& sequence, const CodedPicture& picture, int c,
                       const Values& residual, const DefinedPicture* const* references) {
  const int width = static_cast<int>(sequence.picture_width(c));
  const int height = static_cast<int>(sequence.picture_height(c));
  ObmcJob job = job_of(sequence, picture);
  job.depth[c] = sequence.depth(c);
  WidePlane samples(width, height, SampleType::kU16), rest(width, height, SampleType::kS16);
  // Values beyond 16 bits are far beyond a sample.
  for (int y = 0; y < height && picture.has_residual; ++y) {
    for (int x = 0; x < width; ++x)
      rest.set(x, y, std::clamp<int64_t>(residual.at(x, y), INT16_MIN, INT16_MAX));
  }
  job.samples[c] = samples.plane;
  job.residual[c] = rest.plane;
  std::vector<WidePlane> planes;
  planes.reserve(kMaxObmcReferences);
  for (int r = 0; r < job.reference_count; ++r) {
    WidePlane& plane = planes.emplace_back(width, height, SampleType::kU16);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) plane.set(x, y, references[r]->planes[c].at(x, y));
    }
    job.references[r].planes[c][0] = plane.plane;
  }
  const Grid grid = define_compensated(job, c);
  Plane defined(width, height);
  std::copy(grid.values.begin(), grid.values.end(), defined.samples.begin());
  return defined;
}

}  // namespace

int64_t define_dequantized(int64_t qcoef, int quantizer, bool is_intra, Rule rule) {
  if (qcoef == 0) return 0;
  if (is_intra || quantizer == 0) return dwt::dequantize(qcoef, quantizer, rule);
  const int64_t factor = dwt::quant_factor(quantizer);
  const int64_t value = (std::abs(qcoef) * factor + (3 * factor + 4) / 8 + 2) / 4;
  return wrapped(qcoef < 0 ? -value : value, rule);
}

dwt::Shape shape_of(const DiracTransform& transform) {
  return {transform.wavelet, transform.wavelet_ho, transform.levels.both,
          transform.levels.horizontal};
}

DefinedPicture define_gray(const DiracSequence& sequence) {
  DefinedPicture gray;
  gray.is_damaged = true;
  for (int c = 0; c < kMaxComponents; ++c) {
    Plane& plane = gray.planes[c];
    plane = Plane(static_cast<int>(sequence.picture_width(c)),
                  static_cast<int>(sequence.picture_height(c)));
    std::fill(plane.samples.begin(), plane.samples.end(), 1 << (sequence.depth(c) - 1));
  }
  return gray;
}

DefinedPicture define_picture(const DiracSequence& sequence, const CodedPicture& picture,
                              const DefinedPicture* const* references, Rule rule) {
  DefinedPicture defined;
  defined.number = picture.header.number;
  for (int r = 0; r < picture.header.reference_count; ++r)
    defined.is_damaged |= references[r]->is_damaged;
  for (int c = 0; c < kMaxComponents; ++c) {
    Values residual;
    if (picture.has_residual) {
      residual = dwt::synthesize(pyramid_of(picture, c, rule), shape_of(picture.transform), rule);
    }
    defined.planes[c] = define_component(sequence, picture, c, residual, references);
  }
  return defined;
}

void quantize_component(CodedPicture* picture, int component, const Values& values) {
  const Values pyramid = dwt::analyze(values, shape_of(picture->transform), Rule::kUnbounded);
  std::vector<CodedBand>& bands = picture->bands[component];
  Values coarsest(bands[0].width, bands[0].height);  // as a decoder has it
  for (size_t i = 0; i < bands.size(); ++i) {
    CodedBand& band = bands[i];
    for (int32_t y = 0; y < band.height; ++y) {
      for (int32_t x = 0; x < band.width; ++x) {
        const int quantizer = quantizer_at(*picture, component, static_cast<int>(i), x, y);
        const int64_t likely = i == 0 && predicts_dc(*picture) ? dc_prediction(coarsest, x, y) : 0;
        const int64_t qcoef = dwt::quantize(pyramid.at(band.x + x, band.y + y) - likely, quantizer);
        band.at(x, y) = static_cast<int32_t>(qcoef);
        if (i > 0) continue;
        coarsest.at(x, y) =
            likely + define_dequantized(qcoef, quantizer, picture->is_intra(), Rule::kUnbounded);
      }
    }
  }
}

}  // namespace cudatransform::test
