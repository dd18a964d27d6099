// Fuzz target: GstDwtMeta from bytes of any kind, under caps of any kind, and whether what passes
// validation can be read.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: the serial version, the transform and the picture (eight bytes), how large the buffer
// is (two bytes), a byte of settings; the rest is a serialised meta or, where the settings say so,
// changes to a sound one.
#include <cstring>
#include <vector>

#include <gst/coef/dwt-serial.h>
#include <gst/coef/dwt.h>
#include "tests/fuzz/changed_metas.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using fuzzing::GuardedMemory;
using fuzzing::Input;
using fuzzing::promise;

constexpr size_t kMostBytes = 1 << 12;  // of a serialised meta

// Whether there is such a transform; a refusal says why.
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

// What an info says is what its caps say.
void check_caps(const GstDwtInfo& info) {
  GstCaps* caps = gst_dwt_info_to_caps(&info);
  GstDwtInfo back;
  promise(gst_dwt_info_from_caps(&back, caps, nullptr), "caps of an info can be read");
  promise(std::memcmp(&back, &info, sizeof info) == 0, "they are those of the info");
  gst_caps_unref(caps);
}

// The bytes of a sound meta, some of them changed as the input says.
std::vector<uint8_t> changed_meta(Input* input, const GstDwtInfo& info) {
  GstBuffer* buffer = gst_buffer_new();
  GstDwtMeta* meta = gst_buffer_add_dwt_meta(buffer, &info);
  for (guint b = 0; info.quantized && b < gst_dwt_info_get_n_bands(&info); b++)
    gst_dwt_meta_set_quant_index(meta, 0, b, 5 * b);
  std::vector<uint8_t> bytes = fuzzing::bytes_of_meta(*meta);
  gst_buffer_unref(buffer);
  while (input->size() > 0) fuzzing::change_byte(input, &bytes);
  return bytes;
}

// A reader of what has passed: every band lies in its component, every component in the buffer.
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
  static GuardedMemory memory(kMostBytes);
  Input input(data, size);
  const uint8_t version = input.byte() % 4 == 3 ? 0 : gstcoef::kDwtSerialVersion;
  GstDwtInfo info;
  if (!info_of(&input, &info)) return 0;
  check_caps(info);
  const gsize buffer_size = info.size + input.word() % 512 - 128;
  std::vector<uint8_t> bytes;
  if (input.byte() & 1)
    bytes = changed_meta(&input, info);
  else
    bytes.assign(input.data(), input.data() + std::min(input.size(), kMostBytes));

  GstDwtMeta read = {};
  const uint8_t* guarded = memory.copy(bytes.data(), bytes.size());
  if (!gstcoef::deserialise(guarded, bytes.size(), version, &read)) return 0;
  std::vector<uint8_t> again;
  promise(gstcoef::serialise(read, &again) && again == bytes, "it is stored as it was");
  gchar* reason = nullptr;
  if (gst_dwt_meta_validate(&read, &info, buffer_size, &reason))
    read_components(read, info, buffer_size);
  else
    promise(reason != nullptr && *reason != '\0', "a refusal says why");
  g_free(reason);
  return 0;
}
