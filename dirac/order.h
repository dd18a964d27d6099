// Which pictures are references, and in which order pictures are shown.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cudatransform {

// Whether picture number `a` comes before `b`: numbers wrap modulo 2^32.
constexpr bool dirac_is_before(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

// The references of a stream, oldest first. `Picture` is a handle that can be null, as
// shared_ptr.
template <typename Picture>
class DiracReferences {
 public:
  static constexpr int kMax = 8;

  // Null where there is none of this number.
  Picture find(uint32_t number) const {
    for (int i = 0; i < count_; ++i) {
      if (entries_[i].first == number) return entries_[i].second;
    }
    return {};
  }
  void retire(uint32_t number) {
    auto* end = entries_ + count_;
    auto* kept = std::remove_if(entries_, end, [&](const auto& e) { return e.first == number; });
    for (auto* entry = kept; entry != end; ++entry) entry->second = {};
    count_ = static_cast<int>(kept - entries_);
  }
  // At the limit the oldest is dropped.
  void add(uint32_t number, Picture picture) {
    retire(number);
    if (count_ == kMax) retire(entries_[0].first);
    entries_[count_++] = {number, std::move(picture)};
  }
  // The number of references, and each of them.
  int count() const { return count_; }
  const Picture& at(int i) const { return entries_[i].second; }
  void clear() {
    for (auto& entry : entries_) entry.second = {};
    count_ = 0;
  }

 private:
  std::pair<uint32_t, Picture> entries_[kMax];
  int count_ = 0;
};

// Puts pictures of a sequence into ascending order of their numbers.
template <typename Picture>
class DiracOrder {
 public:
  // `window`: how many pictures may wait for one with a lower number: 2 frames or 4 fields
  // (Dirac specification 2.2.3, level 128).
  explicit DiracOrder(int window) : window_(std::min(window, kMax)) {}

  // Then pop() until it returns null.
  void push(uint32_t number, Picture picture) {
    int at = count_++;
    while (at > 0 && dirac_is_before(number, entries_[at - 1].first)) {
      entries_[at] = std::move(entries_[at - 1]);
      --at;
    }
    entries_[at] = {number, std::move(picture)};
  }
  // The next picture to be shown, where it is known; `at_end`: whichever is next.
  bool pop(bool at_end, uint32_t* number, Picture* picture) {
    if (count_ == 0) return false;
    const bool is_next = !has_shown_ || entries_[0].first == next_;
    if (!is_next && !at_end && count_ <= window_) return false;
    *number = entries_[0].first;
    *picture = std::move(entries_[0].second);
    std::move(entries_ + 1, entries_ + count_, entries_);
    --count_;
    if (!has_shown_ || !dirac_is_before(*number, next_)) next_ = *number + 1;
    has_shown_ = true;
    return true;
  }

 private:
  static constexpr int kMax = 15;
  int window_;
  std::pair<uint32_t, Picture> entries_[kMax + 1];
  int count_ = 0;
  uint32_t next_ = 0;
  bool has_shown_ = false;
};

}  // namespace cudatransform
