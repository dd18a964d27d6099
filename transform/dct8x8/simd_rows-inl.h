// A row of blocks through the vector code: loads, stores and sums around the methods.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Included once per instruction set, as simd-inl.h. A group of blocks whose samples are all
// visible and consecutive is loaded and stored as vectors; any other one goes through a staging
// block and the portable adapters.

// The place of a group's samples: eight rows of kGroupWidth consecutive 8- or 16-bit samples.
struct SampleRows {
  const uint8_t* first;
  ptrdiff_t pitch;
  bool wide;
  int shift;
  int32_t peak;
};

CT_HD RowI load_sample_row(const SampleRows& rows, int y) {
  const uint8_t* from = rows.first + y * rows.pitch;
  RowI result;
  for (int p = 0; p < kParts; ++p) {
    if (rows.wide) {
      const auto* wide = reinterpret_cast<const uint16_t*>(from) + p * kLanes;
      auto samples = hn::PromoteTo(DI(), hn::LoadU(DPartU16(), wide));
      samples = hn::ShiftRightSame(samples, rows.shift);
      result.part[p] = hn::Min(samples, hn::Set(DI(), rows.peak));
    } else {
      result.part[p] = hn::PromoteTo(DI(), hn::LoadU(DPartU8(), from + p * kLanes));
    }
  }
  return result;
}

// Whether the group at block column bx is wholly in the picture with adjacent samples.
CT_HD bool is_whole(const SamplePlane& plane, int bx, int by) {
  return 8 * bx + kGroupWidth <= plane.width && 8 * by + 8 <= plane.rows() &&
         plane.stride == (plane.type == SampleType::kU8 ? 1 : 2);
}

// `staging` (8 x kGroupWidth) is filled where the plane itself cannot be read as vectors. Blocks to
// the right of the last one get arbitrary samples: their results are dropped.
CT_HD SampleRows group_samples(const SamplePlane& plane, int32_t peak, int bx, int by, int blocks,
                               uint16_t* staging) {
  if (is_whole(plane, bx, by)) {
    return {sample_address(plane, 8 * bx, 8 * by), plane.pitch, plane.type != SampleType::kU8,
            plane.shift, peak};
  }
  for (int b = 0; b < blocks; ++b) {
    int32_t block[64];
    load_samples(plane, peak, bx + b, by, block);
    for (int i = 0; i < 64; ++i) {
      staging[i / 8 * kGroupWidth + 8 * b + i % 8] = static_cast<uint16_t>(block[i]);
    }
  }
  return {reinterpret_cast<const uint8_t*>(staging), 2 * kGroupWidth, true, 0, peak};
}

// Writes kGroupWidth consecutive finished samples, 8 or 16 bits wide.
CT_HD void store_sample_row(RowI row, const SamplePlane& plane, uint8_t* to) {
  for (int p = 0; p < kParts; ++p) {
    if (plane.type == SampleType::kU8) {
      hn::StoreU(hn::DemoteTo(DPartU8(), row.part[p]), DPartU8(), to + p * kLanes);
    } else {
      auto* wide = reinterpret_cast<uint16_t*>(to) + p * kLanes;
      const auto shifted = hn::ShiftLeftSame(row.part[p], plane.shift);
      hn::StoreU(hn::DemoteTo(DPartU16(), shifted), DPartU16(), wide);
    }
  }
}

// Writes finished rows; signed ones, too: a container holds the low 16 bits alone.
CT_HD void store_group_samples(const SamplePlane& plane, int bx, int by, int blocks,
                               const RowI* rows) {
  if (is_whole(plane, bx, by) && plane.row_repeat == 1 && plane.type != SampleType::kS16) {
    for (int y = 0; y < 8; ++y) {
      store_sample_row(rows[y], plane, sample_address(plane, 8 * bx, 8 * by + y));
    }
    return;
  }
  int32_t staging[8 * kGroupWidth];
  for (int y = 0; y < 8; ++y) store_row(rows[y], staging + y * kGroupWidth);
  for (int b = 0; b < blocks; ++b) {
    int32_t block[64];
    for (int i = 0; i < 64; ++i) block[i] = staging[i / 8 * kGroupWidth + 8 * b + i % 8];
    store_samples(plane, bx + b, by, block);
  }
}

// The squared difference of a group's visible samples and finished rows.
CT_HD uint64_t group_sse(const SamplePlane& plane, int depth, int bx, int by, int blocks,
                         const SampleRows& samples, const RowI* rows) {
  int32_t difference[8 * kGroupWidth];
  // A lane adds up eight squares below 2^24 where the depth is 12 bits at most.
  const bool narrow = depth <= 12;
  if (narrow && is_whole(plane, bx, by)) {
    RowI sum;
    for (int p = 0; p < kParts; ++p) sum.part[p] = hn::Zero(DI());
    for (int y = 0; y < 8; ++y) {
      const RowI d = load_sample_row(samples, y) - rows[y];
      for (int p = 0; p < kParts; ++p) {
        sum.part[p] = hn::Add(sum.part[p], hn::Mul(d.part[p], d.part[p]));
      }
    }
    store_row(sum, difference);
    uint64_t sse = 0;
    for (int i = 0; i < kGroupWidth; ++i) sse += static_cast<uint64_t>(difference[i]);
    return sse;
  }
  for (int y = 0; y < 8; ++y) {
    store_row(load_sample_row(samples, y) - rows[y], difference + y * kGroupWidth);
  }
  uint64_t sse = 0;
  for (int b = 0; b < blocks; ++b) {
    const BlockExtent visible = visible_extent(plane, bx + b, by);
    for (int y = 0; y < visible.rows; ++y) {
      for (int x = 0; x < visible.columns; ++x) {
        const int64_t d = difference[y * kGroupWidth + 8 * b + x];
        sse += static_cast<uint64_t>(d * d);
      }
    }
  }
  return sse;
}

