// The headers of a picture, before its coefficients: number, references, prediction and transform.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/picture_header.h"

#include <string>

#include "transform/dwt/quantizer.h"

namespace cudatransform {

namespace {

std::string text(int64_t number) { return std::to_string(number); }

Status damaged(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, "picture header: " + what);
}

Status check_read(const DiracBits& bits) {
  if (bits.overran()) return damaged("truncated");
  if (bits.too_large()) return damaged("number of more than 32 bits");
  return {};
}

DiracCoding coding_of(const DiracParseInfo& info) {
  if (info.is_high_quality()) return DiracCoding::kHighQuality;
  if (info.is_low_delay()) return DiracCoding::kLowDelay;
  return info.is_arithmetic() ? DiracCoding::kArithmetic : DiracCoding::kVlc;
}

struct BlockPreset {
  int32_t length, separation;
};
constexpr BlockPreset kBlockPresets[] = {{8, 4}, {12, 8}, {16, 12}, {24, 16}};

Status check_block_axis(uint32_t length, uint32_t separation) {
  const bool sound = separation >= 4 && separation % 4 == 0 && length % 4 == 0 &&
                     length >= separation && length <= uint32_t{kMaxObmcBlock} &&
                     length <= 2 * separation;
  return sound ? Status{}
               : damaged("blocks of " + text(length) + " samples every " + text(separation) +
                         ", expected multiples of 4, the first at least the second, at most " +
                         "twice it and at most " + text(kMaxObmcBlock));
}

Status read_blocks(DiracBits& bits, DiracPrediction* p) {
  const uint32_t preset = bits.unsigned_code();
  if (preset > std::size(kBlockPresets)) return damaged("block preset " + text(preset));
  if (preset != 0) {
    p->length_x = p->length_y = kBlockPresets[preset - 1].length;
    p->separation_x = p->separation_y = kBlockPresets[preset - 1].separation;
    return {};
  }
  const uint32_t length_x = bits.unsigned_code(), length_y = bits.unsigned_code();
  const uint32_t separation_x = bits.unsigned_code(), separation_y = bits.unsigned_code();
  CT_RETURN_IF_ERROR(check_block_axis(length_x, separation_x));
  CT_RETURN_IF_ERROR(check_block_axis(length_y, separation_y));
  p->length_x = static_cast<int32_t>(length_x);
  p->length_y = static_cast<int32_t>(length_y);
  p->separation_x = static_cast<int32_t>(separation_x);
  p->separation_y = static_cast<int32_t>(separation_y);
  return {};
}

Status read_weights(int reference_count, DiracBits& bits, DiracPrediction* p) {
  if (!bits.bit()) return {};
  const uint32_t weight_bits = bits.unsigned_code();
  for (int i = 0; i < reference_count; ++i) p->weights[i] = bits.signed_code();
  if (weight_bits > kMaxObmcWeightBits) {
    return Status::error(
        StatusCode::kUnsupported,
        "weights of " + text(weight_bits) + " bits: expected at most " + text(kMaxObmcWeightBits));
  }
  p->weight_bits = static_cast<int>(weight_bits);
  for (const int32_t weight : p->weights) {
    if (weight < -kMaxObmcWeight || weight > kMaxObmcWeight) {
      return Status::error(
          StatusCode::kUnsupported,
          "a weight of " + text(weight) + ": expected at most " + text(kMaxObmcWeight));
    }
  }
  return {};
}

// Superblocks of four blocks on each axis cover the luma.
int32_t blocks_over(uint32_t size, int32_t separation) {
  const auto superblock = 4 * static_cast<uint32_t>(separation);
  return 4 * static_cast<int32_t>((size + superblock - 1) / superblock);
}

Status read_wavelets(const DiracSequence& sequence, DiracCoding coding, DiracBits& bits,
                     DiracTransform* t) {
  constexpr uint32_t kLast = static_cast<uint32_t>(Wavelet::kDaub97);
  const uint32_t wavelet = bits.unsigned_code(), both = bits.unsigned_code();
  uint32_t wavelet_ho = wavelet, horizontal = 0;
  const bool has_slices = coding == DiracCoding::kLowDelay || coding == DiracCoding::kHighQuality;
  if (has_slices && sequence.has_extended_transforms()) {
    if (bits.bit()) wavelet_ho = bits.unsigned_code();
    if (bits.bit()) horizontal = bits.unsigned_code();
  }
  if (wavelet > kLast || wavelet_ho > kLast) {
    return damaged("wavelet " + text(wavelet) + "/" + text(wavelet_ho) + ", expected 0 to 6");
  }
  if (both > kMaxDwtLevels || horizontal > kMaxDwtLevelsHo) {
    return damaged(text(both) + " wavelet levels and " + text(horizontal) +
                   " horizontal ones, expected at most " + text(kMaxDwtLevels) + " and " +
                   text(kMaxDwtLevelsHo));
  }
  t->wavelet = static_cast<Wavelet>(wavelet);
  t->wavelet_ho = static_cast<Wavelet>(wavelet_ho);
  t->levels = {static_cast<int>(both), static_cast<int>(horizontal)};
  return {};
}

Status read_codeblocks(const DiracSequence& sequence, DiracBits& bits, DiracTransform* t) {
  for (int level = 0; level <= kMaxDwtLevels; ++level) t->columns[level] = t->rows[level] = 1;
  if (!bits.bit()) return {};
  const DiracPaddedSize size = dirac_padded(sequence, t->levels, 0);
  for (int level = 0; level <= t->levels.both; ++level) {
    const uint32_t columns = bits.unsigned_code(), rows = bits.unsigned_code();
    const int shift = t->levels.both - (level == 0 ? 0 : level - 1);
    const int32_t width = size.width >> shift, height = size.height >> shift;
    if (columns < 1 || rows < 1 || columns > static_cast<uint32_t>(width) ||
        rows > static_cast<uint32_t>(height)) {
      return damaged(text(columns) + "x" + text(rows) + " codeblocks in bands of " + text(width) +
                     "x" + text(height));
    }
    t->columns[level] = static_cast<int32_t>(columns);
    t->rows[level] = static_cast<int32_t>(rows);
  }
  const uint32_t mode = bits.unsigned_code();
  if (mode > 1) return damaged("codeblock mode " + text(mode) + ", expected 0 or 1");
  t->codeblock_quantizers = mode == 1;
  return {};
}

Status read_slice_sizes(const DiracSequence& sequence, DiracCoding coding, DiracBits& bits,
                        DiracTransform* t) {
  const uint32_t columns = bits.unsigned_code(), rows = bits.unsigned_code();
  const DiracPaddedSize size = dirac_padded(sequence, t->levels, 0);
  if (columns < 1 || rows < 1 || columns > static_cast<uint32_t>(size.width) ||
      rows > static_cast<uint32_t>(size.height)) {
    return damaged(text(columns) + "x" + text(rows) + " slices in " + text(size.width) + "x" +
                   text(size.height) + " coefficients");
  }
  t->columns[0] = static_cast<int32_t>(columns);
  t->rows[0] = static_cast<int32_t>(rows);
  const uint32_t first = bits.unsigned_code(), second = bits.unsigned_code();
  if (coding == DiracCoding::kLowDelay) {
    if (second == 0 || first < second) {
      return damaged("slices of " + text(first) + "/" + text(second) + " bytes");
    }
    t->slice_numerator = first;
    t->slice_denominator = second;
    return {};
  }
  if (second == 0) return damaged("slice size scaler of 0");
  t->prefix_bytes = first;
  t->size_scaler = second;
  return {};
}

Status read_matrix(DiracBits& bits, DiracTransform* t) {
  if (!bits.bit()) {
    return default_matrix(t->wavelet, t->wavelet_ho, t->levels, t->matrix)
               ? Status{}
               : damaged("no default quantization matrix for wavelet " +
                         text(static_cast<int>(t->wavelet)) + " and " + text(t->levels.both) +
                         " levels");
  }
  for (int band = 0; band < dwt_band_count(t->levels); ++band) {
    const uint32_t entry = bits.unsigned_code();
    if (entry > 255) return damaged("quantization matrix entry " + text(entry));
    t->matrix[band] = static_cast<uint8_t>(entry);
  }
  return {};
}

}  // namespace

