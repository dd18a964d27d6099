// cudadctquant's transform: levels with other quantisation tables.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>

#include "gst/rate/rate_control.h"
#include "gst/verbs/verb_transform.h"

namespace cudatransform {

// The properties. Guarded by the object lock.
struct VerbQuantSettings {
  QuantSettings quant;
  bool coarser_only = true;  // an old entry stays if it is the coarser one
  guint target_size = 0;     // bytes of a file; 0: off
};

// Refuses settings that contradict each other, by the names of properties.
Status check_target_size(const VerbQuantSettings& settings);

class QuantTransform final : public VerbTransform {
 public:
  explicit QuantTransform(Transport& transport);
  ~QuantTransform() override;

  VerbQuantSettings settings;
  // Sends a query downstream.
  std::function<bool(GstQuery* query)> ask_downstream;

  void start() override;
  Status take_settings() override;
  void describe(GstStructure* stats) const override;
  void stop() override;

 protected:
  bool keeps(const FrameTables& tables) const override;
  Status choose(GstBuffer* in, const CoefArray from[kMostCoefArrays],
                const FrameTables& from_tables, bool* keeps) override;
  Status make_tables(const FrameTables& from, FrameTables* to) override;
  Status enqueue(const CoefArray from[kMostCoefArrays], const FrameTables& from_tables,
                 const CoefArray to[kMostCoefArrays], const FrameTables& to_tables,
                 MeasuredFrame* frame, FencePtr* done) override;

 private:
  struct Sizes;

  Status choose_tables(GstBuffer* in, const CoefArray from[kMostCoefArrays],
                       const FrameTables& from_tables, bool* keeps);
  Status find_scale(Sizes& sizes, guint64 overhead, bool* keeps);
  void take(double quality, guint64 bytes, guint64 overhead);

  std::unique_ptr<Sizes> sizes_;
  RateResult result_;
  bool warned_of_size_ = false;
  // State of the next frame.
  FrameTables wanted_;
  QuantPreset preset_ = QuantPreset::kAnnexK;
  bool coarser_only_ = true;
  guint target_size_ = 0;
};

}  // namespace cudatransform
