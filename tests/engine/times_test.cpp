// How long jobs take: every kind of kernel tells its time, once for each job, and a likely one.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "job_runner.h"
#include "transform/quant_table.h"

namespace cudatransform::test {
namespace {

struct Case {
  std::string name;
  Spec spec;
  int width, height;
};

std::vector<Case> cases(int widest) {
  std::vector<Case> list;
  const auto add = [&](const std::string& name, int width, auto&& change) {
    Spec spec;
    for (QuantTable& table : spec.tables)
      table = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, 60);
    change(spec);
    list.push_back({name, spec, width, width / 16 * 8 + 8});
  };
  // Sizes on both sides of where the CUDA engine takes other kernels.
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
    }
    add("10 bits" + at, width, [](Spec& s) {
      s.method = Method::kFloat;
      s.depth = 10;
    });
    add("10 bits, measured" + at, width, [](Spec& s) {
      s.method = Method::kFloat;
      s.depth = 10;
      s.measure = kMeasureZeros;
    });
    add("unquantised" + at, width, [](Spec& s) {
      s.method = Method::kFloat;
      s.type = CoefType::kF32;
      s.quantized = false;
    });
  }
  for (const Method method : {Method::kIfast, Method::kReference, Method::kShuffle})
    add(method_name(method), 640, [&](Spec& s) { s.method = method; });
  return list;
}

// A plane of junk in the engine's memory, aligned as every kernel wants it.
struct Plane {
  std::unique_ptr<Memory> memory;
  ptrdiff_t pitch;

  Plane(const Engine& engine, size_t row_bytes, int rows)
      : pitch(static_cast<ptrdiff_t>((row_bytes + 63) / 64 * 64)) {
    const size_t bytes = size_t(pitch) * size_t(rows);
    const std::vector<uint8_t> junk(bytes, 1);
    Device& device = *engine.device;
    EXPECT_TRUE(device.allocate(MemoryKind::kDevice, bytes, &memory).ok());
    EXPECT_TRUE(
        device
            .upload(device.queue(QueueKind::kUpload),
                    {memory->data(), ptrdiff_t(bytes), junk.data(), ptrdiff_t(bytes), bytes, 1})
            .ok());
  }
};

// A job of a case in flight, and what tells its time: its own timer, and one around it.
struct Flight {
  Dct8x8Job job;
  Plane samples, reference, coefs;
  std::unique_ptr<Memory> sums, times;
  std::unique_ptr<Timer> timer, around;
  FencePtr fence;

  static size_t sample_bytes(const Spec& spec) { return spec.depth == 8 ? 1 : 2; }
  static size_t coef_bytes(const Spec& spec) { return spec.type == CoefType::kS16 ? 2 : 4; }
  // Of a row of blocks, or of coefficients.
  static size_t coef_row(const Case& one) {
    const size_t a_block = one.spec.layout == Layout::kBlock ? 64 : 8;
    return size_t(one.width) / 8 * a_block * coef_bytes(one.spec);
  }

  Flight(const Engine& engine, const Case& one, Direction direction)
      : job(job_of(one.spec, direction, 1)),
        samples(engine, size_t(one.width) * sample_bytes(one.spec), one.height),
        reference(engine, size_t(one.width) * sample_bytes(one.spec), one.height),
        coefs(engine, coef_row(one),
              one.spec.layout == Layout::kBlock ? one.height / 8 : one.height),
        sums(make_sums(engine)),
        timer(engine.device->make_timer()),
        around(engine.device->make_timer()) {
    EXPECT_TRUE(engine.device->allocate(MemoryKind::kPinned, sizeof(Dct8x8Times), &times).ok());
    std::memset(times->data(), 0, sizeof(Dct8x8Times));
    SamplePlane& plane = job.samples[0];
    plane.data = samples.memory->data();
    plane.pitch = samples.pitch;
    plane.width = one.width;
    plane.height = one.height;
    if (one.spec.depth > 8) {
      plane.type = SampleType::kU16;
      plane.stride = 2;
    }
    job.reference[0] = plane;
    job.reference[0].data = reference.memory->data();
    // Without gaps, as the fast kernels want rows of blocks.
    job.coefs[0] = {coefs.memory->data(),
                    one.spec.layout == Layout::kBlock ? ptrdiff_t(coef_row(one)) : coefs.pitch,
                    one.width / 8, one.height / 8, 0};
    job.sums = static_cast<Dct8x8Sums*>(sums->data());
    job.times = static_cast<Dct8x8Times*>(times->data());
    job.timer = timer.get();
  }

  Status submit(const Engine& engine) {
    Queue& queue = engine.device->queue(QueueKind::kCompute);
    CT_RETURN_IF_ERROR(around->begin(queue));
    CT_RETURN_IF_ERROR(engine.ops->submit(*engine.device, queue, job, &fence));
    CT_RETURN_IF_ERROR(around->end(queue));
    return queue.record(&fence);
  }

  // Of the work alone, in ns. Sets *by_kernel if the kernel's own clock has told it.
  bool read(uint64_t* own, bool* by_kernel) const {
    const auto* told = static_cast<const Dct8x8Times*>(times->data());
    *by_kernel = told->end != 0;
    if (!*by_kernel) return timer->read_ns(own);
    *own = told->end - told->begin;
    return told->end >= told->begin;
  }
};

// Whether it is a kernel that reads the GPU's clock: those that measure, and those of the commonest
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
    const double blocks = one.width / 8.0 * one.height / 8.0;
    EXPECT_GT(double(own), blocks * 0.01) << name << ": no device is that fast";
    EXPECT_EQ(by_kernel, has_clock(engine, one)) << name;
  }
}

TEST(Times, EveryKernelTellsThem) {
  for (const Engine& engine : engines()) {
    engine.activate();
    for (const Case& one : cases(engine.device->is_host() ? 640 : 2560))
      for (const Direction direction : {Direction::kForward, Direction::kInverse})
        check(engine, one, direction);
  }
}

}  // namespace
}  // namespace cudatransform::test
