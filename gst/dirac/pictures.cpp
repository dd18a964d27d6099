// The decoder of cudadiracdec: from units of a stream to rendered frames in display order.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dirac/pictures.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "cuda/dirac/engine.h"
#include "cuda/dwt/engine.h"
#include "cuda/obmc/engine.h"
#include "dirac/jobs.h"
#include "gst/engine/contiguous_adapter.h"
#include "gst/engine/debug.h"
#include "gst/engine/engine_element.h"
#include "transform/dwt/dwt.h"
#include "transform/obmc/obmc.h"

namespace cudatransform {

CT_ENGINE_OPS(DiracDequantizeOps, portable_dirac_dequantize_ops, cuda_dirac_dequantize_ops)
CT_ENGINE_OPS(DwtOps, host_dwt_ops, cuda_dwt_ops)
CT_ENGINE_OPS(ObmcOps, host_obmc_ops, cuda_obmc_ops)

static DiracRenderOps dirac_render_ops(const Engine& engine) {
  return {&engine.ops<DiracDequantizeOps>(), &engine.ops<DwtOps>(), &engine.ops<ObmcOps>()};
}

Status probe_dirac_kernels([[maybe_unused]] Device& device) {
#if CT_HAVE_CUDA
  CT_RETURN_IF_ERROR(probe_cuda_dwt_kernels(device));
  return probe_cuda_obmc_kernels(device);
#else
  return Status::error(StatusCode::kNotFound, "built without CUDA");
#endif
}

struct DiracPictures::Job final : FrameJob {
  void run() override {
    renderer->take_slices(*picture);
    for (int task = 0; task < picture->task_count(); ++task) run_task(task);
  }
  // Pictures after an intra picture wait for it, and it may take ten times as long as each of them.
  // Its tasks do not depend on each other.
  int parts() const override {
    const DiracPictureHeader& header = picture->header();
    const bool takes_all = header.has_slices() && renderer->reads_slices();
    return header.is_intra() && !takes_all ? std::max(picture->task_count(), 1) : 1;
  }
  void run_part(int part) override {
    if (parts() == 1)
      run();
    else
      run_task(part);
  }
  bool is_small() const override {
    constexpr guint64 kBytes = 256, kPixels = 1 << 16;
    const DiracSequence& sequence = picture->sequence();
    return picture->coded_bytes() < kBytes && guint64{sequence.width} * sequence.height < kPixels;
  }
  void finish_parts() override { ahead_status = renderer->prepare(*picture, &ahead); }
  void run_task(int task) {
    const auto begin = std::chrono::steady_clock::now();
    picture->run_task(task);
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    (picture->is_motion_task(task) ? motion : residual) += static_cast<guint64>(took.count());
  }
  DiracRenderer* renderer = nullptr;
  std::unique_ptr<DiracPicture> picture;
  std::unique_ptr<DiracAhead> ahead;
  Status ahead_status;
  GstVideoCodecFrame* frame = nullptr;
  uint64_t sequence_count = 0;
  std::atomic<guint64> motion = 0, residual = 0;  // nanoseconds
};

bool DiracInput::map(GstBuffer* buffer) {
  if (data != nullptr || !status.ok()) return status.ok();
  status = in_one_piece(buffer, &buffer_);
  if (!status.ok()) return false;
  if (!mapped_.map(buffer_.get(), GST_MAP_READ)) {
    status = Status::error(StatusCode::kFailed, "failed to map an input buffer");
    return false;
  }
  data = mapped_.data();
  return true;
}

// ---- The stream ----

DiracPictures::DiracPictures(GstVideoDecoder* decoder, Engine& engine,
                             const PictureSettings& properties)
    : decoder_(decoder),
      engine_(engine),
      properties_(properties),
      loop_(decoder, *this),
      frames_(decoder, engine, loop_, properties) {}

void DiracPictures::start() {
  GST_OBJECT_LOCK(decoder_);
  published_ = {};
  GST_OBJECT_UNLOCK(decoder_);
  loop_.start();
  frames_.start();
}

void DiracPictures::start_decoder(const DiracLimits& limits, guint n_threads) {
  const int threads = loop_.threads_for(n_threads);
  // An intra picture may take ten times as long as a predicted one.
  loop_.start_workers(threads, threads > 1 ? 2 * threads : 1);
  renderer_ = std::make_unique<DiracRenderer>(engine_.device(), dirac_render_ops(engine_), budget_);
  const auto spares = static_cast<size_t>(loop_.max_in_flight()) + 1;
  decoder_state_ = std::make_unique<DiracDecoder>(limits, spares, budget_);
  stats_ = {};
  longest_ = 0;
}

void DiracPictures::stop() {
  loop_.stop();
  decoder_state_.reset();
  renderer_.reset();
  frames_.stop();
}

void DiracPictures::flush() {
  loop_.flush();
  frames_.flush();
}

void DiracPictures::release(GstVideoCodecFrame* frame) {
  if (frame != nullptr) gst_video_decoder_release_frame(decoder_, frame);
}

DiracStats DiracPictures::stats() const { return locked(decoder_, published_); }

GstFlowReturn DiracPictures::flow_after(const Status& status) {
  if (status.ok()) return GST_FLOW_OK;
  if (status.code == StatusCode::kCancelled) return last_;  // what should have made room
  post_error(GST_ELEMENT(decoder_), status);
  return loop_.end_stream(GST_FLOW_ERROR);
}

// Call it with the flow of a push that was to make room.
Status DiracPictures::status_of(GstFlowReturn flow) {
  if (flow == GST_FLOW_OK) return {};
  last_ = flow;
  return Status::error(StatusCode::kCancelled, "output is flushing");
}

// ---- Input ----

GstFlowReturn DiracPictures::decode(GstVideoCodecFrame* frame, const DiracInputPtr& input) {
  Status problem;
  const Status status = take(frame, input, &problem);
  if (!problem.ok() && ends_stream(problem)) {
    // The error is reported after the pictures before it.
    const GstFlowReturn flow = status.ok() ? drain() : flow_after(status);
    if (is_fatal(flow)) return flow;
    post_error(GST_ELEMENT(decoder_), problem);
    return loop_.end_stream(GST_FLOW_ERROR);
  }
  if (!problem.ok()) GST_WARNING_OBJECT(decoder_, "dropped data unit: %s", problem.message.c_str());
  if (!status.ok()) return flow_after(status);
  // No more than two: threads without work wait for what the caller does next. Each call submits
  // one picture, so none has to wait for long.
  return loop_.push_done(SIZE_MAX, 2);
}

bool DiracPictures::ends_stream(const Status& problem) const {
  const bool fails = locked(decoder_, properties_.on_error) == OnError::kFail;
  return fails || (problem.code == StatusCode::kUnsupported && !frames_.has_output());
}

// Whether the failure affects more than this unit.
static bool ends_all(const Status& status) {
  return !status.ok() && status.code != StatusCode::kInvalidArgument &&
         status.code != StatusCode::kUnsupported;
}

// A faulty unit is reported in `*problem`. The call itself fails only if the device fails, memory
// is short or downstream is flushing.
Status DiracPictures::take(GstVideoCodecFrame* frame, const DiracInputPtr& input, Status* problem) {
  for (const DiracInput::Unit& unit : input->units) {
    const std::span<const uint8_t> data(input->data + unit.at, unit.size);
    DiracParseInfo info;
    bool gives_picture =
        read_parse_info(data, &info) && info.is_picture() && decoder_state_->sequence() != nullptr;
    Status status = decoder_state_->take(data, input);
    for (bool made = true; status.code == StatusCode::kOutOfMemory && made;) {
      // The pictures that the unit has ended hold memory, too.
      Status freed = submit(nullptr);
      if (freed.ok()) freed = make_room(&made);
      if (!freed.ok()) {
        status = freed;
        break;
      }
      if (made) status = decoder_state_->take(data, input);
    }
    if (ends_all(status)) {
      release(frame);
      return status;
    }
    if (!status.ok()) {
      ++stats_.lost;
      gives_picture = false;
      if (problem->ok()) *problem = std::move(status);
    }
    if (status = submit(gives_picture ? std::exchange(frame, nullptr) : nullptr); !status.ok()) {
      release(frame);
      return status;
    }
  }
  release(frame);
  return {};
}

// Submits finished pictures. Fragments of one picture come in several codec frames.
Status DiracPictures::submit(GstVideoCodecFrame* frame) {
  Status status;
  while (std::unique_ptr<DiracPicture> picture = decoder_state_->next_picture()) {
    auto job = std::make_unique<Job>();
    job->frame = open_ != nullptr ? std::exchange(open_, nullptr) : std::exchange(frame, nullptr);
    job->sequence_count = decoder_state_->sequence_count();
    job->picture = std::move(picture);
    job->renderer = renderer_.get();
    status = status_of(loop_.make_room([this] { return !loop_.is_full(); }));
    guint64 bytes = 0;
    if (status.ok()) status = reserve(*job, &bytes);
    if (!status.ok()) {
      release(job->frame);
      break;
    }
    loop_.add(std::move(job), bytes);
  }
  if (open_ == nullptr) std::swap(open_, frame);
  release(frame);
  return status;
}

// Frees memory, or finishes a picture that holds some. `*made`: whether there was any.
Status DiracPictures::make_room(bool* made) {
  *made = is_started();
  if (!*made) return {};
  // Waiting frames are no reason to keep unused memory.
  const bool dropped = decoder_state_->drop_spares();
  if (renderer_->trim() || dropped) return {};
  if (!loop_.is_empty()) return status_of(loop_.push_oldest(true, made));
  *made = renderer_->forget_half_positions();
  return {};
}

Status DiracPictures::have_room(const std::function<DiracRenderNeed()>& need_of) {
  for (bool made = true;;) {
    // Another thread may have created the shared data meanwhile.
    const DiracRenderNeed need = need_of();
    guint64 all = loop_.used_bytes() + need.own + std::max(reserved_shared_, need.shared);
    all -= std::min(all, need.kept);
    if (budget_->has(all)) return {};
    if (!made) return budget_->no_room(all);
    CT_RETURN_IF_ERROR(make_room(&made));
  }
}

// Ensures that the picture will find the memory that it takes later: a thread that reads codes
// cannot wait for earlier pictures, nor can those wait for later ones.
Status DiracPictures::reserve(const Job& job, guint64* bytes) {
  const auto need_of = [&] { return renderer_->need(*job.picture, loop_.in_flight()); };
  CT_RETURN_IF_ERROR(have_room(need_of));
  const DiracRenderNeed need = need_of();
  *bytes = need.own;
  reserved_shared_ = std::max(reserved_shared_, need.shared);
  return {};
}

Status DiracPictures::hold(gsize bytes) {
  constexpr gsize kLittle = gsize{1} << 20;
  if (bytes < kLittle) return {};
  return have_room([bytes] { return DiracRenderNeed{.own = bytes}; });
}

Status DiracPictures::allocate(gsize bytes, std::unique_ptr<Memory>* memory) {
  Status status = budget_->allocate_on_host(bytes, memory);
  for (bool made = true; status.code == StatusCode::kOutOfMemory && made;) {
    CT_RETURN_IF_ERROR(make_room(&made));
    if (made) status = budget_->allocate_on_host(bytes, memory);
  }
  return status;
}

// ---- Output ----

GstFlowReturn DiracPictures::finish(std::unique_ptr<FrameJob> picture) {
  std::unique_ptr<Job> job(static_cast<Job*>(picture.release()));
  const gint64 begin = g_get_monotonic_time();
  const Status status = render(*job);
  const auto rendering = static_cast<GstClockTime>(g_get_monotonic_time() - begin) * GST_USECOND;
  longest_ = std::max(longest_, job->took() + rendering);
  decoder_state_->give_back(std::move(job->picture));
  if (loop_.is_empty()) reserved_shared_ = 0;
  GST_OBJECT_LOCK(decoder_);
  published_ = stats_;
  GST_OBJECT_UNLOCK(decoder_);
  if (!status.ok()) {
    post_error(GST_ELEMENT(decoder_), status);
    return GST_FLOW_ERROR;
  }
  const GstFlowReturn flow = push_ready();
  if (frames_.has_output()) loop_.note_time(longest_);
  return flow;
}

GstFlowReturn DiracPictures::push_ready() {
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && !ready_.empty()) {
    const DiracShown shown = std::move(ready_.front());
    ready_.pop_front();
    flow = frames_.push(shown);
  }
  return flow;
}

