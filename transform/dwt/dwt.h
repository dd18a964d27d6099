// The integer wavelet transforms of Dirac, VC-2 and JPEG 2000 as a job: what to transform, how,
// from where to where, and what to measure.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every engine offers a DwtOps; all of them take the same DwtJob and write the same bytes. The
// filters are lifting steps on integers (lifting.h), so that engines can differ only in where
// values wrap. That is fixed as well, for every value that coefficients may have:
//
//   kS16  sums are exact in 32 bits; results of a lifting step, a shift between levels or the
//         quantizer are taken modulo 2^16. For daub97, whose values between its steps are larger
//         than its coefficients, only results of a line's last step are
//   kS32  sums are taken modulo 2^32; products of the filters fidelity and daub97, which have
//         factors of up to 13 bits, and of the quantizer are exact in 64 bits, and results of a
//         step are taken modulo 2^32
//
// An engine may compute in wider or narrower numbers where the result is the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transform/device/device.h"
#include "transform/dwt/bands.h"
#include "transform/picture.h"

namespace cudatransform {

// The first seven have the numbers that bitstreams of Dirac and VC-2 give them (SMPTE ST 2042-1).
// lifting.h has a line for each.
enum class Wavelet {
  kDd97,       // Deslauriers-Dubuc (9, 7)
  kLegall53,   // LeGall (5, 3)
  kDd137,      // Deslauriers-Dubuc (13, 7)
  kHaar,       // without a shift between levels
  kHaarShift,  // Haar with a shift of 1
  kFidelity,   // eight taps a step; made for downscaling by dropping levels
  kDaub97,     // Daubechies (9, 7) in integers
  kJ2k53,      // the reversible filter of JPEG 2000 (ITU-T T.800, annex F)
};
inline constexpr int kWaveletCount = 8;

// "dd97", "legall53", ...: the spelling of the wavelet property and of caps.
const char* wavelet_name(Wavelet wavelet);

// The algorithm of the CUDA engine, with identical output. The CPU engine has one.
enum class DwtMethod {
  kFused,          // both directions of a level in one launch
  kSeparableSlab,  // van der Laan's: a kernel for rows, then one for columns with a sliding window
};

enum class DwtCoefType { kS16, kS32 };

// One component's coefficients in pyramid arrangement: the bands of bands.h, at DwtBand::x and y.
// padded_width() x padded_height() of them.
struct DwtPlane {
  void* data = nullptr;  // aligned to the coefficient type; CUDA: 16 bytes, as the pitch
  ptrdiff_t pitch = 0;   // bytes from one row to the next
};

struct DwtJob {
  Direction direction = Direction::kForward;
  DwtMethod method = DwtMethod::kFused;
  Wavelet wavelet = Wavelet::kLegall53;     // of vertical steps, and of horizontal ones unless
  Wavelet wavelet_ho = Wavelet::kLegall53;  // this is another; it decides about the shift. Both or
                                            // neither are kJ2k53
  DwtLevels levels;
  DwtCoefType type = DwtCoefType::kS16;
  int depth = 8;       // 8, 10, 12, 16: bits of a sample; level shift 2^(depth-1)
  int components = 0;  // 1 or 3
  // They have type kU8 or kU16; the inverse also writes kS16, without level shift and clamping to
  // the depth, and clamped to 16 bits. Forward the last column and row are repeated up to the
  // padded size, before the level shift.
  SamplePlane samples[kMaxComponents];
  // Inverse, kS16: whether planes of samples have memory up to the padded size, which may be
  // written. Engines are faster with it.
  bool samples_have_room = false;
  DwtPlane coefs[kMaxComponents];
  // The quantizer index of each band, 0 (lossless) to kMaxQuantIndex: see quantizer.h.
  uint8_t quant_index[kMaxComponents][kMaxDwtBands] = {};
  uint32_t measure = 0;
  SamplePlane reference[kMaxComponents];  // inverse with kMeasureSse; sizes as samples[]
  PictureSums* sums = nullptr;            // as Dct8x8Job has them: host memory (CUDA: pinned)
  Timer* timer = nullptr;                 // both, or neither
  PictureTimes* times = nullptr;
};

// Checks everything that an engine relies on, so that a job that passes cannot make a kernel leave
// its buffers. Engines call it first.
Status validate(const DwtJob& job);

// The operations of one engine. submit() returns immediately; `fence` (may be null) is done when
// outputs and sums are complete. Coefficients that are read are not changed; padding bytes of the
// output pitch are never written, except if `samples_have_room`.
struct DwtOps {
  const char* name;
  Status (*submit)(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence);
};

// ---- On a host device (transform/device/host_device.h) ----

// The CPU engine: Highway (run-time dispatch), oneTBB over stripes of
// components.
const DwtOps& host_dwt_ops();

// The same in portable C++ alone, one component and one step at a time: the SIMD code is tested
// against it.
const DwtOps& portable_dwt_ops();

}  // namespace cudatransform
