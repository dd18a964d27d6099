// Fuzz target: the element cudaidct8x8, fed with coefficients of any value and metas that lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (five bytes), then frames until it is used up. A
// frame begins with what comes before it, the shape of its buffer and the lies of its meta, as
// changes to the bytes of a serialised one; its coefficients follow.
#include <algorithm>
#include <string>
#include <vector>

#include <gst/coef/coef.h>
#include <gst/coef/dct-serial.h>
#include "tests/fuzz/dct_caps.h"
#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

constexpr int kMostFrames = 8;

std::string description_of(guint8 how, guint8 more) {
  static const char* const methods[] = {"islow",     "ifast",      "float",   "reference", "naive",
                                        "separable", "decomposed", "shuffle", "matrix"};
  static const char* const scales[] = {"1", "1/2", "1/4", "1/8"};
  std::string text = "cudaidct8x8 n-threads=1 async-depth=2 method=";
  text += methods[how % 9];
  text += std::string(" scale=") + scales[more & 3];
  if (more & 4) text += " measure=psnr+time+zeros";
  return text;
}

// Every sample of what comes out can be read, and is of the size that its caps say.
void read_frame(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  promise(caps != nullptr && gst_video_info_from_caps(&info, caps), "frames have caps");
  GstVideoFrame frame;
  promise(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ), "frames can be read");
  guint sum = 0;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++) {
    const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    const gint rows = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p);
    const gint bytes =
        GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    for (gint y = 0; y < rows; y++, row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p))
      for (gint x = 0; x < bytes; x++) sum += row[x];
  }
  promise(sum < G_MAXUINT, "samples are small");
  gst_video_frame_unmap(&frame);
}

// Replaces `meta` by one of changed bytes, if these are one; false where it is as it was.
bool change_meta(GstDctMeta* meta, Input* input, int changes) {
  std::vector<uint8_t> bytes;
  promise(gstcoef::serialise(*meta, &bytes), "a sound meta can be stored");
  const std::vector<uint8_t> before = bytes;
  for (; changes > 0; changes--) {
    const size_t at = input->word() % bytes.size();
    bytes[at] ^= input->byte();
  }
  GstDctMeta read = {};
  if (bytes == before ||
      !gstcoef::deserialise(bytes.data(), bytes.size(), gstcoef::kSerialVersion, &read))
    return false;
  read.meta = meta->meta;
  *meta = read;
  return true;
}

// What the pictures were made from, or something else that the meta calls so. False where it lies:
// where it says that the samples lie outside of the buffer.
bool add_reference(GstBuffer* buffer, const GstDctInfo& info, guint8 kind) {
  GstVideoInfo video;
  const GstVideoFormat format = info.sampling == GST_COEF_SAMPLING_444 ? GST_VIDEO_FORMAT_Y444
                                : kind & 1                             ? GST_VIDEO_FORMAT_GRAY8
                                                                       : GST_VIDEO_FORMAT_I420;
  gst_video_info_set_format(&video, format, kind & 2 ? info.width : 16, info.height);
  const gsize bytes = kind & 4 ? video.size : video.size / 2;
  GstBuffer* source = gst_buffer_new_allocate(nullptr, bytes, nullptr);
  gst_buffer_memset(source, 0, kind, bytes);
  if (kind & 8) video.stride[0] = kind * 1000;
  gst_buffer_add_coef_reference_meta(buffer, source, &video);
  gst_buffer_unref(source);
  return (kind & 4) && !(kind & 8);
}

// A frame of coefficients; `*sound` says whether it has to come out.
GstBuffer* make_frame(ElementRun* run, Input* input, const GstDctInfo& info, bool* sound) {
  const guint8 shape = input->byte(), divisor = input->byte();
  gsize size = info.size;
  *sound = true;
  if ((shape & 0x0f) == 0x0f) {
    size = input->word() % (info.size + 64);
    *sound = size >= info.size;
  }
  std::vector<guint8> bytes(size);
  input->take(bytes.data(), size);
  GstBuffer* buffer = run->make_buffer(bytes.data(), bytes.size());
  if ((shape & 0xe0) == 0xe0) {
    *sound = *sound && !info.quantized;
  } else {
    GstDctMeta* meta = fuzzing::add_sound_meta(buffer, info, 1 + divisor);
    if (change_meta(meta, input, shape >> 4 & 3)) *sound = false;
    if ((shape & 0xc0) == 0x40) {
      meta->n_components = 4;
      meta->components[3] = meta->components[0];
      *sound = false;
    }
  }
  if ((shape & 0x0f) >= 0x0c && !add_reference(buffer, info, divisor)) *sound = false;
  return buffer;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzzing::init_elements();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  GstDctInfo info;
  if (!fuzzing::dct_info_of(&input, &info)) return 0;
  ElementRun run(description_of(how, more).c_str(), read_frame);
  run.begin(gst_dct_info_to_caps(&info), GST_FORMAT_TIME);
  const fuzzing::FrameMaker maker = {
      [&](guint8, bool*) -> GstCaps* {
        GstDctInfo other;
        if (!fuzzing::dct_info_of(&input, &other)) return nullptr;
        info = other;
        return gst_dct_info_to_caps(&info);
      },
      [&] { return gst_dct_info_to_caps(&info); },
      [&](bool* sound) { return make_frame(&run, &input, info, sound); }};
  fuzzing::push_frames(&run, &input, maker, kMostFrames, true, true);
  return 0;
}
