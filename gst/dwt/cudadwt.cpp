// Element cudadwt: raw video to wavelet coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadwt
 * @title: cudadwt
 * @short_description: integer wavelet transform with quantization
 * @see_also: cudaidwt
 *
 * Transforms raw video to quantized integer wavelet coefficients (video/x-dwt) with the filters of
 * Dirac, VC-2 and JPEG 2000, using CUDA or, with identical output, the CPU. It is lossless with
 * #GstCudaDwt:quant-index 0. Each buffer carries the quantization index of each band.
 *
 * docs/elements/cudadwt.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! cudadwt wavelet=dd97 quant-index=16 \
 *   measure=psnr+zeros post-messages=true ! fakesink
 * ]| Prints the PSNR of the reconstruction and the fraction of zero coefficients.
 *
 * Since: 1.0
 */

#include "gst/dwt/coefficients.h"
#include "gst/dwt/dwt_transform.h"
#include "gst/elements.h"
#include "gst/engine/properties.h"

using namespace cudatransform;

GST_DEBUG_CATEGORY_STATIC(cudadwt_debug);

struct GstCudaDwt {
  GstCudaDwtBase parent;
};

struct GstCudaDwtClass {
  GstCudaDwtBaseClass parent_class;
};

G_DEFINE_TYPE_WITH_CODE(GstCudaDwt, gst_cuda_dwt, GST_TYPE_CUDA_DWT_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudadwt_debug, "cudadwt", 0,
                                                "CUDA wavelet transform"));
GST_ELEMENT_REGISTER_DEFINE(cudadwt, "cudadwt", GST_RANK_NONE, gst_cuda_dwt_get_type());

namespace {
constexpr GEnumValue kSame = {DwtSettings::kSameWavelet, "Same as wavelet", "same"};
constexpr GEnumValue kWavelets[] = {
    {GST_DWT_WAVELET_DD97, "Deslauriers-Dubuc (9, 7)", "dd97"},
    {GST_DWT_WAVELET_LEGALL53, "LeGall (5, 3)", "legall53"},
    {GST_DWT_WAVELET_DD137, "Deslauriers-Dubuc (13, 7)", "dd137"},
    {GST_DWT_WAVELET_HAAR, "Haar, no shift", "haar"},
    {GST_DWT_WAVELET_HAAR_SHIFT, "Haar, single shift per level", "haar-shift"},
    {GST_DWT_WAVELET_FIDELITY, "Fidelity", "fidelity"},
    {GST_DWT_WAVELET_DAUB97, "Daubechies (9, 7), integer", "daub97"},
    {GST_DWT_WAVELET_J2K53, "JPEG 2000 reversible (5, 3)", "j2k53"},
    {0, nullptr, nullptr},
};
}  // namespace

#define GST_TYPE_CUDA_DWT_WAVELET (gst_cuda_dwt_wavelet_get_type())
static GType gst_cuda_dwt_wavelet_get_type(void) {
  static const GType type = register_values("GstCudaDwtWavelet", kWavelets);
  return type;
}

#define GST_TYPE_CUDA_DWT_WAVELET_HO (gst_cuda_dwt_wavelet_ho_get_type())
static GType gst_cuda_dwt_wavelet_ho_get_type(void) {
  static GEnumValue values[1 + G_N_ELEMENTS(kWavelets)] = {kSame};
  static const GType type = [] {
    for (size_t i = 0; i < G_N_ELEMENTS(kWavelets); i++) values[i + 1] = kWavelets[i];
    return register_values("GstCudaDwtWaveletHo", values);
  }();
  return type;
}

static void gst_cuda_dwt_init(GstCudaDwt*) {}

// The next frame negotiates the new caps first. If no such transform exists, that frame fails.
static void reshape(GObject* object, bool /*differs*/) {
  const bool exists = [object] {
    const ObjectLock lock(object);
    return check_transform(transform_of<DwtTransform>(object).settings).ok();
  }();
  if (exists) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
}

