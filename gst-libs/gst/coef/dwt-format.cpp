// gst_dwt_choose_format(): whether coefficients of a wavelet transform fit 16 bits.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A transform whose values have wrapped still inverts to its picture, but quantized it is garbage.
// So 16 bits are for transforms whose values always fit, for any picture: kept ones and those
// between lifting steps. Between the steps of daub97 engines have 32 bits.
#include <algorithm>

#include <gst/coef/coef-private.h>

namespace {

// The growth of a line's values by one filter, stage by stage: how much larger than the samples
// they can be. Each number is the largest sum of the magnitudes by which samples contribute to a
// value, borders included, without the shifts, rounded up. tests/check/coef/dwtformat.cpp computes
// them from the lifting steps.
struct Growth {
  guint shift;      // bits between levels
  guint plain;      // levels of both directions, by this filter alone, at which 8 bits fit
  double low[6];    // of the low-pass of stage 1, 2, ...
  double peak[10];  // of any value of that stage, those between steps of 16 bits among them
};

// Indexed by GstDwtWavelet.
constexpr Growth kGrowths[] = {
    // dd97
    {1,
     4,
     {1.563, 1.63, 1.663, 1.66, 1.663, 1.664},
     {2.25, 2.743, 2.862, 2.873, 2.873, 2.873, 2.875, 2.877, 2.879, 2.88}},
    // legall53
    {1,
     5,
     {1.5, 1.625, 1.688, 1.697, 1.707, 1.712},
     {2, 2.5, 2.75, 2.805, 2.82, 2.842, 2.856, 2.861, 2.863, 2.866}},
    // dd137
    {1,
     4,
     {1.629, 1.661, 1.695, 1.695, 1.695, 1.695},
     {2.25, 2.893, 2.986, 2.998, 2.998, 2.998, 2.998, 2.998, 2.998, 2.998}},
    // haar
    {0, 6, {1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
    // haar-shift
    {1, 6, {1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
    // fidelity
    {0,
     3,
     {2.844, 6.075, 12.435, 25.047, 50.188, 100.424},
     {2.844, 6.075, 12.435, 25.047, 50.188, 100.424, 200.9, 401.8, 803.6, 1607.2}},
    // daub97
    {1,
     4,
     {1.699, 2.017, 2.433, 2.983, 3.661, 4.499},
     {2.11, 2.626, 3.139, 3.738, 4.583, 5.624, 6.914, 8.502, 10.456, 12.85}},
    // j2k53
    {0,
     6,
     {1.5, 1.625, 1.688, 1.697, 1.707, 1.712},
     {2, 2.5, 2.75, 2.805, 2.82, 2.842, 2.856, 2.861, 2.863, 2.866}},
};

// The largest possible value, by the rows' filter and the columns', without roundings.
double largest_value(const Growth& rows, const Growth& columns, guint levels, guint levels_ho) {
  double largest = 0;
  for (guint stage = 1; stage <= levels + levels_ho; stage++) {
    double vertical = 1;
    if (stage <= levels)
      vertical = columns.peak[stage - 1];
    else if (levels > 0)
      vertical = columns.low[levels - 1];
    const double shifts = static_cast<double>(1u << (rows.shift * stage));
    largest = std::max(largest, 127.5 * shifts * rows.peak[stage - 1] * vertical);
  }
  return largest;
}

}  // namespace

GstCoefFormat gst_dwt_choose_format(guint depth, GstDwtWavelet wavelet, GstDwtWavelet wavelet_ho,
                                    guint levels, guint levels_ho) {
  const auto of = static_cast<guint>(wavelet), of_rows = static_cast<guint>(wavelet_ho);
  if (of >= G_N_ELEMENTS(kGrowths) || of_rows >= G_N_ELEMENTS(kGrowths) ||
      levels > GST_DWT_MAX_LEVELS || levels_ho > GST_DWT_MAX_LEVELS_HO || levels + levels_ho == 0)
    return GST_COEF_FORMAT_UNKNOWN;
  if (depth != 8) return GST_COEF_FORMAT_S32LE;
  const Growth& columns = kGrowths[of];
  const Growth& rows = kGrowths[of_rows];
  const bool fits = of == of_rows && levels_ho == 0
                        ? levels <= columns.plain
                        : largest_value(rows, columns, levels, levels_ho) <= 28672;
  return fits ? GST_COEF_FORMAT_S16LE : GST_COEF_FORMAT_S32LE;
}
