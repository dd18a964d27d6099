// The list of kernels' jobs: layouts, inputs, parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/kernel_jobs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "tests/engine/dct8x8/definition.h"
#include "tests/engine/dct8x8/judge.h"
#include "tests/engine/kernel_jobs_making.h"
#include "transform/rgb/arithmetic.h"

namespace cudatransform::test {
namespace {

std::vector<uint8_t> output_of(const KernelJob& job) { return test::output_of(job, job.input()); }

const char* name_of(Direction direction) {
  return direction == Direction::kForward ? "forward" : "inverse";
}

// ---- The DCT ----

constexpr size_t kRowAlignment = 64, kPlaneAlignment = 256;
constexpr int kQuality = 85;

size_t align(size_t n, size_t to) { return (n + to - 1) / to * to; }
int divide_up(int n, int by) { return (n + by - 1) / by; }

size_t coef_size(CoefType type) { return type == CoefType::kS16 ? 2 : 4; }

template <typename T>
T* at(T* base, const void* offset) {
  return base + reinterpret_cast<uintptr_t>(offset);
}

// Bytes of a block of coefficients that must be read or written.
size_t block_bytes_needed(const DctSpec& spec) {
  if (spec.scale == 1) return 64 * coef_size(spec.type());
  // Block layout, raster order, int16: two rows of a block are a sector of 32 bytes. islow at 1/2
  // depends on all rows but one, at 1/4 on 0, 1, 3, 5 and 7, which is all sectors; float on the
  // first 4 or 2 rows. At 1/8 DC alone counts, and its sector with it.
  if (spec.scale == 8) return 32;
  if (spec.method == Method::kIslow) return 128;
  return spec.scale == 2 ? 64 : 32;
}

// One buffer for all planes of samples, one for all planes of coefficients.
struct DctPlaces {
  explicit DctPlaces(const DctSpec& spec) : components(component_count(spec.format.sampling)) {
    const bool is_halved = spec.format.sampling == Sampling::k420;
    const int across = is_halved || spec.format.sampling == Sampling::k422 ? 2 : 1;
    for (int c = 0; c < components; ++c) {
      const int width = c == 0 ? spec.width : divide_up(spec.width, across);
      const int rows = c == 0 ? spec.height : divide_up(spec.height, is_halved ? 2 : 1);
      add_samples(spec, c, divide_up(width, spec.scale), divide_up(rows, spec.scale));
      add_coefs(spec, c);
    }
  }

  void add_samples(const DctSpec& spec, int c, int width, int rows) {
    const size_t bytes = spec.format.depth == 8 ? 1 : 2;
    const bool interleaved = spec.format.semi_planar && c > 0;
    SamplePlane& plane = samples[c];
    plane.type = bytes == 1 ? SampleType::kU8 : SampleType::kU16;
    plane.width = width;
    plane.height = rows;
    plane.stride = static_cast<int32_t>(interleaved ? 2 * bytes : bytes);
    plane.shift = spec.format.semi_planar && bytes == 2 ? 16 - spec.format.depth : 0;
    const size_t row_bytes = static_cast<size_t>(width) * static_cast<size_t>(plane.stride);
    const size_t pitch = align(row_bytes, kRowAlignment);
    plane.pitch = static_cast<ptrdiff_t>(pitch);
    visible += area(width, rows);
    sample_bytes += area(width, rows) * bytes;
    if (interleaved && c == 2) {
      plane.data = at(static_cast<uint8_t*>(samples[1].data), reinterpret_cast<void*>(bytes));
      return;
    }
    plane.data = reinterpret_cast<void*>(sample_size);
    sample_regions.push_back({sample_size, pitch, row_bytes, static_cast<size_t>(rows)});
    sample_size = align(sample_size + pitch * static_cast<size_t>(rows), kPlaneAlignment);
  }

