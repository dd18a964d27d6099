// What the fast kernels are told, kept from one job to the next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8_fast_params.h"

#include <algorithm>
#include <iterator>

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
    result.minus_limit[i / 2] |= ((0u - limit) & 0xffffu) << (16 * (i % 2));
    if (transposed)  // bytes, by columns
      result.q[(i % 8 * 8 + i / 8) / 4] |= q << (8 * (i / 8 % 4));
    else
      result.q[i / 2] |= q << (24 * (i % 2));
  }
  return result;
}

}  // namespace

static bool is_zigzag(const Dct8x8Job& job) {
  return job.order == Order::kZigzag && job.layout == Layout::kBlock;
}

bool FastParams::Origin::matches(const Dct8x8Job& job, int c, bool is_transposed) const {
  if (!known || method != job.method || depth != job.depth || quantized != job.quantized ||
      zigzag != is_zigzag(job) || transposed != is_transposed) {
    return false;
  }
  return !quantized || std::equal(std::begin(table.q), std::end(table.q),
                                  std::begin(job.tables[job.coefs[c].table].q));
}

void FastParams::Origin::take(const Dct8x8Job& job, int c, bool is_transposed) {
  known = true;
  method = job.method;
  depth = job.depth;
  quantized = job.quantized;
  zigzag = is_zigzag(job);
  transposed = is_transposed;
  if (quantized) table = job.tables[job.coefs[c].table];
}

void FastParams::fill(const Dct8x8Job& job, Origin* origins, FastForwardTable* tables) {
  for (int c = 0; c < job.components; ++c) {
    Origin& from = origins[c];
    if (from.matches(job, c, false)) continue;
    from.take(job, c, false);
    tables[c] = make_forward(from.method, from.quantized ? &from.table : nullptr);
  }
}

void FastParams::fill(const Dct8x8Job& job, bool transposed, Origin* origins,
                      FastInverseTable* tables) {
  for (int c = 0; c < job.components; ++c) {
    Origin& from = origins[c];
    if (from.matches(job, c, transposed)) continue;
    from.take(job, c, transposed);
    tables[c] = from.method == Method::kFloat
                    ? make_float_inverse(from.depth, from.quantized ? &from.table : nullptr)
                    : make_islow_inverse(from.zigzag, from.transposed, from.table);
  }
}

FastForwardParams& FastParams::forward(const Dct8x8Job& job) {
  fill(job, forward_.forward, forward_.params.tables);
  return forward_.params;
}

FastMeasureParams& FastParams::measure(const Dct8x8Job& job) {
  fill(job, measure_.forward, measure_.params.forward.tables);
  if ((job.measure & kMeasureSse) != 0) fill(job, false, measure_.inverse, measure_.params.inverse);
  return measure_.params;
}

FastInverseParams& FastParams::inverse(const Dct8x8Job& job, bool transposed) {
  fill(job, transposed, inverse_.inverse, inverse_.params.tables);
  return inverse_.params;
}

FastCompareParams& FastParams::compare(const Dct8x8Job& job) {
  fill(job, false, compare_.inverse, compare_.params.inverse.tables);
  return compare_.params;
}

}  // namespace cudatransform::cuda
