// Element cudadiracdec: a stream of bytes into units, and these into codec frames of one picture.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
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

// The bytes that the base class holds, from `begin` on. Reading them merges no buffers.
class AdapterBytes final : public DiracBytes {
 public:
  AdapterBytes(GstVideoDecoder* decoder, GstAdapter* adapter, gsize begin)
      : decoder_(decoder), adapter_(adapter), begin_(begin) {}
  size_t size() const override { return gst_adapter_available(adapter_) - begin_; }
  void copy(size_t at, size_t count, uint8_t* to) const override {
    gst_adapter_copy(adapter_, to, begin_ + at, count);
  }
  size_t find_prefix(size_t from) const override {
    constexpr guint32 kPrefix = 0x42424344;  // "BBCD"
    constexpr size_t kPiece = size_t{1} << 20, kOverlap = 3;
    for (; from + kOverlap < size() && !is_dirac_flushing(decoder_); from += kPiece) {
      const size_t count = std::min(size() - from, kPiece + kOverlap);
      const gssize found = find_in_adapter(adapter_, G_MAXUINT32, kPrefix, begin_ + from, count);
      if (found >= 0) return static_cast<size_t>(found) - begin_;
    }
    return size();
  }

 private:
  GstVideoDecoder* decoder_;
  GstAdapter* adapter_;
  gsize begin_;
};

// A frame carries its bytes with it, because in reverse playback it waits for its turn in the base
// class.
void unref_input(gpointer input) { delete static_cast<std::shared_ptr<DiracInput>*>(input); }

// Makes a frame of the first `size` bytes. If they came in several buffers, the base class would
// copy them to memory of GLib's, which ends the process when memory runs out. So we collect them
// here and give the base class the first byte, by which it finds the frame's times.
GstFlowReturn make_frame(GstVideoDecoder* decoder, GstVideoCodecFrame* frame, GstAdapter* adapter,
                         gsize size) {
  DiracSplit& split = state_of(decoder).split;
  auto input = std::make_shared<DiracInput>();
  input->units = std::exchange(split.units, {});
  split.held = split.dropped = 0;
  gsize given = size;
  if (gst_adapter_available_fast(adapter) < size) {
    input->status = state_of(decoder).pictures.allocate(size, &input->memory);
    if (input->status.ok()) {
      gst_adapter_copy(adapter, input->memory->data(), 0, size);
      input->data = static_cast<const guint8*>(input->memory->data());
    }
    given = 1;
  }
  gst_video_decoder_add_to_frame(decoder, static_cast<int>(given));
  if (size > given) gst_adapter_flush(adapter, size - given);
  gst_video_codec_frame_set_user_data(frame, new std::shared_ptr<DiracInput>(std::move(input)),
                                      unref_input);
  return gst_video_decoder_have_frame(decoder);
}

// The sequence limits the size of its pictures.
void note_sequence(DiracSplit& split, const AdapterBytes& bytes, gsize size) {
  constexpr gsize kMostBytes = 1024;
  guint8 data[kMostBytes];
  size = std::min(size, kMostBytes);
  bytes.copy(0, size, data);
  DiracSequence sequence;
  if (!read_sequence({data + kDiracParseInfoBytes, size - kDiracParseInfoBytes}, {}, &sequence)
           .ok())
    return;
  guint64 samples = 0;
  for (int c = 0; c < kMaxComponents; ++c)
    samples += guint64{sequence.picture_width(c)} * sequence.picture_height(c);
  split.limits.picture =
      std::min(kMostOther + kMostBytesASample * samples, DiracLimits().max_unit_bytes);
}

// Whether the decoder learns anything from the unit, which begins with these bytes.
bool tells_something(const DiracParseInfo& info, const AdapterBytes& bytes, gsize size) {
  if (info.is_auxiliary() && size > kDiracParseInfoBytes) {
    guint8 kind = 0;
    bytes.copy(kDiracParseInfoBytes, 1, &kind);
    return kind == kDiracEncoderName;
  }
  return info.is_picture() || info.is_sequence_header() || info.is_end();
}

}  // namespace

DiracSplit::DiracSplit() : limits{kMostOther, kMostOther} {}

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
    gst_adapter_flush(adapter, gst_adapter_available(adapter));
    state.pusher.forget();
    return state.failed;
  }
  GST_OBJECT_LOCK(decoder);
  const guint64 most = state.settings.max_memory;
  GST_OBJECT_UNLOCK(decoder);
  state.pictures.limit(most);
  for (;;) {
    if (is_dirac_flushing(decoder)) return GST_FLOW_FLUSHING;
    const AdapterBytes bytes(decoder, adapter, split.held);
    const DiracUnitSpan unit = split.splitter.next(bytes, at_eos, split.limits);
    gsize size = unit.skipped + unit.size;
    if (size == 0) break;
    DiracParseInfo info;
    bool tells = false;
    if (unit.size > 0) {
      guint8 head[kDiracParseInfoBytes];
      bytes.copy(0, sizeof head, head);
      read_parse_info(head, &info);
      tells = tells_something(info, bytes, size);
      if (info.is_sequence_header()) note_sequence(split, bytes, size);
    } else {
      GST_DEBUG_OBJECT(decoder, "%" G_GSIZE_FORMAT " bytes belong to no unit", size);
    }
    if (tells) split.units.push_back({split.held, size});
    const bool is_whole = tells && (info.is_picture() || info.is_end());
    if (tells || split.held > 0) {
      split.held += size;
      if (is_whole || split.held >= kMostBefore)
        return make_frame(decoder, frame, adapter, split.held);
    } else if (split.dropped + size < kMostDropped) {
      split.dropped += size;
      gst_adapter_flush(adapter, size);
    } else {
      // The base class forgets the times of buffers together with their frames.
      return make_frame(decoder, frame, adapter, size);
    }
  }
  if (at_eos) {
    split = {};
    gst_adapter_flush(adapter, gst_adapter_available(adapter));
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
