// The properties of a bin of two elements in a row: those of its elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

namespace cudatransform {

// The two elements, in the order of the stream.
struct Pair {
  GType types[2];
  const char* names[2];
  int transform;  // the index of the one that transforms; a property of both has its value
};

// A property of the bin. Setting it sets it in all elements that have it.
struct PairProperty {
  GParamSpec* spec;  // the bin's
  bool is_in[2];
  int reads;  // the index of the element that tells the value
};

// The bin's properties, without `stats`, with names, types, ranges and defaults of the elements'.
// They have the elements' texts, too; of two texts that differ each with its element's name before
// it. Properties that only change coefficients are left out, as these stay within the bin.
std::vector<PairProperty> pair_properties(const Pair& pair);
// Turns those off that are left out.
void turn_inner_properties_off(GstElement* element);

}  // namespace cudatransform
