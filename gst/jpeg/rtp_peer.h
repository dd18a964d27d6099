// Whether the files that an element writes leave by RTP, which has no Huffman tables for them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace cudatransform {

// The name of the element behind `src` that sends JPEG by RTP (RFC 2435); empty where none is
// found. The caps of its sink pad are those of any other element that takes JPEG, so elements are
// asked for what they make: the one behind the pad, and behind those with one pad on each side.
std::string rtp_jpeg_payloader_behind(GstPad* src);

}  // namespace cudatransform
