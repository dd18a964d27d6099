// The DCT's groups of cases: poisoned outputs and their checksums, graphs, repetitions in turns.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/cases.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cuda/dct8x8/engine.h"
#include "cuda/device/queue.h"

namespace cudatransform::bench {
namespace {

// ---- Whether a benchmark wrote its output ----

constexpr uint8_t kPoison[] = {0xA5, 0x5A};
constexpr unsigned kThreads = 256;
constexpr size_t kMostCtas = 4096;

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
      kernel_(gpu.kernel("bench_checksum")) {
  require(device.allocate(MemoryKind::kDevice, sizeof(uint64_t), &sum_));
}

uint64_t OutputCheck::checksum_of(size_t set) const {
  gpu_.fill(sum_->data(), 0, sizeof(uint64_t));
  uint64_t salt = 0;
  for (const Region& region : regions_) {
    if (region.rows == 0) continue;
    const uint8_t* data = static_cast<uint8_t*>(buffers_.output(set)) + region.offset;
    auto pitch = static_cast<int64_t>(region.pitch);
    auto row_bytes = static_cast<int64_t>(region.row_bytes);
    auto rows = static_cast<int64_t>(region.rows);
    void* sum = sum_->data();
    void* arguments[] = {&data, &pitch, &row_bytes, &rows, &salt, &sum};
    gpu_.launch(kernel_, static_cast<unsigned>(std::min(region.rows, kMostCtas)), kThreads,
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
    fault_ = where + "measured no error, but quantisation makes one";
}

// ---- Groups ----

constexpr int kQuickRepetitions = 5;

// How the engine launches while a case is prepared.
class LaunchMode {
 public:
  explicit LaunchMode(const Case& one) { cuda::set_dependent_launch(one.dependent_launch); }
  ~LaunchMode() { cuda::set_dependent_launch(true); }
  LaunchMode(const LaunchMode&) = delete;
  LaunchMode& operator=(const LaunchMode&) = delete;
};

Traffic traffic_of(const Case& one) {
  const FrameGeometry geometry(one.spec);
  const bool forward = one.spec.direction == Direction::kForward;
  return {forward ? geometry.sample_bytes : geometry.coef_bytes,
          forward ? geometry.coef_bytes : geometry.sample_bytes, one.sets};
}

const StreamVariant* variant_of(const Case& one) {
  return one.stream < 0 ? nullptr : &stream_variants()[static_cast<size_t>(one.stream)];
}

// A job of the DCT, a paper's kernel, or a streaming kernel on the same buffers.
class DctSubject final : public Subject {
 public:
  DctSubject(const Gpu& gpu, Device& device, const Case& one,
             std::shared_ptr<const Buffers> buffers)
      : Subject(gpu, traffic_of(one), variant_of(one), one.launches),
        case_(one),
        device_(device),
        buffers_(std::move(buffers)) {
    const auto [in_bytes, out_bytes, sets] = traffic();
    const FrameGeometry geometry(one.spec);
    result().samples = geometry.visible_samples;
    result().blocks = geometry.blocks;
    if (variant() != nullptr) {
      stream_ = std::make_unique<Stream>(gpu, *variant(), in_bytes, out_bytes);
    } else {
      for (size_t set = 0; set < sets; ++set) jobs_.push_back(buffers_->job(one.spec, set));
      if (one.paper != nullptr)
        paper_ = std::make_unique<PaperLaunch>(gpu, device, *one.paper, one.spec);
    }
    check_ = std::make_unique<OutputCheck>(
        gpu, device, *buffers_,
        stream_ != nullptr ? plain_region(out_bytes / 16 * 16) : buffers_->output_regions(),
        one.spec.measure != 0);
  }

  const Case& of() const { return case_; }
  const OutputCheck& output() const { return *check_; }

 private:
  // Every set once.
  void prepare() override {
    const LaunchMode mode(case_);
    check_->run([this] { enqueue(buffers_->sets()); });
    if (case_.in_paper && check_->fault().empty()) require_exact();
    if (case_.plain) return;
    capture([this] { enqueue(case_.launches); });
    if (graph()->nodes() < case_.launches)
      throw std::runtime_error("a graph of " + std::to_string(case_.launches) + " launches has " +
                               std::to_string(graph()->nodes()) + " nodes");
  }

  void launch() const override {
    if (!case_.plain) return Subject::launch();
    const LaunchMode mode(case_);
    enqueue(case_.launches);
  }

  std::string check() override {
    check_->run([this] { launch(); });
    return check_->fault();
  }

  // Throws if the output is wrong.
  void require_exact() {
    const Exactness exactness = exactness_of(
        gpu_, jobs_[0], case_.paper == nullptr || case_.paper->quantised, case_.exact_as);
    result().exactness = exactness;
    if (exactness.passes() && (case_.exact_as == Method::kReference || exactness.max_error == 0))
      return;
    throw std::runtime_error("off by up to " + std::to_string(exactness.max_error) + ", " +
                             std::to_string(exactness.psnr) + " dB");
  }

  void enqueue(size_t launches) const {
    Queue& queue = device_.queue(QueueKind::kCompute);
    FencePtr fence;
    for (size_t i = 0; i < launches; ++i) {
      const size_t set = i % buffers_->sets();
      if (stream_ != nullptr)
        stream_->enqueue(buffers_->input(set), buffers_->output(set));
      else if (paper_ != nullptr)
        paper_->enqueue(jobs_[set]);
      else
        require(cuda_dct8x8_ops(case_.kernels)
                    .submit(device_, queue, jobs_[set], case_.plain ? &fence : nullptr));
    }
  }

  const Case case_;
  Device& device_;
  std::shared_ptr<const Buffers> buffers_;
  std::vector<Dct8x8Job> jobs_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<PaperLaunch> paper_;
  std::unique_ptr<OutputCheck> check_;
};
using Subjects = std::vector<std::unique_ptr<DctSubject>>;

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
      stream.spec.measure = 0;
      stream.paper = nullptr;
      stream.in_paper = false;
      stream.dependent_launch = false;
      stream.plain = false;
      all.push_back(std::move(stream));
    }
  }
  return all;
}

Subjects make_subjects(const Gpu& gpu, Device& device, const std::vector<Case>& cases) {
  std::map<std::pair<std::string, size_t>, std::shared_ptr<const Buffers>> buffers;
  Subjects subjects;
  for (const Case& one : cases) {
    std::shared_ptr<const Buffers>& shared = buffers[{buffers_key(one.spec), one.sets}];
    if (shared == nullptr)
      shared = std::make_shared<const Buffers>(gpu, device, one.spec, one.sets);
    subjects.push_back(std::make_unique<DctSubject>(gpu, device, one, shared));
  }
  return subjects;
}

void compare_outputs(const Subjects& subjects, std::map<std::string, uint64_t>* outputs) {
  for (const auto& subject : subjects) {
    if (subject->variant() != nullptr || subject->of().paper != nullptr ||
        !subject->result().error.empty())
      continue;
    const uint64_t checksum = subject->output().checksum();
    const auto [known, is_new] = outputs->emplace(output_key(subject->of().spec), checksum);
    if (!is_new && known->second != checksum)
      subject->result().error = "the output differs from that of another case of the same job";
  }
}

}  // namespace

