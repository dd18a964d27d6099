// The CPU engine's resampling: passes over strips of rows on oneTBB's threads.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Between the passes is a picture of bytes. Rows of packed pixels are added up as they are; sums
// along rows are computed channel by channel, of 16 rows at a time.
#include "transform/resize/resize.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "transform/device/host_threads.h"
#include "transform/resize/plan.h"
#include "transform/resize/rows.h"

namespace cudatransform {

namespace {

// A picture of bytes, of which rows are read: as ResizePicture.
struct Samples {
  int32_t width = 0, height = 0, step = 1;
  const uint8_t* data[kMaxResizeChannels] = {};
  ptrdiff_t pitch[kMaxResizeChannels] = {};

  const uint8_t* at(int channel, int32_t x, int32_t y) const {
    return data[channel] + y * pitch[channel] + ptrdiff_t{x} * step;
  }
};

// A row of each channel.
struct Row {
  const uint8_t* data[kMaxResizeChannels] = {};
  int32_t step = 1;
};
Row row_of(const Samples& from, int channels, int32_t x, int32_t y) {
  Row row;
  row.step = from.step;
  for (int c = 0; c < channels; ++c) row.data[c] = from.at(c, x, y);
  return row;
}

// Bytes that hold a picture, and its description.
struct OwnSamples : Samples {
  std::vector<uint8_t> bytes;

  // Planar.
  void make(int channels, int32_t w, int32_t h) {
    const auto plane = static_cast<size_t>(w) * static_cast<size_t>(h);
    bytes.resize(plane * static_cast<size_t>(channels));
    width = w;
    height = h;
    step = 1;
    for (int c = 0; c < channels; ++c) {
      data[c] = bytes.data() + plane * static_cast<size_t>(c);
      pitch[c] = w;
    }
  }
  uint8_t* row(int channel, int32_t y) {
    return bytes.data() + (data[channel] - bytes.data()) + y * pitch[channel];
  }
};

// Rows of several channels in memory that the calling thread keeps until it ends.
class RowMemory {
 public:
  RowMemory(int rows, size_t stride) : stride_(stride) {
    thread_local std::vector<uint8_t> memory;
    const size_t bytes = stride * static_cast<size_t>(rows);
    if (memory.size() < bytes) memory.resize(bytes);
    data_ = memory.data();
  }
  uint8_t* row(int index) const { return data_ + stride_ * static_cast<size_t>(index); }

 private:
  size_t stride_;
  uint8_t* data_;
};

// Whether channel c of a packed pixel is its byte c, and there are no others.
template <typename Data>
bool is_packed(const Data* const* data, int channels, int32_t step) {
  if (step != channels || channels < 2) return false;
  for (int c = 1; c < channels; ++c)
    if (data[c] != static_cast<const uint8_t*>(data[0]) + c) return false;
  return true;
}

class Resizer {
 public:
  Resizer(const ResizeJob& job, const ResizeRows& rows, HostThreads& threads)
      : job_(job), plan_(plan_resize(job)), rows_(rows), threads_(threads) {
    if (job.type == ResizeType::kF16 || job.type == ResizeType::kBf16) {
      const bool is_half = job.type == ResizeType::kF16;
      words_.resize(256 * static_cast<size_t>(job.channels));
      for (size_t i = 0; i < words_.size(); ++i)
        words_[i] = is_half ? float16_bits(job.table[i]) : bfloat16_bits(job.table[i]);
    }
  }

  void run() {
    source_.width = job_.from.width;
    source_.height = job_.from.height;
    source_.step = job_.from.step;
    for (int c = 0; c < job_.channels; ++c) {
      source_.data[c] = static_cast<const uint8_t*>(job_.from.data[c]);
      source_.pitch[c] = job_.from.pitch[c];
    }
    if (plan_.premultiplies) premultiply();
    if (job_.reduction.exists()) reduce();
    if (plan_.picks) return pick();
    if (!plan_.filters()) return copy();
    if (plan_.x.is_filtered) {
      const auto along = axis_of(plan_.x);
      if (rows_.add_quads != nullptr)
        quads_ = quads_of_axis(*along);
      else
        x_ = pairs_of_axis(*along, true);
    }
    std::shared_ptr<const ResizeAxis> down;
    if (plan_.y.is_filtered) {
      down = axis_of(plan_.y);
      y_ = pairs_of_axis(*down, false);
    }
    if (!plan_.y.is_filtered) return across(source_, 0);
    if (!plan_.x.is_filtered) return down_to_output(source_);
    OwnSamples between;
    if (plan_.rows_first) {
      down_between(&between);
      across(between, 0);
    } else {
      // Only the rows that the other pass reads.
      across_between(down->begin(), down->end(), &between);
      for (int32_t& first : y_.first) first -= down->begin();
      down_to_output(between);
    }
  }

