// Whole streams of Dirac and VC-2: their headers, and the units that hold pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, clauses 11 and 12; Dirac specification 2.2.3, clauses 10 and 11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dirac/sequence.h"
#include "tests/dirac/bit_writer.h"
#include "tests/dirac/encoder/picture.h"

namespace cudatransform::test {

// The choice among several codings of the same header.
struct SequenceForm {
  bool repeats = false;      // also writes values equal to the base format's
  bool uses_presets = true;  // where there is one
};

void write_sequence(const DiracSequence& sequence, const SequenceForm& form, BitWriter* writer);

// From the picture's number to its references.
void write_picture_header(const CodedPicture& picture, BitWriter* writer);
void write_prediction(const CodedPicture& picture, BitWriter* writer);
void write_transform(const DiracSequence& sequence, const CodedPicture& picture, BitWriter* writer);

class StreamWriter {
 public:
  void add_sequence(const DiracSequence& sequence, const SequenceForm& form = {});
  // Uses the sequence that was added last. Throws if its slices cannot be written.
  void add_picture(const CodedPicture& picture);
  // Auxiliary data, padding, the end of the sequence, or an unknown unit.
  void add_unit(uint8_t code, const std::vector<uint8_t>& data);

  // A stream without an end of the sequence may be continued.
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t> take();

 private:
  void add_fragments(const CodedPicture& picture);

  DiracSequence sequence_;
  std::vector<uint8_t> bytes_;
  size_t last_size_ = 0;  // of the unit before
};

// The data of a whole picture after the parse info.
std::vector<uint8_t> write_picture(const DiracSequence& sequence, const CodedPicture& picture);

}  // namespace cudatransform::test
