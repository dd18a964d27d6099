// Bytes in vectors, for one instruction set: loops over them, and their halves in lanes of 16 bits.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included inside cudatransform::HWY_NAMESPACE, where vectors have several lanes.

namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::ScalableTag<uint8_t>;
using Words = hn::Repartition<int16_t, Bytes>;
using ByteVec = hn::Vec<Bytes>;
using WordVec = hn::Vec<Words>;

// Calls vector(i) for vectors of `lanes` from position i on; the last one may begin in the one
// before it. False, and nothing is done, where there are too few for one.
template <typename Vector>
HWY_INLINE bool for_vectors(size_t count, size_t lanes, const Vector& vector) {
  if (count < lanes) return false;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) vector(i);
  if (i < count) vector(count - lanes);
  return true;
}

// The bytes of even and of odd positions, in lanes of 16 bits: no shuffle is needed.
struct Both {
  WordVec even, odd;
};
HWY_INLINE Both widened(ByteVec bytes) {
  const WordVec words = hn::BitCast(Words(), bytes);
  return {
      hn::And(words, hn::Set(Words(), 255)),
      hn::BitCast(Words(), hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<Words>(), words)))};
}
// Values of 0 to 255.
HWY_INLINE ByteVec narrowed(WordVec even, WordVec odd) {
  return hn::BitCast(Bytes(), hn::Or(even, hn::ShiftLeft<8>(odd)));
}
HWY_INLINE WordVec clamped(WordVec value) {
  return hn::Min(hn::Max(value, hn::Zero(Words())), hn::Set(Words(), 255));
}
