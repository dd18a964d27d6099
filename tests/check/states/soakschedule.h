// A seeded schedule of what happens to a stream between its frames; the same for every engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace testing {

// One thing that is done before a frame.
struct SoakStep {
  enum Kind {
    kProperty,     // element.property = value, where the element has it
    kFrames,       // frames of geometry `number` from here on
    kCoding,       // the caps between the transforms
    kGap,          // a GAP event
    kFlush,        // a flush, and a new segment
    kEndOfStream,  // EOS, and after a flush the stream goes on
    kReady,        // down to READY, and back
    kNull,         // down to NULL, `number` kProperty steps, and back
  };
  Kind kind;
  std::string element, property, value;
  int number = 0;
};

struct SoakPlan {
  enum Kind {
    kQueue,     // the DCT's coefficients go through a queue
    kFiles,     // through JPEG files
    kWavelets,  // wavelet coefficients go through a queue
  };
  int frames;
  unsigned seed;
  Kind kind;
  bool exact;                   // nothing but what all engines answer with the same bytes
  std::vector<int> geometries;  // to choose from
};

struct SoakFrame {
  std::vector<SoakStep> before;
  // Frames may leave later than the next one comes: then nothing is changed that they have yet to
  // meet, and EOS comes before what would drop them.
  bool delayed;
};

std::vector<SoakFrame> make_soak_schedule(const SoakPlan& plan);

}  // namespace testing
