// Memory that launches of our kernels read and write, and output bytes that depend on the input.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/fakecuda/kernels.h"

#include <cstring>

#include "cuda/dct8x8/fast_params.h"
#include "cuda/dct8x8/general_params.h"
#include "cuda/dct8x8/scaled_params.h"
#include "cuda/dirac/params.h"
#include "cuda/dwt/params.h"
#include "cuda/obmc/params.h"
#include "cuda/range/params.h"
#include "cuda/rgb/params.h"
#include "tests/check/fakecuda/rate_areas.h"
#include "tests/check/fakecuda/verb_areas.h"
#include "tests/tiny/tiny_params.h"

namespace fakecuda {
namespace {

using namespace cudatransform;
using namespace cudatransform::cuda;

class Launch {
 public:
  Launch(const std::string& name, unsigned ctas) : name_(name), ctas_(ctas) {}

  void fast(const FastFrame& frame, const FastPlane* reference);
  void general(const FrameParams& frame);
  void scaled(const ScaledParams& params);
  void words(const void* first, size_t bytes, bool on_host);
  void samples(const SampleParams& samples, bool written);
  void tiny(const test::TinyParams& params);
  void wavelet_pass(const PassParams& pass);
  void wavelet_level(const FusedParams& fused);
  void compensate(const ObmcParams& params);
  void upsample(const UpsampleParams& params);
  void range(const RangeParams& params);
  void rgb(const RgbParams& params);
  void convert(const ConvertParams& params);
  void flip(const FlipParams& params);
  void quant(const RequantParams& params);
  void rate_transform(const RateTransformParams& params);
  void rate_count(const RateCountParams& params);
  void expand(const ExpandParams& params);
  void slices(const SliceParams& params);
  void store(const StoreParams& params);

  bool has(const char* part) const { return name_.find(part) != std::string::npos; }
  // Whether the kernel reads coefficients; otherwise it reads samples.
  bool inverse() const { return has("inverse_") || has("scaled_"); }
  Operation operation() const;

 private:
  size_t coef_bytes() const { return has("_s32") || has("_f32") ? 4 : 2; }
  // Not inlined: g++ 12 would report a write beyond an empty list, where there is none.
  [[gnu::noinline]] void add(const void* first, int64_t pitch, int64_t width, int64_t rows,
                             bool written, size_t unit = 1, size_t step = 1);
  void coefs(const CoefParams& coefs, uint32_t blocks_w, uint32_t blocks, size_t bytes,
             bool written);
  void fast_samples(const FastPlane& plane, bool written);
  void values(const ValuesParams& values, int64_t width, int64_t rows, bool written);
  void samples(const SamplesParams& samples, bool written);
  void whole(const ValuesParams& full, const SamplesParams& samples, const SamplesParams& reference,
             bool at_samples, const MeasureParams& measure, int64_t width, int64_t rows);

