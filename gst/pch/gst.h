// What most files of gst/ include, compiled once for each library. A file includes what it uses all
// the same: suite nocuda of tools/test compiles without this.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/package.h"  // what gst.h says of the package

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
