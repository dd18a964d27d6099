// How jpegcoefdec decodes pictures: readers, the device's lanes, memory, and the caps of it all.
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

// Which of the pictures become frames that an index in the first says are one file.
enum class JpegFilePictures { kFirst, kAll };

// The properties but those of the engine.
struct JpegDecodeSettings : PictureSettings {
  JpegEntropy entropy = JpegEntropy::kAuto;
  guint64 max_pixels = kMaxJpegPixels;  // 0: no limit
  JpegFilePictures pictures = JpegFilePictures::kFirst;
  bool keep_metadata = true;
  bool tables_in_caps = false;
};

// Pictures that were pushed, by what has decoded them.
struct JpegDecodeCounts {
  guint64 by_cuda = 0, by_cpu = 0;
};

// Several threads decode pictures, each by a reader of its own. On the device each of them has one
// picture in flight; the reader decodes again whatever the device complains of, so that libjpeg
// alone says what is damaged. Everything is called with the decoder's stream lock, for each picture
// in the order of the functions, but for what says otherwise.
class JpegCodec {
 public:
  JpegCodec(GstVideoDecoder* decoder, Engine& engine)
      : decoder_(decoder), output_(engine, CoefMaker::kCpu), engine_(engine) {}

  // Before the first picture. An error: `settings.entropy` cannot be had.
  Status start(const JpegDecodeSettings& settings);
  // Gives up everything that is kept for pictures to come.
  void stop();
  // From the next picture on.
  void set(const JpegDecodeSettings& settings) { settings_ = settings; }
  const JpegDecodeSettings& settings() const { return settings_; }
  // How many pictures a thread may have in flight, where there are many threads.
  int pictures_a_thread() const;

  // Everything that has to be known before the picture can be decoded. `input`: what the sink caps
  // say, or null. kInvalidArgument: the picture is damaged. kUnsupported: it is of a kind that
  // cannot be decoded, which may be damage, too.
  Status read_header(JpegPictureJob& job, const GstVideoCodecState* input);
  // Whether max-memory has room for the picture beside those in work. Gives up memory that is kept
  // for pictures to come where that makes room, but none that this picture will use.
  bool has_room(const JpegPictureJob& job);
  // Counts the picture's memory as used, and takes it for one that can be decoded.
  void begin(JpegPictureJob& job);
  // Whether the output state fits a picture that has been decoded.
  bool fits_output_state(const JpegPictureJob& job) const;
  // Sets the decoder's output state for such a picture, or, before any picture, for a gap; false:
  // downstream takes nothing of ours.
  void set_output_state(const JpegPictureJob& job, GstVideoCodecState* input);
  bool set_gap_state(GstVideoCodecState* input);
  // The output buffer of a picture that has been decoded, without timestamps. kCancelled: flushing.
  Status finish(JpegPictureJob& job, BufferPtr* buffer);
  // Takes back from any job, at any stage, what the next picture can use.
  void release(JpegPictureJob& job);

  // The answered ALLOCATION query of the src pad. The pool of system memory stays ours.
  Status allocate(GstQuery* query) { return output_.allocate(query); }
  GstBufferPool* pool() const { return output_.pool(); }
  // Any thread.
  JpegDecodeCounts counts() const { return {by_cuda_, by_cpu_}; }

 private:
  bool wants_device(const JpegPictureJob& job) const;
  void take_lane(JpegPictureJob& job);
  Status take_memory(JpegPictureJob& job);
  void let_go(JpegPictureJob& job);
  bool peer_takes_cuda(const GstDctInfo& info) const;
  void set_state(const GstDctInfo& info, const DctTables& tables, GstVideoCodecState* input);

  GstVideoDecoder* decoder_;
  CoefOutput output_;
  Engine& engine_;
  JpegDecodeSettings settings_;
  std::vector<std::unique_ptr<JpegReader>> readers_;  // idle ones
  JpegDecodeLanes lanes_;
  guint64 used_bytes_ = 0;  // of max-memory, by the pictures in work
  std::atomic<guint64> by_cuda_ = 0, by_cpu_ = 0;
  GstDctInfo info_ = {};  // of the output state
  bool tables_in_caps_ = false;
  ToldTables told_;
};

}  // namespace cudatransform
