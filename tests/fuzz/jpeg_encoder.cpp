// Fuzz target: the element jpegcoefenc, fed with quantized coefficients of any value and wrong
// metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings, then frames until it is used up. A frame begins with the
// actions before it, its caps (three bytes), the lies of its meta and the bytes behind the picture;
// its quantized coefficients follow.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "jpeg/reader.h"
#include "tests/fuzz/frames.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

constexpr int kMaxSamples = 72;  // width and height
constexpr int kMaxFrames = 12;
constexpr int kMaxQcoef = 1023;

// `flags`: of the properties. Not every libjpeg writes progressive and arithmetic files of 12 bits.
GstDctInfo info_of(Input* input, guint8 flags) {
  constexpr GstCoefSampling kSamplings[] = {
      GST_COEF_SAMPLING_GRAYSCALE, GST_COEF_SAMPLING_420,      GST_COEF_SAMPLING_422,
      GST_COEF_SAMPLING_444,       GST_COEF_SAMPLING_440,      GST_COEF_SAMPLING_411,
      GST_COEF_SAMPLING_RGB,       GST_COEF_SAMPLING_YCCK_420, GST_COEF_SAMPLING_CMYK};
  const guint8 kind = input->byte();
  const guint depth = kind >= 0x80 && (flags & 5) == 0 ? 12 : 8;
  const int width = 1 + input->byte() % kMaxSamples, height = 1 + input->byte() % kMaxSamples;
  GstDctInfo info;
  promise(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK, GST_DCT_ORDER_RASTER,
                           TRUE, depth, kSamplings[(kind & 0x7f) % std::size(kSamplings)], width,
                           height, nullptr),
          "the caps are possible");
  return info;
}

// Caps, sometimes wrong ones.
GstCaps* caps_of(const GstDctInfo& info, guint8 lie) {
  static constexpr void (*kLies[])(GstCaps*) = {
      [](GstCaps* c) { gst_caps_set_simple(c, "width", G_TYPE_INT, G_MAXINT, nullptr); },
      [](GstCaps* c) { gst_caps_set_simple(c, "height", G_TYPE_INT, -1, nullptr); },
      [](GstCaps* c) { gst_caps_set_simple(c, "sampling", G_TYPE_STRING, "YCbCr-9:9:9", nullptr); },
      [](GstCaps* c) { gst_caps_set_simple(c, "depth", G_TYPE_INT, 10, nullptr); },
      [](GstCaps* c) { gst_structure_remove_field(gst_caps_get_structure(c, 0), "layout"); },
      [](GstCaps* c) {
        gst_caps_set_simple(c, "colorimetry", G_TYPE_STRING, "bt709", "framerate",
                            GST_TYPE_FRACTION, 0, 1, nullptr);
      },
      [](GstCaps* c) { gst_caps_set_simple(c, "order", G_TYPE_STRING, "zigzag", nullptr); },
  };
  GstCaps* caps = gst_dct_info_to_caps(&info);
  if (lie > 0xf0 && lie - 0xf1u < G_N_ELEMENTS(kLies)) kLies[lie - 0xf1](caps);
  return caps;
}

