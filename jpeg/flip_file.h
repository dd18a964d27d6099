// A JPEG file whose image is rotated, mirrored and cropped without loss, as jpegtran does it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "jpeg/reader.h"
#include "jpeg/writer.h"
#include "transform/coeffilter/flip.h"
#include "transform/device/device.h"

namespace cudatransform {

// open(), then flip(), for one file after another, by one thread at a time.
class JpegFileFlipper {
 public:
  // Reads the header of `file`, which must stay until flip() has returned: one image of at most
  // `*pixels`, from which its own are subtracted. kUnsupported where it has more: a few bytes can
  // claim any size. Else fails as JpegReader::read_header(), and where the file is too short.
  Status open(std::span<const uint8_t> file, uint64_t* pixels, FlipPicture* picture);
  bool is_cmyk() const { return header_.color == JpegColor::kCmyk; }
  // Writes the image of open() with `segments` (jpeg/metadata.h) in front. Huffman tables are
  // optimal; a progressive file stays progressive. Fails for a damaged image.
  Status flip(const FlipRequest& request, std::span<const uint8_t> segments, JpegBytes* made);

 private:
  struct Qcoefs {
    JpegQcoefs component[kJpegMaxComponents];
    std::vector<int16_t> memory;

    void allocate(const JpegHeader& header, int32_t width, int32_t height, bool transposed);
  };
  Status read(Qcoefs* qcoefs);
  Status move_blocks(const Qcoefs& from, const FlipRequest& request, const Qcoefs& to);
  Status write(const Qcoefs& qcoefs, bool transposed, std::span<const uint8_t> segments,
               JpegBytes* made);

  std::span<const uint8_t> file_;
  JpegReader reader_;
  JpegWriter writer_;
  JpegHeader header_;
  JpegTables tables_;
  FlipPicture picture_;
  FlipPlan plan_;
  std::unique_ptr<Device> device_;
};

// Whether a JPEG image begins somewhere in these bytes.
bool has_image(std::span<const uint8_t> bytes, JpegFileFlipper* files);

}  // namespace cudatransform
