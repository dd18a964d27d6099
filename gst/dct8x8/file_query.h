// What downstream elements do with coefficients: queries for the options of JPEG files, and
// for raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <functional>

#include <gst/coef/dct.h>
#include "gst/engine/buffer_ptr.h"
#include "transform/device/status.h"
#if CT_HAVE_JPEG
#include "jpeg/tables.h"
#include "jpeg/writer.h"
#endif

namespace cudatransform {

// A custom query, which passes queues and capsfilters. Transfer full.
GstQuery* make_file_query();
// Elements whose coefficients are other ones do not pass it on: the file is not of those that they
// get.
bool is_file_query(GstQuery* query);

// Raw video of coefficients, and what the peer of the element that makes it accepts.
struct RawOffer {
  CapsPtr made;      // of any accepted memory and size; EMPTY: there is no raw video of them
  CapsPtr accepted;  // of all raw video
};
// A custom query likewise, about coefficients of `caps`. Transfer full.
GstQuery* make_raw_query(const GstCaps* caps);
// The caps of such a query, which belong to it; null for any other query.
const GstCaps* raw_query_caps(GstQuery* query);
// cudaidct8x8's.
void answer_raw_query(GstQuery* query, const RawOffer& offer);
// Of an answered query.
RawOffer read_raw_query(const GstQuery* query);

#if CT_HAVE_JPEG

// jpegcoefenc's: false for any other query.
bool answer_file_query(GstQuery* query, const JpegOptions& options);
// Of an answered query.
JpegOptions read_file_query(const GstQuery* query);

// Sends a query downstream; null: no peer.
using QueryDownstream = std::function<bool(GstQuery* query)>;
// The options of the files downstream, or jpegcoefenc's defaults without an answer. Refuses, by the
// name of the `property` that needs them, those whose size engines cannot compute.
Status require_baseline(const char* property, const QueryDownstream& send, JpegOptions* options);

// The color of files, and the colorspace in caps, which `sampling` has.
JpegColor jpeg_color_of(GstCoefSampling sampling);
const char* colorspace_of(JpegColor color);
// The file that jpegcoefenc writes of a buffer (null: one without metas) of coefficients of `info`,
// with the numbers of blocks, but without quantized coefficients and tables. Points into the
// buffer's GstDctJpegMeta.
void describe_jpeg_file(const GstDctInfo& info, GstBuffer* coefficients, JpegPicture* file);

#endif

}  // namespace cudatransform