  void add_coefs(const DctSpec& spec, int c) {
    CoefPlane& plane = coefs[c];
    plane.blocks_w = divide_up(samples[c].width, 8 / spec.scale);
    plane.blocks_h = divide_up(samples[c].height, 8 / spec.scale);
    plane.table = c > 0;
    plane.chroma = c > 0;
    const size_t block_row = static_cast<size_t>(plane.blocks_w) * 64 * coef_size(spec.type());
    const auto rows = static_cast<size_t>(plane.blocks_h);
    plane.pitch = static_cast<ptrdiff_t>(spec.layout == Layout::kBlock ? block_row : block_row / 8);
    plane.data = reinterpret_cast<void*>(coef_size_of_all);
    coef_regions.push_back({coef_size_of_all, block_row, block_row, rows});
    coef_size_of_all = align(coef_size_of_all + block_row * rows, kPlaneAlignment);
    blocks += static_cast<size_t>(plane.blocks_w) * rows;
    coef_bytes += static_cast<size_t>(plane.blocks_w) * rows * block_bytes_needed(spec);
  }

  int components;
  SamplePlane samples[kMaxComponents];  // addresses are offsets
  CoefPlane coefs[kMaxComponents];
  std::vector<Region> sample_regions, coef_regions;
  size_t sample_size = 0, coef_size_of_all = 0;  // of the buffers
  size_t sample_bytes = 0, coef_bytes = 0;       // that must move
  size_t visible = 0, blocks = 0;
};

// A small picture, repeated as often as necessary.
std::vector<uint8_t> dct_picture(const DctSpec& spec) {
  static std::map<std::tuple<Sampling, int>, Picture> tiles;
  Picture& tile = tiles[{spec.format.sampling, spec.format.depth}];
  if (tile.empty())
    tile = make_picture(spec.format.sampling, 960, 544, spec.format.depth, Content::kPhoto, 1);
  const DctPlaces places(spec);
  std::vector<uint8_t> picture(places.sample_size);
  for (int c = 0; c < places.components; ++c) {
    const SamplePlane& plane = places.samples[c];
    const Plane& from = tile[static_cast<size_t>(c)];
    for (int y = 0; y < plane.height; ++y) {
      uint8_t* to = at(picture.data(), plane.data) + static_cast<ptrdiff_t>(y) * plane.pitch;
      for (int x = 0, from_x = 0; x < plane.width; ++x, to += plane.stride) {
        const auto word = static_cast<uint16_t>(from.at(from_x, y % from.rows) << plane.shift);
        std::memcpy(to, &word, plane.type == SampleType::kU8 ? 1 : 2);
        if (++from_x == from.width) from_x = 0;
      }
    }
  }
  return picture;
}

// islow's coefficients of the picture; float's above 8 bits.
std::vector<uint8_t> dct_coefficients(DctSpec spec) {
  spec.direction = Direction::kForward;
  spec.method = effective_method(Method::kIslow, spec.format.depth);
  spec.measure = 0;
  spec.scale = 1;
  return output_of(dct_job(spec));
}

std::string dct_buffers(const DctSpec& spec) {
  std::string key = std::string(spec.format.name) + " " + std::to_string(spec.width) + "x" +
                    std::to_string(spec.height) + " " + name_of(spec.direction);
  // Input coefficients must be arranged as the job requires; output needs only the room.
  if (spec.direction == Direction::kInverse)
    key += " " + std::to_string(int(spec.layout)) + " " + std::to_string(int(spec.order)) + " " +
           std::to_string(spec.scale);
  return key;
}

// ---- RGB ----

struct RgbKind {
  const char* keys;
  RgbSubsampling chroma;
  RgbPacking packing;
};
constexpr RgbKind kRgbKinds[] = {{"sampling:420/packing:RGB", {2, 2}, RgbPacking::kRgb},
                                 {"sampling:420/packing:RGBx", {2, 2}, RgbPacking::kRgbx},
                                 {"sampling:420/packing:planar", {2, 2}, RgbPacking::kPlanar},
                                 {"sampling:422/packing:RGB", {2, 1}, RgbPacking::kRgb},
                                 {"sampling:444/packing:RGB", {1, 1}, RgbPacking::kRgb}};

// Consecutive planes, and pixels.
struct RgbPlaces {
  RgbPlaces(const KernelSize& size, const RgbKind& kind, Direction direction) {
    job.direction = direction;
    for (int c = 0; c < kMaxComponents; ++c) {
      const RgbSubsampling by = c == 0 ? RgbSubsampling{1, 1} : kind.chroma;
      job.subsampling[c] = by;
      SamplePlane& plane = job.planes[c];
      plane.width = rgb_plane_side(size.width, by.x);
      plane.height = rgb_plane_side(size.height, by.y);
      plane.pitch = plane.width;
      plane_at[c] = plane_bytes;
      plane_bytes += area(plane.width, plane.height);
    }
    job.rgb.packing = kind.packing;
    job.rgb.width = size.width;
    job.rgb.height = size.height;
    for (int p = 0; p < job.rgb.planes(); ++p) {
      job.rgb.pitch[p] = ptrdiff_t{size.width} * rgb_layout(kind.packing).pixel_bytes;
      rgb_at[p] = rgb_bytes;
      rgb_bytes += static_cast<size_t>(job.rgb.pitch[p] * size.height);
    }
  }