 private:
  std::shared_ptr<const ResizeAxis> axis_of(const ResizeSide& side) const {
    thread_local ResizeAxisCache axes(size_t{4} << 20);
    return axes.axis(job_.filter, side.in, side.from, side.to, side.out);
  }

  template <typename Work>
  void for_rows(int32_t rows, int32_t strip, const Work& work) {
    threads_.for_each((rows + strip - 1) / strip, [&](int32_t index) {
      work(index * strip, std::min(rows, (index + 1) * strip));
    });
  }

  // ---- Before the passes ----

  void premultiply() {
    OwnSamples to;
    to.make(job_.channels, source_.width, source_.height);
    const int alpha = job_.channels - 1;
    for_rows(source_.height, kStripRows, [&](int32_t first, int32_t last) {
      for (int32_t y = first; y < last; ++y) {
        const uint8_t* by = source_.at(alpha, 0, y);
        for (int c = 0; c < job_.channels; ++c) {
          const uint8_t* from = source_.at(c, 0, y);
          uint8_t* row = to.row(c, y);
          for (int32_t x = 0; x < source_.width; ++x) {
            const ptrdiff_t at = ptrdiff_t{x} * source_.step;
            row[x] = c == alpha ? by[at] : static_cast<uint8_t>(premultiplied(from[at], by[at]));
          }
        }
      }
    });
    replace_source(std::move(to));
  }

  void reduce() {
    OwnSamples to;
    to.make(job_.channels, job_.reduced_width(), job_.reduced_height());
    for_rows(to.height, 4, [&](int32_t first, int32_t last) {
      std::vector<uint32_t> sums(static_cast<size_t>(to.width));
      for (int32_t y = first; y < last; ++y)
        for (int c = 0; c < job_.channels; ++c) reduce_row(c, y, sums.data(), to.row(c, y));
    });
    replace_source(std::move(to));
  }

  void reduce_row(int channel, int32_t y, uint32_t* sums, uint8_t* to) {
    const ResizeReduction& by = job_.reduction;
    const int32_t width = job_.reduced_width(), columns = by.right - by.left;
    const int32_t top = by.top + y * by.y, rows = std::min(by.y, by.bottom - top);
    std::fill_n(sums, width, 0);
    for (int32_t k = 0; k < rows; ++k) {
      const uint8_t* from = source_.at(channel, by.left, top + k);
      for (int32_t x = 0; x < width; ++x) {
        const int32_t begin = x * by.x, end = std::min(begin + by.x, columns);
        for (int32_t i = begin; i < end; ++i) sums[x] += from[ptrdiff_t{i} * source_.step];
      }
    }
    const auto many = static_cast<uint32_t>(rows * by.x);
    const auto rest = static_cast<uint32_t>(rows * (columns - (width - 1) * by.x));
    const uint32_t multiplier = reduction_multiplier(many);
    for (int32_t x = 0; x + 1 < width; ++x)
      to[x] = static_cast<uint8_t>(reduced_mean(sums[x], many, multiplier));
    to[width - 1] =
        static_cast<uint8_t>(reduced_mean(sums[width - 1], rest, reduction_multiplier(rest)));
  }

  void replace_source(OwnSamples&& by) {
    own_ = std::move(by);  // the bytes stay where they are
    source_ = own_;
  }

  // ---- Passes ----

