// What buffers of video/x-dwt mean: the coefficients of an integer wavelet transform, as in Dirac,
// VC-2 and JPEG 2000.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Functions are documented where they are defined (in this folder) and, with introspection data, in
// the GIR.
#pragma once

#include <gst/gst.h>

#include <gst/coef/fence.h>
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
 * How many components there is room for. No #GstCoefSampling has four yet, and
 * gst_dwt_meta_validate() refuses the fourth until then.
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
 * The largest quantiser index, whose factor is the last that fits 32 bits.
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
GST_COEF_API const gchar* gst_dwt_wavelet_to_string(GstDwtWavelet wavelet);
GST_COEF_API gboolean gst_dwt_wavelet_from_string(const gchar* string, GstDwtWavelet* wavelet);

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
 * What a band has kept of its picture.
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
 * @orientation: what the band has kept
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
 * One component of a picture and where its pyramid of bands lies in the buffer.
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
 * @quantized: %TRUE: levels, to be multiplied by the factors of #GstDwtMeta's quantiser indices;
 *   %FALSE: what the transform gives
 * @depth: bits of the samples that the coefficients stand for: 8, 10, 12 or 16
 * @sampling: the components and their relative sizes
 * @width: width of the picture in samples
 * @height: height of the picture in samples
 * @fps_n: numerator of the frame rate; 0/1 means variable or unknown
 * @fps_d: denominator of the frame rate
 * @n_components: components in use: 1 or 3
 * @components: (array fixed-size=4): the components in the default layout
 * @size: bytes of a buffer in the default layout
 *
 * Everything that video/x-dwt caps say, and the default layout of a buffer in system memory:
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
GST_COEF_API GstDwtInfo* gst_dwt_info_new(void);
GST_COEF_API GstDwtInfo* gst_dwt_info_copy(const GstDwtInfo* info);
GST_COEF_API void gst_dwt_info_free(GstDwtInfo* info);
GST_COEF_API gboolean gst_dwt_info_set(GstDwtInfo* info, GstDwtWavelet wavelet,
                                       GstDwtWavelet wavelet_ho, guint levels, guint levels_ho,
                                       gboolean quantized, guint depth, GstCoefSampling sampling,
                                       gint width, gint height, gchar** reason);
GST_COEF_API gboolean gst_dwt_info_from_caps(GstDwtInfo* info, const GstCaps* caps, gchar** reason);
GST_COEF_API GstCaps* gst_dwt_info_to_caps(const GstDwtInfo* info);
GST_COEF_API const GstDwtComponent* gst_dwt_info_get_component(const GstDwtInfo* info, guint index);
GST_COEF_API gsize gst_dwt_info_row_bytes(const GstDwtInfo* info, guint component);
GST_COEF_API guint gst_dwt_info_get_n_bands(const GstDwtInfo* info);
GST_COEF_API gboolean gst_dwt_info_get_band(const GstDwtInfo* info, guint component, guint band,
                                            GstDwtBand* geometry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstDwtInfo, gst_dwt_info_free)

/**
 * GstDwtQuantizers:
 * @indices: (array fixed-size=23): the index of each band, 0 (lossless) to %GST_DWT_MAX_QUANT_INDEX
 *
 * The quantiser indices of a component, in the order of gst_dwt_info_get_band().
 *
 * Since: 1.0
 */
typedef struct {
  guint8 indices[GST_DWT_MAX_BANDS];
} GstDwtQuantizers;

/**
 * GstDwtMeta:
 * @meta: the parent
 * @n_components: components in use
 * @components: (array fixed-size=4): the components and where they lie in this buffer
 * @quantizers: (array fixed-size=4): those of each component; zeros when the coefficients are not
 *   quantised
 * @fence: (nullable): when the coefficients are complete; %NULL: now
 *
 * What may change with every buffer of video/x-dwt. Immutable once the buffer has been pushed.
 * Copied with copies of the whole buffer only; the fence is shared.
 *
 * Who has not promised to wait for @fence (%GST_COEF_FENCE_API_TYPE) gets buffers whose
 * coefficients are complete. The library allocates the meta and may add fields at its end.
 *
 * Since: 1.0
 */
typedef struct {
  GstMeta meta;
  guint n_components;
  GstDwtComponent components[GST_DWT_MAX_COMPONENTS];
  GstDwtQuantizers quantizers[GST_DWT_MAX_COMPONENTS];
  GstCoefFence* fence;
} GstDwtMeta;

/**
 * GST_DWT_META_API_TYPE:
 *
 * The API of #GstDwtMeta. In the answer to an ALLOCATION query it has GStreamer's usual meaning, "I
 * read this meta", and promises nothing about fences: that is %GST_COEF_FENCE_API_TYPE. Producers
 * attach the meta in any case.
 *
 * Since: 1.0
 */
#define GST_DWT_META_API_TYPE (gst_dwt_meta_api_get_type())
#define GST_DWT_META_INFO (gst_dwt_meta_get_info())
GST_COEF_API GType gst_dwt_meta_api_get_type(void);
GST_COEF_API const GstMetaInfo* gst_dwt_meta_get_info(void);
GST_COEF_API GstDwtMeta* gst_buffer_add_dwt_meta(GstBuffer* buffer, const GstDwtInfo* info);
GST_COEF_API GstDwtMeta* gst_buffer_get_dwt_meta(GstBuffer* buffer);
GST_COEF_API const GstDwtComponent* gst_dwt_meta_get_component(const GstDwtMeta* meta, guint index);
GST_COEF_API gint gst_dwt_meta_get_quant_index(const GstDwtMeta* meta, guint component, guint band);
GST_COEF_API gboolean gst_dwt_meta_set_quant_index(GstDwtMeta* meta, guint component, guint band,
                                                   guint index);
GST_COEF_API void gst_dwt_meta_set_fence(GstDwtMeta* meta, GstCoefFence* fence);
GST_COEF_API gboolean gst_dwt_meta_validate(const GstDwtMeta* meta, const GstDwtInfo* info,
                                            gsize buffer_size, gchar** reason);

G_END_DECLS