void DiracPictures::discard(std::unique_ptr<FrameJob> picture) {
  release(static_cast<Job&>(*picture).frame);
}

// It resets the stream: what follows begins with an intra picture.
void DiracPictures::discard_kept() {
  frames_.discard_kept();
  reserved_shared_ = 0;
  if (!is_started()) return;
  decoder_state_->finish();
  while (decoder_state_->next_picture() != nullptr) {
  }
  release(std::exchange(open_, nullptr));
  end_sequence();
  for (DiracShown& shown : ready_) release(shown.frame);
  ready_.clear();
  renderer_->reset();
  seen_intra_ = false;
}

bool DiracPictures::is_late(const Job& job) const {
  const DiracPicture& picture = *job.picture;
  return !picture.header().is_reference && job.frame != nullptr &&
         frames_.is_late(job.frame, picture.sequence(), job.sequence_count,
                         picture.header().number);
}

Status DiracPictures::render(Job& job) {
  const DiracPicture& picture = *job.picture;
  DiracShown shown;
  if (is_late(job)) {
    ++stats_.late;
  } else if (const Status status = render_picture(job, &shown); !status.ok()) {
    release(job.frame);
    return status;
  }
  stats_.add(DiracStage::kMotionDecode, job.motion);
  stats_.add(DiracStage::kResidualDecode, job.residual);
  stats_.bytes += picture.coded_bytes();
  ++stats_.pictures;
  shown.sequence = picture.shared_sequence();
  shown.sequence_count = job.sequence_count;
  shown.number = picture.header().number;
  shown.frame = job.frame;
  if (!is_shown(job, shown.is_damaged)) {
    release(job.frame);
    return {};
  }
  if (shown.sequence != shown_sequence_) {
    end_sequence();
    begin_sequence(shown.sequence);
  }
  const uint32_t number = shown.number;
  order_->push(number, std::make_shared<DiracShown>(std::move(shown)));
  pop(false);
  return {};
}

