// What the library's files share: components of a sampling, refusals, fields of caps, places in a
// buffer, debug categories.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/coef/dct.h>
#include <gst/coef/dwt.h>
#include <gst/coef/format.h>

// One component of a picture, by the rules of a JPEG frame header: see #GstDctComponent.
struct GstCoefShape {
  guint id;
  guint h_samp;
  guint v_samp;
  guint width;
  guint height;
};

// The number of components; 0 for an invalid sampling.
guint gst_coef_sampling_components(GstCoefSampling sampling);
// Component `index`, below that number, of a picture of width x height samples.
GstCoefShape gst_coef_sampling_shape(GstCoefSampling sampling, guint index, gint width,
                                     gint height);
// Whether component `index` is chroma, which has separate quantization tables.
bool gst_coef_sampling_is_chroma(GstCoefSampling sampling, guint index);

namespace gstcoef {

// The copy function of boxed types of plain structs.
template <typename Struct>
Struct* copy_struct(const Struct* from) {
  return static_cast<Struct*>(g_memdup2(from, sizeof *from));
}

// Reports the reason of a refusal: to a debug category and, if requested, in a string.
class Refusal {
 public:
  // Sets *reason, if requested, to null: nothing is refused yet.
  Refusal(GstDebugCategory* category, gchar** reason);
  // Always FALSE, for `return refuse(...)`.
  gboolean operator()(const char* format, ...) const G_GNUC_PRINTF(2, 3);

 private:
  GstDebugCategory* const category_;
  gchar** const reason_;
};

// The fields that caps of every kind of coefficients have.
struct PictureFields {
  GstCoefFormat format;
  gboolean quantized;
  guint depth;
  GstCoefSampling sampling;
  gint width, height;
  gint fps_n, fps_d;
};

// The structure of fixed caps with that name, or null.
const GstStructure* fixed_structure(const GstCaps* caps, const char* media_type,
                                    const Refusal& refuse);
gboolean read_picture_fields(const GstStructure* s, PictureFields* fields, const Refusal& refuse);
// Whether such pictures exist, for any transform.
gboolean check_picture(GstCoefFormat format, guint depth, GstCoefSampling sampling, gint width,
                       gint height, const Refusal& refuse);

// A component's rows in a buffer.
struct Placement {
  gsize offset;
  gsize stride;
  gsize row_bytes;
  guint rows;
};

// Places `rows` rows of `row_bytes` bytes at *offset and moves it past them; false if the bytes do
// not fit a gssize.
bool place_rows(gsize row_bytes, guint rows, gsize* offset);
// Whether the rows of component `index` are in the buffer and are aligned to a coefficient.
gboolean check_placement(const Placement& p, GstCoefFormat format, guint index, gsize buffer_size,
                         const Refusal& refuse);
// Whether a buffer without meta is large enough for its Info.
template <typename Info>
gboolean check_size(const Info& info, gsize buffer_size, const Refusal& refuse) {
  if (buffer_size >= info.size) return TRUE;
  return refuse("a buffer of %" G_GSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT
                " for %d x %d %s %s",
                buffer_size, info.size, info.width, info.height,
                gst_coef_sampling_to_string(info.sampling), gst_coef_format_to_string(info.format));
}

// Whether a meta has as many components as an info.
template <typename Meta, typename Info>
gboolean check_count(const Meta& meta, const Info& info, const Refusal& refuse) {
  if (meta.n_components == info.n_components) return TRUE;
  return refuse("%u components in the meta, expected %u for %s", meta.n_components,
                info.n_components, gst_coef_sampling_to_string(info.sampling));
}

// Whether a component covers the right samples.
template <typename Component>
gboolean check_shape(const Component& c, const Component& wanted, guint index,
                     const Refusal& refuse) {
  if (c.id != wanted.id)
    return refuse("component %u has id %u, expected %u", index, c.id, wanted.id);
  if (c.width != wanted.width || c.height != wanted.height)
    return refuse("component %u is %u x %u samples in the meta, expected %u x %u", index, c.width,
                  c.height, wanted.width, wanted.height);
  return TRUE;
}

// Sampling factors mean ratios: 2x2, 2x2, 2x2 is 4:4:4 just like 1x1, 1x1, 1x1.
template <typename Meta, typename Info>
gboolean check_ratios(const Meta& meta, const Info& info, const Refusal& refuse) {
  const auto& luma = meta.components[0];
  const auto& wanted_luma = info.components[0];
  for (guint i = 0; i < info.n_components; i++) {
    const auto& c = meta.components[i];
    const auto& wanted = info.components[i];
    if (c.h_samp < 1 || c.h_samp > 4 || c.v_samp < 1 || c.v_samp > 4 ||
        c.h_samp * wanted_luma.h_samp != wanted.h_samp * luma.h_samp ||
        c.v_samp * wanted_luma.v_samp != wanted.v_samp * luma.v_samp)
      return refuse("sampling factors in the meta do not match %s",
                    gst_coef_sampling_to_string(info.sampling));
  }
  return TRUE;
}

// Whether a buffer's meta, which may be null, is valid; see gst_dct_meta_validate(). `missing`
// names what a buffer of quantized coefficients lacks without a meta. check_component(i) and
// check_quantizers() check the parts of a single transform.
template <typename Meta, typename Info, typename CheckComponent, typename CheckQuantizers>
gboolean validate(const Meta* meta, const Info& info, gsize buffer_size, const char* missing,
                  const Refusal& refuse, CheckComponent check_component,
                  CheckQuantizers check_quantizers) {
  if (meta == nullptr)
    return info.quantized ? refuse("a buffer of quantized coefficients without %s", missing)
                          : check_size(info, buffer_size, refuse);
  if (!check_count(*meta, info, refuse)) return FALSE;
  for (guint i = 0; i < info.n_components; i++)
    if (!check_shape(meta->components[i], info.components[i], i, refuse) || !check_component(i))
      return FALSE;
  return check_ratios(*meta, info, refuse) && check_quantizers();
}

}  // namespace gstcoef

// The category "dct".
GstDebugCategory* gst_dct_debug_category();

inline gstcoef::Refusal gst_dct_refusal(gchar** reason) {
  return {gst_dct_debug_category(), reason};
}

// The category "dwt".
GstDebugCategory* gst_dwt_debug_category();

// The wavelets, whose nicks caps have as names.
GEnumClass* gst_dwt_wavelet_class();

inline gstcoef::Refusal gst_dwt_refusal(gchar** reason) {
  return {gst_dwt_debug_category(), reason};
}

inline guint gst_dwt_band_count(guint levels, guint levels_ho) {
  return 1 + levels_ho + 3 * levels;
}