/**
 * GstCudaDwt:wavelet:
 *
 * Wavelet filter (vertical filter if wavelet-ho differs).
 *
 * Since: 1.0
 */

/**
 * GstCudaDwt:wavelet-ho:
 *
 * Horizontal wavelet filter (j2k53 requires wavelet=j2k53).
 *
 * Since: 1.0
 */

/**
 * GstCudaDwt:levels:
 *
 * Number of 2D decomposition levels.
 *
 * Since: 1.0
 */

/**
 * GstCudaDwt:levels-ho:
 *
 * Number of additional horizontal-only decomposition levels.
 *
 * Since: 1.0
 */

static void install_shape(GObjectClass* klass) {
  const auto dwt = settings_of<&DwtTransform::settings>();
  install_properties(
      klass,
      {dwt.row("wavelet", "Wavelet", "Wavelet filter (vertical filter if wavelet-ho differs)",
               &DwtSettings::wavelet, {.type = GST_TYPE_CUDA_DWT_WAVELET, .changed = reshape}),
       dwt.row("wavelet-ho", "Horizontal Wavelet",
               "Horizontal wavelet filter (j2k53 requires wavelet=j2k53)", &DwtSettings::wavelet_ho,
               {.type = GST_TYPE_CUDA_DWT_WAVELET_HO, .changed = reshape}),
       dwt.row("levels", "Levels", "Number of 2D decomposition levels", &DwtSettings::levels,
               {.max = GST_DWT_MAX_LEVELS, .changed = reshape}),
       dwt.row("levels-ho", "Horizontal-Only Levels",
               "Number of additional horizontal-only decomposition levels", &DwtSettings::levels_ho,
               {.max = GST_DWT_MAX_LEVELS_HO, .changed = reshape})});
}

/**
 * GstCudaDwt:quant-index:
 *
 * VC-2 quantization index (0 = no quantization, +4 doubles the step).
 *
 * Since: 1.0
 */

/**
 * GstCudaDwt:quant-matrix:
 *
 * Offsets subtracted from quant-index per band: flat, vc2 or a list such as <5, 3, 3, 0>.
 *
 * Since: 1.0
 */

static void install_quantizer(GObjectClass* klass) {
  const auto quant = settings_of<&DwtTransform::settings, &DwtSettings::quant>();
  install_properties(
      klass, {quant.row("quant-index", "Quantization Index",
                        "VC-2 quantization index (0 = no quantization, +4 doubles the step)",
                        &DwtQuantSettings::index,
                        {.max = GST_DWT_MAX_QUANT_INDEX, .flags = kControllable}),
              quant.row(
                  g_param_spec_string("quant-matrix", "Quantization Matrix",
                                      "Offsets subtracted from quant-index per band: flat, vc2 or "
                                      "a list such as <5, 3, 3, 0>",
                                      "flat", kWhilePlaying),
                  [](const DwtQuantSettings& settings, GValue* value) {
                    g_value_set_string(value, settings.matrix.c_str());
                  },
                  [](DwtQuantSettings& settings, const GValue* value) {
                    set_matrix(g_value_get_string(value), &settings);
                  })});
}

/**
 * GstCudaDwt:keep-reference:
 *
 * Attach the source frame for PSNR measurement by the inverse transform.
 *
 * Since: 1.0
 */

static void gst_cuda_dwt_class_init(GstCudaDwtClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  base_class->element_name = "cudadwt";
  base_class->category = cudadwt_debug;
  base_class->make_transform = make_transform<DwtTransform, Direction::kForward>;
  install_shape(object_class);
  install_quantizer(object_class);
  install_properties(object_class, {keep_reference_property()});
  gst_cuda_transform_base_add_templates(element_class, raw_template_caps(), dwt_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "CUDA Wavelet Transform", "Filter/Converter/Video/Hardware",
      "Computes integer wavelet coefficients of raw video using CUDA or the CPU",
      "The cudatransform authors");
}
