// Buffers of another context and of another device, on a driver without a GPU: which copies the
// elements make between contexts, the bytes that arrive, and the warnings.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/drivers/cudaframes.h"
#include "tests/check/drivers/fakedriver.h"

namespace {

using namespace testing;  // the helpers are half of every line here

// How devices reach each other (FAKECUDA_PEER), and the warning for the user.
struct Reach {
  const char* name;
  bool copied_by_driver;
  const char* warning;  // a part of it; null: none
};
constexpr Reach kReaches[] = {
    {"yes", true, nullptr},
    {"no", true, "CUDA device 1 cannot access device 0"},
    {"fails", false, "CUDA device 1 cannot access device 0"},
};

void check_warning(GstBus* bus, const char* expected, const char* what) {
  const std::string warning = take_warning(bus);
  if (expected == nullptr)
    fail_unless(warning.empty(), "%s: %s", what, warning.c_str());
  else
    fail_unless(warning.find(expected) != std::string::npos, "%s: %s", what, warning.c_str());
}

struct Element {
  GstHarness* harness;
  Messages bus;

  explicit Element(const std::string& line, GstCudaContext* context = nullptr)
      : harness(gst_harness_new_parse(line.c_str())), bus(harness->element) {
    if (context == nullptr) return;
    // A harness is PLAYING from the start, and an element looks for its context on the way there.
    gst_element_set_state(harness->element, GST_STATE_NULL);
    set_context(harness->element, context);
    gst_element_set_state(harness->element, GST_STATE_PLAYING);
  }
  ~Element() { gst_harness_teardown(harness); }
};

// Whether the frame that `coefficients` keep has the samples of `frame`.
void check_reference(const GstVideoInfo& info, GstBuffer* coefficients, GstBuffer* frame,
                     const char* what) {
  const GstCoefReferenceMeta* meta = gst_buffer_get_coef_reference_meta(coefficients);
  fail_unless(meta != nullptr);
  GstVideoInfo kept = meta->info;
  GstVideoFrame from;
  fail_unless(gst_video_frame_map(&from, &kept, meta->source, GST_MAP_READ));
  g_autoptr(GstBuffer) copy = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstVideoFrame to;
  GstVideoInfo packed = info;
  fail_unless(gst_video_frame_map(&to, &packed, copy, GST_MAP_WRITE));
  fail_unless(gst_video_frame_copy(&to, &from));
  gst_video_frame_unmap(&to);
  gst_video_frame_unmap(&from);
  fail_unless(largest_difference(info, frame, copy) == 0, "%s: other samples", what);
}

// Pushes `frame`, in CUDA memory of `context`, and compares the samples that the engine has read.
void push_and_check(Element* element, GstCudaContext* context, GstVideoFormat format,
                    const char* what) {
  const GstVideoInfo info = video_info(format, 64, 48);
  g_autoptr(GstBuffer) frame = make_frame(info);
  gst_harness_set_src_caps(element->harness, cuda_video_caps(info));
  for (int i = 0; i < 3; i++) {
    g_autoptr(GstBuffer) coefficients = passed(element->harness, to_cuda(context, info, frame));
    check_reference(info, coefficients, frame, what);
  }
}

constexpr char kForward[] = "cudadct8x8 backend=cuda keep-reference=true cuda-device-id=";
constexpr char kWavelets[] = "cudadwt backend=cuda keep-reference=true cuda-device-id=";

void frames_of_another_device(const char* forward) {
  for (const Reach& reach : kReaches) {
    g_setenv("FAKECUDA_PEER", reach.name, TRUE);
    GstCudaContext* context = new_context(0);
    {
      Element element(forward + std::string("1"));
      const int before = counts().peer_copies;
      push_and_check(&element, context, GST_VIDEO_FORMAT_I420, reach.name);
      push_and_check(&element, context, GST_VIDEO_FORMAT_NV12, reach.name);
      // A copy for each plane.
      fail_unless_equals_int(counts().peer_copies - before,
                             reach.copied_by_driver ? 3 * 3 + 3 * 2 : 0);
      check_warning(element.bus, reach.warning, reach.name);
    }
    gst_object_unref(context);
  }
  g_unsetenv("FAKECUDA_PEER");
}

CHECK_TEST(test_frames_of_another_device) {
  for (const char* forward : {kForward, kWavelets}) frames_of_another_device(forward);
}

// Contexts of one device have separate address spaces, too; but nothing is slow.
CHECK_TEST(test_frames_of_another_context) {
  GstCudaContext* context = new_context(0);
  {
    Element element(kForward + std::string("0"));
    const int before = counts().peer_copies;
    push_and_check(&element, context, GST_VIDEO_FORMAT_I420, "another context");
    fail_unless_equals_int(counts().peer_copies - before, 3 * 3);
    check_warning(element.bus, nullptr, "another context");
  }
  gst_object_unref(context);
}

// An application that hands its own context to every pipeline wraps it every time.
CHECK_TEST(test_context_wrapped_twice) {
  GstCudaContext* context = new_context(0);
  GstCudaContext* again =
      gst_cuda_context_new_wrapped(static_cast<CUcontext>(gst_cuda_context_get_handle(context)), 0);
  {
    Element element(kForward + std::string("0"), again);
    const int before = counts().peer_copies;
    push_and_check(&element, context, GST_VIDEO_FORMAT_I420, "wrapped twice");
    fail_unless_equals_int(counts().peer_copies - before, 0);
  }
  gst_object_unref(again);
  gst_object_unref(context);
}

// Coefficients from one device to the next, in a pipeline that shares all contexts that it can.
void coefficients_of_another_device(const std::string& forward, const std::string& inverse) {
  for (const Reach& reach : kReaches) {
    g_setenv("FAKECUDA_PEER", reach.name, TRUE);
    {
      Element element((forward + "(memory:CUDAMemory) ! queue ! " + inverse +
                       " backend=cuda cuda-device-id=1 ! video/x-raw ! queue")
                          .c_str());
      const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 67, 45);
      gst_harness_set_src_caps(element.harness, video_caps(info));
      const int before = counts().peer_copies;
      for (int i = 0; i < 10; i++) {
        gst_buffer_unref(passed(element.harness, make_frame(info)));
      }
      fail_unless_equals_int(counts().peer_copies - before, reach.copied_by_driver ? 10 * 3 : 0);
      fail_unless_equals_int(counts().contexts, 2);
      check_warning(element.bus, reach.warning, reach.name);
    }
  }
  g_unsetenv("FAKECUDA_PEER");
}

CHECK_TEST(test_coefficients_of_another_device) {
  coefficients_of_another_device("cudadct8x8 backend=cuda cuda-device-id=0 ! video/x-dct",
                                 "cudaidct8x8");
  coefficients_of_another_device("cudadwt backend=cuda cuda-device-id=0 ! video/x-dwt", "cudaidwt");
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::enter_mode("ok")) return status;
  g_setenv("FAKECUDA_DEVICES", "2", TRUE);
  return testing::run(argc, argv);
}
