// JPEG files for the element tests: libjpeg as their judge and maker, and files of several
// pictures, with a writer and a parser of the tests' own.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/check/jpeg/jpegs.h"

// Before GstCheck, whose macro fail() has the name of a function of the standard library.
#include "tests/jpeg/codec.h"
#include "tests/jpeg/libjpeg.h"

#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include <gst/coef/dct.h>
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegstreams.h"
#include "tests/check/testing.h"

namespace testing {

using namespace cudatransform::test;

namespace {

JpegComponent read_component(Decompressor& info, jvirt_barray_ptr array, int index) {
  const jpeg_component_info& c = info.comp_info[index];
  JpegComponent result;
  result.id = c.component_id;
  result.h_samp = c.h_samp_factor;
  result.v_samp = c.v_samp_factor;
  result.blocks_w = c.width_in_blocks;
  result.blocks_h = c.height_in_blocks;
  result.table_slot = c.quant_tbl_no;
  std::copy_n(info.quant_tbl_ptrs[c.quant_tbl_no]->quantval, 64, result.table.begin());
  result.qcoefs = component_qcoefs(info, array, index);
  return result;
}

// The contents of the segments between SOI and the end, of which libjpeg reports only a part.
void read_markers(const std::vector<guint8>& file, JpegFile* result) {
  for (size_t i = 2; i + 3 < file.size();) {
    if (file[i] != 0xff || file[i + 1] == 0 || file[i + 1] == 0xff) {
      i++;
      continue;
    }
    const int marker = file[i + 1];
    if (marker >= 0xd0 && marker <= 0xd9) {
      if (marker <= 0xd7) result->restart_markers++;
      i += 2;
      continue;
    }
    const size_t length = static_cast<size_t>(file[i + 2] << 8 | file[i + 3]);
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
      result->frame_marker = marker;
    if (marker == 0xdb) result->table_precision |= file[i + 4] >> 4;
    i += 2 + length;
  }
}

}  // namespace

static JpegFile read(const std::vector<guint8>& file, Decompressor::Warnings warnings) {
  Decompressor info(file, warnings);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&info);
  JpegFile result;
  result.width = static_cast<int>(info.image_width);
  result.height = static_cast<int>(info.image_height);
  result.jfif = info.saw_JFIF_marker;
  result.adobe = info.saw_Adobe_marker;
  if (result.adobe) result.adobe_transform = info.Adobe_transform;
  result.restart_interval = info.restart_interval;
  for (int c = 0; c < info.num_components; c++)
    result.components.push_back(read_component(info, arrays[c], c));
  jpeg_finish_decompress(&info);
  read_markers(file, &result);
  return result;
}

JpegFile read_jpeg(const std::vector<guint8>& file, bool may_warn) {
  using Warnings = Decompressor::Warnings;
  JpegFile result;
  std::string error;
  try {
    result = read(file, may_warn ? Warnings::kIgnored : Warnings::kErrors);
  } catch (const std::exception& thrown) {
    error = thrown.what();
  }
  fail_unless(error.empty(), "%s", error.c_str());
  return result;
}

std::vector<guint8> jpeg_of_frame(const GstVideoInfo& info, GstBuffer* frame, int h_samp,
                                  int v_samp, int quality) {
  GstVideoFrame mapped;
  fail_unless(gst_video_frame_map(&mapped, &info, frame, GST_MAP_READ));
  BytePicture planes;
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); c++) {
    BytePlane plane;
    plane.width = GST_VIDEO_FRAME_COMP_WIDTH(&mapped, c);
    plane.height = GST_VIDEO_FRAME_COMP_HEIGHT(&mapped, c);
    for (int y = 0; y < plane.height; y++) {
      const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&mapped, c)) +
                        y * GST_VIDEO_FRAME_COMP_STRIDE(&mapped, c);
      plane.samples.insert(plane.samples.end(), row, row + plane.width);
    }
    planes.push_back(std::move(plane));
  }
  gst_video_frame_unmap(&mapped);
  return jpeg_from_planes(planes, {h_samp, v_samp}, info.width, info.height,
                          jpeg_quality_tables(quality), cudatransform::Method::kIslow,
                          GST_VIDEO_INFO_IS_RGB(&info));
}

