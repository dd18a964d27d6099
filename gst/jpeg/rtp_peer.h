// Finds out whether an element's files leave by RTP, which has no Huffman tables for them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

namespace cudatransform {

// The name of the element after `src` that sends JPEG by RTP (RFC 2435); empty if none is found.
// The caps of its sink pad do not differ from those of any other JPEG consumer, so we ask elements
// for their output: the element after the pad, and those after elements with one pad on each side.
std::string rtp_jpeg_payloader_behind(GstPad* src);

}  // namespace cudatransform
