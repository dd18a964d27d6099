// Fuzz target: GstDctMeta from bytes of any kind, and whether what passes validation can be read.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: the serial version, the caps (five bytes), how large the buffer is (two bytes), a byte
// of settings; the rest is a serialised meta or, where the settings say so, changes to a sound one.
#include <cstring>
#include <vector>

#include <gst/coef/dct-serial.h>
#include <gst/coef/dct.h>
#include "tests/fuzz/changed_metas.h"
#include "tests/fuzz/dct_caps.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using fuzzing::GuardedMemory;
using fuzzing::Input;
using fuzzing::promise;

constexpr size_t kMostBytes = 1 << 12;  // of a serialised meta

// The bytes of a sound meta, some of them changed as the input says.
std::vector<uint8_t> changed_meta(Input* input, const GstDctInfo& info) {
  GstBuffer* buffer = gst_buffer_new();
  GstDctMeta* meta = fuzzing::add_sound_meta(buffer, info, 1 + input->byte());
  std::vector<uint8_t> bytes = fuzzing::bytes_of_meta(*meta);
  gst_buffer_unref(buffer);
  while (input->size() > 0) fuzzing::change_byte(input, &bytes);
  return bytes;
}

// A reader of what has passed: the first and the last byte of every component lie in the buffer.
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

// What was read can be stored again, and is what was read.
void store_again(const GstDctMeta& read, const std::vector<uint8_t>& from) {
  std::vector<uint8_t> again;
  promise(gstcoef::serialise(read, &again), "what was read can be stored");
  promise(again == from, "it is stored as it was");
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
  const uint8_t version = input.byte() % 4 == 3 ? 0 : gstcoef::kSerialVersion;
  GstDctInfo info;
  if (!fuzzing::dct_info_of(&input, &info)) return 0;
  const gsize buffer_size = info.size + input.word() % 512 - 128;
  std::vector<uint8_t> bytes;
  if (input.byte() & 1)
    bytes = changed_meta(&input, info);
  else
    bytes.assign(input.data(), input.data() + std::min(input.size(), kMostBytes));

  GstDctMeta read = {};
  const uint8_t* guarded = memory.copy(bytes.data(), bytes.size());
  if (!gstcoef::deserialise(guarded, bytes.size(), version, &read)) return 0;
  store_again(read, bytes);
  gchar* reason = nullptr;
  if (gst_dct_meta_validate(&read, &info, buffer_size, &reason))
    read_components(read, info, buffer_size);
  else
    promise(reason != nullptr && *reason != '\0', "a refusal says why");
  g_free(reason);
  return 0;
}
