// The weights and tables of jobs in device memory, where they stay for later batches.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/resize/tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transform/device/memory_budget.h"

namespace cudatransform::cuda {

void ResizeTables::Kept::forget() {
  places.clear();
  tables.clear();
  filled = 0;
}

// The queue's earlier work has read what is overwritten.
ResizeTables::ResizeTables(StreamQueue& queue) : queue_(queue), kept_(queue.kept<Kept>()) {
  if (kept_.filled > kMaxKept) kept_.forget();
  begin_ = kept_.filled;
}

ResizeTables::~ResizeTables() {
  if (!is_sent_) kept_.forget();
}

size_t ResizeTables::add_part(const void* data, size_t bytes) {
  constexpr size_t kAlignment = 16;
  const size_t offset = kept_.filled;
  parts_.push_back({data, bytes, offset});
  kept_.filled += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

template <typename T>
const T* ResizeTables::add(const std::vector<T>& table) {
  const auto* const bytes = reinterpret_cast<const char*>(table.data());
  const auto [found, is_new] =
      kept_.tables.try_emplace(std::string(bytes, table.size() * sizeof(T)), 0);
  if (is_new) found->second = add_part(found->first.data(), found->first.size());
  return at<T>(found->second);
}

std::shared_ptr<const ResizeAxis> ResizeTables::add_axis(ResizeFilter filter,
                                                         const ResizeSide& side,
                                                         ResizeAxisView* view) {
  auto axis = kept_.axes.axis(filter, side.in, side.from, side.to, side.out);
  const auto [found, is_new] = kept_.places.try_emplace(axis.get());
  AxisPlace& place = found->second;
  if (is_new) {
    place.axis = axis;
    const int32_t* const all = at<int32_t>(add_part(axis->all.data(), axis->all.size_bytes()));
    const auto place_of = [&](std::span<const int32_t> part) {
      return all + (part.data() - axis->all.data());
    };
    place.view = {place_of(axis->first), place_of(axis->count), place_of(axis->weights),
                  place_of(axis->bands), axis->taps};
  }
  *view = place.view;
  return axis;
}

const int32_t* ResizeTables::add_positions(const std::vector<int32_t>& positions) {
  return add(positions);
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
  return at->second = add(rounded);
}

// Keeps the first `begin_` bytes. The rest is for those that follow: growing waits for the device.
Status ResizeTables::grow(Device& device) {
  const size_t room = std::min(2 * kept_.filled, kMaxKept + kMaxKept / 4);
  std::unique_ptr<Memory> grown;
  CT_RETURN_IF_ERROR(grow_memory(device, MemoryKind::kDevice, kept_.filled, &grown, room));
  if (begin_ > 0)
    CT_RETURN_IF_ERROR(
        device.copy(queue_, copy_of_bytes(grown->data(), kept_.memory->data(), begin_)));
  kept_.memory = std::move(grown);
  return {};
}

Status ResizeTables::send(Device& device) {
  if (bytes() > 0) {
    if (kept_.memory == nullptr || kept_.memory->size() < kept_.filled)
      CT_RETURN_IF_ERROR(grow(device));
    void* host = nullptr;
    CT_RETURN_IF_ERROR(kept_.staging.begin(device, bytes(), &host));
    for (const Part& part : parts_)
      std::memcpy(static_cast<uint8_t*>(host) + part.offset - begin_, part.data, part.bytes);
    auto* const to = static_cast<uint8_t*>(kept_.memory->data()) + begin_;
    CT_RETURN_IF_ERROR(kept_.staging.end_at(to, device, queue_));
  }
  if (kept_.memory != nullptr) base_ = static_cast<const uint8_t*>(kept_.memory->data());
  is_sent_ = true;
  return {};
}

}  // namespace cudatransform::cuda