  RgbJob place(void* planes, void* rgb) const {
    RgbJob placed = job;
    for (int c = 0; c < kMaxComponents; ++c)
      placed.planes[c].data = static_cast<uint8_t*>(planes) + plane_at[c];
    for (int p = 0; p < job.rgb.planes(); ++p)
      placed.rgb.data[p] = static_cast<uint8_t*>(rgb) + rgb_at[p];
    return placed;
  }

  RgbJob job;  // without addresses
  size_t plane_at[kMaxComponents] = {}, rgb_at[3] = {};
  size_t plane_bytes = 0, rgb_bytes = 0;
};

KernelJob rgb_job(const KernelSize& size, const RgbKind& kind, Direction direction) {
  const RgbPlaces places(size, kind, direction);
  const bool forward = direction == Direction::kForward;
  KernelJob job;
  job.kind = "rgb";
  job.buffers = name_of(direction);
  job.keys = std::string(kind.keys) + "/direction:" + job.buffers;
  job.samples = area(size.width, size.height);
  set_sizes(forward ? places.rgb_bytes : places.plane_bytes,
            forward ? places.plane_bytes : places.rgb_bytes, &job);
  job.input = [=] {
    return forward ? output_of(rgb_job(size, kind, Direction::kInverse))
                   : picture_bytes(size.width, places.plane_bytes);
  };
  run_by(
      &Engine::rgb_ops,
      [=](const KernelMemory& memory) {
        return forward ? places.place(memory.out, memory.in) : places.place(memory.in, memory.out);
      },
      &job);
  return job;
}

// ---- Ranges ----

RangeJob range_planes(const KernelSize& size, int depth, const void* from, void* to) {
  const size_t sample = depth == 8 ? 1 : 2;
  RangeJob job;
  job.depth = depth;
  job.planes = kMaxComponents;
  size_t offset = 0;
  for (int p = 0; p < job.planes; ++p) {
    const int width = p == 0 ? size.width : size.width / 2;
    const int height = p == 0 ? size.height : size.height / 2;
    const auto pitch = static_cast<ptrdiff_t>(static_cast<size_t>(width) * sample);
    job.plane[p] = {static_cast<const uint8_t*>(from) + offset,
                    static_cast<uint8_t*>(to) + offset,
                    pitch,
                    pitch,
                    width,
                    height,
                    p > 0};
    offset += sample * area(width, height);
  }
  return job;
}

// ---- Sizes ----

ResizePicture packed_rgb(void* data, int width, int height) {
  ResizePicture picture;
  picture.width = width;
  picture.height = height;
  picture.step = 3;
  for (int c = 0; c < 3; ++c) {
    picture.data[c] = static_cast<uint8_t*>(data) + c;
    picture.pitch[c] = ptrdiff_t{3} * width;
  }
  return picture;
}

std::vector<ResizeJob> resized_pictures(const KernelSize& size, int side, size_t pictures,
                                        ResizeFilter filter, const KernelMemory& memory) {
  std::vector<ResizeJob> jobs(pictures);
  auto *in = static_cast<uint8_t*>(memory.in), *out = static_cast<uint8_t*>(memory.out);
  for (ResizeJob& job : jobs) {
    job.from = packed_rgb(in, size.width, size.height);
    job.to = packed_rgb(out, side, side);
    job.filter = filter;
    job.box = whole_box(job);
    in += 3 * area(size.width, size.height);
    out += 3 * area(side, side);
  }
  return jobs;
}

// ---- Coefficient filters ----

constexpr CoefKinds qcoefs_in(CoefArrangement arrangement) {
  return {CoefNumber::kS16, arrangement, true};
}
struct Layout {
  const char* name;
  CoefKinds kinds;
};
constexpr Layout kBlock = {"S16-block", qcoefs_in(CoefArrangement::kBlock)};
constexpr Layout kPlane = {"S16-plane", qcoefs_in(CoefArrangement::kPlane)};
constexpr Layout kZigzag = {"S16-zigzag", qcoefs_in(CoefArrangement::kZigzagBlock)};
constexpr Layout kBand = {"S16-band", qcoefs_in(CoefArrangement::kBand)};
constexpr Layout kRealPlane = {"F16-plane", {CoefNumber::kF16, CoefArrangement::kPlane, false}};
constexpr Layout kRealBand = {"F16-band", {CoefNumber::kF16, CoefArrangement::kBand, false}};
constexpr std::pair<Layout, Layout> kConversions[] = {{kBlock, kPlane},     {kBlock, kBand},
                                                      {kBlock, kRealPlane}, {kBlock, kRealBand},
                                                      {kBlock, kZigzag},    {kBand, kBlock}};
constexpr std::pair<const char*, Orientation> kFlips[] = {{"90r", {true, true, false}},
                                                          {"180", {false, true, true}}};

CoefArray array_of(const KernelSize& size, const CoefKinds& kinds, void* data) {
  CoefArray array;
  array.data = data;
  array.blocks_w = (size.width + 7) / 8;
  array.blocks_h = (size.height + 7) / 8;
  const int64_t row = array.blocks_w * (64 / rows_of_blocks(kinds.arrangement));
  array.pitch = (row * bytes_of(kinds.number) + 15) / 16 * 16;
  return array;
}

QuantTable luma_table(int quality) {
  return preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, quality);
}

// `complete(&job)` completes the job of one component.
template <typename Job, typename Ops, typename Complete>
KernelJob filter_job(const char* kind, const std::string& keys, const Ops* Engine::*ops,
                     const std::pair<KernelSize, CoefKinds>& from,
                     const std::pair<KernelSize, CoefKinds>& to, const Complete& complete) {
  const auto rows_of = [](const std::pair<KernelSize, CoefKinds>& side) {
    const CoefArray array = array_of(side.first, side.second, nullptr);
    const auto rows = static_cast<size_t>(rows_of_blocks(side.second.arrangement));
    const auto row_blocks = static_cast<size_t>(array.blocks_w) * (64 / rows);
    return Region{0, static_cast<size_t>(array.pitch),
                  row_blocks * static_cast<size_t>(bytes_of(side.second.number)),
                  static_cast<size_t>(array.blocks_h) * rows};
  };
  const Region read = rows_of(from), written = rows_of(to);
  KernelJob job;
  job.kind = kind;
  job.keys = keys;
  job.samples = area(from.first.width, from.first.height);
  set_sizes(read.pitch * read.rows, written.pitch * written.rows, &job);
  job.written = {written};
  job.input = [size = job.in_size] { return some_qcoefs(size); };
  run_by(
      ops,
      [=](const KernelMemory& memory) {
        Job placed;
        placed.components = 1;
        placed.from[0] = array_of(from.first, from.second, memory.in);
        placed.to[0] = array_of(to.first, to.second, memory.out);
        complete(&placed);
        return placed;
      },
      &job);
  return job;
}

KernelJob flip_job(const KernelSize& size, const Layout& layout, const char* name,
                   const Orientation& orientation) {
  KernelSize flipped = size;
  if (orientation.transposes) std::swap(flipped.width, flipped.height);
  return filter_job<FlipJob>("flip", std::string("layout:") + layout.name + "/orientation:" + name,
                             &Engine::flip_ops, {size, layout.kinds}, {flipped, layout.kinds},
                             [=](FlipJob* job) {
                               job->arrangement = layout.kinds.arrangement;
                               job->orientation = orientation;
                               job->places[0] = {0, 0, job->to[0].blocks_w, job->to[0].blocks_h};
                             });
}

// ---- Wavelets ----

constexpr DwtLevels kLevels = {4, 0};

struct DwtPlaces {
  DwtPlaces(const KernelSize& size, const DwtKernel& kernel) {
    const auto aligned = [&](int64_t bytes) {
      return (bytes + kernel.row_alignment - 1) / kernel.row_alignment * kernel.row_alignment;
    };
    job.direction = kernel.direction;
    job.method = kernel.method;
    job.wavelet = job.wavelet_ho = kernel.wavelet;
    job.levels = kLevels;
    job.components = kernel.gray ? 1 : 3;
    for (int c = 0; c < job.components; ++c) {
      const int divisor = c == 0 ? 1 : 2;
      SamplePlane& plane = job.samples[c];
      plane.width = size.width / divisor;
      plane.height = size.height / divisor;
      plane.pitch = aligned(plane.width);
      const int width = dwt_padded_width(plane.width, kLevels);
      const int height = dwt_padded_height(plane.height, kLevels);
      job.coefs[c].pitch = aligned(2 * int64_t{width});
      std::fill(std::begin(job.quant_index[c]), std::end(job.quant_index[c]),
                static_cast<uint8_t>(kernel.index));
      samples.push_back({sample_size, static_cast<size_t>(plane.pitch),
                         static_cast<size_t>(plane.width), static_cast<size_t>(plane.height)});
      coefs.push_back({coef_size, static_cast<size_t>(job.coefs[c].pitch),
                       2 * static_cast<size_t>(width), static_cast<size_t>(height)});
      sample_size += samples[c].pitch * samples[c].rows;
      coef_size += coefs[c].pitch * coefs[c].rows;
      visible += samples[c].row_bytes * samples[c].rows;
      coef_bytes += coefs[c].row_bytes * coefs[c].rows;
    }
  }

