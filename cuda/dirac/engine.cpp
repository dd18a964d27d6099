// Dirac on the CUDA engine, except the transforms: packs quantized coefficients for the bus,
// dequantizes them, and delivers samples.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Maps, quantizers and those quantized coefficients that are not zero go to the device, where a
// kernel expands them. But level 0 of intra pictures with prediction is a chain from coefficient to
// coefficient: the host computes it, and it is copied as it is.
#include "cuda/dirac/engine.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "cuda/common/divider.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/device/staging.h"
#include "cuda/dirac/kernels.h"
#include "cuda/dirac/params.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(dirac_kernels, CT_DIRAC_IMAGES)

namespace {

enum Kernel : uint32_t {
  kExpandS16,
  kExpandS32,
  kExpandS32AsS16,
  kSlicesS16,
  kSlicesS32,
  kPredictS16,
  kPredictS32,
  kStoreU8,
  kStoreU8AsU16,
  kStoreU16
};

// The staging memory of dequantizing alone.
struct QcoefStaging final : StreamQueue::Kept {
  Staging staging;
};

size_t rounded(size_t bytes) { return (bytes + 15) & ~size_t{15}; }
// Gaps between parts of a block are zero, so that equal pictures have equal blocks.
void fill_gap(uint8_t* part, size_t bytes) { std::memset(part + bytes, 0, rounded(bytes) - bytes); }
void copy_part(uint8_t* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  fill_gap(to, bytes);
}

// Lays the parts of all bands out in one block, and then copies them there.
class Packer {
 public:
  explicit Packer(const DiracDequantizeJob& job)
      : job_(job),
        qcoefs_(*job.qcoefs),
        qcoef_bytes_(qcoefs_.is_wide() ? sizeof(int32_t) : sizeof(int16_t)) {
    used_ = rounded(sizeof(PackedBand) * static_cast<size_t>(count()));
    for (int c = 0; c < kMaxComponents; ++c) {
      for (int i = 0; i < qcoefs_.band_count(); ++i) place(c, i);
    }
  }

  uint32_t count() const { return static_cast<uint32_t>(kMaxComponents * qcoefs_.band_count()); }
  uint32_t rows() const { return rows_; }
  size_t bytes() const { return used_; }

  // The size of a component's pyramid: it ends where its last band does.
  PyramidParams pyramid(int c) const {
    const PackedBand& last = packed(c, qcoefs_.band_count() - 1);
    return {nullptr, 0, last.x + last.width, last.y + last.height};
  }
  void write(uint8_t* to) const {
    copy_part(to, bands_, sizeof(PackedBand) * count());
    for (int c = 0; c < kMaxComponents; ++c) {
      for (int i = 0; i < qcoefs_.band_count(); ++i) write_band(c, i, to);
    }
  }

 private:
  size_t take(size_t bytes) {
    const size_t at = used_;
    used_ += rounded(bytes);
    return at;
  }
  const PackedBand& packed(int c, int i) const { return bands_[c * qcoefs_.band_count() + i]; }

  void place(int c, int i) {
    const DiracBand& band = qcoefs_.band(c, i);
    PackedBand& to = bands_[c * qcoefs_.band_count() + i];
    to = {};
    to.first_row = rows_;
    rows_ += static_cast<uint32_t>(band.height);
    to.width = band.width;
    to.height = band.height;
    to.x = band.x;
    to.y = band.y;
    to.component = c;
    to.columns = band.columns;
    to.rows = band.rows;
    to.map_words = band.map_words;
    to.matrix = band.matrix;
    to.is_dense = job_.predicts_dc && i == 0;
    const auto height = static_cast<size_t>(band.height);
    if (to.is_dense != 0) {
      to.qcoefs = take(height * static_cast<size_t>(band.width) * qcoef_bytes_);
      return;
    }
    to.map = take(height * static_cast<size_t>(band.map_words) * sizeof(uint64_t));
    to.starts = take(height * sizeof(uint32_t));
    to.quantizers = place_quantizers(band);
    size_t count = 0;
    for (int32_t y = 0; y < band.height; ++y) count += band.counts[y];
    to.qcoefs = take(count * qcoef_bytes_);
  }
  // Bands of slices share theirs.
  size_t place_quantizers(const DiracBand& band) {
    if (band.quantizers != last_quantizers_) {
      last_quantizers_ = band.quantizers;
      last_place_ = take(quantizer_bytes(band));
    }
    return last_place_;
  }
  static size_t quantizer_bytes(const DiracBand& band) {
    return static_cast<size_t>(band.columns) * static_cast<size_t>(band.rows);
  }

