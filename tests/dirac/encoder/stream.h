// Joins units to a stream of Dirac or VC-2 as a file has it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/dirac/encoder/headers.h"
#include "tests/dirac/encoder/picture.h"

namespace cudatransform::test {

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
