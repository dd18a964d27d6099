// Times and sums of jobs, also large ones: every kind of kernel reports a plausible time, once for
// each job, and sums over all its warps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/dct8x8/job_runner.h"
#include "transform/dct8x8/quant_table.h"

namespace cudatransform::test {
namespace {

enum class Planes { kGray, k420, kNv12 };

struct Case {
  std::string name;
  Spec spec;
  Planes planes;
  int width, height;

  int components() const { return planes == Planes::kGray ? 1 : 3; }
  int width_of(int c) const { return c == 0 ? width : (width + 1) / 2; }
  int height_of(int c) const { return c == 0 ? height : (height + 1) / 2; }
  bool interleaved(int c) const { return planes == Planes::kNv12 && c > 0; }
};

std::vector<Case> cases(int widest) {
  std::vector<Case> list;
  const auto add_planes = [&](Planes planes, const std::string& name, int width, auto&& change) {
    Spec spec;
    for (QuantTable& table : spec.tables)
      table = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 60);
    change(spec);
    list.push_back({name, spec, planes, width, width / 16 * 8 + 8});
  };
  const auto add = [&](const std::string& name, int width, auto&& change) {
    add_planes(Planes::kGray, name, width, change);
  };
  // Sizes on both sides of the CUDA engine's changes of kernels.
  for (const int width : {40, 640, 2560}) {
    if (width > widest) break;
    const std::string at = " at a width of " + std::to_string(width);
    for (const Method method : {Method::kIslow, Method::kFloat}) {
      const std::string with = method_name(method) + at;
      add(with, width, [&](Spec& s) { s.method = method; });
      add(with + ", measured", width, [&](Spec& s) {
        s.method = method;
        s.measure = kMeasureSse | kMeasureZeros;
      });
      add(with + ", in planes", width, [&](Spec& s) {
        s.method = method;
        s.layout = Layout::kPlane;
      });
      // Kernels that measure report their time when the last component's sums are in.
      for (const Planes planes : {Planes::k420, Planes::kNv12}) {
        const std::string of = (planes == Planes::k420 ? ", 4:2:0" : ", NV12") + (" of " + with);
        for (const uint32_t measure : {0u, uint32_t{kMeasureSse}, uint32_t{kMeasureZeros},
                                       uint32_t{kMeasureSse | kMeasureZeros}})
          add_planes(planes, "measuring " + std::to_string(measure) + of, width, [&](Spec& s) {
            s.method = method;
            s.measure = measure;
          });
      }
    }
    add("10 bits" + at, width, [](Spec& s) {
      s.method = Method::kFloat;
      s.depth = 10;
    });
    add("10 bits, measured" + at, width, [](Spec& s) {
      s.method = Method::kFloat;
      s.depth = 10;
      s.measure = kMeasureSse | kMeasureZeros;
    });
    add("unquantized" + at, width, [](Spec& s) {
      s.method = Method::kFloat;
      s.type = CoefType::kF32;
      s.quantized = false;
    });
  }
  for (const Method method : {Method::kIfast, Method::kReference, Method::kShuffle})
    add(method_name(method), 640, [&](Spec& s) { s.method = method; });
  return list;
}

// A plane in the engine's memory, aligned as every kernel requires, of 16-bit words from 0 to
// `largest`, the same on every engine.
struct Plane {
  std::unique_ptr<Memory> memory;
  ptrdiff_t pitch;

  Plane(const Engine& engine, size_t row_bytes, int rows, uint32_t largest, uint32_t seed)
      : pitch(static_cast<ptrdiff_t>((row_bytes + 63) / 64 * 64)) {
    std::vector<uint16_t> words(size_t(pitch) / 2 * size_t(rows));
    std::minstd_rand random(seed);
    constexpr size_t kPeriod = 4099;
    for (size_t i = 0; i < words.size(); ++i)
      words[i] =
          i < kPeriod ? static_cast<uint16_t>((random() >> 8) % (largest + 1)) : words[i - kPeriod];
    const auto bytes = ptrdiff_t(2 * words.size());
    Device& device = *engine.device;
    EXPECT_TRUE(device.allocate(MemoryKind::kDevice, size_t(bytes), &memory).ok());
    EXPECT_TRUE(device
                    .upload(device.queue(QueueKind::kUpload),
                            {memory->data(), bytes, words.data(), bytes, size_t(bytes), 1})
                    .ok());
  }
};

// A job of a case in flight, and two timers: its own, and one around it.
struct Flight {
  Dct8x8Job job;
  std::vector<Plane> samples, reference, coefs;
  std::unique_ptr<Memory> sums, times;
  std::unique_ptr<Timer> timer, around;
  FencePtr fence;

