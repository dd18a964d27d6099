// Planes in an engine's memory, ringed by canaries; planes of samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/engines.h"
#include "transform/picture.h"

namespace cudatransform::test {

enum class Sampling { kGray, k420, k422, k444, k411, k440, kRgb };
inline constexpr int kSamplingCount = 7;
const char* sampling_name(Sampling sampling);
int component_count(Sampling sampling);

template <typename T>
struct BasicPlane {
  int width = 0;
  int rows = 0;
  std::vector<T> samples;

  BasicPlane() = default;
  BasicPlane(int w, int h) : width(w), rows(h), samples(static_cast<size_t>(w) * h) {}
  T& at(int x, int y) { return samples[static_cast<size_t>(y) * width + x]; }
  const T& at(int x, int y) const { return samples[static_cast<size_t>(y) * width + x]; }
};
using Plane = BasicPlane<int>;
using Picture = std::vector<Plane>;                   // components in JPEG order
using RealPicture = std::vector<BasicPlane<double>>;  // before rounding

// The planes of a picture of `width` x `height`, all samples 0.
Picture empty_picture(Sampling sampling, int width, int height);
uint64_t squared_error(const Plane& a, const Plane& b);

// "" or the first difference.
std::string judge_equal(const Picture& expected, const Picture& got);

// A buffer lives on the host, where tests fill and read it, and is copied as a whole to the
// engine's memory and back. Bytes outside all samples and coefficients hold a pattern that depends
// on the address; after a job they must still hold it.

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

// The planes of a picture or of its coefficients, in one buffer or in several.
class GuardedFrame {
 public:
  Status upload();
  Status download();
  // After download(): GuardedBuffer::fault() of the first faulty buffer, or "".
  std::string fault() const;

 protected:
  explicit GuardedFrame(const Engine& engine) : engine_(engine) {}

  const Engine& engine_;
  std::vector<GuardedBuffer> buffers_;
};

enum class Arrangement {
  kPlanar,      // one plane a component; 8 bits in bytes, more in 16-bit words
  kSemiPlanar,  // NV12 at 8 bits, P010 at 10: chroma interleaved, samples in the high bits
  kResidual,    // inverse only: signed 16 bits, neither shifted nor clamped
};
inline constexpr int kArrangementCount = 3;
const char* arrangement_name(Arrangement arrangement);

// The places of rows and planes: chosen by a seed, so that pitches, offsets and gaps vary.
class SampleFrame : public GuardedFrame {
 public:
  // `row_repeat`: of the chroma components.
  SampleFrame(const Engine& engine, const Picture& like, int depth, Arrangement arrangement,
              int row_repeat, bool writable, uint32_t seed);
  void fill(const Picture& picture);  // input; junk in the bits below a sample
  void poison();                      // output
  // The output; "" or the fault (junk below the samples, unequal repeated rows).
  std::string read(Picture* picture);
  void describe(SamplePlane planes[3]) const;

 private:
  struct Component {
    size_t buffer, offset;
    SamplePlane plane;  // addresses are filled in by describe()
  };
  uint8_t* at(const Component& component, int x, int row);
  uint32_t read_word(const Component& component, int x, int row);

  std::mt19937 random_;
  std::vector<Component> components_;
};

// The place of a plane in its allocation.
struct Room {
  size_t offset, total;
};

// Room around a plane: often an odd number of units, sometimes none, so that reads past the end
// leave the allocation where a sanitizer can see it.
size_t pick_gap(std::mt19937& random, size_t unit);
// A place for `bytes`. Without a gap after it the plane ends where the allocation does, to the
// byte: the host device rounds sizes up to 64, which would hide a read past the end.
Room make_room(std::mt19937& random, size_t bytes, size_t unit);
// Half of all frames have a buffer pool's layout, which kernels may have a faster way for: every
// plane and row aligned, blocks without gaps. Consecutive seeds agree.
bool is_pooled(uint32_t seed);
Room make_pooled_room(std::mt19937& random, size_t bytes);
size_t align_up(size_t bytes);  // as in a pool

}  // namespace cudatransform::test
