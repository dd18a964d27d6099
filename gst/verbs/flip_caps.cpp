// Caps on the other side of a flip: sizes, sampling, tables and the shape of a pixel.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/verbs/flip_caps.h"

#include <string>
#include <vector>

#include <gst/coef/dct.h>
#include "gst/dct8x8/caps.h"
#include "gst/dct8x8/caps_tables.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"
#include "gst/verbs/flip_transform.h"

namespace cudatransform {
namespace {

// The sampling of the same components with rows and columns exchanged.
GstCoefSampling transposed(GstCoefSampling sampling) {
  constexpr GstCoefSampling kPairs[][2] = {
      {GST_COEF_SAMPLING_422, GST_COEF_SAMPLING_440},
      {GST_COEF_SAMPLING_411, GST_COEF_SAMPLING_441},
      {GST_COEF_SAMPLING_YCCK_422, GST_COEF_SAMPLING_YCCK_440},
      {GST_COEF_SAMPLING_YCCK_411, GST_COEF_SAMPLING_YCCK_441}};
  for (const auto& pair : kPairs)
    for (const int i : {0, 1})
      if (pair[i] == sampling) return pair[1 - i];
  return sampling;
}

void transpose_sampling(GstStructure* s) {
  std::vector<std::string> names;
  for (const std::string& name : strings_of(s, "sampling")) {
    const GstCoefSampling sampling = gst_coef_sampling_from_string(name.c_str());
    if (sampling != GST_COEF_SAMPLING_UNKNOWN)
      names.emplace_back(gst_coef_sampling_to_string(transposed(sampling)));
  }
  if (!names.empty()) set_strings(s, "sampling", names);
}

void exchange_sizes(GstStructure* s) {
  GValue sizes[2] = {G_VALUE_INIT, G_VALUE_INIT};
  constexpr const char* kFields[] = {"width", "height"};
  for (const int i : {0, 1})
    if (const GValue* value = gst_structure_get_value(s, kFields[i])) {
      g_value_init(&sizes[i], G_VALUE_TYPE(value));
      g_value_copy(value, &sizes[i]);
      gst_structure_remove_field(s, kFields[i]);
    }
  for (const int i : {0, 1})
    if (G_IS_VALUE(&sizes[i])) gst_structure_take_value(s, kFields[1 - i], &sizes[i]);
}

void turn_pixels(GstStructure* s) {
  gint n = 0, d = 0;
  if (gst_structure_get_fraction(s, "pixel-aspect-ratio", &n, &d) && n > 0)
    gst_structure_set(s, "pixel-aspect-ratio", GST_TYPE_FRACTION, d, n, nullptr);
  else
    gst_structure_remove_field(s, "pixel-aspect-ratio");
}

void leave_sizes_open(GstStructure* s) {
  for (const char* field : {"width", "height"})
    gst_structure_set(s, field, GST_TYPE_INT_RANGE, 1, G_MAXINT, nullptr);
}

// Whether sizes follow from the other side's alone.
bool keeps_all(const FlipRequest& request) {
  return request.left == 0 && request.top == 0 && request.width == 0 && request.height == 0 &&
         !(request.trim && (request.turn.mirrors_x || request.turn.mirrors_y));
}

void transpose_tables(GstStructure* s) {
  if (!gst_structure_has_field(s, "quantization-tables")) return;
  const CapsPtr caps(gst_caps_new_empty());
  gst_caps_append_structure(caps.get(), gst_structure_copy(s));
  guint16* values = nullptr;
  guint* of_component = nullptr;
  gsize n_values = 0;
  guint n_components = 0;
  const bool usable = gst_dct_caps_get_tables(caps.get(), &values, &n_values, &of_component,
                                              &n_components, nullptr);
  const GlibPtr<guint16> values_owner(values);
  const GlibPtr<guint> of_component_owner(of_component);
  remove_tables(caps.get());
  if (usable) {
    std::vector<guint16> turned(n_values);
    for (gsize i = 0; i < n_values; i++) turned[i] = values[i / 64 * 64 + i % 8 * 8 + i % 64 / 8];
    (void)gst_dct_caps_set_tables(caps.get(), turned.data(), n_values, of_component, n_components,
                                  nullptr);
  }
  for (const char* field : {"quantization-tables", "component-tables"}) {
    const GValue* made = gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), field);
    if (made)
      gst_structure_set_value(s, field, made);
    else
      gst_structure_remove_field(s, field);
  }
}

void transpose(GstStructure* s) {
  transpose_sampling(s);
  exchange_sizes(s);
  turn_pixels(s);
  transpose_tables(s);
}

}  // namespace

void flip_caps(GstStructure* s, const FlipRequest& request) {
  const CapsPtr caps(gst_caps_new_empty());
  gst_caps_append_structure(caps.get(), gst_structure_copy(s));
  if (request.turn.transposes) transpose(s);
  if (keeps_all(request)) return;
  GstDctInfo info;
  FlipPlan plan;
  if (gst_caps_is_fixed(caps.get()) && read_dct_caps(caps.get(), &info).ok() &&
      plan_flip(flip_picture(info), request, &plan).ok())
    gst_structure_set(s, "width", G_TYPE_INT, plan.width, "height", G_TYPE_INT, plan.height,
                      nullptr);
  else
    leave_sizes_open(s);
}

void unflip_caps(GstStructure* s, const FlipRequest& request) {
  if (request.turn.transposes) transpose(s);
  if (!keeps_all(request)) leave_sizes_open(s);
}

}  // namespace cudatransform
