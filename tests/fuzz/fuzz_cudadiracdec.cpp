// Fuzz target: the element cudadiracdec, fed with any bytes in any pieces and any order of events.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings, a byte that says how many pieces (1 to 8) are described, three
// bytes for each (what comes before it, its size), then the stream, which is cut into these pieces
// over and over.
#include <gst/video/video.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

// Small enough for hundreds of pictures a second.
constexpr guint64 kMaxSamples = guint64{1} << 14;
// Or as many as the default allows, within so much memory, and what is too small to be counted.
constexpr guint64 kMaxMemory = guint64{1} << 27, kUncounted = guint64{1} << 25;
constexpr gsize kMaxPieces = 64;

// What may come before a piece, in the low bits of its first byte.
enum { kFlush = 1, kCaps, kGap, kSegment, kSetOnError, kRestart };

struct Piece {
  guint8 before = 0;
  guint16 size = 0;
};

struct Stream {
  const char* on_error = "drop";
  guint threads = 1;
  bool little_memory = false;
  GstFormat format = GST_FORMAT_TIME;
  std::vector<Piece> pieces;

  explicit Stream(Input* input) {
    const guint8 settings = input->byte();
    constexpr std::array<const char*, 4> kOnError = {"drop", "conceal", "fail", "conceal"};
    on_error = kOnError[settings & 3];
    threads = 1 + (settings >> 2 & 3);
    little_memory = (settings & 0x40) != 0;
    format = settings & 0x20 ? GST_FORMAT_BYTES : GST_FORMAT_TIME;
    pieces.resize(1 + input->byte() % 8);
    for (Piece& piece : pieces) {
      piece.before = input->byte();
      piece.size = input->word();
    }
  }
};

GstCaps* caps_of(int variant) {
  GstCaps* caps = gst_caps_new_empty_simple("video/x-dirac");
  if (variant & 1)
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 1 + variant * 1000, 1001, nullptr);
  if (variant & 2)
    gst_caps_set_simple(caps, "width", G_TYPE_INT, variant, "height", G_TYPE_INT, variant, nullptr);
  return caps;
}

void act(ElementRun* run, const Stream& stream, guint8 before) {
  switch (before & 0x0f) {
    case kFlush:
      run->begin_again(caps_of(0), stream.format);
      break;
    case kCaps:
      run->push_caps(caps_of(before >> 4));
      break;
    case kGap:
      run->push_event(gst_event_new_gap(before * GST_MSECOND, GST_MSECOND));
      break;
    case kSegment: {
      GstSegment segment;
      gst_segment_init(&segment, stream.format);
      segment.start = before * GST_MSECOND;
      run->push_event(gst_event_new_segment(&segment));
      break;
    }
    case kSetOnError:
      gst_util_set_object_arg(G_OBJECT(run->element()), "on-error",
                              before & 0x80 ? "drop" : "conceal");
      break;
    case kRestart:
      gst_element_set_state(run->element(), GST_STATE_READY);
      gst_element_set_state(run->element(), GST_STATE_PLAYING);
      run->begin(caps_of(0), stream.format);
      break;
    default:
      break;
  }
}

guint64 max_samples = kMaxSamples;
size_t memory_before = 0;  // that malloc() had given out

size_t memory_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void check_memory() {
  promise(memory_in_use() <= memory_before + kMaxMemory + kUncounted, "memory has a bound");
}

// All of the frame can be read, so that valgrind sees samples that nobody wrote.
void check_output(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  promise(caps != nullptr && gst_video_info_from_caps(&info, caps), "frames have caps");
  promise(guint64{static_cast<guint>(info.width)} * static_cast<guint>(info.height) <= max_samples,
          "no frame is larger than it may be");
  check_memory();
  GstVideoFrame frame;
  promise(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ), "frames can be read");
  guint64 odd = 0;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++) {
    const int rows = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p);
    const int bytes =
        GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    for (int y = 0; y < rows; y++) {
      const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
      for (int x = 0; x < bytes; x++)
        if (row[x] & 1) odd++;
    }
  }
  promise(odd <= info.size, "samples are read");
  gst_video_frame_unmap(&frame);
  promise(GST_BUFFER_PTS_IS_VALID(buffer), "frames have times");
}

// Pushes the stream piece by piece, as long as the element takes it.
GstFlowReturn push_stream(ElementRun* run, const Stream& stream, const guint8* data, gsize size) {
  GstFlowReturn flow = GST_FLOW_OK;
  for (gsize piece = 0; size > 0 && piece < kMaxPieces && flow == GST_FLOW_OK; piece++) {
    const Piece& next = stream.pieces[piece % stream.pieces.size()];
    act(run, stream, next.before);
    const gsize bytes = next.size == 0 ? size : std::min<gsize>(size, next.size);
    GstBuffer* buffer = run->make_buffer(data, bytes);
    if (stream.format == GST_FORMAT_TIME) GST_BUFFER_PTS(buffer) = piece * 40 * GST_MSECOND;
    if (next.before & 0x10) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    flow = run->push(buffer);
    data += bytes;
    size -= bytes;
  }
  return flow;
}

guint64 stat_of(GstElement* element, const char* field) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  guint64 value = 0;
  promise(gst_structure_get_uint64(stats, field, &value), "the statistics have their fields");
  gst_structure_free(stats);
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzzing::init_elements();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const Stream stream(&input);
  const std::string description =
      std::string("cudadiracdec on-error=") + stream.on_error +
      " n-threads=" + std::to_string(stream.threads) +
      (stream.little_memory ? " max-memory=" + std::to_string(kMaxMemory)
                            : " max-samples=" + std::to_string(kMaxSamples));
  max_samples = stream.little_memory ? G_MAXINT64 : kMaxSamples;
  memory_before = memory_in_use();
  ElementRun run(description.c_str(), check_output);
  run.begin(caps_of(0), stream.format);
  const GstFlowReturn flow = push_stream(&run, stream, input.data(), input.size());
  if (flow == GST_FLOW_OK) {
    run.push_event(gst_event_new_eos());
    promise(run.at_eos(), "EOS arrives");
  }
  check_memory();
  promise(stat_of(run.element(), "frames") <= run.buffers(), "what is counted has been pushed");
  promise(stat_of(run.element(), "damaged") <= stat_of(run.element(), "pictures"),
          "what is damaged is a picture");
  return 0;
}
