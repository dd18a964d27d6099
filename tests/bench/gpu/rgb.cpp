// RGB and its planes on a card, beside streaming kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/rgb.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cuda/device/queue.h"
#include "cuda/rgb/engine.h"
#include "tests/bench/common.h"
#include "tests/bench/cpu/frames.h"
#include "tests/bench/gpu/streams.h"
#include "tests/bench/gpu/turns.h"
#include "transform/device/host_device.h"
#include "transform/rgb/arithmetic.h"
#include "transform/rgb/engine.h"

namespace cudatransform::bench {
namespace {

constexpr int kRepetitions = 30, kQuickRepetitions = 5;

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
  size_t sets() const { return sets_.size(); }
  size_t input_bytes(Direction direction) const {
    return is_forward(direction) ? layout_.rgb_bytes : layout_.plane_bytes;
  }
  size_t output_bytes(Direction direction) const { return wanted(direction).size(); }
  const void* input(Direction direction, size_t set) const {
    return (is_forward(direction) ? sets_[set].rgb : sets_[set].planes)->data();
  }
  void* output(Direction direction, size_t set) const {
    return (is_forward(direction) ? sets_[set].made_planes : sets_[set].made_rgb)->data();
  }

  void enqueue(Direction direction, size_t set) const {
    void* in = const_cast<void*>(input(direction, set));
    void* out = output(direction, set);
    const RgbJob job =
        is_forward(direction) ? layout_.at(direction, out, in) : layout_.at(direction, in, out);
    require(cuda_rgb_ops().submit(device_, device_.queue(QueueKind::kCompute), job, nullptr));
  }
  void poison(Direction direction) const {
    for (size_t set = 0; set < sets(); ++set)
      gpu_.fill(output(direction, set), 0xa5, output_bytes(direction));
    gpu_.synchronize();
  }
  // "" or the fault of some set's output.
  std::string fault(Direction direction) const {
    std::vector<uint8_t> seen(output_bytes(direction));
    for (size_t set = 0; set < sets(); ++set) {
      gpu_.read(seen.data(), output(direction, set), seen.size());
      if (seen != wanted(direction)) return "the output differs from the CPU engine's";
    }
    return "";
  }

 private:
  struct Set {
    std::unique_ptr<Memory> planes, rgb, made_planes, made_rgb;
  };

  static bool is_forward(Direction direction) { return direction == Direction::kForward; }
  const std::vector<uint8_t>& wanted(Direction direction) const {
    return wanted_[is_forward(direction) ? 0 : 1];
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

// One contestant: a case, or a streaming kernel of the same bytes.
class Subject : public TimedSubject {
 public:
  Subject(const Group& group, const RgbBenchCase& one, const StreamVariant* variant)
      : TimedSubject(group.gpu()), case_(one), variant_(variant), group_(group) {
    const size_t in = group.input_bytes(one.direction), out = group.output_bytes(one.direction);
    result().bytes = in + out;
    result().samples = static_cast<size_t>(one.size.width) * static_cast<size_t>(one.size.height);
    if (variant != nullptr) stream_ = std::make_unique<Stream>(group.gpu(), *variant, in, out);
  }

  using Traffic = Direction;
  Traffic traffic() const { return case_.direction; }
  bool is_stream() const { return variant_ != nullptr; }
  const char* stream_name() const { return variant_->name; }
  const RgbBenchCase& of() const { return case_; }

  // Launches do not overlap, as those of the streaming kernels do not.
  void prepare() {
    if (!is_stream()) group_.poison(case_.direction);
    cuda::set_dependent_launch(false);
    capture([this] { enqueue(); }, [this] { return fault(); });
    cuda::set_dependent_launch(true);
  }
  // After the last repetition: checks the measured work, on new poison.
  void finish() {
    note_times(group_.sets());
    if (is_stream()) return;
    group_.poison(case_.direction);
    launch();
    result().error = fault();
  }

 private:
  // Waits. "" or the fault of the output.
  std::string fault() const {
    group_.gpu().synchronize();
    return is_stream() ? "" : group_.fault(case_.direction);
  }
  void enqueue() const {
    for (size_t set = 0; set < group_.sets(); ++set) {
      if (is_stream())
        stream_->enqueue(group_.input(case_.direction, set), group_.output(case_.direction, set));
      else
        group_.enqueue(case_.direction, set);
    }
  }

  const RgbBenchCase case_;
  const StreamVariant* const variant_;
  const Group& group_;
  std::unique_ptr<Stream> stream_;
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
  const Group group(gpu, device, cases[0]);
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const RgbBenchCase& one : cases) {
    subjects.push_back(std::make_unique<Subject>(group, one, nullptr));
    for (const StreamVariant& variant : stream_variants())
      subjects.push_back(std::make_unique<Subject>(group, one, &variant));
  }
  measure_subjects(gpu, subjects, options.quick ? kQuickRepetitions : kRepetitions, options.sample);
  for (const auto& subject : subjects)
    if (!subject->is_stream()) (*results)[subject->of().name] = subject->result();
}

}  // namespace cudatransform::bench
