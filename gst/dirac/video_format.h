// The raw video format of a Dirac or VC-2 sequence, and its frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include "dirac/renderer.h"
#include "dirac/sequence.h"
#include "gst/engine/engine.h"
#include "gst/stream/frame_mover.h"
#include "transform/device/status.h"

namespace cudatransform {

// Every format that dirac_video_info() chooses, for pad templates.
inline constexpr char kDiracFormats[] =
    "I420, Y42B, Y444, GBR, I420_10LE, I422_10LE, Y444_10LE, GBR_10LE, I420_12LE, I422_12LE, "
    "Y444_12LE, GBR_12LE, Y444_16LE";

// kUnsupported: GStreamer has no format for it, which the message names. `*unspecified_matrix`: the
// colors are YCoCg, which no colorimetry expresses.
Status dirac_video_info(const DiracSequence& sequence, GstVideoInfo* info,
                        bool* unspecified_matrix);

// Whether a frame shows all of its rows and not only the clean area.
bool has_clean_area(const DiracSequence& sequence);

// Enqueues the copy of a picture into a frame at `rects`, in the format that dirac_video_info()
// chose: a whole frame, or the rows of the field that is picture `number`. A sample of fewer bits
// than the format's is shifted left.
Status write_dirac_picture(Engine& engine, const DiracRendered& picture, uint32_t number,
                           const GstVideoInfo& info, const Rects& rects);

// Caps of frames in system memory and, where this build has it and GStreamer's CUDA memory holds
// the format, in CUDA memory. Transfer full.
GstCaps* dirac_template_caps();
// Whether frames of `info` may be in CUDA memory, and whether GStreamer downloads them whole.
bool cuda_memory_holds(const GstVideoInfo& info, bool* downloads_well);

}  // namespace cudatransform
