// cudaresize: samples of every format, boxes, crops, negotiated sizes, refusals.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tests/engine judges the arithmetic; here planes must reach it as documented.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"
#include "transform/device/host_device.h"
#include "transform/resize/resize.h"

namespace {

using namespace testing;
using namespace cudatransform;

std::string line_of(const std::string& properties, const std::string& size) {
  return std::string("cudaresize name=resize backend=") + backend() + " " + properties +
         " ! capsfilter name=size caps=video/x-raw," + size;
}

// A box in a frame, and the way of it.
struct Wanted {
  ResizeFilter method = ResizeFilter::kBicubic;
  ResizeBox box;                                 // of the crop, in pixels
  int left = 0, top = 0, width = 0, height = 0;  // the crop
};

// A component's picture: of a packed pixel with alpha, all four.
ResizePicture picture_of(GstVideoFrame* frame, int component, int channels) {
  ResizePicture picture;
  picture.width = GST_VIDEO_FRAME_COMP_WIDTH(frame, component);
  picture.height = GST_VIDEO_FRAME_COMP_HEIGHT(frame, component);
  picture.step = GST_VIDEO_FRAME_COMP_PSTRIDE(frame, component);
  for (int c = 0; c < channels; c++) {
    picture.data[c] = GST_VIDEO_FRAME_COMP_DATA(frame, component + c);
    picture.pitch[c] = GST_VIDEO_FRAME_COMP_STRIDE(frame, component + c);
  }
  return picture;
}

// What a component of `to` shall hold, in order; pixels with alpha together.
void resize_components(GstVideoFrame* from, GstVideoFrame* to, const Wanted& wanted) {
  static const std::unique_ptr<Device> device = make_host_device(1);
  const bool has_alpha = GST_VIDEO_INFO_HAS_ALPHA(&from->info);
  const int channels = has_alpha ? 4 : 1;
  for (int c = 0; c < int(GST_VIDEO_FRAME_N_COMPONENTS(from)); c += channels) {
    ResizeJob job;
    job.channels = channels;
    job.has_alpha = has_alpha;
    job.filter = wanted.method;
    job.from = picture_of(from, c, channels);
    job.to = picture_of(to, c, channels);
    const int x = 1 << GST_VIDEO_FORMAT_INFO_W_SUB(from->info.finfo, c);
    const int y = 1 << GST_VIDEO_FORMAT_INFO_H_SUB(from->info.finfo, c);
    for (int k = 0; k < channels; k++)
      job.from.data[k] = static_cast<guint8*>(job.from.data[k]) +
                         wanted.top / y * job.from.pitch[k] +
                         ptrdiff_t{wanted.left / x} * job.from.step;
    job.from.width = (wanted.width + x - 1) / x;
    job.from.height = (wanted.height + y - 1) / y;
    const double across = double(job.from.width) / wanted.width;
    const double down = double(job.from.height) / wanted.height;
    job.box = {wanted.box.left * across, wanted.box.top * down, wanted.box.right * across,
               wanted.box.bottom * down};
    const Status status = portable_resize_ops().submit(*device, device->queue(QueueKind::kCompute),
                                                       {&job, 1}, nullptr);
    fail_unless(status.ok(), "%s", status.message.c_str());
  }
}

// Checks the frame `out`, of size `info`, against one made of `in`.
void check_frame(const GstVideoInfo& from, GstBuffer* in, const GstVideoInfo& to, GstBuffer* out,
                 Wanted wanted) {
  if (wanted.width == 0) {
    wanted.width = from.width;
    wanted.height = from.height;
  }
  if (wanted.box.right == 0) wanted.box = {0, 0, double(wanted.width), double(wanted.height)};
  g_autoptr(GstBuffer) expected = make_frame(to, 99);
  GstVideoFrame source, target;
  fail_unless(gst_video_frame_map(&source, &from, in, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&target, &to, expected, GST_MAP_READWRITE));
  resize_components(&source, &target, wanted);
  gst_video_frame_unmap(&source);
  gst_video_frame_unmap(&target);
  if (!is_deferred()) fail_unless_equals_int(largest_difference(to, expected, out), 0);
}

constexpr GstVideoFormat kFormats[] = {
    GST_VIDEO_FORMAT_RGB,  GST_VIDEO_FORMAT_BGR,  GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx,
    GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_GRAY8,
    GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_NV12};

struct Method {
  const char* nick;
  ResizeFilter filter;
};
constexpr Method kMethods[] = {
    {"nearest", ResizeFilter::kNearest},   {"box", ResizeFilter::kBox},
    {"bilinear", ResizeFilter::kBilinear}, {"hamming", ResizeFilter::kHamming},
    {"bicubic", ResizeFilter::kBicubic},   {"lanczos", ResizeFilter::kLanczos},
    {"mks2013", ResizeFilter::kMks2013},   {"mks2021", ResizeFilter::kMks2021}};

CHECK_LOOP_TEST(test_formats, 0, G_N_ELEMENTS(kFormats)) {
  const GstVideoInfo from = video_info(kFormats[__i__], 75, 53);
  const GstVideoInfo to = video_info(kFormats[__i__], 31, 40);
  for (const Method& method : kMethods) {
    const bool is_first = method.filter == ResizeFilter::kNearest;
    if (quick() && !is_first && method.filter != ResizeFilter::kBicubic) continue;
    g_autoptr(GstHarness) h =
        harness_of(line_of(std::string("method=") + method.nick, "width=31,height=40"), from);
    g_autoptr(GstBuffer) in = make_frame(from);
    g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
    check_frame(from, in, to, out, {.method = method.filter});
  }
}

// The properties may change from frame to frame, and the box is within the meta's crop.
CHECK_LOOP_TEST(test_boxes, 0, G_N_ELEMENTS(kFormats)) {
  const GstVideoInfo from = video_info(kFormats[__i__], 74, 52);
  const GstVideoInfo to = video_info(kFormats[__i__], 24, 18);
  g_autoptr(GstHarness) h = harness_of(line_of("", "width=24,height=18"), from);
  g_autoptr(GstElement) resize = gst_bin_get_by_name(GST_BIN(h->element), "resize");
  for (const bool cropped : {false, true}) {
    g_object_set(resize, "box-x", 3.5, "box-y", 2.0, "box-width", 30.25, "box-height", 20.5,
                 nullptr);
    GstBuffer* in = make_frame(from);
    Wanted wanted = {.box = {3.5, 2, 33.75, 22.5}};
    if (cropped) {
      GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(in);
      crop->x = static_cast<guint>(wanted.left = 8);
      crop->y = static_cast<guint>(wanted.top = 6);
      crop->width = static_cast<guint>(wanted.width = 50);
      crop->height = static_cast<guint>(wanted.height = 40);
    }
    g_autoptr(GstBuffer) kept = gst_buffer_ref(in);
    g_autoptr(GstBuffer) out = passed(h, in);
    check_frame(from, kept, to, out, wanted);
    fail_unless(gst_buffer_get_video_crop_meta(out) == nullptr);
  }
}

CHECK_TEST(test_equal_frames_pass) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_RGB, 40, 30);
  g_autoptr(GstHarness) h = harness_of(line_of("", "width=40,height=30"), info);
  g_autoptr(GstElement) resize = gst_bin_get_by_name(GST_BIN(h->element), "resize");
  g_autoptr(GstBuffer) in = make_frame(info);
  g_autoptr(GstBuffer) out = passed(h, gst_buffer_ref(in));
  fail_unless(out == in);
  g_object_set(resize, "box-width", 20.0, nullptr);
  g_autoptr(GstBuffer) resized = passed(h, gst_buffer_ref(in));
  fail_unless(resized != in);
  check_frame(info, in, info, resized, {.box = {0, 0, 20, 30}});
}

