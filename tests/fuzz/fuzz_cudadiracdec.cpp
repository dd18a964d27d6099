// Fuzz target: the element cudadiracdec, fed with any bytes in any pieces and any order of events.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a StreamInput.
#include <gst/video/video.h>
#include <malloc.h>

#include <string>

#include "tests/fuzz/stream_input.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

// Small enough for hundreds of pictures a second.
constexpr guint64 kMaxSamples = guint64{1} << 14;
// Or as many as the default allows, within this memory, plus allocations too small to count.
constexpr guint64 kMaxMemory = guint64{1} << 27, kUncounted = guint64{1} << 25;

guint64 max_samples = kMaxSamples;
size_t memory_before = 0;  // allocated by malloc()

size_t memory_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void check_memory() {
  promise(memory_in_use() <= memory_before + kMaxMemory + kUncounted, "memory has a bound");
}

// Reads all of the frame, so that valgrind sees unwritten samples.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const fuzzing::StreamInput stream(&input);
  const bool little_memory = (stream.settings & 0x40) != 0;
  const std::string description = "cudadiracdec " + stream.properties() +
                                  (little_memory ? " max-memory=" + std::to_string(kMaxMemory)
                                                 : " max-samples=" + std::to_string(kMaxSamples));
  const fuzzing::StreamTarget target = {
      .most_pieces = 64,
      .caps =
          [](int variant) {
            return fuzzing::vary_caps(gst_caps_new_empty_simple("video/x-dirac"), variant);
          },
      .bend = [](GstSegment* segment, guint8 before) { segment->start = before * GST_MSECOND; }};
  max_samples = little_memory ? G_MAXINT64 : kMaxSamples;
  memory_before = memory_in_use();
  ElementRun run(description.c_str(), check_output);
  fuzzing::push_stream(&run, stream, target, &input);
  check_memory();
  promise(fuzzing::stat_of(run, "frames") <= run.buffers(), "what is counted has been pushed");
  promise(fuzzing::stat_of(run, "damaged") <= fuzzing::stat_of(run, "pictures"),
          "what is damaged is a picture");
  return 0;
}
