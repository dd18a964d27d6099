// Whole streams of Dirac and VC-2 to pictures, as an application would.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/conformance/dirac_stream.h"

#include <utility>

#ifdef CT_HAVE_CUDA
#include "cuda/dirac/engine.h"
#endif

namespace cudatransform::test {

namespace {

// Rows without padding, from the device's memory.
Status fetch(Device& device, const SamplePlane& plane, Bytes* bytes) {
  const auto row = static_cast<size_t>(plane.width) * static_cast<size_t>(plane.stride);
  const auto rows = static_cast<size_t>(plane.height);
  bytes->resize(row * rows);
  return device.download(
      device.queue(QueueKind::kCompute),
      {bytes->data(), static_cast<ptrdiff_t>(row), plane.data, plane.pitch, row, rows});
}

void run_tasks(DiracPicture& picture, bool last_first) {
  const int count = picture.task_count();
  if (!last_first) {
    for (int task = 0; task < count; ++task) picture.run_task(task);
    return;
  }
  for (const bool depend : {false, true}) {
    for (int task = count - 1; task >= 0; --task) {
      if ((picture.task_after(task) >= 0) == depend) picture.run_task(task);
    }
  }
}

class Player {
 public:
  Player(Device& device, const DiracRenderOps& ops, const StreamDecoding& how)
      : device_(device), decoder_(how.limits), renderer_(device, ops), how_(how) {}

  void take(const uint8_t* unit, size_t size) {
    note(decoder_.take({unit, size}));
    render();
  }
  DecodedStream finish() {
    decoder_.finish();
    render();
    show(true);
    return std::move(stream_);
  }

 private:
  void note(const Status& status) {
    if (!status.ok()) stream_.errors.push_back(status.message);
  }

  void render() {
    while (std::unique_ptr<DiracPicture> picture = decoder_.next_picture()) {
      if (picture->shared_sequence() != sequence_) start(picture->shared_sequence());
      renderer_.take_slices(*picture);
      run_tasks(*picture, how_.last_first);
      if (how_.look) how_.look(*picture);
      DiracRenderedPtr rendered;
      note(renderer_.render(*picture, nullptr, &rendered));
      if (rendered != nullptr) order_->push(rendered->number, rendered);
      decoder_.give_back(std::move(picture));
      show(false);
    }
  }
  void start(const std::shared_ptr<const DiracSequence>& sequence) {
    show(true);
    sequence_ = sequence;
    order_ = std::make_unique<DiracOrder<DiracRenderedPtr>>(sequence->field_coding ? 4 : 2);
  }
  void show(bool at_end) {
    uint32_t number;
    DiracRenderedPtr rendered;
    while (order_ != nullptr && order_->pop(at_end, &number, &rendered)) {
      stream_.pictures.push_back(copy_of(*rendered));
      rendered.reset();
    }
  }

  DecodedPicture copy_of(const DiracRendered& rendered) {
    DecodedPicture copy;
    copy.sequence = rendered.sequence;
    copy.number = rendered.number;
    copy.is_damaged = rendered.is_damaged;
    for (int c = 0; c < kMaxComponents; ++c)
      note(fetch(device_, rendered.samples[c], &copy.planes[c]));
    return copy;
  }

  Device& device_;
  DiracDecoder decoder_;
  DiracRenderer renderer_;
  const StreamDecoding& how_;
  std::shared_ptr<const DiracSequence> sequence_;
  std::unique_ptr<DiracOrder<DiracRenderedPtr>> order_;
  DecodedStream stream_;
};

}  // namespace

std::vector<Engine> rendering_engines() {
  std::vector<Engine> list;
  for (const Engine& engine : engines()) {
    if (engine.obmc_ops != nullptr && engine.highway_target == 0) list.push_back(engine);
  }
  return list;
}

DiracRenderOps rendering_ops(const Engine& engine) {
  const DiracDequantizeOps* dequantize = &portable_dirac_dequantize_ops();
#ifdef CT_HAVE_CUDA
  if (engine.is_cuda) dequantize = &cuda_dirac_dequantize_ops();
#endif
  return {dequantize, engine.dwt_ops, engine.obmc_ops};
}

Bytes DecodedPicture::joined() const {
  Bytes all;
  for (const Bytes& plane : planes) all.insert(all.end(), plane.begin(), plane.end());
  return all;
}

DecodedStream decode_dirac_stream(const Bytes& stream, Device& device, const DiracRenderOps& ops,
                                  const StreamDecoding& how) {
  Player player(device, ops, how);
  bool in_step = true;
  for (size_t at = 0; at < stream.size();) {
    const DiracUnitSpan span = find_dirac_unit({stream.data() + at, stream.size() - at}, true,
                                               in_step, how.limits.max_unit_bytes);
    at += span.skipped;
    if (span.size == 0) {
      if (span.skipped == 0) break;
      continue;
    }
    player.take(stream.data() + at, span.size);
    at += span.size;
    in_step = true;
  }
  return player.finish();
}

std::vector<DecodedPicture> frames_of(std::vector<DecodedPicture> pictures) {
  std::vector<DecodedPicture> frames;
  for (size_t i = 0; i < pictures.size(); ++i) {
    DecodedPicture& first = pictures[i];
    if (!first.sequence->field_coding) {
      frames.push_back(std::move(first));
      continue;
    }
    if (i + 1 == pictures.size() || first.number % 2 != 0) continue;  // half a frame
    const DecodedPicture& second = pictures[++i];
    const DecodedPicture& top = first.sequence->top_field_first ? first : second;
    const DecodedPicture& bottom = first.sequence->top_field_first ? second : first;
    DecodedPicture frame;
    frame.sequence = first.sequence;
    frame.number = first.number / 2;
    frame.is_damaged = first.is_damaged || second.is_damaged;
    for (int c = 0; c < kMaxComponents; ++c) {
      const size_t rows = first.sequence->picture_height(c);
      const size_t row = top.planes[c].size() / rows;
      for (size_t y = 0; y < 2 * rows; ++y) {
        const auto from =
            (y % 2 == 0 ? top : bottom).planes[c].begin() + static_cast<ptrdiff_t>(y / 2 * row);
        frame.planes[c].insert(frame.planes[c].end(), from, from + static_cast<ptrdiff_t>(row));
      }
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace cudatransform::test
