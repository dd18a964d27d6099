// Raw frames and coefficient buffers for the element tests, and how far two frames are apart.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/frames.h"

#include <cmath>
#include <cstring>

#include "tests/check/testing.h"

namespace testing {

const char* backend() {
  const char* set = g_getenv("CUDATRANSFORM_TEST_BACKEND");
  return set != nullptr ? set : "cpu";
}

bool is_cuda() { return std::strcmp(backend(), "cuda") == 0; }

std::string forward(const std::string& properties) {
  return std::string("cudadct8x8 backend=") + backend() + " " + properties;
}

std::string inverse(const std::string& properties) {
  return std::string("cudaidct8x8 backend=") + backend() + " " + properties;
}

std::string forward_dwt(const std::string& properties) {
  return std::string("cudadwt backend=") + backend() + " " + properties;
}

std::string inverse_dwt(const std::string& properties) {
  return std::string("cudaidwt backend=") + backend() + " " + properties;
}

GstVideoInfo video_info(GstVideoFormat format, int width, int height) {
  GstVideoInfo info;
  fail_unless(gst_video_info_set_format(&info, format, static_cast<guint>(width),
                                        static_cast<guint>(height)));
  info.fps_n = 25;
  info.fps_d = 1;
  return info;
}

GstCaps* video_caps(const GstVideoInfo& info) {
  GstVideoInfo copy = info;
  return gst_video_info_to_caps(&copy);
}

GstVideoInfo output_info(GstHarness* h) {
  g_autoptr(GstCaps) caps = current_caps(h);
  GstVideoInfo info;
  fail_unless(gst_video_info_from_caps(&info, caps));
  return info;
}

GstHarness* harness_of(const std::string& line, const GstVideoInfo& info) {
  GstHarness* h = gst_harness_new_parse(line.c_str());
  gst_harness_set_src_caps(h, video_caps(info));
  return h;
}

namespace {

guint32 next_random(guint32* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

struct Component {
  guint8* data;
  int stride, pstride, width, height, depth, shift;

  Component(const GstVideoFrame& frame, int c)
      : data(GST_VIDEO_FRAME_COMP_DATA(&frame, c)),
        stride(GST_VIDEO_FRAME_COMP_STRIDE(&frame, c)),
        pstride(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)),
        width(GST_VIDEO_FRAME_COMP_WIDTH(&frame, c)),
        height(GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c)),
        depth(GST_VIDEO_FRAME_COMP_DEPTH(&frame, c)),
        shift(static_cast<int>(GST_VIDEO_FORMAT_INFO_SHIFT(frame.info.finfo, c))) {
    // GStreamer's offset of P010's V is 1 byte after U; it is one sample, 2 bytes.
    if (depth > 8 && GST_VIDEO_FRAME_COMP_POFFSET(&frame, c) == 1) data++;
  }

  // Byte by byte: a test may place samples of two bytes at odd addresses.
  guint8* at(int x, int y) const { return data + y * stride + x * pstride; }
  int get(int x, int y) const {
    const guint8* sample = at(x, y);
    return depth > 8 ? (sample[0] | sample[1] << 8) >> shift : *sample;
  }
  void set(int x, int y, int value) const {
    guint8* sample = at(x, y);
    if (depth > 8) sample[1] = static_cast<guint8>(value << shift >> 8);
    sample[0] = static_cast<guint8>(depth > 8 ? value << shift : value);
  }
};

}  // namespace

GstBuffer* make_frame(const GstVideoInfo& info, guint seed) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gst_buffer_memset(buffer, 0, 0xa5, info.size);
  GstVideoFrame frame;
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE));
  guint32 random = seed * 2654435761u;
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); c++) {
    const Component plane(frame, c);
    const double peak = (1 << plane.depth) - 1;
    for (int y = 0; y < plane.height; y++) {
      for (int x = 0; x < plane.width; x++) {
        double value = 0.5 + 0.25 * std::sin(0.11 * (x + 3 * c) + 0.07 * y + seed) +
                       0.15 * std::cos(0.23 * y - 0.05 * x);
        if ((x / 11 + y / 7 + static_cast<int>(seed)) % 5 == 0) value += 0.2;
        value += (next_random(&random) % 1000 / 1000.0 - 0.5) * 0.04;
        plane.set(x, y, static_cast<int>(CLAMP(value, 0.0, 1.0) * peak));
      }
    }
  }
  gst_video_frame_unmap(&frame);
  return buffer;
}

