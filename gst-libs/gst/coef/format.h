// The common parts of coefficients of all transforms: their type, and the components of a picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GstCoefFormat:
 * @GST_COEF_FORMAT_UNKNOWN: none
 * @GST_COEF_FORMAT_S16LE: signed 16 bits, little endian
 * @GST_COEF_FORMAT_S32LE: signed 32 bits, little endian
 * @GST_COEF_FORMAT_F32LE: IEEE 754 single precision, little endian
 * @GST_COEF_FORMAT_F16LE: IEEE 754 half precision, little endian
 *
 * The type of one coefficient in memory.
 *
 * Since: 1.0
 */
typedef enum {
  GST_COEF_FORMAT_UNKNOWN,
  GST_COEF_FORMAT_S16LE,
  GST_COEF_FORMAT_S32LE,
  GST_COEF_FORMAT_F32LE,
  GST_COEF_FORMAT_F16LE,
} GstCoefFormat;

#define GST_TYPE_COEF_FORMAT (gst_coef_format_get_type())
GST_COEF_API GType gst_coef_format_get_type(void);

/**
 * gst_coef_format_to_string:
 * @format: a #GstCoefFormat
 *
 * Returns: (nullable): the spelling in caps, or %NULL for #GST_COEF_FORMAT_UNKNOWN
 *
 * Since: 1.0
 */
GST_COEF_API const gchar* gst_coef_format_to_string(GstCoefFormat format);

/**
 * gst_coef_format_from_string:
 * @string: (nullable): the spelling in caps
 *
 * Returns: the format, or #GST_COEF_FORMAT_UNKNOWN
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefFormat gst_coef_format_from_string(const gchar* string);

/**
 * gst_coef_format_size:
 * @format: a #GstCoefFormat
 *
 * Returns: the bytes of one coefficient, or 0 for #GST_COEF_FORMAT_UNKNOWN
 *
 * Since: 1.0
 */
GST_COEF_API guint gst_coef_format_size(GstCoefFormat format);

/**
 * GstCoefSampling:
 * @GST_COEF_SAMPLING_UNKNOWN: none
 * @GST_COEF_SAMPLING_GRAYSCALE: one component
 * @GST_COEF_SAMPLING_420: YCbCr-4:2:0, chroma halved in both directions
 * @GST_COEF_SAMPLING_422: YCbCr-4:2:2, chroma halved horizontally
 * @GST_COEF_SAMPLING_444: YCbCr-4:4:4
 * @GST_COEF_SAMPLING_440: YCbCr-4:4:0, chroma halved vertically
 * @GST_COEF_SAMPLING_411: YCbCr-4:1:1, chroma quartered horizontally
 * @GST_COEF_SAMPLING_RGB: red, green and blue, all at full size
 * @GST_COEF_SAMPLING_CMYK: CMYK-4:4:4: cyan, magenta, yellow and black, all at full size
 * @GST_COEF_SAMPLING_YCCK_420: YCCK-4:2:0: cyan, magenta and yellow as YCbCr-4:2:0, black at full
 *   size
 * @GST_COEF_SAMPLING_YCCK_422: YCCK-4:2:2
 * @GST_COEF_SAMPLING_YCCK_444: YCCK-4:4:4
 * @GST_COEF_SAMPLING_YCCK_440: YCCK-4:4:0
 * @GST_COEF_SAMPLING_YCCK_411: YCCK-4:1:1
 * @GST_COEF_SAMPLING_441: YCbCr-4:4:1, chroma quartered vertically: 4:1:1 rotated by 90 degrees
 * @GST_COEF_SAMPLING_YCCK_441: YCCK-4:4:1
 * @GST_COEF_SAMPLING_FACTORS: this bit is set in all others, which are values of
 *   gst_coef_sampling_from_factors(): the sampling factors of each component
 *
 * The components of a picture and their sizes relative to it.
 *
 * Since: 1.0
 */
typedef enum {
  GST_COEF_SAMPLING_UNKNOWN,
  GST_COEF_SAMPLING_GRAYSCALE,
  GST_COEF_SAMPLING_420,
  GST_COEF_SAMPLING_422,
  GST_COEF_SAMPLING_444,
  GST_COEF_SAMPLING_440,
  GST_COEF_SAMPLING_411,
  GST_COEF_SAMPLING_RGB,
  GST_COEF_SAMPLING_CMYK,
  GST_COEF_SAMPLING_YCCK_420,
  GST_COEF_SAMPLING_YCCK_422,
  GST_COEF_SAMPLING_YCCK_444,
  GST_COEF_SAMPLING_YCCK_440,
  GST_COEF_SAMPLING_YCCK_411,
  GST_COEF_SAMPLING_441,
  GST_COEF_SAMPLING_YCCK_441,
  GST_COEF_SAMPLING_FACTORS = 1 << 30,
} GstCoefSampling;

#define GST_TYPE_COEF_SAMPLING (gst_coef_sampling_get_type())
GST_COEF_API GType gst_coef_sampling_get_type(void);

/**
 * gst_coef_sampling_to_string:
 * @sampling: a #GstCoefSampling
 *
 * Samplings without a name are spelled by the factors of all components: "RGB-2x2,2x2,1x1".
 *
 * Returns: (nullable): the spelling in caps, or %NULL for #GST_COEF_SAMPLING_UNKNOWN
 *
 * Since: 1.0
 */
GST_COEF_API const gchar* gst_coef_sampling_to_string(GstCoefSampling sampling);

/**
 * gst_coef_sampling_from_string:
 * @string: (nullable): the spelling in caps
 *
 * Returns: the sampling, or #GST_COEF_SAMPLING_UNKNOWN
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefSampling gst_coef_sampling_from_string(const gchar* string);

/**
 * gst_coef_sampling_get_colorspace:
 * @sampling: a #GstCoefSampling
 *
 * Returns: (nullable): the only colorspace that caps with @sampling may name: "sYUV", "sRGB",
 *   "GRAY", "CMYK", "YCCK" or, of two components without colors, "2CLR"
 *
 * Since: 1.0
 */
GST_COEF_API const gchar* gst_coef_sampling_get_colorspace(GstCoefSampling sampling);

/**
 * gst_coef_sampling_from_factors:
 * @colorspace: (nullable): as of gst_coef_sampling_get_colorspace()
 * @h_samp: (array length=n_components): horizontal sampling factors, 1 to 4, as in a JPEG frame
 *   header
 * @v_samp: (array length=n_components): vertical sampling factors
 * @n_components: how many components the colorspace has
 *
 * Only the ratios of factors count: 2x2, 2x2, 2x2 are 1x1, 1x1, 1x1.
 *
 * Returns: the sampling, one with a name if there is one, or #GST_COEF_SAMPLING_UNKNOWN
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefSampling gst_coef_sampling_from_factors(const gchar* colorspace,
                                                            const guint* h_samp,
                                                            const guint* v_samp,
                                                            guint n_components);

/**
 * gst_coef_sampling_get_factors:
 * @sampling: a #GstCoefSampling
 * @component: which one
 * @h_samp: (out): the horizontal sampling factor, without a divisor common to all components
 * @v_samp: (out): the vertical sampling factor
 *
 * Returns: %FALSE if there is no such component
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_coef_sampling_get_factors(GstCoefSampling sampling, guint component,
                                                    guint* h_samp, guint* v_samp);

G_END_DECLS
