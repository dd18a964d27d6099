// Rendering frames of APV with an engine of the tests, to samples in host memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "apv/renderer.h"
#include "tests/engine/engines.h"

#ifdef CT_HAVE_CUDA
#include "cuda/apv/engine.h"
#endif

namespace cudatransform::test {

inline ApvRenderOps apv_render_ops(const Engine& engine) {
  ApvRenderOps ops = {engine.apv_ops, nullptr};
#ifdef CT_HAVE_CUDA
  if (engine.is_cuda) ops.entropy = &cuda_apv_entropy_ops();
#endif
  return ops;
}

// Planes of 16-bit samples one after the other, without padding.
inline Status render_apv(const Engine& engine, ApvRenderer& renderer, ApvPicture* picture,
                         std::vector<uint8_t>* samples) {
  Device& device = *engine.device;
  const ApvFrameInfo info = picture->frame.info();
  std::unique_ptr<Memory> memory;
  samples->resize(2 * info.samples());
  CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, samples->size(), &memory));
  ApvSamples to;
  auto* at = static_cast<uint8_t*>(memory->data());
  for (int c = 0; c < info.components(); ++c) {
    to.data[c] = at;
    to.pitch[c] = ptrdiff_t{2} * info.width_of(c);
    at += 2 * size_t{info.width_of(c)} * info.height;
  }
  engine.activate();
  CT_RETURN_IF_ERROR(renderer.render(picture, to));
  Queue& queue = device.queue(QueueKind::kCompute);
  CT_RETURN_IF_ERROR(
      device.download(queue, copy_of_bytes(samples->data(), memory->data(), samples->size())));
  FencePtr done;
  CT_RETURN_IF_ERROR(queue.record(&done));
  return done->wait();
}

}  // namespace cudatransform::test