void visit_samples(const GstVideoInfo& info, GstBuffer* a, GstBuffer* b, VisitSamples visit,
                   gpointer user_data) {
  GstVideoFrame frame_a, frame_b;
  fail_unless(gst_video_frame_map(&frame_a, &info, a, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&frame_b, &info, b, GST_MAP_READ));
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); c++) {
    const Component plane_a(frame_a, c), plane_b(frame_b, c);
    for (int y = 0; y < plane_a.height; y++)
      for (int x = 0; x < plane_a.width; x++)
        visit(c, plane_a.get(x, y), plane_b.get(x, y), user_data);
  }
  gst_video_frame_unmap(&frame_a);
  gst_video_frame_unmap(&frame_b);
}

int largest_difference(const GstVideoInfo& info, GstBuffer* a, GstBuffer* b) {
  int largest = 0;
  visit_samples(
      info, a, b,
      [](int, int x, int y, gpointer data) {
        int* max = static_cast<int*>(data);
        *max = MAX(*max, ABS(x - y));
      },
      &largest);
  return largest;
}

std::vector<double> mean_squared_errors(const GstVideoInfo& info, GstBuffer* a, GstBuffer* b) {
  struct Sums {
    double squares[4] = {};
    double samples[4] = {};
  } sums;
  visit_samples(
      info, a, b,
      [](int c, int x, int y, gpointer data) {
        auto* s = static_cast<Sums*>(data);
        for (int i : {c, 3}) {
          s->squares[i] += static_cast<double>(x - y) * (x - y);
          s->samples[i]++;
        }
      },
      &sums);
  std::vector<double> errors(4, -1);
  for (int i = 0; i < 4; i++)
    if (sums.samples[i] > 0) errors[static_cast<size_t>(i)] = sums.squares[i] / sums.samples[i];
  return errors;
}

void copy_frame(const GstVideoInfo& info, GstBuffer* from, GstBuffer* to) {
  GstVideoFrame source, target;
  fail_unless(gst_video_frame_map(&source, &info, from, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&target, &info, to, GST_MAP_WRITE));
  fail_unless(gst_video_frame_copy(&target, &source));
  gst_video_frame_unmap(&target);
  gst_video_frame_unmap(&source);
}

guint64 hash_of_frame(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  GstVideoFrame frame;
  fail_unless(gst_video_info_from_caps(&info, caps));
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  guint64 hash = static_cast<guint64>(info.width) * 131071 + static_cast<guint64>(info.height);
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++) {
    const int bytes =
        GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); y++) {
      const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        gsize(y) * static_cast<gsize>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p));
      for (int x = 0; x < bytes; x++) hash = (hash ^ row[x]) * 0x100000001b3;
    }
  }
  gst_video_frame_unmap(&frame);
  return hash;
}

GstCaps* with_field(const char* caps, const char* field, const char* value) {
  GstCaps* changed = gst_caps_from_string(caps);
  gst_structure_remove_field(gst_caps_get_structure(changed, 0), field);
  if (*value != '\0') {
    // A structure of any name: the field alone.
    const std::string text = std::string("x,") + field + "=" + value;
    g_autoptr(GstStructure) parsed = gst_structure_from_string(text.c_str(), nullptr);
    fail_unless(parsed != nullptr, "%s", text.c_str());
    gst_caps_set_value(changed, field, gst_structure_get_value(parsed, field));
  }
  return changed;
}

void fill_wildly(GstBuffer* buffer, int pattern) {
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size / 2; i++) {
    const gint16 value = pattern == 0   ? G_MAXINT16
                         : pattern == 1 ? G_MININT16
                         : pattern == 2 ? (i % 2 ? G_MAXINT16 : G_MININT16)
                                        : static_cast<gint16>(i * 40503u);
    GST_WRITE_UINT16_LE(map.data + 2 * i, value);
  }
  gst_buffer_unmap(buffer, &map);
}

