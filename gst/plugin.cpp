// The plugin: registers its elements, whether there is a GPU or not.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/package.h"

#include <gst/gst.h>

#include "gst/elements.h"
#include "gst/engine/debug.h"

// No CUDA call here: the registry remembers what is registered, GPU or no GPU, and programs fork
// after loading plugins, which a CUDA context does not survive.
static gboolean plugin_init(GstPlugin* plugin) {
  cudatransform::init_debug_category();
  gboolean registered = FALSE;
  registered |= GST_ELEMENT_REGISTER(cudadct8x8, plugin);
  registered |= GST_ELEMENT_REGISTER(cudaidct8x8, plugin);
  registered |= GST_ELEMENT_REGISTER(cudadctconvert, plugin);
  registered |= GST_ELEMENT_REGISTER(cudadctflip, plugin);
  registered |= GST_ELEMENT_REGISTER(cudadctquant, plugin);
  registered |= GST_ELEMENT_REGISTER(cudaresize, plugin);
  registered |= GST_ELEMENT_REGISTER(cudadwt, plugin);
  registered |= GST_ELEMENT_REGISTER(cudaidwt, plugin);
  registered |= GST_ELEMENT_REGISTER(cudadiracdec, plugin);
  registered |= GST_ELEMENT_REGISTER(cudaapvdec, plugin);
  registered |= GST_ELEMENT_REGISTER(cudaapvenc, plugin);
  registered |= GST_TYPE_FIND_REGISTER(apv, plugin);
#if CT_HAVE_JPEG
  registered |= GST_ELEMENT_REGISTER(jpegcoefdec, plugin);
  registered |= GST_ELEMENT_REGISTER(jpegcoefenc, plugin);
  // After the elements that they contain.
  registered |= GST_ELEMENT_REGISTER(cudajpegdec, plugin);
  registered |= GST_ELEMENT_REGISTER(cudajpegenc, plugin);
#endif
  return registered;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudatransform,
                  "DCT, wavelet, JPEG, Dirac and APV elements using CUDA", plugin_init,
                  PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
