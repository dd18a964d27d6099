// What an element downstream will make of coefficients: a query for the options of its JPEG files.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <gst/coef/dct.h>
#include "jpeg/color.h"
#include "jpeg/writer.h"

namespace cudatransform {

// A custom query, which passes queues and capsfilters. Transfer full.
GstQuery* make_file_query();
// Elements whose coefficients are other ones do not pass it on: the file is not of those that they
// get.
bool is_file_query(GstQuery* query);
// jpegcoefenc's: false for any other query.
bool answer_file_query(GstQuery* query, const JpegOptions& options);
// Of an answered query.
JpegOptions read_file_query(const GstQuery* query);

JpegColor jpeg_color_of(GstCoefSampling sampling);

}  // namespace cudatransform
