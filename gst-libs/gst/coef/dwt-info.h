// Caps of video/x-dwt and the geometry that they mean: the coefficients of an integer wavelet
// transform.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/format.h>
#include <gst/coef/prelude.h>

G_BEGIN_DECLS

/**
 * GST_DWT_MEDIA_TYPE:
 *
 * The name of the caps structure that describes wavelet coefficients.
 *
 * Since: 1.0
 */
#define GST_DWT_MEDIA_TYPE "video/x-dwt"

/**
 * GST_DWT_MAX_COMPONENTS:
 *
 * The number of components that fit. gst_dwt_info_set() accepts three at most: no codec has
 * wavelets of CMYK.
 *
 * Since: 1.0
 */
#define GST_DWT_MAX_COMPONENTS 4

/**
 * GST_DWT_MAX_LEVELS:
 *
 * The most levels that split both rows and columns.
 *
 * Since: 1.0
 */
#define GST_DWT_MAX_LEVELS 6

/**
 * GST_DWT_MAX_LEVELS_HO:
 *
 * The most levels that split rows alone, below the others.
 *
 * Since: 1.0
 */
#define GST_DWT_MAX_LEVELS_HO 4

/**
 * GST_DWT_MAX_BANDS:
 *
 * The most bands that a component can have: one of the coarsest level, one for each horizontal-only
 * level, three for each other level.
 *
 * Since: 1.0
 */
#define GST_DWT_MAX_BANDS 23

/**
 * GST_DWT_MAX_QUANT_INDEX:
 *
 * The largest quantizer index, whose factor is the last that fits 32 bits.
 *
 * Since: 1.0
 */
#define GST_DWT_MAX_QUANT_INDEX 115

/**
 * GstDwtWavelet:
 * @GST_DWT_WAVELET_DD97: Deslauriers-Dubuc (9, 7)
 * @GST_DWT_WAVELET_LEGALL53: LeGall (5, 3)
 * @GST_DWT_WAVELET_DD137: Deslauriers-Dubuc (13, 7)
 * @GST_DWT_WAVELET_HAAR: Haar without a shift between levels
 * @GST_DWT_WAVELET_HAAR_SHIFT: Haar with a shift of one bit between levels
 * @GST_DWT_WAVELET_FIDELITY: the fidelity filter, with eight taps a lifting step
 * @GST_DWT_WAVELET_DAUB97: Daubechies (9, 7) in integers
 * @GST_DWT_WAVELET_J2K53: the reversible filter of JPEG 2000 (ITU-T T.800, annex F)
 *
 * A wavelet filter. The first seven have the numbers of SMPTE ST 2042-1 (VC-2).
 *
 * Since: 1.0
 */
typedef enum {
  GST_DWT_WAVELET_DD97,
  GST_DWT_WAVELET_LEGALL53,
  GST_DWT_WAVELET_DD137,
  GST_DWT_WAVELET_HAAR,
  GST_DWT_WAVELET_HAAR_SHIFT,
  GST_DWT_WAVELET_FIDELITY,
  GST_DWT_WAVELET_DAUB97,
  GST_DWT_WAVELET_J2K53,
} GstDwtWavelet;

#define GST_TYPE_DWT_WAVELET (gst_dwt_wavelet_get_type())
GST_COEF_API GType gst_dwt_wavelet_get_type(void);

/**
 * gst_dwt_wavelet_to_string:
 * @wavelet: a #GstDwtWavelet
 *
 * Returns: (nullable): the spelling in caps, or %NULL for a value that is none
 *
 * Since: 1.0
 */
GST_COEF_API const gchar* gst_dwt_wavelet_to_string(GstDwtWavelet wavelet);

/**
 * gst_dwt_wavelet_from_string:
 * @string: (nullable): the spelling in caps
 * @wavelet: (out): the wavelet
 *
 * Returns: %FALSE, with @wavelet untouched, when @string names none
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dwt_wavelet_from_string(const gchar* string, GstDwtWavelet* wavelet);

/**
 * gst_dwt_choose_format:
 * @depth: bits of a sample
 * @wavelet: the filter of vertical steps
 * @wavelet_ho: the filter of horizontal steps
 * @levels: levels that split rows and columns
 * @levels_ho: levels that split rows alone
 *
 * The one format for coefficients of such a transform: #GST_COEF_FORMAT_S16LE if the values of
 * every picture of @depth bits fit 16 bits, #GST_COEF_FORMAT_S32LE otherwise.
 *
 * At 8 bits, with one filter and no horizontal-only levels, 16 bits hold haar, haar-shift and j2k53
 * up to 6 levels, legall53 up to 5, dd97, dd137 and daub97 up to 4, fidelity up to 3. Above 8 bits
 * coefficients have 32. Two filters, or horizontal-only levels, get 16 bits if the bound of the
 * largest value leaves an eighth of the range for roundings.
 *
 * Returns: the format, or #GST_COEF_FORMAT_UNKNOWN where there is no such transform
 *
 * Since: 1.0
 */
