// Quantization tables as fields of video/x-dct caps: for coefficients that outlive their meta.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Both fields are plain arrays, which every GStreamer writes to files and reads back (gdppay).
#include <algorithm>
#include <vector>

#include <gst/coef/coef-private.h>

namespace {

constexpr char kTablesField[] = "quantization-tables";
constexpr char kComponentsField[] = "component-tables";
constexpr guint kEntries = 64;

struct Tables {
  std::vector<guint16> values;  // all tables, one after the other
  std::vector<guint> of_component;
};

gboolean check_counts(gsize n_tables, gsize n_components, const gstcoef::Refusal& refuse) {
  if (n_tables < 1 || n_tables > GST_DCT_MAX_TABLES)
    return refuse("%" G_GSIZE_FORMAT " quantization tables, expected 1 to %d", n_tables,
                  GST_DCT_MAX_TABLES);
  if (n_components < 1 || n_components > GST_DCT_MAX_COMPONENTS)
    return refuse("tables of %" G_GSIZE_FORMAT " components, expected 1 to %d", n_components,
                  GST_DCT_MAX_COMPONENTS);
  return TRUE;
}

// An int at `index` of an array, in the range; anything else is refused as `what`.
gboolean read_entry(const GValue* array, guint index, gint least, gint most, const char* what,
                    gint* entry, const gstcoef::Refusal& refuse) {
  const GValue* item = gst_value_array_get_value(array, index);
  if (!G_VALUE_HOLDS_INT(item)) return refuse("%s: not an integer at index %u", what, index);
  *entry = g_value_get_int(item);
  if (*entry < least || *entry > most)
    return refuse("%s: %d at index %u, expected %d to %d", what, *entry, index, least, most);
  return TRUE;
}

gboolean read_tables(const GValue* array, Tables* tables, const gstcoef::Refusal& refuse) {
  for (guint t = 0; t < gst_value_array_get_size(array); t++) {
    const GValue* table = gst_value_array_get_value(array, t);
    if (!GST_VALUE_HOLDS_ARRAY(table) || gst_value_array_get_size(table) != kEntries)
      return refuse("%s: not an array of %u integers at index %u", kTablesField, kEntries, t);
    for (guint k = 0; k < kEntries; k++) {
      gint entry = 0;
      if (!read_entry(table, k, 0, G_MAXUINT16, kTablesField, &entry, refuse)) return FALSE;
      tables->values.push_back(static_cast<guint16>(entry));
    }
    if (std::count(tables->values.end() - kEntries, tables->values.end(), 0) == kEntries)
      return refuse("%s: all entries of quantization table %u are 0", kTablesField, t);
  }
  return TRUE;
}

gboolean read_caps(const GstCaps* caps, Tables* tables, const gstcoef::Refusal& refuse) {
  if (gst_caps_is_any(caps) || gst_caps_get_size(caps) != 1)
    return refuse("the caps are not fixed");
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  const GValue* all = gst_structure_get_value(s, kTablesField);
  const GValue* components = gst_structure_get_value(s, kComponentsField);
  if (all == nullptr) return refuse("the caps have no field %s", kTablesField);
  if (components == nullptr) return refuse("the caps have no field %s", kComponentsField);
  if (!GST_VALUE_HOLDS_ARRAY(all)) return refuse("%s is not an array", kTablesField);
  if (!GST_VALUE_HOLDS_ARRAY(components)) return refuse("%s is not an array", kComponentsField);
  const guint n_tables = gst_value_array_get_size(all);
  const guint n_components = gst_value_array_get_size(components);
  if (!check_counts(n_tables, n_components, refuse)) return FALSE;
  if (!read_tables(all, tables, refuse)) return FALSE;
  for (guint c = 0; c < n_components; c++) {
    gint table = 0;
    if (!read_entry(components, c, 0, static_cast<gint>(n_tables) - 1, kComponentsField, &table,
                    refuse))
      return FALSE;
    tables->of_component.push_back(static_cast<guint>(table));
  }
  return TRUE;
}

void append_int(GValue* array, guint number) {
  GValue item = G_VALUE_INIT;
  g_value_init(&item, G_TYPE_INT);
  g_value_set_int(&item, static_cast<gint>(number));
  gst_value_array_append_and_take_value(array, &item);
}

}  // namespace