  DwtJob place(void* sample_memory, void* coef_memory) const {
    DwtJob placed = job;
    for (int c = 0; c < job.components; ++c) {
      placed.samples[c].data = static_cast<uint8_t*>(sample_memory) + samples[c].offset;
      placed.coefs[c].data = static_cast<uint8_t*>(coef_memory) + coefs[c].offset;
    }
    return placed;
  }

  std::vector<uint8_t> picture() const {
    std::vector<uint8_t> picture(sample_size);
    for (const Region& region : samples) {
      const std::vector<uint8_t> tile =
          tiled_picture(static_cast<int>(region.row_bytes), static_cast<int>(region.rows));
      for (size_t y = 0; y < region.rows; ++y)
        std::copy_n(&tile[y * region.row_bytes], region.row_bytes,
                    &picture[region.offset + y * region.pitch]);
    }
    return picture;
  }

  DwtJob job;  // without addresses
  std::vector<Region> samples, coefs;
  size_t sample_size = 0, coef_size = 0;  // of the buffers
  size_t visible = 0, coef_bytes = 0;
};

}  // namespace

namespace {

// Addresses are offsets.
Dct8x8Job unplaced_dct(const DctSpec& spec, const DctPlaces& places) {
  Dct8x8Job job;
  job.direction = spec.direction;
  job.method = spec.method;
  job.type = spec.type();
  job.quantized = spec.quantized;
  job.layout = spec.layout;
  job.order = spec.order;
  job.depth = spec.format.depth;
  job.scale = spec.scale;
  job.components = places.components;
  job.measure = spec.measure;
  if (spec.direction == Direction::kForward) job.quantizer = spec.quantizer;
  std::fill_n(job.tables, 4, preset_table(QuantPreset::kAnnexK, QuantComponent::kChroma, kQuality));
  job.tables[0] = preset_table(QuantPreset::kAnnexK, QuantComponent::kLuma, kQuality);
  std::copy_n(places.samples, places.components, job.samples);
  std::copy_n(places.coefs, places.components, job.coefs);
  return job;
}

// A copy and little more: benchmarks time it with the job.
Dct8x8Job placed(Dct8x8Job job, const KernelMemory& memory) {
  const bool forward = job.direction == Direction::kForward;
  auto* const samples = static_cast<uint8_t*>(forward ? memory.in : memory.out);
  auto* const coefs = static_cast<uint8_t*>(forward ? memory.out : memory.in);
  job.sums = memory.sums;
  for (int c = 0; c < job.components; ++c) {
    job.samples[c].data = at(samples, job.samples[c].data);
    job.coefs[c].data = at(coefs, job.coefs[c].data);
  }
  return job;
}

}  // namespace

