// The decoding of pictures in jpegcoefdec: readers, the device's lanes, memory, and caps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/gstvideodecoder.h>

#include <atomic>
#include <memory>
#include <vector>

#include "gst/engine/engine.h"
#include "gst/jpeg/entropy.h"
#include "gst/jpeg/picture_job.h"
#include "gst/stream/coef_output.h"
#include "gst/stream/picture_properties.h"

namespace cudatransform {

// The default of max-pixels: a camera of 100 megapixels passes.
inline constexpr guint64 kMaxJpegPixels = guint64{1} << 27;

// Which pictures of a file with an index become frames.
enum class JpegFilePictures { kFirst, kAll };

// The properties, except those of the engine.
struct JpegDecodeSettings : PictureSettings {
  JpegEntropy entropy = JpegEntropy::kAuto;
  guint64 max_pixels = kMaxJpegPixels;  // 0: no limit
  JpegFilePictures pictures = JpegFilePictures::kFirst;
  bool keep_metadata = true;
  bool tables_in_caps = false;
};

// The pushed pictures, by decoder.
struct JpegDecodeCounts {
  guint64 by_cuda = 0, by_cpu = 0;
};

// Several threads decode pictures, each with its own reader. On the device each of them has one
// picture in flight. The reader decodes a picture again if the device rejects it, so that libjpeg
// alone decides what is damaged. Callers hold the decoder's stream lock and call the functions in
// their order for each picture, except where a comment says otherwise.
class JpegCodec {
 public:
  JpegCodec(GstVideoDecoder* decoder, Engine& engine)
      : decoder_(decoder), output_(engine, CoefMaker::kCpu), engine_(engine) {}

  // Call it before the first picture. An error: `settings.entropy` is not available.
  Status start(const JpegDecodeSettings& settings);
  // Gives up all memory that is kept for later pictures.
  void stop();
  // Takes effect with the next picture.
  void set(const JpegDecodeSettings& settings) { settings_ = settings; }
  const JpegDecodeSettings& settings() const { return settings_; }
  // The most pictures that each of many threads may have in flight.
  int pictures_a_thread() const;

  // Finds all that must be known before the picture can be decoded. `input`: the sink caps'
  // contents, or null. kInvalidArgument: the picture is damaged. kUnsupported: we cannot decode its
  // kind, which damage can cause, too.
  Status read_header(JpegPictureJob& job, const GstVideoCodecState* input);
  // Whether max-memory has room for the picture beside those in work. To make room, gives up memory
  // that is kept for later pictures, but none that this picture will use.
  bool has_room(const JpegPictureJob& job);
  // Counts the picture's memory as used, and takes it if the picture can be decoded.
  void begin(JpegPictureJob& job);
  // Whether the output state fits a decoded picture.
  bool fits_output_state(const JpegPictureJob& job) const;
  // Whether downstream accepts the caps of such a picture; kUnsupported, with the reason: it does
  // not. The output state stays as it is.
  Status ask_downstream(const JpegPictureJob& job, const GstVideoCodecState* input) const;
  // Likewise the caps of the output state.
  Status ask_downstream() const;
  // Sets the decoder's output state for such a picture or, before any picture, for a gap. False:
  // downstream takes none of our caps.
  void set_output_state(const JpegPictureJob& job, GstVideoCodecState* input);
  bool set_gap_state(GstVideoCodecState* input);
  // The output buffer of a decoded picture, without timestamps. kCancelled: flushing.
  Status finish(JpegPictureJob& job, BufferPtr* buffer);
  // Takes back from any job, at any stage, the memory that the next picture can use.
  void release(JpegPictureJob& job);

  // The answered ALLOCATION query of the src pad. The pool of system memory stays ours.
  Status allocate(GstQuery* query) { return output_.allocate(query); }
  GstBufferPool* pool() const { return output_.pool(); }
  // Called by any thread.
  JpegDecodeCounts counts() const { return {by_cuda_, by_cpu_}; }

 private:
  bool wants_device(const JpegPictureJob& job) const;
  void take_lane(JpegPictureJob& job);
  Status take_memory(JpegPictureJob& job);
  void let_go(JpegPictureJob& job);
  bool peer_takes_cuda(const GstDctInfo& info) const;
  CapsPtr make_caps(const GstDctInfo& info, const GstVideoInfo* input) const;
  void set_state(const GstDctInfo& info, const DctTables& tables, GstVideoCodecState* input);

  GstVideoDecoder* decoder_;
  CoefOutput output_;
  Engine& engine_;
  JpegDecodeSettings settings_;
  std::vector<std::unique_ptr<JpegReader>> readers_;  // idle ones
  JpegDecodeLanes lanes_;
  guint64 used_bytes_ = 0;  // the part of max-memory that pictures in work use
  std::atomic<guint64> by_cuda_ = 0, by_cpu_ = 0;
  GstDctInfo info_ = {};  // of the output state
  bool tables_in_caps_ = false;
  ToldTables told_;
};

}  // namespace cudatransform
