// Element cudadiracdec: a stream of bytes into units, and these into codec frames of one picture.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "gst/dirac/cudadiracdec_private.h"
#include "gst/engine/one_piece.h"

namespace cudatransform {
namespace {

// The most bytes before a picture in its codec frame, and the most dropped between two.
constexpr gsize kMostBefore = gsize{1} << 16, kMostDropped = gsize{1} << 18;
// Room for units without a picture, and for the pictures' needs besides their samples.
constexpr guint64 kMostOther = guint64{1} << 20;
// Lossless codes of noise in 16 bits take 5 bytes a sample.
constexpr guint64 kMostBytesASample = 8;

// A frame carries its bytes with it, because in reverse playback it waits for its turn in the base
// class.
void unref_input(gpointer input) { delete static_cast<std::shared_ptr<DiracInput>*>(input); }

// Makes a frame of the first `size` bytes. Those that came in several buffers are copied to memory
// that max-memory counts, and the base class gets the first byte, by which it finds the frame's
// times.
GstFlowReturn make_frame(GstVideoDecoder* decoder, GstVideoCodecFrame* frame, gsize size) {
  DiracSplit& split = state_of(decoder).split;
  auto input = std::make_shared<DiracInput>();
  input->units = std::exchange(split.units, {});
  split.held = split.dropped = 0;
  gsize given = size;
  if (split.bytes.is_copied()) {
    input->status = state_of(decoder).pictures.allocate(size, &input->memory);
    if (input->status.ok()) {
      memcpy(input->memory->data(), split.bytes.bytes().data(), size);
      input->data = static_cast<const guint8*>(input->memory->data());
    }
    given = 1;
  }
  split.bytes.add_to_frame(decoder, given);
  split.bytes.flush(size - given);
  gst_video_codec_frame_set_user_data(frame, new std::shared_ptr<DiracInput>(std::move(input)),
                                      unref_input);
  return gst_video_decoder_have_frame(decoder);
}

// The sequence limits the size of its pictures.
void note_sequence(DiracSplit& split, std::span<const guint8> unit) {
  constexpr gsize kMostBytes = 1024;
  const auto header = unit.first(std::min(unit.size(), kMostBytes)).subspan(kDiracParseInfoBytes);
  DiracSequence sequence;
  if (!read_sequence(header, {}, &sequence).ok()) return;
  guint64 samples = 0;
  for (int c = 0; c < kMaxComponents; ++c)
    samples += guint64{sequence.picture_width(c)} * sequence.picture_height(c);
  split.limits.picture =
      std::min(kMostOther + kMostBytesASample * samples, DiracLimits().max_unit_bytes);
}

// Whether the decoder learns anything from the unit.
bool tells_something(const DiracParseInfo& info, std::span<const guint8> unit) {
  if (info.is_auxiliary() && unit.size() > kDiracParseInfoBytes)
    return unit[kDiracParseInfoBytes] == kDiracEncoderName;
  return info.is_picture() || info.is_sequence_header() || info.is_end();
}

}  // namespace

void DiracSplit::reset() {
  bytes.clear();
  splitter = DiracSplitter();
  limits = {kMostOther, kMostOther};
  units.clear();
  held = dropped = 0;
}

bool is_dirac_flushing(GstVideoDecoder* decoder) {
  return GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder));
}

bool DiracInput::map(GstBuffer* buffer) {
  if (data != nullptr || !status.ok()) return status.ok();
  status = in_one_piece(buffer, &buffer_);
  if (!status.ok()) return false;
  if (!mapped_.map(buffer_.get(), GST_MAP_READ)) {
    status = Status::error(StatusCode::kFailed, "a buffer could not be mapped");
    return false;
  }
  data = mapped_.data();
  return true;
}

// A frame is a picture, with the units before it that describe it. Other units are dropped at once
// where no frame has begun; so are bytes of no unit.
GstFlowReturn parse_dirac_stream(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                 GstAdapter* adapter, bool at_eos) {
  DiracState& state = state_of(decoder);
  DiracSplit& split = state.split;
  if (state.failed != GST_FLOW_OK) {
    split.reset();
    split.bytes.discard(adapter, 0);
    state.pusher.forget();
    return state.failed;
  }
  if (const Status status = split.bytes.gather(adapter); !status.ok()) {
    split.reset();
    split.bytes.discard(adapter, 0);
    return push_dirac_frames(decoder, status, false);
  }
  GST_OBJECT_LOCK(decoder);
  const guint64 most = state.settings.max_memory;
  GST_OBJECT_UNLOCK(decoder);
  state.pictures.limit(most);
  for (;;) {
    if (is_dirac_flushing(decoder)) return GST_FLOW_FLUSHING;
    const std::span<const guint8> bytes = split.bytes.bytes().subspan(split.held);
    const DiracUnitSpan unit = split.splitter.next(bytes, at_eos, split.limits);
    gsize size = unit.skipped + unit.size;
    if (size == 0) break;
    DiracParseInfo info;
    bool tells = false;
    if (unit.size > 0) {
      read_parse_info(bytes, &info);
      tells = tells_something(info, bytes.first(size));
      if (info.is_sequence_header()) note_sequence(split, bytes.first(size));
    } else {
      GST_DEBUG_OBJECT(decoder, "%" G_GSIZE_FORMAT " bytes belong to no unit", size);
    }
    if (tells) split.units.push_back({split.held, size});
    const bool is_whole = tells && (info.is_picture() || info.is_end());
    if (tells || split.held > 0) {
      split.held += size;
      if (is_whole || split.held >= kMostBefore) return make_frame(decoder, frame, split.held);
    } else if (split.dropped + size < kMostDropped) {
      split.dropped += size;
      split.bytes.flush(size);
    } else {
      // The base class forgets the times of buffers together with their frames.
      return make_frame(decoder, frame, size);
    }
  }
  if (at_eos) {
    split.reset();
    split.bytes.discard(adapter, 0);
  }
  // A unit that comes in several buffers is copied when it is whole. Pictures that made room for it
  // leave.
  const Status status =
      state.pictures.hold(gst_adapter_available(adapter) + split.splitter.wanted());
  if (status.ok() && !state.pictures.has_ready()) return GST_VIDEO_DECODER_FLOW_NEED_DATA;
  const GstFlowReturn flow = push_dirac_frames(decoder, status, false);
  return flow == GST_FLOW_OK ? GST_VIDEO_DECODER_FLOW_NEED_DATA : flow;
}

}  // namespace cudatransform
