// The layout and the header of a file whose scan is coded in parallel.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jpeg/encode_file.h"

#include <algorithm>
#include <new>

namespace cudatransform {
namespace {

void append(std::vector<uint8_t>* key, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  if (size > 0) key->insert(key->end(), bytes, bytes + size);
}

void make_key(const JpegPicture& picture, const JpegOptions& options,
              const JpegHuffmanTables* tables, std::vector<uint8_t>* key) {
  key->clear();
  const uint32_t numbers[] = {picture.width,         picture.height,
                              picture.depth,         static_cast<uint32_t>(picture.color),
                              picture.is_adobe,      options.restart_interval,
                              options.keep_metadata, picture.others,
                              tables != nullptr};
  append(key, numbers, sizeof numbers);
  append(key, &picture.sampling, sizeof picture.sampling);
  for (int c = 0; c < picture.components(); c++) {
    const int number = picture.table_number(c);
    append(key, &number, sizeof number);
    append(key, picture.tables[c], 64 * sizeof(uint16_t));
  }
  if (tables != nullptr) append(key, tables, sizeof *tables);
  if (options.keep_metadata) append(key, picture.metadata.data(), picture.metadata.size());
}

}  // namespace

// The words of JpegCodes hold a code and 11 bits after it.
bool is_parallel(const JpegOptions& options, uint32_t depth) {
  return !options.progressive && !options.arithmetic && depth == 8;
}

Status make_jpeg_scan_layout(const JpegPicture& picture, const JpegOptions& options,
                             JpegScanLayout* layout) {
  if (!is_parallel(options, picture.depth))
    return Status::error(StatusCode::kUnsupported, "unsupported scan, expected 8-bit baseline");
  if (picture.sampling.mcu_blocks(picture.components()) > kMaxMcuBlocks)
    return Status::error(StatusCode::kUnsupported,
                         "sampling factors " + picture.sampling.text(picture.components()) +
                             " of a scan, expected at most 10 blocks in an MCU");
  JpegFactors factors = {static_cast<uint32_t>(picture.components())};
  std::copy_n(picture.sampling.h, picture.components(), factors.h);
  std::copy_n(picture.sampling.v, picture.components(), factors.v);
  CT_RETURN_IF_ERROR(make_jpeg_scan_layout(picture.width, picture.height, factors,
                                           options.restart_interval, layout));
  // As libjpeg shares them out.
  for (uint32_t c = 1; c < layout->components; c++)
    layout->table_pair[c] = is_chroma(picture.color, static_cast<int>(c)) ? 1 : 0;
  return {};
}

Status JpegHeaders::find(const JpegPicture& picture, const JpegOptions& options,
                         const JpegHuffmanTables* tables, const JpegBytes** header) {
  for (int c = 0; c < picture.components(); c++)
    if (picture.tables[c] == nullptr)
      return Status::error(StatusCode::kInvalidArgument, "component without a quantization table");
  try {
    make_key(picture, options, tables, &next_key_);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for a JPEG header");
  }
  if (key_.empty() || key_ != next_key_) {
    key_.clear();
    CT_RETURN_IF_ERROR(writer_.write_header(picture, options, tables, &header_));
    key_.swap(next_key_);
  }
  *header = &header_;
  return {};
}

}  // namespace cudatransform
