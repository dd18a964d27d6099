// The properties of elements: rows of a table, which one pair of vfuncs sets and reads.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/engine/properties.h"

#include <algorithm>

namespace cudatransform {
namespace {

// A specification has its row as data.
GQuark row_quark() {
  static const GQuark quark = g_quark_from_static_string("cudatransform-property");
  return quark;
}

const Property& row_of(GParamSpec* spec) {
  return *static_cast<const Property*>(g_param_spec_get_qdata(spec, row_quark()));
}

void set_property(GObject* object, guint, const GValue* value, GParamSpec* spec) {
  row_of(spec).set(object, value);
}

void get_property(GObject* object, guint, GValue* value, GParamSpec* spec) {
  row_of(spec).get(object, value);
}

// Lists of properties are in the order of their ids.
guint first_free_id(GObjectClass* klass) {
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(klass, &n);
  const auto own = std::count_if(specs, specs + n, [klass](const GParamSpec* spec) {
    return spec->owner_type == G_OBJECT_CLASS_TYPE(klass);
  });
  g_free(specs);
  return 1 + static_cast<guint>(own);
}

}  // namespace

void install_properties(GObjectClass* klass, const std::vector<Property>& properties) {
  klass->set_property = set_property;
  klass->get_property = get_property;
  guint id = first_free_id(klass);
  for (const Property& property : properties) {
    g_param_spec_set_qdata_full(property.spec, row_quark(), new Property(property),
                                [](gpointer row) { delete static_cast<Property*>(row); });
    g_object_class_install_property(klass, id++, property.spec);
  }
}

Property stats_property(GstStructure* (*make)(GObject* object)) {
  return {g_param_spec_boxed("stats", "Statistics", "Statistics, reset on READY to PAUSED",
                             GST_TYPE_STRUCTURE, kReadOnly),
          [make](GObject* object, GValue* value) { g_value_take_boxed(value, make(object)); }};
}

}  // namespace cudatransform
