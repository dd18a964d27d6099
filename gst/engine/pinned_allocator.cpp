// GstAllocators of host memory: page-locked, which a device copies without staging, and ordinary.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/pinned_allocator.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "gst/engine/debug.h"
#include "transform/device/host_device.h"

using cudatransform::Device;
using cudatransform::kPinnedMemoryType;
using cudatransform::Memory;
using cudatransform::MemoryKind;
using cudatransform::Status;

namespace {

constexpr gsize kLeastAlignment = 64;
constexpr gsize kPage = 4096;  // sizes are rounded up to it, so that a spare block fits more often
constexpr size_t kMostSpare = 8;

// The state of the allocator of page-locked memory.
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

struct HostMemory {
  GstMemory parent;
  Memory* block;  // owned; null in memory that shares its parent's
  guint8* data;
};

struct GstCudaTransformHostAllocator {
  GstAllocator parent;
  PinnedState* state;  // null: of ordinary memory
};

struct GstCudaTransformHostAllocatorClass {
  GstAllocatorClass parent_class;
};

HostMemory* host(GstMemory* memory) { return reinterpret_cast<HostMemory*>(memory); }

}  // namespace

GType gst_cuda_transform_host_allocator_get_type(void);
G_DEFINE_TYPE(GstCudaTransformHostAllocator, gst_cuda_transform_host_allocator, GST_TYPE_ALLOCATOR);

static PinnedState* state_of(GstAllocator* allocator) {
  return reinterpret_cast<GstCudaTransformHostAllocator*>(allocator)->state;
}

static GstMemory* make_memory(GstAllocator* allocator, std::unique_ptr<Memory> block, gsize maxsize,
                              gsize align, gsize size, const GstAllocationParams* params) {
  auto* memory = g_new0(HostMemory, 1);
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

// Memory that the driver has locked; null, with a line in the log, if it cannot lock any.
static std::unique_ptr<Memory> take_pinned(GstAllocator* allocator, gsize bytes) {
  PinnedState* state = state_of(allocator);
  std::unique_ptr<Memory> block;
  // The driver aligns to pages, but does not document that.
  const Status status = state->take((bytes + kPage) & ~(kPage - 1), &block);
  if (status.ok()) return block;
  const bool first = !state->warned.exchange(true);
  gst_debug_log(GST_CAT_DEFAULT, first ? GST_LEVEL_WARNING : GST_LEVEL_DEBUG, __FILE__, __func__,
                __LINE__, G_OBJECT(allocator), "no page-locked memory, taking ordinary: %s",
                status.message.c_str());
  return nullptr;
}

static std::unique_ptr<Memory> take_ordinary(GstAllocator* allocator, gsize bytes) {
  std::unique_ptr<Memory> block;
  const Status status = cudatransform::allocate_host_memory(bytes, &block);
  if (!status.ok()) GST_WARNING_OBJECT(allocator, "%s", status.message.c_str());
  return block;
}

static GstMemory* host_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  const gsize align = params->align | (kLeastAlignment - 1);
  const gsize extra = params->prefix + params->padding;
  if (extra < params->padding || size > G_MAXSIZE / 2 - extra || align > G_MAXSIZE / 4)
    return nullptr;
  const gsize maxsize = size + extra;
  const bool is_ordinary = !state_of(allocator);
  std::unique_ptr<Memory> block;
  if (!is_ordinary) {
    block = take_pinned(allocator, maxsize + align);
  } else {
    const bool is_aligned = align < kLeastAlignment;  // as ordinary memory always is
    block = take_ordinary(allocator, maxsize + (is_aligned ? 0 : align));
  }
  if (block) return make_memory(allocator, std::move(block), maxsize, align, size, params);
  if (is_ordinary) return nullptr;
  GstAllocationParams ordinary = *params;
  ordinary.align = align;
  return gst_allocator_alloc(cudatransform::ordinary_allocator(), size, &ordinary);
}

static void host_free(GstAllocator* allocator, GstMemory* memory) {
  std::unique_ptr<Memory> block(host(memory)->block);
  PinnedState* state = state_of(allocator);
  if (block && state) state->give(std::move(block));
  g_free(memory);
}

static gpointer host_map(GstMemory* memory, gsize /*maxsize*/, GstMapFlags /*flags*/) {
  return host(memory)->data;
}

static void host_unmap(GstMemory* /*memory*/) {}

static GstMemory* host_share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* root = memory->parent ? memory->parent : memory;
  if (size == -1) size = static_cast<gssize>(memory->size) - offset;
  auto* part = g_new0(HostMemory, 1);
  part->data = host(memory)->data;
  gst_memory_init(
      &part->parent,
      static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(root) | GST_MINI_OBJECT_FLAG_LOCK_READONLY),
      memory->allocator, root, memory->maxsize, memory->align, memory->offset + offset,
      static_cast<gsize>(size));
  return &part->parent;
}

// GStreamer's own allocator goes on, and complains, where there is no memory.
static GstMemory* host_copy(GstMemory* memory, gssize offset, gssize size) {
  if (size == -1) size = static_cast<gssize>(memory->size) - offset;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = memory->align;
  GstMemory* copy = gst_allocator_alloc(memory->allocator, static_cast<gsize>(size), &params);
  if (!copy) return nullptr;
  memcpy(host(copy)->data, host(memory)->data + memory->offset + offset, static_cast<gsize>(size));
  return copy;
}

// Adjacent parts of one block, as gst_memory_is_span() asks: the caller compares the offsets.
static gboolean host_is_span(GstMemory* first, GstMemory* second, gsize* offset) {
  if (offset) *offset = first->offset - first->parent->offset;
  return host(first)->data + first->offset + first->size == host(second)->data + second->offset;
}

static void host_finalize(GObject* object) {
  delete state_of(GST_ALLOCATOR(object));
  G_OBJECT_CLASS(gst_cuda_transform_host_allocator_parent_class)->finalize(object);
}

static void gst_cuda_transform_host_allocator_init(GstCudaTransformHostAllocator* self) {
  GstAllocator* allocator = &self->parent;
  allocator->mem_type = GST_ALLOCATOR_SYSMEM;
  allocator->mem_map = host_map;
  allocator->mem_unmap = host_unmap;
  allocator->mem_share = host_share;
  allocator->mem_copy = host_copy;
  allocator->mem_is_span = host_is_span;
}

static void gst_cuda_transform_host_allocator_class_init(
    GstCudaTransformHostAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = host_finalize;
  klass->parent_class.alloc = host_alloc;
  klass->parent_class.free = host_free;
}

namespace cudatransform {

static GstAllocator* new_allocator() {
  return GST_ALLOCATOR(
      gst_object_ref_sink(g_object_new(gst_cuda_transform_host_allocator_get_type(), nullptr)));
}

GstAllocator* new_pinned_allocator(Device& device) {
  GstAllocator* allocator = new_allocator();
  allocator->mem_type = kPinnedMemoryType;
  reinterpret_cast<GstCudaTransformHostAllocator*>(allocator)->state = new PinnedState(device);
  return allocator;
}

void detach_pinned_allocator(GstAllocator* allocator) { state_of(allocator)->detach(); }

GstAllocator* ordinary_allocator() {
  // One for the process, like GStreamer's own: it has no state, and memory may outlive elements.
  static GstAllocator* const allocator = [] {
    GstAllocator* made = new_allocator();
    GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    return made;
  }();
  return allocator;
}

}  // namespace cudatransform
