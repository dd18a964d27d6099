// Detailed 1080p and 4K pictures, raw and as JPEG files, for the JPEG benchmark.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudatransform::bench {

// 4:2:0, planes packed as I420 has them.
struct JpegPicture {
  static constexpr int kWidth = 1920, kHeight = 1080, kQuality = 90;
  std::vector<uint8_t> i420;
  std::vector<uint8_t> file;  // baseline, Annex K's Huffman tables, about 600 KB
};

// Different ones, so that no predictor learns one by heart.
std::vector<JpegPicture> make_jpeg_pictures(int count);

// Pictures of twice the width and height, each of four of `pictures`: files of 2.4 MB.
std::vector<JpegPicture> make_large_jpeg_pictures(const std::vector<JpegPicture>& pictures,
                                                  int count);

// A file's pixels as libjpeg makes them: three bytes each, without gaps.
std::vector<uint8_t> rgb_of(const std::vector<uint8_t>& file);

// Pictures of that size, even numbers: a part of each of `pictures`.
std::vector<JpegPicture> make_small_jpeg_pictures(const std::vector<JpegPicture>& pictures,
                                                  int width, int height);

// Register cases of bench_jpeg_engine, of so many seconds each; `*failed` is set where one fails.
void add_decode_cases(const std::vector<JpegPicture>& pictures, double seconds, bool* failed);
void add_rate_cases(double seconds, bool* failed);

}  // namespace cudatransform::bench
