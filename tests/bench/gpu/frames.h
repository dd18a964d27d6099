// Frames of every pixel format in device memory: where planes and coefficients lie, many sets of
// buffers with a picture in them, and jobs on them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/gpu/driver.h"
#include "tests/engine/dct8x8/definition.h"
#include "tests/engine/kernel_jobs.h"
#include "transform/dct8x8/dct8x8.h"

namespace cudatransform::bench {

struct PixelFormat {
  const char* name;  // GStreamer's
  test::Sampling sampling;
  int depth;
  bool semi_planar;  // chroma interleaved; above 8 bits samples in the high bits
};

// A job without addresses. The size is that of the full picture.
struct JobSpec {
  PixelFormat format = {"GRAY8", test::Sampling::kGrey, 8, false};
  int width = 0, height = 0;
  Direction direction = Direction::kForward;
  Method method = Method::kFloat;
  Layout layout = Layout::kBlock;
  Order order = Order::kRaster;
  uint32_t measure = 0;
  Quantizer quantizer = Quantizer::kRound;  // forward
  int scale = 1;                            // inverse: samples are at 1/scale of the size

  CoefType type() const { return format.depth == 16 ? CoefType::kS32 : CoefType::kS16; }
};

// Equal for specs whose outputs must be equal, whatever else they measure.
std::string output_key(const JobSpec& spec);
// Equal for specs that can share buffers.
std::string buffers_key(const JobSpec& spec);

using test::Region;

// The layout of a set's allocations: one for all planes of samples, one for all planes of
// coefficients. Rows of samples begin at multiples of 64 bytes, planes at multiples of 256.
struct FrameGeometry {
  explicit FrameGeometry(const JobSpec& spec);

  int components = 0;
  SamplePlane samples[3];  // addresses are offsets
  CoefPlane coefs[3];
  size_t sample_allocation = 0, coef_allocation = 0;
  std::vector<Region> sample_regions, coef_regions;
  // The least traffic: visible samples, and whole blocks. For a scaled inverse only the parts of
  // blocks, in memory's units of 32 bytes, that the method depends on by transform/dct8x8/dct8x8.h.
  size_t sample_bytes = 0, coef_bytes = 0;
  size_t visible_samples = 0, blocks = 0;

 private:
  void add_samples(const JobSpec& spec, int component, int width, int rows);
  void add_coefs(const JobSpec& spec, int component);
};

// Several sets of the buffers of one frame, all with the same input: a picture, or the coefficients
// that the engine's forward transform makes of it. All outputs are poisoned.
class Buffers {
 public:
  // islow makes the coefficients, above 8 bits float.
  Buffers(const Gpu& gpu, Device& device, const JobSpec& spec, size_t sets);

  size_t sets() const { return sets_.size(); }
  // The spec's job on a set; `spec` has the buffers_key() of the constructor's.
  Dct8x8Job job(const JobSpec& spec, size_t set) const;
  void* input(size_t set) const;
  void* output(size_t set) const;
  const std::vector<Region>& output_regions() const {
    return forward_ ? geometry_.coef_regions : geometry_.sample_regions;
  }
  PictureSums* sums(size_t set) const;
  // All output and all sums; waits.
  void poison(uint8_t value) const;

 private:
  struct Set {
    std::unique_ptr<Memory> samples, coefs;
  };
  void fill_coefs(Device& device, const JobSpec& spec);

  const Gpu& gpu_;
  FrameGeometry geometry_;
  bool forward_;
  std::vector<Set> sets_;
  std::unique_ptr<Memory> sums_;
};

}  // namespace cudatransform::bench