GST_COEF_API GstCoefFormat gst_dwt_choose_format(guint depth, GstDwtWavelet wavelet,
                                                 GstDwtWavelet wavelet_ho, guint levels,
                                                 guint levels_ho);

/**
 * GstDwtOrientation:
 * @GST_DWT_ORIENTATION_LL: low-pass in both directions: the coarsest level
 * @GST_DWT_ORIENTATION_L: low-pass of a horizontal-only level: the coarsest level, too
 * @GST_DWT_ORIENTATION_H: high-pass of a horizontal-only level
 * @GST_DWT_ORIENTATION_HL: high-pass horizontally, low-pass vertically
 * @GST_DWT_ORIENTATION_LH: low-pass horizontally, high-pass vertically
 * @GST_DWT_ORIENTATION_HH: high-pass in both directions
 *
 * The part of the picture that a band keeps.
 *
 * Since: 1.0
 */
typedef enum {
  GST_DWT_ORIENTATION_LL,
  GST_DWT_ORIENTATION_L,
  GST_DWT_ORIENTATION_H,
  GST_DWT_ORIENTATION_HL,
  GST_DWT_ORIENTATION_LH,
  GST_DWT_ORIENTATION_HH,
} GstDwtOrientation;

#define GST_TYPE_DWT_ORIENTATION (gst_dwt_orientation_get_type())
GST_COEF_API GType gst_dwt_orientation_get_type(void);

/**
 * GstDwtBand:
 * @level: 0 is the coarsest; horizontal-only levels follow, then the others
 * @orientation: the part of the picture that the band keeps
 * @x: column of its first coefficient in the component
 * @y: row of its first coefficient
 * @width: coefficients in a row
 * @height: rows
 *
 * One band of a component, and where it is in the pyramid.
 *
 * Since: 1.0
 */
typedef struct {
  guint level;
  GstDwtOrientation orientation;
  guint x;
  guint y;
  guint width;
  guint height;
  /*< private >*/
  gpointer _gst_reserved[2];
} GstDwtBand;

#define GST_TYPE_DWT_BAND (gst_dwt_band_get_type())
GST_COEF_API GType gst_dwt_band_get_type(void);

/**
 * GstDwtComponent:
 * @id: 1 Y, 2 Cb, 3 Cr; 'R', 'G', 'B'
 * @h_samp: horizontal sampling factor as in a JPEG frame header (4:2:0: 2, 1, 1)
 * @v_samp: vertical sampling factor
 * @width: samples in a row: picture width x @h_samp / largest h_samp, rounded up
 * @height: rows, likewise
 * @padded_width: coefficients in a row: @width, rounded up to a multiple of 2^(levels + levels_ho)
 * @padded_height: rows of coefficients: @height, rounded up to a multiple of 2^levels
 * @offset: bytes from the start of the buffer to the first coefficient
 * @stride: bytes from one row of coefficients to the next
 *
 * One component of a picture and where its pyramid of bands is in the buffer.
 *
 * Since: 1.0
 */
typedef struct {
  guint id;
  guint h_samp;
  guint v_samp;
  guint width;
  guint height;
  guint padded_width;
  guint padded_height;
  gsize offset;
  gsize stride;
  /*< private >*/
  gpointer _gst_reserved[2];
} GstDwtComponent;

#define GST_TYPE_DWT_COMPONENT (gst_dwt_component_get_type())
GST_COEF_API GType gst_dwt_component_get_type(void);

/**
 * GstDwtInfo:
 * @format: the type of a coefficient: what gst_dwt_choose_format() says
 * @wavelet: the filter of vertical steps
 * @wavelet_ho: the filter of horizontal steps; it decides whether there is a shift between levels
 * @levels: levels that split rows and columns, 0 to 6
 * @levels_ho: levels below them that split rows alone, 0 to 4; at least one level in all
 * @quantized: %TRUE: quantized coefficients, to be multiplied by the factors of #GstDwtMeta's
 *   quantizer indices; %FALSE: the transform's output
 * @depth: bits of the samples that the coefficients represent: 8, 10, 12 or 16
 * @sampling: the components and their relative sizes
 * @width: width of the picture in samples
 * @height: height of the picture in samples
 * @fps_n: numerator of the frame rate; 0/1 means variable or unknown
 * @fps_d: denominator of the frame rate
 * @n_components: components in use: 1 or 3
 * @components: (array fixed-size=4): the components in the default layout
 * @size: bytes of a buffer in the default layout
 *
 * The contents of video/x-dwt caps, and the default layout of a buffer in system memory:
 * components one after the other, rows without padding.
 *
 * Since: 1.0
 */
typedef struct {
  GstCoefFormat format;
  GstDwtWavelet wavelet;
  GstDwtWavelet wavelet_ho;
  guint levels;
  guint levels_ho;
  gboolean quantized;
  guint depth;
  GstCoefSampling sampling;
  gint width;
  gint height;
  gint fps_n;
  gint fps_d;
  guint n_components;
  GstDwtComponent components[GST_DWT_MAX_COMPONENTS];
  gsize size;
  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
} GstDwtInfo;

