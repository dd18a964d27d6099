// The checks that keep motion compensation inside its buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/obmc/obmc.h"

#include <algorithm>
#include <string>

#include "transform/picture_check.h"

namespace cudatransform {

namespace {

Status check_components(int components, const int* depth) {
  if (components != 1 && components != 3) {
    return job_error(text(components) + " components, expected 1 or 3");
  }
  for (int c = 0; c < components; ++c) {
    if (depth[c] < 1 || depth[c] > 16) {
      return job_error("depth " + text(depth[c]) + " of component " + text(c) +
                       ", expected 1 to 16");
    }
  }
  return {};
}

// Rows of samples side by side, without containers that are larger than they need be.
Status check_plane(const Where& where, const SamplePlane& plane, int depth) {
  if (plane.width < 1 || plane.height < 1 || plane.width > kMaxObmcSide ||
      plane.height > kMaxObmcSide) {
    return where.error(text(plane.width) + "x" + text(plane.height) + " samples, expected 1 to " +
                       text(kMaxObmcSide) + " on a side");
  }
  const bool fits = plane.type == SampleType::kU16 || (plane.type == SampleType::kU8 && depth <= 8);
  if (!fits) return where.error("samples of " + text(depth) + " bits in 8-bit samples");
  const int bytes = plane.type == SampleType::kU8 ? 1 : 2;
  if (plane.stride != bytes || plane.shift != 0 || plane.row_repeat != 1) {
    return where.error("expected adjacent samples, without shift and row repeat");
  }
  return check_pitch(where, plane.data, plane.pitch, int64_t{plane.width} * bytes, plane.height,
                     bytes);
}

Status check_same(const Where& where, const SamplePlane& plane, const SamplePlane& other) {
  if (plane.width == other.width && plane.height == other.height && plane.type == other.type) {
    return {};
  }
  return where.error(text(plane.width) + "x" + text(plane.height) +
                     " samples differ in size or type from the " + text(other.width) + "x" +
                     text(other.height) + " that belong to them");
}

Status check_reference_planes(const ObmcReference& reference, int component, int depth, int count,
                              const SamplePlane& like) {
  const Where where{"reference", component};
  for (int i = 0; i < count; ++i) {
    const SamplePlane& plane = reference.planes[component][i];
    CT_RETURN_IF_ERROR(check_plane(where, plane, depth));
    CT_RETURN_IF_ERROR(check_same(where, plane, like));
  }
  return {};
}

Status check_residual(const ObmcJob& job, int component) {
  const SamplePlane& residual = job.residual[component];
  if (residual.data == nullptr) return {};
  const Where where{"residual", component};
  const SamplePlane& samples = job.samples[component];
  if (residual.type != SampleType::kS16 || residual.stride != 2 || residual.shift != 0 ||
      residual.row_repeat != 1 || residual.width != samples.width ||
      residual.height != samples.height) {
    return where.error("expected adjacent signed 16-bit samples, as many as the output");
  }
  return check_pitch(where, residual.data, residual.pitch, int64_t{residual.width} * 2,
                     residual.height, 2);
}

Status check_axis(const char* axis, int32_t length, int32_t separation, int32_t blocks,
                  int32_t size) {
  if (separation < 4 || separation % 4 != 0 || length % 4 != 0 || length < separation ||
      length > 2 * int64_t{separation} || length > kMaxObmcBlock) {
    return job_error(std::string(axis) + ": blocks of " + text(length) + " samples every " +
                     text(separation) + ", expected multiples of 4, the first at least the " +
                     "second, at most twice it and at most " + text(kMaxObmcBlock));
  }
  if (blocks < 1 || blocks > kMaxObmcSide || int64_t{blocks} * separation < size) {
    return job_error(std::string(axis) + ": " + text(blocks) + " blocks every " + text(separation) +
                     " samples do not cover " + text(size));
  }
  return {};
}

Status check_vectors(const ObmcJob& job) {
  const int64_t count = int64_t{job.blocks_across} * job.blocks_down;
  const int most = (1 << job.reference_count) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const ObmcBlock& block = job.blocks[i];
    if (block.references > most) {
      return job_error("block " + text(i) + " refers to a missing reference");
    }
    for (const auto& vector : block.vector) {
      for (const int32_t part : vector) {
        if (part < -kMaxObmcVector || part > kMaxObmcVector) {
          return job_error("block " + text(i) + " has a vector of more than " +
                           text(kMaxObmcVector));
        }
      }
    }
  }
  return {};
}

Status check_prediction(const ObmcJob& job) {
  if (job.precision < 0 || job.precision > kMaxObmcPrecision) {
    return job_error("vector precision " + text(job.precision) + ", expected 0 to 3");
  }
  if (job.reference_count < 0 || job.reference_count > kMaxObmcReferences) {
    return job_error(text(job.reference_count) + " references, expected 0 to 2");
  }
  if (job.weight_bits < 0 || job.weight_bits > kMaxObmcWeightBits) {
    return job_error("weights of " + text(job.weight_bits) + " bits, expected 0 to " +
                     text(kMaxObmcWeightBits));
  }
  for (const int32_t weight : job.weights) {
    if (weight < -kMaxObmcWeight || weight > kMaxObmcWeight) {
      return job_error("a weight of " + text(weight) + ", expected at most " +
                       text(kMaxObmcWeight));
    }
  }
  if ((job.chroma_shift_x | job.chroma_shift_y) & ~1) {
    return job_error("chroma subsampling other than 1 or 2");
  }
  CT_RETURN_IF_ERROR(
      check_axis("rows", job.length_x, job.separation_x, job.blocks_across, job.samples[0].width));
  CT_RETURN_IF_ERROR(check_axis("columns", job.length_y, job.separation_y, job.blocks_down,
                                job.samples[0].height));
  return job.inspection.is_sound ? Status{} : check_vectors(job);
}

}  // namespace

