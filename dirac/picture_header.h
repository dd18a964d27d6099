// The headers of a picture, before its coefficients: number, references, prediction and transform.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, clause 12; Dirac specification 2.2.3, clauses 9.6, 11.2 and 11.3.
#pragma once

#include <cstdint>

#include "dirac/bits.h"
#include "dirac/sequence.h"
#include "dirac/units.h"
#include "transform/device/status.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"

namespace cudatransform {

// How coefficients are coded.
enum class DiracCoding {
  kArithmetic,   // a band after the other
  kVlc,          // likewise, with exp-Golomb codes
  kLowDelay,     // slices of bytes that are shared out between luma and chroma
  kHighQuality,  // slices of a length for each component
};

struct DiracPictureHeader {
  uint32_t number = 0;
  DiracCoding coding = DiracCoding::kArithmetic;
  bool is_reference = false;
  int reference_count = 0;
  uint32_t references[kMaxObmcReferences] = {};  // picture numbers
  bool retires = false;
  uint32_t retired = 0;  // the picture that is no reference from here on

  bool is_intra() const { return reference_count == 0; }
  // Whether coefficients of level 0 have been coded as the differences to their neighbors.
  bool predicts_dc() const { return is_intra() && coding != DiracCoding::kHighQuality; }
  bool has_slices() const {
    return coding == DiracCoding::kLowDelay || coding == DiracCoding::kHighQuality;
  }
};

// Prediction of inter pictures, as ObmcJob takes it.
struct DiracPrediction {
  int32_t length_x = 0, length_y = 0;
  int32_t separation_x = 0, separation_y = 0;
  int precision = 0;
  int weight_bits = 1;
  int32_t weights[kMaxObmcReferences] = {1, 1};
  // Blocks of the grid, four of which on each axis are a superblock.
  int32_t blocks_across = 0, blocks_down = 0;
};

struct DiracTransform {
  Wavelet wavelet = Wavelet::kDd97;
  Wavelet wavelet_ho = Wavelet::kDd97;
  DwtLevels levels = {0, 0};
  // Codeblocks of the bands of a level; of slice pictures, slices, at [0].
  int32_t columns[kMaxDwtLevels + 1] = {};
  int32_t rows[kMaxDwtLevels + 1] = {};
  bool codeblock_quantizers = false;
  // Low delay: bytes of a slice.
  uint32_t slice_numerator = 0, slice_denominator = 1;
  // High quality.
  uint32_t prefix_bytes = 0, size_scaler = 1;
  uint8_t matrix[kMaxDwtBands] = {};  // zeros for core pictures
};

// The size of a component, padded so that the transform can halve it.
struct DiracPaddedSize {
  int32_t width, height;
};
DiracPaddedSize dirac_padded(const DiracSequence& sequence, DwtLevels levels, int component);

// Each reads on from `bits`, and fails with a message where a value is invalid: the picture is
// damaged, or of a kind that no encoder makes (kUnsupported).
Status read_picture_header(const DiracParseInfo& info, DiracBits& bits, DiracPictureHeader* header);
Status read_prediction(const DiracSequence& sequence, int reference_count, DiracBits& bits,
                       DiracPrediction* prediction);
Status read_transform(const DiracSequence& sequence, DiracCoding coding, DiracBits& bits,
                      DiracTransform* transform);

}  // namespace cudatransform
