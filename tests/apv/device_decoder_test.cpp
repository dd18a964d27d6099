// Decoding frames on a device, several in a launch: each is the CPU's, with any frames that join
// it, are awaited first, or are dropped.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apv/access_unit.h"
#include "tests/apv/encoder.h"
#include "tests/apv/rendering.h"
#include "tests/engine/engines.h"

namespace cudatransform::test {
namespace {

// A frame that takes the memory of one before it needs no room for it: otherwise that would be
// freed first, and a device stops for that.
TEST(ApvRenderer, NeedsWhatIsNotKept) {
  std::mt19937 random(1);
  const ApvBytes bytes = apv_access_unit(
      {apv_unit(1, encode_apv_frame(random_apv_picture(random, ApvChroma::k422, 10, 64, 64, 20)))});
  for (const Engine* engine : engine_of_each_kind()) {
    const ApvRenderOps ops = apv_render_ops(*engine);
    for (const uint32_t on_device : {kNoApvChains, uint32_t{1}, kAllApvChains}) {
      if (on_device != kNoApvChains && ops.entropy == nullptr) continue;
      const auto budget = std::make_shared<MemoryBudget>();
      ApvRenderer renderer(*engine->device, ops, budget);
      ApvAccessUnit unit;
      ASSERT_TRUE(read_apv_access_unit(bytes, &unit).ok());
      auto picture = std::make_unique<ApvPicture>();
      ASSERT_TRUE(picture->frame.begin(unit.frame, nullptr, {}).ok());
      const uint64_t need = renderer.need(picture->frame, on_device);
      ASSERT_TRUE(renderer.prepare(picture.get(), on_device).ok());
      EXPECT_EQ(renderer.need(picture->frame, on_device), need);
      const uint64_t used = budget->used();
      EXPECT_GT(used, 0u);
      picture.reset();
      ApvPicture next;
      ASSERT_TRUE(next.frame.begin(unit.frame, nullptr, {}).ok());
      EXPECT_EQ(renderer.need(next.frame, on_device) + used, need);
      ASSERT_TRUE(renderer.prepare(&next, on_device).ok());
      EXPECT_EQ(budget->used(), used);
    }
  }
}

#ifdef CT_HAVE_CUDA

using Samples = std::vector<uint8_t>;

// A frame of random coefficients, two thirds of which are damaged, and every fifth has
// the longest codes.
ApvBytes random_unit(std::mt19937& random, uint32_t number) {
  ApvPictureToWrite picture = random_apv_picture(
      random, ApvChroma::k422, 10, 32 + 16 * (number % 5), 16 + 64 * (number % 3), 20);
  if (number % 5 == 1) {
    // From the smallest parameters of the codes, by pairs of blocks and of coefficients.
    for (auto& coefs : picture.coefs) {
      for (size_t i = 0; i < coefs.size(); ++i) {
        const bool is_large = (i % 64 == 0 ? i / 128 : i / 2) % 2 != 0;
        coefs[i] = is_large ? INT16_MAX : static_cast<int16_t>(i % 64 == 0 ? INT16_MIN : 1);
      }
    }
  }
  ApvBytes frame = encode_apv_frame(picture);
  if (number % 3 == 0) std::fill(frame.end() - 40, frame.end(), uint8_t{0xff});
  // Other damage, anywhere in the codes.
  if (number % 3 == 1)
    for (int i = 0; i < 4; ++i)
      frame[frame.size() / 2 + random() % (frame.size() / 2)] = static_cast<uint8_t>(random() % 4);
  return apv_access_unit({apv_unit(1, frame)});
}

Status begin(const ApvBytes& bytes, ApvPicture* picture) {
  ApvAccessUnit unit;
  CT_RETURN_IF_ERROR(read_apv_access_unit(bytes, &unit));
  return picture->frame.begin(unit.frame, nullptr, {});
}

struct Expected {
  Samples samples;
  int damaged_chains = 0;
  std::string damage;
};

std::string damage_of(const ApvPicture& picture) {
  const char* damage = picture.frame.damage();
  return damage != nullptr ? damage : "";
}

Expected decode_on_host(const ApvBytes& unit) {
  const Engine& host = portable_engine();
  ApvRenderer renderer(*host.device, apv_render_ops(host));
  Expected expected;
  ApvPicture picture;
  EXPECT_TRUE(begin(unit, &picture).ok());
  EXPECT_TRUE(renderer.prepare(&picture).ok());
  for (size_t i = 0; i < picture.host_chains(); ++i) picture.decode_chain(i);
  expected.damaged_chains = picture.frame.damaged_chains();
  expected.damage = damage_of(picture);
  EXPECT_TRUE(render_apv(host, renderer, &picture, &expected.samples).ok());
  return expected;
}

TEST(ApvDeviceDecoder, DecodesSeveralFramesOfALaunch) {
  constexpr size_t kFrames = 80, kInFlight = 40;
  const std::vector<const Engine*> engines = engine_of_each_kind();
  const auto is_cuda = [](const Engine* engine) { return engine->is_cuda; };
  if (std::none_of(engines.begin(), engines.end(), is_cuda)) GTEST_SKIP() << "no CUDA engine";
  std::mt19937 random(3);
  std::vector<ApvBytes> units;
  std::vector<Expected> expected;
  for (uint32_t i = 0; i < kFrames; ++i) {
    units.push_back(random_unit(random, i));
    expected.push_back(decode_on_host(units.back()));
  }
  for (const Engine* engine : engines) {
    if (!engine->is_cuda) continue;
    ApvRenderer renderer(*engine->device, apv_render_ops(*engine));
    int damaged = 0, waiting = 0, shared = 0;
    std::vector<std::unique_ptr<ApvPicture>> pictures(kFrames);
    for (size_t i = 0; i < kFrames + kInFlight; ++i) {
      if (i < kFrames) {
        auto& picture = pictures[i] = std::make_unique<ApvPicture>();
        ASSERT_TRUE(begin(units[i], picture.get()).ok());
        // Every third one with threads' help.
        const size_t chain = i / 3 % picture->frame.chain_count();
        const uint32_t on_device = i % 3 != 0 ? kAllApvChains : picture->frame.bytes_of(chain);
        ASSERT_TRUE(renderer.prepare(picture.get(), on_device).ok());
        const int parts = 1 + static_cast<int>(i % 3);
        for (int part = parts - 1; part >= 0; --part)
          ASSERT_TRUE(renderer.stage(*picture, part, parts).ok());
        // Launches of one frame, and of up to 24.
        const Status status = renderer.decode(picture.get(), i % 29 == 0 ? 1 : 144);
        ASSERT_TRUE(status.ok()) << status.message;
        waiting += !picture->is_begun();
        shared += picture->host_chains() > 0;
        for (size_t k = picture->host_chains(); k-- > 0;) picture->decode_chain(k);
      }
      if (i < kInFlight) continue;
      SCOPED_TRACE(i - kInFlight);
      const std::unique_ptr<ApvPicture> picture = std::move(pictures[i - kInFlight]);
      // Two discarded ones: the oldest, and one that may wait for others.
      if (i % 5 == 0) {
        if (i <= kFrames) pictures[i - 1].reset();
        continue;
      }
      if (picture == nullptr) continue;
      const Status status = picture->wait();
      ASSERT_TRUE(status.ok()) << status.message;
      ASSERT_TRUE(picture->is_decoded());
      EXPECT_EQ(picture->frame.damaged_chains(), expected[i - kInFlight].damaged_chains);
      EXPECT_EQ(damage_of(*picture), expected[i - kInFlight].damage);
      damaged += picture->frame.damaged_chains();
      Samples samples;
      ASSERT_TRUE(render_apv(*engine, renderer, picture.get(), &samples).ok());
      EXPECT_TRUE(samples == expected[i - kInFlight].samples);
    }
    EXPECT_GT(damaged, 0);
    EXPECT_GT(waiting, 0);
    EXPECT_GT(shared, 0);
  }
}

#endif

}  // namespace
}  // namespace cudatransform::test
