// Fields of caps that hold one value or a list of them, and caps that downstream refuses.
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

// Whether the peer of `src` accepts fixed `caps`, and elements after it do: an ACCEPT_CAPS query
// alone is answered by templates. True without a peer.
bool peer_accepts(GstPad* src, GstCaps* caps);

// The values of a field in all structures of `caps`, such as "I420, NV12"; long lists are cut.
// Empty: a structure lacks the field, so that any value will do, or `caps` are ANY or EMPTY.
std::string field_values(const GstCaps* caps, const char* field);

// Where no structure of `accepted` meets one of `offered`: which field differs in all of them, and
// what to put in between.
struct Misfit {
  const char* field = nullptr;  // null: caps as a whole do not fit, or nothing is accepted
  std::string accepted;         // its values, or the caps
  const char* cure = nullptr;   // an element that converts the field; null: there is none

  // "downstream accepts I420, NV12: put videoconvert in between", and the like.
  std::string text() const;
};
Misfit find_misfit(const GstCaps* offered, const GstCaps* accepted);

}  // namespace cudatransform
