// From decoded pictures to samples on a host device: dequantiser, wavelet, motion compensation,
// references.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "dirac/order.h"
#include "dirac/picture.h"
#include "transform/device/device.h"
#include "transform/device/status.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"

namespace cudatransform {

// The samples of a picture: 8 bits each where the component has at most 8, else 16, in the lower
// bits. Its half-sample positions are there when a picture has asked for them.
struct DiracRendered {
  std::shared_ptr<const DiracSequence> sequence;
  uint32_t number = 0;
  bool is_damaged = false;  // itself, or what it was predicted from
  SamplePlane samples[kMaxComponents];
  ObmcReference reference;
  bool is_upsampled = false;
  std::unique_ptr<Memory> memory;
};
using DiracRenderedPtr = std::shared_ptr<DiracRendered>;

// What the stages of rendering took, in nanoseconds.
struct DiracRenderTimes {
  uint64_t wavelet = 0;   // dequantising and the inverse transform
  uint64_t upsample = 0;  // half-sample positions of references
  uint64_t motion = 0;    // prediction from blocks, the sum with the residual, clipping
};

// Takes pictures in the order in which they are coded. One thread at a time.
class DiracRenderer {
 public:
  virtual ~DiracRenderer() = default;

  // `picture`: all its tasks have ended; not used after the call. A reference that is missing is
  // mid-grey.
  virtual Status render(const DiracPicture& picture, DiracRenderedPtr* rendered) = 0;
  // Of the last picture.
  virtual DiracRenderTimes times() const = 0;
  // Forgets the references: a stream was left or another one begins.
  virtual void reset() = 0;
};

class DiracHostRenderer final : public DiracRenderer {
 public:
  DiracHostRenderer(Device& device, const DwtOps& dwt, const ObmcOps& obmc)
      : device_(device), dwt_(dwt), obmc_(obmc) {}

  Status render(const DiracPicture& picture, DiracRenderedPtr* rendered) override;
  DiracRenderTimes times() const override { return times_; }
  void reset() override { references_.clear(); }

 private:
  Status make_picture(const std::shared_ptr<const DiracSequence>& sequence,
                      DiracRenderedPtr* rendered);
  Status make_grey(const std::shared_ptr<const DiracSequence>& sequence,
                   DiracRenderedPtr* rendered);
  Status make_residual(const DiracPicture& picture, SamplePlane* residual);
  Status invert(const DiracPicture& picture, const DwtPlane* pyramids, SamplePlane* residual);
  Status upsample(DiracRendered* rendered);
  Status find_references(const DiracPicture& picture, DiracRenderedPtr* found, bool* is_damaged);

  Device& device_;
  const DwtOps& dwt_;
  const ObmcOps& obmc_;
  std::shared_ptr<const DiracSequence> sequence_;
  DiracReferences<DiracRenderedPtr> references_;
  std::unique_ptr<Memory> scratch_;  // pyramids and residual
  DiracRenderTimes times_;
};

}  // namespace cudatransform
