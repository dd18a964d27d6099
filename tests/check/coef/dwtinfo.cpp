// Tests of GstDwtInfo: caps to geometry and back, bands, every kind of caps that must be refused,
// and when coefficients have 16 bits.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <gst/coef/coef.h>
#include "tests/check/frames.h"
#include "tests/check/testing.h"
#include "transform/dwt/bands.h"
#include "transform/dwt/lifting.h"

namespace {

constexpr GstDwtWavelet kWavelets[] = {GST_DWT_WAVELET_DD97,       GST_DWT_WAVELET_LEGALL53,
                                       GST_DWT_WAVELET_DD137,      GST_DWT_WAVELET_HAAR,
                                       GST_DWT_WAVELET_HAAR_SHIFT, GST_DWT_WAVELET_FIDELITY,
                                       GST_DWT_WAVELET_DAUB97,     GST_DWT_WAVELET_J2K53};
constexpr const char* kNames[] = {"dd97",       "legall53", "dd137",  "haar",
                                  "haar-shift", "fidelity", "daub97", "j2k53"};
constexpr GstCoefSampling kSamplings[] = {GST_COEF_SAMPLING_GRAYSCALE, GST_COEF_SAMPLING_420,
                                          GST_COEF_SAMPLING_422,       GST_COEF_SAMPLING_444,
                                          GST_COEF_SAMPLING_411,       GST_COEF_SAMPLING_RGB};

bool go_together(GstDwtWavelet a, GstDwtWavelet b) {
  return (a == GST_DWT_WAVELET_J2K53) == (b == GST_DWT_WAVELET_J2K53);
}

// Calls `visit` for every transform that there is.
template <typename Visit>
void visit_transforms(Visit visit) {
  for (GstDwtWavelet wavelet : kWavelets)
    for (GstDwtWavelet wavelet_ho : kWavelets)
      for (guint levels = 0; levels <= GST_DWT_MAX_LEVELS; levels++)
        for (guint ho = 0; ho <= GST_DWT_MAX_LEVELS_HO; ho++)
          if (go_together(wavelet, wavelet_ho) && levels + ho > 0)
            visit(wavelet, wavelet_ho, levels, ho);
}

CHECK_TEST(test_round_trip) {
  visit_transforms([](GstDwtWavelet wavelet, GstDwtWavelet wavelet_ho, guint levels, guint ho) {
    const guint pick = levels + 7 * ho + 3 * wavelet + 5 * wavelet_ho;
    const guint depth = static_cast<guint>((const int[]){8, 10, 12, 16}[pick % 4]);
    const GstCoefSampling sampling = kSamplings[pick % G_N_ELEMENTS(kSamplings)];
    GstDwtInfo info, back;
    gchar* reason = nullptr;
    fail_unless(gst_dwt_info_set(&info, wavelet, wavelet_ho, levels, ho, pick % 2, depth, sampling,
                                 1 + 37 * (pick % 5), 1 + 11 * (pick % 7), &reason),
                "%s", reason);
    fail_unless_equals_int(info.format,
                           gst_dwt_choose_format(depth, wavelet, wavelet_ho, levels, ho));
    g_autoptr(GstCaps) caps = gst_dwt_info_to_caps(&info);
    fail_unless(gst_caps_is_fixed(caps));
    fail_unless(gst_dwt_info_from_caps(&back, caps, &reason), "%s", reason);
    fail_unless(std::memcmp(&info, &back, sizeof info) == 0);
  });
}

// Figures computed by hand.
CHECK_TEST(test_figures) {
  GstDwtInfo info;
  fail_unless(gst_dwt_info_set(&info, GST_DWT_WAVELET_LEGALL53, GST_DWT_WAVELET_HAAR, 2, 1, TRUE, 8,
                               GST_COEF_SAMPLING_420, 17, 33, nullptr));
  fail_unless_equals_int(info.format, GST_COEF_FORMAT_S16LE);
  fail_unless_equals_int(info.components[0].padded_width, 24);
  fail_unless_equals_int(info.components[0].padded_height, 36);
  fail_unless_equals_int(info.components[1].width, 9);
  fail_unless_equals_int(info.components[1].padded_width, 16);
  fail_unless_equals_int(info.components[1].padded_height, 20);
  fail_unless_equals_uint64(info.components[1].offset, 1728);
  fail_unless_equals_uint64(info.components[2].offset, 2368);
  fail_unless_equals_uint64(info.components[0].stride, 48);
  fail_unless_equals_uint64(info.size, 3008);
  fail_unless_equals_uint64(gst_dwt_info_row_bytes(&info, 2), 32);
  fail_unless_equals_int(gst_dwt_info_get_n_bands(&info), 8);
  const struct {
    guint level;
    GstDwtOrientation orientation;
    guint x, y, width, height;
  } wanted[] = {
      {0, GST_DWT_ORIENTATION_L, 0, 0, 3, 9},     {1, GST_DWT_ORIENTATION_H, 3, 0, 3, 9},
      {2, GST_DWT_ORIENTATION_HL, 6, 0, 6, 9},    {2, GST_DWT_ORIENTATION_LH, 0, 9, 6, 9},
      {2, GST_DWT_ORIENTATION_HH, 6, 9, 6, 9},    {3, GST_DWT_ORIENTATION_HL, 12, 0, 12, 18},
      {3, GST_DWT_ORIENTATION_LH, 0, 18, 12, 18}, {3, GST_DWT_ORIENTATION_HH, 12, 18, 12, 18},
  };
  GstDwtBand band = {};
  for (guint b = 0; b < G_N_ELEMENTS(wanted); b++) {
    fail_unless(gst_dwt_info_get_band(&info, 0, b, &band));
    fail_unless_equals_int(band.level, wanted[b].level);
    fail_unless_equals_int(band.orientation, wanted[b].orientation);
    fail_unless(band.x == wanted[b].x && band.y == wanted[b].y, "band %u", b);
    fail_unless(band.width == wanted[b].width && band.height == wanted[b].height, "band %u", b);
  }
  band.x = 77;
  fail_if(gst_dwt_info_get_band(&info, 0, 8, &band));
  fail_if(gst_dwt_info_get_band(&info, 3, 0, &band));
  fail_unless_equals_int(band.x, 77);
  fail_unless(gst_dwt_info_get_component(&info, 2) == &info.components[2]);
  fail_unless(gst_dwt_info_get_component(&info, 3) == nullptr);

  GstDwtInfo* copy = gst_dwt_info_copy(&info);
  fail_unless(std::memcmp(copy, &info, sizeof info) == 0);
  gst_dwt_info_free(copy);
}

// The engines' bands are where the library places them; and each coefficient is in one band.
CHECK_TEST(test_bands) {
  visit_transforms([](GstDwtWavelet wavelet, GstDwtWavelet wavelet_ho, guint levels, guint ho) {
    if (wavelet != GST_DWT_WAVELET_HAAR || wavelet_ho != wavelet) return;
    GstDwtInfo info;
    fail_unless(gst_dwt_info_set(&info, wavelet, wavelet_ho, levels, ho, TRUE, 8,
                                 GST_COEF_SAMPLING_422, 70, 41, nullptr));
    const cudatransform::DwtLevels same = {static_cast<int>(levels), static_cast<int>(ho)};
    fail_unless_equals_int(gst_dwt_info_get_n_bands(&info), cudatransform::dwt_band_count(same));
    for (guint c = 0; c < 3; c++) {
      const GstDwtComponent& component = info.components[c];
      const auto width = static_cast<int>(component.width);
      const auto height = static_cast<int>(component.height);
      fail_unless_equals_int(component.padded_width, cudatransform::dwt_padded_width(width, same));
      fail_unless_equals_int(component.padded_height,
                             cudatransform::dwt_padded_height(height, same));
      std::vector<int> covered(gsize{component.padded_width} * component.padded_height);
      for (guint b = 0; b < gst_dwt_info_get_n_bands(&info); b++) {
        GstDwtBand band;
        fail_unless(gst_dwt_info_get_band(&info, c, b, &band));
        const cudatransform::DwtBand engine =
            cudatransform::dwt_band(same, static_cast<int>(component.padded_width),
                                    static_cast<int>(component.padded_height), static_cast<int>(b));
        fail_unless(static_cast<int>(band.x) == engine.x && static_cast<int>(band.y) == engine.y);
        fail_unless(static_cast<int>(band.width) == engine.width &&
                    static_cast<int>(band.height) == engine.height);
        for (guint y = 0; y < band.height; y++)
          for (guint x = 0; x < band.width; x++)
            covered.at((band.y + y) * component.padded_width + band.x + x)++;
      }
      fail_unless(std::all_of(covered.begin(), covered.end(), [](int n) { return n == 1; }));
    }
  });
}

CHECK_TEST(test_strings) {
  for (guint i = 0; i < G_N_ELEMENTS(kWavelets); i++) {
    fail_unless_equals_int(kWavelets[i], i);  // the numbers of VC-2
    fail_unless_equals_string(gst_dwt_wavelet_to_string(kWavelets[i]), kNames[i]);
    GstDwtWavelet wavelet;
    fail_unless(gst_dwt_wavelet_from_string(kNames[i], &wavelet));
    fail_unless_equals_int(wavelet, kWavelets[i]);
    fail_unless_equals_string(
        cudatransform::wavelet_name(static_cast<cudatransform::Wavelet>(kWavelets[i])), kNames[i]);
  }
  GstDwtWavelet wavelet = GST_DWT_WAVELET_HAAR;
  for (const char* wrong : {"", "LEGALL53", "daub9", "97"})
    fail_if(gst_dwt_wavelet_from_string(wrong, &wavelet), "%s", wrong);
  fail_if(gst_dwt_wavelet_from_string(nullptr, &wavelet));
  fail_unless_equals_int(wavelet, GST_DWT_WAVELET_HAAR);
}

constexpr char kGood[] =
    "video/x-dwt,format=S16LE,wavelet=dd97,wavelet-ho=dd97,levels=4,levels-ho=0,quantized=true,"
    "depth=8,sampling=YCbCr-4:2:0,colorspace=sYUV,width=64,height=48,framerate=25/1";

// One field of the good caps changed or (empty) removed, and a part of its name in the message.
struct Lie {
  const char* field;
  const char* value;
  const char* named;
};

constexpr Lie kLies[] = {
    {"format", "", "format"},
    {"format", "F32LE", "format=F32LE, expected S16LE for 8 bits, wavelet=dd97"},
    {"format", "S32LE", "format=S32LE, expected S16LE"},
    {"format", "(int)3", "format"},
    {"wavelet", "", "wavelet is (NULL), expected dd97, legall53"},
    {"wavelet", "haar2", "wavelet is haar2"},
    {"wavelet", "j2k53", "wavelet=j2k53 with wavelet-ho=dd97"},
    {"wavelet-ho", "", "wavelet-ho is (NULL)"},
    {"wavelet-ho", "j2k53", "j2k53 requires both"},
    {"levels", "", "levels is missing"},
    {"levels", "7", "levels=7, expected 0 to 6"},
    {"levels", "-1", "levels is missing or not an integer"},
    {"levels", "2147483647", "expected 0 to 6"},
    {"levels", "0", "levels + levels-ho must be at least 1"},
    {"levels", "5", "format=S16LE, expected S32LE for 8 bits, wavelet=dd97, wavelet-ho=dd97"},
    {"levels-ho", "", "levels-ho is missing"},
    {"levels-ho", "5", "levels-ho=5, expected 0 to 4"},
    {"quantized", "", "quantized"},
    {"quantized", "(int)1", "quantized"},
    {"depth", "9", "depth 9, expected 8, 10, 12 or 16"},
    {"depth", "10", "format=S16LE, expected S32LE for 10 bits"},
    {"depth", "(string)8", "depth"},
    {"sampling", "YCbCr-4:2:1", "sampling is YCbCr-4:2:1, expected"},
    {"colorspace", "sRGB", "colorspace sRGB contradicts sampling YCbCr-4:2:0"},
    {"width", "0", "size 0 x 48"},
    {"height", "-3", "size 64 x -3"},
    {"width", "2147483647", "exceed the address space"},
    {"framerate", "(string)fast", "framerate"},
    {"interlace-mode", "alternate", "alternate"},
};

CHECK_TEST(test_no_four_components) {
  GstDwtInfo info;
  g_autofree gchar* reason = nullptr;
  fail_if(gst_dwt_info_set(&info, GST_DWT_WAVELET_LEGALL53, GST_DWT_WAVELET_LEGALL53, 2, 0, TRUE, 8,
                           GST_COEF_SAMPLING_CMYK, 17, 33, &reason));
  fail_unless(std::strstr(reason, "CMYK-4:4:4 has four components") != nullptr, "%s", reason);
}

CHECK_TEST(test_refused_caps) {
  for (const Lie& lie : kLies) {
    g_autoptr(GstCaps) caps = testing::with_field(kGood, lie.field, lie.value);
    GstDwtInfo info;
    std::memset(&info, 0xa5, sizeof info);
    g_autofree gchar* reason = nullptr;
    fail_if(gst_dwt_info_from_caps(&info, caps, &reason), "%s=%s", lie.field, lie.value);
    fail_unless(reason != nullptr && std::strstr(reason, lie.named) != nullptr,
                "%s=%s: expected '%s' in '%s'", lie.field, lie.value, lie.named, reason);
    const GstDwtInfo zero = {};
    fail_unless(std::memcmp(&info, &zero, sizeof info) == 0, "info left half filled");
    fail_if(gst_dwt_info_from_caps(&info, caps, nullptr));
  }
  for (const char* text :
       {"ANY", "EMPTY", "video/x-dct", "video/x-raw,format=I420", "video/x-dwt,levels=[1,4]"}) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);
    GstDwtInfo info;
    g_autofree gchar* reason = nullptr;
    fail_if(gst_dwt_info_from_caps(&info, caps, &reason), "%s", text);
    fail_unless(reason != nullptr);
  }
}

