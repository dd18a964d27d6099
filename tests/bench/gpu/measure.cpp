// Groups of cases: buffers, poisoned outputs and their checksums, graphs, repetitions in turns.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

#include "cuda/device/cuda_device.h"
#include "cuda/device/queue.h"
#include "tests/bench/gpu/cases.h"

namespace cudatransform::bench {

Lane::Lane() {
  std::unique_ptr<Device> device;
  require(make_primary_cuda_device(0, &device));
  engine = test::cuda_engine(std::move(device));
  Queue& queue = engine.device->queue(QueueKind::kCompute);
  gpu = std::make_unique<Gpu>(static_cast<CUstream>(queue.native()));
  gpu->check(gpu->driver().event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

Lane::~Lane() { gpu->driver().event_destroy(event); }

void Lane::record() const {
  gpu->check(gpu->driver().event_record(event, gpu->stream()), "cuEventRecord");
}

void Lane::wait_for(const Lane& other) const {
  gpu->check(gpu->driver().stream_wait_event(gpu->stream(), other.event, 0), "cuStreamWaitEvent");
}

namespace {

using test::KernelJob;
using test::Region;

// Sets of a job's input and output, all with the same input.
class Buffers {
 public:
  Buffers(const Lane& lane, const KernelJob& job, size_t sets) : gpu_(*lane.gpu) {
    Device& device = *lane.engine.device;
    Queue& queue = device.queue(QueueKind::kCompute);
    input_ = job.input();
    sums_ = memory_on(device, MemoryKind::kPinned, sets * sizeof(PictureSums));
    for (size_t i = 0; i < sets; ++i) {
      Set& set = sets_.emplace_back();
      set.in = memory_on(device, MemoryKind::kDevice, job.in_size);
      set.out = memory_on(device, MemoryKind::kDevice, job.out_size);
      // From the first set, which is faster than from the host.
      if (i == 0)
        require(device.upload(queue, copy_of(set.in->data(), input_.data(), input_.size())));
      else
        require(device.copy(queue, copy_of(set.in->data(), sets_[0].in->data(), input_.size())));
    }
    gpu_.synchronize();
  }

  size_t sets() const { return sets_.size(); }
  const std::vector<uint8_t>& input() const { return input_; }
  test::KernelMemory memory(size_t set) const { return {in(set), out(set), sums(set)}; }
  void* in(size_t set) const { return sets_[set].in->data(); }
  void* out(size_t set) const { return sets_[set].out->data(); }
  PictureSums* sums(size_t set) const { return static_cast<PictureSums*>(sums_->data()) + set; }
  std::vector<uint8_t> output(size_t set) const {
    std::vector<uint8_t> bytes(sets_[set].out->size());
    gpu_.read(bytes.data(), out(set), bytes.size());
    return bytes;
  }
  // All output and all sums; waits.
  void poison(uint8_t value) const {
    for (const Set& set : sets_) gpu_.fill(set.out->data(), value, set.out->size());
    gpu_.synchronize();
    std::memset(sums_->data(), value, sums_->size());
  }

 private:
  struct Set {
    std::unique_ptr<Memory> in, out;
  };

  const Gpu& gpu_;
  std::vector<uint8_t> input_;
  std::vector<Set> sets_;
  std::unique_ptr<Memory> sums_;
};

// ---- Whether a benchmark wrote its output ----

constexpr uint8_t kPoison[] = {0xA5, 0x5A};
constexpr unsigned kThreads = 256;
constexpr size_t kMaxCtas = 4096;

// `bytes` consecutive ones.
std::vector<Region> plain_region(size_t bytes) {
  constexpr size_t kRow = 4096;  // CTAs take rows
  std::vector<Region> regions = {{0, kRow, kRow, bytes / kRow}};
  if (bytes % kRow != 0) regions.push_back({bytes / kRow * kRow, kRow, bytes % kRow, 1});
  return regions;
}

// Checks one case's outputs, in every set of buffers.
class OutputCheck {
 public:
  // `regions` of the buffers' output are written; with `measures`, so are the sums.
  OutputCheck(const Gpu& gpu, Device& device, const Buffers& buffers, std::vector<Region> regions,
              bool measures);

  // Poisons outputs, calls `work`, which writes every set, and compares. Every call uses another
  // poison, so that untouched output differs too. After the first fault it reports only that.
  void run(const std::function<void()>& work);

  const std::string& fault() const { return fault_; }
  uint64_t checksum() const { return checksum_; }  // of the output of each set

 private:
  uint64_t checksum_of(size_t set) const;
  void compare(size_t set, uint64_t poisoned);
  void compare_sums(size_t set, uint8_t poison);

  const Gpu& gpu_;
  const Buffers& buffers_;
  std::vector<Region> regions_;
  bool measures_;
  int runs_ = 0;
  uint64_t checksum_ = 0;
  PictureSums sums_ = {};
  std::string fault_;
  std::unique_ptr<Memory> sum_;
  CUfunction kernel_;
};

OutputCheck::OutputCheck(const Gpu& gpu, Device& device, const Buffers& buffers,
                         std::vector<Region> regions, bool measures)
    : gpu_(gpu),
      buffers_(buffers),
      regions_(std::move(regions)),
      measures_(measures),
      sum_(memory_on(device, MemoryKind::kDevice, sizeof(uint64_t))),
      kernel_(gpu.kernel("bench_checksum")) {}

uint64_t OutputCheck::checksum_of(size_t set) const {
  gpu_.fill(sum_->data(), 0, sizeof(uint64_t));
  uint64_t salt = 0;
  for (const Region& region : regions_) {
    if (region.rows == 0) continue;
    const uint8_t* data = static_cast<uint8_t*>(buffers_.out(set)) + region.offset;
    auto pitch = static_cast<int64_t>(region.pitch);
    auto row_bytes = static_cast<int64_t>(region.row_bytes);
    auto rows = static_cast<int64_t>(region.rows);
    void* sum = sum_->data();
    void* arguments[] = {&data, &pitch, &row_bytes, &rows, &salt, &sum};
    gpu_.launch(kernel_, static_cast<unsigned>(std::min(region.rows, kMaxCtas)), kThreads,
                arguments);
    salt += region.rows * region.row_bytes;
  }
  uint64_t sum = 0;
  gpu_.read(&sum, sum_->data(), sizeof sum);
  return sum;
}

void OutputCheck::run(const std::function<void()>& work) {
  const uint8_t poison = kPoison[runs_ % 2];
  buffers_.poison(poison);
  const uint64_t poisoned = checksum_of(0);  // of every set
  work();
  gpu_.synchronize();
  ++runs_;
  for (size_t set = 0; set < buffers_.sets() && fault_.empty(); ++set) {
    compare(set, poisoned);
    if (measures_ && fault_.empty()) compare_sums(set, poison);
  }
}

void OutputCheck::compare(size_t set, uint64_t poisoned) {
  const uint64_t sum = checksum_of(set);
  if (runs_ == 1 && set == 0) checksum_ = sum;
  const std::string where = "set " + std::to_string(set) + " of buffers: ";
  if (sum == poisoned)
    fault_ = where + "wrote nothing";
  else if (sum != checksum_ && runs_ == 1)
    fault_ = where + "not the output of set 0, whose input is the same";
  else if (sum != checksum_)
    fault_ = where + "not the output of the first run, or not all of it was written";
}

void OutputCheck::compare_sums(size_t set, uint8_t poison) {
  const PictureSums& sums = *buffers_.sums(set);
  if (runs_ == 1 && set == 0) sums_ = sums;
  PictureSums poisoned;
  std::memset(&poisoned, poison, sizeof poisoned);
  const std::string where = "set " + std::to_string(set) + " of buffers: ";
  if (std::memcmp(&sums, &poisoned, sizeof sums) == 0)
    fault_ = where + "measured nothing";
  else if (std::memcmp(&sums, &sums_, sizeof sums) != 0)
    fault_ = where + "measured something else than before";
  else if (sums.sse[0] == 0)
    fault_ = where + "measured no error, but quantization makes one";
}

// ---- Groups ----

constexpr int kQuickRepetitions = 5;

// How the engine launches while a case is prepared.
class LaunchMode {
 public:
  LaunchMode(const Lanes& lanes, const Case& one) : lanes_(lanes) { allow(one.dependent_launch); }
  ~LaunchMode() { allow(true); }
  LaunchMode(const LaunchMode&) = delete;
  LaunchMode& operator=(const LaunchMode&) = delete;

 private:
  void allow(bool allowed) const {
    for (const std::unique_ptr<Lane>& lane : lanes_)
      dynamic_cast<cuda::StreamQueue&>(lane->engine.device->queue(QueueKind::kCompute))
          .allow_overlap(allowed);
  }

  const Lanes& lanes_;
};

Traffic traffic_of(const Case& one) {
  return {one.job.in_bytes, one.job.out_bytes, one.sets, one.pictures};
}

const StreamVariant* variant_of(const Case& one) {
  return one.stream < 0 ? nullptr : &stream_variants()[static_cast<size_t>(one.stream)];
}

// One launch of a case on a lane: a job of the engine, a paper's kernel, or a streaming kernel.
class Launch {
 public:
  Launch(const Lane& lane, const Case& one) : case_(one), engine_(lane.engine) {
    engine_.ops = &cuda_dct8x8_ops(one.kernels);
    if (const StreamVariant* variant = variant_of(one))
      stream_ = std::make_unique<Stream>(*lane.gpu, *variant, one.job.in_bytes, one.job.out_bytes);
    else if (one.paper != nullptr)
      paper_ = std::make_unique<PaperLaunch>(*lane.gpu, *engine_.device, *one.paper, one.spec);
  }

  void enqueue(const test::KernelMemory& memory, FencePtr* fence = nullptr) const {
    if (stream_ != nullptr)
      stream_->enqueue(memory.in, memory.out);
    else if (paper_ != nullptr)
      paper_->enqueue(place_dct(case_.spec, memory));
    else
      require(case_.job.submit(engine_, memory, fence));
  }

 private:
  const Case& case_;
  test::Engine engine_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<PaperLaunch> paper_;
};

// A case.
class CaseSubject final : public Subject {
 public:
  CaseSubject(const Lanes& lanes, const Case& one, std::shared_ptr<const Buffers> buffers)
      : Subject(*lanes[0]->gpu, traffic_of(one), variant_of(one), one.launches),
        case_(one),
        lanes_(lanes),
        buffers_(std::move(buffers)) {
    result().samples = one.job.samples;
    result().blocks = one.job.blocks;
    for (size_t i = 0; i < one.pictures; ++i) launches_.emplace_back(*lanes[i], case_);
    check_ = std::make_unique<OutputCheck>(
        gpu_, *lanes[0]->engine.device, *buffers_,
        is_stream() ? plain_region(one.job.out_bytes / 16 * 16) : one.job.written,
        !is_stream() && one.job.measures);
  }

  const Case& of() const { return case_; }
  const OutputCheck& output() const { return *check_; }

 private:
  bool is_stream() const { return variant() != nullptr; }

  // Every set and every lane once.
  void prepare() override {
    const LaunchMode mode(lanes_, case_);
    check_->run([this] { enqueue(std::max(case_.sets, case_.pictures)); });
    if (check_->fault().empty() && !is_stream()) case_.in_paper ? require_exact() : compare();
    if (case_.plain) return;
    capture([this] { enqueue(case_.launches); });
    if (graph()->nodes() < case_.launches)
      throw std::runtime_error("a graph of " + std::to_string(case_.launches) + " launches has " +
                               std::to_string(graph()->nodes()) + " nodes");
  }

  void launch() const override {
    if (!case_.plain) return Subject::launch();
    const LaunchMode mode(lanes_, case_);
    enqueue(case_.launches);
  }

  std::string check() override {
    check_->run([this] { launch(); });
    return check_->fault();
  }

  // Throws if the output is not the CPU engine's.
  void compare() const {
    const std::vector<uint8_t> expected = test::output_of(case_.job, buffers_->input());
    const std::string fault = test::compare_outputs(case_.job, expected, buffers_->output(0));
    if (!fault.empty())
      throw std::runtime_error("the output differs from the CPU engine's: " + fault);
  }

  // Throws if the output is wrong.
  void require_exact() {
    const Exactness exactness =
        exactness_of(gpu_, place_dct(case_.spec, buffers_->memory(0)),
                     case_.paper == nullptr || case_.paper->quantized, case_.exact_as);
    result().exactness = exactness;
    if (exactness.passes() && (case_.exact_as == Method::kReference || exactness.max_error == 0))
      return;
    throw std::runtime_error("off by up to " + std::to_string(exactness.max_error) + ", " +
                             std::to_string(exactness.psnr) + " dB");
  }

  // On as many streams as pictures in flight; the first stream waits for all.
  void enqueue(size_t launches) const {
    FencePtr fence;
    if (case_.pictures > 1) lanes_[0]->record();
    for (size_t i = 1; i < case_.pictures; ++i) lanes_[i]->wait_for(*lanes_[0]);
    for (size_t i = 0; i < launches; ++i)
      launches_[i % case_.pictures].enqueue(buffers_->memory(i % case_.sets),
                                            case_.plain ? &fence : nullptr);
    for (size_t i = 1; i < case_.pictures; ++i) {
      lanes_[i]->record();
      lanes_[0]->wait_for(*lanes_[i]);
    }
  }

  const Case case_;
  const Lanes& lanes_;
  std::shared_ptr<const Buffers> buffers_;
  std::vector<Launch> launches_;  // of each lane
  std::unique_ptr<OutputCheck> check_;
};
using Subjects = std::vector<std::unique_ptr<CaseSubject>>;

// The cases, and for each traffic among them every streaming kernel that is not itself a case.
std::vector<Case> with_streams(const std::vector<Case>& cases) {
  std::vector<Case> all = cases;
  std::map<Traffic, std::vector<bool>> there;
  for (const Case& one : cases) {
    std::vector<bool>& variants = there[traffic_of(one)];
    variants.resize(stream_variants().size());
    if (one.stream >= 0) variants[static_cast<size_t>(one.stream)] = true;
  }
  for (const Case& one : cases) {
    std::vector<bool>& variants = there[traffic_of(one)];
    for (size_t i = 0; i < variants.size(); ++i) {
      if (variants[i]) continue;
      variants[i] = true;
      Case stream = one;
      stream.name.clear();  // its result is not reported
      stream.stream = static_cast<int>(i);
      stream.in_paper = false;
      stream.dependent_launch = false;
      stream.plain = false;
      all.push_back(std::move(stream));
    }
  }
  return all;
}

Subjects make_subjects(const Lanes& lanes, const std::vector<Case>& cases) {
  std::map<std::pair<std::string, size_t>, std::shared_ptr<const Buffers>> buffers;
  Subjects subjects;
  for (const Case& one : cases) {
    std::shared_ptr<const Buffers>& shared = buffers[{one.job.buffers, one.sets}];
    if (shared == nullptr) shared = std::make_shared<const Buffers>(*lanes[0], one.job, one.sets);
    subjects.push_back(std::make_unique<CaseSubject>(lanes, one, shared));
  }
  return subjects;
}

void compare_outputs(const Subjects& subjects, std::map<std::string, uint64_t>* outputs) {
  for (const auto& subject : subjects) {
    const Case& one = subject->of();
    if (subject->variant() != nullptr || one.paper != nullptr || one.job.blocks == 0 ||
        !subject->result().error.empty())
      continue;
    const uint64_t checksum = subject->output().checksum();
    const auto [known, is_new] = outputs->emplace(one.job.keys, checksum);
    if (!is_new && known->second != checksum)
      subject->result().error = "the output differs from that of another case of the same job";
  }
}

}  // namespace

void measure_group(Lanes* lanes, const std::vector<Case>& cases, const MeasureOptions& options,
                   std::map<std::string, uint64_t>* outputs, Results* results) {
  for (const Case& one : cases)
    while (lanes->size() < one.pictures) lanes->push_back(std::make_unique<Lane>());
  const Subjects subjects = make_subjects(*lanes, with_streams(cases));
  std::vector<Subject*> all;
  int repetitions = 0;
  for (const auto& subject : subjects) {
    all.push_back(subject.get());
    repetitions = std::max(repetitions, subject->of().repetitions);
  }
  if (options.quick) repetitions = std::min(repetitions, kQuickRepetitions);
  measure_in_turns(all, repetitions, options.sample);
  compare_outputs(subjects, outputs);
  for (const auto& subject : subjects)
    if (!subject->of().name.empty()) (*results)[subject->of().name] = subject->result();
}

void run_between_markers(const Lanes& lanes, const std::vector<Case>& cases) {
  const Lane& lane = *lanes[0];
  CUfunction marker = lane.gpu->kernel("bench_marker");
  for (size_t i = 0; i < cases.size(); ++i) {
    const Buffers buffers(lane, cases[i].job, 1);
    const Launch launch(lane, cases[i]);
    launch.enqueue(buffers.memory(0));  // loads and allocates
    const auto place = static_cast<unsigned>(i + 1);
    lane.gpu->launch(marker, place, 32, nullptr, 1);
    launch.enqueue(buffers.memory(0));
    lane.gpu->launch(marker, place, 32, nullptr, 2);
    lane.gpu->synchronize();
  }
}

}  // namespace cudatransform::bench
