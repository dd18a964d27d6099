/* gst/coef/coef.h in a C program: it compiles, links and answers, what it has cleans up, and
 * structs that programs allocate keep the size that they were compiled with. */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/coef/coef.h>

#if GLIB_SIZEOF_VOID_P == 8
G_STATIC_ASSERT(sizeof(GstDctComponent) == 72);
G_STATIC_ASSERT(sizeof(GstDctInfo) == 376);
G_STATIC_ASSERT(sizeof(GstDctTable) == 128);
G_STATIC_ASSERT(sizeof(GstCoefSyncPointFuncs) == 56);
G_STATIC_ASSERT(sizeof(GstDwtBand) == 40);
G_STATIC_ASSERT(sizeof(GstDwtComponent) == 64);
G_STATIC_ASSERT(sizeof(GstDwtInfo) == 352);
G_STATIC_ASSERT(sizeof(GstDwtQuantizers) == 23);
#endif

static gboolean done(gpointer freed) { return freed == NULL; }
static void destroy(gpointer freed) { *(int*)freed = 1; }

static int sizes_are_right(void) {
  g_autoptr(GstDctInfo) info = gst_dct_info_new();
  return gst_dct_info_set(info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_ZIGZAG,
                          TRUE, 8, GST_COEF_SAMPLING_GRAYSCALE, 9, 8, NULL) &&
         info->size == 256;
}

static int wavelet_sizes_are_right(void) {
  g_autoptr(GstDwtInfo) info = gst_dwt_info_new();
  return gst_dwt_info_set(info, GST_DWT_WAVELET_HAAR, GST_DWT_WAVELET_HAAR, 2, 0, FALSE, 8,
                          GST_COEF_SAMPLING_GRAYSCALE, 9, 8, NULL) &&
         info->size == 192;
}

static void make_and_leave(int* freed) {
  static const GstCoefSyncPointFuncs funcs = {done, NULL, done, {NULL}};
  g_autoptr(GstCoefFence) fence = gst_coef_fence_new();
  g_autoptr(GstCoefSyncPoint) point = gst_coef_sync_point_new(&funcs, freed, destroy);
  gst_coef_fence_set_written(fence, point);
}

int main(int argc, char** argv) {
  int freed = 0;
  gst_init(&argc, &argv);
  make_and_leave(&freed);
  return sizes_are_right() && wavelet_sizes_are_right() && freed ? 0 : 1;
}
