// Headers of most test programs, compiled once. The standard library comes first: GstCheck's macro
// fail() has the name of one of its functions.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
