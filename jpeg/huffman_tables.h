// Huffman tables as a JPEG file defines them, and what decoders look codes up in.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "jpeg/huffman_steps.h"

namespace cudatransform {

// T.81, B.2.4.2: how many codes there are of each length, and their symbols.
struct HuffmanDefinition {
  std::array<uint8_t, 17> counts = {};  // of 1 to 16 bits; [0] is 0
  std::array<uint8_t, 256> symbols = {};
  bool defined = false;

  bool operator==(const HuffmanDefinition&) const = default;
};

// False where libjpeg refuses the table, or reads it in ways of its own: codes that do not fit
// their length or are all ones, no code at all, or sizes of DC differences above 15.
bool make_codes(const HuffmanDefinition& definition, bool is_ac, HuffmanCodes* codes);
// `set` has been made by make_codes().
void make_runs(const HuffmanSet& set, HuffmanRuns* runs);

// Annex K's tables, which Motion-JPEG leaves out: `chroma` or not.
const HuffmanDefinition& standard_definition(bool is_ac, bool chroma);

}  // namespace cudatransform