// Changes one field of a sound meta; false if it changes nothing.
bool apply_lie(GstDctMeta* meta, guint8 which, guint32 value) {
  using C = GstDctComponent;
  static constexpr void (*kOfComponents[])(C&, guint32) = {
      [](C& c, guint32 v) { c.offset = v & 1 ? G_MAXSIZE - v : v; },
      [](C& c, guint32 v) { c.stride = v & 1 ? G_MAXSIZE - v : v; },
      [](C& c, guint32 v) { c.table = v; },
      [](C& c, guint32 v) { c.blocks_w = v; },
      [](C& c, guint32 v) { c.blocks_h = v; },
      [](C& c, guint32 v) { c.h_samp = v; },
      [](C& c, guint32 v) { c.offset += v % 256; },
      [](C& c, guint32 v) { c.stride += v % 256; },
  };
  static constexpr void (*kOfAll[])(GstDctMeta*, guint32) = {
      [](GstDctMeta* m, guint32 v) { m->n_components = v; },
      [](GstDctMeta* m, guint32 v) { m->n_tables = v; },
      [](GstDctMeta* m, guint32 v) { m->tables[v % GST_DCT_MAX_TABLES].values[v % 64] = 0; },
  };
  constexpr guint kComponents = G_N_ELEMENTS(kOfComponents), kAll = G_N_ELEMENTS(kOfAll);
  const guint number = which & 0x0f;
  if (number < 1 || number > kComponents + kAll) return false;
  if (number <= kComponents)
    kOfComponents[number - 1](meta->components[(which >> 4) % GST_DCT_MAX_COMPONENTS], value);
  else
    kOfAll[number - 1 - kComponents](meta, value);
  return true;
}

// Quantized coefficients from the input; returns whether all of them can be those of 8-bit samples.
bool fill_qcoefs(Input* input, std::vector<guint8>* bytes, bool tame) {
  bool ordinary = true;
  for (gsize i = 0; i + 1 < bytes->size() && input->size() > 0; i += 2) {
    auto qcoef = static_cast<gint16>(input->byte() << (tame ? 1 : 8));
    if (tame)
      qcoef = static_cast<gint16>(qcoef % (kMaxQcoef + 1) - 255);
    else
      qcoef = static_cast<gint16>(qcoef | input->byte());
    if (qcoef > kMaxQcoef || qcoef < -kMaxQcoef) ordinary = false;
    memcpy(bytes->data() + i, &qcoef, sizeof qcoef);
  }
  return ordinary;
}

void check_output(GstBuffer* buffer, GstCaps* caps) {
  int width = 0, height = 0;
  promise(caps != nullptr, "files have caps");
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  promise(gst_structure_has_name(structure, "image/jpeg") &&
              gst_structure_get_int(structure, "width", &width) &&
              gst_structure_get_int(structure, "height", &height),
          "the caps say what the files are");
  GstMapInfo map;
  promise(gst_buffer_map(buffer, &map, GST_MAP_READ), "files can be read");
  cudatransform::JpegReader reader;
  cudatransform::JpegHeader header;
  promise(reader.read_header({map.data, map.size}, &header).ok(), "files have a sound header");
  promise(static_cast<int>(header.width) == width && static_cast<int>(header.height) == height,
          "files have the size of their caps");
  cudatransform::JpegQcoefs qcoefs[cudatransform::kJpegMaxComponents];
  std::vector<int16_t> memory[cudatransform::kJpegMaxComponents];
  for (int c = 0; c < header.components; c++) {
    memory[c].resize(size_t{64} * header.blocks_w[c] * header.blocks_h[c]);
    qcoefs[c] = {memory[c].data(), static_cast<ptrdiff_t>(128 * header.blocks_w[c]),
                 header.blocks_w[c], header.blocks_h[c]};
  }
  cudatransform::JpegTables tables;
  cudatransform::JpegFindings found;
  promise(reader.read_coefficients(qcoefs, &tables, &found).ok() && found.damage.empty() &&
              found.irregular == 0,
          "files are sound");
  gst_buffer_unmap(buffer, &map);
}

