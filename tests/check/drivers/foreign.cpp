// Buffers in CUDA memory of another context than the element's, on its device and on another one:
// the same bytes come out, and buffers that the device cannot copy take a detour.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the shim driver (shimcuda/), with a GPU or the fake driver behind it. The latter's kernels
// write nothing: there, bytes are compared only where none ran.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/drivers/shimdriver.h"
#include "tests/check/frames.h"

namespace {

using namespace testing;

struct Case {
  const char* name;
  const char* make;  // the buffer, on device 0
  const char* use;   // the element of another harness, and so of another context
  bool computes;     // the bytes are a kernel's
  bool warns;        // of the detour; elements that copy through system memory anyway do not
};

#define TO_CUDA_DCT "cudadct8x8 backend=cuda ! capsfilter caps=video/x-dct(memory:CUDAMemory)"
#define FROM_FILE \
  "jpegcoefdec backend=cuda n-threads=1 ! capsfilter caps=video/x-dct(memory:CUDAMemory)"

constexpr Case kCases[] = {
    {"frames to cudadct8x8",
     "cudadct8x8 backend=cuda ! cudaidct8x8 backend=cuda ! "
     "capsfilter caps=video/x-raw(memory:CUDAMemory)",
     "cudadct8x8 backend=cuda ! capsfilter caps=video/x-dct", true, true},
    {"coefficients to cudaidct8x8", TO_CUDA_DCT,
     "cudaidct8x8 backend=cuda ! capsfilter caps=video/x-raw", true, true},
    {"coefficients with their source to cudaidct8x8",
     "cudadct8x8 backend=cuda keep-reference=true ! "
     "capsfilter caps=video/x-dct(memory:CUDAMemory)",
     "cudaidct8x8 backend=cuda measure=psnr ! capsfilter caps=video/x-raw", true, true},
    {"frames to cudadwt",
     "cudadct8x8 backend=cuda ! cudaidct8x8 backend=cuda ! "
     "capsfilter caps=video/x-raw(memory:CUDAMemory)",
     "cudadwt backend=cuda ! capsfilter caps=video/x-dwt", true, true},
    {"wavelet coefficients with their source to cudaidwt",
     "cudadwt backend=cuda keep-reference=true quant-index=12 ! "
     "capsfilter caps=video/x-dwt(memory:CUDAMemory)",
     "cudaidwt backend=cuda measure=psnr ! capsfilter caps=video/x-raw", true, true},
    {"coefficients of files to jpegcoefenc", FROM_FILE, "jpegcoefenc backend=cuda n-threads=1",
     false, false},
};

struct Bytes {
  std::vector<guint8> bytes;
  int warnings = 0;
};

// Sets the device of every backend=cuda.
std::string on_device(std::string line, int device) {
  const std::string engine = "backend=cuda", chosen = " cuda-device-id=" + std::to_string(device);
  for (size_t at = 0; (at = line.find(engine, at)) != std::string::npos; at += engine.size())
    line.insert(at + engine.size(), chosen);
  return line;
}

GstBuffer* one_file(const GstVideoInfo& info) {
  g_autoptr(GstHarness) h =
      harness_of("cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu n-threads=1", info);
  fail_unless_equals_int(gst_harness_push(h, make_frame(info)), GST_FLOW_OK);
  return gst_harness_pull(h);
}

// The first harness, kept alive while its buffers are used.
GstHarness* make_buffer(const Case& one, GstBuffer** buffer) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* h = gst_harness_new_parse(on_device(one.make, 0).c_str());
  const bool file = g_str_has_prefix(one.make, "jpeg");
  gst_harness_set_src_caps(
      h, file ? gst_caps_from_string("image/jpeg,framerate=25/1,parsed=true") : video_caps(info));
  fail_unless_equals_int(gst_harness_push(h, file ? one_file(info) : make_frame(info)),
                         GST_FLOW_OK);
  *buffer = gst_harness_pull(h);
  return h;
}

// The output for `buffer` on a device; `detour`: the copy on the device fails.
Bytes use_buffer(const Case& one, GstBuffer* buffer, GstCaps* caps, int device, bool detour) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(on_device(one.use, device).c_str());
  const Messages bus(h->element);
  gst_harness_set_src_caps(h, gst_caps_ref(caps));
  Bytes result;
  // Twice: the warning about the detour comes once.
  for (int i = 0; i < 2; i++) {
    constexpr int kPeerAccessUnsupported = 217;
    if (detour) shim().inject("cuMemcpy3DPeerAsync", 0, kPeerAccessUnsupported, kShimcudaOnce);
    fail_unless(gst_harness_push(h, gst_buffer_ref(buffer)) == GST_FLOW_OK, "%s", one.name);
    if (detour) shim().inject(nullptr, 0, 0, kShimcudaOnce);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    result.bytes = bytes_of(out);
  }
  for (const Report& warning : take_messages(bus, GST_MESSAGE_WARNING)) {
    fail_unless(warning.domain == GST_RESOURCE_ERROR && warning.code == GST_RESOURCE_ERROR_SETTINGS,
                "%s", warning.text.c_str());
    result.warnings++;
  }
  return result;
}

// The same in the buffer's own context: the second element after the first.
Bytes expected_of(const Case& one) {
  const Case whole = {one.name, nullptr, nullptr, one.computes, false};
  const std::string line = std::string(one.make) + " ! " + one.use;
  Case together = whole;
  together.make = line.c_str();
  g_autoptr(GstBuffer) buffer = nullptr;
  g_autoptr(GstHarness) h = make_buffer(together, &buffer);
  Bytes result = {bytes_of(buffer), 0};
  return result;
}

int device_count() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  return count(&devices) == 0 ? devices : 0;
}

CHECK_LOOP_TEST(test_foreign_contexts, 0, G_N_ELEMENTS(kCases)) {
  const Case& one = kCases[__i__];
  if (strstr(one.make, "jpeg") && require_element_or_skip("jpegcoefdec") != 0) return;
  const bool comparable = !one.computes || !is_fake_behind_shim();
  const Bytes expected = expected_of(one);
  GstBuffer* buffer = nullptr;
  GstHarness* h = make_buffer(one, &buffer);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  const int devices = device_count();
  if (devices < 2) std::printf("%s: one device only\n", one.name);
  for (int device = 0; device < MIN(devices, 2); device++)
    for (const bool detour : {false, true}) {
      if (detour && !one.warns) continue;
      const Bytes found = use_buffer(one, buffer, caps, device, detour);
      // Devices that cannot reach each other make the detour by themselves.
      if (detour || device == 0) fail_unless_equals_int(found.warnings, detour ? 1 : 0);
      fail_unless_equals_uint64(found.bytes.size(), expected.bytes.size());
      if (comparable)
        fail_unless(found.bytes == expected.bytes, "%s, device %d%s: other bytes", one.name, device,
                    detour ? ", through system memory" : "");
    }
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
  check_nothing_is_left(one.name);
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::require_shim_or_skip()) return status;
  return testing::run(argc, argv);
}
