// Element cudadct8x8: raw video to 8x8 DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadct8x8
 * @title: cudadct8x8
 * @short_description: 8x8 forward DCT with quantization
 * @see_also: cudaidct8x8, jpegcoefenc
 *
 * Transforms raw video to quantized 8x8 DCT coefficients (video/x-dct), using CUDA or, with
 * identical output of the integer methods, the CPU. Each buffer carries its quantization tables.
 *
 * docs/elements/cudadct8x8.md is the manual.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! cudadct8x8 quality=75 measure=psnr \
 *   post-messages=true ! fakesink
 * ]| Prints the PSNR of the test picture at JPEG quality 75.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=90 ! cudadct8x8 bitrate=4000 ! jpegcoefenc ! avimux ! \
 *   filesink location=motion.avi
 * ]| Encodes Motion JPEG at 4000 kbit/s.
 *
 * Since: 1.0
 */

#include <string>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/dct_transform.h"
#include "gst/dct8x8/quant_settings.h"
#include "gst/elements.h"
#include "gst/engine/properties.h"

using namespace cudatransform;

GST_DEBUG_CATEGORY_STATIC(cudadct8x8_debug);

struct GstCudaDct8x8 {
  GstCudaDctBase parent;
};

struct GstCudaDct8x8Class {
  GstCudaDctBaseClass parent_class;
};

#define gst_cuda_dct_8x8_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaDct8x8, gst_cuda_dct_8x8, GST_TYPE_CUDA_DCT_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudadct8x8_debug, "cudadct8x8", 0,
                                                "CUDA 8x8 forward DCT"));
GST_ELEMENT_REGISTER_DEFINE(cudadct8x8, "cudadct8x8", GST_RANK_NONE, gst_cuda_dct_8x8_get_type());

#define GST_TYPE_CUDA_DCT_QUANTIZER (gst_cuda_dct_quantizer_get_type())
static GType gst_cuda_dct_quantizer_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(Quantizer::kRound), "Round to nearest", "round"},
      {int(Quantizer::kDeadZone), "Dead zone for small AC coefficients", "dead-zone"},
      {int(Quantizer::kRd), "Rate-distortion optimized", "rd"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaDctQuantizer", kValues);
  return type;
}

// We promise no tables that downstream requests: we write only our own. Downstream chooses the
// range.
static GstCaps* gst_cuda_dct_8x8_fixate_caps(GstBaseTransform* trans, GstPadDirection direction,
                                             GstCaps* caps, GstCaps* othercaps) {
  if (direction == GST_PAD_SINK)
    othercaps = choose_range(GST_BASE_TRANSFORM_SRC_PAD(trans), caps, othercaps);
  GstCaps* fixed =
      GST_BASE_TRANSFORM_CLASS(parent_class)->fixate_caps(trans, direction, caps, othercaps);
  if (direction != GST_PAD_SINK || gst_caps_is_any(fixed) || gst_caps_is_empty(fixed)) return fixed;
  fixed = gst_caps_make_writable(fixed);
  remove_tables(fixed);
  const ObjectLock lock(trans);
  transform_of<DctTransform>(trans).write_tables(fixed);
  return fixed;
}

// Converters upstream make the first colorimetry that we offer. Where the matrix is the same,
// videoconvert (GStreamer 1.22) writes full range into caps and leaves samples as they are: such
// frames are to come to us in limited range, and we convert them.
static gboolean gst_cuda_dct_8x8_query(GstBaseTransform* trans, GstPadDirection direction,
                                       GstQuery* query) {
  const gboolean handled = GST_BASE_TRANSFORM_CLASS(parent_class)->query(trans, direction, query);
  if (!handled || direction != GST_PAD_SINK || GST_QUERY_TYPE(query) != GST_QUERY_CAPS)
    return handled;
  const std::string limited = limited_range_upstream(GST_BASE_TRANSFORM_SINK_PAD(trans));
  if (limited.empty()) return handled;
  GstCaps* caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  caps = prefer_range_of_input(gst_caps_ref(caps), limited);
  gst_query_set_caps_result(query, caps);
  gst_caps_unref(caps);
  return handled;
}

static void gst_cuda_dct_8x8_init(GstCudaDct8x8*) {}

/**
 * GstCudaDct8x8:chroma-qtable:
 *
 * Chroma quantization table, 64 entries in natural order (empty = quant-preset).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:luma-qtable:
 *
 * Luma and RGB quantization table, 64 entries in natural order (empty = quant-preset).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:qtable-file:
 *
 * Quantization table file in cjpeg -qtables syntax (overrides all other tables).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:quality:
 *
 * JPEG quality, scaled as in libjpeg (quant-preset=annex-k or perceptual only).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:quant-preset:
 *
 * Quantization tables to use.
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:dead-zone:
 *
 * AC dead zone as a fraction of the quantizer step (quantizer=dead-zone only).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:quantizer:
 *
 * AC quantization method (8 bits; method=islow, ifast or float).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:rd-lambda:
 *
 * Lagrange multiplier of the rate-distortion optimization: squared error per bit, in quantizer
 * steps.
 *
 * Since: 1.0
 */

