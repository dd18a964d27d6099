// Names of wavelets, and the checks that keep kernels inside their buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dwt/dwt.h"

#include <string>

#include "transform/dwt/lifting.h"
#include "transform/dwt/quantizer.h"
#include "transform/picture_check.h"

namespace cudatransform {

namespace {

// As many as the DCT's blocks hold.
constexpr int64_t kMaxCoefs = int64_t{1} << 36;

int coef_bytes(DwtCoefType type) { return type == DwtCoefType::kS16 ? 2 : 4; }

bool is_wavelet(Wavelet wavelet) {
  return static_cast<unsigned>(wavelet) < static_cast<unsigned>(kWaveletCount);
}

Status check_wavelets(const DwtJob& job) {
  if (!is_wavelet(job.wavelet) || !is_wavelet(job.wavelet_ho)) {
    return job_error("unknown wavelet " + text(int(job.wavelet)) + " or horizontal wavelet " +
                     text(int(job.wavelet_ho)));
  }
  if (lifting(job.wavelet).rows_first != lifting(job.wavelet_ho).rows_first) {
    return job_error(std::string("wavelet ") + wavelet_name(job.wavelet) +
                     " with horizontal wavelet " + wavelet_name(job.wavelet_ho) +
                     ": j2k53 has another order of rows and columns, expected both or neither");
  }
  return {};
}

Status check_levels(DwtLevels levels) {
  if (levels.both < 0 || levels.both > kMaxDwtLevels) {
    return job_error(text(levels.both) + " levels, expected 0 to " + text(kMaxDwtLevels));
  }
  if (levels.horizontal < 0 || levels.horizontal > kMaxDwtLevelsHo) {
    return job_error(text(levels.horizontal) + " horizontal-only levels, expected 0 to " +
                     text(kMaxDwtLevelsHo));
  }
  if (levels.both + levels.horizontal == 0) return job_error("no levels, expected at least 1");
  return {};
}

Status check_format(const DwtJob& job) {
  if (!within(job.direction, Direction::kInverse) || !within(job.type, DwtCoefType::kS32) ||
      !within(job.method, DwtMethod::kSeparableSlab)) {
    return job_error("unknown direction, coefficient type or method");
  }
  CT_RETURN_IF_ERROR(check_depth(job.depth));
  CT_RETURN_IF_ERROR(check_wavelets(job));
  CT_RETURN_IF_ERROR(check_levels(job.levels));
  if (job.components != 1 && job.components != 3) {
    return job_error(text(job.components) + " components, expected 1 or 3");
  }
  return check_measuring(job.measure, job.sums, job.timer, job.times);
}

// Checks planes with memory up to the padded size.
Status check_room(const Where& where, const SamplePlane& plane, int64_t width) {
  if (plane.type != SampleType::kS16 || plane.row_repeat != 1 || plane.stride != 2)
    return where.error(
        "padded size with strided, repeated or unsigned samples, expected packed kS16");
  if (plane.pitch >= 2 * width) return {};
  return where.error("pitch " + text(plane.pitch) + ", expected at least " + text(2 * width) +
                     " for the padded size");
}

Status check_quantizers(const DwtJob& job, int component) {
  for (int band = 0; band < dwt_band_count(job.levels); ++band) {
    const int index = job.quant_index[component][band];
    if (index > kMaxQuantIndex) {
      return job_error("quantizer index " + text(index) + " of band " + text(band) +
                       " of component " + text(component) + ", expected at most " +
                       text(kMaxQuantIndex));
    }
  }
  return {};
}

}  // namespace

const char* wavelet_name(Wavelet wavelet) {
  return is_wavelet(wavelet) ? lifting(wavelet).name : "unknown";
}

Status validate(const DwtJob& job) {
  CT_RETURN_IF_ERROR(check_format(job));
  const bool inverse = job.direction == Direction::kInverse;
  int64_t coefs = 0;
  for (int c = 0; c < job.components; ++c) {
    const SamplePlane& samples = job.samples[c];
    CT_RETURN_IF_ERROR(check_samples({"samples", c}, samples, job.depth, kMaxSide, inverse));
    // Levels are shifted and samples clamped in one way a job.
    if (samples.type != job.samples[0].type) {
      return job_error("samples of component " + text(c) + " differ in type from the first's");
    }
    const int64_t width = dwt_padded_width(samples.width, job.levels);
    const int64_t height = dwt_padded_height(int32_t(component_rows(samples)), job.levels);
    const int bytes = coef_bytes(job.type);
    CT_RETURN_IF_ERROR(check_pitch({"coefficients", c}, job.coefs[c].data, job.coefs[c].pitch,
                                   width * bytes, height, bytes));
    CT_RETURN_IF_ERROR(check_quantizers(job, c));
    if (job.samples_have_room) CT_RETURN_IF_ERROR(check_room({"samples", c}, samples, width));
    if (inverse && (job.measure & kMeasureSse) != 0) {
      CT_RETURN_IF_ERROR(check_reference({"reference", c}, job.reference[c], samples, job.depth));
    }
    coefs += width * height;
    if (coefs > kMaxCoefs) {
      return job_error("more than " + text(kMaxCoefs) + " coefficients in one job");
    }
  }
  return {};
}

}  // namespace cudatransform
