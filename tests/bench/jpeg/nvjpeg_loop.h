// NVIDIA's nvJPEG without GStreamer, opened at run time: what the JPEG elements on a GPU are
// measured by.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>

#include "tests/bench/jpeg/pictures.h"

namespace cudatransform::bench {

// Files in host memory to planes in device memory, a batch at a time (nvjpegDecodeBatched).
class NvjpegLoop {
 public:
  enum class Backend {  // nvjpegBackend_t
    kGpuHybrid = 2,     // entropy decoding by kernels
    kHardware = 3,      // by the JPEG units of data-centre GPUs
  };

  // Null where there is no driver, no libnvjpeg, or no such unit; `*why` says what.
  static std::unique_ptr<NvjpegLoop> make(Backend backend, int batch, std::string* why);
  ~NvjpegLoop();

  // Seconds a picture, over at least `count` pictures in turns, after one batch that is not
  // counted. Throws std::runtime_error with nvJPEG's status.
  double time(const std::vector<JpegPicture>& pictures, int count);

 private:
  struct State;
  explicit NvjpegLoop(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cudatransform::bench
