// Runs jobs of resampling that standard input has, for a judge that is another program.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A job is a line of numbers, then its pixels: channels, alpha, width, height, output's width and
// height, filter, order, gap (0: none), box, reduction's x, y and part (x 0: none). The answer is
// the output's pixels. usage: resize_cases [--portable | --cuda]
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "transform/device/host_device.h"
#include "transform/resize/resize.h"
#ifdef CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#include "cuda/resize/engine.h"
#endif

namespace {

using namespace cudatransform;

struct Engine {
  const ResizeOps* ops = &host_resize_ops();
  std::unique_ptr<Device> device;
};

Status find_engine(const char* option, Engine* engine) {
  if (std::strcmp(option, "--cuda") != 0) {
    if (std::strcmp(option, "--portable") == 0) engine->ops = &portable_resize_ops();
    engine->device = make_host_device(2);
    return {};
  }
#ifdef CT_HAVE_CUDA
  engine->ops = &cuda_resize_ops();
  return make_primary_cuda_device(0, &engine->device);
#else
  return Status::error(StatusCode::kNotFound, "built without the CUDA engine");
#endif
}

// A packed picture: on the host, and where the engine works.
class Pixels {
 public:
  Status make(Device& device, int channels, int32_t width, int32_t height, ResizePicture* picture) {
    host_.resize(static_cast<size_t>(width) * static_cast<size_t>(height) *
                 static_cast<size_t>(channels));
    CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, host_.size(), &memory_));
    picture->width = width;
    picture->height = height;
    picture->step = channels;
    for (int c = 0; c < channels; ++c) {
      picture->data[c] = static_cast<uint8_t*>(memory_->data()) + c;
      picture->pitch[c] = ptrdiff_t{width} * channels;
    }
    return {};
  }
  bool read() { return std::fread(host_.data(), 1, host_.size(), stdin) == host_.size(); }
  bool write() const { return std::fwrite(host_.data(), 1, host_.size(), stdout) == host_.size(); }
  Status upload(Device& device, Queue& queue) {
    return device.upload(queue, copy_of_bytes(memory_->data(), host_.data(), host_.size()));
  }
  Status download(Device& device, Queue& queue) {
    return device.download(queue, copy_of_bytes(host_.data(), memory_->data(), host_.size()));
  }

 private:
  std::vector<uint8_t> host_;
  std::unique_ptr<Memory> memory_;
};

Status run(Engine& engine, const ResizeJob& job, Pixels& in, Pixels& out) {
  Device& device = *engine.device;
  Queue& queue = device.queue(QueueKind::kCompute);
  FencePtr done;
  CT_RETURN_IF_ERROR(in.upload(device, queue));
  CT_RETURN_IF_ERROR(engine.ops->submit(device, queue, {&job, 1}, nullptr));
  CT_RETURN_IF_ERROR(out.download(device, queue));
  CT_RETURN_IF_ERROR(queue.record(&done));
  return done->wait();
}

int fail(const std::string& message) {
  std::fprintf(stderr, "resize_cases: %s\n", message.c_str());
  return 1;
}

// False at the end.
bool read_job(ResizeJob* job, double* gap, int size[4]) {
  int alpha = 0, filter = 0, order = 0;
  ResizeReduction& by = job->reduction;
  ResizeBox& box = job->box;
  const int count = std::scanf("%d %d %d %d %d %d %d %d %lf %lf %lf %lf %lf %d %d %d %d %d %d",
                               &job->channels, &alpha, &size[0], &size[1], &size[2], &size[3],
                               &filter, &order, gap, &box.left, &box.top, &box.right, &box.bottom,
                               &by.x, &by.y, &by.left, &by.top, &by.right, &by.bottom);
  job->has_alpha = alpha != 0;
  job->filter = static_cast<ResizeFilter>(filter);
  job->order = static_cast<ResizeOrder>(order);
  return count == 19 && std::getchar() == '\n';
}

}  // namespace

int main(int argc, char** argv) {
  Engine engine;
  if (const Status found = find_engine(argc > 1 ? argv[1] : "", &engine); !found.ok())
    return fail(found.message);
  for (;;) {
    ResizeJob job;
    double gap = 0;
    int size[4];
    if (!read_job(&job, &gap, size)) return 0;
    Pixels in, out;
    Status status = in.make(*engine.device, job.channels, size[0], size[1], &job.from);
    if (status.ok()) status = out.make(*engine.device, job.channels, size[2], size[3], &job.to);
    if (!status.ok()) return fail(status.message);
    if (!in.read()) return fail("pixels are missing");
    if (job.reduction.x == 0)
      job.reduction = {};
    else
      job.box = whole_box(job);
    if (gap > 0) status = set_reducing_gap(gap, &job);
    if (status.ok()) status = run(engine, job, in, out);
    if (!status.ok()) return fail(status.message);
    if (!out.write() || std::fflush(stdout) != 0) return fail("the output is closed");
  }
}
