// Kernels that encode APV, run on the host: the fake driver computes their output.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <cstring>

#include "apv/chain_writer.h"
#include "cuda/apv/kernels.h"
#include "tests/check/fakecuda/deferred.h"
#include "transform/apv/forward_arithmetic.h"

namespace fakecuda {
namespace {

using namespace cudatransform;
using namespace cudatransform::cuda;

// ---- The forward transform ----

int32_t sample_at(const ApvForwardParams& params, const ApvForwardPlaneParams& plane, uint32_t x,
                  uint32_t y) {
  const uint8_t* const row = plane.samples + int64_t{std::min(y, plane.height - 1)} * plane.pitch;
  x = std::min(x, plane.width - 1);
  if (plane.is_bytes) return row[x] << (params.depth - 8);
  uint16_t container;
  std::memcpy(&container, row + size_t{2} * x, sizeof container);
  return std::min(container >> params.shift, (1 << params.depth) - 1);
}

void transform(const ApvForwardParams& params) {
  static constexpr ApvScan kScan;
  for (const ApvForwardPlaneParams& plane : params.planes) {
    if (plane.first_block == UINT32_MAX) continue;
    int16_t* to = plane.coefs;
    for (uint32_t block = 0; block < plane.blocks_across * plane.blocks_down; ++block, to += 64) {
      const uint32_t x = 8 * (block % plane.blocks_across), y = 8 * (block / plane.blocks_across);
      int32_t v[64];
      for (uint32_t i = 0; i < 64; ++i)
        v[i] = sample_at(params, plane, x + i % 8, y + i / 8) - (1 << (params.depth - 1));
      apv_forward_block(v, params.depth);
      for (int i = 0; i < 64; ++i) to[i] = static_cast<int16_t>(v[kScan.place[i]]);
    }
  }
}

// ---- Entropy coding ----

// Calls visit(coefs) for each block of a chain, quantized.
template <typename Visit>
void visit_chain(const ApvCodeParams& params, uint32_t chain, uint32_t of, const Visit& visit) {
  const uint32_t component = chain % params.components, tile = chain / params.components;
  const ApvCodePlane& plane = params.planes[component];
  const uint32_t mb_x = tile % params.tile_columns * params.tile_mbs_across;
  const uint32_t mb_y = tile / params.tile_columns * params.tile_mbs_down;
  const int qp = params.qp[of][component], shift = apv_quantizer_shift(qp, params.depth);
  for (uint32_t y = mb_y; y < std::min(mb_y + params.tile_mbs_down, params.mbs_down); ++y) {
    for (uint32_t x = mb_x; x < std::min(mb_x + params.tile_mbs_across, params.mbs_across); ++x) {
      for (uint32_t i = 0; i < 2 * plane.mb_blocks_across; ++i) {
        const uint32_t block = (2 * y + i / plane.mb_blocks_across) * plane.blocks_across +
                               x * plane.mb_blocks_across + i % plane.mb_blocks_across;
        int16_t coefs[64];
        for (int k = 0; k < 64; ++k) {
          coefs[k] = static_cast<int16_t>(
              apv_quantized<uint64_t>(plane.coefs[size_t{64} * block + static_cast<size_t>(k)],
                                      apv_quantizer_factor(plane.weights[k], qp),
                                      apv_quantizer_round(plane.rounding, shift), shift));
        }
        visit(coefs);
      }
    }
  }
}

uint64_t bytes_of_chain(const ApvCodeParams& params, uint32_t chain, uint32_t of) {
  ApvChainCounter counter;
  visit_chain(params, chain, of, [&](const int16_t* coefs) { counter.put_block(coefs); });
  return counter.bytes();
}

void code(const ApvCodeParams& params) {
  uint64_t at = params.begin_bytes;
  for (uint32_t i = 0; i < params.chains; ++i) {
    params.chain_bytes[i] = static_cast<uint32_t>(bytes_of_chain(params, i, 0));
    if (i % params.components == 0) at += params.tile_header_bytes;
    params.positions[i] = static_cast<uint32_t>(at);
    at += params.chain_bytes[i];
  }
  *params.placed = {at, at <= params.capacity ? 1u : 0u, 0};
}

void write(const ApvCodeParams& params) {
  if (params.placed->fits == 0) return;
  for (uint32_t i = 0; i < params.chains; ++i) {
    ApvBytes bytes;
    ApvChainWriter writer(&bytes);
    visit_chain(params, i, 0, [&](const int16_t* coefs) { writer.put_block(coefs); });
    writer.finish();
    std::copy(bytes.begin(), bytes.end(), params.output + params.positions[i]);
  }
}

void measure(const ApvCodeParams& params, uint32_t count) {
  for (uint32_t of = 0; of < count; ++of)
    for (uint32_t i = 0; i < params.chains; ++i) params.totals[of] += bytes_of_chain(params, i, of);
}

}  // namespace

bool is_apv_encoder_kernel(const std::string& kernel) {
  return kernel == "apv_forward" || kernel == "apv_code" || kernel == "apv_measure" ||
         kernel == "apv_write";
}

std::function<void()> apv_computation_of(const std::string& kernel, unsigned ctas,
                                         const void* params) {
  if (kernel == "apv_forward") {
    return [params = *static_cast<const ApvForwardParams*>(params)] { transform(params); };
  }
  const ApvCodeParams& coded = *static_cast<const ApvCodeParams*>(params);
  if (kernel == "apv_code") return [coded] { code(coded); };
  if (kernel == "apv_write") return [coded] { write(coded); };
  return [coded, count = ctas / coded.chains] { measure(coded, count); };
}

}  // namespace fakecuda
