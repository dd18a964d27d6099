// Wavelet jobs from specs.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/engine/dwt/job_runner.h"

#include <algorithm>
#include <cstring>

namespace cudatransform::test::dwt {

namespace {

DwtJob job_of(const Spec& spec, Direction direction, size_t components) {
  DwtJob job;
  job.direction = direction;
  job.wavelet = spec.shape.wavelet;
  job.wavelet_ho = spec.shape.wavelet_ho;
  job.levels = {spec.shape.levels, spec.shape.levels_ho};
  job.type = spec.type;
  job.depth = spec.depth;
  job.components = static_cast<int>(components);
  job.measure = spec.measure;
  for (size_t c = 0; c < components; ++c)
    std::copy(spec.quant_index[c].begin(), spec.quant_index[c].end(), job.quant_index[c]);
  return job;
}

}  // namespace

Pyramids empty_pyramids(const Picture& picture, const Shape& shape) {
  Pyramids pyramids;
  for (const Plane& plane : picture)
    pyramids.emplace_back(padded_width(shape, plane.width), padded_height(shape, plane.rows));
  return pyramids;
}

ForwardResult run_forward(const Engine& engine, const Spec& spec, const Picture& picture) {
  Pyramids coefs = empty_pyramids(picture, spec.shape);
  PyramidFrame output(engine, coefs, spec.type, true, spec.seed + 1);
  return run_forward_job(engine, *engine.dwt_ops, spec, picture,
                         job_of(spec, Direction::kForward, picture.size()), std::move(output),
                         std::move(coefs));
}

InverseResult run_inverse(const Engine& engine, const Spec& spec, const Pyramids& coefs,
                          const Picture& like, const Picture* reference) {
  InverseResult result;
  result.picture = like;
  DwtJob job = job_of(spec, Direction::kInverse, coefs.size());
  PyramidFrame input(engine, coefs, spec.type, false, spec.seed + 1);
  // Every other plane of residuals has room for the padding.
  job.samples_have_room = spec.arrangement == Arrangement::kResidual &&
                          spec.chroma_row_repeat == 1 && spec.seed / 8 % 2 == 0;
  Picture memory = like;
  for (size_t c = 0; c < like.size() && job.samples_have_room; ++c)
    memory[c] = Plane(coefs[c].width, coefs[c].rows);
  SampleFrame output(engine, memory, spec.depth, spec.arrangement, spec.chroma_row_repeat, true,
                     spec.seed);
  input.fill(coefs);
  input.describe(job.coefs);
  output.describe(job.samples);
  for (size_t c = 0; c < like.size(); ++c) {
    if (!job.samples_have_room) break;
    job.samples[c].width = like[c].width;
    job.samples[c].height = like[c].rows;
  }
  const auto original = make_reference(engine, spec, reference, job.reference);
  result.fault = run_job(engine, *engine.dwt_ops, job, input, output, original.get(), &result.sums);
  if (result.fault.empty()) result.fault = output.read(&memory);
  for (size_t c = 0; c < like.size(); ++c) {
    for (int y = 0; y < like[c].rows; ++y)
      for (int x = 0; x < like[c].width; ++x) result.picture[c].at(x, y) = memory[c].at(x, y);
  }
  return result;
}

namespace {

size_t size_of(DwtCoefType type) { return type == DwtCoefType::kS16 ? 2 : 4; }

}  // namespace

PyramidFrame::PyramidFrame(const Engine& engine, const Pyramids& like, DwtCoefType type,
                           bool writable, uint32_t seed)
    : GuardedFrame(engine), type_(type) {
  std::mt19937 random(seed);
  const size_t unit = engine.is_cuda ? 16 : size_of(type);
  for (const Values& plane : like) {
    const size_t row_bytes = static_cast<size_t>(plane.width) * size_of(type);
    const bool pooled = is_pooled(seed);
    size_t pitch = pooled ? align_up(row_bytes) : row_bytes + pick_gap(random, unit);
    pitch = (pitch + unit - 1) / unit * unit;
    const auto rows = static_cast<size_t>(plane.rows);
    const size_t bytes = pitch * (rows - 1) + row_bytes;
    Room room = pooled ? make_pooled_room(random, bytes) : make_room(random, bytes, unit);
    const size_t slack = room.offset % unit;  // make_room() moves planes at their end
    components_.push_back({room.offset - slack, pitch, plane.width, plane.rows});
    buffers_.emplace_back(engine, room.total);
    if (!writable) continue;
    for (size_t y = 0; y < rows; ++y)
      buffers_.back().allow(room.offset - slack + y * pitch, row_bytes);
  }
}

template <typename Function>
void PyramidFrame::for_each(size_t c, Function function) {
  const Component& component = components_[c];
  for (int y = 0; y < component.rows; ++y)
    for (int x = 0; x < component.width; ++x)
      function(buffers_[c].host() + component.offset + static_cast<size_t>(y) * component.pitch +
                   static_cast<size_t>(x) * size_of(type_),
               x, y);
}

void PyramidFrame::fill(const Pyramids& coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](uint8_t* p, int x, int y) {
      const auto value = static_cast<int32_t>(coefs[c].at(x, y));
      std::memcpy(p, &value, size_of(type_));  // little endian
    });
}

void PyramidFrame::poison() {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](uint8_t* p, int, int) { std::memset(p, 0x5D, size_of(type_)); });
}

void PyramidFrame::read(Pyramids* coefs) {
  for (size_t c = 0; c < components_.size(); ++c)
    for_each(c, [&](const uint8_t* p, int x, int y) {
      int32_t value = 0;
      std::memcpy(&value, p, size_of(type_));
      (*coefs)[c].at(x, y) = type_ == DwtCoefType::kS16 ? static_cast<int16_t>(value) : value;
    });
}

void PyramidFrame::describe(DwtPlane planes[3]) const {
  for (size_t c = 0; c < components_.size(); ++c)
    planes[c] = {buffers_[c].address() + components_[c].offset,
                 static_cast<ptrdiff_t>(components_[c].pitch)};
}

}  // namespace cudatransform::test::dwt