void measure_group(const Gpu& gpu, Device& device, const std::vector<Case>& cases,
                   const MeasureOptions& options, std::map<std::string, uint64_t>* outputs,
                   Results* results) {
  const Subjects subjects = make_subjects(gpu, device, with_streams(cases));
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

void run_between_markers(const Gpu& gpu, Device& device, const std::vector<Case>& cases) {
  CUfunction marker = gpu.kernel("bench_marker");
  Queue& queue = device.queue(QueueKind::kCompute);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Buffers buffers(gpu, device, cases[i].spec, 1);
    const Dct8x8Job job = buffers.job(cases[i].spec, 0);
    std::unique_ptr<PaperLaunch> paper;
    if (cases[i].paper != nullptr)
      paper = std::make_unique<PaperLaunch>(gpu, device, *cases[i].paper, cases[i].spec);
    const auto enqueue = [&] {
      if (paper != nullptr)
        paper->enqueue(job);
      else
        require(cuda_dct8x8_ops().submit(device, queue, job, nullptr));
    };
    enqueue();  // loads and allocates
    const auto place = static_cast<unsigned>(i + 1);
    gpu.launch(marker, place, 32, nullptr, 1);
    enqueue();
    gpu.launch(marker, place, 32, nullptr, 2);
    gpu.synchronize();
  }
}

}  // namespace cudatransform::bench