// As videoscale: shapes stay, by the pixels' if they must.
CHECK_TEST(test_sizes) {
  const struct {
    const char *in, *wanted, *out;
  } cases[] = {
      {"width=640,height=480", "width=320", "width=320,height=240"},
      {"width=640,height=480", "height=120", "width=160,height=120"},
      {"width=640,height=480", "width=[1,100]", "width=100,height=75"},
      {"width=640,height=480", "width=64,height=64", "width=64,height=64"},
      {"width=640,height=480", "format=RGB", "width=640,height=480"},
      {"width=720,height=576,pixel-aspect-ratio=16/15", "width=360,height=576",
       "width=360,height=576,pixel-aspect-ratio=32/15"},
      {"width=720,height=576,pixel-aspect-ratio=16/15", "height=288,pixel-aspect-ratio=1/1",
       "width=384,height=288,pixel-aspect-ratio=1/1"},
  };
  for (const auto& c : cases) {
    g_autoptr(GstHarness) h = new_harness(line_of("", c.wanted));
    const std::string caps = std::string("video/x-raw,format=RGB,framerate=25/1,") + c.in;
    gst_harness_set_src_caps_str(h, caps.c_str());
    GstVideoInfo info;
    g_autoptr(GstCaps) in = gst_caps_from_string(caps.c_str());
    fail_unless(gst_video_info_from_caps(&info, in));
    g_autoptr(GstBuffer) out = passed(h, make_frame(info));
    g_autoptr(GstCaps) negotiated = current_caps(h);
    g_autoptr(GstCaps) expected =
        gst_caps_from_string((std::string("video/x-raw,") + c.out).c_str());
    fail_unless(gst_caps_can_intersect(negotiated, expected), "%s to %s", c.in, c.wanted);
  }
}

