// The properties of quantisation tables: quality, quant-preset, luma-qtable, chroma-qtable and
// qtable-file.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include "gst/dct8x8/quant_settings.h"

namespace cudatransform {

// The ids that the element gives them.
struct QuantProperties {
  guint quality, quant_preset, luma_qtable, chroma_qtable, qtable_file;
};

void install_quant_properties(GObjectClass* klass, const QuantProperties& properties);
// False if `id` is none of `properties`. The caller does not hold the object lock, which guards
// `settings`: files are read without it.
bool set_quant_property(const QuantProperties& properties, GObject* object, QuantSettings* settings,
                        guint id, const GValue* value);
// The caller holds the lock.
bool get_quant_property(const QuantProperties& properties, const QuantSettings& settings, guint id,
                        GValue* value);

// As the property spells it.
const char* preset_name(QuantPreset preset);

// Whether `settings` have tables, for the way to READY: wrong settings fail it, before any data
// flow.
Status check_quant_settings(const QuantSettings& settings);

}  // namespace cudatransform
