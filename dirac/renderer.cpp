// From decoded pictures to samples on a device: dequantizer, wavelet, motion compensation,
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

}  // namespace

SamplePlane describe_dirac_plane(const DiracSequence& sequence, int component, SampleType type) {
  SamplePlane plane;
  plane.type = type;
  plane.stride = type == SampleType::kU8 ? 1 : 2;
  plane.width = static_cast<int32_t>(sequence.picture_width(component));
  plane.height = static_cast<int32_t>(sequence.picture_height(component));
  plane.pitch = static_cast<ptrdiff_t>(
      rounded_up(static_cast<size_t>(plane.width) * static_cast<size_t>(plane.stride)));
  return plane;
}
SampleType dirac_sample_type(const DiracSequence& sequence, int component) {
  return sequence.depth(component) <= 8 ? SampleType::kU8 : SampleType::kU16;
}

bool has_dirac_levels(const DiracPicture& picture) {
  const DwtLevels& levels = picture.transform().levels;
  return levels.both + levels.horizontal > 0;
}

DiracResidualPlaces dirac_residual_places(const DiracPicture& picture, size_t coef_bytes,
                                          bool is_final) {
  DiracResidualPlaces places;
  const auto take = [&](ptrdiff_t pitch, int64_t rows) {
    const size_t at = places.bytes;
    places.bytes += static_cast<size_t>(pitch) * static_cast<size_t>(rows);
    return at;
  };
  const auto pitch_of = [](int64_t width, size_t bytes) {
    return static_cast<ptrdiff_t>(rounded_up(static_cast<size_t>(width) * bytes));
  };
  for (int c = 0; c < kMaxComponents; ++c) {
    const DiracPaddedSize size = dirac_padded(picture.sequence(), picture.transform().levels, c);
    places.pyramid_pitch[c] = pitch_of(size.width, coef_bytes);
    places.pyramid[c] = take(places.pyramid_pitch[c], size.height);
    places.pyramid_bytes += places.bytes - places.pyramid[c];
    // Without a wavelet coefficients are the residual. Padding has room there.
    places.residual_pitch[c] = places.pyramid_pitch[c];
    places.residual[c] = places.pyramid[c];
    if (is_final || !has_dirac_levels(picture)) continue;
    places.residual_pitch[c] = pitch_of(size.width, sizeof(int16_t));
    places.residual[c] = take(places.residual_pitch[c], size.height);
  }
  return places;
}

size_t bytes_of_dirac_picture(const DiracSequence& sequence) {
  size_t bytes = 0;
  for (int c = 0; c < kMaxComponents; ++c)
    bytes += bytes_of_plane(describe_dirac_plane(sequence, c, dirac_sample_type(sequence, c)));
  return bytes;
}

size_t bytes_of_dirac_frame(const DiracSequence& sequence) {
  size_t count = 0, width = 1;
  for (int c = 0; c < kMaxComponents; ++c) {
    count += size_t{sequence.picture_width(c)} * sequence.frame_height(c);
    if (dirac_sample_type(sequence, c) == SampleType::kU16) width = 2;
  }
  return count * width;
}

bool writes_dirac_samples(const DiracPicture& picture) {
  const DiracSequence& sequence = picture.sequence();
  const int depth = sequence.depth(0);
  return picture.header().is_intra() && picture.has_residual() && has_dirac_levels(picture) &&
         depth == sequence.depth(1) && (depth == 8 || depth == 10 || depth == 12 || depth == 16);
}

namespace {

// All but the pyramids.
DiracDequantizeJob dequantize_job(const DiracPicture& picture) {
  DiracDequantizeJob job;
  job.qcoefs = &picture.qcoefs();
  job.slices = picture.deferred_slices();
  job.is_intra = picture.header().is_intra();
  job.predicts_dc = picture.header().predicts_dc();
  job.narrows = !has_dirac_levels(picture);
  return job;
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
  // The work that was enqueued last ends last.
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
        ops_.dequantize->prepare(device_, pinned_, dequantize_job(picture), &made->qcoefs_));
  *ahead = std::move(made);
  return {};
}

