// Writes sequence headers, and the headers of a picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// SMPTE ST 2042-1, clauses 11 and 12; Dirac specification 2.2.3, clauses 10 and 11.
#pragma once

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

}  // namespace cudatransform::test