// ---- 16 or 32 bits ----

CHECK_TEST(test_widths) {
  // Up to how many levels 16 bits hold 8-bit pictures.
  const guint fits[] = {4, 5, 4, 6, 6, 3, 4, 6};
  for (GstDwtWavelet w : kWavelets) {
    for (guint levels = 1; levels <= GST_DWT_MAX_LEVELS; levels++) {
      fail_unless_equals_int(gst_dwt_choose_format(8, w, w, levels, 0),
                             levels <= fits[w] ? GST_COEF_FORMAT_S16LE : GST_COEF_FORMAT_S32LE);
      for (guint depth : {10u, 12u, 16u})
        fail_unless_equals_int(gst_dwt_choose_format(depth, w, w, levels, 0),
                               GST_COEF_FORMAT_S32LE);
    }
  }
  for (const auto& none : {std::pair<guint, guint>{0, 0}, {7, 0}, {1, 5}})
    fail_unless_equals_int(gst_dwt_choose_format(8, GST_DWT_WAVELET_HAAR, GST_DWT_WAVELET_HAAR,
                                                 none.first, none.second),
                           GST_COEF_FORMAT_UNKNOWN);
}

// The gain of one stage over the samples of a line: of the low-pass, of the high-pass, and of every
// intermediate value. It follows the weights of all samples of a line of this length through the
// lifting steps.
struct Stage {
  double low, high, peak;
};
using Weights = std::vector<std::vector<double>>;

