// Fuzz target: the element jpegcoefdec, fed with any bytes in any pieces and any order of events.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: a byte of settings, a byte that says how many pieces (1 to 8) are described, three
// bytes for each (what comes before it, its size), then the stream, which is cut into these pieces
// over and over.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gst/coef/dct.h>
#include "tests/fuzz/elements.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

constexpr guint64 kMaxPixels = guint64{1} << 18;
constexpr gsize kMaxPieces = 200;

// What may come before a piece, in the low bits of its first byte.
enum { kFlush = 1, kCaps, kOtherParsing, kGap, kSegment, kSetOnError, kRestart };

struct Piece {
  guint8 before = 0;
  guint16 size = 0;
};

struct Stream {
  const char* on_error = "drop";
  guint threads = 1;
  bool parsed = false;
  GstFormat format = GST_FORMAT_TIME;
  std::vector<Piece> pieces;

  explicit Stream(Input* input) {
    const guint8 settings = input->byte();
    constexpr std::array<const char*, 4> kOnError = {"drop", "conceal", "fail", "conceal"};
    on_error = kOnError[settings & 3];
    threads = 1 + (settings >> 2 & 3);
    parsed = settings & 0x10;
    format = settings & 0x20 ? GST_FORMAT_BYTES : GST_FORMAT_TIME;
    pieces.resize(1 + input->byte() % 8);
    for (Piece& piece : pieces) {
      piece.before = input->byte();
      piece.size = input->word();
    }
  }
  bool may_conceal() const {
    return std::strcmp(on_error, "conceal") == 0 ||
           std::any_of(pieces.begin(), pieces.end(),
                       [](const Piece& piece) { return (piece.before & 0x0f) == kSetOnError; });
  }
};

GstCaps* caps_of(bool parsed, int variant) {
  GstCaps* caps = gst_caps_new_simple("image/jpeg", "parsed", G_TYPE_BOOLEAN, parsed, nullptr);
  if (variant & 1)
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 1 + variant * 1000, 1001, nullptr);
  if (variant & 2)
    gst_caps_set_simple(caps, "width", G_TYPE_INT, variant, "height", G_TYPE_INT, variant, nullptr);
  return caps;
}

void act(ElementRun* run, const Stream& stream, guint8 before) {
  switch (before & 0x0f) {
    case kFlush:
      run->push_event(gst_event_new_flush_start());
      run->push_event(gst_event_new_flush_stop(TRUE));
      run->begin(caps_of(stream.parsed, 0), stream.format);
      break;
    case kCaps:
      run->push_caps(caps_of(stream.parsed, before >> 4));
      break;
    case kOtherParsing:
      run->push_caps(caps_of(!stream.parsed, before >> 4));
      break;
    case kGap:
      run->push_event(gst_event_new_gap(before * GST_MSECOND, GST_MSECOND));
      break;
    case kSegment: {
      GstSegment segment;
      gst_segment_init(&segment, stream.format);
      segment.rate = before & 0x80 ? -1 : 2;
      if (segment.rate < 0) segment.stop = 10 * GST_SECOND;
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
      run->begin(caps_of(stream.parsed, 0), stream.format);
      break;
    default:
      break;
  }
}

// Reads every level, so that valgrind sees those that nobody wrote.
void check_levels(const GstDctInfo& info, const GstDctMeta& meta, const guint8* data) {
  guint64 large = 0;
  for (guint c = 0; c < info.n_components; c++)
    for (guint y = 0; y < meta.components[c].blocks_h; y++) {
      const guint8* row = data + meta.components[c].offset + y * meta.components[c].stride;
      const auto* levels = reinterpret_cast<const gint16*>(row);
      for (gsize i = 0; i < gsize{64} * meta.components[c].blocks_w; i++)
        if (levels[i] > 1) large++;
    }
  promise(large <= info.size, "levels are read");
}

void check_output(GstBuffer* buffer, GstCaps* caps, bool may_be_damaged) {
  GstDctInfo info;
  promise(caps && gst_dct_info_from_caps(&info, caps, nullptr), "coefficients have caps");
  GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  promise(meta && gst_dct_meta_validate(meta, &info, gst_buffer_get_size(buffer), nullptr),
          "coefficients have a sound meta");
  for (guint t = 0; t < meta->n_tables; t++)
    promise(std::count(meta->tables[t].values, meta->tables[t].values + 64, 0) == 0,
            "no table has a zero");
  promise(may_be_damaged || !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED),
          "only on-error=conceal pushes what is damaged");
  GstMapInfo map;
  promise(gst_buffer_map(buffer, &map, GST_MAP_READ), "coefficients can be read");
  check_levels(info, *meta, map.data);
  gst_buffer_unmap(buffer, &map);
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
  const std::string description = std::string("jpegcoefdec on-error=") + stream.on_error +
                                  " n-threads=" + std::to_string(stream.threads) +
                                  " max-pixels=" + std::to_string(kMaxPixels);
  const bool conceals = stream.may_conceal();
  ElementRun run(description.c_str(), [conceals](GstBuffer* buffer, GstCaps* caps) {
    check_output(buffer, caps, conceals);
  });
  run.begin(caps_of(stream.parsed, 0), stream.format);
  const GstFlowReturn flow = push_stream(&run, stream, input.data(), input.size());
  if (flow == GST_FLOW_OK) {
    run.push_event(gst_event_new_eos());
    promise(run.at_eos(), "EOS arrives");
  }
  promise(stat_of(run.element(), "frames") <= run.buffers(), "what is counted has been pushed");
  promise(stat_of(run.element(), "dropped") <= stat_of(run.element(), "damaged"),
          "what is dropped is damaged");
  return 0;
}
