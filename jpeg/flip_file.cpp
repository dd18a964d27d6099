// A JPEG file whose image is rotated, mirrored and cropped without loss, as jpegtran does it.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/flip_file.h"

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "jpeg/metadata.h"
#include "jpeg/splitter.h"
#include "jpeg/stuffing.h"
#include "transform/device/host_device.h"

namespace cudatransform {
namespace {

// Whether the frame header is one of progressive Huffman coding (T.81, table B.1).
bool is_progressive(std::span<const uint8_t> file) {
  JpegSegments segments(file.subspan(kSoiBytes));
  for (JpegSegment segment; segments.next(&segment);)
    if (segment.code == kSof2) return true;
  return false;
}

CoefArray array_of(const JpegQcoefs& qcoefs) {
  return {qcoefs.data, qcoefs.stride, static_cast<int32_t>(qcoefs.blocks_w),
          static_cast<int32_t>(qcoefs.blocks_h)};
}

}  // namespace

void JpegFileFlipper::Qcoefs::allocate(const JpegHeader& header, int32_t width, int32_t height,
                                       bool transposed) {
  constexpr size_t kBlock = 64;
  JpegSampling sampling = header.sampling;
  if (transposed) sampling.transpose();
  size_t blocks = 0;
  for (int c = 0; c < header.components; c++) {
    component[c].blocks_w = sampling.blocks_w(static_cast<uint32_t>(width), c);
    component[c].blocks_h = sampling.blocks_h(static_cast<uint32_t>(height), c);
    component[c].stride = static_cast<ptrdiff_t>(component[c].blocks_w * kBlock * sizeof(int16_t));
    blocks += size_t{component[c].blocks_w} * component[c].blocks_h;
  }
  memory.resize(blocks * kBlock);
  int16_t* data = memory.data();
  for (int c = 0; c < header.components; c++) {
    component[c].data = data;
    data += kBlock * component[c].blocks_w * component[c].blocks_h;
  }
}

Status JpegFileFlipper::open(std::span<const uint8_t> file, uint64_t* pixels,
                             FlipPicture* picture) {
  file_ = file;
  CT_RETURN_IF_ERROR(reader_.read_header(file, &header_));
  const uint64_t own = uint64_t{header_.width} * header_.height;
  const std::string size = std::to_string(header_.width) + "x" + std::to_string(header_.height);
  if (file.size() < header_.min_bytes)
    return Status::error(StatusCode::kInvalidArgument, "too few bytes for an image of " + size);
  if (own > *pixels)
    return Status::error(StatusCode::kUnsupported, "an image of " + size + " is too large");
  *pixels -= own;
  picture_ = {static_cast<int32_t>(header_.width), static_cast<int32_t>(header_.height),
              static_cast<int32_t>(8 * header_.sampling.max_h()),
              static_cast<int32_t>(8 * header_.sampling.max_v())};
  *picture = picture_;
  return {};
}

Status JpegFileFlipper::flip(const FlipRequest& request, std::span<const uint8_t> segments,
                             JpegBytes* made) {
  CT_RETURN_IF_ERROR(plan_flip(picture_, request, &plan_));
  try {
    Qcoefs from, to;
    from.allocate(header_, picture_.width, picture_.height, false);
    to.allocate(header_, plan_.width, plan_.height, request.orientation.transposes);
    CT_RETURN_IF_ERROR(read(&from));
    CT_RETURN_IF_ERROR(move_blocks(from, request, to));
    return write(to, request.orientation.transposes, segments, made);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "out of memory");
  }
}

Status JpegFileFlipper::read(Qcoefs* qcoefs) {
  JpegFindings found;
  tables_ = {};
  CT_RETURN_IF_ERROR(
      reader_.read_coefficients(qcoefs->component, &tables_, &found, {.past_damage = false}));
  return found.damage.empty() ? Status()
                              : Status::error(StatusCode::kInvalidArgument, found.damage);
}

Status JpegFileFlipper::move_blocks(const Qcoefs& from, const FlipRequest& request,
                                    const Qcoefs& to) {
  if (!device_) device_ = make_host_device(1);
  if (!device_) return Status::error(StatusCode::kOutOfMemory, "out of memory");
  FlipJob job;
  job.orientation = request.orientation;
  job.components = header_.components;
  for (int c = 0; c < job.components; c++) {
    auto across = static_cast<int32_t>(header_.sampling.h[c]);
    auto down = static_cast<int32_t>(header_.sampling.v[c]);
    if (request.orientation.transposes) std::swap(across, down);
    job.from[c] = array_of(from.component[c]);
    job.to[c] = array_of(to.component[c]);
    job.places[c] = flip_place(plan_, across, down);
  }
  return host_flip_ops().submit(*device_, device_->queue(QueueKind::kCompute), job, nullptr);
}

Status JpegFileFlipper::write(const Qcoefs& qcoefs, bool transposes,
                              std::span<const uint8_t> segments, JpegBytes* made) {
  if (transposes)
    for (int t = 0; t < tables_.count; t++) tables_.tables[t] = transposed(tables_.tables[t]);
  JpegPicture picture;
  picture.width = static_cast<uint32_t>(plan_.width);
  picture.height = static_cast<uint32_t>(plan_.height);
  picture.depth = header_.depth;
  picture.color = header_.color;
  picture.sampling = header_.sampling;
  if (transposes) picture.sampling.transpose();
  picture.is_adobe = have_adobe(segments);
  picture.metadata = segments;
  std::copy_n(qcoefs.component, header_.components, picture.qcoefs);
  for (int c = 0; c < header_.components; c++)
    picture.tables[c] = tables_.tables[tables_.table_of[c]].q;
  JpegOptions options;
  options.optimize = true;
  options.progressive = is_progressive(file_) && header_.depth == 8;
  return writer_.write(picture, options, made);
}

bool has_image(std::span<const uint8_t> bytes, JpegFileFlipper* files) {
  for (size_t at = 0; at < bytes.size();) {
    JpegSplitter splitter;
    splitter.feed(&bytes[at], bytes.size() - at);
    if (!splitter.found()) return false;
    const auto image = bytes.subspan(at + splitter.begin(), splitter.end() - splitter.begin());
    uint64_t pixels = std::numeric_limits<uint64_t>::max();
    FlipPicture picture;
    if (splitter.has_end() &&
        files->open(image, &pixels, &picture).code != StatusCode::kInvalidArgument)
      return true;
    at += splitter.end();
  }
  return false;
}

}  // namespace cudatransform