  std::string name_;
  unsigned ctas_;
  std::vector<Area> areas_;
  // The numbers among `areas_`.
  std::vector<Area> words_;
};

void Launch::add(const void* first, int64_t pitch, int64_t width, int64_t rows, bool written,
                 size_t unit, size_t step) {
  if (first == nullptr || width <= 0 || rows <= 0) return;
  areas_.push_back({reinterpret_cast<uintptr_t>(first), static_cast<size_t>(pitch),
                    static_cast<size_t>(width), static_cast<size_t>(rows), written, false, unit,
                    step});
}

void Launch::words(const void* first, size_t bytes, bool on_host) {
  if (first == nullptr) return;
  words_.push_back({reinterpret_cast<uintptr_t>(first), bytes, bytes, 1, true, on_host});
}

// ---- The fast kernels ----

void Launch::fast_samples(const FastPlane& plane, bool written) {
  const int64_t bytes = (has("_u16") ? 2 : 1) * (plane.interleaved != 0 ? 2 : 1);
  add(plane.samples, plane.pitch, plane.width * bytes, plane.rows, written);
}

void Launch::fast(const FastFrame& frame, const FastPlane* reference) {
  for (int i = 0; i < 3; i++) {
    if (frame.first_cta[i] == UINT32_MAX) continue;
    const FastPlane& plane = frame.planes[i];
    fast_samples(plane, inverse());
    if (reference != nullptr) fast_samples(reference[i], false);
    const int64_t size = static_cast<int64_t>(coef_bytes());
    const uint32_t components = plane.interleaved != 0 ? 2 : 1;
    const uint32_t blocks = plane.blocks / components;
    for (uint32_t c = 0; c < components; c++) {
      if (has("_plane"))
        add(plane.coefs[c], plane.coef_pitch, plane.blocks_w * 8 * size,
            8 * (blocks / plane.blocks_w), !inverse());
      else
        add(plane.coefs[c], 0, blocks * 64 * size, 1, !inverse());
    }
  }
  if (frame.measure != 0) words(frame.sums, sizeof(PictureSums), true);
  if (frame.timed != 0) words(frame.times, sizeof(PictureTimes), true);
}

// ---- The others ----

void Launch::samples(const SampleParams& samples, bool written) {
  const size_t bytes = samples.type == SampleType::kU8 ? 1 : 2;
  const int64_t width = static_cast<int64_t>(samples.width - 1) * samples.stride;
  add(samples.data, samples.pitch, width + static_cast<int64_t>(bytes), samples.height, written,
      bytes, static_cast<size_t>(samples.stride));
}

void Launch::coefs(const CoefParams& coefs, uint32_t blocks_w, uint32_t blocks, size_t bytes,
                   bool written) {
  if (blocks_w == 0) return;
  const auto rows = static_cast<int64_t>(blocks / blocks_w);
  const int64_t group = 8 * static_cast<int64_t>(bytes);
  if (coefs.block_step == 8 * group)
    add(coefs.data, coefs.row_step, blocks_w * 8 * group, rows, written);
  else
    add(coefs.data, coefs.group_step, blocks_w * group, 8 * rows, written);
}

void Launch::general(const FrameParams& frame) {
  for (const PlaneParams& plane : frame.planes) {
    if (plane.first_cta == UINT32_MAX) continue;
    samples(plane.samples, inverse());
    if ((frame.measure & kMeasureSse) != 0 && inverse()) samples(plane.reference, false);
    coefs(plane.coefs, plane.blocks_w, plane.blocks, frame.type == CoefType::kS16 ? 2 : 4,
          !inverse());
  }
  if (frame.measure != 0) words(frame.sums, sizeof(PictureSums), false);
}

void Launch::scaled(const ScaledParams& params) {
  const bool counts = has("scaled_zeros");
  for (int c = 0; c < 3; c++) {
    const ScaledPlaneParams& plane = params.planes[c];
    if (plane.first_cta == UINT32_MAX || plane.ctas_per_row == 0) continue;
    const bool last = c == 2 || params.planes[c + 1].first_cta == UINT32_MAX;
    const uint32_t ctas = (last ? ctas_ : params.planes[c + 1].first_cta) - plane.first_cta;
    const CoefParams lie = {const_cast<uint8_t*>(plane.coefs), plane.block_step, plane.row_step,
                            plane.group_step};
    const auto blocks_w = static_cast<uint32_t>(plane.blocks_w);
    coefs(lie, blocks_w, ctas / plane.ctas_per_row * blocks_w, coef_bytes(), false);
    if (counts) continue;
    SampleParams target = {};
    target.data = plane.samples;
    target.pitch = plane.pitch;
    target.width = plane.width;
    target.height = plane.height;
    target.stride = plane.stride;
    target.type = params.sample_type;
    samples(target, true);
  }
  if (counts) words(params.sums, sizeof(PictureSums), false);
}

void Launch::tiny(const test::TinyParams& params) {
  add(params.from, params.from_pitch, params.width, params.height, false);
  add(params.to, params.to_pitch, params.width, params.height, true);
}

void Launch::rate_transform(const RateTransformParams& params) {
  rate_transform_areas(params, ctas_, has("_float_round") ? 8 : 4, *this);
}

void Launch::rate_count(const RateCountParams& params) { rate_count_areas(params, *this); }

void Launch::range(const RangeParams& params) {
  range_areas(params, [this](auto... area) { add(area...); });
}

void Launch::rgb(const RgbParams& params) {
  rgb_areas(params, inverse(), has("_general"), [this](auto... area) { add(area...); });
}

void Launch::convert(const ConvertParams& params) {
  // convert_FROM_to_TO, or convert_copy_BITS.
  const size_t to = name_.find("_to_");
  const auto bytes = [](const std::string& number) {
    return number.find("16") != std::string::npos ? 2 : 4;
  };
  convert_areas(params, bytes(name_.substr(0, to)), bytes(name_.substr(to + 1)),
                [this](auto... area) { add(area...); });
}

// ---- Wavelets ----

void Launch::values(const ValuesParams& values, int64_t width, int64_t rows, bool written) {
  add(values.data, values.pitch, width * static_cast<int64_t>(coef_bytes()), rows, written);
}

void Launch::samples(const SamplesParams& samples, bool written) {
  const int64_t width = int64_t{samples.width - 1} * samples.stride + samples.bytes;
  add(samples.data, samples.pitch, width, samples.memory_rows, written,
      static_cast<size_t>(samples.bytes), static_cast<size_t>(samples.stride));
}

// The side of a stage that is not bands: values, or the samples of the picture.
void Launch::whole(const ValuesParams& full, const SamplesParams& picture,
                   const SamplesParams& reference, bool at_samples, const MeasureParams& measure,
                   int64_t width, int64_t rows) {
  if (!at_samples) {
    values(full, width, rows, inverse());
    return;
  }
  samples(picture, inverse());
  if (measure.sse != 0) samples(reference, false);
}

void Launch::wavelet_pass(const PassParams& pass) {
  const bool rows = has("_rows_");
  for (int i = 0; i < pass.segment_count; i++) {
    const SegmentParams& segment = pass.segments[i];
    const int64_t pairs = segment.pairs, lines = segment.lines;
    for (const ValuesParams& half : {segment.low, segment.high})
      values(half, rows ? pairs : lines, rows ? lines : pairs, !inverse());
    whole(segment.full, segment.samples, segment.reference, pass.at_samples != 0, pass.measure,
          rows ? 2 * pairs : lines, rows ? lines : 2 * pairs);
  }
  words(pass.measure.sums, sizeof(PictureSums), false);
}

void Launch::wavelet_level(const FusedParams& fused) {
  for (const TileParams& tile : fused.tiles) {
    if (tile.first_cta == UINT32_MAX) continue;
    for (const ValuesParams& band : tile.bands)
      values(band, tile.pairs_x, tile.pairs_y, !inverse());
    whole(tile.full, tile.samples, tile.reference, fused.at_samples != 0, fused.measure,
          2 * int64_t{tile.pairs_x}, 2 * int64_t{tile.pairs_y});
  }
  words(fused.measure.sums, sizeof(PictureSums), false);
}

// ---- Motion compensation ----

void Launch::compensate(const ObmcParams& params) {
  const int64_t bytes = has("_u16") ? 2 : 1;
  const ObmcComponentParams& luma = params.components[0];
  if (params.blocks != nullptr)
    add(params.blocks, 0,
        int64_t{luma.across.axis.blocks} * luma.down.axis.blocks * int64_t{sizeof(ObmcBlock)}, 1,
        false);
  for (const ObmcComponentParams& component : params.components) {
    if (component.first_cta == UINT32_MAX) continue;
    const auto plane = [&](const ObmcPlaneParams& plane, int64_t size, bool written) {
      add(plane.data, plane.pitch, component.width * size, component.height, written);
    };
    plane(component.samples, bytes, true);
    plane(component.residual, 2, false);
    for (const auto& planes : component.references)
      for (const ObmcPlaneParams& reference : planes) plane(reference, bytes, false);
  }
}

void Launch::upsample(const UpsampleParams& params) {
  upsample_areas(params, has("_u16") ? 2 : 1, [this](auto... area) { add(area...); });
}

// ---- Verbs ----

void Launch::flip(const FlipParams& params) {
  flip_areas(params, has("_16") ? 2 : 4, !has("straight"), [this](auto... area) { add(area...); });
}

void Launch::quant(const RequantParams& params) {
  quant_areas(params, has("s16") ? 2 : 4, [this](auto... area) { add(area...); });
  if (params.measure != 0) words(params.sums, sizeof(PictureSums), false);
}

// ---- Dirac ----

void Launch::expand(const ExpandParams& params) {
  add(params.packed, 0, static_cast<int64_t>(params.packed_bytes), 1, false);
  const int64_t bytes = has("_s32") && !has("_as_s16") ? 4 : 2;
  for (const PyramidParams& pyramid : params.pyramids)
    add(pyramid.data, pyramid.pitch, pyramid.width * bytes, pyramid.height, true);
}

// Pyramids that were cleared before are written in part.
void Launch::slices(const SliceParams& params) {
  add(params.packed, 0, static_cast<int64_t>(params.packed_bytes), 1, false);
  const int64_t bytes = has("_s32") ? 4 : 2;
  for (const PyramidParams& pyramid : params.pyramids)
    add(pyramid.data, pyramid.pitch, pyramid.width * bytes, pyramid.height, true);
}

void Launch::store(const StoreParams& params) {
  const int64_t rows = ctas_ / params.ctas_across, width = params.width;
  add(params.from, params.from_pitch, has("_u8_") ? width : 2 * width, rows, false);
  add(params.to, params.to_pitch, has("_u8_u8") ? width : 2 * width, rows, true);
}

// ---- Bytes ----

uint64_t mix(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

template <typename Visit>
void visit_bytes(const Area& area, Visit&& visit) {
  for (size_t row = 0; row < area.rows; row++) {
    auto* bytes = reinterpret_cast<unsigned char*>(area.first + row * area.pitch);
    for (size_t at = 0; at < area.width; at += area.step)
      for (size_t i = 0; i < area.unit; i++) visit(&bytes[at + i]);
  }
}

// Every second byte is 0: 16-bit numbers are levels that a JPEG file can hold.
void fill(const Area& area, uint64_t seed) {
  size_t index = 0;
  visit_bytes(area, [&](unsigned char* byte) {
    *byte = index % 2 == 0
                ? static_cast<unsigned char>(mix(seed + index / 16) >> 7 * (index / 2 % 8) & 0x7f)
                : 0;
    index++;
  });
}

// They grow, as times do.
void fill_words(const Area& area, uint64_t seed) {
  for (size_t i = 0; i < area.width / sizeof(uint64_t); i++) {
    const uint64_t word = seed % 97 + 1 + 1000 * i;
    std::memcpy(reinterpret_cast<void*>(area.first + i * sizeof word), &word, sizeof word);
  }
}

Operation Launch::operation() const {
  Operation made;
  made.what = name_;
  made.areas = areas_;
  made.areas.insert(made.areas.end(), words_.begin(), words_.end());
  made.make = [areas = areas_, words = words_] {
    uint64_t seed = 0xcbf29ce484222325;
    for (const Area& area : areas)
      if (!area.written)
        visit_bytes(area,
                    [&](const unsigned char* byte) { seed = (seed ^ *byte) * 0x100000001b3; });
    seed = mix(seed);
    for (size_t i = 0; i < areas.size(); i++)
      if (areas[i].written) fill(areas[i], seed + i);
    for (const Area& area : words) fill_words(area, seed);
  };
  return made;
}

template <typename Params>
void call(void (Launch::*function)(const Params&), Launch& launch, const void* params) {
  (launch.*function)(*static_cast<const Params*>(params));
}
template <auto kFunction>
void areas(Launch& launch, const void* params) {
  call(kFunction, launch, params);
}

// By a part of kernels' names: the first that fits.
constexpr struct {
  const char* part;
  void (*find)(Launch& launch, const void* params);
} kFamilies[] = {
    {"convert_", areas<&Launch::convert>},
    {"flip_", areas<&Launch::flip>},
    {"quant_", areas<&Launch::quant>},
    {"rate_transform_", areas<&Launch::rate_transform>},
    {"rate_count_", areas<&Launch::rate_count>},
    {"range_", areas<&Launch::range>},
    {"rgb_", areas<&Launch::rgb>},
    {"scaled_", areas<&Launch::scaled>},
    {"dwt_fused_", areas<&Launch::wavelet_level>},
    {"dwt_fast_", areas<&Launch::wavelet_level>},
    {"dwt_", areas<&Launch::wavelet_pass>},
    {"obmc_compensate_", areas<&Launch::compensate>},
    {"obmc_upsample_", areas<&Launch::upsample>},
    {"dirac_expand_", areas<&Launch::expand>},
    {"dirac_slices_", areas<&Launch::slices>},
    {"dirac_predict_", areas<&Launch::slices>},
    {"dirac_store_", areas<&Launch::store>},
    {"tiny_xor", areas<&Launch::tiny>},
    // The first part of both kinds of parameters.
    {"_general_", areas<&Launch::general>},
    {"_teach", areas<&Launch::general>},
};

}  // namespace

bool computes(const std::string& kernel) { return kernel.starts_with("jpeg_encode_"); }

Operation launch_of(const std::string& kernel, unsigned ctas, void** parameters) {
  if (computes(kernel)) return jpeg_encode_launch_of(kernel, parameters);
  Launch launch(kernel, ctas);
  const void* first = parameters[0];
  const auto* family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                    [&](const auto& each) { return launch.has(each.part); });
  if (family != std::end(kFamilies)) {
    family->find(launch, first);
  } else if (launch.has("forward_") || launch.has("inverse_")) {
    const auto* frame = static_cast<const FastFrame*>(first);
    const bool compares = launch.has("inverse_") && (frame->measure & kMeasureSse) != 0;
    const auto* all = static_cast<const FastCompareParams*>(first);
    launch.fast(*frame, compares ? all->reference : nullptr);
  }
  return launch.operation();
}

}  // namespace fakecuda
