// The size of the files that JpegWriter would write: nearly, from counts of symbols, and exactly.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jpeg/file_size.h"

#include <new>
#include <numeric>

#include "jpeg/encode_bits.h"

namespace cudatransform {
namespace {

uint64_t symbols_of(const JpegHuffmanTable& table) {
  return std::accumulate(std::begin(table.counts), std::end(table.counts), uint64_t{0});
}

// A symbol is a byte of the header.
uint64_t symbols_of(const JpegHuffmanTables& tables, uint32_t pairs) {
  uint64_t all = 0;
  for (uint32_t pair = 0; pair < pairs; ++pair)
    all += symbols_of(tables.dc[pair]) + symbols_of(tables.ac[pair]);
  return all;
}

Status failed(const char* what) { return Status::error(StatusCode::kFailed, what); }

}  // namespace

struct alignas(16) JpegFileSize::Results {
  JpegSymbolCounts counts[kSlots];
  JpegEncodeResult result;
};

JpegFileSize::JpegFileSize() = default;
JpegFileSize::~JpegFileSize() = default;

JpegFileSize::Results& JpegFileSize::results() const {
  return ordinary_ ? *ordinary_ : *static_cast<Results*>(results_->data());
}

Status JpegFileSize::open(Device& device, const JpegEncodeOps& ops) {
  close();
  const JpegHuffmanTables* standard = nullptr;
  CT_RETURN_IF_ERROR(standard_jpeg_tables(&standard));
  standard_ = *standard;
  CT_RETURN_IF_ERROR(make_jpeg_codes(standard_, &standard_codes_));
  const Status locked = device.allocate(MemoryKind::kPinned, sizeof(Results), &results_);
  if (locked.code == StatusCode::kOutOfMemory)
    ordinary_ = std::make_unique<Results>();
  else
    CT_RETURN_IF_ERROR(locked);
  // Nothing is written there: this only determines a size.
  CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kDevice, 16, &output_));
  device_ = &device;
  ops_ = &ops;
  return {};
}

void JpegFileSize::close() {
  results_.reset();
  ordinary_.reset();
  output_.reset();
  device_ = nullptr;
  layout_ = {};
}

Status JpegFileSize::begin(const JpegPicture& picture, const JpegOptions& options) {
  options_ = options;
  CT_RETURN_IF_ERROR(make_jpeg_scan_layout(picture, options_, &layout_));
  pairs_ = has_chroma(picture.color) ? 2 : 1;
  CT_RETURN_IF_ERROR(writer_.write_header(picture, options_, nullptr, &bytes_));
  header_ = bytes_.size() - symbols_of(standard_, pairs_);
  return {};
}

JpegEncodeJob JpegFileSize::job_of(const JpegPicture& picture) const {
  JpegEncodeJob job;
  job.layout = layout_;
  for (int c = 0; c < picture.components(); ++c)
    job.qcoefs[c] = {picture.qcoefs[c].data, picture.qcoefs[c].stride};
  return job;
}

Status JpegFileSize::count(const JpegPicture& picture, int slot, FencePtr* fence) {
  JpegEncodeJob job = job_of(picture);
  job.counts = &results().counts[slot];
  return ops_->count(*device_, device_->queue(QueueKind::kCompute), job, fence);
}

JpegSymbolCounts* JpegFileSize::counts() { return ordinary_ ? nullptr : results().counts; }

Status JpegFileSize::counted_size(int slot, uint64_t* bytes) const {
  const JpegSymbolCounts& counts = results().counts[slot];
  JpegHuffmanTables optimal;
  JpegCodes codes;
  if (options_.optimize) {
    CT_RETURN_IF_ERROR(make_optimal_jpeg_tables(counts, pairs_, &optimal));
    CT_RETURN_IF_ERROR(make_jpeg_codes(optimal, &codes));
  }
  const JpegCodes& used = options_.optimize ? codes : standard_codes_;
  uint64_t bits = 0;
  for (uint32_t pair = 0; pair < pairs_; ++pair)
    for (uint32_t i = 0; i < kJpegSymbols; ++i)
      bits += uint64_t{counts.of[pair][i]} * jpeg_code_length(used.of[pair][i]);
  constexpr uint64_t kMarkerBits = 16, kFillBits = 4;
  bits += layout_.segments * (kMarkerBits + kFillBits);  // the last segment ends with EOI
  *bytes = header_ + symbols_of(options_.optimize ? optimal : standard_, pairs_) + bits / 8;
  return {};
}

