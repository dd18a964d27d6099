// Detailed 1080p pictures, raw and as JPEG files, for the JPEG benchmark.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg_pictures.h"

#include <algorithm>
#include <random>

#include "tests/conformance/jpeg_codec.h"
#include "tests/engine/dct8x8/picture.h"

namespace cudatransform::bench {
namespace {

// Contrast and sensor grain such that files of quality 90 are as large as those of cameras that
// look at something detailed: about 600 KB.
constexpr double kContrast = 0.55, kGrain = 2.2;

test::BytePicture make_planes(uint32_t seed) {
  const test::Picture picture =
      test::make_picture(test::Sampling::k420, JpegPicture::kWidth, JpegPicture::kHeight, 8,
                         test::Content::kPhoto, seed);
  std::mt19937 random(seed);
  test::BytePicture planes;
  for (const test::Plane& source : picture) {
    std::normal_distribution<double> grain(0, planes.empty() ? kGrain : kGrain / 2);
    test::BytePlane plane;
    plane.width = source.width;
    plane.height = source.rows;
    for (const int sample : source.samples)
      plane.samples.push_back(static_cast<uint8_t>(
          std::clamp(128 + kContrast * (sample - 128) + grain(random), 0.0, 255.0)));
    planes.push_back(std::move(plane));
  }
  return planes;
}

}  // namespace

std::vector<JpegPicture> make_jpeg_pictures(int count) {
  std::vector<JpegPicture> pictures;
  const auto tables = test::tables_for(3, JpegPicture::kQuality);
  for (int i = 0; i < count; ++i) {
    const test::BytePicture planes = make_planes(static_cast<uint32_t>(i) + 1);
    JpegPicture picture;
    for (const test::BytePlane& plane : planes)
      picture.i420.insert(picture.i420.end(), plane.samples.begin(), plane.samples.end());
    picture.file = test::jpeg_from_planes(planes, {2, 2}, JpegPicture::kWidth, JpegPicture::kHeight,
                                          tables, Method::kIslow);
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace cudatransform::bench
