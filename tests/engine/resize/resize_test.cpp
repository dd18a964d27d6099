// Resampling of every engine against the definition: random sizes, boxes, filters, places in
// memory and types of samples; batches; and jobs that validate() refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/fakecuda/fakecuda.h"
#include "tests/engine/engines.h"
#include "tests/engine/resize/definition.h"
#include "tests/engine/run_job.h"
#include "transform/resize/plan.h"
#include "transform/resize/resize.h"

namespace cudatransform::test {
namespace {

int bytes_of(ResizeType type) {
  return type == ResizeType::kU8 ? 1 : type == ResizeType::kF32 ? 4 : 2;
}

// A picture in an engine's memory, in one of the layouts of pictures: packed pixels, of which one
// byte may be unused, channels in either order; or planes.
class PlacedPicture {
 public:
  PlacedPicture(const Engine& engine, std::mt19937& random, int channels, int bytes,
                ResizePicture* picture)
      : channels_(channels), bytes_(bytes) {
    const auto width = static_cast<size_t>(picture->width);
    const auto height = static_cast<size_t>(picture->height);
    const bool planar = random() % 3 == 0, backward = random() % 4 == 0;
    const int behind = random() % 4 == 0 ? bytes : 0;
    picture->step = planar ? bytes : channels * bytes + behind;
    const size_t row = width * static_cast<size_t>(picture->step);
    size_t pitch = row + pick_gap(random, static_cast<size_t>(bytes));
    // As pools have it: kernels then read words.
    const bool pooled = random() % 2 == 0;
    if (pooled) pitch = align_up(pitch);
    const size_t plane = pitch * height, planes = planar ? static_cast<size_t>(channels) : 1;
    const size_t before = pooled ? 0 : random() % 3 * static_cast<size_t>(bytes);
    // The last row ends where the allocation does, in some.
    const size_t total = before + plane * planes - (random() % 2 == 0 ? pitch - row : 0);
    buffer_ = std::make_unique<GuardedBuffer>(engine, total);
    for (int c = 0; c < channels; ++c) {
      const auto place = static_cast<size_t>(backward ? channels - 1 - c : c);
      offsets_[c] = before + place * (planar ? plane : static_cast<size_t>(bytes));
      picture->data[c] = buffer_->address() + offsets_[c];
      picture->pitch[c] = static_cast<ptrdiff_t>(pitch);
    }
    picture_ = *picture;
  }

  uint8_t* at(int channel, int x, int y) {
    return buffer_->host() + offsets_[channel] + y * picture_.pitch[channel] +
           ptrdiff_t{x} * picture_.step;
  }
  template <typename Visit>
  void visit(const Visit& visit) {
    for (int c = 0; c < channels_; ++c)
      for (int y = 0; y < picture_.height; ++y)
        for (int x = 0; x < picture_.width; ++x) visit(c, x, y);
  }
  void allow() {
    visit([&](int c, int x, int y) {
      buffer_->allow(static_cast<size_t>(at(c, x, y) - buffer_->host()),
                     static_cast<size_t>(bytes_));
    });
  }
  GuardedBuffer& buffer() { return *buffer_; }

 private:
  int channels_, bytes_;
  ResizePicture picture_;
  size_t offsets_[kMaxResizeChannels] = {};
  std::unique_ptr<GuardedBuffer> buffer_;
};

// A job of a batch, with its expected output.
struct Case {
  ResizeJob job;
  std::vector<float> table;
  Picture from, wanted;
  std::unique_ptr<PlacedPicture> input, output;

