// Coding a picture's scan on the device: launches, the copy to the host, and the file.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/device_scan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "jpeg/encode_bits.h"
#include "jpeg/mpf.h"
#include "transform/device/memory_budget.h"
#ifdef CT_HAVE_CUDA
#include "cuda/jpeg/engine.h"
#endif

namespace cudatransform {

// We do not know the length of a scan when we enqueue its copy. So we copy as much as the last scan
// had and a little more, and the host need not wait for the length. The rest is copied when we know
// the length. The copy goes directly into the memory of the file, which is pushed as it is.

namespace {

// For the first picture: a file of high quality has this part of the bytes of its coefficients.
constexpr size_t kFirstPart = 4;
// A header without metadata is shorter.
constexpr size_t kHeaderRoom = 4096;

size_t qcoef_bytes(const JpegPicture& picture) {
  size_t bytes = 0;
  for (int c = 0; c < picture.components(); c++)
    bytes += size_t{picture.qcoefs[c].blocks_w} * picture.qcoefs[c].blocks_h * 64 * sizeof(int16_t);
  return bytes;
}

}  // namespace

Status DeviceCoder::open(Engine& engine) {
  close();
#ifdef CT_HAVE_CUDA
  if (engine.is_cuda()) {
    CT_RETURN_IF_ERROR(probe_cuda_jpeg_encode_kernels(engine.device()));
    JpegHuffmanTables tables;
    CT_RETURN_IF_ERROR(headers_.standard_tables(&tables));
    CT_RETURN_IF_ERROR(make_jpeg_codes(tables, &standard_codes_));
    engine_ = &engine;
    files_ = std::make_shared<FileMemory>();
    ops_ = &cuda_jpeg_encode_ops();
    return {};
  }
#endif
  (void)engine;
  return Status::error(StatusCode::kNotFound, "no CUDA device");
}

void DeviceCoder::close() {
  if (files_) files_->close();
  files_.reset();
  engine_ = nullptr;
  ops_ = nullptr;
  last_size_ = 0;
  refusals_ = skipped_ = 0;
}

bool DeviceCoder::takes_next() {
  if (!is_open()) return false;
  if (skipped_ == 0) return true;
  skipped_--;
  return false;
}

void DeviceCoder::note_picture(bool refused) {
  refusals_ = refused ? std::min(refusals_ + 1, kMaxRefusals) : 0;
  if (refusals_ == kMaxRefusals) skipped_ = kSkipped;
}

Status DeviceScan::begin(DeviceCoder& coder, const JpegPicture& picture, const JpegOptions& options,
                         FencePtr* read) {
  clear();
  job_ = {};
  CT_RETURN_IF_ERROR(make_jpeg_scan_layout(picture, options, &job_.layout));
  for (int c = 0; c < picture.components(); c++)
    job_.qcoefs[c] = {picture.qcoefs[c].data, picture.qcoefs[c].stride};
  Device& device = coder.engine_->device();
  if (!results_)
    CT_RETURN_IF_ERROR(device.allocate(MemoryKind::kPinned, sizeof(Results), &results_));
  auto* results = static_cast<Results*>(results_->data());
  job_.result = &results->result;
  job_.counts = &results->counts;
  coder_ = &coder;
  picture_ = &picture;
  options_ = options;
  header_room_ = kHeaderRoom;
  if (options.keep_metadata)
    header_room_ += picture.metadata.size() + new_mpf_size(picture.others + 1);
  Status status;
  if (options.optimize)
    status = coder.ops_->count(device, device.queue(QueueKind::kCompute), job_, &counted_);
  else
    status = encode(coder.standard_codes_,
                    coder.last_size_ > 0 ? coder.last_size_ : qcoef_bytes(picture) / kFirstPart);
  if (!status.ok()) {
    clear();
    return status;
  }
  *read = counted_ ? counted_ : coded_;
  return {};
}

// Has room for at least `room` bytes.
Status DeviceScan::encode(const JpegCodes& codes, size_t room) {
  Device& device = coder_->engine_->device();
  CT_RETURN_IF_ERROR(grow_memory(device, MemoryKind::kDevice, room_for(room), &output_));
  job_.codes = &codes;
  job_.output = static_cast<uint8_t*>(output_->data());
  job_.capacity = output_->size();
  CT_RETURN_IF_ERROR(
      coder_->ops_->encode(device, device.queue(QueueKind::kCompute), job_, &coded_));
  Queue& download = device.queue(QueueKind::kDownload);
  CT_RETURN_IF_ERROR(download.wait_for(coded_));
  fetched_ = 0;
  return fetch(0, std::min(room + room / 16, job_.capacity));
}

// Enqueues the copy of `bytes` bytes from the scan's byte `from` on.
Status DeviceScan::fetch(size_t from, size_t bytes) {
  Device& device = coder_->engine_->device();
  Queue& queue = device.queue(QueueKind::kDownload);
  if (!staging_ || staging_->size() < header_room_ + from + bytes) {
    // No copy to the old memory is in progress, and any earlier copy is repeated.
    bytes += from;
    from = 0;
    staging_.reset();
    CT_RETURN_IF_ERROR(coder_->files_->take(
        *coder_->engine_, header_room_ + std::max(bytes, job_.capacity), &staging_));
  }
  CT_RETURN_IF_ERROR(
      device.download(queue, copy_of_bytes(scan() + from, job_.output + from, bytes)));
  CT_RETURN_IF_ERROR(queue.record(&downloaded_));
  fetched_ = from + bytes;
  return {};
}

bool DeviceScan::is_ready() {
  if (downloaded_) return downloaded_->done();
  return !counted_ || counted_->done();
}

Status DeviceScan::encode_optimized() {
  CT_RETURN_IF_ERROR(counted_->wait());
  counted_.reset();
  // Each block has one DC symbol. Other numbers come from elsewhere, and libjpeg must not make up
  // for the tables of such numbers in silence.
  uint64_t blocks = 0;
  for (const auto& counts : results().counts.of)
    blocks = std::accumulate(counts + kJpegDcSymbols, counts + kJpegSymbols, blocks);
  if (blocks != job_.layout.blocks)
    return Status::error(StatusCode::kFailed,
                         "symbol statistics do not match the number of blocks");
  const uint32_t pairs = has_chroma(picture_->color) ? 2 : 1;
  CT_RETURN_IF_ERROR(make_optimal_jpeg_tables(results().counts, pairs, &tables_));
  JpegCodes codes;
  CT_RETURN_IF_ERROR(make_jpeg_codes(tables_, &codes));
  // The size is known, except for stuffing and the bits that fill up segments.
  uint64_t bits = 0;
  for (uint32_t pair = 0; pair < pairs; pair++)
    for (uint32_t i = 0; i < kJpegSymbols; i++)
      bits += uint64_t{results().counts.of[pair][i]} * jpeg_code_length(codes.of[pair][i]);
  const auto bytes = static_cast<size_t>(bits / 8) + size_t{3} * job_.layout.segments;
  return encode(codes, bytes + bytes / 64);
}

Status DeviceScan::wait_for_scan(bool* refused) {
  CT_RETURN_IF_ERROR(downloaded_->wait());
  const uint32_t faults = results().result.faults;
  // Tables are Annex K's, which have all codes, or computed for this picture.
  if ((faults & kJpegNoCode) != 0)
    return Status::error(StatusCode::kFailed, "Missing Huffman code table entry");
  *refused = (faults & kJpegQcoefsNotPlain) != 0;
  return {};
}

Status DeviceScan::finish(GstBuffer** file) {
  *file = nullptr;
  if (counted_) {
    const Status status = encode_optimized();
    // If there are no tables, libjpeg has none either, and reports it.
    if (status.code == StatusCode::kUnsupported) return {};
    CT_RETURN_IF_ERROR(status);
  }
  bool refused = false;
  CT_RETURN_IF_ERROR(wait_for_scan(&refused));
  if (!refused && (results().result.faults & kJpegNoRoom) != 0) {
    JpegCodes codes;
    if (options_.optimize) CT_RETURN_IF_ERROR(make_jpeg_codes(tables_, &codes));
    CT_RETURN_IF_ERROR(
        encode(options_.optimize ? codes : coder_->standard_codes_, size_t{results().result.size}));
    CT_RETURN_IF_ERROR(wait_for_scan(&refused));
  }
  coder_->note_picture(refused);
  if (refused) return {};
  if (results().result.faults != 0)
    return Status::error(StatusCode::kFailed, "scan exceeds its computed size");
  if (results().result.size > fetched_) {
    CT_RETURN_IF_ERROR(fetch(fetched_, results().result.size - fetched_));
    CT_RETURN_IF_ERROR(downloaded_->wait());
  }
  coder_->last_size_ = results().result.size;
  return make_file(file);
}

Status DeviceScan::make_file(GstBuffer** file) {
  const JpegBytes* header = nullptr;
  CT_RETURN_IF_ERROR(
      coder_->headers_.find(*picture_, options_, options_.optimize ? &tables_ : nullptr, &header));
  const size_t scan_size = results().result.size, size = header->size() + scan_size;
  if (header->size() <= header_room_) {
    std::memcpy(scan() - header->size(), header->data(), header->size());
    *file = coder_->files_->wrap(&staging_, header_room_ - header->size(), size);
    if (*file) return {};
  }
  auto* bytes = static_cast<uint8_t*>(std::malloc(size));
  if (bytes == nullptr)
    return Status::error(StatusCode::kOutOfMemory,
                         "no memory for a JPEG file of " + std::to_string(size) + " bytes");
  std::memcpy(bytes, header->data(), header->size());
  std::memcpy(bytes + header->size(), scan(), scan_size);
  *file = gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), bytes, size, 0, size, bytes,
                                      std::free);
  return {};
}

void DeviceScan::clear() {
  // Failures have been reported, or no longer matter.
  for (FencePtr* fence : {&counted_, &coded_, &downloaded_}) {
    if (*fence) (void)(*fence)->wait();
    fence->reset();
  }
  coder_ = nullptr;
  picture_ = nullptr;
}

void DeviceScan::free_memory() {
  output_.reset();
  staging_.reset();
}

}  // namespace cudatransform
