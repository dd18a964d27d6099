// validate() accepts what the contract allows and refuses, with a sentence, everything else.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/engine/dct8x8/job_runner.h"

namespace cudatransform::test {
namespace {

// A good job on host memory: 4:2:0, 33x17, 8 bit.
struct GoodJob {
  alignas(64) uint8_t samples[3][40 * 40] = {};
  alignas(64) uint8_t reference[3][40 * 40] = {};
  alignas(64) int16_t coefs[3][64 * 64 * 4] = {};
  alignas(64) PictureSums sums = {};
  Dct8x8Job job;

  explicit GoodJob(Direction direction) {
    job.direction = direction;
    job.components = 3;
    for (int c = 0; c < 3; ++c) {
      SamplePlane& plane = job.samples[c];
      plane.data = samples[c];
      plane.pitch = 40;
      plane.width = c == 0 ? 33 : 17;
      plane.height = c == 0 ? 17 : 9;
      CoefPlane& coef = job.coefs[c];
      coef.data = coefs[c];
      coef.blocks_w = c == 0 ? 5 : 3;
      coef.blocks_h = c == 0 ? 3 : 2;
      coef.pitch = coef.blocks_w * 128;
      coef.table = c == 0 ? 0 : 1;
      job.reference[c] = plane;
      job.reference[c].data = reference[c];
    }
    for (QuantTable& table : job.tables)
      for (uint16_t& q : table.q) q = 16;
    job.measure = kMeasureSse | kMeasureZeros;
    job.sums = &sums;
  }
};

void make_deep(Dct8x8Job& job, int depth) {
  job.method = Method::kFloat;
  job.depth = depth;
  job.measure = 0;
  for (SamplePlane& plane : job.samples) {
    plane.type = SampleType::kU16;
    plane.stride = 2;
    plane.pitch = 80;
  }
  if (depth == 16) {
    job.type = CoefType::kS32;
    for (CoefPlane& coef : job.coefs) coef.pitch *= 2;
  }
}

void make_plane(Dct8x8Job& job) {
  job.layout = Layout::kPlane;
  for (CoefPlane& coef : job.coefs) coef.pitch = coef.blocks_w * 16;
}

struct Mutation {
  const char* name;
  std::function<void(Dct8x8Job&)> apply;
};
using J = Dct8x8Job;

const std::vector<Mutation>& refused_either_way() {
  static const std::vector<Mutation> list = {
      {"no components", [](J& j) { j.components = 0; }},
      {"two components", [](J& j) { j.components = 2; }},
      {"four components", [](J& j) { j.components = 4; }},
      {"negative components", [](J& j) { j.components = -1; }},
      {"depth 0", [](J& j) { j.depth = 0; }},
      {"depth 9", [](J& j) { j.depth = 9; }},
      {"depth 32", [](J& j) { j.depth = 32; }},
      {"method 99", [](J& j) { j.method = static_cast<Method>(99); }},
      {"type 99", [](J& j) { j.type = static_cast<CoefType>(99); }},
      {"layout 99", [](J& j) { j.layout = static_cast<Layout>(99); }},
      {"order 99", [](J& j) { j.order = static_cast<Order>(99); }},
      {"direction 99", [](J& j) { j.direction = static_cast<Direction>(99); }},
      {"sample type 99", [](J& j) { j.samples[0].type = static_cast<SampleType>(99); }},
      {"islow at 10 bits", [](J& j) { make_deep(j, 10), j.method = Method::kIslow; }},
      {"ifast at 12 bits", [](J& j) { make_deep(j, 12), j.method = Method::kIfast; }},
      {"bytes at 10 bits", [](J& j) { j.method = Method::kFloat, j.depth = 10; }},
      {"F32 levels",
       [](J& j) {
         j.type = CoefType::kF32;
         for (CoefPlane& c : j.coefs) c.pitch *= 2;
       }},
      {"S32 levels at 8 bits",
       [](J& j) {
         j.type = CoefType::kS32;
         for (CoefPlane& c : j.coefs) c.pitch *= 2;
       }},
      {"S16 levels at 16 bits", [](J& j) { make_deep(j, 16), j.type = CoefType::kS16; }},
      {"S16 values", [](J& j) { j.quantized = false; }},
      {"plane in zigzag order", [](J& j) { make_plane(j), j.order = Order::kZigzag; }},
      {"samples at null", [](J& j) { j.samples[2].data = nullptr; }},
      {"coefficients at null", [](J& j) { j.coefs[1].data = nullptr; }},
      {"width 0", [](J& j) { j.samples[0].width = 0; }},
      {"width -8", [](J& j) { j.samples[0].width = -8; }},
      {"height 0", [](J& j) { j.samples[1].height = 0; }},
      {"height -1", [](J& j) { j.samples[1].height = -1; }},
      {"sample pitch one short", [](J& j) { j.samples[0].pitch = 32; }},
      {"sample pitch 0", [](J& j) { j.samples[0].pitch = 0; }},
      {"sample stride 0", [](J& j) { j.samples[0].stride = 0; }},
      {"sample stride -1", [](J& j) { j.samples[0].stride = -1; }},
      {"sample stride 2, pitch of 1", [](J& j) { j.samples[0].stride = 2; }},
      {"16-bit samples with stride 1", [](J& j) { make_deep(j, 10), j.samples[0].stride = 1; }},
      {"16-bit samples with stride 3",
       [](J& j) { make_deep(j, 10), j.samples[0].stride = 3, j.samples[0].pitch = 120; }},
      {"16-bit samples with an odd pitch", [](J& j) { make_deep(j, 10), j.samples[0].pitch = 81; }},
      {"16-bit samples at an odd address",
       [](J& j) {
         make_deep(j, 10);
         j.samples[0].data = static_cast<uint8_t*>(j.samples[0].data) + 1;
       }},
      {"shift -1", [](J& j) { make_deep(j, 10), j.samples[0].shift = -1; }},
      {"shift 7 at 10 bits", [](J& j) { make_deep(j, 10), j.samples[0].shift = 7; }},
      {"shift of bytes", [](J& j) { j.samples[0].shift = 1; }},
      {"row_repeat 0", [](J& j) { j.samples[0].row_repeat = 0; }},
      {"row_repeat -2", [](J& j) { j.samples[0].row_repeat = -2; }},
      {"one block too few", [](J& j) { j.coefs[0].blocks_w = 4; }},
      {"one block too many", [](J& j) { j.coefs[0].blocks_w = 6, j.coefs[0].pitch = 6 * 128; }},
      {"one block row too few", [](J& j) { j.coefs[0].blocks_h = 2; }},
      {"one block row too many", [](J& j) { j.coefs[0].blocks_h = 4; }},
      {"blocks of a negative number", [](J& j) { j.coefs[0].blocks_w = -5; }},
      {"coefficient pitch one short", [](J& j) { j.coefs[0].pitch = 5 * 128 - 2; }},
      {"coefficient pitch 0", [](J& j) { j.coefs[0].pitch = 0; }},
      {"coefficient pitch odd", [](J& j) { j.coefs[0].pitch = 5 * 128 + 1; }},
      {"coefficients at an odd address",
       [](J& j) { j.coefs[0].data = reinterpret_cast<uint8_t*>(j.coefs[0].data) + 1; }},
      {"plane pitch one short", [](J& j) { make_plane(j), j.coefs[2].pitch = 3 * 16 - 2; }},
      {"table -1", [](J& j) { j.coefs[0].table = -1; }},
      {"table 4", [](J& j) { j.coefs[2].table = 4; }},
      {"a zero in a table", [](J& j) { j.tables[1].q[63] = 0; }},
      {"measuring into nothing", [](J& j) { j.sums = nullptr; }},
      {"times without a timer",
       [](J& j) {
         static PictureTimes times;
         j.times = &times;
       }},
      // 2^31 - 1 samples: the number of blocks still fits, sums of a careless check do not.
      {"a width that overflows",
       [](J& j) { j.samples[0].width = std::numeric_limits<int32_t>::max(); }},
      {"a height that overflows",
       [](J& j) { j.samples[0].height = std::numeric_limits<int32_t>::max(); }},
      {"a stride that overflows",
       [](J& j) { j.samples[0].stride = std::numeric_limits<int32_t>::max(); }},
  };
  return list;
}

const std::vector<Mutation>& refused_forward() {
  static const std::vector<Mutation> list = {
      {"residual samples",
       [](J& j) {
         for (SamplePlane& p : j.samples) p.type = SampleType::kS16, p.stride = 2, p.pitch = 80;
       }},
      {"repeated rows", [](J& j) { j.samples[1].row_repeat = 2; }},
  };
  return list;
}

const std::vector<Mutation>& refused_inverse() {
  static const std::vector<Mutation> list = {
      {"residuals beside pictures",
       [](J& j) {
         j.measure = 0;
         j.samples[0].type = SampleType::kS16;
         j.samples[0].stride = 2;
         j.samples[0].pitch = 80;
       }},
      {"no reference", [](J& j) { j.reference[0].data = nullptr; }},
      {"a smaller reference", [](J& j) { j.reference[0].width = 32; }},
      {"a reference of another height", [](J& j) { j.reference[2].height = 8; }},
      {"a reference pitch one short", [](J& j) { j.reference[0].pitch = 32; }},
      {"a reference with stride 0", [](J& j) { j.reference[0].stride = 0; }},
      {"a reference with repeated rows", [](J& j) { j.reference[0].row_repeat = 2; }},
  };
  return list;
}

const std::vector<Mutation>& accepted() {
  static const std::vector<Mutation> list = {
      {"as it is", [](J&) {}},
      {"one component", [](J& j) { j.components = 1; }},
      {"one component, the others junk",
       [](J& j) {
         j.components = 1;
         j.samples[1] = {};
         j.coefs[2] = {};
       }},
      {"not measured", [](J& j) { j.measure = 0, j.sums = nullptr; }},
      {"zeros alone",
       [](J& j) {
         j.measure = kMeasureZeros;
         j.reference[0] = {};
       }},
      {"pitches as tight as can be",
       [](J& j) { j.samples[0].pitch = 33, j.samples[1].pitch = 17; }},
      {"10 bits", [](J& j) { make_deep(j, 10); }},
      {"P010's shift",
       [](J& j) {
         make_deep(j, 10);
         for (SamplePlane& p : j.samples) p.shift = 6;
       }},
      {"12 bits", [](J& j) { make_deep(j, 12); }},
      {"16 bits", [](J& j) { make_deep(j, 16); }},
      {"plane", [](J& j) { make_plane(j); }},
      {"zigzag", [](J& j) { j.order = Order::kZigzag; }},
      {"values as S32",
       [](J& j) {
         j.quantized = false, j.type = CoefType::kS32;
         for (CoefPlane& c : j.coefs) c.pitch *= 2;
       }},
      {"values as F32, with tables of zeros",
       [](J& j) {
         j.quantized = false, j.type = CoefType::kF32;
         for (CoefPlane& c : j.coefs) c.pitch *= 2;
         std::memset(j.tables, 0, sizeof j.tables);
       }},
      {"tables of 65535",
       [](J& j) {
         for (uint16_t& q : j.tables[1].q) q = 65535;
       }},
  };
  return list;
}

TEST(Validate, AcceptsGoodJobs) {
  for (const Direction direction : {Direction::kForward, Direction::kInverse})
    for (const Mutation& mutation : accepted()) {
      GoodJob good(direction);
      mutation.apply(good.job);
      const Status status = validate(good.job);
      EXPECT_TRUE(status.ok()) << mutation.name
                               << (direction == Direction::kForward ? ", forward: " : ", inverse: ")
                               << status.message;
    }
}

void expect_refused(Direction direction, const Mutation& mutation) {
  GoodJob good(direction);
  mutation.apply(good.job);
  const Status status = validate(good.job);
  EXPECT_FALSE(status.ok()) << "accepted: " << mutation.name;
  if (status.ok()) return;
  EXPECT_TRUE(status.code == StatusCode::kInvalidArgument ||
              status.code == StatusCode::kUnsupported)
      << mutation.name;
  EXPECT_GT(status.message.size(), 10u) << mutation.name << ": '" << status.message << "'";
}

TEST(Validate, RefusesBadJobs) {
  for (const Mutation& mutation : refused_either_way()) {
    expect_refused(Direction::kForward, mutation);
    expect_refused(Direction::kInverse, mutation);
  }
  for (const Mutation& mutation : refused_forward()) expect_refused(Direction::kForward, mutation);
  for (const Mutation& mutation : refused_inverse()) expect_refused(Direction::kInverse, mutation);
}

// 33x17 at 1/scale; blocks and coefficients are those of the full size.
void make_scaled(Dct8x8Job& job, int scale) {
  job.scale = scale;
  job.measure = kMeasureZeros;
  for (SamplePlane& plane : job.samples) {
    plane.width = (plane.width + scale - 1) / scale;
    plane.height = (plane.height + scale - 1) / scale;
  }
}

TEST(Validate, Scale) {
  for (const int scale : {2, 4, 8})
    for (const Method method : {Method::kIslow, Method::kFloat, Method::kReference}) {
      GoodJob good(Direction::kInverse);
      make_scaled(good.job, scale);
      good.job.method = method;
      EXPECT_TRUE(validate(good.job).ok()) << scale << ": " << validate(good.job).message;
      good.job.samples[0].width += 8 / scale;
      EXPECT_FALSE(validate(good.job).ok()) << "a block too few, 1/" << scale;
    }
  const std::vector<Mutation> refused = {
      {"scale 0", [](Dct8x8Job& j) { j.scale = 0; }},
      {"scale 3", [](Dct8x8Job& j) { j.scale = 3; }},
      {"scale 16", [](Dct8x8Job& j) { j.scale = 16; }},
      {"scale -2", [](Dct8x8Job& j) { j.scale = -2; }},
      {"another scale than the sizes", [](Dct8x8Job& j) { j.scale = 4; }},
      {"ifast", [](Dct8x8Job& j) { j.method = Method::kIfast; }},
      {"a method that teaches", [](Dct8x8Job& j) { j.method = Method::kMatrix; }},
      {"a measured error", [](Dct8x8Job& j) { j.measure = kMeasureSse; }},
      {"forward", [](Dct8x8Job& j) { j.direction = Direction::kForward; }},
      {"a width of which the full one overflows",
       [](Dct8x8Job& j) {
         j.samples[0].width = 1 << 30;
         j.samples[0].pitch = ptrdiff_t{1} << 31;
         j.coefs[0].blocks_w = 1 << 28;
         j.coefs[0].pitch = ptrdiff_t{1} << 36;
       }},
  };
  for (const Mutation& mutation : refused) {
    GoodJob good(Direction::kInverse);
    make_scaled(good.job, 2);
    ASSERT_TRUE(validate(good.job).ok()) << validate(good.job).message;
    mutation.apply(good.job);
    EXPECT_FALSE(validate(good.job).ok()) << "accepted: " << mutation.name;
    for (const Engine& engine : engines()) {
      engine.activate();
      FencePtr fence;
      EXPECT_FALSE(
          engine.ops
              ->submit(*engine.device, engine.device->queue(QueueKind::kCompute), good.job, &fence)
              .ok())
          << engine.name << " accepted: " << mutation.name;
    }
  }
}

// Any picture and any sampling: subsampling and scaling can be done in either order, and the blocks
// of the full size are those of the scaled one.
TEST(Validate, ScaledSizes) {
  for (int size = 1; size <= 2000; ++size)
    for (const int scale : {1, 2, 4, 8}) {
      const int scaled = scaled_size(size, scale);
      ASSERT_EQ(scaled, (size + scale - 1) / scale);
      ASSERT_EQ((size + 7) / 8, (scaled + 8 / scale - 1) / (8 / scale)) << size;
      for (const int step : {2, 4})
        ASSERT_EQ(scaled_size(scaled_size(size, step), scale), scaled_size(scaled, step)) << size;
    }
}

TEST(Validate, AcceptsRepeatedRowsAndResidualsOfTheInverse) {
  GoodJob repeated(Direction::kInverse);
  repeated.job.measure = 0;
  for (int c = 1; c < 3; ++c) {
    repeated.job.samples[c].height = 17;  // 9 component rows, the last one once
    repeated.job.samples[c].row_repeat = 2;
  }
  EXPECT_TRUE(validate(repeated.job).ok()) << validate(repeated.job).message;

  GoodJob residual(Direction::kInverse);
  residual.job.measure = 0;
  for (SamplePlane& plane : residual.job.samples) {
    plane.type = SampleType::kS16;
    plane.stride = 2;
    plane.pitch = 80;
  }
  EXPECT_TRUE(validate(residual.job).ok()) << validate(residual.job).message;
}

// An engine that trusted its caller would crash here, or write.
TEST(Validate, EnginesRefuseBadJobs) {
  for (const Engine& engine : engines())
    for (const Direction direction : {Direction::kForward, Direction::kInverse})
      for (const Mutation& mutation : refused_either_way()) {
        GoodJob good(direction);
        mutation.apply(good.job);
        engine.activate();
        FencePtr fence;
        const Status status = engine.ops->submit(
            *engine.device, engine.device->queue(QueueKind::kCompute), good.job, &fence);
        EXPECT_FALSE(status.ok()) << engine.name << " accepted: " << mutation.name;
        for (const auto& plane : good.coefs)
          for (const int16_t coef : plane) ASSERT_EQ(coef, 0) << engine.name << mutation.name;
      }
}

TEST(Methods, NamesDepthsAndScales) {
  const char* const names[kMethodCount] = {"islow",     "ifast",      "float",
                                           "reference", "naive",      "matrix",
                                           "separable", "decomposed", "shuffle"};
  for (int i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    EXPECT_STREQ(method_name(method), names[i]);
    EXPECT_EQ(effective_method(method, 8), method);
    for (const int depth : {10, 12, 16})
      EXPECT_EQ(effective_method(method, depth), i < 2 ? Method::kFloat : method);
    for (const int scale : {2, 4, 8}) {
      const Method floating = method == Method::kReference ? method : Method::kFloat;
      EXPECT_EQ(effective_method(method, 8, scale), i < 2 ? Method::kIslow : floating);
      EXPECT_EQ(effective_method(method, 12, scale), floating);
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