  void write_band(int c, int i, uint8_t* block) const {
    const DiracBand& band = qcoefs_.band(c, i);
    const PackedBand& to = packed(c, i);
    const auto height = static_cast<size_t>(band.height);
    const size_t row_bytes = static_cast<size_t>(band.width) * qcoef_bytes_;
    uint8_t* const qcoefs = block + to.qcoefs;
    if (to.is_dense != 0) {
      // The band is at the origin of its pyramid: the pyramid's rows are the band's.
      const auto pitch = static_cast<ptrdiff_t>(row_bytes);
      dequantize_dirac_band(band, qcoefs_.is_wide(), job_.is_intra, qcoefs, pitch);
      predict_dirac_dc(band, qcoefs_.is_wide(), qcoefs, pitch);
      fill_gap(qcoefs, height * row_bytes);
      return;
    }
    copy_part(block + to.map, band.map,
              height * static_cast<size_t>(band.map_words) * sizeof(uint64_t));
    copy_part(block + to.quantizers, band.quantizers, quantizer_bytes(band));
    auto* starts = reinterpret_cast<uint32_t*>(block + to.starts);
    const auto* from = static_cast<const uint8_t*>(band.qcoefs);
    uint32_t before = 0;
    for (int32_t y = 0; y < band.height; ++y, from += row_bytes) {
      std::memcpy(qcoefs + before * qcoef_bytes_, from, band.counts[y] * qcoef_bytes_);
      starts[y] = before;
      before += band.counts[y];
    }
    fill_gap(block + to.starts, height * sizeof(uint32_t));
    fill_gap(qcoefs, before * qcoef_bytes_);
  }

  const DiracDequantizeJob& job_;
  const DiracQcoefs& qcoefs_;
  const size_t qcoef_bytes_;
  PackedBand bands_[kMaxComponents * kMaxDwtBands];
  uint32_t rows_ = 0;
  size_t used_ = 0;
  const uint8_t* last_quantizers_ = nullptr;
  size_t last_place_ = 0;
};

// The data that cross the bus, in memory of `pool`, to which it returns.
class Packed : public DiracPrepared {
 public:
  explicit Packed(BudgetedPool& pool) : pool_(pool) {}
  ~Packed() override {
    if (block_.memory != nullptr) pool_.give(std::move(block_));
  }

  virtual Status pack(Device& device, const DiracDequantizeJob& job) = 0;
  virtual Status launch(Device& device, StreamQueue& queue, const DiracDequantizeJob& job) = 0;

 protected:
  Status take(Device& device, size_t bytes, uint8_t** to) {
    // In steps, so that pictures that differ by little find each other's memory.
    constexpr size_t kStep = 256 << 10;
    CT_RETURN_IF_ERROR(pool_.take(device, (bytes + kStep - 1) / kStep * kStep, &block_));
    if (block_.read != nullptr) CT_RETURN_IF_ERROR(block_.read->wait());
    block_.read.reset();
    *to = static_cast<uint8_t*>(block_.memory->data());
    return {};
  }
  Status copy(Device& device, StreamQueue& queue, size_t bytes, const uint8_t** address) {
    const void* at = nullptr;
    CT_RETURN_IF_ERROR(queue.kept<QcoefStaging>().staging.copy(device, queue, block_.memory->data(),
                                                               bytes, &at, &block_.read));
    *address = static_cast<const uint8_t*>(at);
    return {};
  }