double largest_sum(const Weights& values) {
  double largest = 0;
  for (const auto& weights : values) {
    double sum = 0;
    for (double weight : weights) sum += std::fabs(weight);
    largest = std::max(largest, sum);
  }
  return largest;
}

Stage analyze(const cudatransform::Lifting& lifting, Weights* line) {
  const size_t half = line->size() / 2;
  Weights even, odd;
  for (size_t n = 0; n < half; n++) {
    even.push_back((*line)[2 * n]);
    odd.push_back((*line)[2 * n + 1]);
  }
  double peak = 0;
  for (int s = lifting.count - 1; s >= 0; s--) {
    const cudatransform::LiftingStep& step = lifting.steps[s];
    Weights& updated = step.updates_odd ? odd : even;
    const Weights& from = step.updates_odd ? even : odd;
    const double sign = (step.subtract ? 1 : -1) / static_cast<double>(1 << step.shift);
    for (size_t n = 0; n < half; n++) {
      for (int k = 0; k < step.count; k++) {
        const int at =
            std::clamp(static_cast<int>(n) + step.first + k, 0, static_cast<int>(half) - 1);
        for (size_t i = 0; i < updated[n].size(); i++)
          updated[n][i] += sign * step.taps[k] * from[static_cast<size_t>(at)][i];
      }
    }
    if (!lifting.wraps_at_end) peak = std::max(peak, largest_sum(updated));
  }
  *line = even;
  const double low = largest_sum(even), high = largest_sum(odd);
  return {low, high, std::max({low, high, peak})};
}