// Examines the blocks, and copies them for a device other than the host.
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
  const bool is_final = writes_dirac_samples(picture);
  if (picture.has_residual()) {
    stages->has_wavelet = true;
    SamplePlane* to = is_final ? made->samples : job.residual;
    CT_RETURN_IF_ERROR(timed(stages->wavelet, [&] {
      return make_residual(picture, ahead->qcoefs_.get(), is_final, to);
    }));
  }
  job.inspection = ahead->inspection_;
  if (!header.is_intra()) CT_RETURN_IF_ERROR(predict(picture, found, *stages, ahead.get(), &job));
  stages->has_motion = !is_final;
  if (!is_final)
    CT_RETURN_IF_ERROR(timed(
        stages->motion, [&] { return ops_.obmc->compensate(device_, queue(), job, nullptr); }));
  if (!device_.is_host()) CT_RETURN_IF_ERROR(queue().record(&made->ready));
  if (under_way_.size() == kMaxReported) under_way_.pop_front();  // never requested
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
      CT_RETURN_IF_ERROR(
          timed(stages.upsample[r], [&] { return upsample(found[r].get(), found); }));
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
      CT_RETURN_IF_ERROR(make_gray(sequence_, &found[r]));
    }
    *is_damaged |= found[r]->is_damaged;
  }
  return {};
}

Status DiracRenderer::make_picture(const std::shared_ptr<const DiracSequence>& sequence,
                                   DiracRenderedPtr* rendered) {
  // Its memory is returned when the last owner releases it, on any thread.
  DiracRenderedPtr made(new DiracRendered,
                        [memory = pictures_, halves = halves_](DiracRendered* rendered) {
                          if (rendered->half_memory != nullptr)
                            halves->give({std::move(rendered->half_memory), {}});
                          if (rendered->memory != nullptr)
                            memory->give({std::move(rendered->memory), std::move(rendered->read)});
                          delete rendered;
                        });
  made->sequence = sequence;
  BudgetedPool::Block block;
  CT_RETURN_IF_ERROR(take_memory(*pictures_, bytes_of_dirac_picture(*sequence), nullptr, &block));
  if (block.read != nullptr) CT_RETURN_IF_ERROR(queue().wait_for(block.read));
  made->memory = std::move(block.memory);
  auto* at = static_cast<uint8_t*>(made->memory->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    made->samples[c] = describe_dirac_plane(*sequence, c, dirac_sample_type(*sequence, c));
    made->samples[c].data = at;
    at += bytes_of_plane(made->samples[c]);
    std::fill_n(made->reference.planes[c], 4, made->samples[c]);
  }
  *rendered = std::move(made);
  return {};
}

