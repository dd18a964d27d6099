// RGB and its planes on the CPU, compared with libjpeg-turbo's.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// "serial" is the portable engine, "simd" vectors on one thread, "tbb" vectors on all. libjpeg's
// time for this step is that of a file to RGB less that of the file to planes (the way back
// likewise), on one thread. Contestants take turns. Counters, besides the pixels of a job:
//   ns/pixel    time of one pixel
//   GB/s        bytes of planes and of RGB over the time of the job
//   x libjpeg   libjpeg's time over that of the job: how many times as fast this one is
#include "tests/bench/cpu/cases.h"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>

#include "tests/bench/common.h"
#include "tests/bench/turns.h"
#include "tests/jpeg/libjpeg.h"
#include "transform/rgb/rgb.h"

namespace cudatransform::bench {

namespace {

struct Conversion {
  const RgbOps* ops;
  Threads threads;
  Direction direction;
  RgbSubsampling chroma;
  ChromaUpsampling upsampling;
};

using test::Compressor;
using test::Decompressor;

class RgbFrame {
 public:
  RgbFrame(const FrameSize& size, const RgbSubsampling& chroma) : size_(size), chroma_(chroma) {
    const size_t pixels = size.samples();
    rgb_ = allocate<uint8_t>(3 * pixels);
    // The time does not depend on the picture. This one has hardly any codes, which would take most
    // of libjpeg's time.
    for (size_t i = 0; i < 3 * pixels; ++i) rgb_[i] = static_cast<uint8_t>(i / pixels * 80 + 40);
    for (int c = 0; c < 3; ++c) {
      // Rows of whole MCUs, as libjpeg reads and writes them.
      SamplePlane& plane = planes_[c];
      const RgbSubsampling by = subsampling(c);
      plane.width = rgb_plane_side(size.width, by.x);
      plane.height = rgb_plane_side(size.height, by.y);
      plane.pitch = (size.width + 63) / 64 * 64 / by.x;
      memory_[c] = allocate<uint8_t>(static_cast<size_t>(plane.pitch) *
                                     static_cast<size_t>((size.height + 63) / 64 * 64 / by.y));
      plane.data = memory_[c].get();
    }
    make_file(/*raw=*/false);
  }

  size_t bytes() const {
    size_t sum = 3 * size_.samples();
    for (const SamplePlane& plane : planes_)
      sum += static_cast<size_t>(plane.width) * static_cast<size_t>(plane.height);
    return sum;
  }

  void run(const Conversion& conversion) const {
    RgbJob job;
    job.direction = conversion.direction;
    job.upsampling = conversion.upsampling;
    for (int c = 0; c < 3; ++c) {
      job.subsampling[c] = subsampling(c);
      job.planes[c] = planes_[c];
    }
    job.rgb = {RgbPacking::kRgb, size_.width, size_.height, {rgb_.get()}, {3 * size_.width}};
    Device& host = device(conversion.threads);
    const Status status =
        conversion.ops->submit(host, host.queue(QueueKind::kCompute), job, nullptr);
    if (!status.ok()) throw std::runtime_error(status.message);
  }

  // One way of libjpeg, to or from RGB, or planes (`raw`).
  void run_libjpeg(const Conversion& conversion, bool raw) {
    if (conversion.direction == Direction::kForward)
      make_file(raw);
    else
      read_file(raw, conversion.upsampling == ChromaUpsampling::kFancy);
  }

 private:
  RgbSubsampling subsampling(int c) const { return c == 0 ? RgbSubsampling{1, 1} : chroma_; }

  void make_file(bool raw) {
    Compressor to;
    to.open();
    to.image_width = static_cast<JDIMENSION>(size_.width);
    to.image_height = static_cast<JDIMENSION>(size_.height);
    to.input_components = 3;
    to.in_color_space = raw ? JCS_YCbCr : JCS_RGB;
    jpeg_set_defaults(&to);
    to.comp_info[0].h_samp_factor = chroma_.x;
    to.comp_info[0].v_samp_factor = chroma_.y;
    to.dct_method = JDCT_ISLOW;
    to.raw_data_in = raw ? TRUE : FALSE;
    jpeg_start_compress(&to, TRUE);
    while (to.next_scanline < to.image_height) {
      if (raw)
        jpeg_write_raw_data(&to, raw_rows(), static_cast<JDIMENSION>(8 * chroma_.y));
      else
        jpeg_write_scanlines(&to, rgb_row(to.next_scanline), 1);
    }
    file_ = to.finish();
  }