gboolean gst_dct_caps_set_tables(GstCaps* caps, const guint16* values, gsize n_values,
                                 const guint* component_tables, guint n_components,
                                 gchar** reason) {
  const gstcoef::Refusal refuse = gst_dct_refusal(reason);
  g_return_val_if_fail(GST_IS_CAPS(caps) && gst_caps_is_writable(caps), FALSE);
  g_return_val_if_fail(values != nullptr || n_values == 0, FALSE);
  g_return_val_if_fail(component_tables != nullptr || n_components == 0, FALSE);
  if (n_values == 0) {
    for (guint i = 0; i < gst_caps_get_size(caps); i++)
      gst_structure_remove_fields(gst_caps_get_structure(caps, i), kTablesField, kComponentsField,
                                  nullptr);
    return TRUE;
  }
  if (n_values % kEntries != 0)
    return refuse("%" G_GSIZE_FORMAT " values, expected a multiple of %u", n_values, kEntries);
  const gsize n_tables = n_values / kEntries;
  if (!check_counts(n_tables, n_components, refuse)) return FALSE;
  for (gsize t = 0; t < n_tables; t++)
    if (std::count(values + t * kEntries, values + (t + 1) * kEntries, 0) == kEntries)
      return refuse("all entries of quantization table %" G_GSIZE_FORMAT " are 0", t);
  for (guint c = 0; c < n_components; c++)
    if (component_tables[c] >= n_tables)
      return refuse("component %u uses table %u of %" G_GSIZE_FORMAT, c, component_tables[c],
                    n_tables);

  GValue all = G_VALUE_INIT, components = G_VALUE_INIT;
  g_value_init(&all, GST_TYPE_ARRAY);
  g_value_init(&components, GST_TYPE_ARRAY);
  for (gsize t = 0; t < n_tables; t++) {
    GValue table = G_VALUE_INIT;
    g_value_init(&table, GST_TYPE_ARRAY);
    for (guint k = 0; k < kEntries; k++) append_int(&table, values[t * kEntries + k]);
    gst_value_array_append_and_take_value(&all, &table);
  }
  for (guint c = 0; c < n_components; c++) append_int(&components, component_tables[c]);
  gst_caps_set_value(caps, kTablesField, &all);
  gst_caps_set_value(caps, kComponentsField, &components);
  g_value_unset(&all);
  g_value_unset(&components);
  return TRUE;
}

gboolean gst_dct_caps_get_tables(const GstCaps* caps, guint16** values, gsize* n_values,
                                 guint** component_tables, guint* n_components, gchar** reason) {
  const gstcoef::Refusal refuse = gst_dct_refusal(reason);
  g_return_val_if_fail(values != nullptr && n_values != nullptr, FALSE);
  g_return_val_if_fail(component_tables != nullptr && n_components != nullptr, FALSE);
  *values = nullptr;
  *component_tables = nullptr;
  *n_values = *n_components = 0;
  g_return_val_if_fail(GST_IS_CAPS(caps), FALSE);
  Tables tables;
  if (!read_caps(caps, &tables, refuse)) return FALSE;
  *n_values = tables.values.size();
  *n_components = static_cast<guint>(tables.of_component.size());
  *values = static_cast<guint16*>(
      g_memdup2(tables.values.data(), tables.values.size() * sizeof(guint16)));
  *component_tables = static_cast<guint*>(
      g_memdup2(tables.of_component.data(), tables.of_component.size() * sizeof(guint)));
  return TRUE;
}
