// Shared by the fuzz targets of decoders: a stream of bytes in any pieces, and any order of events.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/stream_input.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace fuzzing {
namespace {

void act(ElementRun* run, const StreamInput& stream, const StreamTarget& target, guint8 before) {
  switch (before & 0x0f) {
    case StreamInput::kFlush:
      run->begin_again(target.caps(0), stream.format);
      break;
    case StreamInput::kCaps:
      run->push_caps(target.caps(before >> 4));
      break;
    case StreamInput::kGap:
      run->push_event(gst_event_new_gap(before * GST_MSECOND, GST_MSECOND));
      break;
    case StreamInput::kSegment: {
      GstSegment segment;
      gst_segment_init(&segment, stream.format);
      target.bend(&segment, before);
      run->push_event(gst_event_new_segment(&segment));
      break;
    }
    case StreamInput::kSetOnError:
      gst_util_set_object_arg(G_OBJECT(run->element()), "on-error",
                              before & 0x80 ? "drop" : "conceal");
      break;
    case StreamInput::kRestart:
      gst_element_set_state(run->element(), GST_STATE_READY);
      gst_element_set_state(run->element(), GST_STATE_PLAYING);
      run->begin(target.caps(0), stream.format);
      break;
    default:
      target.more(run, before);
      break;
  }
}

}  // namespace

StreamInput::StreamInput(Input* input) : settings(input->byte()) {
  constexpr std::array<const char*, 4> kOnError = {"drop", "conceal", "fail", "conceal"};
  on_error = kOnError[settings & 3];
  threads = 1 + (settings >> 2 & 3);
  format = settings & 0x20 ? GST_FORMAT_BYTES : GST_FORMAT_TIME;
  pieces.resize(1 + input->byte() % 8);
  for (Piece& piece : pieces) {
    piece.before = input->byte();
    piece.size = input->word();
  }
}

std::string StreamInput::properties() const {
  return std::string("on-error=") + on_error + " n-threads=" + std::to_string(threads);
}

bool StreamInput::may_conceal() const {
  return on_error == std::string_view("conceal") ||
         std::any_of(pieces.begin(), pieces.end(),
                     [](const Piece& piece) { return (piece.before & 0x0f) == kSetOnError; });
}

void push_stream(ElementRun* run, const StreamInput& stream, const StreamTarget& target,
                 Input* input) {
  run->begin(target.caps(0), stream.format);
  const uint8_t* data = input->data();
  gsize size = input->size();
  GstFlowReturn flow = GST_FLOW_OK;
  for (gsize piece = 0; size > 0 && piece < target.max_pieces && flow == GST_FLOW_OK; piece++) {
    const StreamInput::Piece& next = stream.pieces[piece % stream.pieces.size()];
    act(run, stream, target, next.before);
    const gsize bytes = next.size == 0 ? size : std::min<gsize>(size, next.size);
    GstBuffer* buffer = run->make_buffer(data, bytes);
    if (stream.format == GST_FORMAT_TIME) GST_BUFFER_PTS(buffer) = piece * 40 * GST_MSECOND;
    if (next.before & 0x10) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    flow = run->push(buffer);
    data += bytes;
    size -= bytes;
  }
  if (flow != GST_FLOW_OK) return;
  run->push_event(gst_event_new_eos());
  promise(run->at_eos(), "EOS arrives");
}

GstCaps* vary_caps(GstCaps* caps, int variant) {
  if (variant & 1)
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 1 + variant * 1000, 1001, nullptr);
  if (variant & 2)
    gst_caps_set_simple(caps, "width", G_TYPE_INT, variant, "height", G_TYPE_INT, variant, nullptr);
  return caps;
}

guint64 stat_of(const ElementRun& run, const char* field) {
  GstStructure* stats = nullptr;
  g_object_get(run.element(), "stats", &stats, nullptr);
  guint64 value = 0;
  promise(gst_structure_get_uint64(stats, field, &value), "the statistics have their fields");
  gst_structure_free(stats);
  return value;
}

}  // namespace fuzzing
