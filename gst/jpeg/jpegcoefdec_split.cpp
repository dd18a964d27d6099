// Element jpegcoefdec: splits a stream of bytes into files, whose first pictures become frames.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <span>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/one_piece.h"
#include "gst/jpeg/jpegcoefdec_private.h"

using State = cudatransform::JpegCoefDecState;
using cudatransform::BufferPtr;
using cudatransform::FilePlaces;
using cudatransform::JpegFilePictures;
using cudatransform::JpegSplitter;
using cudatransform::PictureBytes;
using cudatransform::Status;

namespace {

constexpr gsize kPiece = 16384;  // of a stream, looked at in one go

bool is_too_long(const JpegSplitter& splitter) {
  return splitter.inside() && splitter.position() - splitter.begin() > PictureBytes::kMost;
}

// The position of the first byte that the base class holds.
gsize head_of(const State& state) {
  return state.collected.size() > 0 ? state.splitter.begin() + state.collected.size() : 0;
}

bool wants_more(const JpegSplitter& splitter) {
  return !splitter.found() && !is_too_long(splitter);
}

// Feeds the splitter the first new bytes, which begin with a new buffer. If buffers have times, a
// buffer that begins like a picture is one, and any picture before it was cut off.
void begin_new_bytes(State* state, GstAdapter* adapter, gsize offset) {
  constexpr gsize kStart = 3;
  JpegSplitter& splitter = state->splitter;
  if (!state->pictures.framed() || !splitter.inside()) return;
  if (gst_adapter_available(adapter) < offset + kStart) return;
  guint8 start[kStart] = {};
  gst_adapter_copy(adapter, start, offset, kStart);
  if (start[0] == 0xff && start[1] == 0xd8 && start[2] == 0xff) splitter.cut();
}

// Feeds the splitter the new bytes in place.
void look_at_new_bytes(State* state, GstAdapter* adapter) {
  JpegSplitter& splitter = state->splitter;
  const gsize head = head_of(*state), available = gst_adapter_available(adapter);
  if (!wants_more(splitter) || splitter.position() >= head + available) return;
  begin_new_bytes(state, adapter, splitter.position() - head);
  const BufferPtr all(gst_adapter_get_buffer_fast(adapter, available));
  gsize begin = head;
  for (guint i = 0; i < gst_buffer_n_memory(all.get()) && wants_more(splitter); i++) {
    static constexpr guint8 kUnreadable[kPiece] = {};
    GstMemory* memory = gst_buffer_peek_memory(all.get(), i);
    const gsize end = begin + gst_memory_get_sizes(memory, nullptr, nullptr);
    GstMapInfo map;
    const bool mapped = gst_memory_map(memory, &map, GST_MAP_READ);
    while (splitter.position() < end && wants_more(splitter)) {
      const gsize size = std::min(kPiece, end - splitter.position());
      splitter.feed(mapped ? map.data + (splitter.position() - begin) : kUnreadable, size);
    }
    if (mapped) gst_memory_unmap(memory, &map);
    begin = end;
  }
}

// Drops bytes outside of pictures at once, except an FF that may be the first half of SOI.
void drop_garbage(State* state, GstAdapter* adapter) {
  const gsize available = gst_adapter_available(adapter);
  if (available <= 1) return;
  gst_adapter_flush(adapter, available - 1);
  guint8 last = 0;
  gst_adapter_copy(adapter, &last, 0, 1);
  state->splitter.restart();
  state->splitter.feed(&last, 1);
}

// The base class shall hold no more than one byte that we have looked at: it walks over all that it
// holds whenever we ask for bytes after them. That byte may be the first half of a marker that ends
// the picture before it, and without it the base class would not ask for the rest of a stream at
// its end. The base class gets the first byte, by which it finds the picture's times. If memory
// runs out, nothing is collected.
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

// Bytes that the base class holds, in one piece; none without memory. gst_adapter_map() would merge
// the memories of a whole buffer each time.
class MappedBytes {
 public:
  MappedBytes(GstAdapter* adapter, gsize size) {
    const BufferPtr all(gst_adapter_get_buffer_fast(adapter, size));
    if (cudatransform::in_one_piece(all.get(), &piece_).ok() &&
        map_.map(piece_.get(), GST_MAP_READ))
      bytes_ = {map_.data(), size};
  }
  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  BufferPtr piece_;
  cudatransform::MappedBuffer map_;  // of that
  std::span<const uint8_t> bytes_;
};

enum class Others { kNone, kAwaited, kHere };

// Whether the stream of bytes is a file: then its end will come, and nobody waits for a picture
// meanwhile.
bool is_file(GstVideoDecoder* decoder) {
  gint64 size = -1;
  return gst_pad_peer_query_duration(GST_VIDEO_DECODER_SINK_PAD(decoder), GST_FORMAT_BYTES,
                                     &size) &&
         size > 0;
}

// Reads the index of the picture that the splitter has found, of which the base class holds the
// last `here` bytes.
void read_index(GstVideoDecoder* decoder, State* state, GstAdapter* adapter, gsize here) {
  state->has_looked = true;
  state->awaited.count = 0;
  GST_OBJECT_LOCK(decoder);
  const bool wanted = state->settings.pictures == JpegFilePictures::kFirst;
  const bool kept = state->settings.keep_metadata;
  GST_OBJECT_UNLOCK(decoder);
  if (!wanted) return;
  state->keeps_rest = kept && (state->pictures.framed() || is_file(decoder));
  const gsize size = state->splitter.end() - state->splitter.begin();
  Status status;
  if (state->collected.size() == 0)
    status = find_places(MappedBytes(adapter, here).bytes(), size, &state->awaited);
  else
    status = find_places(state->collected.bytes(), size, &state->awaited);
  if (status.ok() && state->awaited.end() <= PictureBytes::kMost) return;
  GST_DEBUG_OBJECT(decoder, "%s",
                   status.ok() ? "an index of too many bytes" : status.message.c_str());
  state->awaited.count = 0;
}

// Whether the other pictures of a file are where its index says; then they are no pictures of the
// stream. If the index lies, the element splits the following bytes as any stream.
Others look_for_others(GstVideoDecoder* decoder, State* state, GstAdapter* adapter, bool at_eos) {
  FilePlaces& places = state->awaited;
  if (places.count == 0) return Others::kNone;
  const gsize before = state->collected.size(), left = places.end() - before;
  const gsize available = gst_adapter_available(adapter);
  if (available < left) {
    // In a stream with times, the next buffer is the next picture.
    const bool waits = !at_eos && !state->pictures.framed();
    guint8 start[2] = {0xff, 0xd8};  // of the next one, as far as it has come
    const gsize at = places.begin() - before;
    if (waits && available >= at + sizeof start) gst_adapter_copy(adapter, start, at, sizeof start);
    if (waits && start[0] == 0xff && start[1] == 0xd8) return Others::kAwaited;
    GST_DEBUG_OBJECT(decoder, "the other pictures of a file are not where its index says");
    places.count = 0;
    return Others::kNone;
  }
  FilePlaces shifted = places;
  for (guint i = 0; i < shifted.count; i++) shifted.place[i].begin -= before;
  const Status status = check_places(MappedBytes(adapter, left).bytes(), shifted);
  if (status.ok()) return Others::kHere;
  GST_DEBUG_OBJECT(decoder, "%s", status.message.c_str());
  places.count = 0;
  return Others::kNone;
}

// Finds where the pictures of the file end. False: more bytes must come first.
bool find_pictures(GstVideoDecoder* decoder, State* state, GstAdapter* adapter, bool at_eos) {
  const gsize end = state->splitter.end() - state->splitter.begin();
  if (state->pictures_end > 0) return true;
  if (!state->has_looked) read_index(decoder, state, adapter, end - state->collected.size());
  const Others others = look_for_others(decoder, state, adapter, at_eos);
  if (others == Others::kAwaited) return false;
  state->pictures_end = others == Others::kHere ? state->awaited.end() : end;
  state->file_end = state->pictures_end;
  // Without its end a picture goes on up to the next one.
  if (others == Others::kNone && !state->splitter.has_end()) state->keeps_rest = false;
  return true;
}

// Whether a picture begins at `at`, where bytes look like it. By chance they do so in films, but
// hardly ever with another marker behind the first segment.
enum class Begins { kNo, kYes, kUnknown };
Begins begins_picture(GstAdapter* adapter, gsize at) {
  constexpr gsize kHead = 6;  // SOI, a marker, a length
  guint8 head[kHead], next = 0;
  if (gst_adapter_available(adapter) < at + kHead) return Begins::kUnknown;
  gst_adapter_copy(adapter, head, at, kHead);
  if (head[3] == 0xff) return Begins::kYes;  // a fill byte
  if (head[3] < 0xc0 || (head[3] >= 0xd0 && head[3] <= 0xd9)) return Begins::kNo;
  const gsize behind = at + 4 + (gsize(head[4]) << 8 | head[5]);
  if (gst_adapter_available(adapter) <= behind) return Begins::kUnknown;
  gst_adapter_copy(adapter, &next, behind, 1);
  return next == 0xff ? Begins::kYes : Begins::kNo;
}

// How many of the bytes from `at` on, at the end of a buffer, may begin a picture: SOI and an FF.
gsize half_a_beginning(GstAdapter* adapter, gsize at) {
  constexpr guint8 kStart[] = {0xff, 0xd8, 0xff};
  guint8 last[sizeof kStart];
  const gsize available = gst_adapter_available(adapter);
  for (gsize size = std::min(available - at, sizeof kStart); size > 0; size--) {
    gst_adapter_copy(adapter, last, available - size, size);
    if (std::equal(last, last + size, kStart)) return size;
  }
  return 0;
}

// Moves the file's end behind the bytes that follow its pictures, up to the next file. False: more
// bytes must come before that is known.
bool find_rest(State* state, GstAdapter* adapter, bool at_eos) {
  constexpr guint32 kMask = 0xffffff00, kStart = 0xffd8ff00;  // SOI and the next marker's FF
  if (!state->keeps_rest) return true;
  const bool framed = state->pictures.framed();
  const gsize before = state->collected.size(), available = gst_adapter_available(adapter);
  gsize at = state->file_end - before;
  for (bool found = true; found && available - at >= sizeof kMask;) {
    const gssize start = cudatransform::find_in_adapter(adapter, kMask, kStart, at, available - at);
    found = start >= 0;
    at = found ? static_cast<gsize>(start) : available - (sizeof kMask - 1);
    state->file_end = before + at;
    if (!found) break;
    // What follows at once is a file, damaged or not.
    const Begins begins =
        state->file_end == state->pictures_end ? Begins::kYes : begins_picture(adapter, at);
    if (begins == Begins::kYes || (begins == Begins::kUnknown && framed)) return true;
    if (begins == Begins::kUnknown && !at_eos) return false;
    state->file_end = before + ++at;
  }
  if (!framed && !at_eos) return false;
  state->file_end = before + available - (framed ? half_a_beginning(adapter, at) : 0);
  return true;
}

// Finds where the file ends that begins with the picture found: `*end`, counted from its first
// byte, as far as it is known. `is_here`: it begins in the newest buffer. False: more bytes must
// come.
bool find_file_end(GstVideoDecoder* decoder, State* state, GstAdapter* adapter, bool is_here,
                   bool at_eos, gsize* end) {
  *end = state->splitter.end() - state->splitter.begin();
  if (!find_pictures(decoder, state, adapter, at_eos)) return false;
  // In a stream with times, the rest of a file is in the buffer that it came in.
  if (state->pictures.framed() && !is_here) state->keeps_rest = false;
  const bool found = find_rest(state, adapter, at_eos);
  *end = state->file_end;
  if (*end <= std::max(PictureBytes::kMost, state->pictures_end)) return found;
  GST_WARNING_OBJECT(decoder,
                     "the bytes behind a picture are not kept: more than %" G_GSIZE_FORMAT " bytes",
                     PictureBytes::kMost);
  state->collected.shorten(state->pictures_end);
  *end = state->pictures_end;
  return true;
}

// The frame carries its collected bytes with it, because in reverse playback it waits for its turn
// in the base class. If memory ran out, a buffer without bytes replaces them.
GstFlowReturn have_collected(GstVideoDecoder* decoder, State* state, GstVideoCodecFrame* frame) {
  gst_video_codec_frame_set_user_data(frame, state->collected.take().release(), unref_buffer);
  state->begin_anew();
  return gst_video_decoder_have_frame(decoder);
}

}  // namespace

