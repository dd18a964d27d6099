// Fuzz target: the element cudadct8x8, fed with raw frames whose sizes and GstVideoMetas lie.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (three bytes), then frames until it is used up. A
// frame begins with what comes before it, the shape of its buffer and the lie of its meta; its
// samples follow.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gst/coef/dct.h>
#include "tests/check/rawformats.h"
#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

constexpr int kMostFrames = 8;
constexpr int kMostSamples = 72;  // width and height

std::string description_of(guint8 how, guint8 more) {
  static const char* const methods[] = {"islow",     "ifast",      "float",   "reference", "naive",
                                        "separable", "decomposed", "shuffle", "matrix"};
  std::string text = "cudadct8x8 n-threads=1 async-depth=2 method=";
  text += methods[how % 9];
  text += " quality=" + std::to_string(1 + how % 100);
  if (more & 1) text += " keep-reference=true";
  if (more & 2) text += " measure=psnr+time+zeros";
  return text;
}

GstVideoInfo info_of(Input* input) {
  const testing::Raw& raw = testing::kRaws[input->byte() % G_N_ELEMENTS(testing::kRaws)];
  const guint width = 1 + input->byte() % kMostSamples, height = 1 + input->byte() % kMostSamples;
  GstVideoInfo info;
  gst_video_info_set_format(&info, raw.format, width, height);
  return info;
}

// Every coefficient of what comes out can be read, and its meta is sound.
void read_coefficients(GstBuffer* buffer, GstCaps* caps) {
  GstDctInfo info;
  promise(caps != nullptr && gst_dct_info_from_caps(&info, caps), "coefficients have caps");
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  promise(
      meta != nullptr && gst_dct_meta_validate(meta, &info, gst_buffer_get_size(buffer), nullptr),
      "coefficients have a sound meta");
  GstMapInfo map;
  promise(gst_buffer_map(buffer, &map, GST_MAP_READ), "coefficients can be read");
  guint sum = 0;
  for (gsize i = 0; i < map.size; i++) sum += map.data[i];
  promise(sum < G_MAXUINT, "bytes are small");
  gst_buffer_unmap(buffer, &map);
}

// Changes one field of a sound meta; false if nothing is changed.
bool tell_lie(GstVideoMeta* meta, guint8 which, guint32 value) {
  const guint plane = (which >> 4) % GST_VIDEO_MAX_PLANES;
  const gsize wide = value & 1 ? G_MAXSIZE - value : value;
  switch (which & 0x0f) {
    case 1:
      meta->offset[plane] = wide;
      break;
    case 2:
      meta->stride[plane] = static_cast<gint>(value & 1 ? -value : value);
      break;
    case 3:
      meta->width = value;
      break;
    case 4:
      meta->height = value;
      break;
    case 5:
      meta->n_planes = value;
      break;
    case 6: {
      // As a program in C may do it: also to what the enum does not have.
      const guint32 format = value & 1 ? wide : value % 128;
      memcpy(&meta->format, &format, sizeof format);
      break;
    }
    case 7:
      meta->offset[plane] += value % 256;
      break;
    case 8:
      meta->stride[plane] = G_MAXINT - static_cast<gint>(value);
      break;
    default:
      return false;
  }
  return true;
}

// The bytes in one memory or in several.
GstBuffer* make_buffer(ElementRun* run, const std::vector<guint8>& bytes, gsize first) {
  first = std::min(first, bytes.size());
  if (first == 0) return run->make_buffer(bytes.data(), bytes.size());
  return gst_buffer_append(run->make_buffer(bytes.data(), first),
                           run->make_buffer(bytes.data() + first, bytes.size() - first));
}

// A frame; `*sound` says whether it has to come out.
GstBuffer* make_frame(ElementRun* run, Input* input, GstVideoInfo info, bool* sound) {
  const guint8 shape = input->byte(), lie = input->byte();
  const guint32 value = input->word();
  gsize size = info.size;
  *sound = true;
  if ((shape & 0x0f) == 0x0f) {
    size = value % (info.size + 64);
    *sound = size >= info.size;
  }
  std::vector<guint8> bytes(size);
  input->take(bytes.data(), size);
  GstBuffer* buffer = make_buffer(run, bytes, shape & 0x10 ? value : 0);
  if (!(shape & 0x60)) return buffer;
  GstVideoMeta* meta = gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo->format, info.width, info.height,
      info.finfo->n_planes, info.offset, info.stride);
  // A plane that a meta describes lies in one memory.
  if (tell_lie(meta, lie, value) || gst_buffer_n_memory(buffer) > 1) *sound = false;
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
  ElementRun run(description_of(how, more).c_str(), read_coefficients);
  static const char* const wanted[] = {"", ",order=zigzag", ",layout=plane", ",quantized=false"};
  run.want_caps((std::string("video/x-dct") + wanted[more >> 2 & 3]).c_str());
  GstVideoInfo info = info_of(&input);
  run.begin(gst_video_info_to_caps(&info), GST_FORMAT_TIME);
  const fuzzing::FrameMaker maker = {
      [&](guint8, bool*) {
        info = info_of(&input);
        return gst_video_info_to_caps(&info);
      },
      [&] { return gst_video_info_to_caps(&info); },
      [&](bool* sound) { return make_frame(&run, &input, info, sound); }};
  fuzzing::push_frames(&run, &input, maker, kMostFrames, true, true);
  return 0;
}
