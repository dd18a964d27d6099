// Fields of caps that hold one value or a list of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include "gst/engine/buffer_ptr.h"

namespace cudatransform {

// The strings of a field that holds one or a list; empty if the field is missing.
std::vector<std::string> strings_of(const GstStructure* s, const char* field);
// Whether such a field exists and has the string.
bool string_field_allows(const GstStructure* s, const char* field, const char* string);
// Whether an int field is missing or includes `n`.
bool int_field_allows(const GstStructure* s, const char* field, int n);
// Whether a boolean field exists and includes true.
bool bool_field_allows_true(const GstStructure* s, const char* field);

// One value, or a list of them.
void set_strings(GstStructure* s, const char* field, const std::vector<std::string>& strings);
void set_ints(GstStructure* s, const char* field, const std::vector<int>& ints);
// Both values, true first.
void set_bools(GstStructure* s, const char* field);

// Fixes a field to the first preferred string that it allows.
void fixate_to_first_allowed(GstStructure* s, const char* field,
                             const std::vector<std::string>& preferred);

// Keeps the structure with the highest score (the first of equals). `caps` are not empty.
template <typename Score>
GstCaps* keep_best(GstCaps* caps, Score score) {
  guint best = 0;
  for (guint i = 1; i < gst_caps_get_size(caps); i++) {
    if (score(gst_caps_get_structure(caps, i), gst_caps_get_features(caps, i)) >
        score(gst_caps_get_structure(caps, best), gst_caps_get_features(caps, best)))
      best = i;
  }
  const CapsPtr owner(caps);
  return gst_caps_copy_nth(caps, best);
}

}  // namespace cudatransform
