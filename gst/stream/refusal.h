// Caps that downstream refuses: found before they are set, and explained.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace cudatransform {

// Whether the peer of `src` accepts fixed `caps`, and elements behind it do: an ACCEPT_CAPS query
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