Dct8x8Job place_dct(const DctSpec& spec, const KernelMemory& memory) {
  return placed(unplaced_dct(spec, DctPlaces(spec)), memory);
}

KernelJob dct_job(const DctSpec& spec) {
  const DctPlaces places(spec);
  const bool forward = spec.direction == Direction::kForward;
  KernelJob job;
  job.kind = "dct";
  job.buffers = dct_buffers(spec);
  job.keys = job.buffers + " " + method_name(spec.method) + " " + std::to_string(int(spec.layout)) +
             " " + std::to_string(int(spec.order)) + " " + quantizer_name(spec.quantizer);
  job.in_size = forward ? places.sample_size : places.coef_size_of_all;
  job.out_size = forward ? places.coef_size_of_all : places.sample_size;
  job.in_bytes = forward ? places.sample_bytes : places.coef_bytes;
  job.out_bytes = forward ? places.coef_bytes : places.sample_bytes;
  job.samples = places.visible;
  job.blocks = places.blocks;
  job.measures = spec.measure != 0;
  job.written = forward ? places.coef_regions : places.sample_regions;
  // Sums of floats may be on either side of a tie. What a level costs depends on those after it.
  if (!is_integer(spec.method)) {
    job.tolerance = forward && spec.quantizer == Quantizer::kRd ? 2 : 1;
    if (!forward) job.tolerance <<= places.samples[0].shift;
  }
  if (forward)
    job.number = spec.type() == CoefType::kS16 ? OutputNumber::kS16 : OutputNumber::kS32;
  else
    job.number = spec.format.depth == 8 ? OutputNumber::kU8 : OutputNumber::kU16;
  job.input = [spec, forward] { return forward ? dct_picture(spec) : dct_coefficients(spec); };
  run_by(
      &Engine::ops,
      [unplaced = unplaced_dct(spec, places)](const KernelMemory& memory) {
        return placed(unplaced, memory);
      },
      &job);
  return job;
}

