// Element jpegcoefdec: a stream of bytes into pictures, each of which becomes a frame.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "gst/jpeg/jpegcoefdec_private.h"

using State = cudatransform::JpegCoefDecState;
using cudatransform::JpegSplitter;
using cudatransform::PictureBytes;

namespace {

constexpr gsize kPiece = 16384;  // of a stream, looked at in one go

bool is_too_long(const JpegSplitter& splitter) {
  return splitter.inside() && splitter.position() - splitter.begin() > PictureBytes::kMost;
}

// The position of the first byte that the base class holds.
gsize head_of(const State& state) {
  return state.collected.size() > 0 ? state.splitter.begin() + state.collected.size() : 0;
}

// Feeds the splitter what it has not seen. What it has not seen began with a buffer of its own.
void look_at_new_bytes(State* state, GstAdapter* adapter) {
  JpegSplitter& splitter = state->splitter;
  const gsize head = head_of(*state), end = head + gst_adapter_available(adapter);
  guint8 piece[kPiece];
  bool first = true;
  while (!splitter.found() && splitter.position() < end && !is_too_long(splitter)) {
    const gsize size = std::min(kPiece, end - splitter.position());
    gst_adapter_copy(adapter, piece, splitter.position() - head, size);
    // Where buffers have times, one that begins like a picture is one, and what came before it was
    // cut off.
    if (first && state->pictures.framed() && splitter.inside() && size >= 3 && piece[0] == 0xff &&
        piece[1] == 0xd8 && piece[2] == 0xff)
      splitter.cut();
    else
      splitter.feed(piece, size);
    first = false;
  }
}

// What is not part of a picture goes at once, all but an FF that may be the first half of SOI.
void drop_garbage(State* state, GstAdapter* adapter) {
  const gsize available = gst_adapter_available(adapter);
  if (available <= 1) return;
  gst_adapter_flush(adapter, available - 1);
  guint8 last = 0;
  gst_adapter_copy(adapter, &last, 0, 1);
  state->splitter.restart();
  state->splitter.feed(&last, 1);
}

// The base class shall hold no more than a byte that has been looked at: it walks over all that it
// holds, whenever it is asked for something behind them. That byte may be the first half of a
// marker that ends the picture before it, and without it nobody would ask for the rest of a stream
// at its end. The base class is given the first byte, by which it finds the picture's times.
// Without memory there is nothing collected.
bool collect(GstVideoDecoder* decoder, State* state, GstAdapter* adapter, gsize count) {
  if (count == 0) return true;
  const bool begins = state->collected.size() == 0;
  const bool done = state->collected.append(adapter, count);
  if (begins) gst_video_decoder_add_to_frame(decoder, 1);
  if (count > gsize{begins}) gst_adapter_flush(adapter, count - gsize{begins});
  if (!done) state->collected.clear();
  return done;
}

void unref_buffer(gpointer buffer) { gst_buffer_unref(GST_BUFFER_CAST(buffer)); }

// The frame has its collected bytes beside it, because played backwards it waits for its turn in
// the base class. A buffer without bytes stands for those that there was no memory for.
GstFlowReturn have_collected(GstVideoDecoder* decoder, State* state, GstVideoCodecFrame* frame) {
  gst_video_codec_frame_set_user_data(frame, state->collected.take().release(), unref_buffer);
  state->splitter.restart();
  return gst_video_decoder_have_frame(decoder);
}

}  // namespace

GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                      GstAdapter* adapter, gboolean at_eos) {
  State* state = &State::of(decoder);
  JpegSplitter& splitter = state->splitter;
  const gsize seen = splitter.position();
  look_at_new_bytes(state, adapter);
  if (!splitter.found() && splitter.inside() && (at_eos || is_too_long(splitter))) splitter.cut();
  if (!splitter.found() && !splitter.inside()) {
    drop_garbage(state, adapter);
    return GST_VIDEO_DECODER_FLOW_NEED_DATA;
  }
  if (state->collected.size() == 0 && splitter.begin() > 0) {
    GST_DEBUG_OBJECT(decoder, "%" G_GSIZE_FORMAT " bytes are between two pictures",
                     splitter.begin());
    gst_adapter_flush(adapter, splitter.begin());
  }
  if (!splitter.found()) {
    const bool collected = collect(decoder, state, adapter, gst_adapter_available(adapter) - 1);
    return collected ? GST_VIDEO_DECODER_FLOW_NEED_DATA : have_collected(decoder, state, frame);
  }
  const gsize here = splitter.end() - splitter.begin() - state->collected.size();
  if (state->collected.size() == 0 && splitter.begin() >= seen) {
    // All of it came in one buffer, of which the base class makes a part without a copy.
    splitter.restart();
    gst_video_decoder_add_to_frame(decoder, static_cast<int>(here));
    return gst_video_decoder_have_frame(decoder);
  }
  collect(decoder, state, adapter, here);
  return have_collected(decoder, state, frame);
}

bool gst_jpeg_coef_dec_use_collected(GstVideoCodecFrame* frame) {
  auto* whole = static_cast<GstBuffer*>(gst_video_codec_frame_get_user_data(frame));
  if (!whole) return true;
  if (gst_buffer_get_size(whole) == 0) return false;
  gst_buffer_ref(whole);
  gst_video_codec_frame_set_user_data(frame, nullptr, nullptr);
  gst_buffer_copy_into(whole, frame->input_buffer,
                       static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_METADATA), 0, -1);
  gst_buffer_unref(frame->input_buffer);
  frame->input_buffer = whole;
  return true;
}
