// Jobs of tests/engine/kernel_jobs.h on a GPU, one after the other or several pictures in flight,
// compared with streaming kernels.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/cases.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cuda/device/cuda_device.h"
#include "cuda/device/queue.h"

namespace cudatransform::bench {
namespace {

using test::KernelJob;
using test::KernelSize;

constexpr size_t kInFlight = 8;

struct Size {
  KernelSize size;
  size_t sets;
};
constexpr Size kSizes[] = {
    {{"1080p", 1920, 1080}, 48}, {{"4K", 3840, 2160}, 16}, {{"8K", 7680, 4320}, 8}};
constexpr Size k32K = {{"32K", 32768, 32768}, 1};

// The engine on a stream of its own, and the driver on that stream.
struct Lane {
  Lane() {
    std::unique_ptr<Device> device;
    require(make_primary_cuda_device(0, &device));
    engine = test::cuda_engine(std::move(device));
    Queue& queue = engine.device->queue(QueueKind::kCompute);
    gpu = std::make_unique<Gpu>(static_cast<CUstream>(queue.native()));
    gpu->check(gpu->driver().event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  ~Lane() { gpu->driver().event_destroy(event); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void record() const {
    gpu->check(gpu->driver().event_record(event, gpu->stream()), "cuEventRecord");
  }
  void wait_for(const Lane& other) const {
    gpu->check(gpu->driver().stream_wait_event(gpu->stream(), other.event, 0), "cuStreamWaitEvent");
  }

  test::Engine engine;
  std::unique_ptr<Gpu> gpu;
  CUevent event = nullptr;
};
using Lanes = std::vector<std::unique_ptr<Lane>>;

// Sets of a job's input and output, and the output of the CPU engine.
struct KernelBuffers {
  KernelBuffers(const Lane& lane, const KernelCase& one) {
    Device& device = *lane.engine.device;
    const std::vector<uint8_t> input = one.job.input();
    wanted = test::output_of(one.job, input);
    for (size_t i = 0; i < one.sets; ++i) {
      Set& set = sets.emplace_back();
      require(device.allocate(MemoryKind::kDevice, one.job.in_size, &set.in));
      require(device.allocate(MemoryKind::kDevice, one.job.out_size, &set.out));
      require(device.upload(device.queue(QueueKind::kCompute),
                            copy_of(set.in->data(), input.data(), input.size())));
    }
    lane.gpu->synchronize();
  }

  struct Set {
    std::unique_ptr<Memory> in, out;
  };
  std::vector<Set> sets;
  std::vector<uint8_t> wanted;
};

// Whether launches overlap, for a scope.
struct Overlap {
  explicit Overlap(bool on) { cuda::set_dependent_launch(on); }
  ~Overlap() { cuda::set_dependent_launch(true); }
  Overlap(const Overlap&) = delete;
  Overlap& operator=(const Overlap&) = delete;
};

// The same for every set and every stream.
size_t launches_of(const KernelCase& one) { return std::max(one.sets, one.pictures); }

// A case, or a streaming kernel of the same bytes.
class KernelSubject final : public Subject {
 public:
  KernelSubject(const Lanes& lanes, const KernelCase& one, const StreamVariant* variant,
                std::shared_ptr<const KernelBuffers> buffers)
      : Subject(*lanes[0]->gpu, {one.job.in_bytes, one.job.out_bytes, one.pictures}, variant,
                launches_of(one)),
        case_(one),
        lanes_(lanes),
        buffers_(std::move(buffers)) {
    result().samples = one.job.samples;
    for (size_t i = 0; variant != nullptr && i < one.pictures; ++i)
      streams_.push_back(
          std::make_unique<Stream>(*lanes_[i]->gpu, *variant, one.job.in_bytes, one.job.out_bytes));
  }

  const std::string& name() const { return case_.name; }

 private:
  void prepare() override {
    poison();
    const Overlap overlap(case_.overlaps);
    enqueue();
    if (const std::string found = fault(); !found.empty()) throw std::runtime_error(found);
    capture([this] { enqueue(); });
  }
  std::string check() override {
    poison();
    launch();
    return fault();
  }

  // All launches, in as many streams as pictures in flight; the first stream waits for all.
  void enqueue() const {
    lanes_[0]->record();
    for (size_t i = 1; i < case_.pictures; ++i) lanes_[i]->wait_for(*lanes_[0]);
    for (size_t i = 0; i < launches(); ++i) {
      const KernelBuffers::Set& set = buffers_->sets[i % case_.sets];
      const size_t at = i % case_.pictures;
      if (variant() == nullptr)
        require(case_.job.submit(lanes_[at]->engine, set.in->data(), set.out->data(), nullptr));
      else
        streams_[at]->enqueue(set.in->data(), set.out->data());
    }
    for (size_t i = 1; i < case_.pictures; ++i) {
      lanes_[i]->record();
      lanes_[0]->wait_for(*lanes_[i]);
    }
  }
  void poison() const {
    for (const KernelBuffers::Set& set : buffers_->sets)
      gpu_.fill(set.out->data(), 0xa5, case_.job.out_size);
    gpu_.synchronize();
  }
  std::string fault() const {
    for (const auto& lane : lanes_) lane->gpu->synchronize();
    if (variant() != nullptr) return "";
    std::vector<uint8_t> seen(case_.job.out_size);
    for (const KernelBuffers::Set& set : buffers_->sets) {
      gpu_.read(seen.data(), set.out->data(), seen.size());
      if (!test::compare_outputs(case_.job, buffers_->wanted, seen).empty())
        return "the output differs from the CPU engine's";
    }
    return "";
  }

  const KernelCase case_;
  const Lanes& lanes_;
  std::shared_ptr<const KernelBuffers> buffers_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

std::string name_of(const KernelJob& job, const KernelSize& size) {
  return "engine:cuda/case:" + job.kind + "/size:" + size.name + "/" + job.keys;
}

void add_dwt(const Size& size, test::DwtKernel kernel, std::vector<KernelCase>* all) {
  const bool is_video = std::string(size.size.name) == "8K";
  const bool is_large = size.sets == 1;  // one picture of this size fills every GPU
  kernel.grey = is_large;
  const std::string group = std::string("dwt ") + size.size.name + " " +
                            wavelet_name(kernel.wavelet) + " index " + std::to_string(kernel.index);
  const auto add = [&](size_t pictures, const char* more) {
    const KernelJob job = dwt_job(size.size, kernel);
    all->push_back({name_of(job, size.size) + "/pictures:" + std::to_string(pictures) + more, group,
                    job, size.sets, pictures, true});
  };
  add(1, "");
  if (is_large) return;
  add(kInFlight, "");
  if (!is_video || kernel.index == 0) return;
  kernel.method = DwtMethod::kSeparableSlab;
  add(kInFlight, "/method:separable-slab");
}

void add_dwts(const Size& size, std::vector<KernelCase>* all) {
  for (int w = 0; w < kWaveletCount; ++w)
    for (const int index : {8, 0})
      for (const Direction direction : {Direction::kForward, Direction::kInverse})
        if (index != 0 || std::string(size.size.name) == "8K")
          add_dwt(size, {static_cast<Wavelet>(w), index, direction}, all);
}

}  // namespace

std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> all;
  for (const Size& size : kSizes) add_dwts(size, &all);
  add_dwts(k32K, &all);
  for (const auto& jobs_of : {test::rgb_jobs, test::range_jobs, test::filter_jobs})
    for (const Size& size : kSizes)
      for (const KernelJob& job : jobs_of(size.size)) {
        // Cases that differ in the direction alone are one group.
        const std::string group = job.keys.substr(0, job.keys.find("/direction:"));
        all.push_back({name_of(job, size.size), job.kind + " " + size.size.name + " " + group, job,
                       size.sets});
      }
  return all;
}

void measure_kernel_group(const std::vector<KernelCase>& cases, const MeasureOptions& options,
                          Results* results) {
  Lanes lanes;
  for (const KernelCase& one : cases)
    while (lanes.size() < one.pictures) lanes.push_back(std::make_unique<Lane>());
  std::map<std::string, std::shared_ptr<const KernelBuffers>> buffers;
  std::map<Traffic, bool> has_streams;
  std::vector<std::unique_ptr<KernelSubject>> subjects;
  for (const KernelCase& one : cases) {
    auto& shared = buffers[one.job.buffers];
    if (shared == nullptr) shared = std::make_shared<const KernelBuffers>(*lanes[0], one);
    subjects.push_back(std::make_unique<KernelSubject>(lanes, one, nullptr, shared));
    if (std::exchange(has_streams[subjects.back()->traffic()], true)) continue;
    for (const StreamVariant& variant : stream_variants())
      subjects.push_back(std::make_unique<KernelSubject>(lanes, one, &variant, shared));
  }
  std::vector<Subject*> all;
  for (const auto& subject : subjects) all.push_back(subject.get());
  measure_in_turns(all, options.quick ? 5 : 30, options.sample);
  for (const auto& subject : subjects)
    if (subject->variant() == nullptr) (*results)[subject->name()] = subject->result();
}

}  // namespace cudatransform::bench