  std::string name() const {
    const ResizeBox& box = job.box;
    return std::to_string(job.channels) +
           (job.has_alpha ? " channels with alpha, " : " channels, ") +
           std::to_string(job.from.width) + "x" + std::to_string(job.from.height) + " to " +
           std::to_string(job.to.width) + "x" + std::to_string(job.to.height) + ", filter " +
           std::to_string(int(job.filter)) + ", order " + std::to_string(int(job.order)) +
           ", type " + std::to_string(int(job.type)) + ", reduced by " +
           std::to_string(job.reduction.x) + "x" + std::to_string(job.reduction.y) + ", box " +
           std::to_string(box.left) + "," + std::to_string(box.top) + " to " +
           std::to_string(box.right) + "," + std::to_string(box.bottom);
  }
};

int random_side(std::mt19937& random, int largest) {
  const uint32_t kind = random() % 8;
  return 1 + static_cast<int>(random() % (kind < 2 ? 6u : kind < 7 ? 60u : uint32_t(largest)));
}

double random_edge(std::mt19937& random, int side) {
  return std::uniform_real_distribution<>(0, side)(random);
}

// An interval in 0..side, in some cases of whole samples.
void pick_interval(std::mt19937& random, int side, bool whole, double* from, double* to) {
  double a = random_edge(random, side), b = random_edge(random, side);
  if (a > b) std::swap(a, b);
  *from = whole ? std::floor(a) : a;
  *to = whole ? std::floor(b) + 1 : b;
  if (!(static_cast<float>(*from) < static_cast<float>(*to)) || *to > side) {
    *from = 0;
    *to = side;
  }
}

void pick_box(std::mt19937& random, ResizeJob* job) {
  job->box = whole_box(*job);
  if (random() % 2 == 0) return;
  const bool whole = random() % 3 == 0;
  pick_interval(random, job->reduced_width(), whole, &job->box.left, &job->box.right);
  pick_interval(random, job->reduced_height(), whole, &job->box.top, &job->box.bottom);
  if (!whole || random() % 2 == 0) return;
  job->to.width = static_cast<int32_t>(job->box.right - job->box.left);  // a crop
  job->to.height = static_cast<int32_t>(job->box.bottom - job->box.top);
}

void pick_reduction(std::mt19937& random, ResizeJob* job) {
  ResizeReduction by;
  by.x = 1 + static_cast<int32_t>(random() % 5);
  by.y = 1 + static_cast<int32_t>(random() % 5);
  by.left = static_cast<int32_t>(random() % static_cast<uint32_t>(job->from.width));
  by.top = static_cast<int32_t>(random() % static_cast<uint32_t>(job->from.height));
  by.right = by.left + 1 + static_cast<int32_t>(random() % uint32_t(job->from.width - by.left));
  by.bottom = by.top + 1 + static_cast<int32_t>(random() % uint32_t(job->from.height - by.top));
  job->reduction = by;
}

// Extremes produce sums outside of 0..255.
Picture random_picture(std::mt19937& random, const ResizeJob& job) {
  const bool extreme = random() % 2 == 0;
  Picture picture;
  for (int c = 0; c < job.channels; ++c) {
    Plane& plane = picture.emplace_back(job.from.width, job.from.height);
    for (int& sample : plane.samples) {
      const auto value = static_cast<int>(random() % 256);
      sample = extreme ? (value & 1) * 255 : value;
    }
  }
  return picture;
}

// Gives a case's job pictures in layouts that `layouts` picks, and its expected output.
void place(const Engine& engine, std::mt19937& random, std::mt19937& layouts, Case* of) {
  ResizeJob& job = of->job;
  of->from = random_picture(random, job);
  of->wanted = define_resized(job, of->from);
  of->input = std::make_unique<PlacedPicture>(engine, layouts, job.channels, 1, &job.from);
  of->output =
      std::make_unique<PlacedPicture>(engine, layouts, job.channels, bytes_of(job.type), &job.to);
  of->input->visit([&](int c, int x, int y) {
    *of->input->at(c, x, y) = static_cast<uint8_t>(of->from[static_cast<size_t>(c)].at(x, y));
  });
  of->output->allow();
}
void place(const Engine& engine, std::mt19937& random, Case* of) {
  place(engine, random, random, of);
}

Case random_case(const Engine& engine, std::mt19937& random, int largest) {
  Case of;
  ResizeJob& job = of.job;
  job.channels = 1 + static_cast<int>(random() % kMaxResizeChannels);
  job.has_alpha = job.channels > 1 && random() % 3 == 0;
  job.from.width = random_side(random, largest);
  job.from.height = random_side(random, largest);
  job.to.width = random_side(random, largest);
  job.to.height = random_side(random, largest);
  if (random() % 8 == 0) job.to.width = job.from.width;
  if (random() % 8 == 0) job.to.height = job.from.height;
  job.filter = static_cast<ResizeFilter>(random() % kResizeFilterCount);
  job.order = static_cast<ResizeOrder>(random() % kResizeOrderCount);
  if (job.filter != ResizeFilter::kNearest && random() % 4 == 0) pick_reduction(random, &job);
  pick_box(random, &job);
  if (random() % 3 == 0) job.type = static_cast<ResizeType>(random() % kResizeTypeCount);
  if (job.type != ResizeType::kU8) {
    for (int i = 0; i < 256 * job.channels; ++i)
      of.table.push_back(std::uniform_real_distribution<float>(-4, 4)(random));
    job.table = of.table.data();
  }
  place(engine, random, &of);
  return of;
}

// The bytes of a sample.
uint32_t bits_of(const Case& of, int channel, int sample) {
  if (of.job.type == ResizeType::kU8) return static_cast<uint32_t>(sample);
  const float value = of.job.table[256 * channel + sample];
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if (of.job.type == ResizeType::kF16) return float16_bits(value);
  return of.job.type == ResizeType::kBf16 ? bfloat16_bits(value) : bits;
}

std::string judge(Case& of) {
  if (const std::string fault = of.input->buffer().fault(); !fault.empty())
    return "input, " + fault;
  if (const std::string fault = of.output->buffer().fault(); !fault.empty())
    return "output, " + fault;
  std::string fault;
  of.output->visit([&](int c, int x, int y) {
    uint32_t got = 0;
    std::memcpy(&got, of.output->at(c, x, y), static_cast<size_t>(bytes_of(of.job.type)));
    const int sample = of.wanted[static_cast<size_t>(c)].at(x, y);
    if (fault.empty() && got != bits_of(of, c, sample)) {
      fault = "channel " + std::to_string(c) + " at (" + std::to_string(x) + "," +
              std::to_string(y) + ") is " + std::to_string(got) + ", expected " +
              std::to_string(bits_of(of, c, sample));
    }
  });
  return fault;
}

std::string run(const Engine& engine, std::vector<Case>& batch) {
  Status status;
  std::vector<ResizeJob> jobs;
  for (Case& of : batch) {
    jobs.push_back(of.job);
    if (status.ok()) status = of.input->buffer().upload(engine);
    if (status.ok()) status = of.output->buffer().upload(engine);
  }
  if (status.ok()) {
    status = submit_and_wait(engine, [&](Device& device, Queue& queue, FencePtr* done) {
      return engine.resize_ops->submit(device, queue, jobs, done);
    });
  }
  for (Case& of : batch) {
    if (status.ok()) status = of.input->buffer().download(engine);
    if (status.ok()) status = of.output->buffer().download(engine);
  }
  if (!status.ok()) return status.message.empty() ? "failed without a message" : status.message;
  for (Case& of : batch)
    if (const std::string fault = judge(of); !fault.empty()) return of.name() + ": " + fault;
  return "";
}

TEST(Resize, EqualsTheDefinition) {
  const int count = quick() ? 120 : 900, largest = quick() ? 200 : 700;
  for (const Engine& engine : engines_with(&Engine::resize_ops)) {
    for (int i = 0; i < count; ++i) {
      std::mt19937 random(static_cast<uint32_t>(i));
      std::vector<Case> batch;
      const size_t pictures = i % 5 == 0 ? 1 + random() % 7 : 1;
      while (batch.size() < pictures) batch.push_back(random_case(engine, random, largest));
      ASSERT_EQ(run(engine, batch), "") << engine.name << ", batch " << i;
    }
  }
}

// Frames of a video: their layouts are the same, and with them a launch.
TEST(Resize, PicturesOfOneShape) {
  const int count = quick() ? 40 : 200, largest = quick() ? 150 : 700;
  for (const Engine& engine : engines_with(&Engine::resize_ops)) {
    for (int i = 0; i < count; ++i) {
      std::mt19937 random(static_cast<uint32_t>(i));
      std::vector<Case> batch;
      batch.push_back(random_case(engine, random, largest));
      const ResizeJob job = batch[0].job;
      for (const size_t pictures = 3 + random() % 6; batch.size() < pictures;) {
        if (random() % 8 == 0) {
          batch.push_back(random_case(engine, random, largest));
          continue;
        }
        Case& of = batch.emplace_back();
        of.job = job;
        std::mt19937 layouts(static_cast<uint32_t>(i));
        place(engine, random, layouts, &of);
      }
      ASSERT_EQ(run(engine, batch), "") << engine.name << ", batch " << i;
    }
  }
}

TEST(Resize, PicturesOfOneShapeShareALaunch) {
  constexpr const char* kKernel = "resize_fused_3_along";
  if (count_launches(kKernel) < 0) GTEST_SKIP() << "no fake driver";
  for (const Engine& engine : engines_with(&Engine::resize_ops)) {
    if (engine.name != "cuda") continue;
    std::mt19937 random(3);
    std::vector<Case> batch(5);
    for (Case& of : batch) {
      of.job.channels = 3;
      of.job.from.width = of.job.from.height = 60;
      of.job.to.width = of.job.to.height = 20;
      of.job.order = ResizeOrder::kPillow12;
      of.job.box = whole_box(of.job);
      std::mt19937 layouts(5);
      place(engine, random, layouts, &of);
    }
    const int before = count_launches(kKernel),
              in_batches = count_launches("resize_fused_3_along_batch");
    ASSERT_EQ(run(engine, batch), "");
    EXPECT_EQ(count_launches(kKernel) - before, 1);
    batch[2].job.filter = ResizeFilter::kBox;
    batch[2].wanted = define_resized(batch[2].job, batch[2].from);
    ASSERT_EQ(run(engine, batch), "");
    EXPECT_EQ(count_launches(kKernel) - before, 1) << "pairs are not worth a launch";
    EXPECT_EQ(count_launches("resize_fused_3_along_batch") - in_batches, 1);
  }
}

// Pictures whose sides a vector or a tile of threads does not divide, and windows that are larger
// than any of an engine's fixed memory.
TEST(Resize, LargeReductions) {
  constexpr int kSizes[][4] = {
      {1500, 1, 1, 1},  {1, 1500, 1, 1},    {2111, 37, 3, 2},   {37, 2111, 2, 3}, {1920, 9, 224, 9},
      {700, 500, 1, 1}, {1200, 20, 16, 16}, {31, 33, 257, 255}, {190, 150, 2, 3}, {200, 150, 3, 2}};
  for (const Engine& engine : engines_with(&Engine::resize_ops)) {
    uint32_t seed = 1;
    for (const auto& size : kSizes) {
      for (const ResizeFilter filter : {ResizeFilter::kBicubic, ResizeFilter::kMks2021}) {
        std::mt19937 random(++seed);
        std::vector<Case> batch(1);
        ResizeJob& job = batch[0].job;
        job.channels = 1 + static_cast<int>(random() % kMaxResizeChannels);
        job.from.width = size[0];
        job.from.height = size[1];
        job.to.width = size[2];
        job.to.height = size[3];
        job.filter = filter;
        job.box = whole_box(job);
        place(engine, random, &batch[0]);
        ASSERT_EQ(run(engine, batch), "") << engine.name;
      }
    }
  }
}

// An engine may keep the weights of the last batch.
TEST(Resize, WeightsThatComeAgain) {
  for (const Engine& engine : engines_with(&Engine::resize_ops)) {
    std::mt19937 random(9);
    for (const int kind : {0, 0, 1, 0, 2, 2, 1, 0, 0, 2, 0}) {
      std::vector<Case> batch(kind == 2 ? 3 : 1);
      for (Case& of : batch) {
        of.job.from.width = 97;
        of.job.from.height = 83;
        of.job.to.width = of.job.to.height = 31;
        of.job.filter = kind == 1 ? ResizeFilter::kLanczos : ResizeFilter::kBicubic;
        of.job.box = whole_box(of.job);
        place(engine, random, &of);
      }
      ASSERT_EQ(run(engine, batch), "") << engine.name << ", kind " << kind;
    }
  }
}

// Weights of 1 MiB a batch are more than the CUDA engine keeps; the first ones come again with
// each. Others keep none.
TEST(Resize, MoreWeightsThanAreKept) {
  for (const Engine& engine : engines_with(&Engine::resize_ops)) {
    std::mt19937 random(11);
    for (int i = 0; i < (engine.is_cuda ? 40 : 1); ++i) {
      std::vector<Case> batch(2);
      for (Case& of : batch) {
        of.job.channels = of.job.from.height = of.job.to.height = 1;
        of.job.from.width = 60000;
        of.job.to.width = &of == &batch[0] ? 100 : 5000;
        of.job.box = whole_box(of.job);
        if (&of == &batch[1]) of.job.box.left = i;
        place(engine, random, &of);
      }
      ASSERT_EQ(run(engine, batch), "") << engine.name << ", batch " << i;
    }
  }
}

TEST(ResizeFloats, RoundToTheNearest) {
  std::mt19937 random(1);
  std::vector<float> values = {0.f,      -0.f,          1.f,          65504.f,    65519.f,
                               65520.f,  1e9f,          6e-8f,        3e-8f,      2.9e-8f,
                               1e-30f,   6.1035e-5f,    .1f,          -2.117904f, 2.0004883f,
                               2.00146f, 5.9604645e-8f, 8.9406967e-8f};
  for (int i = 0; i < (quick() ? 30 : 200); ++i)
    values.push_back(
        std::ldexp(std::uniform_real_distribution<float>(-2, 2)(random), int(random() % 44) - 28));
  for (const float value : values) {
    EXPECT_EQ(float16_bits(value), define_float16(value)) << value;
    EXPECT_EQ(bfloat16_bits(value), define_bfloat16(value)) << value;
  }
}

TEST(ResizeGap, IsPillows) {
  ResizeJob job;
  job.from.width = 1000;
  job.from.height = 700;
  job.to.width = 100;
  job.to.height = 90;
  job.box = {100.5, 0, 900, 700};
  job.filter = ResizeFilter::kLanczos;
  ASSERT_TRUE(set_reducing_gap(2, &job).ok());
  // 799.5 / 100 / 2 and 700 / 90 / 2; 2.5 times the scale beyond the box.
  EXPECT_EQ(job.reduction.x, 3);
  EXPECT_EQ(job.reduction.y, 3);
  EXPECT_EQ(job.reduction.left, 80);
  EXPECT_EQ(job.reduction.right, 920);
  EXPECT_EQ(job.reduction.top, 0);
  EXPECT_EQ(job.reduction.bottom, 700);
  EXPECT_DOUBLE_EQ(job.box.left, 20.5 / 3);
  EXPECT_DOUBLE_EQ(job.box.bottom, 700. / 3);
  ResizeJob other = job;
  other.reduction = {};
  other.box = {0, 0, 1000, 700};
  EXPECT_FALSE(set_reducing_gap(.5, &other).ok());
  EXPECT_FALSE(set_reducing_gap(std::numeric_limits<double>::quiet_NaN(), &other).ok());
  other.has_alpha = true;
  other.order = ResizeOrder::kPillow12;
  ASSERT_TRUE(set_reducing_gap(2, &other).ok());
  EXPECT_FALSE(other.reduction.exists());
}

// Each change makes a sound job unsound.
TEST(ResizeValidate, RefusesUnsoundJobs) {
  using Change = void (*)(ResizeJob&);
  static const float table[256 * 3] = {};
  const std::pair<const char*, Change> changes[] = {
      {"no channels", [](ResizeJob& j) { j.channels = 0; }},
      {"five channels", [](ResizeJob& j) { j.channels = 5; }},
      {"alpha alone",
       [](ResizeJob& j) {
         j.channels = 1;
         j.has_alpha = true;
       }},
      {"an unknown filter", [](ResizeJob& j) { j.filter = static_cast<ResizeFilter>(8); }},
      {"an unknown order", [](ResizeJob& j) { j.order = static_cast<ResizeOrder>(-1); }},
      {"an unknown type", [](ResizeJob& j) { j.type = static_cast<ResizeType>(4); }},
      {"no input", [](ResizeJob& j) { j.from.data[1] = nullptr; }},
      {"no output", [](ResizeJob& j) { j.to.data[2] = nullptr; }},
      {"no columns", [](ResizeJob& j) { j.from.width = 0; }},
      {"negative rows", [](ResizeJob& j) { j.to.height = -3; }},
      {"too many columns", [](ResizeJob& j) { j.to.width = kMaxResizeSide + 1; }},
      {"a short pitch", [](ResizeJob& j) { j.from.pitch[0] = 3 * 20 - 3; }},
      {"a pitch below zero", [](ResizeJob& j) { j.to.pitch[1] = -64; }},
      {"no step", [](ResizeJob& j) { j.from.step = 0; }},
      {"a step below zero", [](ResizeJob& j) { j.to.step = -3; }},
      {"floats without a table", [](ResizeJob& j) { j.type = ResizeType::kF16; }},
      {"bytes with a table", [](ResizeJob& j) { j.table = table; }},
      {"floats between words",
       [](ResizeJob& j) {
         j.type = ResizeType::kF32;
         j.table = table;
         j.to.step = 13;
       }},
      {"a box beyond", [](ResizeJob& j) { j.box.right = 20.5; }},
      {"a box before", [](ResizeJob& j) { j.box.top = -.01; }},
      {"an empty box", [](ResizeJob& j) { j.box.right = j.box.left; }},
      {"a box of less than a float's step",
       [](ResizeJob& j) {
         j.box.left = 16;
         j.box.right = 16 + 1e-9;
       }},
      {"no number", [](ResizeJob& j) { j.box.left = std::numeric_limits<double>::quiet_NaN(); }},
      {"a reduction by nothing", [](ResizeJob& j) { j.reduction.x = 0; }},
      {"a reduction of nothing", [](ResizeJob& j) { j.reduction = {2, 2, 3, 3, 3, 5}; }},
      {"a reduction beyond", [](ResizeJob& j) { j.reduction = {2, 2, 0, 0, 20, 11}; }},
      {"a reduction without an end",
       [](ResizeJob& j) { j.reduction = {1 << 16, 1 << 16, 0, 0, 20, 10}; }},
      {"a box beyond the reduced picture",
       [](ResizeJob& j) { j.reduction = {2, 1, 0, 0, 20, 10}; }},
      {"the nearest of means",
       [](ResizeJob& j) {
         j.reduction = {2, 1, 0, 0, 20, 10};
         j.box = whole_box(j);
         j.filter = ResizeFilter::kNearest;
       }},
      {"output over its input", [](ResizeJob& j) { j.to.data[2] = j.from.data[0]; }},
      {"channels over each other", [](ResizeJob& j) { j.to.data[2] = j.to.data[1]; }},
  };
  std::vector<uint8_t> memory(4096), other(4096);
  ResizeJob sound;
  sound.from = {20, 10, 3, {}, {}};
  sound.to = {8, 7, 3, {}, {}};
  for (int c = 0; c < 3; ++c) {
    sound.from.data[c] = memory.data() + c;
    sound.to.data[c] = other.data() + c;
    sound.from.pitch[c] = sound.to.pitch[c] = 64;
  }
  sound.box = whole_box(sound);
  ASSERT_TRUE(validate(sound).ok()) << validate(sound).message;
  for (const auto& [what, change] : changes) {
    ResizeJob job = sound;
    change(job);
    const Status status = validate(job);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << what;
    EXPECT_FALSE(status.message.empty()) << what;
  }
}

// A refused job keeps the batch from being begun.
TEST(Resize, RefusesABatchAsAWhole) {
  for (const Engine& engine : engines_with(&Engine::resize_ops)) {
    std::mt19937 random(5);
    std::vector<Case> batch;
    for (int i = 0; i < 2; ++i) batch.push_back(random_case(engine, random, 20));
    batch[1].job.box.left = -1;
    EXPECT_NE(run(engine, batch), "") << engine.name;
  }
}

struct Mutant {
  const char* name;
  void (*change)(ResizeJob& job);                        // changes the engine's input; or null
  void (*spoil)(const ResizeJob& job, FencePtr* fence);  // changes the engine's output; or null
};

uint8_t* first_sample(const ResizePicture& picture) {
  return static_cast<uint8_t*>(picture.data[0]);
}
uint8_t kept_sample = 0;

constexpr Mutant kMutants[] = {
    {"another filter",
     [](ResizeJob& job) {
       if (job.filter == ResizeFilter::kMks2013)
         job.filter = ResizeFilter::kLanczos;
       else if (job.filter == ResizeFilter::kHamming)
         job.filter = ResizeFilter::kBilinear;
     },
     nullptr},
    {"another order",
     [](ResizeJob& job) {
       if (job.order == ResizeOrder::kPillow13) job.order = ResizeOrder::kPillow11;
     },
     nullptr},
    {"box of whole samples",
     [](ResizeJob& job) {
       job.box.left = std::floor(job.box.left);
       job.box.right = std::ceil(job.box.right);
     },
     nullptr},
    {"alpha not premultiplied", [](ResizeJob& job) { job.has_alpha = false; }, nullptr},
    {"channels swapped",
     [](ResizeJob& job) {
       if (job.channels > 2) std::swap(job.from.data[0], job.from.data[2]);
     },
     nullptr},
    {"one table for all channels",
     [](ResizeJob& job) {
       static std::vector<float> tables;
       if (job.table == nullptr) return;
       tables.clear();
       for (int c = 0; c < job.channels; ++c)
         tables.insert(tables.end(), job.table, job.table + 256);
       job.table = tables.data();
     },
     nullptr},
    {"a sample wrong", nullptr,
     [](const ResizeJob& job, FencePtr*) { *first_sample(job.to) ^= 1; }},
    {"a sample not written", [](ResizeJob& job) { kept_sample = *first_sample(job.to); },
     [](const ResizeJob& job, FencePtr*) { *first_sample(job.to) = kept_sample; }},
    {"input written", nullptr,
     [](const ResizeJob& job, FencePtr*) { *first_sample(job.from) ^= 1; }},
    {"padding written", nullptr,
     [](const ResizeJob& job, FencePtr*) {
       const ptrdiff_t row = ptrdiff_t{job.to.width} * job.to.step;
       if (job.to.height > 1 && job.to.pitch[0] >= row + job.to.step)
         first_sample(job.to)[row] ^= 1;
     }},
    {"no fence", nullptr, [](const ResizeJob&, FencePtr* fence) { fence->reset(); }},
};

const Mutant* mutant = nullptr;

Status submit_mutant(Device& device, Queue& queue, std::span<const ResizeJob> jobs,
                     FencePtr* fence) {
  ResizeJob changed = jobs[0];
  if (mutant->change != nullptr) mutant->change(changed);
  const Status status = portable_engine().resize_ops->submit(device, queue, {&changed, 1}, fence);
  if (mutant->spoil != nullptr) mutant->spoil(jobs[0], fence);
  return status;
}

TEST(Resize, MutantsAreFound) {
  if (engines().front().is_cuda) GTEST_SKIP() << "mutants are made of the portable engine";
  constexpr int kCases = 60;
  constexpr ResizeOps kOps = {"mutant", submit_mutant};
  Engine spoilt = portable_engine();
  spoilt.resize_ops = &kOps;
  for (const Mutant& one : kMutants) {
    mutant = &one;
    int found = 0;
    for (uint32_t seed = 0; seed < kCases; ++seed) {
      std::mt19937 random(seed);
      std::vector<Case> batch;
      batch.push_back(random_case(spoilt, random, 100));
      found += run(spoilt, batch).empty() ? 0 : 1;
    }
    std::printf("  %-26s found in %d of %d cases\n", one.name, found, kCases);
    EXPECT_GT(found, 0) << one.name;
  }
}

}  // namespace
}  // namespace cudatransform::test