// Where coefficients have 16 bits, no 8-bit picture exceeds them, for any two filters and any
// levels.
CHECK_TEST(test_nothing_overflows) {
  constexpr size_t kSamples = 512;
  constexpr guint kStages = 7;  // from here on the bound goes on as it began
  std::vector<std::vector<Stage>> stages;
  for (GstDwtWavelet w : kWavelets) {
    Weights line(kSamples, std::vector<double>(kSamples));
    for (size_t i = 0; i < kSamples; i++) line[i][i] = 1;
    std::vector<Stage> of_wavelet = {{1, 1, 1}};
    for (guint stage = 0; stage < kStages; stage++)
      of_wavelet.push_back(
          analyze(cudatransform::lifting(static_cast<cudatransform::Wavelet>(w)), &line));
    stages.push_back(of_wavelet);
  }
  int narrow = 0;
  visit_transforms([&](GstDwtWavelet w, GstDwtWavelet w_ho, guint levels, guint ho) {
    if (gst_dwt_choose_format(8, w, w_ho, levels, ho) != GST_COEF_FORMAT_S16LE) return;
    const auto& lifting = cudatransform::lifting(static_cast<cudatransform::Wavelet>(w_ho));
    double largest = 0;
    for (guint stage = 1; stage <= std::min(levels + ho, kStages); stage++) {
      const Stage& rows = stages[w_ho][stage];
      const double scale = 127.5 * (1 << (lifting.shift_between_levels * stage));
      largest = std::max(largest, scale * rows.peak * stages[w][std::min(stage - 1, levels)].low);
      if (stage <= levels)
        largest = std::max(largest, scale * std::max(rows.low, rows.high) * stages[w][stage].peak);
    }
    // Roundings add up to 900 with two filters or horizontal-only levels; for others the worst
    // pictures have been tried (tests/engine/dwt).
    const double most = w == w_ho && ho == 0 ? 32767 : 32767 - 900;
    fail_unless(largest <= most, "%s, %s, %u, %u: %g", kNames[w], kNames[w_ho], levels, ho,
                largest);
    narrow++;
  });
  fail_unless(narrow > 300, "%d", narrow);
}

