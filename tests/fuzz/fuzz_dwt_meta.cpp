// Fuzz target: GstDwtMeta from bytes of any kind, under caps of any kind, and whether valid metas
// can be read.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: the serial version, the transform and the picture (eight bytes), and run_meta()'s
// input.
#include <cstring>

#include "tests/fuzz/dwt_caps.h"

#include "tests/fuzz/coef_frames.h"

namespace {

using fuzzing::Input;
using fuzzing::promise;

// Whether the transform exists; a refusal says why.
bool info_of(Input* input, GstDwtInfo* info) {
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
  promise(set == (reason == nullptr), "a refusal says why");
  g_free(reason);
  return set;
}

// An info and its caps say the same.
void check_caps(const GstDwtInfo& info) {
  GstCaps* caps = gst_dwt_info_to_caps(&info);
  GstDwtInfo back;
  promise(gst_dwt_info_from_caps(&back, caps, nullptr), "caps of an info can be read");
  promise(std::memcmp(&back, &info, sizeof info) == 0, "they are those of the info");
  gst_caps_unref(caps);
}

// A reader of valid metas: every band lies in its component, every component in the buffer.
void read_components(const GstDwtMeta& meta, const GstDwtInfo& info, size_t size) {
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
              "quantisers do not overflow");
    }
  }
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
  const uint8_t version = input.byte() % 4 == 3 ? 0 : gstcoef::kDwtSerialVersion;
  GstDwtInfo info;
  if (!info_of(&input, &info)) return 0;
  check_caps(info);
  fuzzing::run_meta<fuzzing::DwtKind>(&input, info, version, read_components);
  return 0;
}