JpegFile qcoefs_of(const GstDctInfo& info, GstBuffer* buffer) {
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  JpegFile result;
  result.width = info.width;
  result.height = info.height;
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ));
  for (guint c = 0; c < info.n_components; c++) {
    const GstDctComponent& component = meta->components[c];
    JpegComponent one = {};
    one.id = static_cast<int>(component.id);
    one.h_samp = static_cast<int>(component.h_samp);
    one.v_samp = static_cast<int>(component.v_samp);
    one.blocks_w = component.blocks_w;
    one.blocks_h = component.blocks_h;
    std::copy_n(meta->tables[component.table].values, 64, one.table.begin());
    for (guint y = 0; y < one.blocks_h; y++) {
      std::vector<gint16> row(one.blocks_w * 64);
      memcpy(row.data(), map.data + component.offset + y * component.stride, row.size() * 2);
      one.qcoefs.insert(one.qcoefs.end(), row.begin(), row.end());
    }
    result.components.push_back(one);
  }
  gst_buffer_unmap(buffer, &map);
  return result;
}

bool has_djpeg() {
  gchar* path = g_find_program_in_path("djpeg");
  g_free(path);
  return path != nullptr;
}

void check_djpeg(const std::vector<guint8>& file) {
  if (!has_djpeg() || quick()) return;
  g_autofree gchar* name = nullptr;
  const int fd = g_file_open_tmp("jpegcoefenc-XXXXXX.jpg", &name, nullptr);
  fail_unless(fd >= 0);
  g_close(fd, nullptr);
  fail_unless(g_file_set_contents(name, reinterpret_cast<const gchar*>(file.data()),
                                  static_cast<gssize>(file.size()), nullptr));
  gchar djpeg[] = "djpeg", outfile[] = "-outfile", null[] = "/dev/null";
  gchar* command[] = {djpeg, outfile, null, name, nullptr};
  g_autofree gchar* text = nullptr;
  gint status = -1;
  fail_unless(g_spawn_sync(nullptr, command, nullptr, G_SPAWN_SEARCH_PATH, nullptr, nullptr,
                           nullptr, &text, &status, nullptr));
  fail_unless(status == 0 && *text == '\0', "djpeg: status %d, %s", status, text);
  g_unlink(name);
}

GstDctInfo qcoefs_info(GstCoefSampling sampling, int width, int height, guint depth) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, depth, sampling, width, height,
                               nullptr));
  info.fps_n = 25;
  return info;
}

GstBuffer* make_qcoefs(const GstDctInfo& info, guint seed, bool odd_layout) {
  GRand* random = g_rand_new_with_seed(seed);
  constexpr gsize kGap = 26;
  const gsize gaps = odd_layout ? kGap * (info.size / 128 + 4) : 0;
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size + gaps, nullptr);
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  for (guint c = 0; c < info.n_components; c++)
    meta->n_tables = MAX(meta->n_tables, info.components[c].table + 1);
  for (guint t = 0; t < meta->n_tables; t++)
    for (guint16& entry : meta->tables[t].values)
      entry = static_cast<guint16>(g_rand_int_range(random, 1, 256));
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  memset(map.data, 0x5a, map.size);
  gsize offset = odd_layout ? 2 : 0;
  for (guint c = 0; c < info.n_components; c++) {
    GstDctComponent& component = meta->components[c];
    const gsize row_bytes = gst_dct_info_row_bytes(&info, c);
    component.offset = offset;
    component.stride = odd_layout ? row_bytes + kGap : row_bytes;
    offset += component.stride * component.blocks_h;
    for (guint y = 0; y < component.blocks_h; y++)
      for (gsize i = 0; i < row_bytes / 2; i++) {
        const bool zero = i % 64 != 0 && g_rand_int_range(random, 0, 4) != 0;
        const gint range = i % 64 == 0 ? 1000 : g_rand_int_range(random, 2, 1000);
        const auto qcoef = static_cast<gint16>(zero ? 0 : g_rand_int_range(random, -range, range));
        memcpy(map.data + component.offset + y * component.stride + 2 * i, &qcoef, 2);
      }
  }
  gst_buffer_unmap(buffer, &map);
  g_rand_free(random);
  return buffer;
}

