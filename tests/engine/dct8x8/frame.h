// Sample and coefficient planes in an engine's memory, ringed by canaries.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A buffer lives on the host, where tests fill and read it, and is copied to the engine's memory
// and back as a whole. Bytes that no sample or coefficient occupies hold a pattern that depends on
// the address; after a job they must still hold it.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/dct8x8/picture.h"
#include "tests/engine/engines.h"

namespace cudatransform::test {

// One allocation on both sides.
class GuardedBuffer {
 public:
  GuardedBuffer(const Engine& engine, size_t bytes);
  uint8_t* host() { return host_.data(); }
  uint8_t* address() const { return static_cast<uint8_t*>(memory_->data()); }
  // A job may write these bytes.
  void allow(size_t offset, size_t bytes);
  Status upload(const Engine& engine);
  Status download(const Engine& engine);
  // After download(): where a byte outside the allowed ones changed, or "".
  std::string fault() const;

 private:
  std::vector<uint8_t> host_, before_, writable_;
  std::unique_ptr<Memory> memory_;
};

enum class Arrangement {
  kPlanar,      // one plane a component; 8 bits in bytes, more in 16-bit words
  kSemiPlanar,  // NV12 at 8 bits, P010 at 10: chroma interleaved, samples in the high bits
  kResidual,    // inverse only: signed 16 bits, neither shifted nor clamped
};
inline constexpr int kArrangementCount = 3;
const char* arrangement_name(Arrangement arrangement);

// Where rows and planes lie: chosen by a seed, so that pitches, offsets and gaps vary.
class SampleFrame {
 public:
  // `row_repeat`: of the chroma components.
  SampleFrame(const Engine& engine, const Picture& like, int depth, Arrangement arrangement,
              int row_repeat, bool writable, uint32_t seed);
  void fill(const Picture& picture);  // input; junk in the bits below a sample
  void poison();                      // output
  // What was written; "" or what is wrong with it (junk below the samples, unequal repeated rows).
  std::string read(Picture* picture);
  void describe(SamplePlane planes[3]) const;
  Status upload();
  Status download();
  std::string fault() const;

 private:
  struct Component {
    size_t buffer, offset;
    SamplePlane plane;  // addresses are filled in by describe()
  };
  uint8_t* at(const Component& component, int x, int row);
  uint32_t read_word(const Component& component, int x, int row);

  const Engine& engine_;
  std::mt19937 random_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<Component> components_;
};

class CoefFrame {
 public:
  CoefFrame(const Engine& engine, const Coefficients& like, CoefType type, Layout layout,
            Order order, bool writable, uint32_t seed);
  void fill(const Coefficients& coefs);
  void poison();
  void read(Coefficients* coefs);
  void describe(CoefPlane planes[3]) const;
  Status upload();
  Status download();
  std::string fault() const;

 private:
  struct Component {
    size_t buffer, offset;
    CoefPlane plane;
  };
  size_t offset_of(const Component& component, int bx, int by, int natural) const;

  const Engine& engine_;
  CoefType type_;
  Layout layout_;
  Order order_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<Component> components_;
};

}  // namespace cudatransform::test
