// The quantisation tables of the fast kernels, kept from one job to the next.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/dct8x8_fast_tables.h"

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

FastTables::Key::Key(const Dct8x8Job& job, int c, bool is_transposed)
    : method(job.method),
      depth(job.depth),
      quantized(job.quantized),
      zigzag(job.order == Order::kZigzag && job.layout == Layout::kBlock),
      transposed(is_transposed),
      table(job.quantized ? job.tables[job.coefs[c].table] : QuantTable{}) {}

bool FastTables::Key::operator==(const Key& other) const {
  return method == other.method && depth == other.depth && quantized == other.quantized &&
         zigzag == other.zigzag && transposed == other.transposed &&
         std::equal(std::begin(table.q), std::end(table.q), std::begin(other.table.q));
}

const FastForwardTable& FastTables::forward(const Dct8x8Job& job, int c) {
  Made<FastForwardTable>& made = forward_[c];
  const Key key(job, c, false);
  if (made.from != key) {
    made.table = make_forward(key.method, key.quantized ? &key.table : nullptr);
    made.from = key;
  }
  return made.table;
}

const FastInverseTable& FastTables::inverse(const Dct8x8Job& job, int c, bool transposed) {
  Made<FastInverseTable>& made = inverse_[c];
  const Key key(job, c, transposed);
  if (made.from != key) {
    made.table = key.method == Method::kFloat
                     ? make_float_inverse(key.depth, key.quantized ? &key.table : nullptr)
                     : make_islow_inverse(key.zigzag, key.transposed, key.table);
    made.from = key;
  }
  return made.table;
}

}  // namespace cudatransform::cuda