Status DiracPictures::render_picture(Job& job, DiracShown* shown) {
  CT_RETURN_IF_ERROR(job.ahead_status);
  if (job.picture->lacks_memory())
    return Status::error(StatusCode::kOutOfMemory, "no memory for large coefficients");
  CT_RETURN_IF_ERROR(renderer_->render(*job.picture, std::move(job.ahead), &shown->pictures[0]));
  DiracRenderTimes times;
  while (renderer_->next_times(&times)) {
    stats_.add(DiracStage::kWavelet, times.wavelet);
    stats_.add(DiracStage::kUpsample, times.upsample);
    stats_.add(DiracStage::kMotionRender, times.motion);
  }
  if (engine_.is_cuda()) ++stats_.on_cuda;
  shown->is_damaged = shown->pictures[0]->is_damaged;
  if (!shown->is_damaged) return {};
  ++stats_.damaged;
  const char* damage = job.picture->damage();
  shown->damage = damage != nullptr ? damage : "damaged reference picture";
  return {};
}

bool DiracPictures::is_shown(const Job& job, bool is_damaged) {
  const DiracPictureHeader& header = job.picture->header();
  if (!seen_intra_ && header.is_intra()) {
    seen_intra_ = true;
    first_intra_ = header.number;
  }
  return seen_intra_ && !(is_damaged && dirac_is_before(header.number, first_intra_));
}

