// What tests of libcudatransform share: engines, memory and pictures that are released.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/core/support.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform::test {

int32_t device = -1;

namespace {

Device& memory_device() {
  static const std::unique_ptr<Device> made = [] {
    std::unique_ptr<Device> one;
#if CT_HAVE_CUDA
    if (device >= 0) {
      EXPECT_TRUE(make_primary_cuda_device(device, &one).ok());
    }
#endif
    return one ? std::move(one) : make_host_device(1);
  }();
  return *made;
}

Copy2D copy_of(void* to, const void* from, size_t size) {
  const auto pitch = static_cast<ptrdiff_t>(size);
  return {
      .dst = to, .dst_pitch = pitch, .src = from, .src_pitch = pitch, .row_bytes = size, .rows = 1};
}

}  // namespace

Buffer::Buffer(const Bytes& bytes) : size_(bytes.size()) {
  Device& owner = memory_device();
  EXPECT_TRUE(owner.allocate(MemoryKind::kDevice, size_, &memory_).ok());
  Queue& queue = owner.queue(QueueKind::kUpload);
  EXPECT_TRUE(owner.upload(queue, copy_of(data(), bytes.data(), size_)).ok());
  FencePtr done;
  EXPECT_TRUE(queue.record(&done).ok() && done->wait().ok());
}

Bytes Buffer::bytes() const {
  Device& owner = memory_device();
  Queue& queue = owner.queue(QueueKind::kDownload);
  Bytes bytes(size_);
  EXPECT_TRUE(owner.download(queue, copy_of(bytes.data(), data(), size_)).ok());
  FencePtr done;
  EXPECT_TRUE(queue.record(&done).ok() && done->wait().ok());
  return bytes;
}

Pictures decode(CtEngine* engine, const std::vector<Bytes>& files, const CtDecodeOptions& options) {
  std::vector<CtSource> sources;
  for (const Bytes& file : files) sources.push_back(source_of(file));
  Pictures pictures(files.size());
  CtError error;
  EXPECT_EQ(ct_decode(engine, &options, sources.data(), sources.size(), pictures.data(), &error),
            CT_OK)
      << error.text;
  return pictures;
}

Bytes contents(CtEngine* engine, const CtPicture& picture) {
  Bytes all;
  const auto append = [&](const void* from, int64_t pitch, int64_t row_bytes, int64_t rows) {
    const size_t at = all.size();
    all.resize(at + static_cast<size_t>(row_bytes * rows));
    EXPECT_EQ(ct_copy_to_host(engine, all.data() + at, row_bytes, from, pitch,
                              static_cast<size_t>(row_bytes), static_cast<size_t>(rows), nullptr),
              CT_OK);
  };
  if (picture.data != nullptr)
    append(picture.data, picture.pitch, int64_t{picture.width} * picture.channels, picture.height);
  for (int c = 0; c < picture.components; ++c) {
    const CtComponent& component = picture.component[c];
    append(component.data, component.pitch, int64_t{component.blocks_w} * 128, component.blocks_h);
  }
  return all;
}

void append(Bytes* to, const Bytes& more) { to->insert(to->end(), more.begin(), more.end()); }

Bytes segment(uint8_t code, const Bytes& data) {
  const size_t size = data.size() + 2;
  Bytes made = {0xff, code, static_cast<uint8_t>(size >> 8), static_cast<uint8_t>(size)};
  append(&made, data);
  return made;
}

Bytes with(const Bytes& file, const Bytes& more) {
  Bytes made(file.begin(), file.begin() + 2);
  append(&made, more);
  made.insert(made.end(), file.begin() + 2, file.end());
  return made;
}

Bytes exif(uint8_t orientation) {
  return segment(0xe1, {'E', 'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42,          0, 0, 0, 8, 0, 1,
                        1,   0x12, 0,   3,   0, 0, 0,   1,   0, orientation, 0, 0, 0, 0, 0, 0});
}

}  // namespace cudatransform::test

namespace {

constexpr int kSkipped = 77;

bool is_there(int32_t device) {
  const CtEngineOptions options = {sizeof options, device, 1, 0};
  CtEngine* engine = nullptr;
  const CtCode code = ct_engine_new(&options, &engine, nullptr);
  ct_engine_free(engine);
  return code != CT_NOT_FOUND;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::strncmp(argv[i], "--device=", 9) == 0)
      cudatransform::test::device = std::atoi(argv[i] + 9);
  if (cudatransform::test::device >= 0 && !is_there(cudatransform::test::device)) {
    std::fprintf(stderr, "there is no such device\n");
    return std::getenv("CUDATRANSFORM_REQUIRE_GPU") != nullptr ? 1 : kSkipped;
  }
  return RUN_ALL_TESTS();
}
