// What the fast kernels are told, kept from one job to the next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8_fast_params.h"

#include <type_traits>

namespace cudatransform::cuda {
namespace {

FastForwardTable make_forward(Method method, const QuantTable* table) {
  const ForwardTable plain = make_forward_table(method, table);
  FastForwardTable result = {};
  for (int i = 0; i < 64; ++i) {
    result.mul[i] = plain.mul[i];
    if (method == Method::kIslow)
      result.mul[i] = static_cast<float>(1.0 / (8.0 * table->q[i]) * (1.0 + 0x1p-16));
  }
  return result;
}

FastInverseTable make_float_inverse(int depth, const QuantTable* table) {
  FastInverseTable result = {};
  const InverseTable plain = make_inverse_table(Method::kFloat, table);
  const float peak = static_cast<float>((1 << depth) - 1);
  for (int i = 0; i < 64; ++i) result.mul[i] = plain.mul[i] / peak;
  return result;
}

FastInverseTable make_islow_inverse(bool zigzag, bool transposed, const QuantTable& table) {
  FastInverseTable result = {};
  for (int i = 0; i < 64; ++i) {
    const int natural = zigzag ? kNaturalOfZigzag[i] : i;
    const uint32_t q = table.q[natural];
    const uint32_t limit = (natural == 0 ? 2048 : 949) / q;  // see exceeds_limits()
    result.limit[i / 2] |= limit << (16 * (i % 2));
    if (transposed)  // bytes, by columns
      result.q[(i % 8 * 8 + i / 8) / 4] |= q << (8 * (i / 8 % 4));
    else
      result.q[i / 2] |= q << (24 * (i % 2));
  }
  return result;
}

void make_minus_limits(const FastInverseTable& table, uint32_t* minus_limits) {
  for (int i = 0; i < 32; ++i) {
    const uint32_t pair = table.limit[i];
    minus_limits[i] = (0u - (pair & 0xffff0000u)) | ((0u - pair) & 0xffffu);
  }
}

}  // namespace

FastParams::Kind FastParams::kind_of(const Dct8x8Job& job, bool transposed) {
  const bool zigzag = job.order == Order::kZigzag && job.layout == Layout::kBlock;
  return {job.method, job.depth, job.quantized, zigzag, transposed};
}

template <typename Table>
void FastParams::fill(const Dct8x8Job& job, bool transposed, std::optional<Origin>* origins,
                      Table* tables, FastMinusLimits* minus_limits) {
  const Kind kind = kind_of(job, transposed);
  for (int c = 0; c < job.components; ++c) {
    const QuantTable& table = job.tables[job.coefs[c].table];
    if (origins[c] && origins[c]->kind == kind && (!kind.quantized || origins[c]->table == table))
      continue;
    const QuantTable* quantization = kind.quantized ? &table : nullptr;
    if constexpr (std::is_same_v<Table, FastForwardTable>) {
      tables[c] = make_forward(kind.method, quantization);
    } else if (kind.method == Method::kFloat) {
      tables[c] = make_float_inverse(kind.depth, quantization);
    } else {
      tables[c] = make_islow_inverse(kind.zigzag, transposed, table);
      if (minus_limits != nullptr) make_minus_limits(tables[c], minus_limits->of[c]);
    }
    origins[c] = {kind, kind.quantized ? table : QuantTable{}};
  }
}

FastForwardParams& FastParams::forward(const Dct8x8Job& job) {
  fill(job, false, forward_.forward, forward_.params.tables);
  return forward_.params;
}

FastMeasureParams& FastParams::measure(const Dct8x8Job& job) {
  fill(job, false, measure_.forward, measure_.params.forward.tables);
  if ((job.measure & kMeasureSse) != 0) fill(job, false, measure_.inverse, measure_.params.inverse);
  return measure_.params;
}

FastPlaneInverseParams& FastParams::inverse(const Dct8x8Job& job, bool transposed) {
  fill(job, transposed, inverse_.inverse, inverse_.params.inverse.tables,
       &inverse_.params.minus_limits);
  return inverse_.params;
}

FastCompareParams& FastParams::compare(const Dct8x8Job& job) {
  fill(job, false, compare_.inverse, compare_.params.plane.inverse.tables,
       &compare_.params.plane.minus_limits);
  return compare_.params;
}

}  // namespace cudatransform::cuda