void set_qcoef(const GstDctInfo& info, GstBuffer* buffer, guint component, guint block, guint k,
               gint16 qcoef) {
  const gsize offset = info.components[component].offset + (block * 64 + k) * 2;
  fail_unless_equals_uint64(gst_buffer_fill(buffer, offset, &qcoef, 2), 2);
}

std::string encoder(const std::string& properties) {
  return std::string("jpegcoefenc backend=") + backend() + " " + properties;
}

GstHarness* encoder_harness(const GstDctInfo& info, const std::string& properties) {
  return harness_with("n-threads=1 " + properties, info);
}

std::vector<guint8> encode(GstHarness* h, GstBuffer* buffer) {
  fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
  fail_unless(out != nullptr, "no file");
  return bytes_of(out);
}

GstHarness* harness_with(const std::string& properties, const GstDctInfo& info) {
  GstHarness* h = new_harness(encoder(properties));
  gst_harness_set_src_caps(h, gst_dct_info_to_caps(&info));
  return h;
}

GstBuffer* numbered(const GstDctInfo& info, guint number) {
  GstBuffer* buffer = make_qcoefs(info, number);
  GST_BUFFER_PTS(buffer) = number * kFrame;
  GST_BUFFER_DURATION(buffer) = kFrame;
  return buffer;
}

void check_output(GstHarness* h, const GstDctInfo& info, guint first, guint count) {
  for (guint i = first; i < first + count; i++) {
    g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
    fail_unless(out != nullptr, "frame %u is missing", i);
    fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * kFrame);
    fail_unless_equals_uint64(GST_BUFFER_DURATION(out), kFrame);
    fail_if(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_DELTA_UNIT), "not a sync point");
    fail_if(gst_buffer_get_dct_meta(out) != nullptr, "a file with GstDctMeta");
    g_autoptr(GstBuffer) in = numbered(info, i);
    const std::string text = difference(read_jpeg(bytes_of(out)), qcoefs_of(info, in));
    fail_unless(text.empty(), "frame %u: %s", i, text.c_str());
  }
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

std::string difference(const JpegFile& a, const JpegFile& b) {
  if (a.width != b.width || a.height != b.height) return "sizes differ";
  if (a.components.size() != b.components.size()) return "numbers of components differ";
  for (size_t c = 0; c < a.components.size(); c++) {
    const JpegComponent &x = a.components[c], &y = b.components[c];
    const std::string name = "component " + std::to_string(c);
    if (x.id != y.id || x.h_samp != y.h_samp || x.v_samp != y.v_samp)
      return name + ": ids or sampling factors differ";
    if (x.table != y.table) return name + ": tables differ";
    if (x.qcoefs != y.qcoefs) return name + ": coefficients differ";
  }
  return "";
}

namespace {

using cudatransform::Method;
using cudatransform::test::BytePlane;
using cudatransform::test::JpegContents;

// Which plane and row of a raw frame hold row `y` of component `c`, and how samples follow there.
struct Row {
  const guint8* samples;
  int step;
};

Row row_of(const GstVideoFrame& frame, int c, int y) {
  return {static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
              gsize(y) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c),
          GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c)};
}

std::string place(int c, int x, int y) {
  return "component " + std::to_string(c) + " at " + std::to_string(x) + "," + std::to_string(y);
}

}  // namespace

JpegJudge::JpegJudge(std::vector<guint8> file) : file_(std::move(file)) {
  if (file_.size() < 2 || file_[0] != 0xff || file_[1] != 0xd8) {
    kind_ = "no JPEG file, whatever its name";
    return;
  }
  const cudatransform::test::Decompressor info(file_);
  const jpeg_component_info* comp = info.comp_info;
  const int count = info.num_components;
  kind_ = std::to_string(count) + " components";
  rgb_ = info.jpeg_color_space == JCS_RGB;
  ours_ = count == 1 || (count == 3 && (rgb_ || info.jpeg_color_space == JCS_YCbCr));
  four_ = count == 4 && (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK);
  ours_ = ours_ || four_;
  if (count >= 3) {
    const int h = comp[0].h_samp_factor * 10 / comp[1].h_samp_factor;
    const int v = comp[0].v_samp_factor * 10 / comp[1].v_samp_factor;
    kind_ += ", ratios " + std::to_string(h) + "x" + std::to_string(v) + " tenths";
    const bool known = (v == 10 && (h == 10 || h == 20 || h == 40)) || (v == 20 && h <= 20);
    const auto same = [comp](int a, int b) {
      return comp[a].h_samp_factor == comp[b].h_samp_factor &&
             comp[a].v_samp_factor == comp[b].v_samp_factor;
    };
    const bool is_full = info.jpeg_color_space == JCS_RGB || info.jpeg_color_space == JCS_CMYK;
    ours_ = ours_ && known && (h == 10 || h == 20 || h == 40) && same(1, 2) &&
            (count == 3 || same(0, 3)) && (!is_full || same(0, 1));
  }
}

