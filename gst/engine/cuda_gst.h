// The part of GStreamer's CUDA library that we use, on 1.22 and later.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#if CT_HAVE_CUDA
// 1.22 has no umbrella header; it came with 1.24.
#if __has_include(<gst/cuda/gstcuda.h>)
#include <gst/cuda/gstcuda.h>
#else
#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif
#endif
