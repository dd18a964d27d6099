// Takes the stuffing out of a JPEG file's entropy-coded bytes, many bytes at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudatransform {

// In entropy-coded data an FF that is followed by a 00 is data, and the 00 is not. One that is
// followed by anything else begins a marker (ITU-T T.81, B.1.1.5).

// The place where unstuffing has stopped.
struct Unstuffed {
  const uint8_t* from;  // the next byte to be read
  uint8_t* to;          // behind the last byte written
};

// The bytes that are written at once: behind Unstuffed::to, and behind `full`.
inline constexpr size_t kUnstuffAtOnce = 64;

// Copies the bytes at `from` to `to`, which is elsewhere, without stuffing. It stops at an FF that
// is followed by no 00, or by nothing at all; at `end`; or when `to` has reached `full`, which may
// be by up to kUnstuffAtOnce bytes too late.
Unstuffed unstuff(const uint8_t* from, const uint8_t* end, uint8_t* to, const uint8_t* full);

// The code of the marker that begins at `ff`, behind fill bytes; null without one.
const uint8_t* marker_code(const uint8_t* ff, const uint8_t* end);
// Whether only fill bytes follow from `ff` on: the data end without a marker.
bool ends_without_marker(const uint8_t* ff, const uint8_t* end);

// The number of bytes before the first FF that is followed by no 00, or by nothing at all.
size_t bytes_before_marker(const uint8_t* data, size_t size);

// The same without the instructions that some processors lack: for tests.
Unstuffed unstuff_portably(const uint8_t* from, const uint8_t* end, uint8_t* to,
                           const uint8_t* full);
size_t bytes_before_marker_portably(const uint8_t* data, size_t size);

}  // namespace cudatransform
