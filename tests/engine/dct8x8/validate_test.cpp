// validate() accepts jobs within the contract and refuses, with a sentence, all others.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/engine/planted_errors.h"

namespace cudatransform::test {
namespace {

struct GoodJob : SoundJob<Dct8x8Job> {
  static constexpr StatusCode kRefusals[] = {StatusCode::kInvalidArgument,
                                             StatusCode::kUnsupported};

  explicit GoodJob(Direction direction) : SoundJob(direction) {
    for (int c = 0; c < 3; ++c) {
      CoefPlane& coef = job.coefs[c];
      coef.data = coefs[c];
      coef.blocks_w = c == 0 ? 5 : 3;
      coef.blocks_h = c == 0 ? 3 : 2;
      coef.pitch = coef.blocks_w * 128;
      coef.table = c == 0 ? 0 : 1;
    }
    for (QuantTable& table : job.tables)
      for (uint16_t& q : table.q) q = 16;
  }

  static void make_deep(Job& job, int depth) {
    job.method = Method::kFloat;
    job.depth = depth;
    job.measure = 0;
    widen_samples(job, SampleType::kU16);
    if (depth == 16) make_wide(job, CoefType::kS32);
  }
  static void make_wide(Job& job, CoefType type) {
    job.type = type;
    for (CoefPlane& coef : job.coefs) coef.pitch *= 2;
  }
  static void make_plane(Job& job) {
    job.layout = Layout::kPlane;
    for (CoefPlane& coef : job.coefs) coef.pitch = coef.blocks_w * 16;
  }

