// JPEG files of pixels and of quantized coefficients by the CPU, and what encoding an image
// requires.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/cudatransform.h"
#include "core/engine.h"
#include "core/jpeg_pixels.h"
#include "jpeg/writer.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/rgb/rgb.h"

namespace cudatransform::core {

JpegOptions file_options(const CtEncodeOptions& options);
inline bool has_size(const CtEncodeOptions& options) {
  return options.target_size > 0 || options.max_size > 0;
}
QuantTable luma_table(CtPreset preset, int quality);
// `pixels`: samples of luma for one of chroma.
QuantTable chroma_table(CtPreset preset, int quality, int pixels);

// From an image to its quantized coefficients: sizes, jobs, and the description of the file.
struct EncodePlan {
  int32_t width = 0, height = 0, components = 0;
  int32_t channels = 0;  // of pixels; 0: the picture comes as planes
  JpegColor color = JpegColor::kGray;
  JpegSampling sampling;
  std::array<RgbSubsampling, kMaxComponents> by = {};  // of pixels: the same
  std::array<QuantTable, 2> tables = {};
  int n_tables = 1;
  Quantizer quantizer = Quantizer::kRound;
  Method method = Method::kIslow;

  std::array<uint32_t, kMaxComponents> blocks_w = {}, blocks_h = {};
  std::array<size_t, kMaxComponents> qcoefs_at = {}, planes_at = {};
  std::array<SamplePlane, kMaxComponents> planes = {};  // without addresses
  size_t qcoef_bytes = 0, plane_bytes = 0;

  bool has_rgb() const { return channels == 3; }
  bool has_planes() const { return channels != 1; }  // the DCT reads gray pixels as they are
  // For memory of one engine; `pixels` has the image.
  RgbJob rgb_job(const CtImage& image, const uint8_t* pixels, int64_t pitch, uint8_t* planes) const;
  Dct8x8Job dct_job(const uint8_t* pixels, int64_t pitch, uint8_t* planes, uint8_t* qcoefs) const;
  JpegQcoefs qcoefs_of(size_t component, uint8_t* qcoefs) const;
  // Points into the plan.
  JpegPicture picture(const CtEncodeOptions& options, uint8_t* qcoefs) const;
};

// kInvalidArgument: JPEG cannot store such an image.
Status plan_encoding(const CtImage& image, const CtEncodeOptions& options, EncodePlan* plan);

// Clears the file, and sets its error.
void fail(const Status& why, CtFile* file);

// Encodes an image of the host's in the calling thread. Never throws; an error is the file's.
void encode_on_host(CtEngine& engine, const CtEncodeOptions& options, const CtImage& image,
                    CtFile* file);
// Likewise quantized coefficients of a plan, in the host's memory.
void write_qcoefs(const EncodePlan& plan, const CtEncodeOptions& options, uint8_t* qcoefs,
                  CtFile* file);
// Likewise a picture of quantized coefficients, which are in the engine's memory.
void write_on_host(CtEngine& engine, const CtEncodeOptions& options, const CtPicture& picture,
                   CtFile* file);
// Likewise its samples.
void reencode_on_host(CtEngine& engine, const CtEncodeOptions& options, const CtPicture& picture,
                      CtFile* file);

}  // namespace cudatransform::core
