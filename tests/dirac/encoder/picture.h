// A picture for the encoder, and the codes of its coefficients and of its motion.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Headers and blocks have the decoder's own plain types, so that tests can compare parsed ones.
// Quantized coefficients are dense, and bands are laid out by separate rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dirac/picture_header.h"
#include "dirac/sequence.h"
#include "transform/obmc/obmc.h"
#include "transform/picture.h"

namespace cudatransform::test {

// The first column or row of part `index` of `count`: codeblocks and slices.
inline int32_t part_begin(int32_t size, int32_t index, int32_t count) {
  return static_cast<int32_t>(static_cast<int64_t>(size) * index / count);
}

struct CodedBand {
  int32_t width = 0, height = 0;
  int level = 0;         // 0 is the coarsest
  int orientation = 0;   // bit 0: high-pass horizontally, bit 1: vertically
  int32_t x = 0, y = 0;  // in the pyramid
  int32_t columns = 1, rows = 1;
  std::vector<int32_t> qcoefs;  // row after row
  // For core pictures. `quantizers`: one for each codeblock, if codeblocks have their own.
  bool is_coded = true;
  int quantizer = 0;
  std::vector<int> quantizers;
  std::vector<bool> skips_zeros;  // of each codeblock: whether an all-zero one says so

  int32_t& at(int32_t x, int32_t y) {
    return qcoefs[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
  int32_t at(int32_t x, int32_t y) const {
    return qcoefs[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
};

struct CodedPicture {
  uint8_t parse_code = 0x08;
  DiracPictureHeader header;

  // For inter pictures. Blocks are equal within units of the splits.
  DiracPrediction prediction;
  int block_preset = 0;  // 0: written out
  bool writes_weights = false;
  std::vector<uint8_t> splits;  // of superblocks
  std::vector<ObmcBlock> blocks;
  bool has_residual = true;

  DiracTransform transform;
  bool writes_partition = false;  // of codeblocks
  bool writes_matrix = false;
  std::vector<CodedBand> bands[kMaxComponents];
  std::vector<uint8_t> slice_quantizers;  // in raster order

  // Like schroedinger before 1.0.8: a band of a single codeblock has no codeblock quantizer.
  bool omits_single_deltas = false;

  bool trims = false;     // leaves out ones at ends of blocks of data
  uint32_t padding = 0;   // the seed of the slices' padding
  int32_t fragments = 0;  // slices of each; 0: the picture is whole

  bool is_intra() const { return header.reference_count == 0; }
  int32_t superblocks_across() const { return prediction.blocks_across / 4; }
  int32_t superblocks_down() const { return prediction.blocks_down / 4; }
};

// The bands of all components, without quantized coefficients, as `sequence` and the picture's
// transform have them.
void lay_out_bands(const DiracSequence& sequence, CodedPicture* picture);

// The quantizer at (x, y) of a band, less the matrix's entry.
int quantizer_at(const CodedPicture& picture, int component, int band, int32_t x, int32_t y);

// The number of the codeblock or slice that contains `at` of `size`.
int32_t part_of(int32_t at, int32_t size, int32_t count);

// Dirac specification 2.2.3, clause 13.4; SMPTE ST 2042-1, clause 13.5.

// The data of a band that is coded, at least a byte.
std::vector<uint8_t> write_band(const CodedPicture& picture, int component, int band);

// All slices, in raster order. Low delay: throws std::runtime_error if the slices lack room.
std::vector<std::vector<uint8_t>> write_slices(const CodedPicture& picture);

// The fewest bytes for every low delay slice, and the smallest scaler for high quality ones.
uint32_t min_slice_bytes(const CodedPicture& picture);
uint32_t min_size_scaler(const CodedPicture& picture);

// Dirac specification 2.2.3, clause 12.

// The streams in their order: splits, modes, vectors of each existing reference, DC values.
std::vector<std::vector<uint8_t>> write_motion(const CodedPicture& picture);

}  // namespace cudatransform::test