Status inspect_obmc_blocks(const ObmcJob& job, ObmcInspection* inspection) {
  CT_RETURN_IF_ERROR(check_vectors(job));
  const ptrdiff_t count = ptrdiff_t{job.blocks_across} * job.blocks_down;
  inspection->is_sound = true;
  inspection->has_byte_values =
      std::all_of(job.blocks, job.blocks + count, [&](const ObmcBlock& block) {
        return block.references != 0 ||
               std::all_of(block.dc, block.dc + job.components,
                           [](int16_t value) { return value >= -128 && value <= 127; });
      });
  return {};
}

Status validate(const UpsampleJob& job) {
  CT_RETURN_IF_ERROR(check_components(job.components, job.depth));
  for (int c = 0; c < job.components; ++c) {
    CT_RETURN_IF_ERROR(
        check_reference_planes(job.reference, c, job.depth[c], 4, job.reference.planes[c][0]));
  }
  return {};
}

Status validate(const ObmcJob& job) {
  CT_RETURN_IF_ERROR(check_components(job.components, job.depth));
  for (int c = 0; c < job.components; ++c) {
    CT_RETURN_IF_ERROR(check_plane({"samples", c}, job.samples[c], job.depth[c]));
    CT_RETURN_IF_ERROR(check_residual(job, c));
  }
  if (job.blocks == nullptr) return {};
  CT_RETURN_IF_ERROR(check_prediction(job));
  for (int c = 1; c < job.components; ++c) {
    const int64_t wide = int64_t{job.samples[c].width} << job.chroma_shift_x;
    const int64_t high = int64_t{job.samples[c].height} << job.chroma_shift_y;
    if (wide > int64_t{job.blocks_across} * job.separation_x ||
        high > int64_t{job.blocks_down} * job.separation_y) {
      return job_error("the blocks do not cover component " + text(c));
    }
  }
  const int planes = job.precision == 0 ? 1 : 4;
  for (int r = 0; r < job.reference_count; ++r) {
    for (int c = 0; c < job.components; ++c) {
      CT_RETURN_IF_ERROR(
          check_reference_planes(job.references[r], c, job.depth[c], planes, job.samples[c]));
    }
  }
  return {};
}

}  // namespace cudatransform
