// Runs jobs of resampling that standard input has, for a judge that is another program.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A job is a line of numbers, then its pixels: channels, alpha, width, height, output's width and
// height, filter, order, gap (0: none), box, reduction's x, y and part (x 0: none). The answer is
// the output's pixels. usage: resize_cases [--portable]
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "transform/device/host_device.h"
#include "transform/resize/resize.h"

namespace {

using namespace cudatransform;

// A packed picture.
ResizePicture packed(std::vector<uint8_t>& pixels, int channels, int32_t width, int32_t height) {
  pixels.resize(static_cast<size_t>(width) * static_cast<size_t>(height) *
                static_cast<size_t>(channels));
  ResizePicture picture;
  picture.width = width;
  picture.height = height;
  picture.step = channels;
  for (int c = 0; c < channels; ++c) {
    picture.data[c] = pixels.data() + c;
    picture.pitch[c] = ptrdiff_t{width} * channels;
  }
  return picture;
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
  const bool is_portable = argc > 1 && std::strcmp(argv[1], "--portable") == 0;
  const ResizeOps& ops = is_portable ? portable_resize_ops() : host_resize_ops();
  const std::unique_ptr<Device> device = make_host_device(2);
  std::vector<uint8_t> in, out;
  for (;;) {
    ResizeJob job;
    double gap = 0;
    int size[4];
    if (!read_job(&job, &gap, size)) return 0;
    job.from = packed(in, job.channels, size[0], size[1]);
    job.to = packed(out, job.channels, size[2], size[3]);
    if (std::fread(in.data(), 1, in.size(), stdin) != in.size()) return fail("pixels are missing");
    if (job.reduction.x == 0)
      job.reduction = {};
    else
      job.box = whole_box(job);
    Status status = gap > 0 ? set_reducing_gap(gap, &job) : Status{};
    if (status.ok())
      status = ops.submit(*device, device->queue(QueueKind::kCompute), {&job, 1}, nullptr);
    if (!status.ok()) return fail(status.message);
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) return fail("no room");
    std::fflush(stdout);
  }
}
