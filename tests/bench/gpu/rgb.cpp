// RGB and its planes on a card, beside streaming kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/rgb.h"

#include <memory>
#include <utility>

#include "cuda/rgb/engine.h"
#include "tests/bench/cpu/frames.h"
#include "tests/bench/gpu/turns.h"
#include "transform/device/host_device.h"
#include "transform/rgb/arithmetic.h"
#include "transform/rgb/rgb.h"

namespace cudatransform::bench {
namespace {

constexpr RgbSize kSizes[] = {
    {"1080p", 1920, 1080, 48}, {"4K", 3840, 2160, 16}, {"8K", 7680, 4320, 8}};

// Planes one behind the other, and pixels, both without gaps.
struct Layout {
  explicit Layout(const RgbBenchCase& one) {
    for (int c = 0; c < kMaxComponents; ++c) {
      const RgbSubsampling by = c == 0 ? RgbSubsampling{1, 1} : one.chroma;
      job.subsampling[c] = by;
      SamplePlane& plane = job.planes[c];
      plane.width = rgb_plane_side(one.size.width, by.x);
      plane.height = rgb_plane_side(one.size.height, by.y);
      plane.pitch = plane.width;
      plane_at[c] = plane_bytes;
      plane_bytes += static_cast<size_t>(plane.pitch * plane.height);
    }
    job.rgb.packing = one.packing;
    job.rgb.width = one.size.width;
    job.rgb.height = one.size.height;
    for (int p = 0; p < job.rgb.planes(); ++p) {
      job.rgb.pitch[p] = ptrdiff_t{one.size.width} * rgb_layout(one.packing).pixel_bytes;
      rgb_at[p] = rgb_bytes;
      rgb_bytes += static_cast<size_t>(job.rgb.pitch[p] * one.size.height);
    }
  }

  RgbJob at(Direction direction, void* planes, void* rgb) const {
    RgbJob placed = job;
    placed.direction = direction;
    for (int c = 0; c < kMaxComponents; ++c)
      placed.planes[c].data = static_cast<uint8_t*>(planes) + plane_at[c];
    for (int p = 0; p < job.rgb.planes(); ++p)
      placed.rgb.data[p] = static_cast<uint8_t*>(rgb) + rgb_at[p];
    return placed;
  }

  RgbJob job;  // without addresses
  size_t plane_at[kMaxComponents] = {}, rgb_at[3] = {};
  size_t plane_bytes = 0, rgb_bytes = 0;
};

// Inputs and outputs of both directions.
class Group {
 public:
  using Case = RgbBenchCase;
  using Traffic = Direction;
  static constexpr bool kOverlaps = false;  // as the streaming kernels' launches do not

  Group(const Gpu& gpu, Device& device, const RgbBenchCase& one)
      : layout_(one), gpu_(gpu), device_(device) {
    std::vector<uint8_t> planes =
        tiled_picture(one.size.width, static_cast<int>(layout_.plane_bytes) / one.size.width);
    std::vector<uint8_t> rgb(layout_.rgb_bytes);
    run_on_host(layout_.at(Direction::kInverse, planes.data(), rgb.data()));
    wanted_[0].resize(layout_.plane_bytes);
    run_on_host(layout_.at(Direction::kForward, wanted_[0].data(), rgb.data()));
    for (size_t i = 0; i < one.size.sets; ++i) {
      Set& set = sets_.emplace_back();
      for (auto* memory : {&set.planes, &set.made_planes}) allocate(layout_.plane_bytes, memory);
      for (auto* memory : {&set.rgb, &set.made_rgb}) allocate(layout_.rgb_bytes, memory);
      upload(planes, *set.planes);
      upload(rgb, *set.rgb);
    }
    gpu.synchronize();
    wanted_[1] = std::move(rgb);
  }

  const Gpu& gpu() const { return gpu_; }
  void synchronize() const { gpu_.synchronize(); }
  size_t in_bytes(const Case& one) const {
    return is_forward(one) ? layout_.rgb_bytes : layout_.plane_bytes;
  }
  size_t out_bytes(const Case& one) const { return wanted(one).size(); }
  size_t samples(const Case& one) const {
    return static_cast<size_t>(one.size.width) * static_cast<size_t>(one.size.height);
  }
  Traffic traffic(const Case& one) const { return one.direction; }
  size_t launches(const Case&) const { return sets_.size(); }
  Streams streams(const Case& one, const StreamVariant& variant) const {
    Streams streams;
    streams.push_back(std::make_unique<Stream>(gpu_, variant, in_bytes(one), out_bytes(one)));
    return streams;
  }

