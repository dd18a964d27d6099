// Names of methods, and the checks that keep kernels inside their buffers.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/dct8x8.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "transform/picture_check.h"

namespace cudatransform {

namespace {

// Kernels number the blocks of a frame with 32-bit integers.
constexpr int64_t kMaxBlocks = int64_t{1} << 30;

int coef_bytes(CoefType type) { return type == CoefType::kS16 ? 2 : 4; }

Status check_coefs(const Where& where, const CoefPlane& plane, const SamplePlane& samples,
                   const Dct8x8Job& job) {
  const int64_t size = 8 / job.scale;  // samples of a block in a row
  const int64_t blocks_w = (samples.width + size - 1) / size;
  const int64_t blocks_h = (component_rows(samples) + size - 1) / size;
  if (plane.blocks_w != blocks_w || plane.blocks_h != blocks_h) {
    return where.error(text(plane.blocks_w) + " x " + text(plane.blocks_h) + " blocks, expected " +
                       text(blocks_w) + " x " + text(blocks_h));
  }
  if (plane.table < 0 || plane.table > 3) {
    return where.error("table index " + text(plane.table) + ", expected 0 to 3");
  }
  if (job.quantized) {
    const QuantTable& table = job.tables[plane.table];
    // Counted first: every frame comes here, and compilers make vectors of a count.
    if (job.direction == Direction::kForward && table.has_zero()) {
      const auto* zero = std::find(std::begin(table.q), std::end(table.q), 0);
      return where.error("entry " + text(zero - table.q) + " of quantization table " +
                         text(plane.table) + " is 0, expected 1 to 65535");
    }
    if (table.is_blank())
      return where.error("all entries of quantization table " + text(plane.table) + " are 0");
  }
  const int bytes = coef_bytes(job.type);
  const bool block_layout = job.layout == Layout::kBlock;
  return check_pitch(where, plane.data, plane.pitch, blocks_w * (block_layout ? 64 : 8) * bytes,
                     blocks_h * (block_layout ? 1 : 8), bytes);
}

Status check_quantizer(const Dct8x8Job& job) {
  if (!within(job.quantizer, Quantizer::kRd)) return job_error("unknown quantizer");
  if (job.quantizer == Quantizer::kRound) return {};
  const std::string name = std::string("quantizer ") + quantizer_name(job.quantizer);
  if (job.direction == Direction::kInverse)
    return job_error(name + " with the inverse transform, expected round");
  if (!job.quantized) return job_error(name + " requires quantized coefficients");
  if (job.depth != 8) return job_error(name + " requires depth 8, not " + text(job.depth));
  if (job.method > Method::kFloat)
    return job_error(name + " requires method islow, ifast or float, not " +
                     method_name(job.method));
  if (job.dead_zone < 500 || job.dead_zone > 1000)
    return job_error("dead zone " + text(job.dead_zone) + ", expected 500 to 1000");
  if (!(job.rd_lambda >= 0.001 && job.rd_lambda <= 1.0))
    return job_error("lambda " + std::to_string(job.rd_lambda) + ", expected 0.001 to 1");
  return {};
}

// Larger divisors have no reciprocal in decide_by_rate().
Status check_rd_table(const Dct8x8Job& job, int table) {
  const auto& q = job.tables[table].q;
  const auto* large =
      std::find_if(std::begin(q), std::end(q), [](int entry) { return entry > 255; });
  if (large == std::end(q)) return {};
  return job_error("quantizer rd requires table entries up to 255, not " + text(*large) +
                   " in table " + text(table));
}

Status check_scale(const Dct8x8Job& job) {
  if (job.direction == Direction::kForward)
    return job_error("a scaled forward transform, expected scale 1");
  if (job.scale != 2 && job.scale != 4 && job.scale != 8) {
    return job_error("scale 1/" + text(job.scale) + ", expected 1, 1/2, 1/4 or 1/8");
  }
  if (effective_method(job.method, job.depth, job.scale) != job.method) {
    return job_error(std::string("method ") + method_name(job.method) +
                     " with scaling, expected islow, float or reference");
  }
  if ((job.measure & kMeasureSse) != 0) {
    return job_error("a reference with scaling, expected none");
  }
  return {};
}

Status check_format(const Dct8x8Job& job) {
  if (!within(job.direction, Direction::kInverse) || !within(job.type, CoefType::kF32) ||
      !within(job.layout, Layout::kPlane) || !within(job.order, Order::kZigzag)) {
    return job_error("unknown direction, coefficient type, layout or order");
  }
  CT_RETURN_IF_ERROR(check_depth(job.depth));
  if (!within(job.method, Method::kShuffle)) {
    return job_error("unknown method " + text(int(job.method)));
  }
  if (effective_method(job.method, job.depth) != job.method) {
    return job_error(std::string("method ") + method_name(job.method) + " requires depth 8" +
                     (job.method == Method::kIslow ? " or 12" : "") + ", not " + text(job.depth));
  }
  if (job.scale != 1) CT_RETURN_IF_ERROR(check_scale(job));
  CT_RETURN_IF_ERROR(check_quantizer(job));
  const CoefType qcoefs = job.depth == 16 ? CoefType::kS32 : CoefType::kS16;
  if (job.quantized && job.type != qcoefs) {
    return job_error(std::string("wrong type of quantized coefficients of depth ") +
                     text(job.depth) + ", expected " + (job.depth == 16 ? "S32" : "S16"));
  }
  if (!job.quantized && job.type == CoefType::kS16) {
    return job_error("unquantized S16 coefficients, expected S32 or F32");
  }
  if (job.layout == Layout::kPlane && job.order != Order::kRaster) {
    return job_error("zigzag order with plane layout, expected raster order");
  }
  return {};
}

}  // namespace

const char* method_name(Method method) {
  static constexpr const char* kNames[kMethodCount] = {"islow",     "ifast",      "float",
                                                       "reference", "naive",      "matrix",
                                                       "separable", "decomposed", "shuffle"};
  return within(method, Method::kShuffle) ? kNames[int(method)] : "unknown";
}

const char* quantizer_name(Quantizer quantizer) {
  static constexpr const char* kNames[] = {"round", "dead-zone", "rd"};
  return within(quantizer, Quantizer::kRd) ? kNames[int(quantizer)] : "unknown";
}

Method effective_method(Method method, int depth, int scale) {
  if (method == Method::kIslow && depth == 12) return method;
  const bool eight_bit_only = method == Method::kIslow || method == Method::kIfast;
  if (eight_bit_only && depth > 8) return Method::kFloat;
  if (scale == 1) return method;
  if (eight_bit_only) return Method::kIslow;
  return method == Method::kReference ? Method::kReference : Method::kFloat;
}

int coefficients_needed(Method method, int scale) {
  if (scale == 1) return 64;
  if (scale == 8) return 1;
  if (method == Method::kIslow) return scale == 2 ? 7 * 7 : 5 * 5;
  return scale == 2 ? 4 * 4 : 2 * 2;
}

Status validate(const Dct8x8Job& job) {
  CT_RETURN_IF_ERROR(check_format(job));
  if (job.components != 1 && job.components != 3) {
    return job_error(text(job.components) + " components, expected 1 or 3");
  }
  CT_RETURN_IF_ERROR(check_measuring(job.measure, job.sums, job.timer, job.times));
  const bool inverse = job.direction == Direction::kInverse;
  int64_t blocks = 0;
  for (int c = 0; c < job.components; ++c) {
    CT_RETURN_IF_ERROR(
        check_samples({"samples", c}, job.samples[c], job.depth, kMaxSide / job.scale, inverse));
    CT_RETURN_IF_ERROR(check_coefs({"coefficients", c}, job.coefs[c], job.samples[c], job));
    if (job.quantizer == Quantizer::kRd)
      CT_RETURN_IF_ERROR(check_rd_table(job, job.coefs[c].table));
    if (inverse && (job.measure & kMeasureSse) != 0) {
      CT_RETURN_IF_ERROR(
          check_reference({"reference", c}, job.reference[c], job.samples[c], job.depth));
    }
    // The level shift and the clamp are chosen once a job.
    if (job.samples[c].type != job.samples[0].type) {
      return job_error("samples of component " + text(c) + " differ in type from the first's");
    }
    blocks += int64_t{job.coefs[c].blocks_w} * job.coefs[c].blocks_h;
    if (blocks > kMaxBlocks) {
      return job_error("more than " + text(kMaxBlocks) + " blocks in one job");
    }
  }
  return {};
}

}  // namespace cudatransform
