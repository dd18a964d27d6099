// The symbols of candidates for a frame's tables, against the quantized coefficients of a transform
// for each.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "jpeg/encode_scan.h"
#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"
#include "transform/dct8x8/quant_table.h"
#ifdef CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/jpeg/engine.h"
#include "cuda/ratecontrol/engine.h"

namespace cudatransform::test {
namespace {

std::unique_ptr<Memory> allocate(Device& device, MemoryKind kind, size_t bytes) {
  std::unique_ptr<Memory> memory;
  const Status status = device.allocate(kind, bytes, &memory);
  EXPECT_TRUE(status.ok()) << status.message;
  return memory;
}

struct RateCase {
  int32_t width, height;
  uint32_t components, h, v, restart;
  Method method;
  Quantizer quantizer;
};

std::ostream& operator<<(std::ostream& out, const RateCase& c) {
  return out << c.width << "x" << c.height << ", " << c.components << " components, " << c.h << "x"
             << c.v << ", restart " << c.restart << ", " << method_name(c.method) << ", "
             << quantizer_name(c.quantizer);
}

// A picture of waves, edges and noise, and a job for it on one engine.
class Frame {
 public:
  Frame(const Engine& engine, const RateCase& c) : engine_(engine), device_(*engine.device) {
    const JpegFactors factors = {c.components, {c.h, 1, 1, 1}, {c.v, 1, 1, 1}};
    EXPECT_TRUE(make_jpeg_scan_layout(uint32_t(c.width), uint32_t(c.height), factors, c.restart,
                                      &job.layout)
                    .ok());
    Dct8x8Job& dct = job.dct;
    dct.method = c.method;
    dct.quantizer = c.quantizer;
    dct.components = int(c.components);
    std::fill(std::begin(dct.tables), std::end(dct.tables), table_at(100, QuantComponent::kLuma));
    for (int i = 0; i < dct.components; ++i) {
      job.layout.table_pair[i] = i > 0 && c.components == 3;
      add_plane(c, i);
    }
    counts_ = allocate(device_, MemoryKind::kPinned, RateCountJob::kMax * sizeof(*job.counts));
    job.counts = static_cast<JpegSymbolCounts*>(counts_->data());
    const double percents[] = {0.5, 3, 17, 60, 100, 180, 900, 5000};
    job.candidates = int(std::size(percents));
    for (int i = 0; i < job.candidates; ++i) {
      job.tables[i][0] = table_at(percents[i], QuantComponent::kLuma);
      job.tables[i][1] = table_at(percents[i], QuantComponent::kChroma);
      job.tables[i][2] = job.tables[i][3] = job.tables[i][1];
    }
  }

  void count_at_once() {
    const Status status =
        submit_and_wait(engine_, [&](Device& device, Queue& queue, FencePtr* done) {
          return count_rate_candidates(device, queue, job, done);
        });
    EXPECT_TRUE(status.ok()) << status.message;
  }
  // By the quantized coefficients of a transform.
  JpegSymbolCounts count_one(int candidate) {
    Dct8x8Job dct = job.dct;
    std::copy_n(job.tables[candidate], 4, dct.tables);
    JpegEncodeJob encode;
    encode.layout = job.layout;
    encode.counts = job.counts;
    for (int i = 0; i < dct.components; ++i)
      encode.qcoefs[i] = {static_cast<const int16_t*>(dct.coefs[i].data), dct.coefs[i].pitch};
    const Status status =
        submit_and_wait(engine_, [&](Device& device, Queue& queue, FencePtr* done) -> Status {
          CT_RETURN_IF_ERROR(cuda_dct8x8_ops().submit(device, queue, dct, nullptr));
          return cuda_jpeg_encode_ops().count(device, queue, encode, done);
        });
    EXPECT_TRUE(status.ok()) << status.message;
    return *job.counts;
  }

  // All divisors of a candidate are flat(its number), at most 65535.
  template <typename Flat>
  void set_flat_tables(const Flat& flat) {
    for (int i = 0; i < job.candidates; ++i)
      for (QuantTable& table : job.tables[i]) std::fill_n(table.q, 64, uint16_t(flat(i)));
  }

