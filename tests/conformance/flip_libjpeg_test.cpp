// Flips, crops and trims of files against libjpeg-turbo's, coefficient by coefficient.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/coeffilter/definition.h"
#include "tests/engine/run_job.h"
#include "tests/jpeg/libjpeg.h"
#include "transform/coeffilter/flip.h"

namespace cudatransform::test {
namespace {

// ---- Files ----

struct Sampling {
  const char* name;
  J_COLOR_SPACE color;
  int h, v;  // of the first component
};
constexpr Sampling kSamplings[] = {
    {"gray", JCS_GRAYSCALE, 1, 1}, {"4:4:4", JCS_YCbCr, 1, 1}, {"4:2:2", JCS_YCbCr, 2, 1},
    {"4:2:0", JCS_YCbCr, 2, 2},    {"4:4:0", JCS_YCbCr, 1, 2}, {"4:1:1", JCS_YCbCr, 4, 1},
    {"RGB", JCS_RGB, 1, 1},
};

std::vector<uint8_t> noisy_file(const Sampling& sampling, int width, int height,
                                std::mt19937& random) {
  Compressor info;
  info.open_for_rgb(width, height, sampling.color);
  info.comp_info[0].h_samp_factor = sampling.h;
  info.comp_info[0].v_samp_factor = sampling.v;
  for (int c = 1; c < info.num_components; ++c)
    info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor = 1;
  jpeg_set_quality(&info, 85, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row(static_cast<size_t>(width) * 3);
  for (int y = 0; y < height; ++y) {
    for (uint8_t& sample : row) sample = static_cast<uint8_t>(random());
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&info, rows, 1);
  }
  return info.finish();
}

struct Contents {
  FlipPicture picture;
  CoefComponents components;
  std::vector<std::pair<int, int>> factors;
};

Contents contents_of(const std::vector<uint8_t>& file) {
  Decompressor info(file);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&info);
  Contents contents;
  // The factors of a single component have no meaning.
  const bool gray = info.num_components == 1;
  contents.picture = {static_cast<int32_t>(info.image_width),
                      static_cast<int32_t>(info.image_height),
                      gray ? 8 : 8 * info.max_h_samp_factor, gray ? 8 : 8 * info.max_v_samp_factor};
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& component = info.comp_info[c];
    CoefComponent& made = contents.components.emplace_back(
        static_cast<int>(component.width_in_blocks), static_cast<int>(component.height_in_blocks));
    const std::vector<int16_t> qcoefs = component_qcoefs(info, arrays[c], c);
    std::copy(qcoefs.begin(), qcoefs.end(), made.values.begin());
    contents.factors.emplace_back(gray ? 1 : component.h_samp_factor,
                                  gray ? 1 : component.v_samp_factor);
  }
  return contents;
}

// ---- Cases ----

struct Direction {
  TJXOP operation;
  Orientation orientation;
};
constexpr Direction kDirections[] = {
    {TJXOP_NONE, {}},
    {TJXOP_HFLIP, {false, true, false}},
    {TJXOP_VFLIP, {false, false, true}},
    {TJXOP_ROT180, {false, true, true}},
    {TJXOP_TRANSPOSE, {true, false, false}},
    {TJXOP_ROT90, {true, true, false}},
    {TJXOP_ROT270, {true, false, true}},
    {TJXOP_TRANSVERSE, {true, true, true}},
};

// libjpeg-turbo's result; empty where it refuses.
std::vector<uint8_t> judge(const std::vector<uint8_t>& file, const Direction& direction,
                           const FlipRequest& request, bool crops) {
  tjtransform wanted = {};
  wanted.op = direction.operation;
  wanted.options = (request.trim ? TJXOPT_TRIM : 0) | (request.perfect ? TJXOPT_PERFECT : 0) |
                   (crops ? TJXOPT_CROP : 0);
  wanted.r = {request.left, request.top, request.width, request.height};
  const std::unique_ptr<void, int (*)(tjhandle)> handle(tjInitTransform(), tjDestroy);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  const bool done =
      tjTransform(handle.get(), file.data(), file.size(), 1, &data, &size, &wanted, 0) == 0;
  std::vector<uint8_t> made;
  if (done) made.assign(data, data + size);
  tjFree(data);
  return made;
}

