// From a wavelet job to its launches: which kernels, in which order, with which parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dwt/plan.h"

#include <algorithm>

#include "cuda/common/divider.h"
#include "cuda/dwt/pipeline.h"
#include "cuda/dwt/tuning.h"
#include "transform/dwt/quantizer.h"

namespace cudatransform::cuda {
namespace {

int bytes_of(DwtCoefType type) { return type == DwtCoefType::kS16 ? 2 : 4; }

// Scratch memory is laid out in planes whose rows begin where any vector may.
constexpr int64_t kAlignment = 128;
int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

ValuesParams values_at(uint8_t* data, int64_t pitch) {
  ValuesParams values = {};
  values.data = data;
  values.pitch = pitch;
  values.factor = 4;
  return values;
}

ValuesParams moved(ValuesParams values, int64_t bytes) {
  values.data += bytes;
  return values;
}

bool haar(Wavelet wavelet) { return wavelet == Wavelet::kHaar || wavelet == Wavelet::kHaarShift; }

// ---- Quantizers ----

// The numbers of quantizer index `index`: see memory.cuh and packed*.cuh.
void set_quantizer(int index, ValuesParams* values) {
  const uint32_t factor = dwt_quant_factor(index);
  values->factor = factor;
  values->offset = dwt_quant_offset(index);
  int log2 = 0;
  while (factor >> (log2 + 1) != 0) ++log2;
  // Numbers above these make every level but 0 too large for lanes, and so do these.
  values->lane_quantizer =
      std::min(2 * values->offset + 1, 4096u) << 16 | 2 * std::min(factor, 8192u);
  values->scaled_factor = factor << 14;
  values->scaled_offset = (2 * values->offset + 1) << 13;
  values->reciprocal_shift = log2 - 2;
  values->reciprocal32 = static_cast<int32_t>((uint64_t{1} << (30 + log2)) / factor + 1);
  // 2^(18+s) / qf, and 1 more, with s of 8 or 16, so that it has 31 bits and the quotient of 16
  // bits is exact.
  const int skipped = factor < 512 ? 8 : 16;
  values->upper_reciprocal = static_cast<int32_t>((uint64_t{1} << (18 + skipped)) / factor + 1);
  values->upper_bytes = skipped == 8 ? 0x6521 : 0x7632;
  values->reciprocal64 =
      static_cast<uint64_t>((static_cast<unsigned __int128>(1) << (62 + log2)) / factor + 1);
}

bool is_quantized(const ValuesParams (&bands)[4]) {
  return std::any_of(bands, bands + 4, [](const ValuesParams& band) { return band.factor != 4; });
}

// The bias of levels in lanes, in both halves of a word: a power of two. Of every level that it
// makes positive the value is within lanes' limit, or the check of values sees that it is not: see
// packed_inverse.cuh.
uint32_t levels_bias(const ValuesParams (&bands)[4]) {
  uint32_t bias = 1024;
  for (const ValuesParams& band : bands)
    while (bias > 1 && (uint64_t{bias} * band.factor + band.offset + 2) / 4 > kMaxOfLevels)
      bias /= 2;
  return bias << 16 | bias;
}

}  // namespace

// The values that each level makes; see half().
size_t dwt_scratch_bytes(const DwtJob& job) {
  const int levels = job.levels.both + job.levels.horizontal;
  const int bytes = bytes_of(job.type);
  int64_t total = 0;
  for (int c = 0; c < job.components; ++c) {
    const int64_t width = dwt_padded_width(job.samples[c].width, job.levels);
    const int64_t height = dwt_padded_height(job.samples[c].rows(), job.levels);
    for (int back = 0; back < levels; ++back)
      total += aligned((width >> back) * bytes) * (height >> std::min(back, job.levels.both));
  }
  return static_cast<size_t>(total);
}

DwtPlan::DwtPlan(const DwtJob& job, Direction direction, uint8_t* scratch, PictureSums* sums,
                 bool compares, DwtKernelChoice choice)
    : job_(job),
      direction_(direction),
      scratch_(scratch),
      sums_(sums),
      compares_(compares),
      choice_(choice) {}

DwtPlan::Level DwtPlan::level(int index) const {
  return {index, index >= job_.levels.horizontal, index == 0, index == level_count() - 1};
}

int32_t DwtPlan::width_of(int component, int level) const {
  return dwt_padded_width(job_.samples[component].width, job_.levels) >>
         (level_count() - 1 - level);
}
int32_t DwtPlan::height_of(int component, int level) const {
  return dwt_padded_height(job_.samples[component].rows(), job_.levels) >>
         std::min(level_count() - 1 - level, job_.levels.both);
}

ValuesParams DwtPlan::band(int component, int index) const {
  const DwtPlane& plane = job_.coefs[component];
  const DwtBand band = dwt_band(job_.levels, width_of(component, level_count() - 1),
                                height_of(component, level_count() - 1), index);
  ValuesParams values = values_at(static_cast<uint8_t*>(plane.data) + band.y * plane.pitch +
                                      int64_t{band.x} * bytes_of(job_.type),
                                  plane.pitch);
  set_quantizer(job_.quant_index[component][index], &values);
  values.counts = sums_ != nullptr && !compares_ && (job_.measure & kMeasureZeros) != 0;
  return values;
}

ValuesParams DwtPlan::between(int component, int level) const {
  uint8_t* at = scratch_;
  for (int c = 0; c < job_.components; ++c)
    for (int l = 0; l < level_count(); ++l) {
      const int64_t pitch = aligned(int64_t{width_of(c, l)} * bytes_of(job_.type));
      if (c == component && l == level) return values_at(at, pitch);
      at += pitch * height_of(c, l);
    }
  return {};
}

// The finest level makes samples: the room that its values had is free.
ValuesParams DwtPlan::half(int component) const { return between(component, level_count() - 1); }

ValuesParams DwtPlan::low_band(const Level& level, int component) const {
  return level.first ? band(component, 0) : between(component, level.index - 1);
}
ValuesParams DwtPlan::high_band(const Level& level, int component, int kind) const {
  const int ho = job_.levels.horizontal;
  return band(component, level.both ? 1 + ho + 3 * (level.index - ho) + kind : 1 + level.index);
}

SamplesParams DwtPlan::samples(const SamplePlane& plane, bool written) const {
  SamplesParams made = {};
  made.data = written ? static_cast<uint8_t*>(plane.data) : nullptr;
  made.pitch = plane.pitch;
  made.stride = plane.stride;
  made.shift = plane.shift;
  made.width = plane.width;
  made.rows = plane.rows();
  made.memory_rows = plane.height;
  made.row_repeat = plane.row_repeat;
  made.bytes = plane.type == SampleType::kU8 ? 1 : 2;
  made.peak = (1 << job_.depth) - 1;
  const bool residual = plane.type == SampleType::kS16;
  const int32_t half = 1 << (job_.depth - 1);
  made.level_shift = residual ? 0 : half;
  made.low = residual ? INT16_MIN : -half;
  made.high = residual ? INT16_MAX : half - 1;
  const bool compares =
      direction_ == Direction::kInverse && sums_ != nullptr && (job_.measure & kMeasureSse) != 0;
  made.aligned = written && !compares && plane.stride == made.bytes && plane.row_repeat == 1 &&
                 reinterpret_cast<uintptr_t>(plane.data) % 16 == 0 && plane.pitch % 16 == 0;
  return made;
}

void DwtPlan::set_measuring(const Level& level, MeasureParams* measure) const {
  *measure = {};
  if (sums_ == nullptr) return;
  measure->sums = sums_;
  measure->zeros = !compares_ && (job_.measure & kMeasureZeros) != 0;
  measure->sse =
      level.last && direction_ == Direction::kInverse && (job_.measure & kMeasureSse) != 0;
}

// ---- Both directions together ----

bool DwtPlan::writes_values(const Level& level) const {
  if (!level.last || direction_ != Direction::kInverse || job_.type != DwtCoefType::kS16 ||
      !job_.samples_have_room || !is_fused(level))
    return false;
  for (int c = 0; c < job_.components; ++c)
    if (samples(job_.samples[c], true).aligned == 0) return false;
  return true;
}

// Further conditions of the fast kernels: nothing is measured, samples are bytes, and offsets
// within a plane have 32 bits.
bool DwtPlan::may_be_fast(const Level& level) const {
  if (choice_ == DwtKernelChoice::kOnePair || choice_ == DwtKernelChoice::kTwoPairs) return false;
  if (job_.type != DwtCoefType::kS16 || sums_ != nullptr || compares_) return false;
  for (int c = 0; c < job_.components; ++c) {
    const SamplesParams made = samples(job_.samples[c], true);
    if (level.last && !writes_values(level) &&
        (made.aligned == 0 || made.bytes != 1 || made.level_shift != 128))
      return false;
    const int64_t rows = height_of(c, level_count() - 1);
    if (std::max(job_.coefs[c].pitch, made.pitch) * rows > UINT32_MAX) return false;
  }
  return true;
}

int DwtPlan::pairs_a_lane(const Level& level, bool fast) const {
  const int bytes = bytes_of(job_.type);
  int most = fast ? 4 : 2;
  if (choice_ == DwtKernelChoice::kOnePair) most = 1;
  int64_t pairs = 0;
  for (int c = 0; c < job_.components; ++c) {
    const int32_t width = width_of(c, level.index) / 2;
    const int64_t height = height_of(c, level.index) / 2;
    while (width % most != 0) most /= 2;
    pairs += width * height;
    const auto data = reinterpret_cast<uintptr_t>(job_.coefs[c].data);
    const auto pitch = static_cast<uintptr_t>(job_.coefs[c].pitch);
    while ((data | pitch) % static_cast<uintptr_t>(most * bytes) != 0) most /= 2;
  }
  // Small levels are short of warps.
  if (choice_ != DwtKernelChoice::kFourPairs && pairs < kWarps.wanted * 32 * 4 * 2)
    most = std::min(most, 2);
  return most;
}

// Whether a level's warps may take their places while the level before still runs.
bool DwtPlan::may_wait_on_device(int index) const {
  // Forward, warps of the long filters have so many registers that waiting warps displace working
  // ones.
  const bool is_long = job_.wavelet == Wavelet::kFidelity || job_.wavelet == Wavelet::kDaub97;
  if (is_long && direction_ == Direction::kForward) return false;
  int64_t pairs = 0;
  for (int c = 0; c < job_.components; ++c)
    pairs += int64_t{width_of(c, index) / 2} * (height_of(c, index) / 2);
  return pairs <= kMaxWaitingPairs;
}

bool DwtPlan::is_fused(const Level& level) const {
  return level.both && job_.method == DwtMethod::kFused && choice_ != DwtKernelChoice::kSeparable &&
         (job_.wavelet == job_.wavelet_ho || (haar(job_.wavelet) && haar(job_.wavelet_ho)));
}

bool DwtPlan::takes_two(const Level& level) const {
  if (direction_ != Direction::kInverse || level.first || level.index + 2 != level_count())
    return false;
  const Level fine = this->level(level.index + 1);
  if (!is_fused(level) || !may_be_fast(level) || !may_be_fast(fine) || writes_values(fine) ||
      pairs_a_lane(fine, true) != 4 || !has_two_level_kernel(job_.wavelet))
    return false;
  int64_t samples = 0;
  for (int c = 0; c < job_.components; ++c)
    samples += int64_t{width_of(c, fine.index)} * height_of(c, fine.index);
  return samples >= kMinTwoLevelSamples || choice_ == DwtKernelChoice::kFourPairs;
}

void DwtPlan::set_bands(const Level& level, int component, TileParams* tile) const {
  tile->bands[0] = low_band(level, component);
  for (int kind = 0; kind < 3; ++kind) tile->bands[1 + kind] = high_band(level, component, kind);
  tile->levels_bias = is_quantized(tile->bands) ? levels_bias(tile->bands) : 0;
  tile->pairs_x = width_of(component, level.index) / 2;
  tile->pairs_y = height_of(component, level.index) / 2;
}

// The kernel dequantizes all high bands, by index 0 as well.
void DwtPlan::make_two_levels(const Level& coarse, const Level& fine, DwtLaunch* launch) const {
  make_fused(fine, launch);
  for (int c = 0; c < job_.components; ++c) {
    TileParams& tile = launch->fused.coarse[c];
    tile = {};
    set_bands(coarse, c, &tile);
    tile.full = between(c, coarse.index);
    tile.levels_bias = levels_bias(tile.bands);
    TileParams& finest = launch->fused.tiles[c];
    finest.levels_bias = levels_bias(finest.bands);
  }
  launch->kernel =
      dwt_kernel_number(KernelKind::kTwoLevels, job_.wavelet, direction_, bytes_of(job_.type), 4);
}

void DwtPlan::make_fused(const Level& level, DwtLaunch* launch) const {
  FusedParams& params = launch->fused;
  params = {};
  const bool may_be = may_be_fast(level);
  const int pairs = pairs_a_lane(level, may_be);
  const bool fast = may_be && pairs > 1;
  const bool two = level.last && level_count() > 1 && takes_two(this->level(level.index - 1));
  const StripShape shape =
      two ? strip_shape_of_two(job_.wavelet, pairs) : strip_shape(job_.wavelet, direction_, pairs);
  int64_t warps_a_row = 0;
  int32_t tallest = 0;
  for (int c = 0; c < job_.components; ++c) {
    warps_a_row += divide_up(width_of(c, level.index) / 2, shape.own_pairs);
    tallest = std::max(tallest, height_of(c, level.index) / 2);
  }
  const bool inverse = direction_ == Direction::kInverse;
  params.run = run_length(warps_a_row, tallest, shape.halo_rows, warps_of(job_.wavelet, fast, two));
  if (choice_ == DwtKernelChoice::kFourPairs) params.run = 8;
  params.shift = lifting(job_.wavelet_ho).shift_between_levels;
  const bool at_samples = level.last && !writes_values(level);
  params.at_samples = at_samples;
  // Values grow with each level, except without a shift between levels. Those of 8 bits are within
  // the limit of lanes.cuh in the two finest ones.
  params.packs = params.shift == 0 || level.index + 2 >= level_count() ||
                 choice_ == DwtKernelChoice::kFourPairs;
  params.two = 0x20002;
  params.max_doubled = 0x1ff01ff;
  params.more = 0x4000400;
  params.is_first = step_ == 0;
  // The next job's first kernel is likely to follow a job's last one.
  const int last = level_count() - 1;
  int next = inverse ? (level.last ? 0 : level.index + 1) : (level.first ? last : level.index - 1);
  if (inverse && takes_two(this->level(next))) ++next;
  params.successor_first = may_wait_on_device(next);
  set_measuring(level, &params.measure);
  uint32_t ctas = 0;
  for (int c = 0; c < kMaxComponents; ++c) {
    TileParams& tile = params.tiles[c];
    tile.first_cta = c < job_.components ? ctas : ~0u;
    if (c >= job_.components) continue;
    set_bands(level, c, &tile);
    tile.full = level.last && !at_samples
                    ? values_at(static_cast<uint8_t*>(job_.samples[c].data), job_.samples[c].pitch)
                    : between(c, level.index);
    const bool writes = direction_ == Direction::kForward || !compares_;
    tile.samples = samples(job_.samples[c], writes);
    tile.reference = samples(compares_ ? job_.samples[c] : job_.reference[c], true);
    tile.tiles_across = divide_up(tile.pairs_x, shape.own_pairs);
    ctas += divide_up(int64_t{tile.tiles_across} * divide_up(tile.pairs_y, params.run), kDwtWarps);
  }
  launch->is_pass = false;
  launch->waits_itself = fast;
  launch->ctas = ctas;
  const KernelKind kind = !fast        ? KernelKind::kFused
                          : at_samples ? KernelKind::kFastSamples
                                       : KernelKind::kFastValues;
  launch->kernel = dwt_kernel_number(kind, job_.wavelet, direction_, bytes_of(job_.type), pairs);
}

// ---- One direction at a time ----

void DwtPlan::set_segments(const Level& level, bool rows, int component, PassParams* pass) const {
  const int32_t width = width_of(component, level.index);
  const int32_t height = height_of(component, level.index);
  const bool synthesis_rows_first = lifting(job_.wavelet_ho).rows_first;
  // Whether the pass makes the level's values of two halves, or takes them apart; otherwise it is
  // between the halves and the bands.
  const bool whole = !level.both || rows != synthesis_rows_first;
  SegmentParams segment = {};
  segment.component = component;
  const int64_t bytes = bytes_of(job_.type);
  if (whole) {
    const ValuesParams both = half(component);
    segment.low = level.both ? both : low_band(level, component);
    segment.high = level.both ? moved(both, rows ? width / 2 * bytes : height / 2 * both.pitch)
                              : high_band(level, component, 0);
    segment.full = between(component, level.index);
    const bool writes = direction_ == Direction::kForward || !compares_;
    segment.samples = samples(job_.samples[component], writes);
    const SamplePlane* const compared = compares_ ? job_.samples : job_.reference;
    segment.reference = samples(compared[component], true);
    segment.pairs = (rows ? width : height) / 2;
    segment.lines = rows ? height : width;
    pass->segments[pass->segment_count++] = segment;
    return;
  }
  for (int side = 0; side < 2; ++side) {
    // Columns: LL over LH, then HL over HH. Rows: LL next to HL, then LH next to HH.
    const ValuesParams low = low_band(level, component), hl = high_band(level, component, 0),
                       lh = high_band(level, component, 1), hh = high_band(level, component, 2);
    segment.low = side == 0 ? low : rows ? lh : hl;
    segment.high = side == 1 ? hh : rows ? hl : lh;
    const ValuesParams both = half(component);
    segment.full = moved(both, side * (rows ? height / 2 * both.pitch : width / 2 * bytes));
    segment.pairs = (rows ? width : height) / 2;
    segment.lines = (rows ? height : width) / 2;
    pass->segments[pass->segment_count++] = segment;
  }
}

void DwtPlan::make_pass(const Level& level, bool rows, DwtLaunch* launch) const {
  PassParams& params = launch->pass;
  params = {};
  for (int c = 0; c < job_.components; ++c) set_segments(level, rows, c, &params);
  const bool whole = !level.both || rows != lifting(job_.wavelet_ho).rows_first;
  params.shift = whole && lifting(job_.wavelet_ho).shift_between_levels != 0;
  params.at_samples = whole && level.last;
  set_measuring(level, &params.measure);
  const Wavelet wavelet = rows ? job_.wavelet_ho : job_.wavelet;
  const StripShape shape = strip_shape(wavelet, direction_, 1);
  int64_t warps_a_row = 0;
  int32_t longest = 0;
  for (int i = 0; i < params.segment_count; ++i) {
    warps_a_row += divide_up(params.segments[i].lines, 32);
    longest = std::max(longest, params.segments[i].pairs);
  }
  params.run = run_length(warps_a_row, longest, shape.halo_rows, kWarps);
  uint32_t ctas = 0;
  for (int i = 0; i < params.segment_count; ++i) {
    SegmentParams& segment = params.segments[i];
    segment.first_cta = ctas;
    segment.tiles_across =
        rows ? divide_up(segment.pairs, shape.own_pairs) : divide_up(segment.lines, kDwtThreads);
    ctas += segment.tiles_across *
            (rows ? divide_up(segment.lines, kDwtWarps) : divide_up(segment.pairs, params.run));
  }
  launch->is_pass = true;
  launch->waits_itself = false;
  launch->ctas = ctas;
  const KernelKind kind = rows ? KernelKind::kRows : KernelKind::kColumns;
  launch->kernel = dwt_kernel_number(kind, wavelet, direction_, bytes_of(job_.type), 1);
}

bool DwtPlan::next(DwtLaunch* launch) {
  if (step_ == level_count()) return false;
  const bool inverse = direction_ == Direction::kInverse;
  const Level current = level(inverse ? step_ : level_count() - 1 - step_);
  if (takes_two(current)) {
    make_two_levels(current, level(current.index + 1), launch);
    step_ += 2;
    return true;
  }
  if (is_fused(current)) {
    make_fused(current, launch);
    ++step_;
    return true;
  }
  const bool rows_first = lifting(job_.wavelet_ho).rows_first == inverse;
  make_pass(current, !current.both || rows_first == (pass_ == 0), launch);
  if (++pass_ == (current.both ? 2 : 1)) {
    pass_ = 0;
    ++step_;
  }
  return true;
}

}  // namespace cudatransform::cuda