  static const std::vector<Engine>& engines() { return test::engines(); }
  static Status submit(const Engine& engine, const Job& job) {
    FencePtr fence;
    return engine.ops->submit(*engine.device, engine.device->queue(QueueKind::kCompute), job,
                              &fence);
  }
};

using J = Dct8x8Job;
using G = GoodJob;

PlantedList<J> refused_coefficients() {
  return {
      {"layout 99", [](J& j) { j.layout = static_cast<Layout>(99); }},
      {"order 99", [](J& j) { j.order = static_cast<Order>(99); }},
      {"islow at 10 bits", [](J& j) { G::make_deep(j, 10), j.method = Method::kIslow; }},
      {"ifast at 12 bits", [](J& j) { G::make_deep(j, 12), j.method = Method::kIfast; }},
      {"bytes at 10 bits", [](J& j) { j.method = Method::kFloat, j.depth = 10; }},
      {"F32 coefficients", [](J& j) { G::make_wide(j, CoefType::kF32); }},
      {"S32 coefficients at 8 bits", [](J& j) { G::make_wide(j, CoefType::kS32); }},
      {"S16 coefficients at 16 bits", [](J& j) { G::make_deep(j, 16), j.type = CoefType::kS16; }},
      {"S16 values", [](J& j) { j.quantized = false; }},
      {"plane in zigzag order", [](J& j) { G::make_plane(j), j.order = Order::kZigzag; }},
      {"one block too few", [](J& j) { j.coefs[0].blocks_w = 4; }},
      {"one block too many", [](J& j) { j.coefs[0].blocks_w = 6, j.coefs[0].pitch = 6 * 128; }},
      {"one block row too few", [](J& j) { j.coefs[0].blocks_h = 2; }},
      {"one block row too many", [](J& j) { j.coefs[0].blocks_h = 4; }},
      {"blocks of a negative number", [](J& j) { j.coefs[0].blocks_w = -5; }},
      {"plane pitch one short", [](J& j) { G::make_plane(j), j.coefs[2].pitch = 3 * 16 - 2; }},
      {"table -1", [](J& j) { j.coefs[0].table = -1; }},
      {"table 4", [](J& j) { j.coefs[2].table = 4; }},
  };
}

void put_zero(J& j) { j.tables[1].q[63] = 0; }

PlantedList<J> accepted_coefficients() {
  return {
      {"plane", [](J& j) { G::make_plane(j); }},
      {"zigzag", [](J& j) { j.order = Order::kZigzag; }},
      {"values as S32", [](J& j) { j.quantized = false, G::make_wide(j, CoefType::kS32); }},
      {"values as F32, with tables of zeros",
       [](J& j) {
         j.quantized = false, G::make_wide(j, CoefType::kF32);
         std::memset(j.tables, 0, sizeof j.tables);
       }},
      {"tables of 65535",
       [](J& j) {
         for (uint16_t& q : j.tables[1].q) q = 65535;
       }},
  };
}

TEST(Validate, AcceptsGoodJobs) {
  expect_accepted<G>(accepted_planes<G>() + accepted_coefficients());
}

TEST(Validate, RefusesBadJobs) {
  for (const Direction direction : {Direction::kForward, Direction::kInverse})
    expect_refused<G>(direction,
                      refused_planes<G>() + refused_planes<G>(direction) + refused_coefficients());
}

TEST(Validate, EnginesRefuseBadJobs) {
  expect_engines_refuse<G>(refused_planes<G>() + refused_coefficients());
}

// Nothing is divided by a zero, but it may multiply.
TEST(Validate, ZerosInTables) {
  expect_refused<G>(Direction::kForward, {{"a zero", put_zero}});
  GoodJob inverse(Direction::kInverse);
  put_zero(inverse.job);
  EXPECT_TRUE(validate(inverse.job).ok()) << validate(inverse.job).message;
  expect_refused<G>(Direction::kInverse, {{"a table of zeros", [](J& j) { j.tables[1] = {}; }}});
}

TEST(Validate, Quantizer) {
  const auto decides = [](J& j, Quantizer quantizer) {
    j.quantizer = quantizer;
    for (QuantTable& table : j.tables) std::fill(std::begin(table.q), std::end(table.q), 255);
  };
  for (const Quantizer quantizer : {Quantizer::kDeadZone, Quantizer::kRd})
    for (const Method method : {Method::kIslow, Method::kIfast, Method::kFloat}) {
      GoodJob good(Direction::kForward);
      decides(good.job, quantizer);
      good.job.method = method;
      EXPECT_TRUE(validate(good.job).ok()) << validate(good.job).message;
    }
  GoodJob coarse(Direction::kForward);
  decides(coarse.job, Quantizer::kDeadZone);
  coarse.job.tables[1].q[63] = 65535;
  EXPECT_TRUE(validate(coarse.job).ok()) << "a dead zone takes any table";

  const PlantedList<J> refused = {
      {"quantizer 3", [](J& j) { j.quantizer = static_cast<Quantizer>(3); }},
      {"quantizer -1", [](J& j) { j.quantizer = static_cast<Quantizer>(-1); }},
      {"inverse", [](J& j) { j.direction = Direction::kInverse; }},
      {"10 bits", [](J& j) { G::make_deep(j, 10); }},
      {"16 bits", [](J& j) { G::make_deep(j, 16); }},
      {"values", [](J& j) { j.quantized = false, G::make_wide(j, CoefType::kS32); }},
      {"reference", [](J& j) { j.method = Method::kReference; }},
      {"shuffle", [](J& j) { j.method = Method::kShuffle; }},
      {"a dead zone of 499", [](J& j) { j.dead_zone = 499; }},
      {"a dead zone of 1001", [](J& j) { j.dead_zone = 1001; }},
      {"lambda 0", [](J& j) { j.rd_lambda = 0; }},
      {"lambda -1", [](J& j) { j.rd_lambda = -1; }},
      {"lambda 2", [](J& j) { j.rd_lambda = 2; }},
      {"lambda not a number", [](J& j) { j.rd_lambda = std::nan(""); }},
      {"an entry of 256", [](J& j) { j.tables[1].q[63] = 256; }},
  };
  for (const auto& planted : refused) {
    GoodJob good(Direction::kForward);
    decides(good.job, Quantizer::kRd);
    ASSERT_TRUE(validate(good.job).ok()) << validate(good.job).message;
    planted.plant(good.job);
    EXPECT_FALSE(validate(good.job).ok()) << "accepted: " << planted.name;
  }
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
  const PlantedList<J> refused = {
      {"scale 0", [](J& j) { j.scale = 0; }},
      {"scale 3", [](J& j) { j.scale = 3; }},
      {"scale 16", [](J& j) { j.scale = 16; }},
      {"scale -2", [](J& j) { j.scale = -2; }},
      {"another scale than the sizes", [](J& j) { j.scale = 4; }},
      {"ifast", [](J& j) { j.method = Method::kIfast; }},
      {"a method that teaches", [](J& j) { j.method = Method::kMatrix; }},
      {"a measured error", [](J& j) { j.measure = kMeasureSse; }},
      {"forward", [](J& j) { j.direction = Direction::kForward; }},
      {"a width of which the full one overflows",
       [](J& j) {
         j.samples[0].width = 1 << 30;
         j.samples[0].pitch = ptrdiff_t{1} << 31;
         j.coefs[0].blocks_w = 1 << 28;
         j.coefs[0].pitch = ptrdiff_t{1} << 36;
       }},
  };
  for (const auto& planted : refused) {
    GoodJob good(Direction::kInverse);
    make_scaled(good.job, 2);
    ASSERT_TRUE(validate(good.job).ok()) << validate(good.job).message;
    planted.plant(good.job);
    EXPECT_FALSE(validate(good.job).ok()) << "accepted: " << planted.name;
    for (const Engine& engine : engines()) {
      engine.activate();
      EXPECT_FALSE(G::submit(engine, good.job).ok())
          << engine.name << " accepted: " << planted.name;
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
  G::widen_samples(residual.job, SampleType::kS16);
  EXPECT_TRUE(validate(residual.job).ok()) << validate(residual.job).message;
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
      EXPECT_EQ(effective_method(method, depth),
                i == 1 || (i == 0 && depth != 12) ? Method::kFloat : method);
    for (const int scale : {2, 4, 8}) {
      const Method floating = method == Method::kReference ? method : Method::kFloat;
      EXPECT_EQ(effective_method(method, 8, scale), i < 2 ? Method::kIslow : floating);
      EXPECT_EQ(effective_method(method, 12, scale), i == 0 ? Method::kIslow : floating);
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