GstFlowReturn gst_jpeg_coef_dec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame* frame,
                                      GstAdapter* adapter, gboolean at_eos) {
  State* state = &State::of(decoder);
  JpegSplitter& splitter = state->splitter;
  const gsize seen = splitter.position();
  look_at_new_bytes(state, adapter);
  const bool is_over = at_eos || state->is_parsed || is_too_long(splitter);
  if (!splitter.found() && splitter.inside() && is_over) splitter.cut();
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
  const bool is_here = state->collected.size() == 0 && splitter.begin() >= seen;
  const gsize here = splitter.end() - splitter.begin() - state->collected.size();
  // The index may lie across both.
  if (!state->has_looked && state->collected.size() > 0 && here > 1 &&
      !collect(decoder, state, adapter, here - 1))
    return have_collected(decoder, state, frame);
  gsize end = 0;
  const bool is_known = find_file_end(decoder, state, adapter, is_here, at_eos, &end);
  const gsize left = end - state->collected.size();
  if (!is_known) {
    // All but a byte, as above. Other pictures stay where they are until they are known to be some.
    // Nothing is left of a picture without EOI but what begins the next.
    if (left == 0 || collect(decoder, state, adapter, left - 1))
      return GST_VIDEO_DECODER_FLOW_NEED_DATA;
    return have_collected(decoder, state, frame);
  }
  if (is_here) {
    // The file came in one buffer, and the base class takes its part of that without a copy.
    state->begin_anew();
    gst_video_decoder_add_to_frame(decoder, static_cast<int>(left));
    return gst_video_decoder_have_frame(decoder);
  }
  collect(decoder, state, adapter, left);
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
