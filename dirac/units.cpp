// Data units of a Dirac or VC-2 stream: parse codes, and the beginnings and ends of units.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/units.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "dirac/bits.h"

namespace cudatransform {

namespace {

constexpr uint8_t kPrefix[] = {'B', 'B', 'C', 'D'};

enum class Belief { kNo, kYes, kNeedsMore };

}  // namespace

// One pass over the bytes received.
class DiracSplitter::Search {
 public:
  Search(std::span<const uint8_t> bytes, bool at_end, const DiracUnitLimits& limits,
         uint64_t* examined)
      : bytes_(bytes), size_(bytes.size()), at_end_(at_end), limits_(limits), examined_(examined) {}

  bool read(size_t at, DiracParseInfo* info) const {
    if (at > size_ || size_ - at < kDiracParseInfoBytes) return false;
    *examined_ += kDiracParseInfoBytes;
    return read_parse_info(bytes_.subspan(at, kDiracParseInfoBytes), info);
  }

  // Finds the first credible beginning of a unit, from `*from` on. False: none is complete yet, and
  // one may begin at `*from`.
  bool find_begin(size_t* from) const {
    for (size_t at = find_prefix(*from); at < size_; at = find_prefix(at + 1)) {
      *from = at;
      DiracParseInfo info;
      const Belief belief = read(at, &info) ? believes(at, info) : Belief::kNeedsMore;
      if (belief == Belief::kYes) return true;
      if (belief == Belief::kNeedsMore && !at_end_) return false;
    }
    // A prefix may be cut off.
    *from = at_end_ ? size_ : std::max(*from, size_ - std::min(size_, sizeof kPrefix - 1));
    return false;
  }

  // The size of the unit that the bytes begin with; 0: it is not known yet. `*from`: where to
  // search for its end, if the unit does not state its size.
  size_t size_of(const DiracParseInfo& info, size_t* from) const {
    if (info.is_end()) return kDiracParseInfoBytes;
    const uint64_t most = max_of(info);
    if (info.next >= kDiracParseInfoBytes && info.next <= most) {
      // A distance that leads nowhere: the unit ends where the next one is.
      if (size_ >= info.next && leads_somewhere(info.next)) return info.next;
      if (size_ < info.next && !at_end_) return 0;
    }
    return end_by_search(most, from);
  }
  bool is_too_large(const DiracParseInfo& info, size_t size) const {
    return size >= max_of(info) && size != info.next;
  }

 private:
  uint64_t max_of(const DiracParseInfo& info) const {
    return std::max<uint64_t>(limits_.of(info), kDiracParseInfoBytes);
  }

  // The first complete "BBCD" at `from` or after it; size_ where there is none.
  size_t find_prefix(size_t from) const {
    if (from >= size_) return size_;
    const void* found = memmem(&bytes_[from], size_ - from, kPrefix, sizeof kPrefix);
    const size_t at =
        found ? static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes_.data()) : size_;
    *examined_ += at - from;
    return at;
  }

  bool leads_somewhere(size_t at) const {
    const size_t count = std::min(size_ - at, sizeof kPrefix);
    *examined_ += count;
    return std::equal(kPrefix, kPrefix + count, bytes_.begin() + static_cast<ptrdiff_t>(at));
  }

  Belief believes(size_t at, const DiracParseInfo& info) const {
    if (info.next == 0) return info.is_end() || info.previous != 0 ? Belief::kYes : Belief::kNo;
    if (info.next < kDiracParseInfoBytes || info.next > max_of(info)) return Belief::kNo;
    const size_t left = size_ - at;
    if (left < info.next || left - info.next < kDiracParseInfoBytes) {
      if (!at_end_) return Belief::kNeedsMore;
      return left == info.next ? Belief::kYes : Belief::kNo;
    }
    DiracParseInfo next;
    const bool points_back = read(at + info.next, &next) && next.previous == info.next;
    return points_back ? Belief::kYes : Belief::kNo;
  }

  // The next parse info that points back to the unit, or that is credible by itself.
  size_t end_by_search(uint64_t most, size_t* from) const {
    for (size_t at = find_prefix(*from); at < size_; at = find_prefix(at + 1)) {
      *from = at;
      if (at > most) return static_cast<size_t>(most);
      DiracParseInfo info;
      if (!read(at, &info)) {
        if (!at_end_) return 0;
      } else if (info.previous == at) {
        return at;
      } else if (const Belief belief = believes(at, info); belief != Belief::kNo) {
        return belief == Belief::kYes ? at : 0;
      }
    }
    if (size_ > most) return static_cast<size_t>(most);
    if (at_end_) return size_;
    *from = std::max(*from, size_ - std::min(size_, sizeof kPrefix - 1));
    return 0;
  }

  const std::span<const uint8_t> bytes_;
  const size_t size_;
  const bool at_end_;
  const DiracUnitLimits& limits_;
  uint64_t* const examined_;
};

bool read_parse_info(std::span<const uint8_t> unit, DiracParseInfo* info) {
  if (unit.size() < kDiracParseInfoBytes || std::memcmp(unit.data(), kPrefix, sizeof kPrefix) != 0)
    return false;
  DiracBits bits(unit.first(kDiracParseInfoBytes).subspan(sizeof kPrefix));
  info->code = static_cast<uint8_t>(bits.number(8));
  info->next = bits.number(32);
  info->previous = bits.number(32);
  return true;
}

DiracUnitSpan DiracSplitter::next(std::span<const uint8_t> bytes, bool at_end,
                                  const DiracUnitLimits& limits) {
  const Search search(bytes, at_end, limits, &examined_);
  DiracParseInfo info;
  wanted_ = 0;
  if (!inside_) {
    inside_ = (in_step_ && search.read(0, &info)) || search.find_begin(&from_);
    const size_t skipped = std::exchange(from_, inside_ ? kDiracParseInfoBytes : 0);
    in_step_ = in_step_ && skipped == 0;
    // The unit is searched from its beginning on.
    if (skipped > 0) return {skipped, 0};
    if (!inside_) return {};
  }
  search.read(0, &info);
  const size_t size = search.size_of(info, &from_);
  if (size == 0) {
    if (info.next > bytes.size() && info.next <= limits.of(info)) wanted_ = info.next;
    return {};
  }
  in_step_ = !search.is_too_large(info, size);
  inside_ = false;
  from_ = 0;
  return {0, size};
}

DiracUnitSpan find_dirac_unit(std::span<const uint8_t> data, bool at_end, bool in_step,
                              uint64_t max_bytes) {
  const DiracUnitLimits limits{max_bytes, max_bytes};
  DiracSplitter splitter(in_step);
  DiracUnitSpan span = splitter.next(data, at_end, limits);
  if (span.skipped > 0 && span.skipped < data.size())
    span.size = splitter.next(data.subspan(span.skipped), at_end, limits).size;
  return span;
}

}  // namespace cudatransform
