// Encoding frames on a device: the same chains as on the CPU, for any kind of frame, tiles and
// quantization; measured sizes; and outputs that are too small.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apv/frame_encoder.h"
#include "tests/apv/frames.h"
#include "tests/engine/engines.h"

#ifdef CT_HAVE_CUDA
#include "cuda/apv/engine.h"
#endif

namespace cudatransform::test {
namespace {

#ifdef CT_HAVE_CUDA

class DeviceEncoder {
 public:
  explicit DeviceEncoder(const Engine& engine) : device_(*engine.device) {}

  // Transforms a frame on the device.
  Status begin(const ApvFrameToEncode& frame) {
    format_ = frame.format;
    ApvSource source = frame.source;
    Queue& queue = device_.queue(QueueKind::kCompute);
    const ApvFrameInfo& info = format_.header.info;
    for (int c = 0; c < info.components(); ++c) {
      const size_t bytes = 2 * frame.planes[c].size();
      CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, bytes, &planes_[c]));
      CT_RETURN_IF_ERROR(
          device_.upload(queue, copy_of_bytes(planes_[c]->data(), frame.planes[c].data(), bytes)));
      source.data[c] = planes_[c]->data();
    }
    CT_RETURN_IF_ERROR(
        device_.allocate(MemoryKind::kDevice, 128 * format_.header.info.blocks(), &coefs_));
    const ApvForwardJob job = apv_unquantized_job(format_, source, coefs_->data());
    return ops_.forward->submit(device_, queue, job, nullptr);
  }

  Status encode(uint32_t begin_bytes, size_t capacity, std::vector<uint8_t>* output,
                std::vector<uint32_t>* chain_bytes, bool* fits) {
    Queue& queue = device_.queue(QueueKind::kCompute);
    std::unique_ptr<Memory> memory, result;
    CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kDevice, capacity, &memory));
    CT_RETURN_IF_ERROR(device_.allocate(MemoryKind::kPinned,
                                        apv_encode_result_bytes(format_.chain_count()), &result));
    ApvEncodeJob job = this->job();
    job.output = static_cast<uint8_t*>(memory->data());
    job.capacity = capacity;
    job.begin_bytes = begin_bytes;
    job.result = static_cast<ApvEncodeResult*>(result->data());
    FencePtr done;
    CT_RETURN_IF_ERROR(ops_.encode(device_, queue, job, &done));
    CT_RETURN_IF_ERROR(done->wait());
    *fits = job.result->fits != 0;
    output->resize(std::min<size_t>(job.result->size, capacity));
    chain_bytes->assign(job.result->chain_bytes(),
                        job.result->chain_bytes() + format_.chain_count());
    CT_RETURN_IF_ERROR(
        device_.download(queue, copy_of_bytes(output->data(), memory->data(), output->size())));
    CT_RETURN_IF_ERROR(queue.record(&done));
    return done->wait();
  }

  Status measure(std::span<const ApvQps> qps, std::vector<uint64_t>* bytes) {
    std::unique_ptr<Memory> pinned;
    CT_RETURN_IF_ERROR(
        device_.allocate(MemoryKind::kPinned, qps.size() * sizeof(uint64_t), &pinned));
    auto* const measured = static_cast<uint64_t*>(pinned->data());
    FencePtr done;
    CT_RETURN_IF_ERROR(
        ops_.measure(device_, device_.queue(QueueKind::kCompute), job(), qps, measured, &done));
    CT_RETURN_IF_ERROR(done->wait());
    bytes->assign(measured, measured + qps.size());
    return {};
  }

 private:
  ApvEncodeJob job() const {
    ApvEncodeJob job;
    job.format = &format_;
    job.coefs = static_cast<const int16_t*>(coefs_->data());
    return job;
  }

  Device& device_;
  const ApvEncodeOps& ops_ = cuda_apv_encode_ops();
  ApvFrameFormat format_;
  std::unique_ptr<Memory> planes_[kMaxApvComponents], coefs_;
};

// The unit of the CPU, and the places of its chains.
struct Expected {
  std::vector<uint8_t> unit;
  std::vector<uint32_t> chain_bytes;
  std::vector<size_t> chain_at;
  size_t begin_bytes = 0;
};

