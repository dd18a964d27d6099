// The tests can fail: engines with one planted fault each, which the table of cases must find.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <vector>

#include "tests/engine/dct8x8/case_check.h"
#include "transform/dct8x8/engine.h"

namespace cudatransform::test {
namespace {

using Submit = Status (*)(Device&, Queue&, const Dct8x8Job&, FencePtr*);

Status right(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return portable_dct8x8_ops().submit(device, queue, job, fence);
}

uint8_t* byte_at(void* data, ptrdiff_t offset) { return static_cast<uint8_t*>(data) + offset; }

size_t coef_size(const Dct8x8Job& job) { return job.type == CoefType::kS16 ? 2 : 4; }

// The last sample of the last component.
uint8_t* last_sample(const Dct8x8Job& job) {
  const SamplePlane& p = job.samples[job.components - 1];
  return byte_at(p.data, (p.height - 1) * p.pitch + (p.width - 1) * p.stride);
}

Status spoil_a_level(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (job.direction == Direction::kForward && job.type == CoefType::kS16)
    static_cast<int16_t*>(job.coefs[0].data)[63] += 2;
  return status;
}

Status spoil_a_sample(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (job.direction == Direction::kInverse) *last_sample(job) ^= 2;
  return status;
}

Status leave_a_sample(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const uint8_t before = *last_sample(job);
  const Status status = right(device, queue, job, fence);
  if (job.direction == Direction::kInverse) *last_sample(job) = before;
  return status;
}

Status write_into_padding(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (job.direction == Direction::kForward) {
    const CoefPlane& p = job.coefs[0];
    const ptrdiff_t row = p.blocks_w * (job.layout == Layout::kBlock ? 64 : 8) *
                          static_cast<ptrdiff_t>(coef_size(job));
    if (p.pitch > row && p.blocks_h > 1) *byte_at(p.data, row) ^= 1;
  } else {
    const SamplePlane& p = job.samples[0];
    if (p.pitch > p.width * p.stride && p.height > 1) *byte_at(p.data, p.width * p.stride) ^= 1;
  }
  return status;
}

Status write_into_input(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  *static_cast<uint8_t*>(job.direction == Direction::kForward ? job.samples[0].data
                                                              : job.coefs[0].data) ^= 1;
  return status;
}

template <typename Change>
Status with_change(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence,
                   Change change) {
  Dct8x8Job changed = job;
  change(changed);
  return right(device, queue, changed, fence);
}

Status ignore_order(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) { j.order = Order::kRaster; });
}

Status ignore_table_index(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    for (int c = 0; c < j.components; ++c) j.coefs[c].table = 1;
  });
}

Status transpose_tables(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    for (QuantTable& table : j.tables)
      for (int v = 0; v < 8; ++v)
        for (int u = 0; u < v; ++u) std::swap(table.q[8 * v + u], table.q[8 * u + v]);
  });
}

Status swap_chroma(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    if (j.components == 3) std::swap(j.coefs[1].data, j.coefs[2].data);
    if (j.components == 3) std::swap(j.coefs[1].pitch, j.coefs[2].pitch);
  });
}

Status ignore_shift(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    for (SamplePlane& plane : j.samples) plane.shift = 0;
  });
}

Status forget_row_repeat(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    for (int c = 0; c < j.components; ++c) {
      j.samples[c].height = j.samples[c].rows();
      j.samples[c].row_repeat = 1;
    }
  });
}

Status use_float_for_islow(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    if (j.method == Method::kIslow) j.method = Method::kFloat;
  });
}

Status use_islow_for_float(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    if (j.method == Method::kFloat && j.depth == 8) j.method = Method::kIslow;
  });
}

Status miscount_zeros(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (job.sums != nullptr) job.sums->zeros[job.components - 1]++;
  return status;
}

Status misjudge_error(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (job.sums != nullptr) job.sums->sse[0] += 1 + job.sums->sse[0] / 1000;
  return status;
}

Status give_no_fence(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  fence->reset();
  return status;
}

// Blocks that are four samples wide instead of two, and so on.
Status mistake_the_scale(Device& device, Queue& queue, const Dct8x8Job& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](Dct8x8Job& j) {
    if (j.scale == 1 || j.scale == 8) return;
    j.scale *= 2;
    for (int c = 0; c < j.components; ++c) {
      SamplePlane& p = j.samples[c];
      p.width = scaled_size(p.width, 2);
      p.height = scaled_size(p.height, 2);
    }
  });
}

using Mutant = std::pair<const char*, Submit>;
constexpr Mutant kMutants[] = {
    {"a sample off by two", spoil_a_sample},  {"a sample not written", leave_a_sample},
    {"padding written", write_into_padding},  {"input written", write_into_input},
    {"order ignored", ignore_order},          {"table index ignored", ignore_table_index},
    {"tables transposed", transpose_tables},  {"chroma swapped", swap_chroma},
    {"shift ignored", ignore_shift},          {"rows not repeated", forget_row_repeat},
    {"float for islow", use_float_for_islow}, {"islow for float", use_islow_for_float},
    {"zeros miscounted", miscount_zeros},     {"no fence", give_no_fence},
};

// The unspoilt engine passes the same cases: what is found is the fault.
void expect_found(const std::vector<Case>& cases, size_t step, const std::vector<Mutant>& more) {
  const auto faults = [&](const Engine& engine) {
    int count = 0;
    for (size_t i = 0; i < cases.size(); i += step)
      count += !check_case(engine, cases[i], expect(cases[i])).empty();
    return count;
  };
  EXPECT_EQ(faults(portable_engine()), 0);
  std::vector<Mutant> mutants(std::begin(kMutants), std::end(kMutants));
  mutants.insert(mutants.end(), more.begin(), more.end());
  for (const auto& [name, submit] : mutants) {
    const Dct8x8Ops ops{name, submit};
    Engine mutant = portable_engine();
    mutant.name = name;
    mutant.ops = &ops;
    const int count = faults(mutant);
    std::printf("  %-22s found in %d of %zu cases\n", name, count,
                (cases.size() + step - 1) / step);
    EXPECT_GT(count, 0) << name;
  }
}

TEST(Mutants, AreAllFound) {
  if (engines().front().is_cuda) GTEST_SKIP() << "mutants are made of the portable engine";
  if (sanitized()) GTEST_SKIP() << "the subject is the tests' judgement, not memory";
  expect_found(all_cases().cases, quick() ? 37 : 11,
               {{"a level off by two", spoil_a_level}, {"error mismeasured", misjudge_error}});
}

TEST(Mutants, AreAllFoundScaled) {
  if (engines().front().is_cuda) GTEST_SKIP() << "mutants are made of the portable engine";
  if (sanitized()) GTEST_SKIP() << "the subject is the tests' judgement, not memory";
  expect_found(scaled_cases().cases, 7, {{"scale mistaken", mistake_the_scale}});
}

}  // namespace
}  // namespace cudatransform::test
