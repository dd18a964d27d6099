// Decides levels on the CPU, a block at a time.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transform/dct8x8/decision.h"

#include <cmath>

namespace cudatransform {

namespace {

// A block for decide_by_rate(), whose levels are rounded already.
struct HostBlock {
  const Decision& decision;
  const int32_t* eighths;
  int16_t* levels;

  int32_t magnitude(int k) const { return std::abs(eighths[kNaturalOfZigzag[k]]); }
  int32_t level(int k) const { return std::abs(levels[kNaturalOfZigzag[k]]); }
  int32_t divisor(int k) const { return decision.divisor[kNaturalOfZigzag[k]]; }
  uint32_t reciprocal(int k) const { return decision.reciprocal[kNaturalOfZigzag[k]]; }
  void set(int k, int32_t level) const {
    int16_t& stored = levels[kNaturalOfZigzag[k]];
    stored = int16_t(stored < 0 ? -level : level);
  }
};

void decide_rd(const Decision& decision, const int32_t eighths[64], int16_t levels[64]) {
  static constexpr AcBits kBits[2] = {make_ac_bits(false), make_ac_bits(true)};
  uint32_t squares = 0;
  uint64_t nonzero = 0;
  for (int i = 1; i < 64; ++i) squares += uint32_t(eighths[i] * eighths[i]);
  for (int k = 1; k < 64; ++k) nonzero |= uint64_t(levels[kNaturalOfZigzag[k]] != 0) << k;
  if (nonzero == 0) return;
  decide_by_rate(nonzero, rd_weight_of(decision.weight, decision.chroma, squares),
                 kBits[decision.chroma].of, HostBlock{decision, eighths, levels});
}

}  // namespace

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
  decision.dead_zone = job.dead_zone;
  decision.weight = rd_weight(job.rd_lambda);
  decision.rounding = make_forward_table(Method::kIslow, &table);
  for (int i = 0; i < 64; ++i) {
    decision.divisor[i] = 8 * table.q[i];
    decision.reciprocal[i] = (1u << 20) / uint32_t(decision.divisor[i]);
  }
  return decision;
}

void decide_block(const Decision& decision, const int32_t eighths[64], int16_t levels[64]) {
  const ForwardTable& table = decision.rounding;
  int32_t limited[64];
  for (int i = 0; i < 64; ++i) {
    limited[i] = limit_eighths(eighths[i]);
    levels[i] = int16_t(quantize_integer(limited[i], table.mul[i], table.half[i]));
  }
  if (decision.quantizer == Quantizer::kDeadZone) {
    for (int i = 0; i < 64; ++i) {
      const int32_t magnitude = std::abs(limited[i]);
      if (in_dead_zone(magnitude, decision.divisor[i], decision.dead_zone)) levels[i] = 0;
    }
  } else {
    decide_rd(decision, limited, levels);
  }
  levels[0] = decision.even_dc ? store_float<int16_t>(float(eighths[0]), table.mul[0])
                               : int16_t(quantize_integer(eighths[0], table.mul[0], table.half[0]));
}

}  // namespace cudatransform
