// Rotated and mirrored pixels of every engine against the definition: all orientations, places in
// memory and sizes, several pictures a job; and jobs that validate() refuses.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/transpose/transpose.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"

namespace cudatransform::test {
namespace {

constexpr unsigned kOrientations = 8;
Orientation orientation_of(unsigned number) {
  return {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0};
}

// A picture in an engine's memory.
struct Placed {
  std::unique_ptr<GuardedBuffer> buffer;
  size_t before, pitch;

  Placed(const Engine& engine, std::mt19937& random, int32_t row_bytes, int32_t rows) {
    const auto bytes = static_cast<size_t>(row_bytes);
    const bool pooled = random() % 3 == 0;
    pitch = pooled ? align_up(bytes) : bytes + pick_gap(random, 1);
    before = pooled ? 0 : random() % 9;
    // The last row ends where the allocation does, in some.
    const size_t behind = random() % 2 == 0 ? pitch - bytes : 0;
    buffer = std::make_unique<GuardedBuffer>(engine,
                                             before + pitch * static_cast<size_t>(rows) - behind);
  }
  size_t at(int32_t y) const { return before + pitch * static_cast<size_t>(y); }
};

struct Case {
  TransposeJob job;
  std::unique_ptr<Placed> from, to;

  Case(const Engine& engine, std::mt19937& random, const Orientation& orientation, int channels,
       int32_t width, int32_t height) {
    job.orientation = orientation;
    job.channels = channels;
    job.width = width;
    job.height = height;
    from = std::make_unique<Placed>(engine, random, job.from_width() * channels, job.from_height());
    to = std::make_unique<Placed>(engine, random, width * channels, height);
    job.from = from->buffer->address() + from->at(0);
    job.from_pitch = static_cast<ptrdiff_t>(from->pitch);
    job.to = to->buffer->address() + to->at(0);
    job.to_pitch = static_cast<ptrdiff_t>(to->pitch);
    for (int32_t y = 0; y < job.from_height(); ++y)
      for (int32_t i = 0; i < job.from_width() * channels; ++i)
        from->buffer->host()[from->at(y) + static_cast<size_t>(i)] = static_cast<uint8_t>(random());
    for (int32_t y = 0; y < height; ++y)
      to->buffer->allow(to->at(y), static_cast<size_t>(width * channels));
  }

  std::string name() const {
    return std::to_string(job.channels) + " channels, " + std::to_string(job.width) + "x" +
           std::to_string(job.height) + (job.orientation.transposes ? ", transposed" : "") +
           (job.orientation.mirrors_x ? ", mirrored across" : "") +
           (job.orientation.mirrors_y ? ", mirrored down" : "");
  }

