// A pipeline of JPEG elements between a source that never runs dry and a sink that counts.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/bench/jpeg/pictures.h"

namespace cudatransform::bench {

enum class JpegJob { kDecode, kEncode, kTurn };

// Pictures of one size.
struct JpegSet {
  std::string name;  // of the size
  int width = 0, height = 0;
  std::vector<JpegPicture> pictures;
  double file_bytes() const;  // the mean
};

// Kept from turn to turn. Throws std::runtime_error when an element fails.
class JpegPipeline {
 public:
  // `set` must outlive the pipeline. The elements take files, or frames in I420.
  JpegPipeline(JpegJob job, const JpegSet& set, const std::string& elements);
  ~JpegPipeline();
  JpegPipeline(const JpegPipeline&) = delete;
  JpegPipeline& operator=(const JpegPipeline&) = delete;

  // Seconds a picture, over `frames` of them at the sink, after `skipped` at the start.
  double turn(int frames, int skipped);

 private:
  using Clock = std::chrono::steady_clock;
  void push(int number);
  void wait_for_end();

  JpegJob job_;
  const JpegSet& set_;
  GstElement* pipeline_ = nullptr;
  GstElement* source_ = nullptr;
  std::vector<Clock::time_point> arrivals_;
};

}  // namespace cudatransform::bench
