// The common properties of decoders: on-error and max-memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/stream/damage.h"

namespace cudatransform {

struct PictureSettings {
  OnError on_error = OnError::kDrop;
  guint64 max_memory = guint64{1} << 30;  // 0: no limit
};

// The ids that the element gives them.
struct PictureProperties {
  guint on_error;
  guint max_memory;
  const char* max_memory_blurb;  // what counts, and what becomes of a picture that needs more alone
};

// Installs them with the values in `defaults` as defaults.
void install_picture_properties(GObjectClass* klass, const PictureProperties& properties,
                                const PictureSettings& defaults);
// False if `id` is none of `properties`. The caller holds the object lock.
bool set_picture_property(const PictureProperties& properties, PictureSettings* settings, guint id,
                          const GValue* value);
bool get_picture_property(const PictureProperties& properties, const PictureSettings& settings,
                          guint id, GValue* value);

}  // namespace cudatransform
