// The weights and tables of a batch: made once for jobs that share them, and sent together.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/resize/tables.h"

#include <algorithm>
#include <cstring>

namespace cudatransform::cuda {

std::vector<int32_t> bands_of(const ResizeAxis& axis) {
  std::vector<int32_t> bands;
  for (int32_t o = 0; o < axis.out; o += kResizeBand) {
    const auto last = static_cast<size_t>(std::min(o + kResizeBand, axis.out) - 1);
    bands.push_back(axis.first[static_cast<size_t>(o)] & -kResizeAlignment);
    bands.push_back(axis.first[last] + axis.count[last]);
  }
  return bands;
}

template <typename T>
const T* ResizeTables::add(const T* data, size_t count) {
  constexpr size_t kAlignment = 16;
  const size_t offset = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
  bytes_.resize(offset);
  const auto* const from = reinterpret_cast<const uint8_t*>(data);
  bytes_.insert(bytes_.end(), from, from + count * sizeof(T));
  return reinterpret_cast<const T*>(kBase + offset);
}

std::shared_ptr<const ResizeAxis> ResizeTables::add_axis(ResizeFilter filter,
                                                         const ResizeSide& side,
                                                         ResizeAxisView* view) {
  const auto axis = kept_.axes.axis(filter, side.in, side.from, side.to, side.out);
  if (const auto found = views_.find(axis.get()); found != views_.end()) {
    *view = found->second;
    return axis;
  }
  view->first = add(axis->first.data(), axis->first.size());
  view->count = add(axis->count.data(), axis->count.size());
  view->weights = add(axis->weights.data(), axis->weights.size());
  const std::vector<int32_t> bands = bands_of(*axis);
  view->bands = add(bands.data(), bands.size());
  view->taps = axis->taps;
  views_.emplace(axis.get(), *view);
  axes_.push_back(axis);
  return axis;
}

const int32_t* ResizeTables::add_positions(const std::vector<int32_t>& positions) {
  return add(positions.data(), positions.size());
}

const void* ResizeTables::add_values(const ResizeJob& job) {
  if (job.type == ResizeType::kU8) return nullptr;
  const auto [at, is_new] = values_.try_emplace({job.table, job.type, job.channels}, nullptr);
  if (!is_new) return at->second;
  const size_t count = 256 * static_cast<size_t>(job.channels);
  if (job.type == ResizeType::kF32) return at->second = add(job.table, count);
  std::vector<uint16_t> rounded(count);
  for (size_t i = 0; i < count; ++i)
    rounded[i] =
        job.type == ResizeType::kF16 ? float16_bits(job.table[i]) : bfloat16_bits(job.table[i]);
  return at->second = add(rounded.data(), count);
}

Status ResizeTables::send(Device& device) {
  if (bytes_.empty()) return {};
  if (bytes_ != kept_.sent) {
    kept_.sent.clear();
    void* host = nullptr;
    CT_RETURN_IF_ERROR(kept_.staging.begin(device, bytes_.size(), &host));
    std::memcpy(host, bytes_.data(), bytes_.size());
    CT_RETURN_IF_ERROR(kept_.staging.end(device, queue_, &kept_.address));
    kept_.sent.swap(bytes_);
  }
  sent_ = static_cast<const uint8_t*>(kept_.address);
  return {};
}

}  // namespace cudatransform::cuda
