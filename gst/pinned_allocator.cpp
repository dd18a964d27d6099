// A GstAllocator of page-locked host memory, which a device copies to and from without staging.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/pinned_allocator.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gst/debug.h"

using cudatransform::Device;
using cudatransform::kPinnedMemoryType;
using cudatransform::Memory;
using cudatransform::MemoryKind;
using cudatransform::Status;

namespace {

constexpr gsize kLeastAlignment = 64;
constexpr gsize kPage = 4096;  // sizes are rounded up to it, so that a spare block fits more often
constexpr size_t kMostSpare = 8;

// What the allocator has besides a GObject's memory.
struct PinnedState {
  std::mutex lock;
  Device* device;
  std::vector<std::unique_ptr<Memory>> spare;  // the oldest first
  std::atomic<bool> warned = false;

  explicit PinnedState(Device& of) : device(&of) {}
  Status take(gsize bytes, std::unique_ptr<Memory>* block);
  void give(std::unique_ptr<Memory> block);
  void detach();
};

Status PinnedState::take(gsize bytes, std::unique_ptr<Memory>* block) {
  std::lock_guard guard(lock);
  if (!device) return Status::error(cudatransform::StatusCode::kNotFound, "the device has gone");
  const auto fits = [&](const auto& memory) { return memory->size() == bytes; };
  if (auto found = std::find_if(spare.begin(), spare.end(), fits); found != spare.end()) {
    *block = std::move(*found);
    spare.erase(found);
    return {};
  }
  return device->allocate(MemoryKind::kPinned, bytes, block);
}

void PinnedState::give(std::unique_ptr<Memory> block) {
  std::unique_ptr<Memory> oldest;  // freed after the lock
  std::lock_guard guard(lock);
  if (!device) {
    oldest = std::move(block);
    return;
  }
  spare.push_back(std::move(block));
  if (spare.size() <= kMostSpare) return;
  oldest = std::move(spare.front());
  spare.erase(spare.begin());
}

void PinnedState::detach() {
  std::vector<std::unique_ptr<Memory>> gone;
  std::lock_guard guard(lock);
  device = nullptr;
  gone.swap(spare);
}

struct PinnedMemory {
  GstMemory parent;
  Memory* block;  // owned; null in memory that shares its parent's
  guint8* data;
};

struct GstCudaDctPinnedAllocator {
  GstAllocator parent;
  PinnedState* state;
};

struct GstCudaDctPinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

PinnedMemory* pinned(GstMemory* memory) { return reinterpret_cast<PinnedMemory*>(memory); }

}  // namespace

GType gst_cuda_dct_pinned_allocator_get_type(void);
G_DEFINE_TYPE(GstCudaDctPinnedAllocator, gst_cuda_dct_pinned_allocator, GST_TYPE_ALLOCATOR);

static PinnedState* state_of(GstAllocator* allocator) {
  return reinterpret_cast<GstCudaDctPinnedAllocator*>(allocator)->state;
}

static GstMemory* make_memory(GstAllocator* allocator, std::unique_ptr<Memory> block, gsize maxsize,
                              gsize align, gsize size, const GstAllocationParams* params) {
  auto* memory = g_new0(PinnedMemory, 1);
  const auto address = reinterpret_cast<guintptr>(block->data());
  memory->data = static_cast<guint8*>(block->data()) + ((align + 1 - (address & align)) & align);
  memory->block = block.release();
  gst_memory_init(&memory->parent, params->flags, allocator, nullptr, maxsize, align,
                  params->prefix, size);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED) memset(memory->data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset(memory->data + params->prefix + size, 0, params->padding);
  return &memory->parent;
}

static GstMemory* pinned_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  PinnedState* state = state_of(allocator);
  const gsize align = params->align | (kLeastAlignment - 1);
  const gsize extra = params->prefix + params->padding;
  if (extra < params->padding || size > G_MAXSIZE / 2 - extra) return nullptr;
  const gsize maxsize = size + extra;
  std::unique_ptr<Memory> block;
  // The driver aligns to pages, but says so nowhere.
  const Status status = state->take((maxsize + align + kPage) & ~(kPage - 1), &block);
  if (status.ok()) return make_memory(allocator, std::move(block), maxsize, align, size, params);

  const bool first = !state->warned.exchange(true);
  gst_debug_log(GST_CAT_DEFAULT, first ? GST_LEVEL_WARNING : GST_LEVEL_DEBUG, __FILE__, __func__,
                __LINE__, G_OBJECT(allocator), "no page-locked memory, taking ordinary: %s",
                status.message.c_str());
  GstAllocationParams ordinary = *params;
  ordinary.align = align;
  return gst_allocator_alloc(nullptr, size, &ordinary);
}

static void pinned_free(GstAllocator* allocator, GstMemory* memory) {
  if (Memory* block = pinned(memory)->block)
    state_of(allocator)->give(std::unique_ptr<Memory>(block));
  g_free(memory);
}

static gpointer pinned_map(GstMemory* memory, gsize /*maxsize*/, GstMapFlags /*flags*/) {
  return pinned(memory)->data;
}

static void pinned_unmap(GstMemory* /*memory*/) {}

static GstMemory* pinned_share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* root = memory->parent ? memory->parent : memory;
  if (size == -1) size = static_cast<gssize>(memory->size) - offset;
  auto* part = g_new0(PinnedMemory, 1);
  part->data = pinned(memory)->data;
  gst_memory_init(
      &part->parent,
      static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(root) | GST_MINI_OBJECT_FLAG_LOCK_READONLY),
      memory->allocator, root, memory->maxsize, memory->align, memory->offset + offset,
      static_cast<gsize>(size));
  return &part->parent;
}

// Adjacent parts of one block, as gst_memory_is_span() asks: offsets are the caller's to compare.
static gboolean pinned_is_span(GstMemory* first, GstMemory* second, gsize* offset) {
  if (offset) *offset = first->offset - first->parent->offset;
  return pinned(first)->data + first->offset + first->size == pinned(second)->data + second->offset;
}

static void pinned_finalize(GObject* object) {
  delete state_of(GST_ALLOCATOR(object));
  G_OBJECT_CLASS(gst_cuda_dct_pinned_allocator_parent_class)->finalize(object);
}

static void gst_cuda_dct_pinned_allocator_init(GstCudaDctPinnedAllocator* self) {
  GstAllocator* allocator = &self->parent;
  allocator->mem_type = kPinnedMemoryType;
  allocator->mem_map = pinned_map;
  allocator->mem_unmap = pinned_unmap;
  allocator->mem_share = pinned_share;
  allocator->mem_is_span = pinned_is_span;
}

static void gst_cuda_dct_pinned_allocator_class_init(GstCudaDctPinnedAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = pinned_finalize;
  klass->parent_class.alloc = pinned_alloc;
  klass->parent_class.free = pinned_free;
}

namespace cudatransform {

GstAllocator* new_pinned_allocator(Device& device) {
  auto* allocator =
      static_cast<GstAllocator*>(g_object_new(gst_cuda_dct_pinned_allocator_get_type(), nullptr));
  reinterpret_cast<GstCudaDctPinnedAllocator*>(allocator)->state = new PinnedState(device);
  return GST_ALLOCATOR(gst_object_ref_sink(allocator));
}

void detach_pinned_allocator(GstAllocator* allocator) { state_of(allocator)->detach(); }

}  // namespace cudatransform