// Whether the coefficients of a full group can be accessed where they are.
CT_HD bool is_block_raster(const Dct8x8Job& job) {
  return job.layout == Layout::kBlock && job.order == Order::kRaster;
}

template <class M, typename Coef>
CT_HD void decode_group(const RowContext& context, int component, SampleRange range,
                        const Coef* coefs, RowI* rows) {
  typename M::Row v[8];
  M::load(coefs, context.inverse[component], context.level_shift, v);
  M::inverse(v, context.level_shift);
  for (int y = 0; y < 8; ++y) rows[y] = M::samples(v[y], range.low, range.high) + -range.bias;
}

// Transform values of a group to `blocks` stored blocks in natural order.
template <class M, typename Coef>
CT_HD void quantize_group(const RowContext& context, int component, const typename M::Row* v,
                          int blocks, Coef* coefs) {
  if constexpr (sizeof(Coef) == 2) {
    if (decides(*context.job)) return decide_group<M>(context, component, v, blocks, coefs);
  }
  M::store(v, context.forward[component], coefs);
}

// The blocks of row `by` from column `first` on; adds its measurements to `sums`.
template <class M, typename Coef>
void forward_blocks(const RowContext& context, int component, int by, int first, RowSums* sums) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  uint16_t sample_staging[8 * kGroupWidth] = {};
  Coef coef_staging[64 * kBlocks];
  for (int bx = first; bx < coef_plane.blocks_w; bx += kBlocks) {
    const int blocks = std::min(kBlocks, coef_plane.blocks_w - bx);
    const SampleRows samples = group_samples(plane, context.peak, bx, by, blocks, sample_staging);
    typename M::Row v[8];
    for (int y = 0; y < 8; ++y) {
      v[y] = M::from_samples(load_sample_row(samples, y) + -context.level_shift);
    }
    M::forward(v);
    const bool direct = blocks == kBlocks && is_block_raster(job);
    Coef* coefs = direct ? coef_address<Coef>(coef_plane, job.layout, bx, by) : coef_staging;
    quantize_group<M>(context, component, v, blocks, coefs);
    for (int b = 0; b < blocks; ++b) {
      if (!direct) store_coefs(job, coef_plane, bx + b, by, coefs + 64 * b);
      if ((job.measure & kMeasureZeros) != 0) sums->zeros += count_zeros(coefs + 64 * b);
    }
    if ((job.measure & kMeasureSse) != 0) {
      RowI decoded[8];
      decode_group<M>(context, component, sample_range(context, plane), coefs, decoded);
      sums->sse += group_sse(plane, job.depth, bx, by, blocks, samples, decoded);
    }
  }
}

template <class M, typename Coef>
void inverse_blocks(const RowContext& context, int component, int by, int first, RowSums* sums) {
  const Dct8x8Job& job = *context.job;
  const SamplePlane& plane = job.samples[component];
  const CoefPlane& coef_plane = job.coefs[component];
  uint16_t sample_staging[8 * kGroupWidth] = {};
  Coef coef_staging[64 * kBlocks] = {};
  for (int bx = first; bx < coef_plane.blocks_w; bx += kBlocks) {
    const int blocks = std::min(kBlocks, coef_plane.blocks_w - bx);
    const bool direct = blocks == kBlocks && is_block_raster(job);
    const Coef* coefs = direct ? coef_address<Coef>(coef_plane, job.layout, bx, by) : coef_staging;
    for (int b = 0; b < blocks; ++b) {
      if (!direct) load_coefs(job, coef_plane, bx + b, by, coef_staging + 64 * b);
      if ((job.measure & kMeasureZeros) != 0) sums->zeros += count_zeros(coefs + 64 * b);
    }
    RowI rows[8];
    decode_group<M>(context, component, sample_range(context, plane), coefs, rows);
    store_group_samples(plane, bx, by, blocks, rows);
    if ((job.measure & kMeasureSse) != 0) {
      const SamplePlane& reference = job.reference[component];
      const SampleRows samples =
          group_samples(reference, context.peak, bx, by, blocks, sample_staging);
      sums->sse += group_sse(reference, job.depth, bx, by, blocks, samples, rows);
    }
  }
}

template <class M, typename Coef>
RowSums forward_row(const RowContext& context, int component, int by) {
  RowSums sums;
  forward_blocks<M, Coef>(context, component, by, 0, &sums);
  return sums;
}

template <class M, typename Coef>
RowSums inverse_row(const RowContext& context, int component, int by) {
  RowSums sums;
  inverse_blocks<M, Coef>(context, component, by, 0, &sums);
  return sums;
}

template <class M, typename Coef>
RowFunction choose_direction(const Dct8x8Job& job) {
  return job.direction == Direction::kForward ? &forward_row<M, Coef> : &inverse_row<M, Coef>;
}

template <class M>
RowFunction choose_type(const Dct8x8Job& job) {
  switch (job.type) {
    case CoefType::kS16:
      return choose_direction<M, int16_t>(job);
    case CoefType::kS32:
      return choose_direction<M, int32_t>(job);
    case CoefType::kF32:
      break;
  }
  return choose_direction<M, float>(job);
}