  // "" or the first fault.
  std::string judge() const {
    if (const std::string fault = from->buffer->fault(); !fault.empty()) return "input, " + fault;
    if (const std::string fault = to->buffer->fault(); !fault.empty()) return "output, " + fault;
    for (int32_t y = 0; y < job.height; ++y)
      for (int32_t x = 0; x < job.width; ++x) {
        const int32_t u = job.orientation.mirrors_x ? job.width - 1 - x : x;
        const int32_t v = job.orientation.mirrors_y ? job.height - 1 - y : y;
        const int32_t column = job.orientation.transposes ? v : u;
        const int32_t row = job.orientation.transposes ? u : v;
        for (int c = 0; c < job.channels; ++c)
          if (to->buffer->host()[to->at(y) + static_cast<size_t>(x * job.channels + c)] !=
              from->buffer->host()[from->at(row) + static_cast<size_t>(column * job.channels + c)])
            return "channel " + std::to_string(c) + " at (" + std::to_string(x) + "," +
                   std::to_string(y) + ")";
      }
    return "";
  }
};

std::string run(const Engine& engine, const std::vector<Case>& batch) {
  Status status;
  std::vector<TransposeJob> jobs;
  for (const Case& of : batch) {
    jobs.push_back(of.job);
    if (status.ok()) status = of.from->buffer->upload(engine);
    if (status.ok()) status = of.to->buffer->upload(engine);
  }
  if (status.ok()) {
    status = submit_and_wait(engine, [&](Device& device, Queue& queue, FencePtr* done) {
      return engine.transpose_ops->submit(device, queue, jobs, done);
    });
  }
  for (const Case& of : batch) {
    if (status.ok()) status = of.from->buffer->download(engine);
    if (status.ok()) status = of.to->buffer->download(engine);
  }
  if (!status.ok()) return status.message.empty() ? "failed without a message" : status.message;
  for (const Case& of : batch)
    if (const std::string fault = of.judge(); !fault.empty()) return of.name() + ": " + fault;
  return "";
}

int32_t random_side(std::mt19937& random) {
  return 1 + static_cast<int32_t>(random() % (random() % 3 == 0 ? 6 : 200));
}

TEST(Transpose, EqualsTheDefinition) {
  const unsigned rounds = quick() ? 6 : 40;
  for (const Engine& engine : engines_with(&Engine::transpose_ops)) {
    std::mt19937 random(1);
    for (unsigned i = 0; i < rounds * kOrientations; ++i)
      for (const int channels : {1, 3}) {
        std::vector<Case> batch;
        batch.emplace_back(engine, random, orientation_of(i % kOrientations), channels,
                           random_side(random), random_side(random));
        ASSERT_EQ(run(engine, batch), "") << engine.name;
      }
  }
}

// Tiles that are whole.
TEST(Transpose, WholeTiles) {
  for (const Engine& engine : engines_with(&Engine::transpose_ops)) {
    std::mt19937 random(2);
    for (unsigned i = 0; i < kOrientations; ++i)
      for (const int channels : {1, 3}) {
        std::vector<Case> batch;
        batch.emplace_back(engine, random, orientation_of(i), channels, 128, 192);
        ASSERT_EQ(run(engine, batch), "") << engine.name;
      }
  }
}

// More pictures than a launch has, of all kinds together.
TEST(Transpose, ManyPictures) {
  for (const Engine& engine : engines_with(&Engine::transpose_ops)) {
    for (const unsigned count : {2u, 33u, 100u}) {
      std::mt19937 random(count);
      std::vector<Case> batch;
      for (unsigned i = 0; i < count; ++i)
        batch.emplace_back(engine, random, orientation_of(random() % kOrientations),
                           random() % 4 == 0 ? 1 : 3, random_side(random) / 2 + 1,
                           random_side(random) / 2 + 1);
      ASSERT_EQ(run(engine, batch), "") << engine.name;
    }
    EXPECT_EQ(run(engine, {}), "") << engine.name;
  }
}

// Each change makes a sound job unsound.
TEST(TransposeValidate, RefusesUnsoundJobs) {
  using Change = void (*)(TransposeJob&);
  const std::pair<const char*, Change> changes[] = {
      {"two channels", [](TransposeJob& j) { j.channels = 2; }},
      {"no columns", [](TransposeJob& j) { j.width = 0; }},
      {"negative rows", [](TransposeJob& j) { j.height = -1; }},
      {"a side without an end", [](TransposeJob& j) { j.height = kMaxTransposeSide + 1; }},
      {"no input", [](TransposeJob& j) { j.from = nullptr; }},
      {"no output", [](TransposeJob& j) { j.to = nullptr; }},
      {"a short pitch", [](TransposeJob& j) { j.from_pitch = 59; }},
      {"a short pitch of output", [](TransposeJob& j) { j.to_pitch = 29; }},
      {"output over its input", [](TransposeJob& j) { j.to = const_cast<void*>(j.from); }},
      {"output in its input's end",
       [](TransposeJob& j) {
         j.to = static_cast<uint8_t*>(const_cast<void*>(j.from)) + 60 * 10 - 1;
       }},
  };
  std::vector<uint8_t> from(60 * 10), to(30 * 20);
  TransposeJob sound;
  sound.orientation.transposes = true;
  sound.width = 10;
  sound.height = 20;
  sound.from = from.data();
  sound.from_pitch = 60;
  sound.to = to.data();
  sound.to_pitch = 30;
  ASSERT_EQ(validate(sound).message, "");
  for (const auto& [what, change] : changes) {
    TransposeJob job = sound;
    change(job);
    const Status status = validate(job);
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << what;
    EXPECT_FALSE(status.message.empty()) << what;
  }
}

}  // namespace
}  // namespace cudatransform::test
