// cudaapvenc in a harness: formats, quantization, tiles, colors, threads, caps, flushes,
// statistics, and what is refused.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tests/apv/frame_encoder_test.cpp compares bytes with a definition of the codec; here units are
// parsed, and decoded by cudaapvdec.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apv/frame.h"
#include "apv/frame_writer.h"
#include "gst/apv/frame_hash.h"
#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"
#include "transform/device/host_device.h"

namespace {

using namespace testing;
using namespace cudatransform;

constexpr const char* kFormats[] = {
    "I422_10LE", "I422_12LE", "Y444_10LE", "Y444_12LE", "GBR_10LE",  "GBR_12LE",
    "A444_10LE", "A444_12LE", "GBRA_10LE", "GBRA_12LE", "GRAY16_LE", "GRAY10_LE16",
    "Y42B",      "Y444",      "GBR",       "A444",      "GBRA",      "GRAY8",
    "Y210",      "Y212_LE",   "NV16",      "YUY2",
};

std::string encoder(const std::string& properties = "") {
  return std::string("cudaapvenc backend=") + backend() + " " + properties;
}

GstVideoInfo info_of(const char* format = "I422_10LE", int width = 70, int height = 50) {
  return video_info(gst_video_format_from_string(format), width, height);
}

GstHarness* open(const std::string& properties, const GstVideoInfo& info) {
  GstHarness* h = harness_of(encoder(properties), info);
  return h;
}

std::vector<Bytes> pull(GstHarness* h) {
  std::vector<Bytes> units;
  while (GstBuffer* buffer = gst_harness_try_pull(h)) {
    units.push_back(bytes_of(buffer));
    gst_buffer_unref(buffer);
  }
  return units;
}

std::vector<Bytes> encode(const std::string& properties, const GstVideoInfo& info, guint count) {
  g_autoptr(GstHarness) h = open(properties, info);
  for (guint i = 0; i < count; i++)
    fail_unless_equals_int(gst_harness_push(h, make_frame(info, i)), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  std::vector<Bytes> units = pull(h);
  fail_unless_equals_int(units.size(), count);
  return units;
}

// A frame's headers, and its metadata.
struct Parsed {
  explicit Parsed(const Bytes& unit) {
    fail_unless(read_apv_access_unit(unit, &access_unit).ok());
    const Status status = frame.begin(access_unit.frame, nullptr, {});
    fail_unless(status.ok(), "%s", status.message.c_str());
  }
  ApvAccessUnit access_unit;
  ApvFrame frame;
};

// What cudaapvdec makes of a unit, in the format that it chooses.
struct Decoded {
  explicit Decoded(const Bytes& unit) {
    g_autoptr(GstHarness) h = new_harness("cudaapvdec backend=cpu n-threads=1");
    gst_harness_set_sink_caps_str(h, "video/x-raw");
    gst_harness_set_src_caps_str(h, "video/x-apv, alignment=(string)au, framerate=(fraction)25/1");
    fail_unless_equals_int(gst_harness_push(h, buffer_of(unit)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    buffer = gst_harness_pull(h);
    caps = current_caps(h);
    fail_unless(gst_video_info_from_caps(&info, caps));
  }
  ~Decoded() {
    gst_buffer_unref(buffer);
    gst_caps_unref(caps);
  }
  Decoded(const Decoded&) = delete;

  GstBuffer* buffer = nullptr;
  GstCaps* caps = nullptr;
  GstVideoInfo info;
};

bool is_known(const char* format) {
  return gst_video_format_from_string(format) != GST_VIDEO_FORMAT_UNKNOWN;
}

// At quantization parameter 0 little is lost.
CHECK_LOOP_TEST(test_formats, 0, G_N_ELEMENTS(kFormats)) {
  const char* format = kFormats[__i__];
  if (!is_known(format)) return;
  const GstVideoInfo info = info_of(format, 72, 50);
  const Bytes unit = encode("qp=0", info, 1)[0];
  const Parsed parsed(unit);
  fail_unless_equals_int(parsed.frame.info().width, 72);
  fail_unless_equals_int(parsed.frame.info().height, 50);
  const Decoded decoded(unit);
  if (GST_VIDEO_INFO_FORMAT(&decoded.info) != GST_VIDEO_INFO_FORMAT(&info)) return;
  g_autoptr(GstBuffer) source = make_frame(info, 0);
  // GRAY16_LE has ten bits of sixteen.
  const int limit = strcmp(format, "GRAY16_LE") == 0 ? 256 : strstr(format, "12") ? 12 : 4;
  const int difference = largest_difference(info, source, decoded.buffer);
  fail_unless(difference <= limit, "%s: %d", format, difference);
}

// A format of interleaved components, the planar one, and where samples lie: the bytes before the
// first of each component in its plane, and the bits below each.
struct Interleaved {
  const char *format, *planar;
  int offset[3], shift;
};

GstBuffer* interleave(const Interleaved& to, GstBuffer* planes, int width, int height) {
  const GstVideoInfo planar = info_of(to.planar, width, height);
  const GstVideoInfo info = info_of(to.format, width, height);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
  GstVideoFrame from, frame;
  fail_unless(gst_video_frame_map(&from, &planar, planes, GST_MAP_READ));
  fail_unless(gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < 3; c++) {
    const int depth = GST_VIDEO_INFO_COMP_DEPTH(&planar, c), peak = (1 << depth) - 1;
    const gsize bytes = depth > 8 ? 2 : 1;
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&from, c); y++) {
      const auto* source = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&from, c)) +
                           y * GST_VIDEO_FRAME_PLANE_STRIDE(&from, c);
      const int plane = GST_VIDEO_FRAME_COMP_PLANE(&frame, c);
      auto* at = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
                 y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane) + to.offset[c];
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&from, c); x++, source += bytes) {
        guint16 sample = 0;
        memcpy(&sample, source, bytes);
        sample = guint16(std::min(int(sample), peak) << to.shift);
        memcpy(at + x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c), &sample, bytes);
      }
    }
  }
  gst_video_frame_unmap(&from);
  gst_video_frame_unmap(&frame);
  return buffer;
}