struct Borders {
  int in_width, in_height, out_width, out_height;
  const char *in, *out;  // pixel aspect ratios
  int left, top, width, height;
};
constexpr int kHigh = 500;
constexpr Borders kBorders[] = {{80, 60, 40, 40, "1/1", "1/1", 0, 5, 40, 30},
                                {60, 80, 40, 40, "1/1", "1/1", 5, 0, 30, 40},
                                {80, 60, 40, 30, "1/1", "1/1", 0, 0, 40, 30},
                                {77, 31, 53, 47, "1/1", "1/1", 0, 13, 53, 21},
                                {31, 77, 53, 47, "1/1", "1/1", 17, 0, 18, 47},
                                {1, kHigh, 9, 9, "1/1", "1/1", 4, 0, 1, 9},
                                {72, 57, 64, 48, "16/15", "1/1", 0, 0, 64, 47},
                                {64, 48, 72, 57, "1/1", "16/15", 0, 0, 72, 57},
                                {1920, 1080, 64, 64, "1/1", "1/1", 0, 14, 64, 36}};

constexpr guint8 kPlain = 200;

// A frame of one color, so that a border shows.
GstBuffer* plain_frame(const GstVideoInfo& info) {
  GstBuffer* frame = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(frame, 0, kPlain, info.size);
  return frame;
}

GstBuffer* through(const std::string& element, const GstVideoInfo& from, const GstVideoInfo& to,
                   const char* to_pixel) {
  const std::string line =
      element + " ! capsfilter caps=video/x-raw,width=" + std::to_string(to.width) +
      ",height=" + std::to_string(to.height) + ",pixel-aspect-ratio=" + to_pixel;
  g_autoptr(GstHarness) h = harness_of(line, from);
  return passed(h, plain_frame(from));
}

// Whether the first component of a plain frame is plain there, and nowhere else.
void check_place(const GstVideoInfo& info, GstBuffer* buffer, int left, int top, int width,
                 int height) {
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  for (int y = 0; y < info.height; y++) {
    for (int x = 0; x < info.width; x++) {
      const bool inside = x >= left && x < left + width && y >= top && y < top + height;
      const guint8 sample = *(static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, 0)) +
                              y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, 0) +
                              x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0));
      fail_unless((sample == kPlain) == inside, "%s: %d at (%d,%d)", info.finfo->name, sample, x,
                  y);
    }
  }
  gst_video_frame_unmap(&frame);
}

// The places and the colors are videoscale's, but that subsampled chroma begins at even ones.
CHECK_LOOP_TEST(test_borders, 0, G_N_ELEMENTS(kFormats)) {
  g_autoptr(GstElementFactory) videoscale = gst_element_factory_find("videoscale");
  for (const Borders& b : kBorders) {
    GstVideoInfo from = video_info(kFormats[__i__], b.in_width, b.in_height);
    const GstVideoInfo to = video_info(kFormats[__i__], b.out_width, b.out_height);
    fail_unless(sscanf(b.in, "%d/%d", &from.par_n, &from.par_d) == 2);
    const std::string element =
        std::string("cudaresize method=box add-borders=true backend=") + backend();
    g_autoptr(GstBuffer) out = through(element, from, to, b.out);
    if (is_deferred()) continue;
    const int odd_x = GST_VIDEO_FORMAT_INFO_W_SUB(to.finfo, 1) > 0 ? b.left % 2 : 0;
    const int odd_y = GST_VIDEO_FORMAT_INFO_H_SUB(to.finfo, 1) > 0 ? b.top % 2 : 0;
    check_place(to, out, b.left - odd_x, b.top - odd_y, b.width, b.height);
    // Of a width of 0, videoscale writes nothing.
    if (videoscale == nullptr || odd_x + odd_y > 0 || b.in_height == kHigh) continue;
    g_autoptr(GstBuffer) theirs = through("videoscale add-borders=true", from, to, b.out);
    fail_unless_equals_int(largest_difference(to, theirs, out), 0);
  }
}

