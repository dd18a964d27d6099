// Shared by the fuzz targets of elements: frames and coefficients with wrong sizes and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A Kind is a transform's coefficients:
//   Info, Meta, kVersion                 its types, and the version of its serial form
//   info_of(input, info)                 the info that an input describes; false: there is none
//   caps_of(info)
//   add_meta(buffer, info, number)       a sound meta, whose tables or quantizers follow the number
//   validate(meta, info, size, reason)
//   info_from_caps(info, caps, reason), meta_of(buffer)
#pragma once

#include <gst/coef/coef.h>
#include <gst/coef/serial-private.h>
#include <gst/video/video.h>

#include <vector>

#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace fuzzing {

// Feeds an element with raw frames until the input is used up: the caps, then the actions before
// each frame, the shape of its buffer, the lie of its meta, a word for both, and samples. A picture
// is small and of any format that the elements take: three bytes. `with_rgb`: also packed ones and
// RGBP.
void push_raw_frames(ElementRun* run, Input* input, bool with_rgb = false);

// The size of a buffer that should have `whole` bytes: fewer, which clears `*sound`, or some more.
gsize other_size(guint32 value, gsize whole, bool* sound);

// An ElementRun::Look: every sample can be read, and the frame has the size of its caps.
void read_raw_frame(GstBuffer* buffer, GstCaps* caps);

// Adds a reference meta with the pictures' source, or with something else, of a `sampling`. False
// if the meta places samples outside of the buffer.
bool add_reference(GstBuffer* buffer, bool is_444, guint width, guint height, guint8 kind);

// The DCT's.
struct DctKind {
  using Info = GstDctInfo;
  using Meta = GstDctMeta;
  static constexpr uint8_t kVersion = gstcoef::kSerialVersion;

  // Coefficients of a small picture, of any format, layout, order and depth; five bytes of the
  // input. False if these cannot be combined.
  static bool info_of(Input* input, GstDctInfo* info);
  // In the default layout; divisors, if there are any, are `number` + 1.
  static GstDctMeta* add_meta(GstBuffer* buffer, const GstDctInfo& info, guint8 number);
  static constexpr auto caps_of = gst_dct_info_to_caps;
  static constexpr auto validate = gst_dct_meta_validate;
  static constexpr auto info_from_caps = gst_dct_info_from_caps;
  static GstDctMeta* meta_of(GstBuffer* buffer) { return gst_buffer_get_dct_meta(buffer); }
};

// Those of wavelets.
struct DwtKind {
  using Info = GstDwtInfo;
  using Meta = GstDwtMeta;
  static constexpr uint8_t kVersion = gstcoef::kDwtSerialVersion;

  // Coefficients of a small picture, of any transform; six bytes of the input. False if there is no
  // such transform.
  static bool info_of(Input* input, GstDwtInfo* info);
  // In the default layout; indices of quantizers, if there are any, count from `number`.
  static GstDwtMeta* add_meta(GstBuffer* buffer, const GstDwtInfo& info, guint8 number);
  static constexpr auto caps_of = gst_dwt_info_to_caps;
  static constexpr auto validate = gst_dwt_meta_validate;
  static constexpr auto info_from_caps = gst_dwt_info_from_caps;
  static GstDwtMeta* meta_of(GstBuffer* buffer) { return gst_buffer_get_dwt_meta(buffer); }
};

// Every coefficient of an element's output can be read, and its meta is sound.
template <typename Kind>
void read_coefficients(GstBuffer* buffer, GstCaps* caps) {
  typename Kind::Info info;
  promise(caps != nullptr && Kind::info_from_caps(&info, caps, nullptr), "coefficients have caps");
  const typename Kind::Meta* meta = Kind::meta_of(buffer);
  promise(meta != nullptr && Kind::validate(meta, &info, gst_buffer_get_size(buffer), nullptr),
          "coefficients have a sound meta");
  read_bytes(buffer);
}
// The same for the DCT where a buffer may be forwarded unchanged: without a meta, if it needs no
// tables.
void read_passed_coefficients(GstBuffer* buffer, GstCaps* caps);

template <typename Meta>
std::vector<uint8_t> bytes_of_meta(const Meta& meta) {
  std::vector<uint8_t> bytes;
  promise(gstcoef::serialize(meta, &bytes), "a sound meta can be stored");
  return bytes;
}

// Changes a byte: the input determines where and how.
inline void change_byte(Input* input, std::vector<uint8_t>* bytes) {
  const size_t at = input->word() % bytes->size();
  (*bytes)[at] ^= input->byte();
}

