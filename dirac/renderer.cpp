// From decoded pictures to samples on a device: dequantiser, wavelet, motion compensation,
// references.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/renderer.h"

#include <algorithm>
#include <cstring>
#include <new>
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

bool has_levels(const DiracPicture& picture) {
  const DwtLevels& levels = picture.transform().levels;
  return levels.both + levels.horizontal > 0;
}

// But for the pyramids.
DiracDequantiseJob dequantise_job(const DiracPicture& picture) {
  DiracDequantiseJob job;
  job.levels = &picture.levels();
  job.slices = picture.deferred_slices();
  job.is_intra = picture.header().is_intra();
  job.predicts_dc = picture.header().predicts_dc();
  job.narrows = !has_levels(picture);
  return job;
}

// Whether the inverse transform may write the picture's samples itself.
bool writes_samples(const DiracPicture& picture) {
  const DiracSequence& sequence = picture.sequence();
  const int depth = sequence.depth(0);
  return picture.header().is_intra() && picture.has_residual() && has_levels(picture) &&
         depth == sequence.depth(1) && (depth == 8 || depth == 10 || depth == 12 || depth == 16);
}

}  // namespace

template <typename Work>
Status DiracRenderer::timed(std::unique_ptr<Timer>& timer, const Work& work) {
  if (timer == nullptr) timer = device_.make_timer();
  CT_RETURN_IF_ERROR(timer->begin(queue()));
  CT_RETURN_IF_ERROR(work());
  return timer->end(queue());
}

std::unique_ptr<DiracRenderer::Stages> DiracRenderer::begin_stages() {
  if (free_stages_.empty()) return std::make_unique<Stages>();
  std::unique_ptr<Stages> stages = std::move(free_stages_.back());
  free_stages_.pop_back();
  stages->has_wavelet = stages->has_motion = false;
  std::fill(std::begin(stages->has_upsample), std::end(stages->has_upsample), false);
  return stages;
}

bool DiracRenderer::next_times(DiracRenderTimes* times) {
  if (under_way_.empty()) return false;
  Stages& first = *under_way_.front();
  *times = {};
  // What was enqueued last ends last.
  if (first.has_motion && !first.motion->read_ns(&times->motion)) return false;
  if (first.has_wavelet && !first.wavelet->read_ns(&times->wavelet)) return false;
  for (int r = 0; r < kMaxObmcReferences; ++r) {
    uint64_t took = 0;
    if (first.has_upsample[r]) (void)first.upsample[r]->read_ns(&took);
    times->upsample += took;
  }
  free_stages_.push_back(std::move(under_way_.front()));
  under_way_.pop_front();
  return true;
}

Status DiracRenderer::prepare(const DiracPicture& picture, std::unique_ptr<DiracAhead>* ahead) {
  std::unique_ptr<DiracAhead> made(new (std::nothrow) DiracAhead(pinned_blocks_));
  if (made == nullptr) return Status::error(StatusCode::kOutOfMemory, "no memory for a picture");
  if (!picture.header().is_intra()) CT_RETURN_IF_ERROR(take_blocks(picture, made.get()));
  if (picture.has_residual())
    CT_RETURN_IF_ERROR(
        ops_.dequantise->prepare(device_, pinned_, dequantise_job(picture), &made->levels_));
  *ahead = std::move(made);
  return {};
}

// Looks at the blocks, and puts them where a device other than the host reads them.
Status DiracRenderer::take_blocks(const DiracPicture& picture, DiracAhead* ahead) {
  ObmcJob job;
  job.components = kMaxComponents;
  job.reference_count = picture.header().reference_count;
  job.blocks = picture.blocks();
  job.blocks_across = picture.prediction().blocks_across;
  job.blocks_down = picture.prediction().blocks_down;
  CT_RETURN_IF_ERROR(inspect_obmc_blocks(job, &ahead->inspection_));
  if (device_.is_host()) return {};
  const size_t bytes = sizeof(ObmcBlock) * static_cast<size_t>(job.blocks_across) *
                       static_cast<size_t>(job.blocks_down);
  CT_RETURN_IF_ERROR(pinned_blocks_.take(device_, bytes, &ahead->blocks_));
  if (ahead->blocks_.read != nullptr) CT_RETURN_IF_ERROR(ahead->blocks_.read->wait());
  ahead->blocks_.read.reset();
  std::memcpy(ahead->blocks_.memory->data(), job.blocks, bytes);
  return {};
}