// A crop that begins at a whole MCU. TurboJPEG takes no others, and looks at the MCU of the picture
// before it is rotated.
void choose_crop(const FlipPicture& picture, std::mt19937& random, FlipRequest* request) {
  const int32_t mcu = std::max(picture.mcu_width, picture.mcu_height);
  const auto choose = [&](int32_t size, int32_t* first, int32_t* wanted) {
    *first = static_cast<int32_t>(random() % static_cast<uint32_t>((size + mcu - 1) / mcu)) * mcu;
    *wanted = 1 + static_cast<int32_t>(random() % static_cast<uint32_t>(size - *first));
    if (random() % 3 == 0) *wanted = size - *first;
  };
  const bool turned = request->orientation.transposes;
  choose(turned ? picture.height : picture.width, &request->left, &request->width);
  choose(turned ? picture.width : picture.height, &request->top, &request->height);
}

std::string run(const Engine& engine, const Contents& from, const FlipRequest& request,
                const FlipPlan& plan, const Contents& expected, uint32_t seed) {
  FlipJob job;
  job.orientation = request.orientation;
  job.components = static_cast<int>(from.components.size());
  for (size_t c = 0; c < from.components.size(); ++c) {
    auto [across, down] = from.factors[c];
    if (job.orientation.transposes) std::swap(across, down);
    job.places[c] = {plan.left * across, plan.top * down, plan.mirrored_w * across,
                     plan.mirrored_h * down};
  }
  CoefPlanes input(engine, from.components, job.number, job.arrangement, false, seed);
  CoefPlanes output(engine, expected.components, job.number, job.arrangement, true, seed + 1);
  input.fill(from.components);
  input.describe(job.from);
  output.describe(job.to);
  Status status = input.upload();
  if (status.ok()) status = output.upload();
  if (status.ok()) status = submit_and_wait(engine, *engine.flip_ops, job);
  if (status.ok()) status = output.download();
  if (!status.ok()) return status.message;
  const CoefComponents got = output.read();
  for (size_t c = 0; c < got.size(); ++c)
    if (got[c].values != expected.components[c].values)
      return "component " + std::to_string(c) + " differs";
  return "";
}

TEST(Flip, CoefficientsEqualLibjpegTurbos) {
  const int sizes = quick() ? 6 : 100;
  std::mt19937 random(7);
  int compared = 0, refused = 0;
  for (const Sampling& sampling : kSamplings) {
    for (int i = 0; i < sizes; ++i) {
      // Whole MCUs, and those that are not.
      const int step = i % 4 == 0 ? 16 : 1;
      const int width = (1 + static_cast<int>(random() % (90 / step))) * step;
      const int height = (1 + static_cast<int>(random() % (70 / step))) * step;
      const std::vector<uint8_t> file = noisy_file(sampling, width, height, random);
      const Contents from = contents_of(file);
      for (const Direction& direction : kDirections) {
        for (int options = 0; options < 6; ++options) {
          FlipRequest request;
          request.orientation = direction.orientation;
          request.trim = options % 3 == 1;
          request.perfect = options % 3 == 2;
          const bool crops = options >= 3;
          if (crops) choose_crop(from.picture, random, &request);
          const std::string where = std::string(sampling.name) + " " + std::to_string(width) + "x" +
                                    std::to_string(height) + " operation " +
                                    std::to_string(direction.operation) + " options " +
                                    std::to_string(options);
          const std::vector<uint8_t> judged = judge(file, direction, request, crops);
          FlipPlan plan;
          const Status planned = plan_flip(from.picture, request, &plan);
          ASSERT_EQ(planned.ok(), !judged.empty()) << where << ": " << planned.message;
          if (judged.empty()) {
            ++refused;
            continue;
          }
          const Contents expected = contents_of(judged);
          ASSERT_EQ(plan.width, expected.picture.width) << where;
          ASSERT_EQ(plan.height, expected.picture.height) << where;
          for (const Engine& engine : engines()) {
            if (engine.flip_ops == nullptr) continue;
            ASSERT_EQ(run(engine, from, request, plan, expected, static_cast<uint32_t>(i)), "")
                << engine.name << " " << where;
            ++compared;
          }
        }
      }
    }
  }
  std::printf("%d comparisons with libjpeg-turbo, 0 unequal; it refuses %d, and so do we\n",
              compared, refused);
}

}  // namespace
}  // namespace cudatransform::test
