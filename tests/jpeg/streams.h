// JPEG files of kinds that no encoder makes: tables of any shape, any quantized coefficients, any
// order of scans.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "jpeg/huffman_tables.h"

namespace cudatransform::test {

enum class TableShape {
  kAnnexK,      // as files have them
  kRandom,      // lengths by chance
  kEqual,       // all symbols of 8 bits: nothing synchronizes
  kLongest,     // all of 16 bits
  kUnary,       // 0, 10, 110 and so on: all-ones prefixes
  kFewSymbols,  // a DC difference of nothing, and the end of the block, a bit each
};
inline constexpr TableShape kTableShapes[] = {TableShape::kAnnexK, TableShape::kRandom,
                                              TableShape::kEqual,  TableShape::kLongest,
                                              TableShape::kUnary,  TableShape::kFewSymbols};

struct StreamKind {
  int width = 64, height = 64;
  int components = 3;
  int h = 2, v = 2;  // sampling factors of the first component and the fourth; others have 1
  TableShape shape = TableShape::kAnnexK;
  int sets = 2;              // of tables: 1 for all, 2 for the first and the rest, 3
  int restart_interval = 0;  // in MCUs
  int scans = 1;             // 1, 2 or as many as components
  int in_first = 1;          // components in the first of two scans
  bool extended = false;     // SOF1, as 12 bits have in any case
  uint32_t depth = 8;        // bits of a sample; at 12 bits divisors have 16
  bool sparse = false;       // of six codes one ends the block, where there is such a code
  uint32_t seed = 1;

  std::string text() const;
};

// A sound file with quantized coefficients by chance.
std::vector<uint8_t> make_stream(const StreamKind& kind);

// The positions of all markers with codes from `first` to `last`.
std::vector<size_t> markers_of(const std::vector<uint8_t>& file, uint8_t first, uint8_t last);

// Oddities that do not damage a file.
enum class Oddity { kBeforeRestart, kBeforeEnd, kNoEnd, kParameters, kStray, kRestartAtEnd };
// Adds one to a file of make_stream(). Returns its bits of jpeg/errors.h.
uint32_t add_oddity(std::vector<uint8_t>* file, Oddity oddity, std::mt19937& random);

}  // namespace cudatransform::test
