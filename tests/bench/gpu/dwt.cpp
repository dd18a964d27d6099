// Every wavelet on a card, alone and with several pictures in flight, beside streaming kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/dwt.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "cuda/device/cuda_device.h"
#include "cuda/dwt/engine.h"
#include "tests/bench/cpu/frames.h"
#include "tests/bench/gpu/turns.h"
#include "transform/device/host_device.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::bench {
namespace {

constexpr DwtLevels kLevels = {4, 0};
constexpr size_t kInFlight = 8;

constexpr DwtSize kSizes[] = {{"1080p", 1920, 1080, false, 48},
                              {"4K", 3840, 2160, false, 16},
                              {"8K", 7680, 4320, false, 8},
                              {"32K", 32768, 32768, true, 1}};

// The places of a frame's planes, in samples and in coefficients: rows of both begin at multiples
// of 256 bytes.
struct Layout {
  explicit Layout(const DwtSize& size) : components(size.grey ? 1 : 3) {
    const auto aligned = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
    for (int c = 0; c < components; ++c) {
      const int divisor = c == 0 ? 1 : 2;
      SamplePlane& plane = samples[c];
      plane.width = size.width / divisor;
      plane.height = size.height / divisor;
      plane.pitch = aligned(plane.width);
      const int64_t width = dwt_padded_width(plane.width, kLevels);
      const int64_t height = dwt_padded_height(plane.height, kLevels);
      coefs[c].pitch = aligned(2 * width);
      sample_at[c] = sample_bytes;
      coef_at[c] = coef_bytes;
      sample_bytes += static_cast<size_t>(plane.pitch * plane.height);
      coef_bytes += static_cast<size_t>(coefs[c].pitch * height);
      visible += static_cast<size_t>(plane.width) * static_cast<size_t>(plane.height);
      padded += static_cast<size_t>(width * height);
    }
  }

  DwtJob job(const DwtCase& one, void* sample_memory, void* coef_memory) const {
    DwtJob job;
    job.direction = one.direction;
    job.method = one.method;
    job.wavelet = job.wavelet_ho = one.wavelet;
    job.levels = kLevels;
    job.components = components;
    for (int c = 0; c < components; ++c) {
      job.samples[c] = samples[c];
      job.samples[c].data = static_cast<uint8_t*>(sample_memory) + sample_at[c];
      job.coefs[c] = {static_cast<uint8_t*>(coef_memory) + coef_at[c], coefs[c].pitch};
      std::fill(std::begin(job.quant_index[c]), std::end(job.quant_index[c]),
                static_cast<uint8_t>(one.index));
    }
    return job;
  }

