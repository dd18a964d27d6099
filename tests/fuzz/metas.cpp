// Fuzz targets: GstDctMeta, GstDctJpegMeta and GstDwtMeta from bytes of any kind, under caps of any
// kind, and whether valid metas can be read.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input of fuzz_dct_meta: the serial version and which meta, then the caps (five bytes) and
// run_meta()'s input, or the serial form of a GstDctJpegMeta. That of fuzz_dwt_meta: the serial
// version, the transform and the picture (eight bytes), and run_meta()'s input.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/fuzz/frames.h"

namespace {

using fuzzing::Input;
using fuzzing::promise;

// A reader of valid metas: the first and the last byte of every component are in the buffer.
void read_dct_components(const GstDctMeta& meta, const GstDctInfo& info, size_t size) {
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
    const auto is_set = [](guint16 value) { return value > 0; };
    promise(std::any_of(std::begin(values), std::end(values), is_set), "no table is of zeros");
  }
}

void run_jpeg_meta(const uint8_t* data, size_t size) {
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, nullptr);
  if (!gstcoef::deserialize(data, size, gstcoef::kSerialVersion, meta)) return;
  std::vector<uint8_t> head;
  promise(gstcoef::serialize_head(*meta, &head), "a sound meta can be stored");
  promise(std::equal(head.begin(), head.end(), data), "it is stored as it was");
  for (guint i = 0; i <= meta->n_attachments; i++) {
    g_autoptr(GBytes) bytes = gst_dct_jpeg_meta_get_attachment(meta, i);
    promise((bytes != nullptr) == (i < meta->n_attachments), "all attachments are there");
  }
  g_autoptr(GBytes) trailer = gst_dct_jpeg_meta_get_trailer(meta);
  promise(trailer == nullptr || g_bytes_get_size(trailer) > 0, "a trailer has bytes");
}

void run_dct_meta(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t kind = input.byte();
  if (kind % 8 == 7) {
    run_jpeg_meta(input.data(), input.size());
    return;
  }
  const uint8_t version = kind % 4 == 3 ? 0 : gstcoef::kSerialVersion;
  GstDctInfo info;
  if (fuzzing::DctKind::info_of(&input, &info))
    fuzzing::run_meta<fuzzing::DctKind>(&input, info, version, read_dct_components);
}

// Whether the transform exists; a refusal has a reason.
bool dwt_info_of(Input* input, GstDwtInfo* info) {
  const int wavelets = input->byte();
  const guint levels = input->byte(), picture = input->byte();
  const auto wavelet = static_cast<GstDwtWavelet>(wavelets & 7);
  const auto wavelet_ho = static_cast<GstDwtWavelet>(wavelets >> 4 & 7);
  const auto sampling = static_cast<GstCoefSampling>(picture & 7);
  const gint width = input->word() % 300, height = input->word() % 300;
  gchar* reason = nullptr;
  const bool set =
      gst_dwt_info_set(info, wavelet, wavelet_ho, levels & 15, levels >> 4, picture >> 3 & 1,
                       2 * input->byte(), sampling, width, height, &reason);
  promise(set == (reason == nullptr), "a refusal has a reason");
  g_free(reason);
  return set;
}

// An info and its caps agree.
void check_caps(const GstDwtInfo& info) {
  GstCaps* caps = gst_dwt_info_to_caps(&info);
  GstDwtInfo back;
  promise(gst_dwt_info_from_caps(&back, caps, nullptr), "caps of an info can be read");
  promise(std::memcmp(&back, &info, sizeof info) == 0, "they are those of the info");
  gst_caps_unref(caps);
}

// A reader of valid metas: every band is in its component, every component in the buffer.
void read_dwt_components(const GstDwtMeta& meta, const GstDwtInfo& info, size_t size) {
  for (guint c = 0; c < info.n_components; c++) {
    const GstDwtComponent& component = meta.components[c];
    const gsize last = component.offset + component.stride * (component.padded_height - 1) +
                       gst_dwt_info_row_bytes(&info, c);
    promise(component.offset < size && last <= size, "what validates lies in the buffer");
    for (guint b = 0; b < gst_dwt_info_get_n_bands(&info); b++) {
      GstDwtBand band;
      promise(gst_dwt_info_get_band(&info, c, b, &band), "every band is somewhere");
      promise(band.x + band.width <= component.padded_width &&
                  band.y + band.height <= component.padded_height,
              "bands lie in their component");
      promise(gst_dwt_meta_get_quant_index(&meta, c, b) <= GST_DWT_MAX_QUANT_INDEX,
              "quantizers do not overflow");
    }
  }
}

void run_dwt_meta(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t version = input.byte() % 4 == 3 ? 0 : gstcoef::kDwtSerialVersion;
  GstDwtInfo info;
  if (!dwt_info_of(&input, &info)) return;
  check_caps(info);
  fuzzing::run_meta<fuzzing::DwtKind>(&input, info, version, read_dwt_components);
}

void set_up() {
  gst_init(nullptr, nullptr);
  gst_debug_set_active(FALSE);
}

const fuzzing::Targets targets({{"fuzz_dct_meta", run_dct_meta}, {"fuzz_dwt_meta", run_dwt_meta}},
                               set_up);

}  // namespace
