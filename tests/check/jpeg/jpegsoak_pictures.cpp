// JPEG pictures for the soak test, and accidental damage to them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/jpeg/jpegsoak_pictures.h"

#include <algorithm>
#include <iterator>

#include "tests/jpeg/libjpeg.h"

namespace testing {
namespace {

enum Process { kBaseline = 0, kOptimized = 1, kProgressive = 2, kRestarts = 4, kArithmetic = 8 };

struct Kind {
  int width, height;
  J_COLOR_SPACE space;
  int h, v;  // sampling factors of the first component
  int process;
};

constexpr Kind kKinds[] = {
    {160, 120, JCS_YCbCr, 2, 2, kBaseline},
    {160, 120, JCS_YCbCr, 2, 1, kRestarts},
    {160, 120, JCS_YCbCr, 1, 1, kProgressive},
    {128, 96, JCS_GRAYSCALE, 1, 1, kOptimized},
    {97, 65, JCS_RGB, 1, 1, kBaseline},
    {136, 104, JCS_YCbCr, 4, 1, kArithmetic},
    {120, 160, JCS_YCbCr, 1, 2, kOptimized | kRestarts},
    {161, 121, JCS_YCbCr, 2, 2, kProgressive | kRestarts},
};

Bytes make(const Kind& kind) {
  cudatransform::test::Compressor info;
  info.open_for_rgb(kind.width, kind.height, kind.space);
  info.comp_info[0].h_samp_factor = kind.h;
  info.comp_info[0].v_samp_factor = kind.v;
  info.optimize_coding = kind.process & kOptimized ? TRUE : FALSE;
  info.arith_code = kind.process & kArithmetic ? TRUE : FALSE;
  if (kind.process & kRestarts) info.restart_in_rows = 1;
  if (kind.process & kProgressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<JSAMPLE> row(size_t(3) * kind.width);
  for (int y = 0; y < kind.height; y++) {
    for (int x = 0; x < 3 * kind.width; x++)
      row[x] = static_cast<JSAMPLE>(x * y / 37 + (x / 20 + y / 9) % 3 * 40 + x % 3 * 50);
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&info, rows, 1);
  }
  return info.finish();
}

size_t below(size_t limit, std::mt19937* random) { return limit ? (*random)() % limit : 0; }

guint8 random_byte(std::mt19937* random) {
  // Markers are the worst case.
  return (*random)() % 4 == 0 ? 0xff : static_cast<guint8>((*random)());
}

void swap_segments(Bytes* bytes, std::mt19937* random) {
  const std::vector<Segment> segments = segments_of(*bytes);
  const Segment& first = segments[below(segments.size() - 1, random)];
  const Segment& second = *(&first + 1);
  std::rotate(bytes->begin() + first.begin, bytes->begin() + second.begin,
              bytes->begin() + second.end);
}

}  // namespace

std::vector<Bytes> soak_pictures() {
  std::vector<Bytes> pictures;
  for (const Kind& kind : kKinds) pictures.push_back(make(kind));
  return pictures;
}

std::vector<Bytes> soak_pictures_of_four() {
  std::vector<Bytes> pictures;
  for (const FourComponents& kind : kFourComponents) {
    pictures.push_back(make_four_components(kind, 97, 65));
    pictures.push_back(written_again(pictures.back(), false, true, false, 5));
  }
  pictures.push_back(written_again(pictures.front(), true, false, false, 0));
  pictures.push_back(written_again(pictures.back(), false, false, true, 7));
  return pictures;
}

void damage(Bytes* picture, std::mt19937* random) {
  const size_t at = below(picture->size(), random);
  switch ((*random)() % 6) {
    case 0:
      for (size_t left = 1 + below(8, random); left > 0; left--)
        (*picture)[below(picture->size(), random)] ^= 1 << below(8, random);
      break;
    case 1:
      picture->resize((*random)() % 50 == 0 ? 0 : at);
      break;
    case 2:
      for (size_t left = 1 + below(20, random); left > 0; left--)
        picture->insert(picture->begin() + at, random_byte(random));
      break;
    case 3:
      for (size_t i = at; i < std::min(picture->size(), at + 64); i++)
        (*picture)[i] = random_byte(random);
      break;
    case 4: {
      // Beginnings of pictures inside one picture: three pictures that share one time.
      constexpr guint8 kBeginnings[] = {0xff, 0xd8, 0x00, 0xff, 0xd8, 0xff};
      picture->insert(picture->begin() + at, std::begin(kBeginnings), std::end(kBeginnings));
      break;
    }
    default:
      swap_segments(picture, random);
      break;
  }
}

}  // namespace testing
