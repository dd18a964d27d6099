// Files of several pictures for the element tests: a writer and a parser of the tests' own.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include "tests/check/bytes.h"

namespace testing {

// A number as its bytes.
Bytes number(guint64 value, gsize size, bool big);

// What the index of a file says is its pictures, the first one included.
std::vector<Bytes> pictures_of(const Bytes& file);

// The picture with an index of itself and `others`, without them; `gap` bytes are to come between.
Bytes first_of(const Bytes& picture, const std::vector<Bytes>& others, bool big, gsize gap = 0);

// Two pictures of other sizes than good(), and a file of good(), these, and `tail`.
const std::vector<Bytes>& others();
Bytes several(bool big = true, const Bytes& tail = {});
bool has_others(const Bytes& file);

// What comes out where a file goes in as pieces of a stream.
std::vector<Bytes> through(const Bytes& stream, const std::string& decoder = "",
                           const std::string& encoder = "", gsize piece = 0,
                           const char* caps = "image/jpeg", GstFormat format = GST_FORMAT_BYTES);

}  // namespace testing
