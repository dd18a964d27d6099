// Writes a raw stream of APV, 4:2:2 of 10 bits, of a synthetic scene: for measurements.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: make_apv WIDTH HEIGHT FRAMES QP NOISE [TILE_WIDTH TILE_HEIGHT] >FILE
//
// NOISE: its standard deviation, about. Tiles are 256x256 unless sizes in samples are given, larger
// above 20 of them in a row or column.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apv/frame_encoder.h"
#include "tests/apv/scene.h"

namespace cudatransform::test {
namespace {

bool write_frame(ApvScene& scene, int frame, const ApvFrameFormat& format,
                 ApvFrameEncoder& encoder) {
  std::vector<uint16_t> planes[3];
  ApvSource source;
  for (int c = 0; c < 3; ++c) {
    planes[c] = scene.draw(frame, c);
    source.data[c] = planes[c].data();
    source.pitch[c] = ptrdiff_t{2} * scene.width_of(c);
  }
  if (!encoder.begin(format, source).ok()) return false;
  for (int i = 0; i < encoder.tiles(); ++i) encoder.encode_tile(i);
  size_t bytes = 0;
  if (!encoder.finish({}, &bytes).ok()) return false;
  std::vector<uint8_t> unit(bytes);
  encoder.write(unit.data());
  return std::fwrite(unit.data(), 1, unit.size(), stdout) == unit.size();
}

int run(char** arguments, int count) {
  const auto number = [&](int i, uint32_t otherwise) {
    return i < count ? static_cast<uint32_t>(std::atoi(arguments[i])) : otherwise;
  };
  ApvFrameFormat format;
  ApvFrameHeader& header = format.header;
  header.info.width = number(0, 0);
  header.info.height = number(1, 0);
  header.info.band = 2;
  if (!choose_apv_profile(header.info.chroma, header.info.depth, &header.info.profile).ok())
    return 1;
  header.info.level =
      choose_apv_level(256. * 25 * header.info.mbs_across() * header.info.mbs_down(), 0, 2);
  for (auto& matrix : header.matrix) std::fill(std::begin(matrix), std::end(matrix), uint8_t{16});
  if (!header
           .set_tiles(apv_tile_mbs(number(5, 256), header.info.mbs_across()),
                      apv_tile_mbs(number(6, 256), header.info.mbs_down()))
           .ok())
    return 1;
  for (uint8_t& qp : format.qp) qp = static_cast<uint8_t>(number(3, 0));
  ApvScene scene(header.info.width, header.info.height, number(4, 0));
  ApvFrameEncoder encoder;
  for (int frame = 0; frame < static_cast<int>(number(2, 1)); ++frame)
    if (!write_frame(scene, frame, format, encoder)) return 1;
  return 0;
}

}  // namespace
}  // namespace cudatransform::test

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr,
                 "usage: make_apv WIDTH HEIGHT FRAMES QP NOISE [TILE_WIDTH TILE_HEIGHT] >FILE\n");
    return 2;
  }
  return cudatransform::test::run(argv + 1, argc - 1);
}