// Frames of interleaved components are encoded as those of planes.
CHECK_TEST_IF(test_interleaved, !is_deferred()) {
  constexpr int kWidth = 150, kHeight = 37;
  constexpr Interleaved kInterleaved[] = {
      {"NV16", "Y42B", {0, 0, 1}, 0},      {"NV61", "Y42B", {0, 1, 0}, 0},
      {"YUY2", "Y42B", {0, 1, 3}, 0},      {"UYVY", "Y42B", {1, 0, 2}, 0},
      {"YVYU", "Y42B", {0, 3, 1}, 0},      {"VYUY", "Y42B", {1, 2, 0}, 0},
      {"Y210", "I422_10LE", {0, 2, 6}, 6}, {"Y212_LE", "I422_12LE", {0, 2, 6}, 4},
  };
  for (const Interleaved& one : kInterleaved) {
    const GstVideoInfo planar = info_of(one.planar, kWidth, kHeight);
    g_autoptr(GstBuffer) planes = make_frame(planar, 1);
    g_autoptr(GstHarness) h = open("qp=10", info_of(one.format, kWidth, kHeight));
    fail_unless_equals_int(gst_harness_push(h, interleave(one, planes, kWidth, kHeight)),
                           GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless(pull(h).at(0) == encode("qp=10", planar, 2)[1], "%s", one.format);
  }
}

CHECK_TEST(test_threads) {
  const GstVideoInfo info = info_of("I422_10LE", 600, 300);
  const std::vector<Bytes> expected = encode("n-threads=1 tile-height=128", info, 7);
  for (const char* threads : {"2", "3", "0"})
    fail_unless(encode(std::string("tile-height=128 n-threads=") + threads, info, 7) == expected);
}

CHECK_TEST(test_qp_of_each_frame) {
  const GstVideoInfo info = info_of();
  g_autoptr(GstHarness) h = open("n-threads=2 qp-offset-c1=-9 qp-offset-c2=7", info);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "cudaapvenc");
  for (int qp = 0; qp < 64; qp++) {
    g_object_set(element, "qp", qp, nullptr);
    fail_unless_equals_int(gst_harness_push(h, make_frame(info, 1)), GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  const std::vector<Bytes> units = pull(h);
  fail_unless_equals_int(units.size(), 64);
  for (int qp = 0; qp < 64; qp++) {
    const Parsed parsed(units[size_t(qp)]);
    for (const ApvTile& tile : parsed.frame.tiles()) {
      fail_unless_equals_int(tile.qp[0], qp);
      fail_unless_equals_int(tile.qp[1], std::max(qp - 9, 0));
      fail_unless_equals_int(tile.qp[2], std::min(qp + 7, 63));
    }
    if (qp > 12) fail_unless(units[size_t(qp)].size() <= units[size_t(qp) - 12].size());
  }
}

CHECK_TEST(test_tiles) {
  const auto check = [](const char* properties, int width, int height, const char* expected) {
    const Parsed parsed(encode(properties, info_of("I422_10LE", width, height), 1)[0]);
    const ApvFrameHeader& header = parsed.frame.header();
    const std::string tiles =
        std::to_string(header.tile_mbs_across) + "x" + std::to_string(header.tile_mbs_down) + " " +
        std::to_string(header.tile_columns) + "x" + std::to_string(header.tile_rows);
    fail_unless_equals_string(tiles.c_str(), expected);
  };
  check("", 600, 300, "16x16 3x2");
  check("tile-height=128", 600, 300, "16x8 3x3");
  check("tile-width=257 tile-height=1000", 600, 300, "17x63 3x1");
  // No more than 20 columns.
  check("qp=63", 5136, 16, "17x16 19x1");
}

CHECK_TEST(test_matrices) {
  std::string ramp, flat;
  for (int i = 0; i < 64; i++) {
    ramp += std::to_string(16 + 2 * i) + (i % 2 == 0 ? " " : ",");
    flat += "16 ";
  }
  const GstVideoInfo info = info_of();
  const Bytes unit = encode("q-matrix-c1=\"" + ramp + "\"", info, 1)[0];
  const Parsed parsed(unit);
  for (int i = 0; i < 64; i++) {
    fail_unless_equals_int(parsed.frame.header().matrix[0][i], 16);
    fail_unless_equals_int(parsed.frame.header().matrix[1][i], 16 + 2 * i);
  }
  fail_unless(encode("q-matrix-c0=\"" + flat + "\"", info, 1) == encode("", info, 1));
}

// Caps without colorimetry leave its codes open; GBR is recognized by the matrix alone.
CHECK_TEST(test_colors) {
  const auto color = [](const char* format, const char* colorimetry) {
    g_autoptr(GstHarness) h = new_harness(encoder());
    const std::string caps =
        std::string("video/x-raw, width=64, height=48, framerate=25/1, format=") + format +
        (colorimetry != nullptr ? std::string(", colorimetry=") + colorimetry : "");
    gst_harness_set_src_caps_str(h, caps.c_str());
    const GstVideoInfo info = info_of(format, 64, 48);
    fail_unless_equals_int(gst_harness_push(h, make_frame(info, 1)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    const Parsed parsed(pull(h).at(0));
    return parsed.frame.header().color;
  };
  fail_unless(color("I422_10LE", nullptr) == ApvColor());
  fail_unless((color("I422_10LE", "bt709") == ApvColor{1, 1, 1, false}));
  fail_unless((color("I422_10LE", "bt2100-pq") == ApvColor{9, 16, 9, false}));
  fail_unless((color("I422_10LE", "1:4:0:0") == ApvColor{2, 2, 6, true}) ||
              color("I422_10LE", "1:4:0:0").full_range);
  fail_unless_equals_int(color("GBR_10LE", nullptr).matrix, 0);
  fail_unless_equals_int(color("GBR_10LE", "sRGB").matrix, 0);
  fail_unless(color("GBR_10LE", "sRGB").full_range);
}

// Mastering display and content light level come back as they were.
CHECK_TEST(test_light) {
  g_autoptr(GstHarness) h = new_harness(encoder());
  gst_harness_set_src_caps_str(
      h,
      "video/x-raw, format=I422_10LE, width=64, height=48, framerate=25/1, colorimetry=bt2100-pq, "
      "mastering-display-info=(string)35400:14600:8500:39850:6550:2300:15635:16450:10000000:50, "
      "content-light-level=(string)1000:400");
  const GstVideoInfo info = info_of("I422_10LE", 64, 48);
  fail_unless_equals_int(gst_harness_push(h, make_frame(info, 1)), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  const Decoded decoded(pull(h).at(0));
  const GstStructure* structure = gst_caps_get_structure(decoded.caps, 0);
  fail_unless_equals_string(gst_structure_get_string(structure, "content-light-level"), "1000:400");
  fail_unless_equals_string(gst_structure_get_string(structure, "mastering-display-info"),
                            "35400:14600:8500:39850:6550:2300:15635:16450:10000000:50");
  g_autofree gchar* colorimetry = gst_video_colorimetry_to_string(&decoded.info.colorimetry);
  fail_unless_equals_string(colorimetry, "bt2100-pq");
}

// ---- Metas ----

// A unit with metadata after its frame.
Bytes with_metadata(Bytes unit, const ApvMetadata& metadata) {
  const Bytes more = make_apv_metadata(metadata, {});
  unit.insert(unit.end(), more.begin(), more.end());
  write_be32(guint32(unit.size() - 4), unit.data());
  return unit;
}

std::vector<Bytes> payloads_of(const Bytes& unit) {
  ApvAccessUnit read;
  fail_unless(read_apv_access_unit(unit, &read).ok());
  std::vector<Bytes> all;
  for (const ApvPayload& payload : read.metadata.payloads()) {
    all.emplace_back(payload.bytes.begin(), payload.bytes.end());
    all.back().insert(all.back().begin(), guint8(payload.type));
  }
  return all;
}

Bytes t35_of(GstBuffer* buffer) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "CudaTransformItuTT35Meta");
  fail_unless(meta != nullptr);
  GBytes* bytes = nullptr;
  fail_unless(gst_structure_get(gst_custom_meta_get_structure(meta), "payload", G_TYPE_BYTES,
                                &bytes, nullptr));
  gsize size = 0;
  const auto* data = static_cast<const guint8*>(g_bytes_get_data(bytes, &size));
  Bytes copy(data, data + size);
  g_bytes_unref(bytes);
  return copy;
}

// Captions, user data and other T.35 become metas, which the encoder writes as they were.
CHECK_TEST(test_metas) {
  const Bytes captions = {0xb5, 0,    0x31, 'G',  'A',  '9',  '4',  3,   0x42,
                          0xff, 0xfc, 0x94, 0x2c, 0xfe, 0x41, 0x42, 0xff};
  const Bytes dynamic = {0xb5, 0, 0x3c, 0, 1, 4, 1, 9};
  Bytes user(16, 7);
  user.insert(user.end(), {'u', 's', 'e', 'r'});
  const Bytes only_uuid(16, 8);
  ApvMetadata metadata;
  metadata.light = {1000, 400};
  metadata.keep({ApvPayloadType::kT35, captions});
  metadata.keep({ApvPayloadType::kUser, user});
  metadata.keep({ApvPayloadType::kT35, dynamic});
  metadata.keep({ApvPayloadType::kUser, only_uuid});
  // A hash, which is for the decoder alone.
  const Bytes unit = with_metadata(encode("frame-hash=true", info_of(), 1)[0], metadata);

  const Decoded decoded(unit);
  const GstVideoCaptionMeta* caption = gst_buffer_get_video_caption_meta(decoded.buffer);
  fail_unless(caption != nullptr && caption->caption_type == GST_VIDEO_CAPTION_TYPE_CEA708_RAW);
  fail_unless(Bytes(caption->data, caption->data + caption->size) ==
              Bytes(captions.begin() + 10, captions.begin() + 16));
  const auto* sei = gst_buffer_get_video_sei_user_data_unregistered_meta(decoded.buffer);
  fail_unless(sei != nullptr && sei->size == 4 && memcmp(sei->uuid, user.data(), 16) == 0 &&
              memcmp(sei->data, "user", 4) == 0);
  fail_unless(t35_of(decoded.buffer) == dynamic);
  fail_unless_equals_int(
      gst_buffer_get_n_meta(decoded.buffer, GST_VIDEO_SEI_USER_DATA_UNREGISTERED_META_API_TYPE), 2);

  for (const char* properties : {"", "frame-hash=true"}) {
    g_autoptr(GstHarness) h =
        new_harness("cudaapvdec backend=cpu n-threads=1 ! " + encoder(properties) + " n-threads=2");
    gst_harness_set_src_caps_str(h, "video/x-apv, alignment=(string)au, framerate=(fraction)25/1");
    fail_unless_equals_int(gst_harness_push(h, buffer_of(unit)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    g_autoptr(GstBuffer) again = gst_harness_pull(h);
    fail_unless(payloads_of(bytes_of(again)) == payloads_of(unit));
    // Only in the stream: a decoder would have them twice.
    fail_unless(gst_buffer_get_video_caption_meta(again) == nullptr);
    const auto device = make_host_device(1);
    Bytes hashes;
    fail_unless(hash_apv_frame(*device, bytes_of(again), &hashes).ok());
    const Bytes bytes = bytes_of(again);
    const bool has_hash =
        std::equal(hashes.begin(), hashes.end(), bytes.end() - gssize(hashes.size()));
    fail_unless_equals_int(has_hash, *properties != '\0');
  }
}

// Metas that do not fit are left out, and so are captions of other kinds.
CHECK_TEST(test_metas_that_are_not_written) {
  const GstVideoInfo info = info_of();
  g_autoptr(GstHarness) h = open("", info);
  GstBuffer* frame = make_frame(info, 1);
  guint8 uuid[16] = {1};
  Bytes data(1 << 16);
  gst_buffer_add_video_sei_user_data_unregistered_meta(frame, uuid, data.data(), data.size());
  gst_buffer_add_video_caption_meta(frame, GST_VIDEO_CAPTION_TYPE_CEA608_RAW, data.data(), 2);
  gst_buffer_add_video_caption_meta(frame, GST_VIDEO_CAPTION_TYPE_CEA708_RAW, data.data(), 4);
  gst_buffer_add_custom_meta(frame, "CudaTransformItuTT35Meta");
  for (int i = 0; i < 40; i++)
    gst_buffer_add_video_sei_user_data_unregistered_meta(frame, uuid, data.data(), 1);
  fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(payloads_of(pull(h).at(0)).size(), ApvMetadata::kMaxPayloads);
}

CHECK_TEST(test_stream_formats) {
  const GstVideoInfo info = info_of();
  const Bytes raw = encode("", info, 1)[0];
  g_autoptr(GstHarness) h = new_harness(encoder());
  gst_harness_set_sink_caps_str(h, "video/x-apv, stream-format=(string)au");
  gst_harness_set_src_caps(h, video_caps(info));
  fail_unless_equals_int(gst_harness_push(h, make_frame(info, 0)), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  const Bytes unit = pull(h).at(0);
  fail_unless(unit == Bytes(raw.begin() + 4, raw.end()));
  g_autoptr(GstCaps) caps = current_caps(h);
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  fail_unless_equals_string(gst_structure_get_string(structure, "stream-format"), "au");
  fail_unless_equals_string(gst_structure_get_string(structure, "alignment"), "au");
  fail_unless_equals_string(gst_structure_get_string(structure, "profile"), "422-10");
  const Decoded decoded(unit);
}

// New caps, and then the end.
CHECK_TEST(test_caps_changes) {
  g_autoptr(GstHarness) h = open("n-threads=3", info_of());
  guint count = 0;
  for (int i = 0; i < 12; i++) {
    const GstVideoInfo info = info_of(i % 3 == 0 ? "Y444_12LE" : "I422_10LE", 64 + 2 * i, 50 + i);
    gst_harness_set_src_caps(h, video_caps(info));
    for (int k = 0; k < i % 4; k++, count++)
      fail_unless_equals_int(gst_harness_push(h, make_frame(info, count)), GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless_equals_int(pull(h).size(), count);
}

CHECK_TEST(test_end_without_frames) {
  g_autoptr(GstHarness) h = open("", info_of());
  gst_harness_push_event(h, gst_event_new_eos());
  fail_unless(pull(h).empty());
  g_autoptr(GstHarness) bare = new_harness(encoder());
  gst_harness_push_event(bare, gst_event_new_eos());
}

CHECK_TEST(test_flush_and_drain) {
  const GstVideoInfo info = info_of();
  g_autoptr(GstHarness) h = open("n-threads=3", info);
  for (int i = 0; i < 10; i++) {
    for (int k = 0; k < 3; k++)
      fail_unless_equals_int(gst_harness_push(h, make_frame(info, guint(k))), GST_FLOW_OK);
    push_flush(h);
  }
  pull(h);
  const std::vector<Bytes> expected = encode("n-threads=1", info, 4);
  std::vector<GstBuffer*> frames;
  for (guint k = 0; k < 4; k++) {
    frames.push_back(make_frame(info, k));
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(frames[k])), GST_FLOW_OK);
  }
  // Upstream gets its buffers back.
  drain(h);
  for (GstBuffer* frame : frames) {
    ASSERT_MINI_OBJECT_REFCOUNT(frame, "frame", 1);
    gst_buffer_unref(frame);
  }
  fail_unless(pull(h) == expected);
}

GstFlowReturn refuse(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  return GST_FLOW_NOT_LINKED;
}

// What downstream refuses during a query is an error at the end of the stream, unless the push
// returns it: the frame may be done immediately.
CHECK_TEST(test_refused_by_drain) {
  const GstVideoInfo info = info_of();
  g_autoptr(GstHarness) h = open("n-threads=3", info);
  const Messages messages(h->element);
  gst_pad_set_chain_function(h->sinkpad, refuse);
  const GstFlowReturn pushed = gst_harness_push(h, make_frame(info, 0));
  drain(h);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstMessage) error = gst_bus_pop_filtered(messages, GST_MESSAGE_ERROR);
  fail_unless(pushed == GST_FLOW_NOT_LINKED || error != nullptr);
}

CHECK_TEST(test_statistics) {
  const GstVideoInfo info = info_of();
  g_autoptr(GstHarness) h = open("", info);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "cudaapvenc");
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int(gst_harness_push(h, make_frame(info, i)), GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  guint64 bytes = 0;
  for (const Bytes& unit : pull(h)) bytes += unit.size();
  fail_unless_equals_uint64(stat_of(element, "frames"), 3);
  fail_unless_equals_uint64(stat_of(element, "cuda-frames"), is_cuda() ? 3 : 0);
  fail_unless_equals_uint64(stat_of(element, "bytes"), bytes);
}

// The MD5s of units, which all engines, threads and versions have to make.
CHECK_TEST(test_known_units) {
  struct Known {
    const char *properties, *format;
    int width, height;
    const char* md5;
  };
  static constexpr Known kKnown[] = {
      {"qp=0", "I422_10LE", 176, 144, "b4c160983f25ec05aa25dea38129bad4"},
      {"qp=20", "I422_10LE", 700, 300, "7f1c95edda80200fa3cfa953f6a27060"},
      {"qp=20 tile-height=128", "I422_10LE", 700, 300, "53cf31eb64b886701c97e87974be25ba"},
      {"qp=33 qp-offset-c1=-9 qp-offset-c2=7", "I422_12LE", 354, 289,
       "e20edabfa5a7344db734d1238c28b98b"},
      {"qp=45", "Y444_10LE", 301, 199, "fb5fa531855ee224812f7c7b2ad2c70d"},
      {"qp=63", "Y444_12LE", 18, 18, "970de5a5bb7359228978f365229f24d3"},
      {"qp=12", "A444_10LE", 320, 180, "dddf95855766f9e7586b766286eba62f"},
      {"qp=24", "GRAY16_LE", 301, 199, "37d8fe6ff7871bed2e68be2392679a36"},
      {"qp=28", "Y42B", 352, 288, "45e381cd2e04b047d2d1feae4889bcaa"},
  };
  for (const Known& known : kKnown) {
    const GstVideoInfo info = info_of(known.format, known.width, known.height);
    const Bytes unit = encode(known.properties, info, 2)[1];
    g_autofree gchar* md5 = g_compute_checksum_for_data(G_CHECKSUM_MD5, unit.data(), unit.size());
    fail_unless_equals_string(md5, known.md5);
  }
}

// The hashes at the end of a unit are those of the frame that it is decoded to.
CHECK_TEST(test_frame_hash) {
  for (const char* format : {"I422_10LE", "GRAY16_LE", "A444_10LE"}) {
    const GstVideoInfo info = info_of(format, 50, 40);
    const Bytes with = encode("frame-hash=true", info, 1)[0], without = encode("", info, 1)[0];
    const Parsed parsed(with);
    fail_unless_equals_int(parsed.access_unit.metadata.user, 1);
    const auto planes = gsize(parsed.frame.info().components());
    // pbu_size, its header, metadata_size, type, size, UUID.
    fail_unless_equals_uint64(with.size(), without.size() + 4 + 4 + 4 + 1 + 1 + 16 + 16 * planes);
    const auto device = make_host_device(1);
    Bytes hashes;
    fail_unless(hash_apv_frame(*device, with, &hashes).ok());
    fail_unless(std::equal(hashes.begin(), hashes.end(), with.end() - gssize(hashes.size())));
  }
}

// Streams of OpenAPV, each of one frame with its hashes at the end.
CHECK_TEST(test_known_hashes) {
  const char* data = g_getenv("CUDATRANSFORM_TEST_DATA");
  for (const char* name : {"qp00_mn_422", "tiles_256x128", "qm_ramp", "qpoffset"}) {
    const std::string path = std::string(data ? data : "") + "/apv/" + name + ".apv";
    g_autofree gchar* text = nullptr;
    gsize size = 0;
    if (!g_file_get_contents(path.c_str(), &text, &size, nullptr)) continue;
    const Bytes unit(text, text + size);
    const auto device = make_host_device(1);
    Bytes hashes;
    fail_unless(hash_apv_frame(*device, unit, &hashes).ok());
    fail_unless(std::equal(hashes.begin(), hashes.end(), unit.end() - gssize(hashes.size())), "%s",
                name);
  }
}

// ---- Bit rates ----

constexpr int kRate = 25;
constexpr GstClockTime kFrame = GST_SECOND / kRate;

// A frame of more or less noise.
GstBuffer* noisy_frame(const GstVideoInfo& info, guint seed, gint32 noise) {
  GstBuffer* frame = make_frame(info, seed);
  GstMapInfo map;
  fail_unless(gst_buffer_map(frame, &map, GST_MAP_WRITE));
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  auto* samples = reinterpret_cast<guint16*>(map.data);
  for (gsize i = 0; i < map.size / 2; i++)
    samples[i] = guint16(std::min(samples[i] % 800 + g_rand_int_range(random, 0, noise), 1023));
  gst_buffer_unmap(frame, &map);
  return frame;
}

// Ten seconds with a cut each second, in frames of `times` with durations of `duration`.
struct Film {
  std::vector<GstClockTime> times;
  GstClockTime duration = kFrame;
};

Film even_film() {
  Film film;
  for (GstClockTime i = 0; i < 10 * kRate; i++) film.times.push_back(i * kFrame);
  return film;
}

// What a buffer of `capacity` ms, half full at first, gets at `kbits`; never more than it holds.
// The stream's part of the bit rate is returned.
double rate_of(const Film& film, guint kbits, guint capacity) {
  constexpr gint32 kNoise[] = {20, 200, 60};
  const GstVideoInfo info = info_of("I422_10LE", 192, 112);
  g_autoptr(GstHarness) h = open("n-threads=2 bitrate=" + std::to_string(kbits) +
                                     " vbv-buf-capacity=" + std::to_string(capacity),
                                 info);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "cudaapvenc");
  std::vector<GstBuffer*> scenes;
  for (guint i = 0; i < 3; i++) scenes.push_back(noisy_frame(info, i, kNoise[i]));
  for (const GstClockTime time : film.times) {
    GstBuffer* frame = gst_buffer_copy(scenes[time / GST_SECOND % 3]);
    GST_BUFFER_PTS(frame) = 5 * GST_SECOND + time;
    GST_BUFFER_DURATION(frame) = film.duration;
    fail_unless_equals_int(gst_harness_push(h, frame), GST_FLOW_OK);
  }
  for (GstBuffer* scene : scenes) gst_buffer_unref(scene);
  gst_harness_push_event(h, gst_event_new_eos());
  const std::vector<Bytes> units = pull(h);
  fail_unless_equals_int(units.size(), film.times.size());
  const double per_second = kbits * 125., size = per_second * capacity / 1000;
  double fill = size / 2, all = 0;
  GstClockTime latest = 0;
  std::set<int> qps;
  for (size_t i = 0; i < units.size(); i++) {
    const auto waited = std::max(GST_CLOCK_DIFF(latest, film.times[i]), GstClockTimeDiff{0});
    latest = std::max(latest, film.times[i]);
    qps.insert(Parsed(units[i]).frame.tiles()[0].qp[0]);
    fill = std::max(fill - per_second * double(waited) / GST_SECOND, 0.0) + double(units[i].size());
    all += double(units[i].size());
    fail_unless(fill <= size, "%f of %f bytes at frame %d", fill, size, int(i));
  }
  fail_unless_equals_uint64(stat_of(element, "oversized-frames"), 0);
  fail_unless(qps.size() > 2);
  return all / (per_second * (double(latest) / GST_SECOND + 1. / kRate));
}

void expect_rate(const char* what, double rate, double tolerance) {
  fail_unless(std::abs(rate - 1) < tolerance, "%s: %f of the bit rate", what, rate);
}

CHECK_TEST(test_bitrate) {
  const Film film = even_film();
  for (const guint capacity : {10000u, 100u, 600u}) {
    expect_rate("even times", rate_of(film, 3000, capacity), .002);
    if (quick()) break;
  }
}

// Timestamps define how long frames last, for any durations.
CHECK_TEST(test_bitrate_by_times) {
  for (const GstClockTime duration : {kFrame / 2, kFrame * 9 / 10, kFrame * 2}) {
    Film film = even_film();
    film.duration = duration;
    expect_rate("other durations", rate_of(film, 4000, 1000), .005);
    if (quick()) return;
  }
  Film live = even_film();
  g_autoptr(GRand) random = g_rand_new_with_seed(1);
  for (GstClockTime& time : live.times)
    time += GstClockTime(g_rand_int_range(random, 0, gint32(kFrame * 3 / 2)));
  expect_rate("jitter", rate_of(live, 4000, 600), .01);
  Film gaps;
  for (GstClockTime i = 0; i < 10 * kRate; i++)
    if (i % 5 != 2) gaps.times.push_back(i * kFrame);
  expect_rate("dropped frames", rate_of(gaps, 4000, 600), .01);
}

// The message of the error that caps of `info` cause.
std::string refusal(const std::string& properties, const GstVideoInfo& info) {
  g_autoptr(GstHarness) h = new_harness(encoder(properties));
  g_autoptr(GstElement) element = gst_harness_find_element(h, "cudaapvenc");
  const Messages messages(element);
  gst_harness_set_src_caps(h, video_caps(info));
  const GstFlowReturn flow = gst_harness_push(h, make_frame(info, 1));
  fail_unless(flow == GST_FLOW_NOT_NEGOTIATED || flow == GST_FLOW_ERROR, "%s",
              gst_flow_get_name(flow));
  const std::vector<Report> reports = take_messages(messages, GST_MESSAGE_ERROR);
  fail_if(reports.empty());
  return reports[0].text;
}

void expect_refusal(const std::string& properties, const GstVideoInfo& info, const char* part) {
  const std::string text = refusal(properties, info);
  fail_unless(text.find(part) != std::string::npos, "\"%s\" in \"%s\"", part, text.c_str());
}

CHECK_TEST(test_refusals) {
  expect_refusal("", info_of("I422_10LE", 71, 50), "size 71x50, expected an even width");
  expect_refusal("", info_of("Y42B", 71, 50), "size 71x50, expected an even width");
  expect_refusal("q-matrix-c2=\"1 2 3\"", info_of(), "3 weights");
  expect_refusal("q-matrix-c0=\"1 2 0\"", info_of(), "weight \"0\"");
  expect_refusal("q-matrix-c0=\"1 2 x\"", info_of(), "weight \"x\"");
  encode("", info_of("Y444_10LE", 71, 1), 1);
  encode("", info_of("I422_10LE", 2, 1), 1);
}

// Frames that stay in CUDA memory, and the same ones through the host.
CHECK_TEST_IF(test_cuda_memory, is_cuda() && !is_deferred()) {
  const GstVideoInfo info = info_of("I422_10LE", 200, 120);
  const auto encode_from = [&](const char* memory) {
    g_autoptr(GstHarness) h = harness_of(
        forward() + " ! " + inverse() + " ! " + memory + " ! " + encoder("n-threads=2"), info);
    for (guint i = 0; i < 9; i++)
      fail_unless_equals_int(gst_harness_push(h, make_frame(info, i)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    return pull(h);
  };
  const std::vector<Bytes> units = encode_from("video/x-raw(memory:CUDAMemory)");
  fail_unless_equals_int(units.size(), 9);
  fail_unless(units == encode_from("video/x-raw"));
}

// encodebin finds the encoder for its profile.
CHECK_TEST_IF(test_encodebin,
              gst_registry_check_feature_version(gst_registry_get(), "encodebin", 1, 0, 0)) {
  g_autoptr(GstElement) pipeline = launch(
      "videotestsrc num-buffers=3 ! video/x-raw,format=I422_10LE,width=64,height=48 ! "
      "encodebin profile=video/x-apv ! fakesink");
  fail_unless(gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, 20 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  fail_unless(message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

}  // namespace