static void install_quant(GObjectClass* klass) {
  const auto quant = settings_of<&DctTransform::settings, &DctSettings::quant>();
  install_properties(klass, quant_properties(quant));
  install_properties(
      klass,
      {quant.row("quantizer", "Quantizer",
                 "AC quantization method (8 bits; method=islow, ifast or float)",
                 &QuantSettings::quantizer, {.type = GST_TYPE_CUDA_DCT_QUANTIZER}),
       quant.row("dead-zone", "Dead Zone",
                 "AC dead zone as a fraction of the quantizer step (quantizer=dead-zone only)",
                 &QuantSettings::dead_zone, {.min = 0.5, .max = 1}),
       quant.row("rd-lambda", "RD Lambda",
                 "Lagrange multiplier of the rate-distortion optimization: squared error per bit, "
                 "in quantizer steps",
                 &QuantSettings::rd_lambda, {.min = 0.001, .max = 1})});
}

/**
 * GstCudaDct8x8:target-size:
 *
 * Target size of each JPEG file in bytes (0 = disabled).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:max-size:
 *
 * Maximum size of each JPEG file in bytes (0 = unlimited).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:bitrate:
 *
 * Target bit rate in kbit/s (0 = disabled).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:vbv-buf-capacity:
 *
 * Size of the VBV buffer in milliseconds (0 = automatic).
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:min-quality:
 *
 * Minimum quality under rate control.
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:max-quality:
 *
 * Maximum quality under rate control.
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:active-quality:
 *
 * Quality of the last frame, fractional under rate control (-1 = none).
 *
 * Since: 1.0
 */

static void install_rate_control(GObjectClass* klass) {
  const auto rate = settings_of<&DctTransform::settings, &DctSettings::rate>();
  install_properties(
      klass,
      {rate.row("target-size", "Target Size",
                "Target size of each JPEG file in bytes (0 = disabled)", &RateSettings::target_size,
                {.max = G_MAXUINT}),
       rate.row("max-size", "Maximum Size",
                "Maximum size of each JPEG file in bytes (0 = unlimited)", &RateSettings::max_size,
                {.max = G_MAXUINT}),
       rate.row("bitrate", "Bit Rate", "Target bit rate in kbit/s (0 = disabled)",
                &RateSettings::bitrate, {.max = G_MAXUINT / 1000}),
       rate.row("vbv-buf-capacity", "VBV Buffer Capacity",
                "Size of the VBV buffer in milliseconds (0 = automatic)",
                &RateSettings::vbv_buf_capacity, {.max = 10000}),
       rate.row("min-quality", "Minimum Quality", "Minimum quality under rate control",
                &RateSettings::min_quality, {.min = 1, .max = 100}),
       rate.row("max-quality", "Maximum Quality", "Maximum quality under rate control",
                &RateSettings::max_quality, {.min = 1, .max = 100}),
       {g_param_spec_double("active-quality", "Active Quality",
                            "Quality of the last frame, fractional under rate control (-1 = none)",
                            -1, 100, -1, kReadOnly),
        [](GObject* object, GValue* value) {
          g_value_set_double(value, transform_of<DctTransform>(object).rate.result().quality);
        }}});
}

/**
 * GstCudaDct8x8:keep-reference:
 *
 * Attach the source frame for PSNR measurement by the inverse transform.
 *
 * Since: 1.0
 */

/**
 * GstCudaDct8x8:tables-in-caps:
 *
 * Also write quantization tables into the caps (table changes cause renegotiation).
 *
 * Since: 1.0
 */

static void install_others(GObjectClass* klass) {
  const auto dct = settings_of<&DctTransform::settings>();
  install_properties(
      klass,
      {keep_reference_property(),
       dct.row("tables-in-caps", "Tables in Caps",
               "Also write quantization tables into the caps (table changes cause renegotiation)",
               &DctSettings::tables_in_caps, {.flags = kUpToReady})});
}

static void gst_cuda_dct_8x8_class_init(GstCudaDct8x8Class* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  base_class->element_name = "cudadct8x8";
  base_class->category = cudadct8x8_debug;
  base_class->make_transform = make_transform<DctTransform, Direction::kForward>;
  GST_BASE_TRANSFORM_CLASS(klass)->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_8x8_fixate_caps);
  GST_BASE_TRANSFORM_CLASS(klass)->query = GST_DEBUG_FUNCPTR(gst_cuda_dct_8x8_query);
  install_quant(object_class);
  install_rate_control(object_class);
  install_others(object_class);
  gst_cuda_transform_base_add_templates(element_class, raw_template_caps(RgbFrames::kSources),
                                        dct_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "CUDA 8x8 Forward DCT", "Filter/Converter/Video/Hardware",
      "Computes 8x8 DCT coefficients of raw video using CUDA or the CPU",
      "The cudatransform authors");
}