std::string JpegJudge::compare_coefficients(GstSample* sample) const {
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, gst_sample_get_caps(sample), nullptr))
    return "no coefficient caps";
  if (rgb_ != (info.sampling == GST_COEF_SAMPLING_RGB)) return "another color space";
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (!gst_buffer_get_dct_meta(buffer)) return "no GstDctMeta";
  const JpegFile found = qcoefs_of(info, buffer);
  JpegFile expected = read_jpeg(file_);
  // A file may number its components as it likes, and 2x2, 2x2, 2x2 is as good a 4:4:4 as 1x1s.
  for (size_t c = 0; c < MIN(found.components.size(), expected.components.size()); c++) {
    expected.components[c].id = found.components[c].id;
    expected.components[c].h_samp = found.components[c].h_samp;
    expected.components[c].v_samp = found.components[c].v_samp;
  }
  return difference(expected, found);
}

std::string JpegJudge::compare_frame(GstSample* sample) const {
  const JpegContents expected = cudatransform::test::jpeg_planes(file_, Method::kIslow);
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample))) return "no raw caps";
  if (GST_VIDEO_INFO_N_COMPONENTS(&info) != expected.planes.size())
    return "another number of components";
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return "the frame cannot be mapped";
  std::string wrong;
  for (int c = 0; c < int(expected.planes.size()) && wrong.empty(); c++) {
    const BytePlane& plane = expected.planes[c];
    // 4:4:0 becomes 4:4:4, with each row of chroma twice.
    const int height = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c);
    const int repeat = height == plane.height ? 1 : 2;
    if (GST_VIDEO_FRAME_COMP_WIDTH(&frame, c) != plane.width ||
        (height + repeat - 1) / repeat != plane.height)
      wrong = "component " + std::to_string(c) + " of the frame has another size";
    for (int y = 0; y < height && wrong.empty(); y++) {
      const Row row = row_of(frame, c, y);
      const guint8* wanted = plane.samples.data() + gsize(y / repeat) * plane.width;
      for (int x = 0; x < plane.width && wrong.empty(); x++)
        if (row.samples[x * row.step] != wanted[x])
          wrong = "sample of " + place(c, x, y) + " is " +
                  std::to_string(row.samples[x * row.step]) + ", not " + std::to_string(wanted[x]);
    }
  }
  gst_video_frame_unmap(&frame);
  return wrong;
}

Bytes number(guint64 value, gsize size, bool big) {
  Bytes bytes(size);
  for (gsize i = 0; i < size; i++)
    bytes[big ? size - 1 - i : i] = static_cast<guint8>(value >> (8 * i));
  return bytes;
}

namespace {

guint64 number_at(const Bytes& bytes, gsize at, gsize size, bool big) {
  guint64 value = 0;
  for (gsize i = 0; i < size; i++) value = value << 8 | bytes[at + (big ? i : size - 1 - i)];
  return value;
}

struct Entry {
  gsize size, offset;
};

Bytes index_of(const std::vector<Entry>& entries, bool big) {
  const auto put = [big](guint64 value, gsize size) { return number(value, size, big); };
  Bytes data = joined({{'M', 'P', 'F', 0},
                       big ? Bytes{'M', 'M'} : Bytes{'I', 'I'},
                       put(42, 2),
                       put(8, 4),
                       put(2, 2),
                       put(0xb001, 2),
                       put(4, 2),
                       put(1, 4),
                       put(entries.size(), 4),
                       put(0xb002, 2),
                       put(7, 2),
                       put(16 * entries.size(), 4),
                       put(38, 4),
                       put(0, 4)});
  for (const Entry& e : entries)
    data = joined({data, put(0x20003, 4), put(e.size, 4), put(e.offset, 4), put(0, 4)});
  return joined({{0xff, 0xe2}, number(data.size() + 2, 2, true), data});
}

}  // namespace

