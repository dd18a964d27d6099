// Contestants on a GPU in turns, and the streaming kernels that they are compared with.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tests/bench/gpu/driver.h"
#include "tests/bench/gpu/params.h"
#include "tests/bench/papers/kernels.h"
#include "tests/bench/turns.h"

namespace cudatransform::bench {

// One way to stream. The best way depends on the size and the direction, so all are measured and
// the best of them is the limit.
struct StreamVariant {
  const char* name;  // "cta256x2": a tile a CTA of 256 threads, of twice as many units as the least
  const char* how;   // see stream.cu
  int multiple;      // 1, 2 or 4 times the smallest whole numbers of units a thread
  unsigned threads;  // of a CTA
};
std::span<const StreamVariant> stream_variants();

// A variant for given numbers of bytes, which are rounded up to 16.
class Stream {
 public:
  Stream(const Gpu& gpu, const StreamVariant& variant, size_t in_bytes, size_t out_bytes);
  // Addresses are aligned to 16 bytes.
  void enqueue(const void* in, void* out) const;

 private:
  const Gpu& gpu_;
  CUfunction kernel_;
  StreamParams params_ = {};
  unsigned ctas_, threads_;
};

// The result of one case.
struct Result {
  std::string error;   // why there is no figure, or why it cannot be trusted
  double seconds = 0;  // median of one job, or of one launch of a streaming kernel
  double spread = 0;   // the middle half of the repetitions, from end to end, over the median
  size_t bytes = 0;    // that must move
  size_t samples = 0, blocks = 0;
  // For cases in a paper's tables: all repetitions, and the accuracy.
  Times times;
  size_t read_bytes = 0;
  std::optional<Exactness> exactness;
  double limit_seconds = 0;  // of the best streaming kernel of the same bytes; 0 of one itself
  std::string limit_name;
};
using Results = std::map<std::string, Result>;  // by the case's name

struct MeasureOptions {
  bool quick = false;              // few repetitions
  std::function<void()> sample{};  // called now and then while the device is busy
};

// Bytes read and written, sets of buffers that launches go round, and streams: contestants with
// equal ones are compared with the same streaming kernels.
using Traffic = std::tuple<size_t, size_t, size_t, size_t>;

// One contestant: a case, or a streaming kernel.
class Subject {
 public:
  // `variant`: of a streaming kernel, or null. A reading has this many launches.
  Subject(const Gpu& gpu, const Traffic& traffic, const StreamVariant* variant, size_t launches);
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const Traffic& traffic() const { return traffic_; }
  const StreamVariant* variant() const { return variant_; }
  Result& result() { return result_; }
  bool is_ready() const { return ready_; }

 protected:
  // Runs all work once, which loads and allocates, checks it, and captures or readies it. May
  // throw.
  virtual void prepare() = 0;
  // After the last repetition: runs the measured work on new poison. "" or the fault.
  virtual std::string check() = 0;
  // All launches of one reading.
  virtual void launch() const { graph_->launch(); }

  void capture(const std::function<void()>& enqueue) {
    graph_ = std::make_unique<Graph>(gpu_, enqueue);
  }
  const Graph* graph() const { return graph_.get(); }
  size_t launches() const { return launches_; }
  const Gpu& gpu_;

 private:
  friend void measure_in_turns(const std::vector<Subject*>&, int, const std::function<void()>&);
  void try_to_prepare();
  void finish();

  const Traffic traffic_;
  const StreamVariant* const variant_;
  const size_t launches_;
  const Stopwatch watch_;
  std::unique_ptr<Graph> graph_;
  bool ready_ = false;
  Result result_;
};

// Prepares the subjects, measures them, checks them again, and compares cases with the best
// streaming kernel of their traffic. Faults are errors of their results; throws when the device is
// lost. Every repetition measures every subject once, in another order, so that drifting clocks and
// heating neighbors affect all alike.
void measure_in_turns(const std::vector<Subject*>& subjects, int repetitions,
                      const std::function<void()>& sample);

}  // namespace cudatransform::bench