 private:
  BudgetedPool& pool_;
  BudgetedPool::Block block_;
};

class PackedQcoefs final : public Packed {
 public:
  using Packed::Packed;

  Status pack(Device& device, const DiracDequantizeJob& job) override {
    const Packer packer(job);
    uint8_t* to = nullptr;
    CT_RETURN_IF_ERROR(take(device, packer.bytes(), &to));
    packer.write(to);
    params_.packed_bytes = packer.bytes();
    params_.bands = packer.count();
    params_.rows = packer.rows();
    params_.is_intra = job.is_intra;
    for (int c = 0; c < kMaxComponents; ++c) params_.pyramids[c] = packer.pyramid(c);
    return {};
  }

  Status launch(Device& device, StreamQueue& queue, const DiracDequantizeJob& job) override {
    CT_RETURN_IF_ERROR(copy(device, queue, params_.packed_bytes, &params_.packed));
    for (int c = 0; c < kMaxComponents; ++c) {
      params_.pyramids[c].data = static_cast<uint8_t*>(job.pyramids[c].data);
      params_.pyramids[c].pitch = job.pyramids[c].pitch;
    }
    const bool wide = job.qcoefs->is_wide();
    const Kernel kernel = !wide ? kExpandS16 : job.narrows ? kExpandS32AsS16 : kExpandS32;
    constexpr uint32_t kRows = kExpandThreads / 32;  // of a CTA
    return queue.launch(KernelKey{dirac_kernels(), kernel}, divide_up(params_.rows, kRows),
                        kExpandThreads, params_, false);
  }

 private:
  ExpandParams params_ = {};
};

// Slices as they are in the stream.
class PackedSlices final : public Packed {
 public:
  using Packed::Packed;

  Status pack(Device& device, const DiracDequantizeJob& job) override {
    const DiracSlices& slices = job.slices;
    static_assert(sizeof(DiracSlicePlace) == 2 * sizeof(uint32_t));
    constexpr size_t kBehind = 16;  // read, but without meaning
    const size_t places = count(slices) * sizeof(DiracSlicePlace);
    params_.data = rounded(places);
    params_.packed_bytes = params_.data + slices.size + kBehind;
    uint8_t* to = nullptr;
    CT_RETURN_IF_ERROR(take(device, params_.packed_bytes, &to));
    copy_part(to, slices.places, places);
    std::memcpy(to + params_.data, slices.data, slices.size);
    std::memset(to + params_.data + slices.size, 0, kBehind);
    params_.columns = slices.columns;
    params_.rows = slices.rows;
    params_.is_low_delay = slices.is_low_delay;
    params_.prefix_bytes = slices.prefix_bytes;
    params_.size_scaler = slices.size_scaler;
    params_.bands = job.qcoefs->band_count();
    for (int c = 0; c < kMaxComponents; ++c) {
      PyramidParams& pyramid = params_.pyramids[c];
      for (int i = 0; i < params_.bands; ++i) {
        const DiracBand& band = job.qcoefs->band(c, i);
        params_.band[c][i] = {band.x, band.y, band.width, band.height, band.matrix};
        pyramid.width = std::max(pyramid.width, band.x + band.width);
        pyramid.height = std::max(pyramid.height, band.y + band.height);
      }
    }
    return {};
  }