// Replaces `meta` by one from changed bytes, if these make one; false if it is unchanged.
template <typename Meta>
bool change_meta(Meta* meta, Input* input, int changes, uint8_t version) {
  std::vector<uint8_t> bytes = bytes_of_meta(*meta);
  const std::vector<uint8_t> before = bytes;
  for (; changes > 0; changes--) change_byte(input, &bytes);
  Meta read = {};
  if (bytes == before || !gstcoef::deserialize(bytes.data(), bytes.size(), version, &read))
    return false;
  read.meta = meta->meta;
  *meta = read;
  return true;
}

// A frame: the shape of its buffer, a number, data for the shape, and coefficients. `*sound` says
// whether the element has to output it.
template <typename Kind>
GstBuffer* make_coef_frame(ElementRun* run, Input* input, const typename Kind::Info& info,
                           bool* sound) {
  const guint8 shape = input->byte(), number = input->byte();
  *sound = true;
  const gsize size =
      (shape & 0x0f) == 0x0f ? other_size(input->word(), info.size, sound) : gsize{info.size};
  std::vector<guint8> bytes(size);
  input->take(bytes.data(), size);
  GstBuffer* buffer = run->make_buffer(bytes.data(), bytes.size());
  if ((shape & 0xe0) == 0xe0) {
    *sound = *sound && !info.quantized;
  } else {
    typename Kind::Meta* meta = Kind::add_meta(buffer, info, number);
    if (change_meta(meta, input, shape >> 4 & 3, Kind::kVersion)) *sound = false;
    if ((shape & 0xc0) == 0x40) {
      meta->n_components = 4;
      meta->components[3] = meta->components[0];
      *sound = false;
    }
  }
  if ((shape & 0x0f) >= 0x0c && !add_reference(buffer, info.sampling == GST_COEF_SAMPLING_444,
                                               info.width, info.height, number))
    *sound = false;
  return buffer;
}

// Feeds an element of this description such frames until the input is used up: the caps, then the
// actions before each frame, and the frame. `wanted`: caps of the peer; null: any.
template <typename Kind>
void run_coef_frames(const char* description, Input* input, const char* wanted = nullptr,
                     const ElementRun::Look& look = read_raw_frame) {
  constexpr guint kMaxFrames = 8;
  typename Kind::Info info;
  if (!Kind::info_of(input, &info)) return;
  ElementRun run(description, look);
  if (wanted) run.want_caps(wanted);
  run.begin(Kind::caps_of(&info), GST_FORMAT_TIME);
  const FrameMaker maker = {
      [&](guint8, bool*) -> GstCaps* {
        typename Kind::Info other;
        if (!Kind::info_of(input, &other)) return nullptr;
        info = other;
        return Kind::caps_of(&info);
      },
      [&] { return Kind::caps_of(&info); },
      [&](bool* sound) { return make_coef_frame<Kind>(&run, input, info, sound); }};
  push_frames(&run, input, maker, kMaxFrames, true, true);
}

// Reads a meta from the rest of an input: the buffer's size (two bytes), a byte of settings, a
// serialized meta or, as the settings select, changes to a sound one. It can be stored unchanged.
// If it is valid, it goes to read_components(meta, info, size of the buffer).
template <typename Kind, typename ReadComponents>
void run_meta(Input* input, const typename Kind::Info& info, uint8_t version,
              const ReadComponents& read_components) {
  constexpr size_t kMaxBytes = 1 << 12;  // of a serialized meta
  static GuardedMemory memory(kMaxBytes);
  const gsize buffer_size = info.size + input->word() % 512 - 128;
  std::vector<uint8_t> bytes;
  if (input->byte() & 1) {
    GstBuffer* buffer = gst_buffer_new();
    bytes = bytes_of_meta(*Kind::add_meta(buffer, info, input->byte()));
    gst_buffer_unref(buffer);
    while (input->size() > 0) change_byte(input, &bytes);
  } else {
    bytes.assign(input->data(), input->data() + std::min(input->size(), kMaxBytes));
  }
  typename Kind::Meta read = {};
  const uint8_t* guarded = memory.copy(bytes.data(), bytes.size());
  if (!gstcoef::deserialize(guarded, bytes.size(), version, &read)) return;
  promise(bytes_of_meta(read) == bytes, "it is stored as it was");
  gchar* reason = nullptr;
  if (Kind::validate(&read, &info, buffer_size, &reason))
    read_components(read, info, buffer_size);
  else
    promise(reason != nullptr && *reason != '\0', "a refusal says why");
  g_free(reason);
}

}  // namespace fuzzing
