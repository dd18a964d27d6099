// The tests can fail: engines with one planted fault each, which the table of cases must find.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <iterator>
#include <utility>
#include <vector>

#include "tests/engine/dwt/case_check.h"
#include "transform/dwt/engine.h"

namespace cudatransform::test::dwt {
namespace {

using Submit = Status (*)(Device&, Queue&, const DwtJob&, FencePtr*);

Status right(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return portable_dwt_ops().submit(device, queue, job, fence);
}

uint8_t* byte_at(void* data, ptrdiff_t offset) { return static_cast<uint8_t*>(data) + offset; }

bool is_forward(const DwtJob& job) { return job.direction == Direction::kForward; }
ptrdiff_t coef_size(const DwtJob& job) { return job.type == DwtCoefType::kS16 ? 2 : 4; }

// The last sample of the last component.
uint8_t* last_sample(const DwtJob& job) {
  const SamplePlane& p = job.samples[job.components - 1];
  return byte_at(p.data, (p.height - 1) * p.pitch + ptrdiff_t{p.width - 1} * p.stride);
}

Status spoil_a_coefficient(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (is_forward(job)) *static_cast<uint8_t*>(job.coefs[0].data) ^= 1;
  return status;
}

Status spoil_a_sample(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (!is_forward(job)) *last_sample(job) ^= 1;
  return status;
}

Status leave_a_sample(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const uint8_t before = *last_sample(job);
  const Status status = right(device, queue, job, fence);
  if (!is_forward(job)) *last_sample(job) = before;
  return status;
}

Status write_into_padding(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  const SamplePlane& samples = job.samples[0];
  const ptrdiff_t row = is_forward(job)
                            ? dwt_padded_width(samples.width, job.levels) * coef_size(job)
                            : ptrdiff_t{samples.width} * samples.stride;
  const ptrdiff_t pitch = is_forward(job) ? job.coefs[0].pitch : samples.pitch;
  const int32_t rows =
      is_forward(job) ? dwt_padded_height(samples.height, job.levels) : samples.height;
  if (pitch > row && rows > 1)
    *byte_at(is_forward(job) ? job.coefs[0].data : samples.data, row) ^= 1;
  return status;
}

Status write_into_input(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  *static_cast<uint8_t*>(is_forward(job) ? job.samples[0].data : job.coefs[0].data) ^= 1;
  return status;
}

template <typename Change>
Status with_change(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence,
                   Change change) {
  DwtJob changed = job;
  change(changed);
  return right(device, queue, changed, fence);
}

template <Wavelet A, Wavelet B>
Status exchange(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) {
    for (Wavelet* wavelet : {&j.wavelet, &j.wavelet_ho})
      *wavelet = *wavelet == A ? B : *wavelet == B ? A : *wavelet;
    // One of a pair alone would be refused.
    if (j.wavelet == Wavelet::kJ2k53 || j.wavelet_ho == Wavelet::kJ2k53) j.wavelet = j.wavelet_ho;
    if (j.wavelet == Wavelet::kJ2k53 || j.wavelet_ho == Wavelet::kJ2k53) j.wavelet_ho = j.wavelet;
  });
}

Status use_one_filter(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) { j.wavelet = j.wavelet_ho; });
}

Status exchange_directions(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence,
                     [](DwtJob& j) { std::swap(j.wavelet, j.wavelet_ho); });
}

Status forget_a_horizontal_level(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) {
    if (j.levels.horizontal > 0 && j.levels.both > 0) --j.levels.horizontal;
  });
}

Status share_quantisers(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) {
    for (auto& component : j.quant_index)
      std::copy(std::begin(j.quant_index[0]), std::end(j.quant_index[0]), component);
  });
}

Status exchange_bands(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) {
    const int last = dwt_band_count(j.levels) - 1;
    if (j.levels.both == 0) return;
    for (auto& component : j.quant_index) std::swap(component[last - 1], component[last - 2]);
  });
}

Status mistake_an_index(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) { j.quant_index[0][0] ^= 1; });
}

Status swap_chroma(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) {
    if (j.components == 3) std::swap(j.coefs[1], j.coefs[2]);
  });
}

Status ignore_shift(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) {
    for (SamplePlane& plane : j.samples) plane.shift = 0;
  });
}

