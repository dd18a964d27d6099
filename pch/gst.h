// The same of elements: GStreamer's headers besides.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "std.h"

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/gstvideodecoder.h>
#include <gst/video/video.h>
