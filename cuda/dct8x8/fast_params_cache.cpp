// Parameters of the fast kernels, kept from one job to the next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8/fast_params_cache.h"

#include "transform/dct8x8/decision.h"

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

// AC is rounded from eighths, as islow's.
FastForwardTable make_decided_forward(Method method, const QuantTable& table) {
  FastForwardTable result = make_forward(Method::kIslow, &table);
  result.mul[0] = make_forward(method, &table).mul[0];
  return result;
}

void make_limits(int dead_zone, const QuantTable& table, int32_t* limits) {
  const int thousandths = dead_zone != 0 ? dead_zone : 500;
  for (int i = 0; i < 64; ++i) limits[i] = (thousandths * 8 * table.q[i] + 999) / 1000;
}

FastInverseTable make_float_inverse(int depth, const QuantTable* table) {
  FastInverseTable result = {};
  const InverseTable plain = make_inverse_table(Method::kFloat, table);
  const float peak = static_cast<float>((1 << depth) - 1);
  for (int i = 0; i < 64; ++i) result.mul[i] = plain.mul[i] / peak;
  return result;
}

FastInverseTable make_islow_inverse(bool zigzag, const QuantTable& table) {
  FastInverseTable result = {};
  for (int i = 0; i < 64; ++i) {
    const int natural = zigzag ? kNaturalOfZigzag[i] : i;
    const uint32_t q = table.q[natural];
    const uint32_t limit = (natural == 0 ? 2048 : 949) / q;  // see exceeds_limits()
    result.limit[i / 2] |= limit << (16 * (i % 2));
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

FastParamsCache::Kind FastParamsCache::kind_of(const Dct8x8Job& job) {
  const bool zigzag = job.order == Order::kZigzag && job.layout == Layout::kBlock;
  const int dead_zone = job.quantizer == Quantizer::kDeadZone ? job.dead_zone : 0;
  return {job.method, job.depth, job.quantized, zigzag, job.quantizer, dead_zone};
}

template <typename Make>
void FastParamsCache::renew(const Dct8x8Job& job, const Kind& kind, std::optional<Origin>* origins,
                            Make&& make) {
  for (int c = 0; c < job.components; ++c) {
    const QuantTable& table = job.tables[job.coefs[c].table];
    if (origins[c] && origins[c]->kind == kind && (!kind.quantized || origins[c]->table == table))
      continue;
    make(c, kind.quantized ? &table : nullptr);
    origins[c] = {kind, kind.quantized ? table : QuantTable{}};
  }
}

// Entries of islow above 255 do not fit. Only a job that counts zeros may have them, and it does
// not read them.
FastInverseTable FastParamsCache::make_inverse(const Kind& kind, const QuantTable* table) {
  return kind.method == Method::kFloat ? make_float_inverse(kind.depth, table)
                                       : make_islow_inverse(kind.zigzag, *table);
}

void FastParamsCache::renew_inverse(const Dct8x8Job& job, std::optional<Origin>* origins,
                                    FastPlaneInverseParams* params) {
  const Kind kind = kind_of(job);
  renew(job, kind, origins, [&](int c, const QuantTable* table) {
    FastInverseTable& made = params->inverse.tables[c] = make_inverse(kind, table);
    if (kind.method == Method::kIslow) make_minus_limits(made, params->minus_limits.of[c]);
  });
}

FastForwardParams& FastParamsCache::forward(const Dct8x8Job& job) {
  const Kind kind = kind_of(job);
  renew(job, kind, forward_.origins, [&](int c, const QuantTable* table) {
    forward_.params.tables[c] = make_forward(kind.method, table);
  });
  return forward_.params;
}

FastMeasureParams& FastParamsCache::measure(const Dct8x8Job& job) {
  const Kind kind = kind_of(job);
  renew(job, kind, measure_.origins, [&](int c, const QuantTable* table) {
    measure_.params.forward.tables[c] = make_forward(kind.method, table);
    measure_.params.inverse[c] = make_inverse(kind, table);
  });
  return measure_.params;
}

FastDecidedParams& FastParamsCache::decided(const Dct8x8Job& job) {
  const Kind kind = kind_of(job);
  FastDecidedParams& params = decided_.params;
  renew(job, kind, decided_.origins, [&](int c, const QuantTable* table) {
    params.measure.forward.tables[c] = make_decided_forward(kind.method, *table);
    params.measure.inverse[c] = make_inverse(kind, table);
    make_limits(kind.dead_zone, *table, params.limit[c]);
  });
  params.rd_weight = rd_weight(job.rd_lambda);
  params.chroma = chroma_bits(job);
  return params;
}

FastPlaneInverseParams& FastParamsCache::inverse(const Dct8x8Job& job) {
  renew_inverse(job, inverse_.origins, &inverse_.params);
  return inverse_.params;
}

FastCompareParams& FastParamsCache::compare(const Dct8x8Job& job) {
  renew_inverse(job, compare_.origins, &compare_.params.plane);
  return compare_.params;
}

}  // namespace cudatransform::cuda