// Adds segments and trailing data, with attachments that `value` may move: outside, over each
// other, more than there may be. False if the encoder has to refuse it.
bool add_jpeg_meta(GstBuffer* buffer, guint8 shape, guint32 value) {
  static constexpr char kXmp[] =
      "\xff\xe1\0\x8dhttp://ns.adobe.com/xap/1.0/\0"
      "<rdf:li xmlns:I='http://ns.google.com/photos/1.0/container/item/' I:Mime='a'>"
      "<rdf:li I:Mime='b' I:Length='9'><";
  static constexpr guint8 kTwo[] = {0xff, 0xd8, 0xff, 0xd9, 0xff, 0xd8, 0, 0xff, 0xd9, 7, 7};
  g_autoptr(GBytes) segments = g_bytes_new_static(kXmp, sizeof kXmp - 1);
  g_autoptr(GBytes) behind = g_bytes_new_static(kTwo, sizeof kTwo);
  GstDctJpegMeta* meta = gst_buffer_add_dct_jpeg_meta(buffer, shape & 1 ? segments : nullptr);
  const GstDctJpegPlace places[] = {{0, 4}, {4, 5}};
  promise(gst_dct_jpeg_meta_set_trailing(meta, behind, places, 2), "places are in the bytes");
  constexpr guint kMany = GST_DCT_JPEG_MAX_ATTACHMENTS + 45;
  auto* lies = g_new(GstDctJpegPlace, kMany);
  for (guint i = 0; i < kMany; i++) lies[i] = places[i % 2];
  g_free(meta->attachments);
  meta->attachments = lies;
  const gsize far = value & 1 ? G_MAXSIZE - value : value;
  switch (shape >> 1 & 7) {
    case 1:
      lies[1].offset = far;
      return far == 4 || far == 5 || far == 6;
    case 2:
      lies[0].size = far;
      return far >= 1 && far <= 4;
    case 3:
      meta->n_attachments = value % (kMany + 1);
      return meta->n_attachments <= 2;
    case 4:
      lies[1] = lies[0];
      return false;
    case 5:
      g_clear_pointer(&meta->trailing, g_bytes_unref);
      return false;
    default:
      return true;
  }
}

// A buffer of quantized coefficients with its partly mismatch meta; `*sound`: the encoder has to
// write it.
GstBuffer* make_frame(ElementRun* run, Input* input, const GstDctInfo& info, bool* sound) {
  const guint8 shape = input->byte(), lie = input->byte();
  const guint32 value = input->word();
  const guint8 behind = input->byte();
  *sound = true;
  const gsize size =
      (shape & 0x0f) == 0x0f ? fuzzing::other_size(value, info.size, sound) : gsize{info.size};
  std::vector<guint8> bytes(size);
  if (!fill_qcoefs(input, &bytes, shape & 0x10)) *sound = false;
  GstBuffer* buffer = run->make_buffer(bytes.data(), bytes.size());
  if ((shape & 0xe0) == 0xe0) {
    *sound = false;
    return buffer;  // without a meta
  }
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  guint16 divisors[64];
  std::fill(std::begin(divisors), std::end(divisors), static_cast<guint16>(1 + shape));
  for (guint t = 0; t < 2; t++) gst_dct_meta_set_table(meta, t, divisors);
  if (apply_lie(meta, lie, value)) *sound = false;
  if (behind & 0x80 && !add_jpeg_meta(buffer, behind, value)) *sound = false;
  return buffer;
}

void run_encoder(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 flags = input.byte(), threads = input.byte();
  std::string description = "jpegcoefenc n-threads=" + std::to_string(1 + threads % 3) +
                            " restart-interval=" + std::to_string(threads >> 4);
  if (flags & 1) description += " progressive=true";
  if (flags & 2) description += " optimize=true";
  if (flags & 4) description += " arithmetic=true";
  ElementRun run(description.c_str(), check_output);

  GstDctInfo info = info_of(&input, flags);
  run.begin(caps_of(info, flags), GST_FORMAT_TIME);
  const fuzzing::FrameMaker maker = {
      [&](guint8 how, bool* sound) {
        info = info_of(&input, flags);
        if (how >= 0xf0) *sound = false;
        return caps_of(info, how);
      },
      [&] { return caps_of(info, 0); },
      [&](bool* sound) { return make_frame(&run, &input, info, sound); }};
  fuzzing::push_frames(&run, &input, maker, kMaxFrames, flags < 0xf0, false);
}

const fuzzing::Targets targets({{"fuzz_jpegcoefenc", run_encoder}}, fuzzing::set_up_elements);

}  // namespace
