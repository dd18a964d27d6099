// Metadata of APV frames as metas of buffers: captions, other ITU-T T.35, and user data.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Captions (CEA-708, T.35 of ATSC A/53) are a GstVideoCaptionMeta of raw cc_data, user data a
// GstVideoSEIUserDataUnregisteredMeta. Other T.35 is a GstCustomMeta whose structure has the
// payload as the field "payload", a GBytes.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <vector>

#include "apv/metadata.h"

namespace cudatransform {

inline constexpr char kApvT35Meta[] = "CudaTransformItuTT35Meta";

// Call it before the two others; once is enough.
void register_apv_metas();

// Adds a meta for each payload.
void add_apv_metas(const ApvMetadata& metadata, GstBuffer* buffer);

// The payloads that the metas of a buffer are written as.
class ApvMetaPayloads {
 public:
  // Adds them to `*metadata`, up to its limits: they are in the metas and in this object. Throws
  // std::bad_alloc.
  void read(GstBuffer* buffer, ApvMetadata* metadata);

 private:
  std::vector<std::vector<uint8_t>> made_;  // those that do not lie in a meta
};

// Whether a meta is of a kind that is written into the stream, from where a decoder has it.
bool is_apv_meta(const GstMeta* meta);

}  // namespace cudatransform
