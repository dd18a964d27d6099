// Fuzz targets: the decoders cudaapvdec, cudadiracdec and jpegcoefdec, fed with any bytes in any
// pieces and any order of events.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a StreamInput. Settings of jpegcoefdec: 0x40: all pictures of a file; 0x80: upstream
// knows its length.
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <string>

#include "tests/fuzz/frames.h"
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

void check_frame(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  promise(caps != nullptr && gst_video_info_from_caps(&info, caps), "frames have caps");
  promise(guint64{static_cast<guint>(info.width)} * static_cast<guint>(info.height) <= max_samples,
          "no frame is larger than it may be");
  check_memory();
  fuzzing::read_raw_frame(buffer, caps);
  promise(GST_BUFFER_PTS_IS_VALID(buffer), "frames have times");
}

// Of a codec whose element has the properties max-memory and max-samples.
void run_video(const char* element, const char* media, const uint8_t* data, size_t size,
               const std::function<void(const ElementRun&)>& check_stats) {
  Input input(data, size);
  const fuzzing::StreamInput stream(&input);
  const bool little_memory = (stream.settings & 0x40) != 0;
  const std::string description = std::string(element) + " " + stream.properties() +
                                  (little_memory ? " max-memory=" + std::to_string(kMaxMemory)
                                                 : " max-samples=" + std::to_string(kMaxSamples));
  const fuzzing::StreamTarget target = {
      .max_pieces = 64,
      .caps =
          [media](int variant) {
            return fuzzing::vary_caps(gst_caps_new_empty_simple(media), variant);
          },
      .bend = [](GstSegment* segment, guint8 before) { segment->start = before * GST_MSECOND; }};
  max_samples = little_memory ? G_MAXINT64 : kMaxSamples;
  memory_before = memory_in_use();
  ElementRun run(description.c_str(), check_frame);
  fuzzing::push_stream(&run, stream, target, &input);
  check_memory();
  const fuzzing::StreamLock lock(run);
  check_stats(run);
}

void run_dirac(const uint8_t* data, size_t size) {
  run_video("cudadiracdec", "video/x-dirac", data, size, [](const ElementRun& run) {
    promise(fuzzing::stat_of(run, "frames") <= run.buffers(), "what is counted has been pushed");
    promise(fuzzing::stat_of(run, "damaged") <= fuzzing::stat_of(run, "pictures"),
            "what is damaged is a picture");
  });
}

void run_apv(const uint8_t* data, size_t size) {
  run_video("cudaapvdec", "video/x-apv", data, size, [](const ElementRun& run) {
    promise(fuzzing::stat_of(run, "dropped") <= fuzzing::stat_of(run, "damaged"),
            "what is dropped is damaged");
  });
}

constexpr guint64 kMaxPixels = guint64{1} << 18;

// Reads every quantized coefficient, so that valgrind sees unwritten ones.
void check_qcoefs(const GstDctInfo& info, const GstDctMeta& meta, const guint8* data) {
  guint64 large = 0;
  for (guint c = 0; c < info.n_components; c++)
    for (guint y = 0; y < meta.components[c].blocks_h; y++) {
      const guint8* row = data + meta.components[c].offset + y * meta.components[c].stride;
      const auto* qcoefs = reinterpret_cast<const gint16*>(row);
      for (gsize i = 0; i < gsize{64} * meta.components[c].blocks_w; i++)
        if (qcoefs[i] > 1) large++;
    }
  promise(large <= info.size, "coefficients are read");
}

void check_coefficients(GstBuffer* buffer, GstCaps* caps, bool may_be_damaged) {
  GstDctInfo info;
  promise(caps && gst_dct_info_from_caps(&info, caps, nullptr), "coefficients have caps");
  GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  promise(meta && gst_dct_meta_validate(meta, &info, gst_buffer_get_size(buffer), nullptr),
          "coefficients have a sound meta");
  for (guint t = 0; t < meta->n_tables; t++)
    promise(std::count(meta->tables[t].values, meta->tables[t].values + 64, 0) < 64,
            "no table is blank");
  promise(may_be_damaged || !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED),
          "only on-error=conceal pushes what is damaged");
  GstMapInfo map;
  promise(gst_buffer_map(buffer, &map, GST_MAP_READ), "coefficients can be read");
  check_qcoefs(info, *meta, map.data);
  gst_buffer_unmap(buffer, &map);
}

GstCaps* caps_of(bool parsed, int variant) {
  return fuzzing::vary_caps(
      gst_caps_new_simple("image/jpeg", "parsed", G_TYPE_BOOLEAN, parsed, nullptr), variant);
}

void run_jpeg(const uint8_t* data, size_t size) {
  Input input(data, size);
  const fuzzing::StreamInput stream(&input);
  const std::string description = "jpegcoefdec " + stream.properties() +
                                  " max-pixels=" + std::to_string(kMaxPixels) +
                                  (stream.settings & 0x40 ? " pictures=all" : "");
  const bool parsed = stream.settings & 0x10, conceals = stream.may_conceal();
  const fuzzing::StreamTarget target = {
      .max_pieces = 200,
      .caps = [parsed](int variant) { return caps_of(parsed, variant); },
      .bend =
          [](GstSegment* segment, guint8 before) {
            segment->rate = before & 0x80 ? -1 : 2;
            if (segment->rate < 0) segment->stop = 10 * GST_SECOND;
          },
      .more =
          [parsed](ElementRun* run, guint8 before) {
            if ((before & 0x0f) == fuzzing::StreamInput::kMore)
              run->push_caps(caps_of(!parsed, before >> 4));
          }};
  ElementRun run(description.c_str(), [conceals](GstBuffer* buffer, GstCaps* caps) {
    check_coefficients(buffer, caps, conceals);
  });
  if (stream.settings & 0x80) run.know_length(static_cast<gint64>(size));
  fuzzing::push_stream(&run, stream, target, &input);
  const fuzzing::StreamLock lock(run);
  promise(fuzzing::stat_of(run, "frames") <= run.buffers(), "what is counted has been pushed");
  promise(fuzzing::stat_of(run, "dropped") <= fuzzing::stat_of(run, "damaged"),
          "what is dropped is damaged");
}

const fuzzing::Targets targets({{"fuzz_cudaapvdec", run_apv},
                                {"fuzz_cudadiracdec", run_dirac},
                                {"fuzz_jpegcoefdec", run_jpeg}},
                               fuzzing::set_up_elements);

}  // namespace
