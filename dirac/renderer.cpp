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
Status DiracRenderer::timed(Queue& queue, std::unique_ptr<Timer>& timer, const Work& work) {
  if (timer == nullptr) timer = device_.make_timer();
  CT_RETURN_IF_ERROR(timer->begin(queue));
  CT_RETURN_IF_ERROR(work());
  return timer->end(queue);
}

std::unique_ptr<DiracStages> DiracRenderer::begin_stages() {
  std::unique_lock lock(stages_mutex_);
  if (free_stages_.empty()) return std::make_unique<DiracStages>();
  std::unique_ptr<DiracStages> stages = std::move(free_stages_.back());
  free_stages_.pop_back();
  lock.unlock();
  stages->has_wavelet = stages->has_motion = false;
  std::fill(std::begin(stages->has_upsample), std::end(stages->has_upsample), false);
  return stages;
}

void DiracRenderer::end_stages(std::unique_ptr<DiracStages> stages) {
  std::lock_guard lock(stages_mutex_);
  free_stages_.push_back(std::move(stages));
}

bool DiracRenderer::next_times(DiracRenderTimes* times) {
  if (under_way_.empty()) return false;
  DiracStages& first = *under_way_.front();
  *times = {};
  // What was enqueued last ends last.
  if (first.has_motion && !first.motion->read_ns(&times->motion)) return false;
  if (first.has_wavelet && !first.wavelet->read_ns(&times->wavelet)) return false;
  for (int r = 0; r < kMaxObmcReferences; ++r) {
    uint64_t took = 0;
    if (first.has_upsample[r]) (void)first.upsample[r]->read_ns(&took);
    times->upsample += took;
  }
  end_stages(std::move(under_way_.front()));
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
  if (picture.header().is_intra() && ops_.make_queue != nullptr)
    CT_RETURN_IF_ERROR(draw_ahead(picture, made.get()));
  *ahead = std::move(made);
  return {};
}

Status DiracRenderer::draw_ahead(const DiracPicture& picture, DiracAhead* ahead) {
  DiracLane* lane = nullptr;
  CT_RETURN_IF_ERROR(lanes_.take(device_, ops_.make_queue, &lane));
  const Status status = draw(picture, *lane, nullptr, ahead);
  lanes_.give(lane);
  ahead->levels_.reset();
  return status;
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
  if (ahead->made_ != nullptr)
    CT_RETURN_IF_ERROR(queue().wait_for(ahead->made_->ready));
  else
    CT_RETURN_IF_ERROR(draw(picture, main_, found, ahead.get()));
  const DiracRenderedPtr made = std::move(ahead->made_);
  made->is_damaged = is_damaged;
  for (int r = 0; r < header.reference_count; ++r) found[r]->read = made->ready;
  if (under_way_.size() == kMostTold) under_way_.pop_front();  // nobody wants to know
  under_way_.push_back(std::move(ahead->stages_));
  if (header.is_reference) references_.add(header.number, made);
  *rendered = made;
  return {};
}

// Makes ahead->made_.
Status DiracRenderer::draw(const DiracPicture& picture, DiracLane& lane,
                           const DiracRenderedPtr* found, DiracAhead* ahead) {
  const DiracPictureHeader& header = picture.header();
  const DiracSequence& sequence = picture.sequence();
  Queue& queue = *lane.queue;
  DiracRenderedPtr made;
  CT_RETURN_IF_ERROR(make_picture(picture.shared_sequence(), header.is_reference, queue, &made));
  made->number = header.number;
  ObmcJob job;
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.depth[c] = sequence.depth(c);
    job.samples[c] = made->samples[c];
  }
  ahead->stages_ = begin_stages();
  DiracStages& stages = *ahead->stages_;
  const bool is_final = writes_samples(picture);
  if (picture.has_residual()) {
    stages.has_wavelet = true;
    SamplePlane* to = is_final ? made->samples : job.residual;
    CT_RETURN_IF_ERROR(timed(queue, stages.wavelet, [&] {
      return make_residual(picture, lane, ahead->levels_.get(), is_final, to);
    }));
  }
  job.inspection = ahead->inspection_;
  if (!header.is_intra()) CT_RETURN_IF_ERROR(predict(picture, found, ahead, &job));
  stages.has_motion = !is_final;
  if (!is_final)
    CT_RETURN_IF_ERROR(timed(queue, stages.motion,
                             [&] { return ops_.obmc->compensate(device_, queue, job, nullptr); }));
  if (!device_.is_host()) CT_RETURN_IF_ERROR(queue.record(&made->ready));
  ahead->made_ = std::move(made);
  return {};
}