  // Kept rows of a tile's channels, consecutively.
  void across_tile(const Samples& from, int32_t first, int32_t rows, const RowMemory& memory,
                   uint8_t* const to[kMaxResizeChannels][kTileRows]) {
    const auto width = static_cast<size_t>(from.width);
    const bool packed = is_packed(from.data, job_.channels, from.step);
    uint8_t* tile = memory.row(kMaxResizeChannels * kTileRows);
    const uint8_t* in[kMaxResizeChannels][kTileRows];
    for (int32_t r = 0; r < kTileRows; ++r) {
      const int32_t y = first + std::min(r, rows - 1);
      uint8_t* apart[kMaxResizeChannels];
      for (int c = 0; c < job_.channels; ++c) {
        apart[c] = memory.row(c * kTileRows + r);
        in[c][r] = from.step == 1 ? from.at(c, 0, y) : apart[c];
      }
      if (from.step == 1 || (r >= rows && r > 0)) {
        if (r >= rows)
          for (int c = 0; c < job_.channels; ++c) in[c][r] = in[c][r - 1];
        continue;
      }
      if (packed) {
        rows_.split(from.at(0, 0, y), job_.channels, apart, width);
      } else {
        for (int c = 0; c < job_.channels; ++c)
          gather(from.at(c, 0, y), from.step, apart[c], width);
      }
    }
    uint8_t* sums = tile + kTileRows * (width + kTilePadding);
    for (int c = 0; c < job_.channels; ++c) {
      if (rows_.add_quads != nullptr) {
        rows_.to_quads(in[c], tile, width);
        rows_.add_quads(tile, quads_, sums);
      } else {
        rows_.to_tile(in[c], tile, width);
        rows_.add_columns(tile, x_, sums);
      }
      rows_.from_tile(sums, to[c], static_cast<size_t>(plan_.x.out));
    }
  }

  static void gather(const uint8_t* from, int32_t step, uint8_t* to, size_t count) {
    for (size_t i = 0; i < count; ++i, from += step) to[i] = *from;
  }

  // Tiles of rows [begin, end) of `from`: calls done(y, row) for each row.
  template <typename Place, typename Done>
  void across_rows(const Samples& from, int32_t begin, int32_t end, const Place& place,
                   const Done& done) {
    const auto width = static_cast<size_t>(from.width), out = static_cast<size_t>(plan_.x.out);
    // Split rows; a tile of one channel and its sums; the results.
    const size_t stride = std::max(width, out);
    const size_t tile_rows = (kTileRows * (width + kTilePadding + out) + stride - 1) / stride;
    const int results = kMaxResizeChannels * kTileRows + static_cast<int>(tile_rows);
    for_rows(end - begin, kTileRows, [&](int32_t first, int32_t last) {
      const RowMemory memory(results + (job_.channels + 1) * kTileRows, stride);
      uint8_t* to[kMaxResizeChannels][kTileRows];
      for (int c = 0; c < job_.channels; ++c) {
        for (int32_t r = 0; r < kTileRows; ++r) {
          uint8_t* own = memory.row(results + c * kTileRows + r);
          to[c][r] = first + r < last ? place(c, first + r, own) : own;
        }
      }
      across_tile(from, begin + first, last - first, memory, to);
      for (int32_t y = first; y < last; ++y) {
        Row row;
        for (int c = 0; c < job_.channels; ++c) row.data[c] = to[c][y - first];
        done(y, row);
      }
    });
  }

  void across(const Samples& from, int32_t top) {
    across_rows(
        from, top, top + job_.to.height, [](int, int32_t, uint8_t* own) { return own; },
        [&](int32_t y, const Row& row) { put(row, y); });
  }

  void across_between(int32_t begin, int32_t end, OwnSamples* to) {
    to->make(job_.channels, plan_.x.out, end - begin);
    across_rows(
        source_, begin, end, [&](int c, int32_t y, uint8_t*) { return to->row(c, y); },
        [](int32_t, const Row&) {});
  }

  // Bytes of rows that are added up as one: of a plane, or of packed pixels.
  struct Lanes {
    int count;
    size_t bytes;
  };
  Lanes lanes_of(const Samples& from) const {
    const auto width = static_cast<size_t>(from.width);
    if (is_packed(from.data, job_.channels, from.step))
      return {1, width * static_cast<size_t>(from.step)};
    return {job_.channels, (width - 1) * static_cast<size_t>(from.step) + 1};
  }

