// Detailed 1080p and 4K pictures, raw and as JPEG files, for the JPEG benchmark.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/jpeg/pictures.h"

#include <algorithm>
#include <future>
#include <random>
#include <stdexcept>

#include "tests/engine/dct8x8/definition.h"
#include "tests/jpeg/codec.h"
#include "tests/jpeg/libjpeg.h"

namespace cudatransform::bench {
namespace {

// Contrast and sensor grain for files of quality 90 as large as a camera's of a detailed scene:
// about 600 KB.
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

JpegPicture coded(const test::BytePicture& planes) {
  JpegPicture picture;
  for (const test::BytePlane& plane : planes)
    picture.i420.insert(picture.i420.end(), plane.samples.begin(), plane.samples.end());
  picture.file = test::jpeg_from_planes(planes, {2, 2}, planes[0].width, planes[0].height,
                                        test::tables_for(3, JpegPicture::kQuality), Method::kIslow);
  return picture;
}

}  // namespace

std::vector<JpegPicture> make_jpeg_pictures(int count) {
  std::vector<std::future<JpegPicture>> making;
  for (int i = 0; i < count; ++i)
    making.push_back(std::async(std::launch::async,
                                [i] { return coded(make_planes(static_cast<uint32_t>(i) + 1)); }));
  std::vector<JpegPicture> pictures;
  for (std::future<JpegPicture>& one : making) pictures.push_back(one.get());
  return pictures;
}

std::vector<JpegPicture> make_large_jpeg_pictures(const std::vector<JpegPicture>& pictures,
                                                  int count) {
  const auto make = [&](int i) {
    const uint8_t* parts[4];
    for (size_t part = 0; part < 4; ++part)
      parts[part] = pictures[(size_t(i) + part) % pictures.size()].i420.data();
    test::BytePicture planes;
    for (int c = 0; c < 3; ++c) {
      const int w = JpegPicture::kWidth >> (c == 0 ? 0 : 1);
      const int h = JpegPicture::kHeight >> (c == 0 ? 0 : 1);
      test::BytePlane plane;
      plane.width = 2 * w;
      plane.height = 2 * h;
      for (int y = 0; y < 2 * h; ++y)
        for (const int right : {0, 1}) {
          const uint8_t* const row = parts[(y < h ? 0 : 2) + right] + ptrdiff_t(y % h) * w;
          plane.samples.insert(plane.samples.end(), row, row + w);
        }
      for (const uint8_t*& part : parts) part += ptrdiff_t(w) * h;
      planes.push_back(std::move(plane));
    }
    return coded(planes);
  };
  std::vector<std::future<JpegPicture>> making;
  for (int i = 0; i < count; ++i) making.push_back(std::async(std::launch::async, make, i));
  std::vector<JpegPicture> large;
  for (std::future<JpegPicture>& one : making) large.push_back(one.get());
  return large;
}

std::vector<uint8_t> rgb_of(const std::vector<uint8_t>& file) {
  test::Decompressor info(file);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  const size_t pitch = size_t{3} * info.output_width;
  std::vector<uint8_t> rgb(pitch * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = rgb.data() + pitch * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return rgb;
}

std::vector<JpegPicture> make_small_jpeg_pictures(const std::vector<JpegPicture>& pictures,
                                                  int width, int height) {
  std::vector<JpegPicture> small;
  for (const JpegPicture& picture : pictures) {
    const uint8_t* from = picture.i420.data();
    test::BytePicture planes;
    for (int c = 0; c < 3; ++c) {
      const int shift = c == 0 ? 0 : 1, stride = JpegPicture::kWidth >> shift;
      test::BytePlane plane;
      plane.width = width >> shift;
      plane.height = height >> shift;
      for (int y = 0; y < plane.height; ++y)
        plane.samples.insert(plane.samples.end(), from + ptrdiff_t(y) * stride,
                             from + ptrdiff_t(y) * stride + plane.width);
      from += ptrdiff_t(stride) * (JpegPicture::kHeight >> shift);
      planes.push_back(std::move(plane));
    }
    small.push_back(coded(planes));
  }
  return small;
}

}  // namespace cudatransform::bench
