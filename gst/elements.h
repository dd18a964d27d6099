// The elements of the plugin, for its list of them and for bins.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE(cudadct8x8);
GST_ELEMENT_REGISTER_DECLARE(cudaidct8x8);
GST_ELEMENT_REGISTER_DECLARE(cudadctconvert);
GST_ELEMENT_REGISTER_DECLARE(cudadctflip);
GST_ELEMENT_REGISTER_DECLARE(cudadctquant);
GST_ELEMENT_REGISTER_DECLARE(cudaresize);
GST_ELEMENT_REGISTER_DECLARE(cudadwt);
GST_ELEMENT_REGISTER_DECLARE(cudaidwt);
GST_ELEMENT_REGISTER_DECLARE(cudadiracdec);
GST_ELEMENT_REGISTER_DECLARE(cudaapvdec);
GST_ELEMENT_REGISTER_DECLARE(cudaapvenc);
GST_TYPE_FIND_REGISTER_DECLARE(apv);
GST_ELEMENT_REGISTER_DECLARE(jpegcoefdec);
GST_ELEMENT_REGISTER_DECLARE(jpegcoefenc);
GST_ELEMENT_REGISTER_DECLARE(cudajpegdec);
GST_ELEMENT_REGISTER_DECLARE(cudajpegenc);

// The types of the elements in the bins.
GType gst_cuda_dct_8x8_get_type(void);
GType gst_cuda_idct_8x8_get_type(void);
GType gst_jpeg_coef_dec_get_type(void);
GType gst_jpeg_coef_enc_get_type(void);
