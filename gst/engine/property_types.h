// The building blocks of properties: their flags, and types for their values.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

namespace cudatransform {

// The states in which a property may be set.
inline constexpr auto kWhilePlaying = static_cast<GParamFlags>(
    G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
inline constexpr auto kUpToReady =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
inline constexpr auto kReadOnly =
    static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

// A type of named values, for a static variable of the function that returns it.
inline GType marked_as_plugin_api(GType type) {
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}
inline GType register_values(const char* name, const GEnumValue* values) {
  return marked_as_plugin_api(g_enum_register_static(name, values));
}
inline GType register_values(const char* name, const GFlagsValue* values) {
  return marked_as_plugin_api(g_flags_register_static(name, values));
}

}  // namespace cudatransform