std::vector<KernelJob> rgb_jobs(const KernelSize& size) {
  std::vector<KernelJob> all;
  for (const RgbKind& kind : kRgbKinds)
    for (const Direction direction : {Direction::kForward, Direction::kInverse})
      all.push_back(rgb_job(size, kind, direction));
  return all;
}

std::vector<KernelJob> range_jobs(const KernelSize& size) {
  std::vector<KernelJob> all;
  for (const int depth : {8, 12}) {
    KernelJob& job = all.emplace_back();
    job.kind = "range";
    job.keys = "depth:" + std::to_string(depth);
    job.samples = area(size.width, size.height) + 2 * area(size.width / 2, size.height / 2);
    const size_t bytes = job.samples * (depth == 8 ? 1 : 2);
    set_sizes(bytes, bytes, &job);
    job.input = [=] { return picture_bytes(size.width, bytes); };
    run_by(
        &Engine::range_ops,
        [=](const KernelMemory& memory) {
          return range_planes(size, depth, memory.in, memory.out);
        },
        &job);
  }
  return all;
}

// To what vision models take of pictures of this size; with 1080p, of 640x480 and of 224x224 too.
std::vector<KernelJob> resize_jobs(const KernelSize& size) {
  constexpr std::pair<const char*, ResizeFilter> kFilters[] = {
      {"bilinear", ResizeFilter::kBilinear},
      {"bicubic", ResizeFilter::kBicubic},
      {"lanczos", ResizeFilter::kLanczos}};
  std::vector<KernelJob> all;
  const auto add = [&](const KernelSize& from, int side, size_t pictures, const char* name,
                       ResizeFilter filter) {
    KernelJob& job = all.emplace_back();
    job.kind = "resize";
    job.buffers = std::to_string(pictures);
    if (from.width != size.width)
      job.keys = "from:" + std::to_string(from.width) + "x" + std::to_string(from.height) + "/";
    job.keys += "side:" + std::to_string(side) + "/filter:" + name + "/pictures:" + job.buffers;
    job.samples = pictures * area(from.width, from.height);
    job.stages = pictures > 1;
    set_sizes(3 * job.samples, 3 * pictures * area(side, side), &job);
    job.input = [=, bytes = job.in_size] { return picture_bytes(from.width, bytes); };
    job.runs_on = [](const Engine& engine) { return engine.resize_ops != nullptr; };
    job.submit = [=](const Engine& engine, const KernelMemory& memory, FencePtr* done) {
      const std::vector<ResizeJob> jobs = resized_pictures(from, side, pictures, filter, memory);
      Device& device = *engine.device;
      return engine.resize_ops->submit(device, device.queue(QueueKind::kCompute), jobs, done);
    };
  };
  for (const size_t pictures : {size_t{1}, size_t{64}})
    for (const auto& [name, filter] : kFilters)
      add(size, size.width > 1920 ? 336 : 224, pictures, name, filter);
  if (size.width == 1920) {
    add({"", 640, 480}, 256, 64, "bicubic", ResizeFilter::kBicubic);
    add({"", 224, 224}, 512, 64, "bicubic", ResizeFilter::kBicubic);
  }
  return all;
}

