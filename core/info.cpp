// libcudatransform's reader of headers: a file is read no further than it says what is asked.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <memory>
#include <span>

#include "core/cudatransform.h"
#include "core/engine.h"
#include "core/file.h"
#include "core/picture.h"
#include "jpeg/file_info.h"

namespace cudatransform::core {
namespace {

// Most headers are in the first bytes; those of photographs may have a preview.
constexpr size_t kFirstBytes = size_t{1} << 14, kTimesMore = 8;

Status read_file(const char* path, JpegFileInfo* info) {
  File file(path);
  size_t size = 0;
  CT_RETURN_IF_ERROR(file.size(&size));
  size = std::min(size, kMaxFileBytes);
  std::unique_ptr<uint8_t[]> bytes;
  for (size_t done = 0, end = std::min(size, kFirstBytes);;) {
    std::unique_ptr<uint8_t[]> more(new uint8_t[end]);
    std::copy_n(bytes.get(), done, more.get());
    bytes = std::move(more);
    CT_RETURN_IF_ERROR(file.read(&bytes[done], end - done));
    done = end;
    const Status status = read_jpeg_info({bytes.get(), done}, info);
    if (info->size != 0 || done == size) return status;
    end = std::min(size, kTimesMore * done);
  }
}

Status read(const CtSource& source, JpegFileInfo* info) {
  if (source.path != nullptr) return read_file(source.path, info);
  if (source.data == nullptr || source.size == 0) return unreadable("it has 0 bytes");
  return read_jpeg_info({static_cast<const uint8_t*>(source.data), source.size}, info);
}

void describe(const JpegFileInfo& from, CtInfo* to) {
  to->width = static_cast<int32_t>(from.width);
  to->height = static_cast<int32_t>(from.height);
  to->depth = static_cast<int32_t>(from.depth);
  to->components = from.components;
  to->color = color_of(from.color);
  for (int c = 0; c < CT_MAX_COMPONENTS; ++c) {
    to->id[c] = from.component[c].id;
    to->h_samp[c] = from.component[c].h;
    to->v_samp[c] = from.component[c].v;
    to->table[c] = from.component[c].table;
  }
  to->n_tables = from.tables.count;
  for (int t = 0; t < from.tables.count; ++t)
    std::copy_n(from.tables.tables[t].q, 64, to->tables[t]);
  to->orientation = from.orientation;
  to->pictures = static_cast<int32_t>(from.pictures);
}

}  // namespace
}  // namespace cudatransform::core

using namespace cudatransform::core;  // for the public function below

CtCode ct_info(const CtSource* source, CtInfo* info, CtError* error) {
  return guarded(error, [&] {
    if (source == nullptr || info == nullptr)
      return report(CT_INVALID_ARGUMENT, "source or info is NULL", error);
    *info = {};
    cudatransform::JpegFileInfo found;
    const cudatransform::Status status = read(*source, &found);
    info->size = found.size;
    info->marker = found.marker;
    if (status.ok()) {
      describe(found, info);
      return CT_OK;
    }
    switch (status.code) {
      case cudatransform::StatusCode::kInvalidArgument:
        return report(CT_DAMAGED, status.message, error);
      case cudatransform::StatusCode::kFailed:
        return report(CT_UNREADABLE, status.message, error);
      default:
        return report(status, error);
    }
  });
}