  RateCountJob job;

 private:
  static QuantTable table_at(double percent, QuantComponent component) {
    return scaled_table(QuantPreset::kAnnexK, component,
                        {uint32_t(percent * TableScale::kUnit), true});
  }
  void add_plane(const RateCase& c, int i) {
    const int32_t h = i > 0 ? int32_t(c.h) : 1, v = i > 0 ? int32_t(c.v) : 1;
    SamplePlane& plane = job.dct.samples[i];
    plane.width = (c.width + h - 1) / h;
    plane.height = (c.height + v - 1) / v;
    // Rows of words, except Cb's.
    plane.pitch = i == 1 ? plane.width + 13 : (plane.width + 7) / 8 * 8;
    std::vector<uint8_t> samples(size_t(plane.pitch) * size_t(plane.height));
    std::mt19937 random(77u + uint32_t(i));
    for (int32_t y = 0; y < plane.height; ++y)
      for (int32_t x = 0; x < plane.width; ++x) {
        const int noise = x / 24 % 3 == 0 ? int(random() % 120) : int(random() % 5);
        samples[size_t(y * plane.pitch + x)] =
            uint8_t(std::clamp(x * 5 % 256 + (y / 9 % 2) * 90 + noise - 60, 0, 255));
      }
    samples_.push_back(allocate(device_, MemoryKind::kDevice, samples.size()));
    plane.data = samples_.back()->data();
    const auto bytes = ptrdiff_t(samples.size());
    const Copy2D copy = {plane.data, bytes, samples.data(), bytes, samples.size(), 1};
    EXPECT_TRUE(device_.upload(device_.queue(QueueKind::kCompute), copy).ok());
    CoefPlane& coefs = job.dct.coefs[i];
    coefs.blocks_w = int32_t(job.layout.blocks_w[i]);
    coefs.blocks_h = int32_t(job.layout.blocks_h[i]);
    coefs.pitch = coefs.blocks_w * 128;
    coefs.table = i > 0;
    coefs.chroma = i > 0;
    qcoefs_.push_back(
        allocate(device_, MemoryKind::kDevice, size_t(coefs.pitch) * size_t(coefs.blocks_h)));
    coefs.data = qcoefs_.back()->data();
  }