Status DiracRenderer::predict(const DiracPicture& picture, const DiracRenderedPtr* found,
                              DiracAhead* ahead, ObmcJob* job) {
  DiracStages& stages = *ahead->stages_;
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
          timed(queue(), stages.upsample[r], [&] { return upsample(found[r].get()); }));
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

// Planes 1 to 3 of a reference have memory from the start: every one may need them. `queue` writes
// the picture.
Status DiracRenderer::make_picture(const std::shared_ptr<const DiracSequence>& sequence,
                                   bool is_reference, Queue& queue, DiracRenderedPtr* rendered) {
  // Its memory goes back when the last who has it lets go, wherever that is.
  DiracRenderedPtr made(new DiracRendered, [memory = pictures_](DiracRendered* rendered) {
    FencePtr& last = rendered->read != nullptr ? rendered->read : rendered->ready;
    if (rendered->memory != nullptr) memory->give({std::move(rendered->memory), std::move(last)});
    delete rendered;
  });
  made->sequence = sequence;
  size_t bytes = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    made->samples[c] = describe_plane(*sequence, c, sample_type(*sequence, c));
    bytes += (is_reference ? 4 : 1) * bytes_of(made->samples[c]);
  }
  DiracMemoryPool::Block block;
  CT_RETURN_IF_ERROR(pictures_->take(device_, bytes, &block));
  if (block.read != nullptr) CT_RETURN_IF_ERROR(queue.wait_for(block.read));
  made->memory = std::move(block.memory);
  auto* at = static_cast<uint8_t*>(made->memory->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    SamplePlane plane = made->samples[c];
    for (int p = 0; p < (is_reference ? 4 : 1); ++p) {
      plane.data = at;
      made->reference.planes[c][p] = plane;
      at += bytes_of(plane);
    }
    made->samples[c] = made->reference.planes[c][0];
  }
  *rendered = std::move(made);
  return {};
}

Status DiracRenderer::make_grey(const std::shared_ptr<const DiracSequence>& sequence,
                                DiracRenderedPtr* rendered) {
  CT_RETURN_IF_ERROR(make_picture(sequence, true, queue(), rendered));
  (*rendered)->is_damaged = true;
  ObmcJob job;  // neither residual nor prediction
  job.components = kMaxComponents;
  for (int c = 0; c < kMaxComponents; ++c) {
    job.depth[c] = sequence->depth(c);
    job.samples[c] = (*rendered)->samples[c];
  }
  return ops_.obmc->compensate(device_, queue(), job,
                               device_.is_host() ? nullptr : &(*rendered)->ready);
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
Status DiracRenderer::make_residual(const DiracPicture& picture, DiracLane& lane,
                                    DiracPrepared* prepared, bool is_final, SamplePlane* residual) {
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
  }
  for (int c = 0; c < kMaxComponents && !is_final; ++c) {
    residual[c] = describe_plane(sequence, c, SampleType::kS16);
    if (has_wavelet) places[1][c] = take(residual[c].pitch, residual[c].height);
  }
  if (lane.scratch == nullptr || lane.scratch->size() < bytes) {
    lane.scratch.reset();
    CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, bytes, &lane.scratch));
  }
  auto* const begin = static_cast<uint8_t*>(lane.scratch->data());
  for (int c = 0; c < kMaxComponents; ++c) {
    job.pyramids[c].data = begin + places[0][c];
    if (is_final) continue;
    // Without a wavelet coefficients are the residual.
    residual[c].data = has_wavelet ? begin + places[1][c] : job.pyramids[c].data;
    if (!has_wavelet) residual[c].pitch = job.pyramids[c].pitch;
  }
  CT_RETURN_IF_ERROR(ops_.dequantise->submit(device_, *lane.queue, job, prepared));
  return has_wavelet ? invert(picture, *lane.queue, job.pyramids, residual) : Status{};
}

Status DiracRenderer::invert(const DiracPicture& picture, Queue& queue, const DwtPlane* pyramids,
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
  for (int c = 0; c < kMaxComponents; ++c) {
    job.samples[c] = residual[c];
    job.coefs[c] = pyramids[c];
  }
  return ops_.dwt->submit(device_, queue, job, nullptr);
}

}  // namespace cudatransform