  void add_row(const Samples& from, int lane, int32_t o, uint8_t* to, size_t bytes,
               std::vector<const uint8_t*>* rows) const {
    const auto at = static_cast<size_t>(o);
    const int32_t pairs = y_.count[at], last = from.height - 1;
    rows->resize(2 * static_cast<size_t>(pairs));
    for (int32_t k = 0; k < 2 * pairs; ++k)
      (*rows)[static_cast<size_t>(k)] = from.at(lane, 0, std::min(y_.first[at] + k, last));
    rows_.add_rows(rows->data(), &y_.pairs[at * y_.stride], pairs, to, bytes);
  }

  // The rows of packed pixels stay packed.
  void down_between(OwnSamples* to) {
    const Lanes lanes = lanes_of(source_);
    to->make(lanes.count, static_cast<int32_t>(lanes.bytes), y_.out);
    for_rows(y_.out, kDownRows, [&](int32_t first, int32_t last) {
      std::vector<const uint8_t*> rows;
      for (int32_t o = first; o < last; ++o)
        for (int lane = 0; lane < lanes.count; ++lane)
          add_row(source_, lane, o, to->row(lane, o), lanes.bytes, &rows);
    });
    for (int c = 0; c < job_.channels && lanes.count == 1; ++c) {
      to->data[c] = to->bytes.data() + c;
      to->pitch[c] = static_cast<ptrdiff_t>(lanes.bytes);
    }
    to->width = source_.width;
    to->step = source_.step;
  }

  void down_to_output(const Samples& from) {
    const Lanes lanes = lanes_of(from);
    for_rows(y_.out, kDownRows, [&](int32_t first, int32_t last) {
      std::vector<const uint8_t*> rows;
      const RowMemory memory(kMaxResizeChannels + 1, lanes.bytes + 64);
      for (int32_t o = first; o < last; ++o) {
        Row row;
        row.step = from.step;
        for (int lane = 0; lane < lanes.count; ++lane)
          add_row(from, lane, o, memory.row(lane), lanes.bytes, &rows);
        for (int c = 0; c < job_.channels; ++c)
          row.data[c] =
              lanes.count == 1 ? memory.row(0) + (job_.channels > 1 ? c : 0) : memory.row(c);
        put(row, o);
      }
    });
  }

  // ---- Without a pass ----

  void copy() {
    const auto x = static_cast<int32_t>(plan_.x.from), y = static_cast<int32_t>(plan_.y.from);
    for_rows(job_.to.height, kStripRows, [&](int32_t first, int32_t last) {
      for (int32_t o = first; o < last; ++o) put(row_of(source_, job_.channels, x, y + o), o);
    });
  }

  void pick() {
    const std::vector<int32_t> columns =
        nearest_positions(plan_.x.in, plan_.x.from, plan_.x.to, plan_.x.out);
    const std::vector<int32_t> rows =
        nearest_positions(plan_.y.in, plan_.y.from, plan_.y.to, plan_.y.out);
    for_rows(plan_.y.out, kStripRows, [&](int32_t first, int32_t last) {
      const RowMemory memory(kMaxResizeChannels + 1, columns.size());
      for (int32_t o = first; o < last; ++o) {
        Row row;
        const int32_t y = rows[static_cast<size_t>(o)];
        for (int c = 0; c < job_.channels; ++c) {
          uint8_t* to = memory.row(c);
          row.data[c] = to;
          for (size_t i = 0; i < columns.size(); ++i)
            to[i] = y < 0 || columns[i] < 0 ? 0 : *source_.at(c, columns[i], y);
        }
        put(row, o);
      }
    });
  }

  // ---- After the passes ----