  Status launch(Device& device, StreamQueue& queue, const DiracDequantizeJob& job) override {
    CT_RETURN_IF_ERROR(copy(device, queue, params_.packed_bytes, &params_.packed));
    for (int c = 0; c < kMaxComponents; ++c) {
      PyramidParams& pyramid = params_.pyramids[c];
      pyramid.data = static_cast<uint8_t*>(job.pyramids[c].data);
      pyramid.pitch = job.pyramids[c].pitch;
    }
    CT_RETURN_IF_ERROR(clear_pyramids(queue));
    const bool wide = job.qcoefs->is_wide();
    const Kernel kernel = wide ? kSlicesS32 : kSlicesS16;
    const size_t chains = job.slices.is_low_delay ? 2 : kMaxComponents;  // of a slice
    const auto ctas =
        static_cast<uint32_t>((count(job.slices) + kExpandThreads - 1) / kExpandThreads * chains);
    CT_RETURN_IF_ERROR(
        queue.launch(KernelKey{dirac_kernels(), kernel}, ctas, kExpandThreads, params_, false));
    if (!job.predicts_dc) return {};
    return queue.launch(KernelKey{dirac_kernels(), wide ? kPredictS32 : kPredictS16},
                        kMaxComponents, 32, params_, false);
  }

 private:
  // Clears adjacent ones together.
  Status clear_pyramids(StreamQueue& queue) const {
    const auto bytes_of = [](const PyramidParams& pyramid) {
      return static_cast<size_t>(pyramid.pitch) * static_cast<size_t>(pyramid.height);
    };
    for (int c = 0; c < kMaxComponents;) {
      uint8_t* const begin = params_.pyramids[c].data;
      size_t bytes = bytes_of(params_.pyramids[c]);
      for (++c; c < kMaxComponents && params_.pyramids[c].data == begin + bytes; ++c)
        bytes += bytes_of(params_.pyramids[c]);
      CT_RETURN_IF_ERROR(queue.clear(reinterpret_cast<CUdeviceptr>(begin), bytes));
    }
    return {};
  }
  static size_t count(const DiracSlices& slices) {
    return static_cast<size_t>(slices.columns) * static_cast<size_t>(slices.rows);
  }

  SliceParams params_ = {};
};

Status prepare(Device& device, BudgetedPool& pinned, const DiracDequantizeJob& job,
               std::unique_ptr<DiracPrepared>* prepared) {
  std::unique_ptr<Packed> packed;
  if (job.slices.data != nullptr)
    packed.reset(new (std::nothrow) PackedSlices(pinned));
  else
    packed.reset(new (std::nothrow) PackedQcoefs(pinned));
  if (packed == nullptr)
    return Status::error(StatusCode::kOutOfMemory, "no memory for quantized coefficients");
  CT_RETURN_IF_ERROR(packed->pack(device, job));
  *prepared = std::move(packed);
  return {};
}

Status dequantize(Device& device, Queue& queue, const DiracDequantizeJob& job,
                  DiracPrepared* prepared) {
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  return static_cast<Packed&>(*prepared).launch(device, *stream, job);
}

Status store(Device& device, Queue& queue, const DiracStoreJob& job) {
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  if (is_dirac_copy(job)) return copy_dirac_rows(device, queue, job);
  if (job.rows <= 0) return {};
  StoreParams params = {};
  params.from = static_cast<const uint8_t*>(job.from.data);
  params.from_pitch = job.from.pitch;
  params.to = static_cast<uint8_t*>(job.to);
  params.to_pitch = job.pitch;
  params.width = static_cast<uint32_t>(job.from.width);
  params.ctas_across = divide_up(params.width, kExpandThreads);
  params.shift = job.shift;
  const Kernel kernel = job.from.type == SampleType::kU16 ? kStoreU16
                        : job.container == 2              ? kStoreU8AsU16
                                                          : kStoreU8;
  return stream->launch(KernelKey{dirac_kernels(), kernel},
                        params.ctas_across * static_cast<uint32_t>(job.rows), kExpandThreads,
                        params, false);
}

}  // namespace
}  // namespace cuda

const DiracStoreOps& cuda_dirac_store_ops() {
  static constexpr DiracStoreOps kOps = {"cuda", cuda::store};
  return kOps;
}

const DiracDequantizeOps& cuda_dirac_dequantize_ops() {
  static constexpr DiracDequantizeOps kOps = {"cuda", true, cuda::prepare, cuda::dequantize};
  return kOps;
}

}  // namespace cudatransform