#define GST_TYPE_DWT_INFO (gst_dwt_info_get_type())
GST_COEF_API GType gst_dwt_info_get_type(void);

/**
 * gst_dwt_info_new: (constructor)
 *
 * Returns: (transfer full): an unfilled info, with all fields zero
 *
 * Since: 1.0
 */
GST_COEF_API GstDwtInfo* gst_dwt_info_new(void);

/**
 * gst_dwt_info_copy:
 * @info: an info
 *
 * Returns: (transfer full): a copy of @info
 *
 * Since: 1.0
 */
GST_COEF_API GstDwtInfo* gst_dwt_info_copy(const GstDwtInfo* info);

/**
 * gst_dwt_info_free:
 * @info: (nullable): an info of gst_dwt_info_new() or gst_dwt_info_copy()
 *
 * Since: 1.0
 */
GST_COEF_API void gst_dwt_info_free(GstDwtInfo* info);

/**
 * gst_dwt_info_set:
 * @info: (out caller-allocates): the info to fill
 * @wavelet: the filter of vertical steps
 * @wavelet_ho: the filter of horizontal steps; both or neither are #GST_DWT_WAVELET_J2K53
 * @levels: levels that split rows and columns, 0 to 6
 * @levels_ho: levels below them that split rows alone, 0 to 4; at least one level in all
 * @quantized: whether the coefficients are quantized
 * @depth: 8, 10, 12 or 16
 * @sampling: the components
 * @width: width of the picture, at least 1
 * @height: height of the picture, at least 1
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Fills @info, with the format of gst_dwt_choose_format(), an unknown frame rate and components in
 * the default layout.
 *
 * Returns: %FALSE, with @info zeroed, where a value is out of range or two of them do not go
 *   together
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dwt_info_set(GstDwtInfo* info, GstDwtWavelet wavelet,
                                       GstDwtWavelet wavelet_ho, guint levels, guint levels_ho,
                                       gboolean quantized, guint depth, GstCoefSampling sampling,
                                       gint width, gint height, gchar** reason);

/**
 * gst_dwt_info_from_caps:
 * @info: (out caller-allocates): the info to fill
 * @caps: fixed caps
 * @reason: (out) (optional) (nullable) (transfer full): on %FALSE, what was wrong and what was
 *   expected; else %NULL
 *
 * Returns: %FALSE, with @info zeroed, on anything that is not a complete, allowed video/x-dwt
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dwt_info_from_caps(GstDwtInfo* info, const GstCaps* caps, gchar** reason);

/**
 * gst_dwt_info_to_caps:
 * @info: an info that gst_dwt_info_set() or gst_dwt_info_from_caps() has filled
 *
 * Makes caps in system memory; the caller adds features and the fields that are not in #GstDwtInfo.
 *
 * Returns: (transfer full) (nullable): fixed caps, or %NULL when @info was never filled
 *
 * Since: 1.0
 */
GST_COEF_API GstCaps* gst_dwt_info_to_caps(const GstDwtInfo* info);

/**
 * gst_dwt_info_get_component:
 * @info: a filled info
 * @index: index of a component
 *
 * The same as the field, for languages that cannot read an array of structures.
 *
 * Returns: (transfer none) (nullable): the component, or %NULL when there is none
 *
 * Since: 1.0
 */
GST_COEF_API const GstDwtComponent* gst_dwt_info_get_component(const GstDwtInfo* info, guint index);

/**
 * gst_dwt_info_row_bytes:
 * @info: a filled info
 * @component: index of a component
 *
 * Returns: the bytes of a row of coefficients of @component without padding bytes after it
 *
 * Since: 1.0
 */
GST_COEF_API gsize gst_dwt_info_row_bytes(const GstDwtInfo* info, guint component);

/**
 * gst_dwt_info_get_n_bands:
 * @info: a filled info
 *
 * Returns: how many bands a component has: 1 + levels_ho + 3 x levels
 *
 * Since: 1.0
 */
GST_COEF_API guint gst_dwt_info_get_n_bands(const GstDwtInfo* info);

/**
 * gst_dwt_info_get_band:
 * @info: a filled info
 * @component: index of a component
 * @band: index of a band: 0 is LL, or L with horizontal-only levels; then, from the coarsest level
 *   on, H for each horizontal-only level, and HL, LH, HH for each other level
 * @geometry: (out caller-allocates): where the band is in the component's pyramid
 *
 * Coefficient (x, y) of the band is at byte offset + (@geometry.y + y) x stride + (@geometry.x + x)
 * x size of a coefficient of the buffer, with offset and stride of the component.
 *
 * Returns: %FALSE, with @geometry untouched, when there is no such component or band
 *
 * Since: 1.0
 */
GST_COEF_API gboolean gst_dwt_info_get_band(const GstDwtInfo* info, guint component, guint band,
                                            GstDwtBand* geometry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstDwtInfo, gst_dwt_info_free)

G_END_DECLS