  void put(Row row, int32_t y) {
    const auto width = static_cast<size_t>(job_.to.width);
    std::vector<uint8_t> divided;
    if (plan_.premultiplies) divide(&row, width, &divided);
    if (job_.type != ResizeType::kU8) {
      for (int c = 0; c < job_.channels; ++c) look_up(row, c, y, width);
      return;
    }
    auto* const* to = reinterpret_cast<uint8_t* const*>(job_.to.data);
    if (row.step == 1 && is_packed(to, job_.channels, job_.to.step)) {
      rows_.join(row.data, job_.channels, to[0] + y * job_.to.pitch[0], width);
      return;
    }
    if (is_packed(row.data, job_.channels, row.step) &&
        is_packed(to, job_.channels, job_.to.step)) {
      std::memcpy(to[0] + y * job_.to.pitch[0], row.data[0], width * static_cast<size_t>(row.step));
      return;
    }
    for (int c = 0; c < job_.channels; ++c) {
      const uint8_t* from = row.data[c];
      uint8_t* at = to[c] + y * job_.to.pitch[c];
      for (size_t i = 0; i < width; ++i, from += row.step, at += job_.to.step) *at = *from;
    }
  }

  void divide(Row* row, size_t width, std::vector<uint8_t>* memory) const {
    const int alpha = job_.channels - 1;
    memory->resize(width * static_cast<size_t>(job_.channels));
    const uint8_t* by = row->data[alpha];
    for (int c = 0; c < job_.channels; ++c) {
      uint8_t* to = memory->data() + width * static_cast<size_t>(c);
      const uint8_t* from = row->data[c];
      for (size_t i = 0; i < width; ++i) {
        const size_t at = i * static_cast<size_t>(row->step);
        to[i] = c == alpha ? from[at] : static_cast<uint8_t>(divided_by_alpha(from[at], by[at]));
      }
    }
    for (int c = 0; c < job_.channels; ++c)
      row->data[c] = memory->data() + width * static_cast<size_t>(c);
    row->step = 1;
  }

  void look_up(const Row& row, int channel, int32_t y, size_t width) const {
    const uint8_t* from = row.data[channel];
    auto* to = static_cast<uint8_t*>(job_.to.data[channel]) + y * job_.to.pitch[channel];
    const size_t table = 256 * static_cast<size_t>(channel);
    if (job_.type == ResizeType::kF32) {
      for (size_t i = 0; i < width; ++i, from += row.step, to += job_.to.step)
        std::memcpy(to, &job_.table[table + *from], sizeof(float));
    } else {
      for (size_t i = 0; i < width; ++i, from += row.step, to += job_.to.step)
        std::memcpy(to, &words_[table + *from], sizeof(uint16_t));
    }
  }

  static constexpr int32_t kStripRows = 32;  // that a thread takes
  static constexpr size_t kTilePadding = 3;  // columns that fill the last quad of a tile
  static constexpr int32_t kDownRows = 8;    // likewise, of outputs of many rows

  const ResizeJob& job_;
  const ResizePlan plan_;
  const ResizeRows& rows_;
  HostThreads& threads_;
  std::vector<uint16_t> words_;  // the table, rounded
  Samples source_;
  OwnSamples own_;
  AxisPairs x_, y_;
  AxisQuads quads_;  // instead of x_, where rows have such functions
};

Status submit(const ResizeRows& rows, Device& device, Queue& queue, std::span<const ResizeJob> jobs,
              FencePtr* fence) {
  for (const ResizeJob& job : jobs) CT_RETURN_IF_ERROR(validate(job));
  CT_RETURN_IF_ERROR(run_on_host(device, "no host memory for a picture between two passes",
                                 [&](HostThreads& threads) -> Status {
                                   threads.for_each(jobs.size(), [&](size_t i) {
                                     Resizer(jobs[i], rows, threads).run();
                                   });
                                   return {};
                                 }));
  return fence != nullptr ? queue.record(fence) : Status{};
}

Status submit_portable(Device& device, Queue& queue, std::span<const ResizeJob> jobs,
                       FencePtr* fence) {
  return submit(portable_resize_rows(), device, queue, jobs, fence);
}

Status submit_host(Device& device, Queue& queue, std::span<const ResizeJob> jobs, FencePtr* fence) {
  const ResizeRows* rows = vector_resize_rows();
  return submit(rows != nullptr ? *rows : portable_resize_rows(), device, queue, jobs, fence);
}

}  // namespace

const ResizeOps& host_resize_ops() {
  static constexpr ResizeOps kOps = {"cpu", submit_host};
  return kOps;
}

const ResizeOps& portable_resize_ops() {
  static constexpr ResizeOps kOps = {"portable", submit_portable};
  return kOps;
}

}  // namespace cudatransform
