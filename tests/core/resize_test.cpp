// libcudatransform's resampling: that of the engines, in one block for a batch, and its errors.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transform/resize/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cudatransform.h"
#include "tests/core/support.h"
#include "transform/device/host_device.h"

namespace cudatransform::test {
namespace {

constexpr int32_t kWidth = 37, kHeight = 23, kPictures = 3, kGap = 5;

struct Picture {
  int32_t width, height;
  int64_t pitch() const { return int64_t{width} * 3 + kGap; }
  Bytes bytes() const {
    Bytes made(static_cast<size_t>(pitch() * height));
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<uint8_t>(i * i / 7 + i);
    return made;
  }
};
constexpr Picture kGiven[kPictures] = {{100, 80}, {61, 90}, {8, 300}};

CtResizeOptions options_of(CtFilter filter) {
  CtResizeOptions options = {};
  options.struct_size = sizeof options;
  options.width = kWidth;
  options.height = kHeight;
  options.filter = filter;
  return options;
}

Bytes expected(const CtResizeOptions& options, const Picture& picture, const CtBox* box) {
  const auto host = make_host_device(1);
  Bytes from = picture.bytes(), to(size_t{3} * kWidth * kHeight);
  ResizeJob job;
  job.filter = static_cast<ResizeFilter>(options.filter);
  job.from = {picture.width, picture.height, 3};
  job.to = {kWidth, kHeight, 3};
  for (int c = 0; c < 3; ++c) {
    job.from.data[c] = &from[static_cast<size_t>(c)];
    job.from.pitch[c] = static_cast<ptrdiff_t>(picture.pitch());
    job.to.data[c] = &to[static_cast<size_t>(c)];
    job.to.pitch[c] = 3 * kWidth;
  }
  job.box =
      box != nullptr ? ResizeBox{box->left, box->top, box->right, box->bottom} : whole_box(job);
  const Status reduced =
      options.reducing_gap > 0 ? set_reducing_gap(options.reducing_gap, &job) : Status();
  EXPECT_TRUE(reduced.ok());
  EXPECT_TRUE(portable_resize_ops()
                  .submit(*host, host->queue(QueueKind::kCompute), {&job, 1}, nullptr)
                  .ok());
  return to;
}

// Images in memory of the tested device, and what ct_resize() makes of them.
struct Batch {
  explicit Batch(CtEngine* of) : engine(of) {
    for (const Picture& picture : kGiven) {
      memory.emplace_back(picture.bytes());
      images.push_back({memory.back().data(), picture.pitch(), picture.width, picture.height, 3,
                        device >= 0 ? 1 : 0});
    }
  }
  ~Batch() { ct_block_unref(block); }
  CtCode resize(const CtResizeOptions& options, const CtBox* boxes = nullptr) {
    ct_block_unref(block);
    block = nullptr;
    return ct_resize(engine, &options, images.data(), boxes, images.size(), &block, &data, &error);
  }
  Bytes results(size_t sample_bytes) const {
    Bytes made(sample_bytes * 3 * kWidth * kHeight * images.size());
    EXPECT_EQ(ct_copy_to_host(engine, made.data(), static_cast<int64_t>(made.size()), data,
                              static_cast<int64_t>(made.size()), made.size(), 1, nullptr),
              CT_OK);
    return made;
  }

