// The common properties of decoders: on-error and max-memory.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/picture_properties.h"

#include "gst/engine/property_types.h"

namespace cudatransform {
namespace {

GType on_error_type() {
  static const GEnumValue kValues[] = {
      {int(OnError::kDrop), "Drop the picture, with a warning", "drop"},
      {int(OnError::kConceal), "Push what could be decoded, marked as corrupted", "conceal"},
      {int(OnError::kFail), "Stop with an error", "fail"},
      {0, nullptr, nullptr},
  };
  static const GType type = register_values("GstCudaTransformOnError", kValues);
  return type;
}

}  // namespace

void install_picture_properties(GObjectClass* klass, const PictureProperties& properties,
                                const PictureSettings& defaults) {
  g_object_class_install_property(
      klass, properties.on_error,
      g_param_spec_enum(
          "on-error", "On error",
          "What to do with a damaged picture; max-errors says after how many dropped in a row the "
          "element stops with an error all the same",
          on_error_type(), int(defaults.on_error), kWhilePlaying));
  g_object_class_install_property(
      klass, properties.max_memory,
      g_param_spec_uint64("max-memory", "Most memory", properties.max_memory_blurb, 0, G_MAXUINT64,
                          defaults.max_memory, kWhilePlaying));
}

bool set_picture_property(const PictureProperties& properties, PictureSettings* settings, guint id,
                          const GValue* value) {
  if (id == properties.on_error)
    settings->on_error = static_cast<OnError>(g_value_get_enum(value));
  else if (id == properties.max_memory)
    settings->max_memory = g_value_get_uint64(value);
  else
    return false;
  return true;
}

bool get_picture_property(const PictureProperties& properties, const PictureSettings& settings,
                          guint id, GValue* value) {
  if (id == properties.on_error)
    g_value_set_enum(value, int(settings.on_error));
  else if (id == properties.max_memory)
    g_value_set_uint64(value, settings.max_memory);
  else
    return false;
  return true;
}

}  // namespace cudatransform