CHECK_TEST(test_two_filters) {
  const auto format = [](GstDwtWavelet w, GstDwtWavelet w_ho, guint levels, guint ho) {
    return gst_dwt_choose_format(8, w, w_ho, levels, ho);
  };
  // Each alone fits at 3 levels; legall53's shifts on top of fidelity's gain do not.
  fail_unless_equals_int(format(GST_DWT_WAVELET_FIDELITY, GST_DWT_WAVELET_LEGALL53, 3, 0),
                         GST_COEF_FORMAT_S32LE);
  fail_unless_equals_int(format(GST_DWT_WAVELET_LEGALL53, GST_DWT_WAVELET_FIDELITY, 3, 0),
                         GST_COEF_FORMAT_S16LE);
  fail_unless_equals_int(format(GST_DWT_WAVELET_HAAR, GST_DWT_WAVELET_LEGALL53, 4, 0),
                         GST_COEF_FORMAT_S16LE);
  fail_unless_equals_int(format(GST_DWT_WAVELET_LEGALL53, GST_DWT_WAVELET_LEGALL53, 3, 1),
                         GST_COEF_FORMAT_S16LE);
  fail_unless_equals_int(format(GST_DWT_WAVELET_LEGALL53, GST_DWT_WAVELET_LEGALL53, 5, 1),
                         GST_COEF_FORMAT_S32LE);
}

}  // namespace
