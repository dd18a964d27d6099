// The sequence header of Dirac and VC-2: sizes, rates, ranges of samples and colors.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/sequence.h"

#include <bit>
#include <iterator>
#include <string>

#include "dirac/bits.h"

namespace cudatransform {

namespace {

std::string text(uint64_t number) { return std::to_string(number); }

Status damaged(const std::string& what) {
  return Status::error(StatusCode::kInvalidArgument, "sequence header: " + what);
}

// Profiles of Dirac 2.2.3 above low delay; VC-2 has 0 and 3.
bool is_vc2(const DiracSequence& s) {
  return s.profile == 3 || (s.profile == 0 && s.major_version <= 3 && s.minor_version == 0);
}

DiracColor preset_color(uint32_t index, const DiracSequence& sequence) {
  DiracColor color = kDiracColors[index];
  if (index == kDiracColorDcinema && !is_vc2(sequence)) color.matrix = 0;
  return color;
}

// Presets that are out of range are the caller's to refuse.
Status start_from_base_format(DiracSequence* s) {
  if (s->base_format >= std::size(kDiracBaseFormats)) {
    return damaged("base video format " + text(s->base_format) + ", expected 0 to " +
                   text(std::size(kDiracBaseFormats) - 1));
  }
  const DiracBaseFormat& base = kDiracBaseFormats[s->base_format];
  s->width = base.width;
  s->height = base.height;
  s->chroma = base.chroma;
  s->interlaced = base.interlaced;
  s->top_field_first = base.top_field_first;
  s->frame_rate = kDiracFrameRates[base.frame_rate - 1];
  s->pixel_aspect_ratio = kDiracAspectRatios[base.pixel_aspect_ratio - 1];
  s->clean_width = base.clean_width != 0 ? base.clean_width : base.width;
  s->clean_height = base.clean_height != 0 ? base.clean_height : base.height;
  s->clean_left = base.clean_left;
  s->clean_top = 0;
  for (int i = 0; i < 2; ++i) s->range[i] = kDiracSignalRanges[base.signal_range - 1][i];
  const bool uhd_of_dirac = base.color == kDiracColorUhd && !is_vc2(*s);
  s->color = preset_color(static_cast<uint32_t>(uhd_of_dirac ? 3 : base.color), *s);
  return {};
}

Status read_sizes(DiracBits& bits, DiracSequence* s) {
  if (bits.bit()) {
    s->width = bits.unsigned_code();
    s->height = bits.unsigned_code();
    s->clean_width = s->width;
    s->clean_height = s->height;
    s->clean_left = 0;
  }
  if (bits.bit()) {
    const uint32_t index = bits.unsigned_code();
    if (index > 2) return damaged("chroma format " + text(index) + ", expected 0 to 2");
    s->chroma = static_cast<DiracChroma>(index);
  }
  if (bits.bit()) {
    const uint32_t scan = bits.unsigned_code();
    if (scan > 1) return damaged("source sampling " + text(scan) + ", expected 0 or 1");
    s->interlaced = scan == 1;
  }
  return {};
}

template <size_t kCount>
Status read_ratio(DiracBits& bits, const char* what, const DiracRational (&presets)[kCount],
                  DiracRational* ratio) {
  if (!bits.bit()) return {};
  const uint32_t index = bits.unsigned_code();
  if (index > kCount) return damaged(std::string(what) + " " + text(index) + " is not a preset");
  if (index != 0) {
    *ratio = presets[index - 1];
    return {};
  }
  ratio->numerator = bits.unsigned_code();
  ratio->denominator = bits.unsigned_code();
  if (ratio->numerator == 0 || ratio->denominator == 0) {
    return damaged(std::string(what) + " " + text(ratio->numerator) + "/" +
                   text(ratio->denominator));
  }
  return {};
}

Status read_range(DiracBits& bits, DiracSequence* s) {
  if (!bits.bit()) return {};
  const uint32_t index = bits.unsigned_code();
  if (index > std::size(kDiracSignalRanges)) {
    return damaged("signal range " + text(index) + " is not a preset");
  }
  for (int i = 0; i < 2; ++i) {
    if (index != 0) {
      s->range[i] = kDiracSignalRanges[index - 1][i];
    } else {
      s->range[i].offset = bits.unsigned_code();
      s->range[i].excursion = bits.unsigned_code();
    }
  }
  return {};
}

Status read_color(DiracBits& bits, DiracSequence* s) {
  if (!bits.bit()) return {};
  const uint32_t index = bits.unsigned_code();
  if (index >= std::size(kDiracColors)) {
    return damaged("color specification " + text(index) + " is not a preset");
  }
  s->color = preset_color(index, *s);
  if (index != 0) return {};
  if (bits.bit()) s->color.primaries = bits.unsigned_code();
  if (bits.bit()) s->color.matrix = bits.unsigned_code();
  if (bits.bit()) s->color.transfer = bits.unsigned_code();
  return {};
}

Status check_sizes(const DiracSequence& s, const DiracLimits& limits) {
  if (s.width == 0 || s.height == 0) {
    return damaged("picture size " + text(s.width) + "x" + text(s.height));
  }
  uint64_t samples = 0;
  const bool too_large = s.width > limits.max_width || s.height > limits.max_height;
  for (int c = 0; c < kMaxComponents && !too_large; ++c) {
    samples += uint64_t{s.picture_width(c)} * s.frame_height(c);
    if (s.picture_height(c) == 0) return damaged("field of 0 rows");
  }
  if (too_large || samples > limits.max_samples) {
    return Status::error(StatusCode::kUnsupported, "picture size " + text(s.width) + "x" +
                                                       text(s.height) + " exceeds the limit (" +
                                                       text(limits.max_width) + "x" +
                                                       text(limits.max_height) + ", " +
                                                       text(limits.max_samples) + " samples)");
  }
  for (int i = 0; i < 2; ++i) {
    if (const int depth = s.range[i].depth(); depth < 1 || depth > 16) {
      return damaged("precision of " + std::to_string(depth) + " bits, expected 1 to 16");
    }
  }
  return {};
}

}  // namespace

int DiracSignalRange::depth() const { return static_cast<int>(std::bit_width(excursion)); }

// Sizes that chroma does not divide are rounded up, as encoders do where they write such streams.
uint32_t DiracSequence::picture_width(int component) const {
  const int shift = component == 0 ? 0 : chroma_shift_x();
  return (width >> shift) + (shift != 0 && width % 2 != 0);
}
uint32_t DiracSequence::frame_height(int component) const {
  const int shift = component == 0 ? 0 : chroma_shift_y();
  return (height >> shift) + (shift != 0 && height % 2 != 0);
}
uint32_t DiracSequence::picture_height(int component) const {
  if (!field_coding) return frame_height(component);
  const int shift = component == 0 ? 0 : chroma_shift_y();
  const uint32_t rows = height / 2;
  return (rows >> shift) + (shift != 0 && rows % 2 != 0);
}

Status read_sequence(std::span<const uint8_t> data, const DiracLimits& limits,
                     DiracSequence* sequence) {
  DiracBits bits(data);
  DiracSequence s;
  s.major_version = bits.unsigned_code();
  s.minor_version = bits.unsigned_code();
  s.profile = bits.unsigned_code();
  s.level = bits.unsigned_code();
  s.base_format = bits.unsigned_code();
  CT_RETURN_IF_ERROR(start_from_base_format(&s));
  CT_RETURN_IF_ERROR(read_sizes(bits, &s));
  CT_RETURN_IF_ERROR(read_ratio(bits, "frame rate", kDiracFrameRates, &s.frame_rate));
  CT_RETURN_IF_ERROR(
      read_ratio(bits, "pixel aspect ratio", kDiracAspectRatios, &s.pixel_aspect_ratio));
  if (bits.bit()) {
    s.clean_width = bits.unsigned_code();
    s.clean_height = bits.unsigned_code();
    s.clean_left = bits.unsigned_code();
    s.clean_top = bits.unsigned_code();
  }
  CT_RETURN_IF_ERROR(read_range(bits, &s));
  CT_RETURN_IF_ERROR(read_color(bits, &s));
  const uint32_t coding = bits.unsigned_code();
  if (bits.overran()) return damaged("truncated");
  if (bits.too_large()) return damaged("number of more than 32 bits");
  if (coding > 1) return damaged("picture coding mode " + text(coding) + ", expected 0 or 1");
  s.field_coding = coding == 1;
  CT_RETURN_IF_ERROR(check_sizes(s, limits));
  *sequence = s;
  return {};
}

}  // namespace cudatransform
