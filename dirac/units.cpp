// Data units of a Dirac or VC-2 stream: what a parse code says, and where units begin and end.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/units.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "dirac/bits.h"

namespace cudatransform {

namespace {

constexpr char kPrefix[] = {'B', 'B', 'C', 'D'};

// The next prefix at `from` or behind it; `size` where there is none.
size_t find_prefix(const uint8_t* data, size_t size, size_t from) {
  const uint8_t* end = data + size;
  return static_cast<size_t>(
      std::search(data + std::min(from, size), end, std::begin(kPrefix), std::end(kPrefix)) - data);
}

enum class Belief { kNo, kYes, kNeedsMore };

class Search {
 public:
  Search(const uint8_t* data, size_t size, bool at_end, uint64_t max_bytes)
      : data_(data), size_(size), at_end_(at_end), max_bytes_(max_bytes) {}

  // Where the unit of the parse info at `at` ends; 0: more bytes are needed.
  size_t end_of(size_t at, const DiracParseInfo& info) const {
    if (info.is_end()) return at + kDiracParseInfoBytes;
    if (info.next >= kDiracParseInfoBytes && info.next <= max_bytes_) {
      const size_t left = size_ - at;
      // A distance that leads nowhere: the unit ends where the next one is.
      if (left >= info.next && leads_somewhere(at + info.next)) return at + info.next;
      if (left < info.next && !at_end_) return 0;
    }
    return end_by_search(at);
  }

  Belief believes(size_t at, const DiracParseInfo& info) const {
    if (info.next == 0) return info.is_end() || info.previous != 0 ? Belief::kYes : Belief::kNo;
    if (info.next < kDiracParseInfoBytes || info.next > max_bytes_) return Belief::kNo;
    const size_t left = size_ - at;
    if (left < info.next || left - info.next < kDiracParseInfoBytes) {
      if (!at_end_) return Belief::kNeedsMore;
      return left == info.next ? Belief::kYes : Belief::kNo;
    }
    DiracParseInfo next;
    const bool points_back = read_parse_info(data_ + at + info.next, left - info.next, &next) &&
                             next.previous == info.next;
    return points_back ? Belief::kYes : Belief::kNo;
  }

 private:
  bool leads_somewhere(size_t at) const {
    const size_t left = size_ - at;
    return std::memcmp(data_ + at, kPrefix, std::min(left, sizeof kPrefix)) == 0;
  }

  // The next parse info that points back to `at`, or that is believed for itself.
  size_t end_by_search(size_t at) const {
    size_t from = at + kDiracParseInfoBytes;
    for (;;) {
      const size_t found = find_prefix(data_, size_, from);
      if (found - at > max_bytes_) return at + static_cast<size_t>(max_bytes_);
      if (found == size_) return at_end_ ? size_ : 0;
      DiracParseInfo info;
      if (!read_parse_info(data_ + found, size_ - found, &info)) {
        if (!at_end_ && size_ - found < kDiracParseInfoBytes) return 0;
      } else if (info.previous == found - at) {
        return found;
      } else if (const Belief belief = believes(found, info); belief != Belief::kNo) {
        return belief == Belief::kYes ? found : 0;
      }
      from = found + 1;
    }
  }

  const uint8_t* data_;
  size_t size_;
  bool at_end_;
  uint64_t max_bytes_;
};

}  // namespace

bool read_parse_info(const uint8_t* data, size_t size, DiracParseInfo* info) {
  if (size < kDiracParseInfoBytes || std::memcmp(data, kPrefix, sizeof kPrefix) != 0) return false;
  DiracBits bits(data + sizeof kPrefix, kDiracParseInfoBytes - sizeof kPrefix);
  info->code = static_cast<uint8_t>(bits.number(8));
  info->next = bits.number(32);
  info->previous = bits.number(32);
  return true;
}

DiracUnitSpan find_dirac_unit(const uint8_t* data, size_t size, bool at_end, bool in_step,
                              uint64_t max_bytes) {
  max_bytes = std::max<uint64_t>(max_bytes, kDiracParseInfoBytes);
  const Search search(data, size, at_end, max_bytes);
  DiracParseInfo info;
  if (in_step && read_parse_info(data, size, &info)) {
    const size_t end = search.end_of(0, info);
    return {0, end};
  }
  for (size_t at = find_prefix(data, size, 0); at < size; at = find_prefix(data, size, at + 1)) {
    if (!read_parse_info(data + at, size - at, &info)) {
      if (at_end) return {size, 0};
      return {at, 0};
    }
    switch (search.believes(at, info)) {
      case Belief::kYes: {
        const size_t end = search.end_of(at, info);
        return {at, end == 0 ? 0 : end - at};
      }
      case Belief::kNeedsMore:
        return {at, 0};
      case Belief::kNo:
        break;
    }
  }
  // A prefix may be cut off by the end.
  const size_t kept = at_end ? 0 : std::min(size, sizeof kPrefix - 1);
  return {size - kept, 0};
}

}  // namespace cudatransform
