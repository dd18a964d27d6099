// The weights and tables of a batch: made once for jobs that share them, and sent together.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/resize/tables.h"

#include <cstring>
#include <utility>

namespace cudatransform::cuda {

bool ResizeTables::Part::operator==(const Part& other) const {
  return bytes == other.bytes && offset == other.offset &&
         (data == other.data || std::memcmp(data, other.data, bytes) == 0);
}

template <typename Owner, typename T>
const T* ResizeTables::add(const std::shared_ptr<const Owner>& owner, std::span<const T> table) {
  constexpr size_t kAlignment = 16;
  const size_t offset = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
  parts_.push_back({owner, table.data(), table.size_bytes(), offset});
  bytes_ = offset + parts_.back().bytes;
  return reinterpret_cast<const T*>(kBase + offset);
}

template <typename T>
const T* ResizeTables::add(std::vector<T> table) {
  const auto owner = std::make_shared<const std::vector<T>>(std::move(table));
  return add(owner, std::span<const T>(*owner));
}

std::shared_ptr<const ResizeAxis> ResizeTables::add_axis(ResizeFilter filter,
                                                         const ResizeSide& side,
                                                         ResizeAxisView* view) {
  const auto axis = queue_.kept<Kept>().axes.axis(filter, side.in, side.from, side.to, side.out);
  if (const auto found = views_.find(axis.get()); found != views_.end()) {
    *view = found->second;
    return axis;
  }
  const int32_t* const at = add(axis, axis->all);
  const auto place_of = [&](std::span<const int32_t> part) {
    return at + (part.data() - axis->all.data());
  };
  view->first = place_of(axis->first);
  view->count = place_of(axis->count);
  view->weights = place_of(axis->weights);
  view->bands = place_of(axis->bands);
  view->taps = axis->taps;
  views_.emplace(axis.get(), *view);
  return axis;
}

const int32_t* ResizeTables::add_positions(std::vector<int32_t> positions) {
  return add(std::move(positions));
}

const void* ResizeTables::add_values(const ResizeJob& job) {
  if (job.type == ResizeType::kU8) return nullptr;
  const auto [at, is_new] = values_.try_emplace({job.table, job.type, job.channels}, nullptr);
  if (!is_new) return at->second;
  const size_t count = 256 * static_cast<size_t>(job.channels);
  if (job.type == ResizeType::kF32)
    return at->second = add(std::vector<float>(job.table, job.table + count));
  std::vector<uint16_t> rounded(count);
  for (size_t i = 0; i < count; ++i)
    rounded[i] =
        job.type == ResizeType::kF16 ? float16_bits(job.table[i]) : bfloat16_bits(job.table[i]);
  return at->second = add(std::move(rounded));
}

Status ResizeTables::send(Device& device) {
  if (parts_.empty()) return {};
  Kept& kept = queue_.kept<Kept>();
  if (parts_ != kept.sent) {
    kept.sent.clear();
    void* host = nullptr;
    CT_RETURN_IF_ERROR(kept.staging.begin(device, bytes_, &host));
    for (const Part& part : parts_)
      std::memcpy(static_cast<uint8_t*>(host) + part.offset, part.data, part.bytes);
    CT_RETURN_IF_ERROR(kept.staging.end(device, queue_, &kept.address));
    kept.sent.swap(parts_);
  }
  sent_ = static_cast<const uint8_t*>(kept.address);
  return {};
}

}  // namespace cudatransform::cuda
