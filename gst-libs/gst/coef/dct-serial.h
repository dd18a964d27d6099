// GstDctMeta and GstDctJpegMeta as bytes, so that they survive a file or a socket (gdppay,
// unixfdsink).
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gst/coef/dct.h>

namespace gstcoef {

// The version of both serial forms that serialise() writes, and the only one that deserialise()
// reads.
inline constexpr uint8_t kSerialVersion = 1;

// Appends all of `meta` except the fence, which means nothing elsewhere. False, with `bytes`
// untouched, if the meta has too many components or tables for deserialise().
bool serialise(const GstDctMeta& meta, std::vector<uint8_t>* bytes);

// Fills components and tables of `meta`. False, with `meta` untouched, on any other version, length
// or count.
bool deserialise(const uint8_t* bytes, size_t size, uint8_t version, GstDctMeta* meta);

// Appends the head of the serial form. The bytes of `segments`, and then those of `behind`, follow
// it: they may be large, so the caller appends them itself. False, with `bytes` untouched, if there
// are more attachments than deserialise() takes.
bool serialise_head(const GstDctJpegMeta& meta, std::vector<uint8_t>* bytes);

// Fills `meta`, a new one, with copies of the bytes. False, with `meta` untouched, on any other
// version or length, on unknown flags, and on attachments that are not in the bytes behind.
bool deserialise(const uint8_t* bytes, size_t size, uint8_t version, GstDctJpegMeta* meta);

}  // namespace gstcoef