  CtEngine* engine;
  std::vector<Buffer> memory;
  std::vector<CtImage> images;
  CtBlock* block = nullptr;
  void* data = nullptr;
  CtError error = {};
};

TEST(Resize, BatchesAreTheEngines) {
  const Engine engine(device);
  Batch batch(engine);
  const CtBox boxes[kPictures] = {{0, 0, 100, 80}, {2.5, 1.25, 33, 90}, {0, 0, 8, 8}};
  for (int filter = CT_NEAREST; filter <= CT_MKS2021; ++filter) {
    for (const CtBox* some : {static_cast<const CtBox*>(nullptr), boxes}) {
      CtResizeOptions options = options_of(static_cast<CtFilter>(filter));
      options.reducing_gap = filter % 2 == 1 ? 2 : 0;
      ASSERT_EQ(batch.resize(options, some), CT_OK) << batch.error.text;
      Bytes wanted;
      for (size_t i = 0; i < kPictures; ++i) {
        const Bytes one = expected(options, kGiven[i], some != nullptr ? &some[i] : nullptr);
        wanted.insert(wanted.end(), one.begin(), one.end());
      }
      EXPECT_EQ(batch.results(1), wanted) << filter;
    }
  }
}

// More weights than a device is sent at once: 72 KB for each box.
TEST(Resize, BoxesOfABatchMayAllDiffer) {
  const Engine engine(device);
  Batch batch(engine);
  constexpr Picture kWide = {3000, 8};
  batch.memory.emplace_back(kWide.bytes());
  batch.images.assign(12, {batch.memory.back().data(), kWide.pitch(), kWide.width, kWide.height, 3,
                           device >= 0 ? 1 : 0});
  std::vector<CtBox> boxes;
  Bytes wanted;
  for (size_t i = 0; i < batch.images.size(); ++i) {
    boxes.push_back({static_cast<double>(i), 0, 3000, 8});
    const Bytes one = expected(options_of(CT_LANCZOS), kWide, &boxes.back());
    wanted.insert(wanted.end(), one.begin(), one.end());
  }
  ASSERT_EQ(batch.resize(options_of(CT_LANCZOS), boxes.data()), CT_OK) << batch.error.text;
  EXPECT_EQ(batch.results(1), wanted);
}

TEST(Resize, FloatsAreOfTheRecipe) {
  const Engine engine(device);
  Batch batch(engine);
  CtResizeOptions options = options_of(CT_BICUBIC);
  ASSERT_EQ(batch.resize(options), CT_OK) << batch.error.text;
  const Bytes bytes = batch.results(1);
  const double mean[] = {.5, .25, .125}, std[] = {.5, 2, 4};
  options.mean = mean;
  options.std = std;
  options.type = CT_FLOAT32;
  options.planar = 1;
  ASSERT_EQ(batch.resize(options), CT_OK) << batch.error.text;
  const std::vector<float> values = numbers_of<float>(batch.results(4));
  ASSERT_EQ(values.size(), bytes.size());
  constexpr size_t kPlane = size_t{kWidth} * kHeight;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t picture = i / (3 * kPlane), at = i % (3 * kPlane) / 3, c = i % 3;
    const float wanted = (static_cast<float>(bytes[i]) / 255.f - static_cast<float>(mean[c])) /
                         static_cast<float>(std[c]);
    ASSERT_EQ(values[(picture * 3 + c) * kPlane + at], wanted) << i;
  }
}

TEST(Resize, WrongArgumentsAreNamed) {
  const Engine engine(device);
  Batch batch(engine);
  const auto refuses = [&](const auto& change, const std::string& words) {
    CtResizeOptions options = options_of(CT_BOX);
    change(&options);
    EXPECT_EQ(batch.resize(options), CT_INVALID_ARGUMENT);
    EXPECT_NE(std::string(batch.error.text).find(words), std::string::npos) << batch.error.text;
    EXPECT_EQ(batch.block, nullptr);
  };
  using Options = CtResizeOptions*;
  refuses([](Options o) { o->width = 0; }, "a size of 0x23");
  refuses([](Options o) { o->filter = static_cast<CtFilter>(8); }, "filter");
  refuses([](Options o) { o->order = static_cast<CtResizeOrder>(3); }, "order");
  refuses([](Options o) { o->type = CT_INT16; }, "type is");
  refuses([](Options o) { o->reducing_gap = std::nan(""); }, "reducing_gap");
  refuses([](Options o) { o->reducing_gap = .5; }, "reducing_gap");
  refuses([](Options o) { o->recipe = static_cast<CtRecipe>(4); }, "recipe");
  const CtBox boxes[kPictures] = {{0, 0, 100, 80}, {0, 0, 62, 90}, {0, 0, 8, 8}};
  EXPECT_EQ(batch.resize(options_of(CT_BOX), boxes), CT_INVALID_ARGUMENT);
  EXPECT_NE(std::string(batch.error.text).find("image 1: box"), std::string::npos)
      << batch.error.text;
  batch.images[2].channels = 4;
  refuses([](Options) {}, "different channels");
  batch.images[2].channels = 3;
  batch.images[2].on_device = device >= 0 ? 0 : 1;
  refuses([](Options) {}, "image 2: is in");
}

}  // namespace
}  // namespace cudatransform::test
