// Element cudajpegdec: JPEG pictures and Motion JPEG to raw video.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudajpegdec
 * @title: cudajpegdec
 * @short_description: JPEG decoder
 * @see_also: cudajpegenc, jpegcoefdec, cudaidct8x8
 *
 * Decodes JPEG images and Motion JPEG, using CUDA or, with identical output, the CPU: a bin of
 * jpegcoefdec and cudaidct8x8, with the properties of both. decodebin and playbin autoplug it if
 * its rank is raised.
 *
 * docs/elements/cudajpegdec.md is the manual.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! cudajpegdec ! videoconvert ! imagefreeze ! \
 *   autovideosink
 * ]| Shows a photograph.
 * |[
 * GST_PLUGIN_FEATURE_RANK=cudajpegdec:MAX gst-play-1.0 recording.avi
 * ]| Plays a Motion JPEG recording.
 *
 * Since: 1.0
 */

#include "gst/elements.h"

#include "gst/jpeg/pair_bin.h"

struct GstCudaJpegDec {
  GstCudaPairBin parent;
};

struct GstCudaJpegDecClass {
  GstCudaPairBinClass parent_class;
};

G_DEFINE_TYPE(GstCudaJpegDec, gst_cuda_jpeg_dec, GST_TYPE_CUDA_PAIR_BIN);
// Below jpegdec, which is PRIMARY, so that installing the plugin changes no player's decoder.
GST_ELEMENT_REGISTER_DEFINE(cudajpegdec, "cudajpegdec", GST_RANK_SECONDARY,
                            gst_cuda_jpeg_dec_get_type());

static void gst_cuda_jpeg_dec_init(GstCudaJpegDec*) {}

/**
 * GstCudaJpegDec:stats:
 *
 * Statistics, reset on READY to PAUSED.
 *
 * Since: 1.0
 */

static void gst_cuda_jpeg_dec_class_init(GstCudaJpegDecClass* klass) {
  gst_cuda_pair_bin_install(GST_CUDA_PAIR_BIN_CLASS(klass), "cudajpegdec",
                            {.types = {gst_jpeg_coef_dec_get_type(), gst_cuda_idct_8x8_get_type()},
                             .names = {"jpegcoefdec", "cudaidct8x8"},
                             .transform = 1});
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "CUDA JPEG Decoder", "Codec/Decoder/Image/Hardware",
      "Decodes JPEG images using CUDA or the CPU", "The cudatransform authors");
}