std::vector<Bytes> pictures_of(const Bytes& file) {
  std::vector<Bytes> pictures;
  for (const Segment& s : segments_of(file)) {
    if (s.code != 0xe2 || s.end - s.begin < 20 || memcmp(&file[s.begin + 4], "MPF", 4) != 0)
      continue;
    const gsize tiff = s.begin + 8;
    const bool big = file[tiff] == 'M';
    const gsize directory = tiff + number_at(file, tiff + 4, 4, big);
    for (gsize i = 0; i < number_at(file, directory, 2, big); i++) {
      const gsize field = directory + 2 + 12 * i;
      if (number_at(file, field, 2, big) != 0xb002) continue;
      const gsize entries = tiff + number_at(file, field + 8, 4, big);
      for (gsize k = 0; k < number_at(file, field + 4, 4, big) / 16; k++) {
        const gsize size = number_at(file, entries + 16 * k + 4, 4, big);
        const gsize offset = number_at(file, entries + 16 * k + 8, 4, big);
        const gsize begin = k == 0 ? 0 : tiff + offset;
        fail_unless(begin + size <= file.size(), "picture %d is not in the file",
                    static_cast<int>(k));
        pictures.emplace_back(file.begin() + gssize(begin), file.begin() + gssize(begin + size));
      }
    }
  }
  return pictures;
}

Bytes first_of(const Bytes& picture, const std::vector<Bytes>& others, bool big, gsize gap) {
  const gsize place = segments_of(picture)[1].end, tiff = place + 8;  // behind SOI and APPn
  std::vector<Entry> entries(others.size() + 1, Entry{0, 0});
  gsize at = picture.size() + index_of(entries, big).size();
  entries[0].size = at;
  at += gap;
  for (gsize i = 0; i < others.size(); i++) {
    entries[i + 1] = {others[i].size(), at - tiff};
    at += others[i].size();
  }
  return inserted(picture, place, index_of(entries, big));
}

const std::vector<Bytes>& others() {
  static const std::vector<Bytes> pictures = {make_jpeg(24, 16), make_jpeg(40, 40)};
  return pictures;
}

Bytes several(bool big, const Bytes& tail) {
  return joined({first_of(good(), others(), big), joined(others()), tail});
}

bool has_others(const Bytes& file) {
  const std::vector<Bytes> all = pictures_of(file);
  return all.size() == 3 && all[1] == others()[0] && all[2] == others()[1];
}

std::vector<Bytes> through(const Bytes& stream, const std::string& decoder,
                           const std::string& encoder, gsize piece, const char* caps,
                           GstFormat format) {
  const std::string line = "jpegcoefdec " + decoder + " ! jpegcoefenc n-threads=1 " + encoder;
  g_autoptr(GstHarness) harness = gst_harness_new_parse(line.c_str());
  gst_harness_push_event(harness, gst_event_new_stream_start("bytes"));
  g_autoptr(GstCaps) input = gst_caps_from_string(caps);
  gst_harness_push_event(harness, gst_event_new_caps(input));
  push_segment(harness, format);
  for (gsize at = 0; at < stream.size();) {
    const gsize size = piece == 0 ? stream.size() : std::min(piece, stream.size() - at);
    gst_harness_push(
        harness, buffer_of(Bytes(stream.begin() + gssize(at), stream.begin() + gssize(at + size)),
                           format == GST_FORMAT_TIME ? at * GST_MSECOND : GST_CLOCK_TIME_NONE));
    at += size;
  }
  gst_harness_push_event(harness, gst_event_new_eos());
  std::vector<Bytes> files;
  while (GstBuffer* buffer = gst_harness_try_pull(harness)) {
    files.push_back(bytes_of(buffer));
    gst_buffer_unref(buffer);
  }
  return files;
}

}  // namespace testing
