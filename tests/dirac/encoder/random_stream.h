// Random streams of Dirac and VC-2 with their meaning, and the comparison of decoded pictures with
// it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dirac/picture.h"
#include "dirac/sequence.h"
#include "tests/dirac/encoder/picture.h"
#include "tests/dirac/encoder/picture_definition.h"
#include "tests/engine/dwt/definition.h"

namespace cudatransform::test {

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}

  // Both included.
  int64_t any(int64_t from, int64_t to) {
    const auto span = static_cast<uint64_t>(to - from) + 1;
    const uint64_t number = uint64_t{random_()} << 32 | random_();
    return from + static_cast<int64_t>(span != 0 ? number % span : number);
  }
  int number(int from, int to) { return static_cast<int>(any(from, to)); }
  bool one_in(int count) { return any(1, count) == 1; }

  template <typename Value, size_t kCount>
  const Value& of(const Value (&values)[kCount]) {
    return values[any(0, static_cast<int64_t>(kCount) - 1)];
  }

 private:
  std::mt19937 random_;
};

// The parse code, and its meaning for the header. Pictures of 16 bits are not predicted.
void draw_kind(Dice& dice, const DiracSequence& sequence, CodedPicture* picture);

// Everything else except number and references. True: coefficients are those of a picture, and
// numbers do not wrap; false: any coefficients.
bool draw_content(Dice& dice, const DiracSequence& sequence, CodedPicture* picture);

struct RandomStream {
  DiracSequence sequence;
  std::vector<CodedPicture> pictures;   // in the order of coding
  std::vector<DefinedPicture> defined;  // of each
  std::vector<uint8_t> bytes;
};

// The same for the same seed.
RandomStream make_random_stream(uint32_t seed, int pictures);

// A sequence header of any kind, and small pictures.
DiracSequence make_random_sequence(uint32_t seed);

// "" or the first difference. `found`: all its tasks have ended.
std::string judge_parsed(const CodedPicture& coded, const DiracPicture& found);

}  // namespace cudatransform::test
