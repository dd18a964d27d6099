// Guarded planes of coefficients, and jobs from specs by the same order of calls as in the
// elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dct8x8/job_runner.h"

#include <array>
#include <cstring>

#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {

Dct8x8Job job_of(const Spec& spec, Direction direction, int components) {
  Dct8x8Job job;
  job.direction = direction;
  job.method = spec.method;
  job.type = spec.type;
  job.layout = spec.layout;
  job.order = spec.order;
  job.quantized = spec.quantized;
  job.depth = spec.depth;
  job.scale = spec.scale;
  job.components = components;
  job.measure = spec.measure;
  if (direction == Direction::kForward) {
    job.quantizer = spec.quantizer;
    job.dead_zone = spec.dead_zone;
    job.rd_lambda = spec.rd_lambda;
  }
  // Component c uses table (c + 1) % 4: this exposes an engine that ignores the index.
  std::memset(job.tables, 0, sizeof job.tables);
  if (spec.quantized) {
    for (QuantTable& table : job.tables)
      for (uint16_t& q : table.q) q = 7;
    for (int c = 0; c < components; ++c) job.tables[c + 1] = spec.tables[c];
  }
  return job;
}

ForwardResult run_forward(const Engine& engine, const Spec& spec, const Picture& picture) {
  Coefficients coefs = empty_coefficients(picture);
  CoefFrame output(engine, coefs, spec.type, spec.layout, spec.order, true, spec.seed + 1);
  return run_forward_job(engine, *engine.ops, spec, picture,
                         job_of(spec, Direction::kForward, static_cast<int>(picture.size())),
                         std::move(output), std::move(coefs));
}

InverseResult run_inverse(const Engine& engine, const Spec& spec, const Coefficients& coefs,
                          const Picture& like, const Picture* reference) {
  InverseResult result;
  result.picture = like;
  Dct8x8Job job = job_of(spec, Direction::kInverse, static_cast<int>(coefs.size()));
  CoefFrame input(engine, coefs, spec.type, spec.layout, spec.order, false, spec.seed + 1);
  SampleFrame output(engine, like, spec.depth, spec.arrangement, spec.chroma_row_repeat, true,
                     spec.seed);
  input.fill(coefs);
  input.describe(job.coefs);
  output.describe(job.samples);
  const auto original = make_reference(engine, spec, reference, job.reference);
  result.fault = run_job(engine, *engine.ops, job, input, output, original.get(), &result.sums);
  if (result.fault.empty()) result.fault = output.read(&result.picture);
  return result;
}

namespace {

size_t size_of(CoefType type) { return type == CoefType::kS16 ? 2 : 4; }

int zigzag_of_natural(int natural) {
  static const std::array<int, 64> position = [] {
    std::array<int, 64> p{};
    for (int k = 0; k < 64; ++k) p[natural_of_zigzag(k)] = k;
    return p;
  }();
  return position[natural];
}

}  // namespace

CoefFrame::CoefFrame(const Engine& engine, const Coefficients& like, CoefType type, Layout layout,
                     Order order, bool writable, uint32_t seed)
    : GuardedFrame(engine), type_(type), layout_(layout), order_(order) {
  std::mt19937 random(seed);
  const size_t unit = engine.is_cuda ? 16 : size_of(type);
  for (size_t c = 0; c < like.size(); ++c) {
    const Blocks& blocks = like[c];
    Component component{};
    component.plane.blocks_w = blocks.blocks_w;
    component.plane.blocks_h = blocks.blocks_h;
    component.plane.table = static_cast<int32_t>(c) + 1;  // as in job_of()
    component.plane.chroma = is_decided_as_chroma(c);
    const size_t row_samples =
        static_cast<size_t>(blocks.blocks_w) * (layout == Layout::kBlock ? 64 : 8);
    const size_t rows = static_cast<size_t>(blocks.blocks_h) * (layout == Layout::kBlock ? 1 : 8);
    const size_t row_bytes = row_samples * size_of(type);
    const bool pooled = is_pooled(seed);
    const size_t pitch = row_bytes + (pooled ? 0 : pick_gap(random, unit));
    component.plane.pitch = static_cast<ptrdiff_t>(pitch);
    const size_t bytes = pitch * (rows - 1) + row_bytes;
    const Room room = pooled ? make_pooled_room(random, bytes) : make_room(random, bytes, unit);
    component.offset = room.offset;
    component.buffer = buffers_.size();
    buffers_.emplace_back(engine, room.total);
    if (writable)
      for (size_t y = 0; y < rows; ++y)
        buffers_.back().allow(component.offset + y * pitch, row_bytes);
    components_.push_back(component);
  }
}

size_t CoefFrame::offset_of(const Component& component, int bx, int by, int natural) const {
  const auto pitch = static_cast<size_t>(component.plane.pitch);
  if (layout_ == Layout::kPlane)
    return component.offset + (8 * by + natural / 8) * pitch +
           (8 * bx + natural % 8) * size_of(type_);
  const int position = order_ == Order::kZigzag ? zigzag_of_natural(natural) : natural;
  return component.offset + by * pitch + (64 * bx + position) * size_of(type_);
}

template <typename Function>
void CoefFrame::for_each(size_t c, const Function& function) {
  const Component& component = components_[c];
  for (int by = 0; by < component.plane.blocks_h; ++by)
    for (int bx = 0; bx < component.plane.blocks_w; ++bx)
      for (int k = 0; k < 64; ++k)
        function(buffers_[component.buffer].host() + offset_of(component, bx, by, k), bx, by, k);
}

void CoefFrame::fill(const Coefficients& coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](uint8_t* p, int bx, int by, int k) {
      const double value = coefs[c].block(bx, by)[k];
      const auto store = [&](auto typed) { std::memcpy(p, &typed, sizeof typed); };
      if (type_ == CoefType::kS16)
        store(static_cast<int16_t>(value));
      else if (type_ == CoefType::kS32)
        store(static_cast<int32_t>(value));
      else
        store(static_cast<float>(value));
    });
}

void CoefFrame::poison() {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](uint8_t* p, int, int, int) { std::memset(p, 0x5D, size_of(type_)); });
}

void CoefFrame::read(Coefficients* coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](const uint8_t* p, int bx, int by, int k) {
      const auto load = [&](auto typed) {
        std::memcpy(&typed, p, sizeof typed);
        return static_cast<double>(typed);
      };
      (*coefs)[c].block(bx, by)[k] = type_ == CoefType::kS16   ? load(int16_t())
                                     : type_ == CoefType::kS32 ? load(int32_t())
                                                               : load(float());
    });
}

void CoefFrame::describe(CoefPlane planes[3]) const {
  for (size_t c = 0; c < components_.size(); ++c) {
    planes[c] = components_[c].plane;
    planes[c].data = buffers_[components_[c].buffer].address() + components_[c].offset;
  }
}

}  // namespace cudatransform::test
