// Fuzz target: GstDctMeta and GstDctJpegMeta from bytes of any kind, and whether valid metas can
// be read.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: the serial version and which meta, then the caps (five bytes) and run_meta()'s input,
// or the serial form of a GstDctJpegMeta.
#include <algorithm>
#include <vector>

#include "tests/fuzz/dct_caps.h"

#include "tests/fuzz/coef_frames.h"

namespace {

using fuzzing::DctKind;
using fuzzing::Input;
using fuzzing::promise;

// A reader of valid metas: the first and the last byte of every component lie in the buffer.
void read_components(const GstDctMeta& meta, const GstDctInfo& info, size_t size) {
  for (guint c = 0; c < info.n_components; c++) {
    const GstDctComponent& component = meta.components[c];
    const gsize rows = gst_dct_info_rows(&info, c);
    const gsize last =
        component.offset + component.stride * (rows - 1) + gst_dct_info_row_bytes(&info, c);
    promise(component.offset < size && last <= size, "what validates lies in the buffer");
    if (!info.quantized) continue;
    guint16 values[64];
    promise(gst_dct_meta_get_table(&meta, component.table, GST_DCT_ORDER_ZIGZAG, values),
            "what validates has its tables");
    for (const guint16 value : values) promise(value > 0, "nothing is divided by zero");
  }
}

void run_jpeg_meta(const uint8_t* data, size_t size) {
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, nullptr);
  if (!gstcoef::deserialise(data, size, gstcoef::kSerialVersion, meta)) return;
  std::vector<uint8_t> head;
  promise(gstcoef::serialise_head(*meta, &head), "a sound meta can be stored");
  promise(std::equal(head.begin(), head.end(), data), "it is stored as it was");
  for (guint i = 0; i <= meta->n_attachments; i++) {
    g_autoptr(GBytes) bytes = gst_dct_jpeg_meta_get_attachment(meta, i);
    promise((bytes != nullptr) == (i < meta->n_attachments), "all attachments are there");
  }
  g_autoptr(GBytes) trailer = gst_dct_jpeg_meta_get_trailer(meta);
  promise(trailer == nullptr || g_bytes_get_size(trailer) > 0, "a trailer has bytes");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  gst_init(nullptr, nullptr);
  gst_debug_set_active(FALSE);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t kind = input.byte();
  if (kind % 8 == 7) {
    run_jpeg_meta(input.data(), input.size());
    return 0;
  }
  const uint8_t version = kind % 4 == 3 ? 0 : gstcoef::kSerialVersion;
  GstDctInfo info;
  if (DctKind::info_of(&input, &info))
    fuzzing::run_meta<DctKind>(&input, info, version, read_components);
  return 0;
}