Status JpegFileSize::exact_size(const JpegPicture& picture, uint64_t* bytes) {
  if (device_->is_host()) return size_on_host(picture, bytes);
  if (!ordinary_) {
    const Status status = size_on_device(picture, bytes);
    if (status.code != StatusCode::kOutOfMemory) return status;
  }
  JpegPicture fetched = picture;
  CT_RETURN_IF_ERROR(fetch(picture, &fetched));
  return size_on_host(fetched, bytes);
}

Status JpegFileSize::size_on_host(const JpegPicture& picture, uint64_t* bytes) {
  const Status status = writer_.write(picture, options_, &bytes_);
  *bytes = status.ok() ? bytes_.size() : UINT64_MAX;
  return status.code == StatusCode::kOutOfMemory ? status : Status();
}

// Copies the quantized coefficients to memory of the host's.
Status JpegFileSize::fetch(const JpegPicture& picture, JpegPicture* fetched) {
  size_t all = 0;
  for (int c = 0; c < picture.components(); ++c)
    all += size_t{picture.qcoefs[c].blocks_w} * picture.qcoefs[c].blocks_h * 64;
  try {
    qcoefs_.resize(all);
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no memory for the coefficients of a JPEG file");
  }
  Queue& queue = device_->queue(QueueKind::kCompute);
  int16_t* to = qcoefs_.data();
  for (int c = 0; c < picture.components(); ++c) {
    const JpegQcoefs& from = picture.qcoefs[c];
    const size_t row = size_t{from.blocks_w} * 64;
    const auto pitch = static_cast<ptrdiff_t>(row * sizeof(int16_t));
    CT_RETURN_IF_ERROR(device_->download(
        queue, {to, pitch, from.data, from.stride, row * sizeof(int16_t), from.blocks_h}));
    fetched->qcoefs[c].data = to;
    fetched->qcoefs[c].stride = pitch;
    to += row * from.blocks_h;
  }
  FencePtr fetched_all;
  CT_RETURN_IF_ERROR(queue.record(&fetched_all));
  return fetched_all->wait();
}

Status JpegFileSize::size_on_device(const JpegPicture& picture, uint64_t* bytes) {
  if (!options_.optimize) return code_on_device(picture, nullptr, bytes);
  FencePtr counted;
  CT_RETURN_IF_ERROR(count(picture, 0, &counted));
  CT_RETURN_IF_ERROR(counted->wait());
  JpegHuffmanTables tables;
  CT_RETURN_IF_ERROR(make_optimal_jpeg_tables(results().counts[0], pairs_, &tables));
  return code_on_device(picture, &tables, bytes);
}

// `tables` null: the standard ones.
Status JpegFileSize::code_on_device(const JpegPicture& picture, const JpegHuffmanTables* tables,
                                    uint64_t* bytes) {
  JpegCodes own;
  if (tables != nullptr) CT_RETURN_IF_ERROR(make_jpeg_codes(*tables, &own));
  JpegEncodeJob job = job_of(picture);
  job.codes = tables != nullptr ? &own : &standard_codes_;
  job.output = static_cast<uint8_t*>(output_->data());
  job.result = &results().result;
  FencePtr coded;
  CT_RETURN_IF_ERROR(ops_->encode(*device_, device_->queue(QueueKind::kCompute), job, &coded));
  CT_RETURN_IF_ERROR(coded->wait());
  const JpegEncodeResult& result = results().result;
  if ((result.faults & kJpegNoCode) != 0) return failed("Missing Huffman code table entry");
  *bytes =
      (result.faults & kJpegQcoefsNotPlain) != 0
          ? UINT64_MAX
          : header_ + symbols_of(tables != nullptr ? *tables : standard_, pairs_) + result.size;
  return {};
}

}  // namespace cudatransform
