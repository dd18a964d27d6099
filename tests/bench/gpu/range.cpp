// Limited range to full range on a GPU, compared with streaming kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/range.h"

#include <memory>

#include "cuda/range/engine.h"
#include "tests/bench/cpu/frames.h"
#include "tests/bench/gpu/turns.h"
#include "transform/device/host_device.h"
#include "transform/range/range.h"

namespace cudatransform::bench {
namespace {

// A frame of 4:2:0 without gaps: Y, Cb and Cr.
class Group {
 public:
  using Case = RangeBenchCase;
  using Traffic = int;
  static constexpr bool kOverlaps = false;  // as the streaming kernels' launches do not

  Group(const Gpu& gpu, Device& device, const Case& one) : gpu_(gpu), device_(device), one_(one) {
    const std::vector<uint8_t> limited =
        tiled_picture(one.width, static_cast<int>(bytes()) / one.width);
    wanted_.resize(bytes());
    const std::unique_ptr<Device> host = make_host_device(0);
    require(host_range_ops().submit(*host, host->queue(QueueKind::kCompute),
                                    job_of(limited.data(), wanted_.data()), nullptr));
    for (size_t i = 0; i < one.sets; ++i) {
      Set& set = sets_.emplace_back();
      for (auto* memory : {&set.from, &set.to})
        require(device_.allocate(MemoryKind::kDevice, bytes(), memory));
      require(device_.upload(device_.queue(QueueKind::kCompute),
                             copy_of(set.from->data(), limited.data(), bytes())));
    }
    gpu.synchronize();
  }

  const Gpu& gpu() const { return gpu_; }
  void synchronize() const { gpu_.synchronize(); }
  size_t in_bytes(const Case&) const { return bytes(); }
  size_t out_bytes(const Case&) const { return bytes(); }
  size_t samples(const Case&) const { return luma() * 3 / 2; }
  Traffic traffic(const Case&) const { return 0; }
  size_t launches(const Case&) const { return sets_.size(); }
  Streams streams(const Case&, const StreamVariant& variant) const {
    Streams streams;
    streams.push_back(std::make_unique<Stream>(gpu_, variant, bytes(), bytes()));
    return streams;
  }

  void enqueue(const Case&, const Streams& streams) const {
    for (const Set& set : sets_) {
      if (streams.empty())
        require(cuda_range_ops().submit(device_, device_.queue(QueueKind::kCompute),
                                        job_of(set.from->data(), set.to->data()), nullptr));
      else
        streams[0]->enqueue(set.from->data(), set.to->data());
    }
  }
  void poison(const Case&) const {
    for (const Set& set : sets_) gpu_.fill(set.to->data(), 0xa5, bytes());
    gpu_.synchronize();
  }
  std::string fault(const Case&) const {
    std::vector<uint8_t> seen(bytes());
    for (const Set& set : sets_) {
      gpu_.read(seen.data(), set.to->data(), seen.size());
      if (seen != wanted_) return "the output differs from the CPU engine's";
    }
    return "";
  }

 private:
  struct Set {
    std::unique_ptr<Memory> from, to;
  };

  size_t sample_bytes() const { return one_.depth == 8 ? 1 : 2; }
  size_t luma() const { return static_cast<size_t>(one_.width) * static_cast<size_t>(one_.height); }
  size_t bytes() const { return luma() * 3 / 2 * sample_bytes(); }

  RangeJob job_of(const void* from, void* to) const {
    RangeJob job;
    job.depth = one_.depth;
    job.planes = kMaxComponents;
    size_t offset = 0;
    for (int p = 0; p < job.planes; ++p) {
      const int width = p == 0 ? one_.width : one_.width / 2;
      const int height = p == 0 ? one_.height : one_.height / 2;
      const auto pitch = static_cast<ptrdiff_t>(static_cast<size_t>(width) * sample_bytes());
      job.plane[p] = {static_cast<const uint8_t*>(from) + offset,
                      static_cast<uint8_t*>(to) + offset,
                      pitch,
                      pitch,
                      width,
                      height,
                      p > 0};
      offset += static_cast<size_t>(pitch) * static_cast<size_t>(height);
    }
    return job;
  }

  const Gpu& gpu_;
  Device& device_;
  const Case one_;
  std::vector<uint8_t> wanted_;
  std::vector<Set> sets_;
};

}  // namespace

std::vector<RangeBenchCase> range_cases() {
  struct Size {
    const char* name;
    int width, height;
    size_t sets;
  };
  constexpr Size kSizes[] = {
      {"1080p", 1920, 1080, 48}, {"4K", 3840, 2160, 16}, {"8K", 7680, 4320, 8}};
  std::vector<RangeBenchCase> all;
  for (const Size& size : kSizes) {
    for (const int depth : {8, 12}) {
      const std::string of = std::string(size.name) + "/depth:" + std::to_string(depth);
      all.push_back({"engine:cuda/case:range/size:" + of, "range " + of, size.width, size.height,
                     depth, size.sets});
    }
  }
  return all;
}

void measure_range_group(const Gpu& gpu, Device& device, const std::vector<RangeBenchCase>& cases,
                         const MeasureOptions& options, Results* results) {
  measure_group(Group(gpu, device, cases[0]), cases, options, results);
}

}  // namespace cudatransform::bench
