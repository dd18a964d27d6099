// The scale of a picture's quantization tables at which its JPEG file has a target size.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/size_control.h"

#include <algorithm>
#include <utility>

namespace cudatransform {
namespace {

// What the size of a header depends on: which components share a table, and whether its entries
// have 16 bits.
unsigned table_shape(const FrameTables& tables, int components) {
  unsigned shape = 0;
  for (int c = 0; c < components; c++) {
    const QuantTable& table = tables.tables[tables.table_of[c]];
    const bool is_wide = std::any_of(std::begin(table.q), std::end(table.q),
                                     [](uint16_t entry) { return entry > 255; });
    shape = shape * 16 + static_cast<unsigned>(tables.table_of[c]) * 2 + is_wide;
  }
  return shape;
}

bool have_same_header(const JpegPicture& a, const JpegPicture& b) {
  return a.width == b.width && a.height == b.height && a.color == b.color &&
         a.sampling == b.sampling && a.is_adobe == b.is_adobe && a.metadata.empty() &&
         b.metadata.empty() && a.others == b.others;
}

}  // namespace

void ScaledPreset::scale_to(uint32_t scale) {
  const bool is_end = scale == finest || scale == coarsest;
  scale_tables(preset, chroma, {scale, !is_end}, &tables);
}

void ScalableDct::scale_to(uint32_t scale) {
  scaled.scale_to(scale);
  std::copy_n(scaled.tables.tables, scaled.tables.count, job.tables);
}

Status ScalableDct::make(uint32_t scale, bool is_counted, const ScaledQcoefs to[],
                         FrameTables* made) {
  scale_to(scale);
  job.quantizer = is_counted ? counted_quantizer(quantizer) : quantizer;
  for (int c = 0; c < job.components; c++) {
    job.coefs[c].data = to[c].data;
    job.coefs[c].pitch = to[c].pitch;
    job.coefs[c].table = scaled.tables.table_of[c];
  }
  *made = scaled.tables;
  return ops->submit(*device, device->queue(QueueKind::kCompute), job, nullptr);
}

SizeControl::~SizeControl() = default;

void SizeControl::forget() {
  last_scale_ = 0;
  growth_ = kFirstGrowth;
}

void SizeControl::stop() {
  file_.reset();
  memory_.reset();
  is_begun_ = false;
}

Status SizeControl::open(Device& device, const JpegEncodeOps& ops) {
  device_ = &device;
  if (file_) return {};
  auto file = std::make_unique<JpegFileSize>();
  CT_RETURN_IF_ERROR(file->open(device, ops));
  file_ = std::move(file);
  is_begun_ = false;
  return {};
}

// Quantized coefficients of all components, concatenated.
Status SizeControl::take_memory() {
  size_t bytes = 0;
  for (int c = 0; c < picture_.components(); c++)
    bytes += size_t{picture_.qcoefs[c].blocks_w} * picture_.qcoefs[c].blocks_h * 64 * 2;
  if (!memory_ || memory_->size() < bytes) {
    memory_.reset();
    CT_RETURN_IF_ERROR(device_->allocate(MemoryKind::kDevice, bytes, &memory_));
    is_begun_ = false;
  }
  auto* data = static_cast<int16_t*>(memory_->data());
  for (int c = 0; c < picture_.components(); c++) {
    JpegQcoefs& qcoefs = picture_.qcoefs[c];
    qcoefs.data = data;
    qcoefs.stride = static_cast<ptrdiff_t>(size_t{qcoefs.blocks_w} * 64 * sizeof(int16_t));
    qcoefs_[c] = {data, qcoefs.stride};
    data += size_t{qcoefs.blocks_w} * qcoefs.blocks_h * 64;
  }
  return {};
}

void SizeControl::point_to_tables() {
  for (int c = 0; c < picture_.components(); c++)
    picture_.tables[c] = tables_.tables[tables_.table_of[c]].q;
}

Status SizeControl::begin(Device& device, const JpegEncodeOps& ops, const JpegPicture& file,
                          uint64_t trailing, const JpegOptions& options,
                          const FrameTables& tables) {
  CT_RETURN_IF_ERROR(open(device, ops));
  if (!have_same_header(file, picture_) || options != options_) is_begun_ = false;
  picture_ = file;
  trailing_ = trailing;
  options_ = options;
  tables_ = tables;
  CT_RETURN_IF_ERROR(take_memory());
  point_to_tables();
  return begin_file();
}

Status SizeControl::begin_file() {
  const unsigned shape = table_shape(tables_, picture_.components());
  if (is_begun_ && shape == begun_tables_) return {};
  CT_RETURN_IF_ERROR(file_->begin(picture_, options_));
  is_begun_ = true;
  begun_tables_ = shape;
  return {};
}

Status SizeControl::make(ScalablePicture& picture, uint32_t scale, bool is_counted) {
  CT_RETURN_IF_ERROR(picture.make(scale, is_counted, qcoefs_, &tables_));
  point_to_tables();
  return {};
}

Status SizeControl::measure(ScalablePicture& picture, uint32_t scale, uint64_t* bytes) {
  CT_RETURN_IF_ERROR(make(picture, scale, false));
  CT_RETURN_IF_ERROR(begin_file());
  CT_RETURN_IF_ERROR(file_->exact_size(picture_, bytes));
  if (*bytes != UINT64_MAX) *bytes += trailing_;
  return {};
}

// Counts the symbols of all candidates, and waits for the device.
Status SizeControl::count_at_once(ScalablePicture& picture, const SizeCandidates& candidates) {
  FencePtr counted;
  CT_RETURN_IF_ERROR(picture.count(candidates, file_.get(), &counted));
  if (counted) return counted->wait();
  for (int i = 0; i < candidates.count; i++) {
    CT_RETURN_IF_ERROR(make(picture, candidates.scales[i], true));
    CT_RETURN_IF_ERROR(file_->count(picture_, i, &counted));
  }
  return counted->wait();
}

// One round. The CPU counts only what the result depends on.
Status SizeControl::narrow(ScalablePicture& picture, const SizeCandidates& candidates,
                           SizeSearch* search) {
  const bool at_once = !device_->is_host();
  if (at_once) CT_RETURN_IF_ERROR(count_at_once(picture, candidates));
  return search->narrow(candidates, [&](int i, uint64_t* bytes) -> Status {
    if (!at_once) {
      CT_RETURN_IF_ERROR(make(picture, candidates.scales[i], true));
      CT_RETURN_IF_ERROR(file_->count(picture_, i, nullptr));
    }
    CT_RETURN_IF_ERROR(file_->counted_size(i, bytes));
    *bytes += trailing_;
    return {};
  });
}

Status SizeControl::search(ScalablePicture& picture, const Limits& limits, Found* found) {
  if (limits.begins_with_finest) {
    CT_RETURN_IF_ERROR(measure(picture, limits.finest, &found->bytes));
    found->scale = limits.finest;
    if (found->bytes <= limits.target) return {};
  }
  SizeSearch::Limits wanted;
  wanted.finest = limits.finest;
  wanted.coarsest = limits.coarsest;
  wanted.guess = last_scale_;
  wanted.target = limits.target;
  wanted.tolerance = limits.tolerance;
  SizeSearch search(wanted, growth_);
  for (;;) {
    for (SizeCandidates round = search.next_round(); round.count > 0; round = search.next_round())
      CT_RETURN_IF_ERROR(narrow(picture, round, &search));
    uint64_t bytes = 0;
    CT_RETURN_IF_ERROR(measure(picture, search.best(), &bytes));
    // Of quantized coefficients that have no codes: any coarser scale will do.
    if (bytes == UINT64_MAX) bytes = limits.target + 1;
    if (search.accepts(bytes)) {
      if (bytes <= limits.target) growth_ = search.growth_of(bytes), last_scale_ = search.best();
      *found = {search.best(), bytes, search.rounds()};
      return {};
    }
    search.correct(bytes);
  }
}

}  // namespace cudatransform