void DiracPictures::begin_sequence(const std::shared_ptr<const DiracSequence>& sequence) {
  constexpr int kFrames = 2;
  shown_sequence_ = sequence;
  order_ = std::make_unique<DiracOrder<std::shared_ptr<DiracShown>>>(
      sequence->field_coding ? 2 * kFrames : kFrames);
}

void DiracPictures::end_sequence() {
  if (order_ == nullptr) return;
  pop(true);
  if (half_ != nullptr) ready_.push_back(std::move(*std::exchange(half_, nullptr)));
  order_.reset();
  shown_sequence_.reset();
}

void DiracPictures::pop(bool at_end) {
  uint32_t number;
  std::shared_ptr<DiracShown> picture;
  while (order_->pop(at_end, &number, &picture)) pair(std::move(*picture));
}

// The numbers of the two fields of a frame differ in the last bit only.
void DiracPictures::pair(DiracShown picture) {
  if (!picture.sequence->field_coding) {
    ready_.push_back(std::move(picture));
    return;
  }
  if (half_ != nullptr && half_->number / 2 == picture.number / 2 &&
      half_->number != picture.number) {
    half_->pictures[1] = std::move(picture.pictures[0]);
    if (!half_->is_damaged) half_->damage = std::move(picture.damage);
    half_->is_damaged |= picture.is_damaged;
    if (half_->pictures[0] == nullptr) std::swap(half_->pictures[0], half_->pictures[1]);
    if (half_->frame == nullptr) std::swap(half_->frame, picture.frame);
    release(picture.frame);
    ready_.push_back(std::move(*std::exchange(half_, nullptr)));
    return;
  }
  if (half_ != nullptr) ready_.push_back(std::move(*std::exchange(half_, nullptr)));
  half_ = std::make_shared<DiracShown>(std::move(picture));
}

GstFlowReturn DiracPictures::drain() {
  if (loop_.has_failed()) return loop_.failure();
  if (!is_started()) return GST_FLOW_OK;
  decoder_state_->finish();
  if (const Status status = submit(nullptr); !status.ok()) return flow_after(status);
  return loop_.drain([this] {
    release(std::exchange(open_, nullptr));
    end_sequence();
    return push_ready();
  });
}

}  // namespace cudatransform