// The picture between borders is the one without, and a crop's shape is what is kept.
CHECK_TEST(test_borders_of_a_crop) {
  const GstVideoInfo from = video_info(GST_VIDEO_FORMAT_RGB, 80, 60);
  const GstVideoInfo to = video_info(GST_VIDEO_FORMAT_RGB, 20, 30);
  g_autoptr(GstHarness) h =
      harness_of(line_of("add-borders=true", "width=20,height=30,pixel-aspect-ratio=1/1"), from);
  GstBuffer* in = plain_frame(from);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(in);
  crop->width = crop->height = 40;
  g_autoptr(GstBuffer) out = passed(h, in);
  if (!is_deferred()) check_place(to, out, 0, 5, 20, 20);
  g_autoptr(GstElement) resize = gst_bin_get_by_name(GST_BIN(h->element), "resize");
  g_object_set(resize, "add-borders", FALSE, nullptr);
  g_autoptr(GstBuffer) filled = passed(h, plain_frame(from));
  if (!is_deferred()) check_place(to, filled, 0, 0, 20, 30);
}

// The error of a frame that cannot be resized.
std::string error_of_frame(const std::string& properties, const char* caps, GstVideoCropMeta crop) {
  g_autoptr(GstHarness) h = new_harness(line_of(properties, "width=8,height=8"));
  g_autoptr(GstElement) resize = gst_bin_get_by_name(GST_BIN(h->element), "resize");
  const Messages messages(resize);
  gst_harness_set_src_caps_str(h, caps);
  g_autoptr(GstCaps) in = gst_caps_from_string(caps);
  GstVideoInfo info;
  fail_unless(gst_video_info_from_caps(&info, in));
  GstBuffer* frame = make_frame(info);
  if (crop.width > 0) {
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(frame);
    meta->x = crop.x;
    meta->y = crop.y;
    meta->width = crop.width;
    meta->height = crop.height;
  }
  fail_if(gst_harness_push(h, frame) == GST_FLOW_OK);
  return take_text(messages, GST_MESSAGE_ERROR);
}

CHECK_TEST(test_refusals) {
  constexpr const char* kFrames = "video/x-raw,format=RGB,width=40,height=30,framerate=25/1";
  const auto refuses = [](const std::string& properties, const char* caps, const char* reason,
                          GstVideoCropMeta crop = {}) {
    const std::string error = error_of_frame(properties, caps, crop);
    fail_unless(error.find(reason) != std::string::npos, "'%s', expected '%s'", error.c_str(),
                reason);
  };
  refuses("box-x=41", kFrames, "is empty or exceeds the picture");
  refuses("box-x=20 box-width=21", kFrames, "is empty or exceeds the picture");
  refuses("box-x=20 box-width=1e-9", kFrames, "is empty or exceeds the picture");
  refuses("reducing-gap=.5", kFrames, "reducing-gap");
  refuses("", "video/x-raw,format=RGB,width=40,height=30,framerate=25/1,interlace-mode=interleaved",
          "deinterlace");
  GstVideoCropMeta crop = {};
  crop.x = 30;
  crop.width = 11;
  crop.height = 5;
  refuses("", kFrames, "is outside the frame", crop);
}

CHECK_TEST(test_measures_time) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_RGB, 40, 30);
  g_autoptr(GstHarness) h = harness_of(line_of("measure=psnr+time+zeros", "width=20"), info);
  g_autoptr(GstElement) resize = gst_bin_get_by_name(GST_BIN(h->element), "resize");
  g_autoptr(GstBuffer) out = passed(h, make_frame(info));
  gst_harness_push_event(h, gst_event_new_segment_done(GST_FORMAT_TIME, 0));
  gint64 time = -1;
  gdouble psnr = 0;
  g_object_get(resize, "kernel-time", &time, "psnr", &psnr, nullptr);
  fail_unless(time >= 0 && psnr == -1);
}

}  // namespace