Status DiracRenderer::render(const DiracPicture& picture, std::unique_ptr<DiracAhead> ahead,
                             DiracRenderedPtr* rendered) {
  if (picture.shared_sequence() != sequence_) {
    reset();
    sequence_ = picture.shared_sequence();
  }
  const DiracPictureHeader& header = picture.header();
  DiracRenderedPtr found[kMaxObmcReferences];
  bool is_damaged = picture.damage() != nullptr;
  CT_RETURN_IF_ERROR(find_references(picture, found, &is_damaged));
  if (header.retires) references_.retire(header.retired);

  if (ahead == nullptr) CT_RETURN_IF_ERROR(prepare(picture, &ahead));
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
  std::unique_ptr<Stages> stages = begin_stages();
  const bool is_final = writes_samples(picture);
  if (picture.has_residual()) {
    stages->has_wavelet = true;
    SamplePlane* to = is_final ? made->samples : job.residual;
    CT_RETURN_IF_ERROR(timed(stages->wavelet, [&] {
      return make_residual(picture, ahead->levels_.get(), is_final, to);
    }));
  }
  job.inspection = ahead->inspection_;
  if (!header.is_intra()) CT_RETURN_IF_ERROR(predict(picture, found, *stages, ahead.get(), &job));
  stages->has_motion = !is_final;
  if (!is_final)
    CT_RETURN_IF_ERROR(timed(
        stages->motion, [&] { return ops_.obmc->compensate(device_, queue(), job, nullptr); }));
  if (!device_.is_host()) CT_RETURN_IF_ERROR(queue().record(&made->ready));
  if (under_way_.size() == kMostTold) under_way_.pop_front();  // nobody wants to know
  under_way_.push_back(std::move(stages));
  if (header.is_reference) references_.add(header.number, made);
  *rendered = std::move(made);
  return {};
}

Status DiracRenderer::predict(const DiracPicture& picture, const DiracRenderedPtr* found,
                              Stages& stages, DiracAhead* ahead, ObmcJob* job) {
  const DiracPrediction& prediction = picture.prediction();
  job->blocks = picture.blocks();
  if (ahead->blocks_.memory != nullptr) {
    job->blocks = static_cast<const ObmcBlock*>(ahead->blocks_.memory->data());
    job->blocks_read = &ahead->blocks_.read;
  }
  job->blocks_across = prediction.blocks_across;
  job->blocks_down = prediction.blocks_down;
  job->length_x = prediction.length_x;
  job->length_y = prediction.length_y;
  job->separation_x = prediction.separation_x;
  job->separation_y = prediction.separation_y;
  job->chroma_shift_x = sequence_->chroma_shift_x();
  job->chroma_shift_y = sequence_->chroma_shift_y();
  job->precision = prediction.precision;
  job->weight_bits = prediction.weight_bits;
  std::copy_n(prediction.weights, kMaxObmcReferences, job->weights);
  job->reference_count = picture.header().reference_count;
  for (int r = 0; r < job->reference_count; ++r) {
    if (job->precision > 0 && !found[r]->is_upsampled) {
      stages.has_upsample[r] = true;
      CT_RETURN_IF_ERROR(timed(stages.upsample[r], [&] { return upsample(found[r].get()); }));
    }
    job->references[r] = found[r]->reference;
  }
  return {};
}

Status DiracRenderer::find_references(const DiracPicture& picture, DiracRenderedPtr* found,
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
Status DiracRenderer::make_picture(const std::shared_ptr<const DiracSequence>& sequence,
                                   DiracRenderedPtr* rendered) {
  // Its memory goes back when the last who has it lets go, wherever that is.
  DiracRenderedPtr made(new DiracRendered, [memory = pictures_](DiracRendered* rendered) {
    if (rendered->memory != nullptr)
      memory->give({std::move(rendered->memory), std::move(rendered->read)});
    delete rendered;
  });
  made->sequence = sequence;
  size_t bytes = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    made->samples[c] = describe_plane(*sequence, c, sample_type(*sequence, c));
    bytes += 4 * bytes_of(made->samples[c]);
  }
  DiracMemoryPool::Block block;
  CT_RETURN_IF_ERROR(pictures_->take(device_, bytes, &block));
  if (block.read != nullptr) CT_RETURN_IF_ERROR(queue().wait_for(block.read));
  made->memory = std::move(block.memory);
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

Status DiracRenderer::make_grey(const std::shared_ptr<const DiracSequence>& sequence,
                                DiracRenderedPtr* rendered) {
  CT_RETURN_IF_ERROR(make_picture(sequence, rendered));
  (*rendered)->is_damaged = true;
  ObmcJob job;  // neither residual nor prediction
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.depth[c] = sequence->depth(c);
    job.samples[c] = (*rendered)->samples[c];
  }
  return ops_.obmc->compensate(device_, queue(), job, nullptr);
}

