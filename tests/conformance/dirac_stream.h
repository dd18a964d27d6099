// Whole streams of Dirac and VC-2 to pictures, as an application would.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dirac/decoder.h"
#include "dirac/renderer.h"
#include "tests/engine/engines.h"
#include "transform/device/device.h"

namespace cudatransform::test {

using Bytes = std::vector<uint8_t>;

// Samples without padding: 8 bits each or, where the component has more, 16, little endian.
struct DecodedPicture {
  std::shared_ptr<const DiracSequence> sequence;
  uint32_t number = 0;
  bool is_damaged = false;
  Bytes planes[kMaxComponents];

  Bytes joined() const;
};

struct DecodedStream {
  std::vector<DecodedPicture> pictures;  // in the order in which they are shown
  std::vector<std::string> errors;       // of units that could not be decoded
};

// `last_first`: tasks run in reverse order, as far as they are independent. `look`: gets every
// picture before it is rendered.
struct StreamDecoding {
  DiracLimits limits;
  bool last_first = false;
  std::function<void(const DiracPicture&)> look;
};

// The engines that can make a picture, and their functions for it. Instruction sets below the best
// of this CPU have separate tests.
std::vector<Engine> rendering_engines();
DiracRenderOps rendering_ops(const Engine& engine);

// Never fails: faults are in `errors`.
DecodedStream decode_dirac_stream(const Bytes& stream, Device& device, const DiracRenderOps& ops,
                                  const StreamDecoding& how = {});

// Pairs consecutive fields into frames; frames stay as they are.
std::vector<DecodedPicture> frames_of(std::vector<DecodedPicture> pictures);

}  // namespace cudatransform::test
