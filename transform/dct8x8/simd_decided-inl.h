// Groups of blocks whose quantized coefficients are decided: decision.h's arithmetic in vectors, as
// far as all coefficients take it.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set, as simd-inl.h.

// Sets the bits of lanes that are not zero: bit 8 b + u is column u of block b.
CT_HD uint32_t nonzero_bits(RowI row) {
  uint32_t bits = 0;
  for (int p = 0; p < kParts; ++p) {
    uint8_t bytes[8] = {};  // as many as StoreMaskBits() may write
    hn::StoreMaskBits(DI(), hn::Ne(row.part[p], hn::Zero(DI())), bytes);
    bits |= uint32_t(bytes[0] | bytes[1] << 8) << (p * kLanes);
  }
  return bits;
}

// The rounded quantized coefficients of a row of eighths, with those in the dead zone 0 where there
// is one.
CT_HD RowI decided_row(const Decision& decision, RowI x, int v) {
  const RowI qcoef =
      quantize_integer_row(x, decision.rounding.mul + 8 * v, decision.rounding.half + 8 * v);
  if (decision.quantizer != Quantizer::kDeadZone) return qcoef;
  const RowI limit = load_table_row<DI>(decision.dead_zone_limit + 8 * v);
  RowI result;
  for (int p = 0; p < kParts; ++p) {
    const auto thousandfold = hn::Mul(hn::Abs(x.part[p]), hn::Set(DI(), 1000));
    result.part[p] = hn::IfThenZeroElse(hn::Lt(thousandfold, limit.part[p]), qcoef.part[p]);
  }
  return result;
}

// Transform values of a group to `blocks` blocks of quantized coefficients in natural order.
template <class M>
CT_HD void decide_group(const RowContext& context, int component, const typename M::Row* v,
                        int blocks, int16_t* qcoefs) {
  const Decision& decision = context.decisions[component];
  int32_t eighths[64 * kBlocks], dc[kBlocks], sums[kGroupWidth];
  M::store(v, context.forward[component], eighths);
  for (int b = 0; b < kBlocks; ++b) dc[b] = eighths[64 * b];
  const bool rd = decision.quantizer == Quantizer::kRd;
  uint64_t nonzero[2] = {};
  RowI squares;
  for (int p = 0; p < kParts; ++p) squares.part[p] = hn::Zero(DI());
  for (int y = 0; y < 8; ++y) {
    const RowI x = clamp_row(load_coef_row(eighths + 8 * y), -kMaxEighths, kMaxEighths);
    const RowI qcoef = decided_row(decision, x, y);
    store_coef_row(qcoef, qcoefs + 8 * y);
    if (!rd) continue;
    store_coef_row(x, eighths + 8 * y);
    for (int p = 0; p < kParts; ++p)
      squares.part[p] = hn::Add(squares.part[p], hn::Mul(x.part[p], x.part[p]));
    const uint32_t bits = nonzero_bits(qcoef);
    nonzero[0] |= uint64_t{bits & 0xff} << (8 * y);
    nonzero[1] |= uint64_t{bits >> 8} << (8 * y);
  }
  if (rd) store_row(squares, sums);
  for (int b = 0; b < blocks; ++b) {
    const int32_t* const block = eighths + 64 * b;
    if (rd) {
      uint32_t energy = 0;
      for (int u = 0; u < 8; ++u) energy += uint32_t(sums[8 * b + u]);
      decide_rd(decision, nonzero[b], energy - uint32_t(block[0] * block[0]), block,
                qcoefs + 64 * b);
    }
    qcoefs[64 * b] = dc_qcoef(decision, dc[b]);
  }
}