Status DiracRenderer::make_gray(const std::shared_ptr<const DiracSequence>& sequence,
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

DiracRenderNeed DiracRenderer::need(const DiracPicture& picture, size_t waiting) const {
  const uint64_t samples = bytes_of_dirac_picture(picture.sequence());
  DiracRenderNeed need;
  // The buffer that it was read from takes memory, too.
  need.own = samples + picture.qcoefs().growth() + picture.coded_bytes();
  need.kept = samples * std::min(pictures_->kept(samples), waiting + 1);
  if (!device_.is_host()) {
    // The bytes on the bus: maps, and quantized coefficients of four bytes, each of which takes two
    // bits or more in the stream; or slices as they are.
    const bool sends_slices = picture.header().has_slices() && reads_slices();
    need.own += picture.qcoefs().coef_count() / 4 + (sends_slices ? 1 : 16) * picture.coded_bytes();
  }
  need.shared = bytes_of_dirac_frame(picture.sequence());
  if (picture.has_residual()) {
    const DiracResidualPlaces places =
        dirac_residual_places(picture, sizeof(int32_t), writes_dirac_samples(picture));
    const uint64_t there = scratch_bytes_;
    need.shared += places.bytes > there ? places.bytes - there : 0;
    // Low bands, each a quarter of the one before, or half.
    const bool halves = picture.transform().levels.horizontal > 0;
    if (device_.is_host()) need.shared += places.pyramid_bytes / (halves ? 1 : 3);
  }
  if (!picture.header().is_intra()) {
    // References that are missing, and half-sample positions of any.
    need.shared += kMaxObmcReferences * samples;
    const uint64_t halves =
        picture.prediction().precision > 0 ? 3 * kMaxObmcReferences * samples : 0;
    const uint64_t there = halves_->bytes();
    need.shared += halves > there ? halves - there : 0;
  }
  return need;
}

bool DiracRenderer::trim() {
  bool any = pictures_->trim();
  any |= halves_->trim();
  any |= pinned_.trim();
  return pinned_blocks_.trim() || any;
}

bool DiracRenderer::forget_half_positions(const DiracRenderedPtr* kept) {
  bool any = false;
  for (int i = 0; i < references_.count(); ++i) {
    DiracRendered* reference = references_.at(i).get();
    const bool is_kept =
        kept != nullptr && (kept[0].get() == reference || kept[1].get() == reference);
    if (is_kept || reference->half_memory == nullptr) continue;
    reference->is_upsampled = false;
    halves_->give({std::move(reference->half_memory), {}});
    any = true;
  }
  return any;
}

// If there is no memory, half-sample positions of references other than `kept` make room.
Status DiracRenderer::take_memory(BudgetedPool& pool, size_t bytes, const DiracRenderedPtr* kept,
                                  BudgetedPool::Block* block) {
  Status status = pool.take(device_, bytes, block);
  if (status.code != StatusCode::kOutOfMemory) return status;
  const bool any = trim();
  if (forget_half_positions(kept))
    trim();
  else if (!any)
    return status;
  return pool.take(device_, bytes, block);
}

Status DiracRenderer::upsample(DiracRendered* rendered, const DiracRenderedPtr* kept) {
  BudgetedPool::Block block;
  CT_RETURN_IF_ERROR(
      take_memory(*halves_, 3 * bytes_of_dirac_picture(*rendered->sequence), kept, &block));
  rendered->half_memory = std::move(block.memory);
  auto* at = static_cast<uint8_t*>(rendered->half_memory->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    for (int i = 1; i < 4; ++i) {
      rendered->reference.planes[c][i].data = at;
      at += bytes_of_plane(rendered->samples[c]);
    }
  }
  UpsampleJob job;
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) job.depth[c] = rendered->sequence->depth(c);
  job.reference = rendered->reference;
  CT_RETURN_IF_ERROR(ops_.obmc->upsample(device_, queue(), job, nullptr));
  rendered->is_upsampled = true;
  return {};
}

// `is_final`: `residual` is the samples of the picture, which are written.
Status DiracRenderer::make_residual(const DiracPicture& picture, DiracPrepared* prepared,
                                    bool is_final, SamplePlane* residual) {
  const bool has_wavelet = has_dirac_levels(picture);
  DiracDequantizeJob job = dequantize_job(picture);
  const size_t coef_bytes = picture.qcoefs().is_wide() && has_wavelet ? 4 : 2;
  const DiracResidualPlaces places = dirac_residual_places(picture, coef_bytes, is_final);
  if (scratch_ == nullptr || scratch_->size() < places.bytes) {
    scratch_.reset();
    scratch_bytes_ = 0;
    Status status = budget_->allocate(device_, MemoryKind::kDevice, places.bytes, &scratch_);
    if (status.code == StatusCode::kOutOfMemory && trim())
      status = budget_->allocate(device_, MemoryKind::kDevice, places.bytes, &scratch_);
    CT_RETURN_IF_ERROR(status);
    scratch_bytes_ = places.bytes;
  }
  auto* const begin = static_cast<uint8_t*>(scratch_->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    job.pyramids[c].pitch = places.pyramid_pitch[c];
    job.pyramids[c].data = begin + places.pyramid[c];
    if (is_final) continue;
    residual[c] = describe_dirac_plane(picture.sequence(), c, SampleType::kS16);
    residual[c].pitch = places.residual_pitch[c];
    residual[c].data = begin + places.residual[c];
  }
  CT_RETURN_IF_ERROR(ops_.dequantize->submit(device_, queue(), job, prepared));
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
  job.type = picture.qcoefs().is_wide() ? DwtCoefType::kS32 : DwtCoefType::kS16;
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