Status DiracRenderer::upsample(DiracRendered* rendered) {
  UpsampleJob job;
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) job.depth[c] = rendered->sequence->depth(c);
  job.reference = rendered->reference;
  CT_RETURN_IF_ERROR(ops_.obmc->upsample(device_, queue(), job, nullptr));
  rendered->is_upsampled = true;
  return {};
}

// `is_final`: `residual` are the samples of the picture, which are written.
Status DiracRenderer::make_residual(const DiracPicture& picture, DiracPrepared* prepared,
                                    bool is_final, SamplePlane* residual) {
  const DiracSequence& sequence = picture.sequence();
  const DwtLevels levels = picture.transform().levels;
  const bool has_wavelet = has_levels(picture);
  DiracDequantiseJob job = dequantise_job(picture);
  const size_t coef_bytes = picture.levels().is_wide() && has_wavelet ? 4 : 2;
  size_t places[2][kMaxComponents], bytes = 0;
  const auto take = [&](ptrdiff_t pitch, int64_t rows) {
    const size_t at = bytes;
    bytes += static_cast<size_t>(pitch) * static_cast<size_t>(rows);
    return at;
  };
  for (int c = 0; c < kMaxComponents; ++c) {
    const DiracPaddedSize size = dirac_padded(sequence, levels, c);
    job.pyramids[c].pitch =
        static_cast<ptrdiff_t>(rounded_up(static_cast<size_t>(size.width) * coef_bytes));
    places[0][c] = take(job.pyramids[c].pitch, size.height);
    if (is_final) continue;
    residual[c] = describe_plane(sequence, c, SampleType::kS16);
    if (!has_wavelet) continue;
    // What is padded has room there.
    residual[c].pitch =
        static_cast<ptrdiff_t>(rounded_up(static_cast<size_t>(size.width) * sizeof(int16_t)));
    places[1][c] = take(residual[c].pitch, size.height);
  }
  if (scratch_ == nullptr || scratch_->size() < bytes) {
    scratch_.reset();
    CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, bytes, &scratch_));
  }
  auto* const begin = static_cast<uint8_t*>(scratch_->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    job.pyramids[c].data = begin + places[0][c];
    if (is_final) continue;
    // Without a wavelet coefficients are the residual.
    residual[c].data = has_wavelet ? begin + places[1][c] : job.pyramids[c].data;
    if (!has_wavelet) residual[c].pitch = job.pyramids[c].pitch;
  }
  CT_RETURN_IF_ERROR(ops_.dequantise->submit(device_, queue(), job, prepared));
  return has_wavelet ? invert(picture, job.pyramids, residual) : Status{};
}

Status DiracRenderer::invert(const DiracPicture& picture, const DwtPlane* pyramids,
                             SamplePlane* residual) {
  const DiracTransform& transform = picture.transform();
  DwtJob job;
  job.direction = Direction::kInverse;
  job.wavelet = transform.wavelet;
  job.wavelet_ho = transform.wavelet_ho;
  job.levels = transform.levels;
  job.type = picture.levels().is_wide() ? DwtCoefType::kS32 : DwtCoefType::kS16;
  job.depth = residual[0].type == SampleType::kS16 ? 16 : picture.sequence().depth(0);
  job.components = kMaxComponents;
  job.samples_have_room = residual[0].type == SampleType::kS16;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.samples[c] = residual[c];
    job.coefs[c] = pyramids[c];
  }
  return ops_.dwt->submit(device_, queue(), job, nullptr);
}

}  // namespace cudatransform
