// Element cudadct8x8: raw video to 8x8 DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadct8x8
 * @title: cudadct8x8
 * @see_also: cudaidct8x8
 *
 * Transforms raw video to 8x8 DCT coefficients (video/x-dct) and quantizes them, on a CUDA
 * device or, with the same result, on the CPU. The quantization tables travel with every buffer.
 *
 * docs/elements/cudadct8x8.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m videotestsrc num-buffers=10 ! cudadct8x8 quality=75 measure=psnr \
 *   post-messages=true ! fakesink
 * ]| Prints how much of the test picture a JPEG of quality 75 would keep, as PSNR.
 */

#include <string>

#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/dct_transform.h"
#include "gst/dct8x8/quant_settings.h"
#include "gst/elements.h"
#include "gst/engine/properties.h"

using cudatransform::DctSettings;
using cudatransform::DctTransform;
using cudatransform::install_properties;
using cudatransform::Quantizer;
using cudatransform::QuantSettings;
using cudatransform::RateSettings;
using cudatransform::RgbFrames;
using cudatransform::settings_of;
using cudatransform::transform_of;

GST_DEBUG_CATEGORY_STATIC(cudadct8x8_debug);

struct GstCudaDct8x8 {
  GstCudaDctBase parent;
};

struct GstCudaDct8x8Class {
  GstCudaDctBaseClass parent_class;
};

#define gst_cuda_dct_8x8_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaDct8x8, gst_cuda_dct_8x8, GST_TYPE_CUDA_DCT_BASE,
                        GST_DEBUG_CATEGORY_INIT(cudadct8x8_debug, "cudadct8x8", 0, "8x8 DCT"));
GST_ELEMENT_REGISTER_DEFINE(cudadct8x8, "cudadct8x8", GST_RANK_NONE, gst_cuda_dct_8x8_get_type());

#define GST_TYPE_CUDA_DCT_QUANTIZER (gst_cuda_dct_quantizer_get_type())
static GType gst_cuda_dct_quantizer_get_type(void) {
  static const GEnumValue kValues[] = {
      {int(Quantizer::kRound), "To the nearest level", "round"},
      {int(Quantizer::kDeadZone), "To the nearest level, but small AC coefficients to 0",
       "dead-zone"},
      {int(Quantizer::kRd), "By what a level costs in bits and in error", "rd"},
      {0, nullptr, nullptr},
  };
  static const GType type = cudatransform::register_values("GstCudaDctQuantizer", kValues);
  return type;
}

// We promise no tables that downstream asks for: we write only our own. Downstream says which range
// it prefers.
static GstCaps* gst_cuda_dct_8x8_fixate_caps(GstBaseTransform* trans, GstPadDirection direction,
                                             GstCaps* caps, GstCaps* othercaps) {
  if (direction == GST_PAD_SINK)
    othercaps = cudatransform::choose_range(GST_BASE_TRANSFORM_SRC_PAD(trans), caps, othercaps);
  GstCaps* fixed =
      GST_BASE_TRANSFORM_CLASS(parent_class)->fixate_caps(trans, direction, caps, othercaps);
  if (direction != GST_PAD_SINK || gst_caps_is_any(fixed) || gst_caps_is_empty(fixed)) return fixed;
  fixed = gst_caps_make_writable(fixed);
  cudatransform::remove_tables(fixed);
  const cudatransform::ObjectLock lock(trans);
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
  const std::string limited =
      cudatransform::limited_range_upstream(GST_BASE_TRANSFORM_SINK_PAD(trans));
  if (limited.empty()) return handled;
  GstCaps* caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  caps = cudatransform::prefer_range_of_input(gst_caps_ref(caps), limited);
  gst_query_set_caps_result(query, caps);
  gst_caps_unref(caps);
  return handled;
}

static void gst_cuda_dct_8x8_init(GstCudaDct8x8*) {}

