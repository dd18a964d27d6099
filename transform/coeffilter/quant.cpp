// Other tables for quantized coefficients on the CPU engine: rows of blocks over oneTBB.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/coeffilter/quant.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "transform/coeffilter/coefs_check.h"
#include "transform/device/host_threads.h"

namespace cudatransform {

namespace {

struct Sums {
  uint64_t sse = 0, zeros = 0;
};

int32_t requantized(int16_t qcoef, const RequantEntry& by, uint64_t* sse) {
  int32_t error;
  const int32_t made = requantized16(qcoef, by, &error);
  *sse += static_cast<uint64_t>(int64_t{error} * error);
  return made;
}
int32_t requantized(int32_t qcoef, const RequantEntry& by, uint64_t* sse) {
  int64_t error;
  const int32_t made = requantized32(qcoef, by, &error);
  *sse += static_cast<uint64_t>(error) * static_cast<uint64_t>(error);
  return made;
}

template <typename Qcoef, bool kMeasures>
class Requantizer {
 public:
  Requantizer(const RequantJob& job, int c)
      : from_(job.from[c]), to_(job.to[c]), rows_(coef_rows(from_, job.number, job.arrangement)) {
    const QuantTable &before = job.before[from_.table], &after = job.after[to_.table];
    for (int i = 0; i < 64; ++i) {
      const bool in_zigzag = job.arrangement == CoefArrangement::kZigzagBlock;
      const int natural = in_zigzag ? kNaturalOfZigzag[i] : i;
      entries_[i] = make_requant_entry(before.q[natural], after.q[natural]);
    }
    // A row of memory has the entries of whole blocks, or those of one of their rows.
    period_ = job.arrangement == CoefArrangement::kPlane ? 8 : 64;
  }

  int64_t rows() const { return rows_.count; }

  Sums requantize(int64_t row) const {
    const auto* from = row_of(from_, row);
    auto* to = row_of(to_, row);
    const RequantEntry* entries = entries_ + row * period_ % 64;
    const int64_t count = rows_.bytes / int64_t{sizeof(Qcoef)};
    Sums sums;
    for (int64_t at = 0; at < count; at += 8) {
      // Most quantized coefficients of pictures are zero, and stay so.
      if (are_zero(from + at)) {
        std::fill_n(to + at, 8, Qcoef{0});
        if constexpr (kMeasures) sums.zeros += 8;
        continue;
      }
      const RequantEntry* row_entries = entries + at % period_;
      for (int i = 0; i < 8; ++i) {
        uint64_t squared = 0;
        const int32_t made = requantized(from[at + i], row_entries[i], &squared);
        to[at + i] = static_cast<Qcoef>(made);
        if constexpr (kMeasures) {
          sums.sse += squared;
          sums.zeros += made == 0;
        }
      }
    }
    return sums;
  }

 private:
  static bool are_zero(const Qcoef* eight) {
    uint64_t words[sizeof(Qcoef)], any = 0;
    std::memcpy(words, eight, sizeof words);
    for (const uint64_t word : words) any |= word;
    return any == 0;
  }
  static Qcoef* row_of(const CoefArray& array, int64_t row) {
    return reinterpret_cast<Qcoef*>(static_cast<uint8_t*>(array.data) + row * array.pitch);
  }

  const CoefArray &from_, &to_;
  const CoefRows rows_;
  RequantEntry entries_[64];  // in the order of memory
  int period_;
};

template <typename Qcoef, bool kMeasures>
void requantize_planes(const RequantJob& job, HostThreads& threads) {
  for (int c = 0; c < job.components; ++c) {
    const Requantizer<Qcoef, kMeasures> requantizer(job, c);
    std::atomic<uint64_t> sse = 0, zeros = 0;
    threads.for_each(requantizer.rows(), [&](int64_t row) {
      const Sums sums = requantizer.requantize(row);
      if constexpr (kMeasures) {
        sse += sums.sse;
        zeros += sums.zeros;
      }
    });
    if (!kMeasures || c >= kMaxComponents) continue;
    if ((job.measure & kMeasureSse) != 0) job.sums->sse[c] = sse;
    if ((job.measure & kMeasureZeros) != 0) job.sums->zeros[c] = zeros;
  }
}

Status submit(Device& device, Queue& queue, const RequantJob& job, FencePtr* fence) {
  CT_RETURN_IF_ERROR(validate(job));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->begin(queue));
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory", [&](HostThreads& threads) -> Status {
    const bool is_short = job.number == CoefNumber::kS16;
    const auto work = job.measure != 0 ? is_short ? requantize_planes<int16_t, true>
                                                  : requantize_planes<int32_t, true>
                      : is_short ? requantize_planes<int16_t, false>
                                       : requantize_planes<int32_t, false>;
    work(job, threads);
    return {};
  }));
  if (job.timer != nullptr) CT_RETURN_IF_ERROR(job.timer->end(queue));
  return fence != nullptr ? queue.record(fence) : Status{};
}

}  // namespace

Status validate(const RequantJob& job) {
  if (job.number != CoefNumber::kS16 && job.number != CoefNumber::kS32)
    return job_error("coefficients of a float type, expected S16 or S32");
  if (!within(job.arrangement, CoefArrangement::kPlane))
    return job_error("band layout, expected block or plane");
  CT_RETURN_IF_ERROR(check_components(job.components));
  if (job.measure != 0 && job.sums == nullptr) return job_error("null sums with a measurement");
  for (int c = 0; c < job.components; ++c) {
    const CoefArray &from = job.from[c], &to = job.to[c];
    CT_RETURN_IF_ERROR(check_coefs({"input", c}, from, job.number, job.arrangement));
    CT_RETURN_IF_ERROR(check_coefs({"output", c}, to, job.number, job.arrangement));
    if (from.blocks_w != to.blocks_w || from.blocks_h != to.blocks_h)
      return job_error("input and output of component " + text(c) + " differ in blocks");
    CT_RETURN_IF_ERROR(check_table({"old table", c}, job.before, from.table, false));
    CT_RETURN_IF_ERROR(check_table({"new table", c}, job.after, to.table, true));
  }
  return {};
}

const RequantOps& host_requant_ops() {
  static constexpr RequantOps kOps = {"cpu", submit};
  return kOps;
}

}  // namespace cudatransform
