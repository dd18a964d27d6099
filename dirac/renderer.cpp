// From decoded pictures to samples on a host device: dequantiser, wavelet, motion compensation,
// references.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/renderer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace cudatransform {

namespace {

constexpr size_t kAlignment = 64;

size_t rounded_up(size_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

SamplePlane describe_plane(const DiracSequence& sequence, int component, SampleType type) {
  SamplePlane plane;
  plane.type = type;
  plane.stride = type == SampleType::kU8 ? 1 : 2;
  plane.width = static_cast<int32_t>(sequence.picture_width(component));
  plane.height = static_cast<int32_t>(sequence.picture_height(component));
  plane.pitch = static_cast<ptrdiff_t>(
      rounded_up(static_cast<size_t>(plane.width) * static_cast<size_t>(plane.stride)));
  return plane;
}
size_t bytes_of(const SamplePlane& plane) {
  return static_cast<size_t>(plane.pitch) * static_cast<size_t>(plane.height);
}

SampleType sample_type(const DiracSequence& sequence, int component) {
  return sequence.depth(component) <= 8 ? SampleType::kU8 : SampleType::kU16;
}

// Adds the time until it goes.
class StageTimer {
 public:
  explicit StageTimer(uint64_t* sum) : sum_(sum) {}
  ~StageTimer() {
    *sum_ += static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin_).count());
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  uint64_t* const sum_;
  const Clock::time_point begin_ = Clock::now();
};

// What a picture without levels has: its coefficients are the residual.
template <typename Coef>
void crop(const DwtPlane& pyramid, const SamplePlane& residual) {
  for (int32_t y = 0; y < residual.height; ++y) {
    const auto* from = reinterpret_cast<const Coef*>(static_cast<const uint8_t*>(pyramid.data) +
                                                     y * pyramid.pitch);
    auto* to =
        reinterpret_cast<int16_t*>(static_cast<uint8_t*>(residual.data) + y * residual.pitch);
    for (int32_t x = 0; x < residual.width; ++x) {
      to[x] = static_cast<int16_t>(std::clamp<int32_t>(from[x], INT16_MIN, INT16_MAX));
    }
  }
}

void dequantise_component(const DiracPicture& picture, int component, const DwtPlane& pyramid) {
  const DiracLevels& levels = picture.levels();
  const bool is_intra = picture.header().is_intra();
  for (int i = 0; i < levels.band_count(); ++i) {
    dequantise_dirac_band(levels.band(component, i), levels.is_wide(), is_intra, pyramid.data,
                          pyramid.pitch);
  }
  if (is_intra && picture.header().coding != DiracCoding::kHighQuality) {
    predict_dirac_dc(levels.band(component, 0), levels.is_wide(), pyramid.data, pyramid.pitch);
  }
}

}  // namespace

Status DiracHostRenderer::render(const DiracPicture& picture, DiracRenderedPtr* rendered) {
  if (picture.shared_sequence() != sequence_) {
    reset();
    sequence_ = picture.shared_sequence();
  }
  times_ = {};
  const DiracPictureHeader& header = picture.header();
  DiracRenderedPtr found[kMaxObmcReferences];
  bool is_damaged = picture.damage() != nullptr;
  CT_RETURN_IF_ERROR(find_references(picture, found, &is_damaged));
  if (header.retires) references_.retire(header.retired);

  DiracRenderedPtr made;
  CT_RETURN_IF_ERROR(make_picture(sequence_, &made));
  made->number = header.number;
  made->is_damaged = is_damaged;
  ObmcJob job;
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.depth[c] = sequence_->depth(c);
    job.samples[c] = made->samples[c];
  }
  if (picture.has_residual()) {
    const StageTimer timer(&times_.wavelet);
    CT_RETURN_IF_ERROR(make_residual(picture, job.residual));
  }
  if (!header.is_intra()) {
    const DiracPrediction& prediction = picture.prediction();
    job.blocks = picture.blocks();
    job.blocks_across = prediction.blocks_across;
    job.blocks_down = prediction.blocks_down;
    job.length_x = prediction.length_x;
    job.length_y = prediction.length_y;
    job.separation_x = prediction.separation_x;
    job.separation_y = prediction.separation_y;
    job.chroma_shift_x = sequence_->chroma_shift_x();
    job.chroma_shift_y = sequence_->chroma_shift_y();
    job.precision = prediction.precision;
    job.weight_bits = prediction.weight_bits;
    std::copy_n(prediction.weights, kMaxObmcReferences, job.weights);
    job.reference_count = header.reference_count;
    for (int r = 0; r < header.reference_count; ++r) {
      if (job.precision > 0) CT_RETURN_IF_ERROR(upsample(found[r].get()));
      job.references[r] = found[r]->reference;
    }
  }
  {
    const StageTimer timer(&times_.motion);
    CT_RETURN_IF_ERROR(obmc_.compensate(device_, device_.queue(QueueKind::kCompute), job, nullptr));
  }
  if (header.is_reference) references_.add(header.number, made);
  *rendered = std::move(made);
  return {};
}