  Flight(const Engine& engine, const Case& one, Direction direction)
      : job(job_of(one.spec, direction, one.components())),
        sums(make_sums(engine)),
        timer(engine.device->make_timer()),
        around(engine.device->make_timer()) {
    EXPECT_TRUE(engine.device->allocate(MemoryKind::kPinned, sizeof(PictureTimes), &times).ok());
    std::memset(times->data(), 0, sizeof(PictureTimes));
    for (int c = 0; c < job.components; ++c) {
      describe_samples(engine, one, c, &samples, &job.samples[c]);
      describe_samples(engine, one, c, &reference, &job.reference[c]);
      describe_coefs(engine, one, c);
    }
    job.sums = static_cast<PictureSums*>(sums->data());
    job.times = static_cast<PictureTimes*>(times->data());
    job.timer = timer.get();
  }

  // Two interleaved components share the memory of the first.
  void describe_samples(const Engine& engine, const Case& one, int c, std::vector<Plane>* planes,
                        SamplePlane* plane) {
    const int bytes = one.spec.depth == 8 ? 1 : 2, together = one.interleaved(c) ? 2 : 1;
    const size_t row_bytes = size_t(one.width_of(c)) * size_t(bytes * together);
    const bool second = one.interleaved(c) && c == 2;
    const uint32_t largest = bytes == 1 ? 0xffff : (1u << one.spec.depth) - 1;
    const uint32_t seed = uint32_t(c) + (planes == &samples ? 1 : 11);
    if (!second) planes->emplace_back(engine, row_bytes, one.height_of(c), largest, seed);
    const Plane& memory = planes->back();
    plane->data = static_cast<uint8_t*>(memory.memory->data()) + (second ? bytes : 0);
    plane->pitch = memory.pitch;
    plane->width = one.width_of(c);
    plane->height = one.height_of(c);
    plane->type = bytes == 1 ? SampleType::kU8 : SampleType::kU16;
    plane->stride = bytes * together;
  }

  void describe_coefs(const Engine& engine, const Case& one, int c) {
    const bool blocks = one.spec.layout == Layout::kBlock;
    const int blocks_w = (one.width_of(c) + 7) / 8, blocks_h = (one.height_of(c) + 7) / 8;
    const size_t coef_bytes = one.spec.type == CoefType::kS16 ? 2 : 4;
    const size_t row_bytes = size_t(blocks_w) * (blocks ? 64 : 8) * coef_bytes;
    // Many quantized coefficients are 0; words of 32 bits all are.
    coefs.emplace_back(engine, row_bytes, blocks ? blocks_h : 8 * blocks_h, coef_bytes == 2 ? 5 : 0,
                       21 + uint32_t(c));
    // Without gaps, as the fast kernels require rows of blocks.
    const ptrdiff_t pitch = blocks ? ptrdiff_t(row_bytes) : coefs.back().pitch;
    job.coefs[c] = {coefs.back().memory->data(), pitch, blocks_w, blocks_h, 0};
  }

  Status submit(const Engine& engine) {
    Queue& queue = engine.device->queue(QueueKind::kCompute);
    CT_RETURN_IF_ERROR(around->begin(queue));
    CT_RETURN_IF_ERROR(engine.ops->submit(*engine.device, queue, job, &fence));
    CT_RETURN_IF_ERROR(around->end(queue));
    return queue.record(&fence);
  }

