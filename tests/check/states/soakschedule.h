// A seeded schedule of steps between a stream's frames; the same for every engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace testing {

// One step before a frame.
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
  bool exact;                   // only settings for which all engines give the same bytes
  std::vector<int> geometries;  // to choose from
};

struct SoakFrame {
  std::vector<SoakStep> before;
  // Frames may leave later than the next one comes: then the schedule changes nothing that they
  // have yet to meet, and EOS precedes any step that would drop them.
  bool delayed;
};

std::vector<SoakFrame> make_soak_schedule(const SoakPlan& plan);

}  // namespace testing