std::vector<KernelJob> transpose_jobs(const KernelSize& size) {
  constexpr std::pair<const char*, Orientation> kRotations[] = {
      {"180", {false, true, true}}, {"90r", {true, true, false}}, {"90l", {true, false, true}}};
  std::vector<KernelJob> all;
  for (const auto& [name, orientation] : kRotations) {
    KernelJob& job = all.emplace_back();
    job.kind = "transpose";
    job.keys = std::string("orientation:") + name;
    job.samples = area(size.width, size.height);
    set_sizes(3 * job.samples, 3 * job.samples, &job);
    job.input = [=, bytes = job.in_size] { return picture_bytes(size.width, bytes); };
    job.runs_on = [](const Engine& engine) { return engine.transpose_ops != nullptr; };
    job.submit = [=, orientation = orientation](const Engine& engine, const KernelMemory& memory,
                                                FencePtr* done) {
      TransposeJob one;
      one.orientation = orientation;
      one.width = orientation.transposes ? size.height : size.width;
      one.height = orientation.transposes ? size.width : size.height;
      one.from = memory.in;
      one.from_pitch = ptrdiff_t{3} * one.from_width();
      one.to = memory.out;
      one.to_pitch = ptrdiff_t{3} * one.width;
      Device& device = *engine.device;
      return engine.transpose_ops->submit(device, device.queue(QueueKind::kCompute), {&one, 1},
                                          done);
    };
  }
  return all;
}

std::vector<KernelJob> filter_jobs(const KernelSize& size) {
  std::vector<KernelJob> all;
  for (const auto& [from, to] : kConversions)
    all.push_back(filter_job<ConvertJob>(
        "convert", std::string("from:") + from.name + "/to:" + to.name, &Engine::convert_ops,
        {size, from.kinds}, {size, to.kinds}, [from = from, to = to](ConvertJob* job) {
          job->from_kinds = from.kinds;
          job->to_kinds = to.kinds;
          job->tables[0] = luma_table(85);
        }));
  for (const Layout& layout : {kBlock, kPlane, kZigzag}) {
    for (const auto& [name, turn] : kFlips) all.push_back(flip_job(size, layout, name, turn));
    all.push_back(filter_job<RequantJob>("quant", std::string("layout:") + layout.name,
                                         &Engine::requant_ops, {size, layout.kinds},
                                         {size, layout.kinds}, [layout](RequantJob* job) {
                                           job->arrangement = layout.kinds.arrangement;
                                           job->before[0] = luma_table(85);
                                           job->after[0] = luma_table(50);
                                         }));
  }
  return all;
}

KernelJob dwt_job(const KernelSize& size, const DwtKernel& kernel) {
  const DwtPlaces places(size, kernel);
  const bool forward = kernel.direction == Direction::kForward;
  KernelJob job;
  job.kind = "dwt";
  job.buffers = name_of(kernel.direction);
  job.keys = std::string("wavelet:") + wavelet_name(kernel.wavelet) +
             "/index:" + std::to_string(kernel.index) + "/direction:" + job.buffers;
  job.in_size = forward ? places.sample_size : places.coef_size;
  job.out_size = forward ? places.coef_size : places.sample_size;
  job.in_bytes = forward ? places.visible : places.coef_bytes;
  job.out_bytes = forward ? places.coef_bytes : places.visible;
  job.samples = places.visible;
  job.written = forward ? places.coefs : places.samples;
  job.input = [=] {
    if (forward) return places.picture();
    DwtKernel back = kernel;
    back.direction = Direction::kForward;
    back.method = DwtMethod::kFused;
    return output_of(dwt_job(size, back));
  };
  run_by(
      &Engine::dwt_ops,
      [=](const KernelMemory& memory) {
        return forward ? places.place(memory.in, memory.out) : places.place(memory.out, memory.in);
      },
      &job);
  return job;
}

}  // namespace cudatransform::test