  void read_file(bool raw, bool fancy) {
    Decompressor from(file_);
    from.dct_method = JDCT_ISLOW;
    from.do_fancy_upsampling = fancy ? TRUE : FALSE;
    from.raw_data_out = raw ? TRUE : FALSE;
    jpeg_start_decompress(&from);
    while (from.output_scanline < from.output_height) {
      if (raw)
        jpeg_read_raw_data(&from, raw_rows(), static_cast<JDIMENSION>(8 * chroma_.y));
      else
        jpeg_read_scanlines(&from, rgb_row(from.output_scanline), 1);
    }
    jpeg_finish_decompress(&from);
  }

  JSAMPARRAY rgb_row(JDIMENSION y) {
    row_ = rgb_.get() + size_t{3} * static_cast<size_t>(size_.width) * y;
    return &row_;
  }
  // Those of the first MCUs for all, which stay in the cache, as libjpeg's own rows do.
  JSAMPIMAGE raw_rows() {
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 8 * chroma_.y / subsampling(c).y; ++i)
        rows_[c][i] = memory_[c].get() + i * planes_[c].pitch;
      arrays_[c] = rows_[c];
    }
    return arrays_;
  }

  const FrameSize size_;
  const RgbSubsampling chroma_;
  Buffer<uint8_t> rgb_, memory_[3];
  SamplePlane planes_[3];
  std::vector<uint8_t> file_;
  JSAMPROW row_ = nullptr, rows_[3][16] = {};
  JSAMPARRAY arrays_[3] = {};
};

void run_case(benchmark::State& state, const FrameSize& size, const Conversion& conversion,
              double seconds_of_case) {
  RgbFrame frame(size, conversion.chroma);
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds = medians_of_turns(
        seconds_of_case, size.resident ? 10 : 1,
        {[&] { frame.run(conversion); }, [&] { frame.run_libjpeg(conversion, false); },
         [&] { frame.run_libjpeg(conversion, true); }},
        size.resident);
    state.SetIterationTime(seconds[0]);
  }
  const auto pixels = static_cast<double>(size.samples());
  state.counters["pixels"] = pixels;
  state.counters["ns/pixel"] = 1e9 * seconds[0] / pixels;
  state.counters["GB/s"] = 1e-9 * static_cast<double>(frame.bytes()) / seconds[0];
  state.counters["x libjpeg"] = (seconds[1] - seconds[2]) / seconds[0];
}

void add_case(const char* of, const FrameSize& size, const char* sampling,
              const Conversion& conversion, const double* seconds, bool* failed) {
  const bool forward = conversion.direction == Direction::kForward;
  const bool fancy = conversion.upsampling == ChromaUpsampling::kFancy;
  const std::string name =
      std::string("engine:cpu/case:rgb/of:") + of + "/size:" + size.name + "/sampling:" + sampling +
      "/direction:" + (forward ? "forward" : "inverse") + (fancy ? "" : "/nearest") +
      "/threads:" + std::to_string(thread_count(conversion.threads));
  add_benchmark(
      name, [=](benchmark::State& state) { run_case(state, size, conversion, *seconds); }, failed);
}

}  // namespace

void add_rgb_cases(const FrameSize& size, const double* seconds, bool* failed) {
  struct Sampling {
    const char* name;
    RgbSubsampling chroma;
  };
  for (const Sampling& sampling : {Sampling{"420", {2, 2}}, {"422", {2, 1}}, {"444", {1, 1}}}) {
    for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
      const auto add = [&](const char* of, const RgbOps& ops, Threads threads,
                           ChromaUpsampling upsampling) {
        add_case(of, size, sampling.name, {&ops, threads, direction, sampling.chroma, upsampling},
                 seconds, failed);
      };
      constexpr auto kFancy = ChromaUpsampling::kFancy;
      add("serial", portable_rgb_ops(), Threads::kOne, kFancy);
      add("simd", host_rgb_ops(), Threads::kOne, kFancy);
      if (direction == Direction::kInverse && sampling.chroma.x == 2)
        add("simd", host_rgb_ops(), Threads::kOne, ChromaUpsampling::kNearest);
      if (!size.resident) add("tbb", host_rgb_ops(), Threads::kAll, kFancy);
    }
  }
}

}  // namespace cudatransform::bench