bool refuses_caps(const std::string& element, GstCaps* caps) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(element.c_str());
  gst_harness_play(h);
  g_autoptr(GstPad) pad = gst_pad_get_peer(h->srcpad);
  const bool accepted = gst_pad_query_accept_caps(pad, caps);
  gst_pad_send_event(pad, gst_event_new_stream_start("caps"));
  const bool taken = gst_pad_send_event(pad, gst_event_new_caps(caps));
  gst_caps_unref(caps);
  return !accepted && !taken;
}

bool lists_meta(GstHarness* h, GstCaps* caps, GType api) {
  g_autoptr(GstQuery) query = gst_query_new_allocation(caps, TRUE);
  gst_caps_unref(caps);
  guint index = 0;
  const GstStructure* parameters = nullptr;
  const bool listed =
      gst_pad_peer_query(h->srcpad, query) && gst_query_find_allocation_meta(query, api, &index);
  if (listed) gst_query_parse_nth_allocation_meta(query, index, &parameters);
  return listed && parameters == nullptr;
}

GstBuffer* acquire(GstBufferPool* pool) {
  GstBuffer* buffer = nullptr;
  fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  return buffer;
}

void free_pool(GstBufferPool* pool) {
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
}

std::vector<guint8> bytes_of(GstBuffer* buffer) {
  std::vector<guint8> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

double value_of_half(guint16 half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double magnitude = exponent == 31  ? INFINITY
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

double coefficient_at(const GstDctInfo& info, GstBuffer* buffer, const std::vector<guint8>& bytes,
                      guint component, guint bx, guint by, guint u, guint v) {
  static const std::vector<guint> zigzag_of = [] {
    std::vector<guint> table(64);
    guint k = 0;
    for (int d = 0; d < 15; d++)
      for (int i = 0; i <= d; i++) {
        const int x = d % 2 ? d - i : i, y = d - x;
        if (x < 8 && y < 8) table[static_cast<size_t>(8 * y + x)] = k++;
      }
    return table;
  }();
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  const GstDctComponent& c = meta ? meta->components[component] : info.components[component];
  const gsize size = gst_coef_format_size(info.format);
  gsize at = c.offset;
  if (info.layout == GST_DCT_LAYOUT_PLANE) {
    at += (8 * by + v) * c.stride + (8 * bx + u) * size;
  } else if (info.layout == GST_DCT_LAYOUT_BAND) {
    at += (zigzag_of[8 * v + u] * c.blocks_h + by) * c.stride + bx * size;
  } else {
    const guint natural = 8 * v + u;
    const guint index = info.order == GST_DCT_ORDER_ZIGZAG ? zigzag_of[natural] : natural;
    at += by * c.stride + (64 * bx + index) * size;
  }
  fail_unless(at + size <= bytes.size());
  const guint8* data = bytes.data() + at;
  if (info.format == GST_COEF_FORMAT_S16LE) return static_cast<gint16>(GST_READ_UINT16_LE(data));
  if (info.format == GST_COEF_FORMAT_S32LE) return static_cast<gint32>(GST_READ_UINT32_LE(data));
  if (info.format == GST_COEF_FORMAT_F16LE) return value_of_half(GST_READ_UINT16_LE(data));
  return GST_READ_FLOAT_LE(data);
}

std::string push_one(const std::string& element, GstCaps* caps, GstBuffer* buffer) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(element.c_str());
  const Messages bus(h->element);
  gst_harness_set_src_caps(h, caps);
  const GstFlowReturn flow = gst_harness_push(h, buffer);
  const std::string text = take_text(bus, GST_MESSAGE_ERROR);
  fail_unless_equals_int(flow == GST_FLOW_OK, text.empty());
  return text;
}

void expect(const std::string& text, std::initializer_list<const char*> named) {
  fail_if(text.empty(), "accepted");
  for (const char* name : named)
    fail_unless(text.find(name) != std::string::npos, "expected '%s' in '%s'", name, text.c_str());
}

}  // namespace testing
