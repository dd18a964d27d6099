// Every large allocation of every element fails once, and then all later ones: the element reports
// it, the process lives, nothing leaks, and the pipeline starts again.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Needs the allocator of failmalloc.cpp preloaded. On the fake driver, device memory and
// pinned memory come from there, too.
#include "tests/check/memory/outofmemory.h"

#include <dlfcn.h>

#include <climits>
#include <type_traits>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/memory/failmalloc.h"

namespace {

using namespace testing;  // the helpers are half of every line here

constexpr int kFrames = 4;
// A row of luma blocks does not fill whole MCUs: the decoder needs separate memory.
constexpr int kWidth = 1032, kHeight = 800;

decltype(&failmalloc_arm) arm;
decltype(&failmalloc_disarm) disarm;
decltype(&failmalloc_live) live;

bool find_allocator() {
  const auto find = [](auto* function, const char* name) {
    *function =
        reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
    return *function != nullptr;
  };
  return find(&arm, "failmalloc_arm") && find(&disarm, "failmalloc_disarm") &&
         find(&live, "failmalloc_live");
}

// ---- Input ----

void add(Input* input, GstBuffer* buffer) {
  GST_BUFFER_PTS(buffer) = input->buffers.size() * kFrame;
  GST_BUFFER_DURATION(buffer) = kFrame;
  input->buffers.push_back(buffer);
}

// The same bytes in two memories.
GstBuffer* split(GstBuffer* whole) {
  const auto size = static_cast<gssize>(gst_buffer_get_size(whole)), half = size / 2;
  GstMemory* memory = gst_buffer_get_all_memory(whole);
  gst_buffer_replace_all_memory(whole, gst_memory_copy(memory, 0, half));
  gst_buffer_append_memory(whole, gst_memory_copy(memory, half, size - half));
  gst_memory_unref(memory);
  return whole;
}

Input raw_frames(bool in_parts = false) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, kWidth, kHeight);
  Input input;
  input.caps = video_caps(info);
  for (guint i = 0; i < kFrames; i++)
    add(&input, in_parts ? split(make_frame(info, i)) : make_frame(info, i));
  return input;
}

// From a pool that is too small to hold all frames.
Input pooled_frames() {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, kWidth, kHeight);
  Input input;
  input.caps = video_caps(info);
  GstBufferPool* pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, input.caps, static_cast<guint>(info.size), 0, 3);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  fail_unless(gst_buffer_pool_set_config(pool, config));
  fail_unless(gst_buffer_pool_set_active(pool, TRUE));
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = acquire(pool), *plain = make_frame(info, i);
    copy_frame(info, plain, buffer);
    gst_buffer_unref(plain);
    add(&input, buffer);
  }
  gst_object_unref(pool);  // lives as long as its buffers
  return input;
}

Input qcoefs(int width, int height, bool odd_layout, bool in_parts = false, guint depth = 8) {
  const GstDctInfo info = qcoefs_info(GST_COEF_SAMPLING_420, width, height, depth);
  Input input;
  input.caps = gst_dct_info_to_caps(&info);
  for (guint i = 0; i < kFrames; i++) {
    GstBuffer* buffer = make_qcoefs(info, i, odd_layout);
    add(&input, in_parts ? split(buffer) : buffer);
  }
  return input;
}

Input files(bool in_parts = false) {
  constexpr gsize kPadding = gsize{3} << 19;  // zeros behind a picture are no damage
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, kWidth, kHeight);
  Input input;
  input.caps = gst_caps_from_string("image/jpeg,parsed=true,framerate=25/1");
  for (guint i = 0; i < kFrames; i++) {
    GstBuffer* frame = make_frame(info, i);
    std::vector<guint8> file = jpeg_of_frame(info, frame, 2, 2, 80);
    gst_buffer_unref(frame);
    if (in_parts) file.resize(file.size() + kPadding);
    GstBuffer* buffer = gst_buffer_new_memdup(file.data(), file.size());
    add(&input, in_parts ? split(buffer) : buffer);
  }
  return input;
}

// ---- Results ----

// Threads of GStreamer may hold the pipeline's objects a moment longer.
void check_all_given_back(int before, const std::string& what) {
  for (int i = 0; i < 200 && live() != before; i++) g_usleep(10000);
  fail_unless(live() == before, "%s: %d large blocks are left", what.c_str(), live() - before);
}

// True when nothing failed because there was no nth allocation. With a GPU or its stand-in, some
// allocations are optional: pinned memory, a spare block.
bool run_one(const std::string& line, const Input& input, int nth, int how_many) {
  const std::string what =
      line + ", allocation " + std::to_string(nth) + (how_many == 1 ? "" : " and all later ones");
  const int before = live();
  GstElement* pipeline = make_pipeline(line, input);
  arm(nth, how_many);
  const Ending ending = play_input(pipeline, input);
  const bool has_failed = disarm() > 0;
  if (!ending.error.empty()) check_no_space(ending, what.c_str());
  fail_unless(has_failed || ending.error.empty(), "%s: '%s' though all went well", what.c_str(),
              ending.error.c_str());
  const bool is_vital = !is_cuda() || (nth == 1 && how_many > 1);
  fail_if(has_failed && is_vital && ending.error.empty(), "%s: went through", what.c_str());
  check_all_given_back(before, what);

  const Ending again = play_input(pipeline, input);
  fail_unless(again.error.empty(), "%s, and then: %s", what.c_str(), again.error.c_str());
  gst_object_unref(pipeline);
  check_all_given_back(before, what);
  return !has_failed;
}