  // The time of the work alone, in ns. Sets *by_kernel if the kernel's own clock reported it.
  bool read(uint64_t* own, bool* by_kernel) const {
    const auto* reported = static_cast<const PictureTimes*>(times->data());
    *by_kernel = reported->end != 0;
    if (!*by_kernel) return timer->read_ns(own);
    *own = reported->end - reported->begin;
    return reported->end >= reported->begin;
  }
};

// The CPU's sums of the same frame, of all kinds, once for all engines.
PictureSums expected_sums(Case one, Direction direction) {
  static std::map<std::array<int, 5>, PictureSums> found;
  const auto [entry, is_new] = found.try_emplace(
      {int(one.spec.method), one.spec.depth, int(one.planes), one.width, int(direction)});
  if (is_new) {
    one.spec.measure = kMeasureSse | kMeasureZeros;
    Flight flight(portable_engine(), one, direction);
    EXPECT_TRUE(flight.submit(portable_engine()).ok()) << one.name;
    EXPECT_TRUE(flight.fence->wait().ok()) << one.name;
    entry->second = *flight.job.sums;
  }
  return entry->second;
}

// `islow` is exact. Engines may round values of `float` on a tie of the quantizer, such as some of
// noise, differently: up to .6 % of a small frame's errors, .3 % of a large one's zeros. If one of
// the words that collect sums is left out, 1.3 to 2 % of them are missing.
void check_sums(const Case& one, Direction direction, const PictureSums& sums,
                const std::string& name) {
  const PictureSums expected = expected_sums(one, direction);
  const bool exactly = one.spec.method != Method::kFloat;
  const auto check_one = [&](uint64_t got, uint64_t wanted, bool measured, const char* what) {
    if (!measured)
      EXPECT_EQ(got, 0u) << name << ": " << what << " that nobody measures";
    else
      EXPECT_LE(std::fabs(double(got) - double(wanted)), exactly ? 0 : 0.01 * double(wanted))
          << name << ": " << got << " " << what << ", not " << wanted;
    EXPECT_TRUE(!measured || wanted > 0) << name << ": no " << what;
  };
  for (int c = 0; c < 3; ++c) {
    const bool there = c < one.components();
    check_one(sums.sse[c], expected.sse[c], there && (one.spec.measure & kMeasureSse), "errors");
    check_one(sums.zeros[c], expected.zeros[c], there && (one.spec.measure & kMeasureZeros),
              "zeros");
  }
}

// Whether the kernel reads the GPU's clock: kernels that measure, and kernels of the commonest
// format.
bool has_clock(const Engine& engine, const Case& one) {
  const Spec& spec = one.spec;
  const bool fused = spec.method == Method::kIslow || spec.method == Method::kFloat;
  if (!fused || engine.device->is_host() || engine.name == "cuda/general") return false;
  return spec.measure != 0 ||
         (spec.depth == 8 && spec.type == CoefType::kS16 && spec.layout == Layout::kBlock);
}

void check(const Engine& engine, const Case& one, Direction direction) {
  const bool inverse = direction == Direction::kInverse;
  const std::string name =
      std::string(engine.name) + ", " + one.name + (inverse ? ", inverse" : ", forward");
  std::vector<std::unique_ptr<Flight>> flights;
  for (int i = 0; i < 3; ++i) flights.push_back(std::make_unique<Flight>(engine, one, direction));
  FencePtr uploaded;
  ASSERT_TRUE(engine.device->queue(QueueKind::kUpload).record(&uploaded).ok());
  ASSERT_TRUE(engine.device->queue(QueueKind::kCompute).wait_for(uploaded).ok());
  for (auto& flight : flights) {
    const Status status = flight->submit(engine);
    ASSERT_TRUE(status.ok()) << name << ": " << status.message;
  }
  for (auto& flight : flights) {
    ASSERT_TRUE(flight->fence->wait().ok()) << name;
    uint64_t own = 0, around = 0;
    bool by_kernel = false;
    ASSERT_TRUE(flight->read(&own, &by_kernel)) << name << ": no time";
    ASSERT_TRUE(flight->around->read_ns(&around)) << name;
    // Events have a resolution of half a microsecond, and the two clocks are not the same one.
    EXPECT_LE(own, around + around / 100 + 1000) << name;
    const double blocks = one.width / 8.0 * one.height / 8.0;  // at least
    EXPECT_GT(double(own), blocks * 0.01) << name << ": no device is that fast";
    EXPECT_EQ(by_kernel, has_clock(engine, one)) << name;
    if (one.spec.measure != 0) check_sums(one, direction, *flight->job.sums, name);
  }
}

TEST(Times, EveryKernelTellsThem) {
  for (const Engine& engine : engines()) {
    engine.activate();
    const int width = !engine.device->is_host() ? 2560 : sanitized() ? 192 : 640;
    for (const Case& one : cases(width))
      for (const Direction direction : {Direction::kForward, Direction::kInverse})
        check(engine, one, direction);
  }
}

}  // namespace
}  // namespace cudatransform::test
