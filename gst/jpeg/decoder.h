// The decoder of jpegcoefdec: from a codec frame with a JPEG file to a buffer of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gst/engine/engine.h"
#include "gst/engine/engine_element.h"
#include "gst/jpeg/caps.h"
#include "gst/jpeg/decode_job.h"
#include "gst/jpeg/orphaned_pictures.h"
#include "gst/stream/coef_output.h"
#include "gst/stream/decoder_common.h"
#include "gst/stream/ordered_pictures.h"
#include "transform/device/status.h"

namespace cudatransform {

// The default of max-pixels: a camera of 100 megapixels passes.
inline constexpr guint64 kMaxJpegPixels = guint64{1} << 27;

// Which pictures of a file with an index become frames.
enum class JpegFilePictures { kPrimary, kAll };

// The properties, except those of the engine.
struct JpegDecodeSettings : PictureSettings {
  JpegEntropy entropy = JpegEntropy::kAuto;
  guint64 max_pixels = kMaxJpegPixels;  // 0: no limit
  JpegFilePictures pictures = JpegFilePictures::kPrimary;
  bool keep_metadata = true;
  bool tables_in_caps = false;
};

struct JpegDecodeCounts {
  guint64 frames = 0;     // pushed
  guint64 damaged = 0;    // of all received
  guint64 irregular = 0;  // of the undamaged ones
  guint64 dropped = 0;
  guint64 attachments = 0;          // other pictures of their files that were pushed with them
  guint64 orphaned = 0;             // other pictures that came separately, and were not pushed
  guint64 by_cuda = 0, by_cpu = 0;  // of the pushed ones, by decoder
};

// Reads headers, chooses the CPU or a lane of the device, takes memory, and pushes what the workers
// have decoded. If the device rejects a file, the CPU decodes it again, so that libjpeg alone
// decides what is damaged.
//
// Called with the decoder's stream lock, except where a comment says otherwise.
class JpegDecoder final : private PictureCodec {
 public:
  // The properties are guarded by the object lock.
  JpegDecoder(GstVideoDecoder* decoder, Engine& engine, const JpegDecodeSettings& properties,
              const EngineSettings& engine_properties);

  // An error: the properties require what is not available.
  Status start();
  // Drops the pictures in flight, and releases all memory.
  void stop();
  // GstVideoDecoder::set_format. Pushes the pictures in flight first, with the old caps.
  bool set_input(GstVideoCodecState* state);
  // GstVideoDecoder::handle_frame: takes `frame` (transfer full).
  GstFlowReturn decode(GstVideoCodecFrame* frame);
  // Takes a frame that cannot be decoded because of `status`, which is not damage: posts an error
  // after the pictures before it.
  GstFlowReturn refuse(GstVideoCodecFrame* frame, const Status& status);
  GstFlowReturn drain();
  // GstVideoDecoder::finish. If no picture of a stream could be decoded, that is an error for any
  // on-error.
  GstFlowReturn finish();
  void flush();
  // GstVideoDecoder::sink_event, without the stream lock; `parent_class` is that of the element.
  gboolean sink_event(GstEvent* event, GstVideoDecoderClass* parent_class);
  // GstVideoDecoder::sink_query, likewise.
  void take_query(GstQuery* query) {
    pictures_.take_query(query, [this] { return drain(); });
  }
  // GstVideoDecoder::decide_allocation. The pool of system memory stays ours.
  bool decide_allocation(GstQuery* query);

  // Whether buffers have times, so that each is about one picture (TIME segments).
  bool framed() const { return framed_; }
  // Any thread: decoding is abandoned soon.
  void interrupt() { pictures_.interrupt(); }
  // Any thread. The stats property; transfer full.
  GstStructure* stats() const;

 private:
  using Picture = std::unique_ptr<DecodeJob>;

  // PictureCodec.
  GstFlowReturn finish(std::unique_ptr<FrameJob> picture) override;
  void discard(std::unique_ptr<FrameJob> picture) override;

  gboolean take_event(GstEvent* event, GstVideoDecoderClass* parent_class);
  JpegDecodeSettings settings() const;
  JpegDecodeCounts counts() const;
  void count(guint64 JpegDecodeCounts::*counter, guint64 more = 1);

  // Input.
  void start_workers();
  GstFlowReturn decode_held();
  GstFlowReturn decode_now(GstVideoCodecFrame* frame);
  bool is_late(GstVideoCodecFrame* frame) const;
  Status prepare(DecodeJob& picture);
  Status read_header(DecodeJob& picture);
  Status claim(DecodeJob& picture, guint64 bytes) const;
  bool wants_device(const DecodeJob& picture) const;
  void take_lane(DecodeJob& picture);
  bool has_room(const DecodeJob& picture);
  Status take_memory(DecodeJob& picture);
  void limit_kept_memory();

  // Output.
  Status take_trailing(DecodeJob& picture) const;
  GstFlowReturn push(Picture picture);
  GstFlowReturn drop(Picture picture);
  GstFlowReturn reject(Picture picture, const Status& why);
  GstFlowReturn drop_refused();
  Status make_buffer(DecodeJob& picture, BufferPtr* buffer);
  void release(DecodeJob& picture);
  void note_irregular(const DecodeJob& picture);

  // Caps.
  bool negotiate();
  bool negotiate_gap();
  bool set_gap_state();
  void set_output_state(const GstDctInfo& info, const DctTables& tables);
  bool fits_output_state(const DecodeJob& picture) const;
  bool is_of_other_kind(const DecodeJob& picture) const;
  CapsPtr make_caps(const GstDctInfo& info, const GstVideoInfo* input) const;
  bool peer_takes_cuda(const GstDctInfo& info) const;
  Status query_downstream(const DecodeJob& picture);
  Status query_downstream() const;
  GstFlowReturn explain_refusal(GstFlowReturn flow);

  GstVideoDecoder* const decoder_;
  Engine& engine_;
  const JpegDecodeSettings& properties_;
  const EngineSettings& engine_properties_;
  JpegDecodeSettings settings_;  // of the present picture
  DamagePolicy damage_;
  OrderedPictures pictures_;
  OrphanedPictures orphaned_;
  CodecStatePtr input_;
  CodecStatePtr held_input_;  // of a picture that is held, if other caps have come since
  bool framed_ = false;
  GstClockTime last_pts_ = GST_CLOCK_TIME_NONE;  // of the pictures that had a time

  // For later pictures.
  std::vector<std::unique_ptr<JpegReader>> readers_;
  JpegDecodeLanes lanes_;
  CoefOutput output_;

  // The output state.
  GstDctInfo info_ = {};
  bool tables_in_caps_ = false;
  WrittenTables written_tables_;
  bool negotiated_ = false;
  bool is_refused_ = false;  // the picture that was pushed last, for its caps
  // How many sizes of a sampling and depth downstream has accepted in queries.
  std::map<std::pair<GstCoefSampling, guint>, int> accepted_;

  bool has_reported_irregular_ = false;
  JpegDecodeCounts counts_;  // guarded by the object lock
};

}  // namespace cudatransform