DiracPaddedSize dirac_padded(const DiracSequence& sequence, DwtLevels levels, int component) {
  return {dwt_padded_width(static_cast<int32_t>(sequence.picture_width(component)), levels),
          dwt_padded_height(static_cast<int32_t>(sequence.picture_height(component)), levels)};
}

Status read_picture_header(const DiracParseInfo& info, DiracBits& bits,
                           DiracPictureHeader* header) {
  DiracPictureHeader h;
  h.coding = coding_of(info);
  h.reference_count = info.reference_count();
  h.is_reference = info.is_core_picture() && info.is_reference();
  h.number = bits.aligned_number(4);
  for (int i = 0; i < h.reference_count; ++i) {
    h.references[i] = h.number + static_cast<uint32_t>(bits.signed_code());
  }
  if (h.is_reference) {
    const int32_t distance = bits.signed_code();
    h.retires = distance != 0;
    h.retired = h.number + static_cast<uint32_t>(distance);
  }
  CT_RETURN_IF_ERROR(check_read(bits));
  *header = h;
  return {};
}

Status read_prediction(const DiracSequence& sequence, int reference_count, DiracBits& bits,
                       DiracPrediction* prediction) {
  DiracPrediction p;
  CT_RETURN_IF_ERROR(read_blocks(bits, &p));
  const uint32_t precision = bits.unsigned_code();
  if (precision > kMaxObmcPrecision) return damaged("vector precision " + text(precision));
  p.precision = static_cast<int>(precision);
  if (bits.bit()) {
    return Status::error(StatusCode::kUnsupported, "global motion is not supported");
  }
  const uint32_t mode = bits.unsigned_code();
  if (mode != 0) return damaged("prediction mode " + text(mode) + ", expected 0");
  CT_RETURN_IF_ERROR(read_weights(reference_count, bits, &p));
  CT_RETURN_IF_ERROR(check_read(bits));
  p.blocks_across = blocks_over(sequence.picture_width(0), p.separation_x);
  p.blocks_down = blocks_over(sequence.picture_height(0), p.separation_y);
  *prediction = p;
  return {};
}

Status read_transform(const DiracSequence& sequence, DiracCoding coding, DiracBits& bits,
                      DiracTransform* transform) {
  DiracTransform t;
  CT_RETURN_IF_ERROR(read_wavelets(sequence, coding, bits, &t));
  if (coding == DiracCoding::kLowDelay || coding == DiracCoding::kHighQuality) {
    CT_RETURN_IF_ERROR(read_slice_sizes(sequence, coding, bits, &t));
    CT_RETURN_IF_ERROR(read_matrix(bits, &t));
  } else {
    CT_RETURN_IF_ERROR(read_codeblocks(sequence, bits, &t));
  }
  CT_RETURN_IF_ERROR(check_read(bits));
  *transform = t;
  return {};
}

}  // namespace cudatransform