Status forget_row_repeat(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  return with_change(device, queue, job, fence, [](DwtJob& j) {
    for (int c = 0; c < j.components; ++c) {
      j.samples[c].height = j.samples[c].rows();
      j.samples[c].row_repeat = 1;
    }
  });
}

// Computes in 32 bits and leaves the wrapping to the store.
Status wrap_at_the_store_alone(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  if (!is_forward(job) || job.type != DwtCoefType::kS16) return right(device, queue, job, fence);
  std::vector<std::vector<int32_t>> wide;
  DwtJob changed = job;
  changed.type = DwtCoefType::kS32;
  for (int c = 0; c < job.components; ++c) {
    const int32_t width = dwt_padded_width(job.samples[c].width, job.levels);
    const int32_t height = dwt_padded_height(job.samples[c].height, job.levels);
    wide.emplace_back(static_cast<size_t>(width) * static_cast<size_t>(height));
    changed.coefs[c] = {wide.back().data(), ptrdiff_t{4} * width};
  }
  const Status status = right(device, queue, changed, fence);
  for (int c = 0; c < job.components; ++c) {
    const int32_t width = dwt_padded_width(job.samples[c].width, job.levels);
    for (size_t i = 0; i < wide[c].size(); ++i) {
      const auto y = static_cast<ptrdiff_t>(i) / width, x = static_cast<ptrdiff_t>(i) % width;
      *reinterpret_cast<int16_t*>(byte_at(job.coefs[c].data, y * job.coefs[c].pitch + 2 * x)) =
          static_cast<int16_t>(wide[c][i]);
    }
  }
  return status;
}

Status miscount_zeros(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (job.sums != nullptr) job.sums->zeros[job.components - 1]++;
  return status;
}

Status misjudge_error(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  if (job.sums != nullptr) job.sums->sse[0]++;
  return status;
}

Status give_no_fence(Device& device, Queue& queue, const DwtJob& job, FencePtr* fence) {
  const Status status = right(device, queue, job, fence);
  fence->reset();
  return status;
}

constexpr std::pair<const char*, Submit> kMutants[] = {
    {"a coefficient off by one", spoil_a_coefficient},
    {"a sample off by one", spoil_a_sample},
    {"a sample not written", leave_a_sample},
    {"padding written", write_into_padding},
    {"input written", write_into_input},
    {"legall53 for j2k53", exchange<Wavelet::kLegall53, Wavelet::kJ2k53>},
    {"haar without its shift", exchange<Wavelet::kHaar, Wavelet::kHaarShift>},
    {"dd97 for dd137", exchange<Wavelet::kDd97, Wavelet::kDd137>},
    {"one filter for both", use_one_filter},
    {"filters exchanged", exchange_directions},
    {"a level forgotten", forget_a_horizontal_level},
    {"quantisers shared", share_quantisers},
    {"bands exchanged", exchange_bands},
    {"an index off by one", mistake_an_index},
    {"chroma swapped", swap_chroma},
    {"shift ignored", ignore_shift},
    {"rows not repeated", forget_row_repeat},
    {"wrapped at the store", wrap_at_the_store_alone},
    {"zeros miscounted", miscount_zeros},
    {"error mismeasured", misjudge_error},
    {"no fence", give_no_fence},
};

// The unspoilt engine passes the same cases: what is found is the fault.
TEST(DwtMutants, AreAllFound) {
  if (engines().front().is_cuda) GTEST_SKIP() << "mutants are made of the portable engine";
  if (sanitized()) GTEST_SKIP() << "the subject is the tests' judgement, not memory";
  std::vector<std::pair<Case, Expectation>> cases;
  for (size_t i = 0; i < all_cases().size(); i += quick() ? 23 : 11)
    cases.emplace_back(all_cases()[i], expect(all_cases()[i]));
  const auto faults = [&](const Engine& engine) {
    int count = 0;
    for (const auto& [test, expectation] : cases)
      count += !check_case(engine, test, expectation).empty();
    return count;
  };
  EXPECT_EQ(faults(portable_engine()), 0);
  for (const auto& [name, submit] : kMutants) {
    const DwtOps ops{name, submit};
    Engine mutant = portable_engine();
    mutant.name = name;
    mutant.dwt_ops = &ops;
    const int count = faults(mutant);
    std::printf("  %-24s found in %d of %zu cases\n", name, count, cases.size());
    EXPECT_GT(count, 0) << name;
  }
}

}  // namespace
}  // namespace cudatransform::test::dwt