  const Engine& engine_;
  Device& device_;
  std::vector<std::unique_ptr<Memory>> samples_, qcoefs_;
  std::unique_ptr<Memory> counts_;
};

// Counts once more, with the job as it is, and compares with the quantized coefficients of a
// transform.
void check_again(Frame* frame) {
  frame->count_at_once();
  const std::vector<JpegSymbolCounts> counts(frame->job.counts,
                                             frame->job.counts + frame->job.candidates);
  for (int i = 0; i < frame->job.candidates; ++i) {
    const JpegSymbolCounts expected = frame->count_one(i);
    EXPECT_EQ(std::memcmp(&counts[size_t(i)], &expected, sizeof expected), 0) << "candidate " << i;
  }
}

void check(const RateCase& c) {
  SCOPED_TRACE(testing::Message() << c);
  for (const Engine* engine : engine_of_each_kind()) {
    if (!engine->is_cuda) continue;
    Frame frame(*engine, c);
    check_again(&frame);
  }
}

constexpr Method kMethods[] = {Method::kIslow, Method::kIfast, Method::kFloat};
constexpr Quantizer kQuantizers[] = {Quantizer::kRound, Quantizer::kDeadZone};

TEST(RateCount, EveryKernel) {
  for (const Method method : kMethods)
    for (const Quantizer quantizer : kQuantizers) check({200, 136, 3, 2, 2, 0, method, quantizer});
}

// Warps have several units each.
TEST(RateCount, LargePicture) {
  if (quick()) GTEST_SKIP() << "70,000 blocks";
  for (const Engine* engine : engine_of_each_kind()) {
    if (!engine->is_cuda) continue;
    Frame frame(*engine, {1216, 1210, 3, 1, 1, 0, Method::kIslow, Quantizer::kRound});
    frame.job.candidates = 1;
    check_again(&frame);
  }
}

// Other tables for the same frame: in the opposite order, a little coarser, much coarser, finer,
// and with some divisors finer than before.
TEST(RateCount, CountsAFrameAgain) {
  for (const Engine* engine : engine_of_each_kind()) {
    if (!engine->is_cuda) continue;
    Frame frame(*engine, {129, 40, 3, 2, 2, 0, Method::kIslow, Quantizer::kRound});
    check_again(&frame);
    frame.job.same_frame = true;
    std::reverse(std::begin(frame.job.tables), std::end(frame.job.tables));
    check_again(&frame);
    for (const int q : {24, 30, 31, 200, 3, 2}) {
      frame.set_flat_tables([&](int) { return q; });
      if (q == 31) frame.job.tables[2][1].q[63] = 1;
      check_again(&frame);
    }
  }
}

// A quantized coefficient that is zero with a divisor is zero with all larger ones, as lists rely
// on.
TEST(RateCount, EveryDivisor) {
  const int step = quick() ? 7 : 1;
  for (const Engine* engine : engine_of_each_kind()) {
    if (!engine->is_cuda) continue;
    for (const Method method : kMethods)
      for (const Quantizer quantizer : kQuantizers) {
        Frame frame(*engine, {72, 40, 1, 1, 1, 0, method, quantizer});
        for (int first = 1; first < 256; first += RateCountJob::kMax * step) {
          SCOPED_TRACE(testing::Message() << method_name(method) << " from " << first);
          frame.set_flat_tables([&](int i) { return first + step * i; });
          check_again(&frame);
        }
        frame.set_flat_tables([&](int i) { return (512 << i) - 1; });
        check_again(&frame);
      }
  }
}

TEST(RateCount, AnyTablesAndNumberOfCandidates) {
  for (const Engine* engine : engine_of_each_kind()) {
    if (!engine->is_cuda) continue;
    Frame frame(*engine, {140, 50, 3, 2, 1, 5, Method::kIslow, Quantizer::kDeadZone});
    std::mt19937 random(5);
    for (int candidates = RateCountJob::kMax; candidates > 0; --candidates) {
      frame.job.candidates = candidates;
      for (auto& tables : frame.job.tables)
        for (QuantTable& table : tables)
          for (uint16_t& q : table.q) q = uint16_t(1 + random() % 255);
      check_again(&frame);
    }
  }
}

TEST(RateCount, EverySamplingSizeAndInterval) {
  const struct {
    uint32_t components, h, v;
  } kinds[] = {{1, 1, 1}, {3, 1, 1}, {3, 2, 2}, {3, 2, 1}, {3, 1, 2}, {3, 4, 1}};
  const struct { int32_t width, height; } sizes[] = {{1, 1}, {9, 17}, {129, 40}, {24, 200}};
  for (const auto& kind : kinds)
    for (const auto& size : sizes)
      for (const uint32_t restart : {0u, 1u, 7u})
        check({size.width, size.height, kind.components, kind.h, kind.v, restart, Method::kIslow,
               Quantizer::kRound});
}

TEST(RateCount, RefusesOtherJobs) {
  for (const Engine* engine : engine_of_each_kind()) {
    if (!engine->is_cuda) continue;
    const RateCase c = {64, 64, 3, 2, 2, 0, Method::kIslow, Quantizer::kRound};
    const auto is_refused = [&](auto&& change) {
      Frame frame(*engine, c);
      change(&frame.job);
      return count_rate_candidates(*engine->device, engine->device->queue(QueueKind::kCompute),
                                   frame.job, nullptr)
                 .code == StatusCode::kInvalidArgument;
    };
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->candidates = 0; }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->candidates = 9; }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->counts = nullptr; }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) {
      job->counts = reinterpret_cast<JpegSymbolCounts*>(job->counts->of[0] + 1);
    }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->layout.blocks_w[1]++; }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->layout.table_pair[0] = 2; }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->dct.quantizer = Quantizer::kRd; }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->dct.method = Method::kReference; }));
    EXPECT_TRUE(is_refused([](RateCountJob* job) { job->tables[3][1].q[5] = 0; }));
  }
}

}  // namespace
}  // namespace cudatransform::test

#endif