void run_all(const std::string& line, const Input& input) {
  for (const int how_many : {1, INT_MAX}) {
    int nth = 1;
    while (!run_one(line, input, nth, how_many)) {
      nth += quick() && nth > 3 ? 3 : 1;
      fail_unless(nth < 200, "%s has no end", line.c_str());
    }
    fail_unless(nth > 1, "%s makes no large allocation", line.c_str());
  }
}

// An element of ours, and its variants.
std::string ours(const char* factory, const std::string& properties) {
  return std::string(factory) + " name=our backend=" + backend() + " " + properties;
}

void run_transform(const char* factory, const Input& input) {
  run_all(ours(factory, "n-threads=1"), input);
  run_all("queue ! " + ours(factory, "n-threads=4 async-depth=4") + " ! queue", input);
}

CHECK_TEST(test_frames_to_coefficients) { run_transform("cudadct8x8", raw_frames()); }

CHECK_TEST(test_coefficients_to_frames) {
  run_transform("cudaidct8x8", qcoefs(kWidth, kHeight, false));
}

CHECK_TEST(test_both) {
  run_all("cudadct8x8 name=our1 backend=" + std::string(backend()) +
              " ! cudaidct8x8 name=our2 backend=" + backend(),
          raw_frames());
}

CHECK_TEST(test_keep_reference) {
  const std::string line =
      "cudadct8x8 name=our1 keep-reference=true backend=" + std::string(backend()) +
      " ! video/x-dct ! cudaidct8x8 name=our2 " + "measure=psnr backend=" + backend();
  run_all(line, raw_frames());
  run_all(line, pooled_frames());
}

CHECK_TEST(test_wavelets) {
  run_transform("cudadwt", raw_frames());
  const std::string line =
      "cudadwt name=our1 keep-reference=true quant-index=9 backend=" + std::string(backend()) +
      " ! cudaidwt name=our2 measure=psnr backend=" + backend();
  run_all(line, raw_frames());
}

CHECK_TEST(test_files_to_coefficients) {
  const Input input = files();
  run_all(ours("jpegcoefdec", "n-threads=1"), input);
  run_all("queue ! " + ours("jpegcoefdec", "n-threads=4") + " ! queue", input);
}

CHECK_TEST(test_coefficients_to_files) {
  // Large enough for files of more than a mebibyte.
  const Input input = qcoefs(1544, 1208, true);
  run_all(ours("jpegcoefenc", "n-threads=1"), input);
  run_all("queue ! " + ours("jpegcoefenc", "n-threads=4") + " ! queue", input);
  run_all(ours("jpegcoefenc", "n-threads=1"), qcoefs(1544, 1208, true, false, 12));
}

// Through device memory, where there is one.
CHECK_TEST(test_files_to_files) {
  run_all("jpegcoefdec name=our1 backend=" + std::string(backend()) +
              " ! jpegcoefenc name=our2 backend=" + backend(),
          files());
}

// GStreamer would merge them.
CHECK_TEST(test_buffers_of_several_memories) {
  run_all(ours("cudadct8x8", ""), raw_frames(true));
  run_all(ours("cudaidct8x8", ""), qcoefs(kWidth, kHeight, false, true));
  run_all(ours("jpegcoefdec", ""), files(true));
  run_all(ours("jpegcoefenc", ""), qcoefs(kWidth, kHeight, false, true));
}

// A source that takes the pool proposed to it: a failure there is the source's own, but does not
// end the process.
CHECK_TEST(test_proposed_pools) {
  const Input frames = raw_frames(), coefficients = qcoefs(kWidth, kHeight, false);
  for (const bool forward : {true, false}) {
    const Input& input = forward ? frames : coefficients;
    const std::string line = ours(forward ? "cudadct8x8" : "cudaidct8x8", "");
    for (int nth = 1; nth < 3; nth++) {
      g_autoptr(GstElement) pipeline = make_pipeline(line, input, true);
      arm(nth, INT_MAX);
      const Ending ending = play_input(pipeline, input);
      fail_unless(disarm() > 0, "allocation %d was never made", nth);
      fail_if(ending.error.empty(), "allocation %d: went through", nth);
      const Ending again = play_input(pipeline, input);
      fail_unless(again.error.empty(), "allocation %d: %s", nth, again.error.c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!find_allocator()) return testing::skip("the allocator that fails is not preloaded");
  return testing::run(argc, argv);
}
