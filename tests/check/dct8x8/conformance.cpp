// Small and large coefficients through cudaidct8x8, by every method: every sample is
// clamp(engine + 128, 0, 255), where the engine writes signed samples directly.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The conformance tests judge the engine against the standard; this one verifies that the element
// outputs the engine's numbers.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"
#include "transform/dct8x8/dct8x8.h"
#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/dct8x8/engine.h"
#include "cuda/device/cuda_device.h"
#endif

namespace {

using namespace testing;

using cudatransform::CoefType;
using cudatransform::Copy2D;
using cudatransform::Dct8x8Job;
using cudatransform::Dct8x8Ops;
using cudatransform::Device;
using cudatransform::Direction;
using cudatransform::FencePtr;
using cudatransform::Memory;
using cudatransform::MemoryKind;
using cudatransform::Method;
using cudatransform::Queue;
using cudatransform::QueueKind;
using cudatransform::SampleType;
using cudatransform::Status;

constexpr int kBlocksW = 100, kBlocksH = 100;
constexpr int kWidth = 8 * kBlocksW, kHeight = 8 * kBlocksH;

std::vector<gint32> make_coefficients(int largest) {
  std::mt19937 random(1);
  std::vector<gint32> all(kWidth * kHeight);
  for (gint32& one : all) one = static_cast<gint32>(random() % (2 * largest + 1)) - largest;
  return all;
}

std::unique_ptr<Device> make_device(const Dct8x8Ops** ops) {
#if CT_HAVE_CUDA
  if (is_cuda()) {
    std::unique_ptr<Device> device;
    const Status status = cudatransform::make_primary_cuda_device(0, &device);
    fail_unless(status.ok(), "%s", status.message.c_str());
    *ops = &cudatransform::cuda_dct8x8_ops();
    return device;
  }
#endif
  *ops = &cudatransform::host_dct8x8_ops();
  return cudatransform::make_host_device(0);
}

void check(const Status& status) { fail_unless(status.ok(), "%s", status.message.c_str()); }

Copy2D rows_of(void* to, const void* from, size_t bytes, size_t rows) {
  Copy2D copy;
  copy.dst = to;
  copy.src = from;
  copy.dst_pitch = copy.src_pitch = static_cast<ptrdiff_t>(bytes);
  copy.row_bytes = bytes;
  copy.rows = rows;
  return copy;
}

// The engine's output for the coefficients, as signed samples without level shift or clamp.
std::vector<gint16> engine_samples(const std::vector<gint32>& coefficients, Method method) {
  const Dct8x8Ops* ops = nullptr;
  const std::unique_ptr<Device> device = make_device(&ops);
  Queue& queue = device->queue(QueueKind::kCompute);
  const size_t coef_row = kBlocksW * 64 * 4, sample_row = kWidth * 2;
  std::unique_ptr<Memory> coefs, samples;
  check(device->allocate(MemoryKind::kDevice, coef_row * kBlocksH, &coefs));
  check(device->allocate(MemoryKind::kDevice, sample_row * kHeight, &samples));
  check(device->upload(queue, rows_of(coefs->data(), coefficients.data(), coef_row, kBlocksH)));
  Dct8x8Job job;
  job.direction = Direction::kInverse;
  job.method = method;
  job.type = CoefType::kS32;
  job.quantized = false;
  job.components = 1;
  job.samples[0].data = samples->data();
  job.samples[0].pitch = static_cast<ptrdiff_t>(sample_row);
  job.samples[0].width = kWidth;
  job.samples[0].height = kHeight;
  job.samples[0].stride = 2;
  job.samples[0].type = SampleType::kS16;
  job.coefs[0].data = coefs->data();
  job.coefs[0].pitch = static_cast<ptrdiff_t>(coef_row);
  job.coefs[0].blocks_w = kBlocksW;
  job.coefs[0].blocks_h = kBlocksH;
  FencePtr done;
  check(ops->submit(*device, queue, job, &done));
  check(done->wait());
  std::vector<gint16> result(kWidth * kHeight);
  check(device->download(queue, rows_of(result.data(), samples->data(), sample_row, kHeight)));
  FencePtr copied;
  check(queue.record(&copied));
  check(copied->wait());
  return result;
}

// The element's output.
std::vector<guint8> element_samples(const std::vector<gint32>& coefficients, const char* method) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S32LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, FALSE, 8, GST_COEF_SAMPLING_GRAYSCALE, kWidth,
                               kHeight, nullptr));
  GstBuffer* in = gst_buffer_new_memdup(coefficients.data(), coefficients.size() * 4);
  fail_unless_equals_uint64(info.size, gst_buffer_get_size(in));
  g_autoptr(GstHarness) h =
      new_harness(inverse(std::string("method=") + method) + " ! capsfilter caps=video/x-raw");
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  g_autoptr(GstBuffer) out = passed(h, in);
  const GstVideoInfo raw = video_info(GST_VIDEO_FORMAT_GRAY8, kWidth, kHeight);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &raw, out, GST_MAP_READ));
  std::vector<guint8> result;
  for (int y = 0; y < kHeight; y++) {
    const guint8* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                        y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    result.insert(result.end(), row, row + kWidth);
  }
  gst_video_frame_unmap(&frame);
  return result;
}

struct NamedMethod {
  Method method;
  const char* name;
};
constexpr NamedMethod kMethods[] = {
    {Method::kIslow, "islow"},           {Method::kFloat, "float"},
    {Method::kReference, "reference"},   {Method::kNaive, "naive"},
    {Method::kMatrix, "matrix"},         {Method::kSeparable, "separable"},
    {Method::kDecomposed, "decomposed"}, {Method::kShuffle, "shuffle"},
    {Method::kIfast, "ifast"},
};

constexpr int kLargest[] = {5, 100, 300, 2047};

CHECK_LOOP_TEST(test_element_is_engine, 0, G_N_ELEMENTS(kLargest)) {
  const std::vector<gint32> coefficients = make_coefficients(kLargest[__i__]);
  for (const NamedMethod& m : kMethods) {
    const std::vector<gint16> engine = engine_samples(coefficients, m.method);
    const std::vector<guint8> element = element_samples(coefficients, m.name);
    fail_unless_equals_uint64(engine.size(), element.size());
    int wrong = 0, clamped = 0;
    for (size_t i = 0; i < engine.size(); i++) {
      const int expected = CLAMP(engine[i] + 128, 0, 255);
      wrong += element[i] != expected;
      clamped += engine[i] + 128 != expected;
    }
    fail_unless(wrong == 0, "%s: %d samples of coefficients up to %d", m.name, wrong,
                kLargest[__i__]);
    // Large ones do clamp; without them this would not test the clamp.
    fail_unless((clamped > 0) == (kLargest[__i__] > 5));
  }
}

}  // namespace