  void enqueue(const Case& one, const Streams& streams) const {
    for (const Set& set : sets_) {
      void* in = (is_forward(one) ? set.rgb : set.planes)->data();
      void* out = output(one, set);
      const RgbJob job =
          is_forward(one) ? layout_.at(one.direction, out, in) : layout_.at(one.direction, in, out);
      if (streams.empty())
        require(cuda_rgb_ops().submit(device_, device_.queue(QueueKind::kCompute), job, nullptr));
      else
        streams[0]->enqueue(in, out);
    }
  }
  void poison(const Case& one) const {
    for (const Set& set : sets_) gpu_.fill(output(one, set), 0xa5, out_bytes(one));
    gpu_.synchronize();
  }
  std::string fault(const Case& one) const {
    std::vector<uint8_t> seen(out_bytes(one));
    for (const Set& set : sets_) {
      gpu_.read(seen.data(), output(one, set), seen.size());
      if (seen != wanted(one)) return "the output differs from the CPU engine's";
    }
    return "";
  }

 private:
  struct Set {
    std::unique_ptr<Memory> planes, rgb, made_planes, made_rgb;
  };

  static bool is_forward(const Case& one) { return one.direction == Direction::kForward; }
  static void* output(const Case& one, const Set& set) {
    return (is_forward(one) ? set.made_planes : set.made_rgb)->data();
  }
  const std::vector<uint8_t>& wanted(const Case& one) const {
    return wanted_[is_forward(one) ? 0 : 1];
  }
  static void run_on_host(const RgbJob& job) {
    static const std::unique_ptr<Device> host = make_host_device(0);
    require(host_rgb_ops().submit(*host, host->queue(QueueKind::kCompute), job, nullptr));
  }
  void allocate(size_t bytes, std::unique_ptr<Memory>* memory) const {
    require(device_.allocate(MemoryKind::kDevice, bytes, memory));
  }
  void upload(const std::vector<uint8_t>& from, const Memory& to) const {
    require(device_.upload(device_.queue(QueueKind::kCompute),
                           copy_of(to.data(), from.data(), from.size())));
  }

  const Layout layout_;
  const Gpu& gpu_;
  Device& device_;
  std::vector<uint8_t> wanted_[2];  // planes, RGB
  std::vector<Set> sets_;
};

}  // namespace

std::vector<RgbBenchCase> rgb_cases() {
  struct Kind {
    const char *sampling, *packing_name;
    RgbSubsampling chroma;
    RgbPacking packing;
  };
  constexpr Kind kKinds[] = {{"420", "RGB", {2, 2}, RgbPacking::kRgb},
                             {"420", "RGBx", {2, 2}, RgbPacking::kRgbx},
                             {"420", "planar", {2, 2}, RgbPacking::kPlanar},
                             {"422", "RGB", {2, 1}, RgbPacking::kRgb},
                             {"444", "RGB", {1, 1}, RgbPacking::kRgb}};
  std::vector<RgbBenchCase> all;
  for (const RgbSize& size : kSizes) {
    for (const Kind& kind : kKinds) {
      for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
        RgbBenchCase one = {"", "", size, kind.chroma, kind.packing, direction};
        const std::string places =
            std::string("sampling:") + kind.sampling + "/packing:" + kind.packing_name;
        one.group = std::string("rgb ") + size.name + " " + places;
        one.name = std::string("engine:cuda/case:rgb/size:") + size.name + "/" + places +
                   "/direction:" + (direction == Direction::kForward ? "forward" : "inverse");
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

void measure_rgb_group(const Gpu& gpu, Device& device, const std::vector<RgbBenchCase>& cases,
                       const MeasureOptions& options, Results* results) {
  measure_group(Group(gpu, device, cases[0]), cases, options, results);
}

}  // namespace cudatransform::bench
