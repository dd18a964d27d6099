// Decides quantized coefficients on the CPU, a block at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/decision.h"

#include <cmath>

namespace cudatransform {

namespace {

// A block for decide_by_rate(), whose quantized coefficients are rounded already.
struct HostBlock {
  const Decision& decision;
  const int32_t* eighths;
  int16_t* qcoefs;

  int32_t magnitude(int k) const { return std::abs(eighths[kNaturalOfZigzag[k]]); }
  int32_t qcoef(int k) const { return std::abs(qcoefs[kNaturalOfZigzag[k]]); }
  int32_t divisor(int k) const { return decision.divisor[kNaturalOfZigzag[k]]; }
  uint32_t reciprocal(int k) const { return decision.reciprocal[kNaturalOfZigzag[k]]; }
  void set(int k, int32_t qcoef) const {
    int16_t& stored = qcoefs[kNaturalOfZigzag[k]];
    stored = int16_t(stored < 0 ? -qcoef : qcoef);
  }
};

// RdRates, with a place for each run and size: a block has many of them.
struct HostRates {
  uint16_t rates[64][16];
  uint32_t end;

  uint32_t of(int run, int size) const { return rates[run][size]; }
  uint32_t end_of_block() const { return end; }
};
constexpr HostRates make_host_rates(bool chroma) {
  const AcBits bits = make_ac_bits(chroma);
  HostRates result = {};
  for (int run = 0; run < 63; ++run)
    for (int size = 0; size < 16; ++size)
      result.rates[run][size] = uint16_t(RdRates{bits.of}.of(run, size));
  result.end = RdRates{bits.of}.end_of_block();
  return result;
}

// Bits of rows of a block in natural order, moved to their places in zigzag order: a lookup for
// each row, most of which are empty.
struct ZigzagBits {
  uint64_t of[8][256];
};
constexpr ZigzagBits make_zigzag_bits(const uint8_t* zigzag_of_natural) {
  ZigzagBits bits = {};
  for (int v = 0; v < 8; ++v) {
    for (int row = 0; row < 256; ++row) {
      for (int u = 0; u < 8; ++u)
        bits.of[v][row] |= uint64_t(row >> u & 1) << zigzag_of_natural[8 * v + u];
    }
  }
  return bits;
}

}  // namespace

uint64_t in_zigzag_order(uint64_t natural) {
  static const ZigzagBits kBits = make_zigzag_bits(kZigzagOfNatural);
  uint64_t zigzag = 0;
  for (int v = 0; natural != 0; ++v, natural >>= 8) zigzag |= kBits.of[v][natural & 0xff];
  return zigzag;
}

uint32_t rd_weight(double lambda) { return uint32_t(std::llround(24000.0 / lambda)); }

ForwardTable make_eighths_table(Method method) {
  ForwardTable table = {};
  constexpr AanEighths kAan = make_aan_eighths();
  for (int i = 0; i < 64; ++i) {
    table.mul[i] = method == Method::kIslow ? 1.0f : kAan.mul[i];
    if (method == Method::kIfast) table.half[i] = kAan.half[i];
  }
  return table;
}

Decision make_decision(const Dct8x8Job& job, int component) {
  const CoefPlane& plane = job.coefs[component];
  const QuantTable& table = job.tables[plane.table];
  Decision decision = {};
  decision.quantizer = job.quantizer;
  decision.chroma = plane.chroma;
  decision.even_dc = job.method == Method::kFloat;
  decision.weight = rd_weight(job.rd_lambda);
  decision.rounding = make_forward_table(Method::kIslow, &table);
  for (int i = 0; i < 64; ++i) {
    decision.divisor[i] = 8 * table.q[i];
    decision.dead_zone_limit[i] = job.dead_zone * decision.divisor[i];
    decision.reciprocal[i] = (1u << 20) / uint32_t(decision.divisor[i]);
  }
  return decision;
}

int16_t dc_qcoef(const Decision& decision, int32_t eighths) {
  const ForwardTable& table = decision.rounding;
  if (decision.even_dc) return store_float<int16_t>(float(eighths), table.mul[0]);
  return int16_t(quantize_integer(eighths, table.mul[0], table.half[0]));
}

void decide_rd(const Decision& decision, uint64_t nonzero, uint32_t squares,
               const int32_t eighths[64], int16_t qcoefs[64]) {
  static constexpr HostRates kRates[2] = {make_host_rates(false), make_host_rates(true)};
  decide_by_rate(in_zigzag_order(nonzero & ~uint64_t{1}),
                 rd_weight_of(decision.weight, decision.chroma, squares), kRates[decision.chroma],
                 HostBlock{decision, eighths, qcoefs});
}

void decide_block(const Decision& decision, const int32_t eighths[64], int16_t qcoefs[64]) {
  const ForwardTable& table = decision.rounding;
  int32_t limited[64];
  uint64_t nonzero = 0;
  uint32_t squares = 0;
  for (int i = 1; i < 64; ++i) {
    const int32_t x = limited[i] = limit_eighths(eighths[i]);
    qcoefs[i] = int16_t(quantize_integer(x, table.mul[i], table.half[i]));
    squares += uint32_t(x * x);
    nonzero |= uint64_t(qcoefs[i] != 0) << i;
    if (decision.quantizer == Quantizer::kDeadZone &&
        in_dead_zone(std::abs(x), decision.dead_zone_limit[i]))
      qcoefs[i] = 0;
  }
  if (decision.quantizer == Quantizer::kRd) decide_rd(decision, nonzero, squares, limited, qcoefs);
  qcoefs[0] = dc_qcoef(decision, eighths[0]);
}

}  // namespace cudatransform
