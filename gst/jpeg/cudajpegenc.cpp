// Element cudajpegenc: raw video to JPEG pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudajpegenc
 * @title: cudajpegenc
 * @short_description: JPEG encoder
 * @see_also: cudajpegdec, cudadct8x8, jpegcoefenc
 *
 * Encodes raw video as JPEG images, one per frame, using CUDA or, with identical output, the CPU: a
 * bin of cudadct8x8 and jpegcoefenc, with the properties of both. encodebin autoplugs it if its
 * rank is raised.
 *
 * docs/elements/cudajpegenc.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! cudajpegenc quality=90 ! \
 *   filesink location=picture.jpg
 * ]| Writes a JPEG file of quality 90.
 *
 * Since: 1.0
 */

#include "gst/elements.h"

#include "gst/jpeg/pair_bin.h"

struct GstCudaJpegEnc {
  GstCudaPairBin parent;
};

struct GstCudaJpegEncClass {
  GstCudaPairBinClass parent_class;
};

// Encoders have presets: encoding profiles may name one.
G_DEFINE_TYPE_WITH_CODE(GstCudaJpegEnc, gst_cuda_jpeg_enc, GST_TYPE_CUDA_PAIR_BIN,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, nullptr));
// Below jpegenc, which is PRIMARY.
GST_ELEMENT_REGISTER_DEFINE(cudajpegenc, "cudajpegenc", GST_RANK_SECONDARY,
                            gst_cuda_jpeg_enc_get_type());

static void gst_cuda_jpeg_enc_init(GstCudaJpegEnc*) {}

/**
 * GstCudaJpegEnc:stats:
 *
 * Statistics, reset on READY to PAUSED.
 *
 * Since: 1.0
 */

static void gst_cuda_jpeg_enc_class_init(GstCudaJpegEncClass* klass) {
  gst_cuda_pair_bin_install(GST_CUDA_PAIR_BIN_CLASS(klass), "cudajpegenc",
                            {.types = {gst_cuda_dct_8x8_get_type(), gst_jpeg_coef_enc_get_type()},
                             .names = {"cudadct8x8", "jpegcoefenc"},
                             .transform = 0});
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "CUDA JPEG Encoder", "Codec/Encoder/Image/Hardware",
      "Encodes JPEG images using CUDA or the CPU", "The cudatransform authors");
}