Expected encode_on_host(const ApvFrameToEncode& frame) {
  Expected expected;
  expected.unit = encode_apv(frame);
  ApvUnitWriter writer;
  writer.begin(frame.format, {});
  expected.begin_bytes = writer.begin_bytes();
  const auto components = static_cast<size_t>(frame.format.header.info.components());
  size_t at = expected.begin_bytes;
  for (int tile = 0; tile < frame.format.header.tiles(); ++tile) {
    const uint8_t* const header = &expected.unit[at];
    at += frame.format.tile_header_bytes();
    for (size_t c = 0; c < components; ++c) {
      expected.chain_bytes.push_back(read_be32(header + 8 + 4 * c));
      expected.chain_at.push_back(at);
      at += expected.chain_bytes.back();
    }
  }
  return expected;
}

void expect_same(const Engine& engine, const ApvFrameToEncode& frame) {
  const Expected expected = encode_on_host(frame);
  DeviceEncoder encoder(engine);
  Status status = encoder.begin(frame);
  ASSERT_TRUE(status.ok()) << status.message;
  for (const size_t spare : {size_t{64}, size_t{0}}) {
    // Later the output is large enough by a word, or too small by one.
    const size_t exact = (expected.unit.size() + 3) / 4 * 4;
    const size_t capacity = spare > 0 ? exact + spare : exact - 8;
    std::vector<uint8_t> output;
    std::vector<uint32_t> chain_bytes;
    bool fits = false;
    status = encoder.encode(static_cast<uint32_t>(expected.begin_bytes), capacity, &output,
                            &chain_bytes, &fits);
    ASSERT_TRUE(status.ok()) << status.message;
    ASSERT_EQ(chain_bytes, expected.chain_bytes);
    ASSERT_EQ(fits, spare > 0);
    if (!fits) continue;
    ASSERT_EQ(output.size(), expected.unit.size());
    for (size_t i = 0; i < chain_bytes.size(); ++i) {
      const auto at = static_cast<ptrdiff_t>(expected.chain_at[i]);
      ASSERT_TRUE(std::equal(output.begin() + at, output.begin() + at + chain_bytes[i],
                             expected.unit.begin() + at))
          << "chain " << i;
    }
  }
  uint64_t all = 0;
  for (const uint32_t bytes : expected.chain_bytes) all += bytes;
  ApvQps qps[3];
  for (ApvQps& qp : qps) std::copy_n(frame.format.qp, kMaxApvComponents, qp.qp);
  qps[0].qp[0] = 63;
  qps[2].qp[0] = 0;
  std::vector<uint64_t> measured;
  status = encoder.measure(qps, &measured);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(measured[1], all);
  EXPECT_LE(measured[0], all);
  EXPECT_GE(measured[2], all);
}

TEST(ApvDeviceEncoder, SameBytesAsTheCpu) {
  std::mt19937 random(8);
  constexpr ApvChroma kChromas[] = {ApvChroma::k400, ApvChroma::k422, ApvChroma::k444,
                                    ApvChroma::k4444};
  for (const Engine& engine : engines()) {
    if (!engine.is_cuda || engine.apv_forward_ops == nullptr) continue;
    for (int i = 0; i < (quick() ? 12 : 64); ++i) {
      ApvFrameToEncode frame;
      const int depth = i % 3 == 0 ? 12 : 10;
      describe_apv(kChromas[i % 4], depth, 2 * (1 + random() % 320), 1 + random() % 300, &frame);
      for (uint8_t& qp : frame.format.qp) qp = static_cast<uint8_t>(i % 5 == 0 ? 0 : random() % 64);
      if (i % 2 == 0) {
        ASSERT_TRUE(frame.format.header.set_tiles(16, 16).ok());
      }
      if (i % 7 == 0) {
        for (auto& matrix : frame.format.header.matrix)
          for (int k = 0; k < 64; ++k) matrix[k] = static_cast<uint8_t>(1 + 3 * k);
      }
      draw_apv(random, &frame);
      SCOPED_TRACE(engine.name + ", frame " + std::to_string(i));
      ASSERT_NO_FATAL_FAILURE(expect_same(engine, frame));
    }
  }
}

// Nothing but zeros: no block has a first coefficient.
TEST(ApvDeviceEncoder, FlatFrames) {
  for (const Engine& engine : engines()) {
    if (!engine.is_cuda || engine.apv_forward_ops == nullptr) continue;
    ApvFrameToEncode frame;
    describe_apv(ApvChroma::k422, 10, 640, 272, &frame);
    ASSERT_TRUE(frame.format.header.set_tiles(64, 64).ok());
    std::mt19937 random(9);
    draw_apv(random, &frame);
    for (auto& plane : frame.planes) std::fill(plane.begin(), plane.end(), uint16_t{512});
    frame.planes[0][640 * 250 + 630] = 0;
    ASSERT_NO_FATAL_FAILURE(expect_same(engine, frame));
  }
}

#endif

}  // namespace
}  // namespace cudatransform::test