static void install_quant(GObjectClass* klass) {
  const auto quant = settings_of<&DctTransform::settings, &DctSettings::quant>();
  install_properties(klass, quant_properties(quant));
  install_properties(
      klass, {quant.row("quantizer", "Quantizer",
                        "How AC coefficients of 8-bit pictures become levels; with method=islow, "
                        "ifast or float",
                        &QuantSettings::quantizer, {.type = GST_TYPE_CUDA_DCT_QUANTIZER}),
              quant.row("dead-zone", "Dead zone",
                        "With quantizer=dead-zone: AC coefficients below this part of their "
                        "table's entry become 0, to a thousandth",
                        &QuantSettings::dead_zone, {.least = 0.5, .most = 1}),
              quant.row("rd-lambda", "Lambda",
                        "With quantizer=rd: what a bit is worth, in squared levels of error; more "
                        "makes smaller files of lower quality",
                        &QuantSettings::rd_lambda, {.least = 0.001, .most = 1})});
}

static void install_rate_control(GObjectClass* klass) {
  const auto rate = settings_of<&DctTransform::settings, &DctSettings::rate>();
  install_properties(
      klass,
      {rate.row("target-size", "Target size",
                "Scale the tables so that each JPEG file has at most so many bytes, and hardly "
                "less (0 = do not)",
                &RateSettings::target_size, {.most = G_MAXUINT}),
       rate.row("max-size", "Maximum size",
                "Lower the quality of pictures whose JPEG file would have more bytes (0 = do not)",
                &RateSettings::max_size, {.most = G_MAXUINT}),
       rate.row("bitrate", "Bit rate",
                "Scale the tables so that the JPEG files of the stream have so many kbit/s (0 = do "
                "not)",
                &RateSettings::bitrate, {.most = G_MAXUINT / 1000}),
       rate.row("vbv-buf-capacity", "VBV buffer capacity",
                "With bitrate: the buffer that files must not overflow, in ms at that rate (0 = "
                "600, or four frames where these last longer)",
                &RateSettings::vbv_buf_capacity, {.most = 10000}),
       rate.row("min-quality", "Minimum quality",
                "The lowest quality that target-size, max-size and bitrate may choose",
                &RateSettings::min_quality, {.least = 1, .most = 100}),
       rate.row("max-quality", "Maximum quality",
                "The highest quality that target-size, max-size and bitrate may choose",
                &RateSettings::max_quality, {.least = 1, .most = 100}),
       {g_param_spec_double("active-quality", "Active quality",
                            "The quality of the last frame's tables, between whole numbers where "
                            "it was chosen; -1 for tables that have none",
                            -1, 100, -1, cudatransform::kReadOnly),
        [](GObject* object, GValue* value) {
          g_value_set_double(value, transform_of<DctTransform>(object).rate.result().quality);
        }}});
}

static void install_others(GObjectClass* klass) {
  const auto dct = settings_of<&DctTransform::settings>();
  install_properties(
      klass, {cudatransform::keep_reference_property("Attach the source frame to the coefficients, "
                                                     "so that cudaidct8x8 can measure PSNR against "
                                                     "it"),
              dct.row("tables-in-caps", "Tables in caps",
                      "Write the quantization tables into the caps as well, for files that keep no "
                      "metas; with it, new tables are new caps",
                      &DctSettings::tables_in_caps, {.flags = cudatransform::kUpToReady})});
}

static void gst_cuda_dct_8x8_class_init(GstCudaDct8x8Class* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  base_class->element_name = "cudadct8x8";
  base_class->category = cudadct8x8_debug;
  base_class->make_transform =
      cudatransform::make_transform<DctTransform, cudatransform::Direction::kForward>;
  GST_BASE_TRANSFORM_CLASS(klass)->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_dct_8x8_fixate_caps);
  GST_BASE_TRANSFORM_CLASS(klass)->query = GST_DEBUG_FUNCPTR(gst_cuda_dct_8x8_query);
  install_quant(object_class);
  install_rate_control(object_class);
  install_others(object_class);
  gst_cuda_transform_base_add_templates(element_class,
                                        cudatransform::raw_template_caps(RgbFrames::kSources),
                                        cudatransform::dct_template_caps());
  gst_element_class_set_static_metadata(
      element_class, "8x8 DCT", "Filter/Converter/Video/Hardware",
      "Transforms raw video to 8x8 DCT coefficients, on a CUDA device or on the CPU",
      "The cudatransform authors");
}