  int components;
  SamplePlane samples[kMaxComponents];
  DwtPlane coefs[kMaxComponents];
  size_t sample_at[kMaxComponents], coef_at[kMaxComponents];
  size_t sample_bytes = 0, coef_bytes = 0;  // of the allocations
  size_t visible = 0, padded = 0;           // samples, coefficients
};

// A device, each with its own stream, and the driver on that stream.
struct Lane {
  Lane() {
    require(make_primary_cuda_device(0, &device));
    gpu = std::make_unique<Gpu>(static_cast<CUstream>(queue().native()));
    const DriverTable& driver = gpu->driver();
    gpu->check(driver.event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  ~Lane() { gpu->driver().event_destroy(event); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Queue& queue() const { return device->queue(QueueKind::kCompute); }
  void record() const {
    gpu->check(gpu->driver().event_record(event, gpu->stream()), "cuEventRecord");
  }
  void wait_for(const Lane& other) const {
    gpu->check(gpu->driver().stream_wait_event(gpu->stream(), other.event, 0), "cuStreamWaitEvent");
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Gpu> gpu;
  CUevent event = nullptr;
};
using Lanes = std::vector<std::unique_ptr<Lane>>;

// Buffers of a group: the picture, its coefficients, and the jobs' output.
struct Set {
  std::unique_ptr<Memory> picture, coefs, samples, levels;
};

class Group {
 public:
  using Case = DwtCase;
  using Traffic = std::pair<Direction, size_t>;  // the same bytes in as many streams
  static constexpr bool kOverlaps = true;

  Group(const DwtCase& one, const Lanes& lanes) : layout_(one.size), lanes_(lanes) {
    std::vector<uint8_t> picture(layout_.sample_bytes);
    for (int c = 0; c < layout_.components; ++c) {
      const SamplePlane& plane = layout_.samples[c];
      const std::vector<uint8_t> tile = tiled_picture(plane.width, plane.height);
      for (int32_t y = 0; y < plane.height; ++y)
        std::copy_n(&tile[static_cast<size_t>(y) * static_cast<size_t>(plane.width)], plane.width,
                    &picture[layout_.sample_at[c] + static_cast<size_t>(y * plane.pitch)]);
    }
    DwtCase forward = one;
    forward.direction = Direction::kForward;
    forward.method = DwtMethod::kFused;
    std::vector<uint8_t> levels(layout_.coef_bytes);
    run_on_host(layout_.job(forward, picture.data(), levels.data()));
    forward_ = levels;
    DwtCase inverse = forward;
    inverse.direction = Direction::kInverse;
    inverse_.resize(layout_.sample_bytes);
    run_on_host(layout_.job(inverse, inverse_.data(), levels.data()));
    for (size_t i = 0; i < one.size.sets; ++i) {
      Set& set = sets_.emplace_back();
      for (auto* memory : {&set.picture, &set.samples}) allocate(layout_.sample_bytes, memory);
      for (auto* memory : {&set.coefs, &set.levels}) allocate(layout_.coef_bytes, memory);
      upload(picture, *set.picture);
      upload(forward_, *set.levels);
    }
    lanes[0]->gpu->synchronize();
  }

  const Gpu& gpu() const { return *lanes_[0]->gpu; }
  void synchronize() const {
    for (const auto& lane : lanes_) lane->gpu->synchronize();
  }
  size_t in_bytes(const Case& one) const {
    return is_forward(one) ? layout_.visible : 2 * layout_.padded;
  }
  size_t out_bytes(const Case& one) const {
    return is_forward(one) ? 2 * layout_.padded : layout_.visible;
  }
  size_t samples(const Case&) const { return layout_.visible; }
  Traffic traffic(const Case& one) const { return {one.direction, one.pictures}; }
  // The same for every set and every stream.
  size_t launches(const Case& one) const { return std::max(sets_.size(), one.pictures); }
  Streams streams(const Case& one, const StreamVariant& variant) const {
    Streams streams;
    for (size_t i = 0; i < one.pictures; ++i)
      streams.push_back(
          std::make_unique<Stream>(*lanes_[i]->gpu, variant, in_bytes(one), out_bytes(one)));
    return streams;
  }

  // All launches, in as many streams as pictures in flight; the first stream waits for all.
  void enqueue(const Case& one, const Streams& streams) const {
    lanes_[0]->record();
    for (size_t i = 1; i < one.pictures; ++i) lanes_[i]->wait_for(*lanes_[0]);
    for (size_t i = 0; i < launches(one); ++i) {
      const Set& set = sets_[i % sets_.size()];
      const size_t at = i % one.pictures;
      void* in = (is_forward(one) ? set.picture : set.levels)->data();
      void* out = output(one, set);
      const DwtJob job = is_forward(one) ? layout_.job(one, in, out) : layout_.job(one, out, in);
      if (streams.empty())
        require(cuda_dwt_ops().submit(*lanes_[at]->device, lanes_[at]->queue(), job, nullptr));
      else
        streams[at]->enqueue(in, out);
    }
    for (size_t i = 1; i < one.pictures; ++i) {
      lanes_[i]->record();
      lanes_[0]->wait_for(*lanes_[i]);
    }
  }
  void poison(const Case& one) const {
    for (const Set& set : sets_) gpu().fill(output(one, set), 0xa5, output_bytes(one.direction));
    gpu().synchronize();
  }
  std::string fault(const Case& one) const {
    std::vector<uint8_t> seen(output_bytes(one.direction));
    for (const Set& set : sets_) {
      gpu().read(seen.data(), output(one, set), seen.size());
      if (!equals(one.direction, seen)) return "the output differs from the CPU engine's";
    }
    return "";
  }

 private:
  static bool is_forward(const Case& one) { return one.direction == Direction::kForward; }
  static void* output(const Case& one, const Set& set) {
    return (is_forward(one) ? set.coefs : set.samples)->data();
  }
  size_t output_bytes(Direction direction) const {
    return direction == Direction::kForward ? layout_.coef_bytes : layout_.sample_bytes;
  }
  bool equals(Direction direction, const std::vector<uint8_t>& seen) const {
    const bool forward = direction == Direction::kForward;
    const std::vector<uint8_t>& wanted = forward ? forward_ : inverse_;
    for (int c = 0; c < layout_.components; ++c) {
      const SamplePlane& plane = layout_.samples[c];
      const int rows = forward ? dwt_padded_height(plane.height, kLevels) : plane.height;
      const ptrdiff_t pitch = forward ? layout_.coefs[c].pitch : plane.pitch;
      const auto bytes =
          static_cast<size_t>(forward ? 2 * dwt_padded_width(plane.width, kLevels) : plane.width);
      const size_t from = forward ? layout_.coef_at[c] : layout_.sample_at[c];
      for (int y = 0; y < rows; ++y) {
        const size_t at = from + static_cast<size_t>(y * pitch);
        if (std::memcmp(&seen[at], &wanted[at], bytes) != 0) return false;
      }
    }
    return true;
  }

  static void run_on_host(const DwtJob& job) {
    static const std::unique_ptr<Device> host = make_host_device(0);
    require(host_dwt_ops().submit(*host, host->queue(QueueKind::kCompute), job, nullptr));
  }
  void allocate(size_t bytes, std::unique_ptr<Memory>* memory) const {
    require(lanes_[0]->device->allocate(MemoryKind::kDevice, bytes, memory));
  }
  void upload(const std::vector<uint8_t>& from, const Memory& to) const {
    require(lanes_[0]->device->upload(lanes_[0]->queue(),
                                      copy_of(to.data(), from.data(), from.size())));
  }

  const Layout layout_;
  const Lanes& lanes_;
  std::vector<uint8_t> forward_, inverse_;
  std::vector<Set> sets_;
};

void add_case(const DwtSize& size, Wavelet wavelet, int index, Direction direction,
              DwtMethod method, size_t pictures, std::vector<DwtCase>* all) {
  DwtCase one = {"", "", size, wavelet, index, direction, method, pictures};
  one.group = std::string("dwt ") + size.name + " " + wavelet_name(wavelet) + " index " +
              std::to_string(index);
  one.name = std::string("engine:cuda/case:dwt/size:") + size.name +
             "/wavelet:" + wavelet_name(wavelet) + "/index:" + std::to_string(index) +
             "/direction:" + (direction == Direction::kForward ? "forward" : "inverse") +
             "/pictures:" + std::to_string(pictures);
  if (method == DwtMethod::kSeparableSlab) one.name += "/method:separable-slab";
  all->push_back(std::move(one));
}

}  // namespace

std::vector<DwtCase> dwt_cases() {
  std::vector<DwtCase> all;
  for (const DwtSize& size : kSizes) {
    // One picture of this size fills every card.
    const std::vector<size_t> in_flight =
        size.sets == 1 ? std::vector<size_t>{1} : std::vector<size_t>{1, kInFlight};
    for (int w = 0; w < kWaveletCount; ++w) {
      const auto wavelet = static_cast<Wavelet>(w);
      for (const int index : {8, 0}) {
        const bool is_video = std::strcmp(size.name, "8K") == 0;
        if (index == 0 && !is_video) continue;
        for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
          for (const size_t pictures : in_flight) {
            add_case(size, wavelet, index, direction, DwtMethod::kFused, pictures, &all);
            if (is_video && index != 0 && pictures > 1)
              add_case(size, wavelet, index, direction, DwtMethod::kSeparableSlab, pictures, &all);
          }
        }
      }
    }
  }
  return all;
}

void measure_dwt_group(const std::vector<DwtCase>& cases, const MeasureOptions& options,
                       Results* results) {
  Lanes lanes;
  for (size_t i = 0; i < kInFlight; ++i) lanes.push_back(std::make_unique<Lane>());
  measure_group(Group(cases[0], lanes), cases, options, results);
}

}  // namespace cudatransform::bench
