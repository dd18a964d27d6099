// The list of kernels' jobs: layouts, inputs, parameters.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/kernel_jobs.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>

#include "tests/engine/dct8x8/definition.h"
#include "transform/device/host_device.h"
#include "transform/rgb/arithmetic.h"

namespace cudatransform::test {
namespace {

// `make(in, out)` returns the job of the engine's kind; `ops` are the engine's for it.
template <typename Ops, typename Make>
void run_by(const Ops* Engine::*ops, const Make& make, KernelJob* job) {
  job->runs_on = [ops](const Engine& engine) { return engine.*ops != nullptr; };
  job->submit = [ops, make](const Engine& engine, void* in, void* out, FencePtr* done) {
    Device& device = *engine.device;
    return (engine.*ops)->submit(device, device.queue(QueueKind::kCompute), make(in, out), done);
  };
}

// Buffers without gaps.
void set_sizes(size_t in, size_t out, KernelJob* job) {
  job->in_size = job->in_bytes = in;
  job->out_size = job->out_bytes = out;
  job->written = {{0, out, out, 1}};
}

size_t area(int width, int height) {
  return static_cast<size_t>(width) * static_cast<size_t>(height);
}

// A picture of so many bytes, whatever they stand for.
std::vector<uint8_t> picture_bytes(int width, size_t bytes) {
  std::vector<uint8_t> picture =
      tiled_picture(width, static_cast<int>(bytes / static_cast<size_t>(width)) + 1);
  picture.resize(bytes);
  return picture;
}

std::vector<uint8_t> output_of(const KernelJob& job) { return test::output_of(job, job.input()); }

const char* name_of(Direction direction) {
  return direction == Direction::kForward ? "forward" : "inverse";
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

// Planes one after the other, and pixels.
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
      [=](void* in, void* out) { return forward ? places.place(out, in) : places.place(in, out); },
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

// ---- Coefficient filters ----

constexpr CoefKinds levels_in(CoefArrangement arrangement) {
  return {CoefNumber::kS16, arrangement, true};
}
struct Layout {
  const char* name;
  CoefKinds kinds;
};
constexpr Layout kBlock = {"S16-block", levels_in(CoefArrangement::kBlock)};
constexpr Layout kPlane = {"S16-plane", levels_in(CoefArrangement::kPlane)};
constexpr Layout kZigzag = {"S16-zigzag", levels_in(CoefArrangement::kZigzagBlock)};
constexpr Layout kBand = {"S16-band", levels_in(CoefArrangement::kBand)};
constexpr Layout kRealPlane = {"F16-plane", {CoefNumber::kF16, CoefArrangement::kPlane, false}};
constexpr Layout kRealBand = {"F16-band", {CoefNumber::kF16, CoefArrangement::kBand, false}};
constexpr std::pair<Layout, Layout> kConversions[] = {{kBlock, kPlane},     {kBlock, kBand},
                                                      {kBlock, kRealPlane}, {kBlock, kRealBand},
                                                      {kBlock, kZigzag},    {kBand, kBlock}};
constexpr std::pair<const char*, Turn> kFlips[] = {{"90r", {true, true, false}},
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

// Quantized coefficients as pictures have them: few, and small.
std::vector<uint8_t> some_levels(size_t bytes) {
  std::mt19937 random(1);
  std::vector<int16_t> levels(bytes / sizeof(int16_t));
  for (int16_t& level : levels) {
    const auto any = static_cast<uint32_t>(random());
    level = static_cast<int16_t>(any % 4 == 0 ? int(any >> 8) % 31 - 15 : 0);
  }
  std::vector<uint8_t> input(bytes);
  std::memcpy(input.data(), levels.data(), bytes);
  return input;
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
  job.input = [size = job.in_size] { return some_levels(size); };
  run_by(
      ops,
      [=](void* in, void* out) {
        Job placed;
        placed.components = 1;
        placed.from[0] = array_of(from.first, from.second, in);
        placed.to[0] = array_of(to.first, to.second, out);
        complete(&placed);
        return placed;
      },
      &job);
  return job;
}

KernelJob flip_job(const KernelSize& size, const Layout& layout, const char* name,
                   const Turn& turn) {
  KernelSize flipped = size;
  if (turn.transposes) std::swap(flipped.width, flipped.height);
  return filter_job<FlipJob>("flip", std::string("layout:") + layout.name + "/turn:" + name,
                             &Engine::flip_ops, {size, layout.kinds}, {flipped, layout.kinds},
                             [=](FlipJob* job) {
                               job->arrangement = layout.kinds.arrangement;
                               job->turn = turn;
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
    job.components = kernel.grey ? 1 : 3;
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
        &Engine::range_ops, [=](void* in, void* out) { return range_planes(size, depth, in, out); },
        &job);
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
      [=](void* in, void* out) { return forward ? places.place(in, out) : places.place(out, in); },
      &job);
  return job;
}

std::vector<uint8_t> tiled_picture(int width, int height) {
  constexpr int kTileWidth = 960, kTileHeight = 540;
  static const std::vector<uint8_t> tile = [] {
    const Picture picture =
        make_picture(Sampling::kGrey, kTileWidth, kTileHeight, 8, Content::kPhoto, 1);
    return std::vector<uint8_t>(picture[0].samples.begin(), picture[0].samples.end());
  }();
  std::vector<uint8_t> picture(area(width, height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; x += kTileWidth)
      std::copy_n(&tile[area(kTileWidth, y % kTileHeight)], std::min(kTileWidth, width - x),
                  &picture[area(width, y) + static_cast<size_t>(x)]);
  return picture;
}

std::vector<uint8_t> output_of(const KernelJob& job, std::vector<uint8_t> input) {
  static const Engine engine = host_engine(make_host_device(0));
  std::vector<uint8_t> output(job.out_size);
  const Status status = job.submit(engine, input.data(), output.data(), nullptr);
  if (!status.ok()) throw std::runtime_error(status.message);
  return output;
}

std::string compare_outputs(const KernelJob& job, const std::vector<uint8_t>& expected,
                            const std::vector<uint8_t>& got) {
  for (const Region& region : job.written)
    for (size_t y = 0; y < region.rows; ++y) {
      const size_t row = region.offset + y * region.pitch;
      if (std::memcmp(&expected[row], &got[row], region.row_bytes) != 0)
        return "row " + std::to_string(y) + " of the region at " + std::to_string(region.offset);
    }
  return "";
}

}  // namespace cudatransform::test
