/* gst/coef/dct.h in a C program: it compiles, links and answers. */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/coef/dct.h>

int main(int argc, char** argv) {
  GstDctInfo info;
  gst_init(&argc, &argv);
  if (!gst_dct_info_set(&info, GST_DCT_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_ZIGZAG,
                        TRUE, 8, GST_DCT_SAMPLING_GRAYSCALE, 9, 8))
    return 1;
  return info.size == 256 && sizeof(GstDctTable) == 128 ? 0 : 1;
}
