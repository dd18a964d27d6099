// The rate control of cudadct8x8: the scale of a frame's tables, by the sizes of its JPEG files.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <functional>
#include <memory>

#include <gst/coef/dct.h>
#include "gst/dct8x8/quant_settings.h"
#include "gst/rate/frame_budget.h"
#include "gst/stream/frame_mover.h"
#include "transform/dct8x8/dct8x8.h"
#if CT_HAVE_JPEG
#include "cuda/jpeg/engine.h"
#endif

namespace cudatransform {

#if CT_HAVE_JPEG
// Sizes of files are counted on the element's engine.
CT_ENGINE_OPS(JpegEncodeOps, host_jpeg_encode_ops, cuda_jpeg_encode_ops)
#endif

// The user's settings; 0: off. Not locked, like QuantSettings.
struct RateSettings {
  guint target_size = 0, max_size = 0;  // bytes of a file
  guint bitrate = 0;                    // kbit/s
  guint vbv_buf_capacity = 0;           // ms
  gint min_quality = 1, max_quality = 100;

  bool is_on() const { return target_size || max_size || bitrate; }
};

// Refuses settings that contradict each other, by the names of properties.
Status check_rate(const RateSettings& rate, const QuantSettings& quant, bool tables_in_caps);

// The last frame; any thread may read it.
struct RateResult {
  std::atomic<double> quality = -1;    // -1: none that belongs to the tables
  std::atomic<guint64> file_size = 0;  // bytes
  std::atomic<guint64> oversized_files =
      0;                          // that no quality made as small as they should have been
  std::atomic<double> fill = -1;  // of the buffer of `bitrate`, after the frame; -1: none
};

// Of one stream; used by the streaming thread.
class RateControl {
 public:
  // `query_downstream` sends a query downstream.
  RateControl(Engine& engine, FrameMover& mover,
              const std::function<bool(GstQuery* query)>& query_downstream);
  ~RateControl();

  // A new stream.
  void start();
  // Nothing is in flight. The queue keeps its own memory until the engine closes.
  void stop();
  // Takes the settings of the next frame, of coefficients of `info`. Refuses what cannot be done
  // for them.
  Status prepare(const RateSettings& rate, const QuantSettings& quant, const GstDctInfo& info);
  bool is_on() const { return rate_.is_on(); }
  // Takes the time of the next frame.
  void take_time(GstBuffer* frame);
  // Scales `tables`, which are the preset's. `job` is the frame's, with its samples; the job's
  // tables and coefficients do not matter. Waits for the device.
  Status choose(const Dct8x8Ops& ops, const Dct8x8Job& job, FrameTables* tables);

  const RateResult& result() const { return result_; }

 private:
  struct Sizes;

  Status find_budget(guint64* bytes);
  Status search(guint64 target);
  void forget();
  void warn_of_size(guint64 bytes, guint64 target);
  Status take(uint32_t scale, guint64 bytes, guint64 target);

  Engine& engine_;
  FrameMover& mover_;
  const std::function<bool(GstQuery* query)>& query_downstream_;
  RateSettings rate_;
  QuantPreset preset_ = QuantPreset::kAnnexK;
  int quality_ = 85;
  GstDctInfo info_ = {};
  RateResult result_;
  std::unique_ptr<Sizes> sizes_;
  FrameBudget budget_;
  bool warned_of_size_ = false;
};

}  // namespace cudatransform