Status DiracHostRenderer::find_references(const DiracPicture& picture, DiracRenderedPtr* found,
                                          bool* is_damaged) {
  const DiracPictureHeader& header = picture.header();
  for (int r = 0; r < header.reference_count; ++r) {
    found[r] = references_.find(header.references[r]);
    if (found[r] == nullptr) {
      CT_RETURN_IF_ERROR(make_grey(sequence_, &found[r]));
    }
    *is_damaged |= found[r]->is_damaged;
  }
  return {};
}

// Planes 1 to 3 of the reference have memory from the start: every reference may need them.
Status DiracHostRenderer::make_picture(const std::shared_ptr<const DiracSequence>& sequence,
                                       DiracRenderedPtr* rendered) {
  auto made = std::make_shared<DiracRendered>();
  made->sequence = sequence;
  size_t bytes = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    made->samples[c] = describe_plane(*sequence, c, sample_type(*sequence, c));
    bytes += 4 * bytes_of(made->samples[c]);
  }
  CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, bytes, &made->memory));
  auto* at = static_cast<uint8_t*>(made->memory->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    for (SamplePlane& plane : made->reference.planes[c]) {
      plane = made->samples[c];
      plane.data = at;
      at += bytes_of(plane);
    }
    made->samples[c] = made->reference.planes[c][0];
  }
  *rendered = std::move(made);
  return {};
}

Status DiracHostRenderer::make_grey(const std::shared_ptr<const DiracSequence>& sequence,
                                    DiracRenderedPtr* rendered) {
  CT_RETURN_IF_ERROR(make_picture(sequence, rendered));
  (*rendered)->is_damaged = true;
  ObmcJob job;  // neither residual nor prediction
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.depth[c] = sequence->depth(c);
    job.samples[c] = (*rendered)->samples[c];
  }
  return obmc_.compensate(device_, device_.queue(QueueKind::kCompute), job, nullptr);
}

Status DiracHostRenderer::upsample(DiracRendered* rendered) {
  if (rendered->is_upsampled) return {};
  const StageTimer timer(&times_.upsample);
  UpsampleJob job;
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) job.depth[c] = rendered->sequence->depth(c);
  job.reference = rendered->reference;
  CT_RETURN_IF_ERROR(obmc_.upsample(device_, device_.queue(QueueKind::kCompute), job, nullptr));
  rendered->is_upsampled = true;
  return {};
}

Status DiracHostRenderer::make_residual(const DiracPicture& picture, SamplePlane* residual) {
  const DiracSequence& sequence = picture.sequence();
  const DwtLevels levels = picture.transform().levels;
  const size_t coef_bytes = picture.levels().is_wide() ? 4 : 2;
  DwtPlane pyramids[kMaxComponents];
  size_t pyramid_bytes[kMaxComponents], bytes = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    const DiracPaddedSize size = dirac_padded(sequence, levels, c);
    pyramids[c].pitch =
        static_cast<ptrdiff_t>(rounded_up(static_cast<size_t>(size.width) * coef_bytes));
    pyramid_bytes[c] = static_cast<size_t>(pyramids[c].pitch) * static_cast<size_t>(size.height);
    residual[c] = describe_plane(sequence, c, SampleType::kS16);
    bytes += pyramid_bytes[c] + bytes_of(residual[c]);
  }
  if (scratch_ == nullptr || scratch_->size() < bytes) {
    scratch_.reset();
    CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, bytes, &scratch_));
  }
  auto* at = static_cast<uint8_t*>(scratch_->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    pyramids[c].data = at;
    at += pyramid_bytes[c];
    residual[c].data = at;
    at += bytes_of(residual[c]);
    dequantise_component(picture, c, pyramids[c]);
  }
  return invert(picture, pyramids, residual);
}

Status DiracHostRenderer::invert(const DiracPicture& picture, const DwtPlane* pyramids,
                                 SamplePlane* residual) {
  const DiracTransform& transform = picture.transform();
  const bool is_wide = picture.levels().is_wide();
  if (transform.levels.both + transform.levels.horizontal == 0) {
    for (int c = 0; c < kMaxComponents; ++c) {
      is_wide ? crop<int32_t>(pyramids[c], residual[c]) : crop<int16_t>(pyramids[c], residual[c]);
    }
    return {};
  }
  DwtJob job;
  job.direction = Direction::kInverse;
  job.wavelet = transform.wavelet;
  job.wavelet_ho = transform.wavelet_ho;
  job.levels = transform.levels;
  job.type = is_wide ? DwtCoefType::kS32 : DwtCoefType::kS16;
  job.depth = 16;
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.samples[c] = residual[c];
    job.coefs[c] = pyramids[c];
  }
  return dwt_.submit(device_, device_.queue(QueueKind::kCompute), job, nullptr);
}

}  // namespace cudatransform
