// The most used headers of gst/, compiled once for each library. Each file still includes all
// headers that it uses: suite fuzz of tools/test compiles without this.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/package.h"  // the package's data from gst.h

#include <gst/gst.h>
#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>
#include <gst/video/video.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>
