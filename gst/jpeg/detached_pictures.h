// The pictures of a file that come by themselves behind its first.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

#include "jpeg/mpf.h"

namespace cudatransform {

// A parser may have taken a file apart, or damage has moved what is behind it: the other pictures
// that its index names have the sizes that are there, and come in the order of the index.
class DetachedPictures {
 public:
  // The index of the last picture names these, which did not come with it.
  void expect(const FilePlaces& others) {
    expected_ = others;
    next_ = 0;
  }
  void expect_none() { expected_.count = 0; }
  // Whether the next picture, of `size` bytes, is the next of them. If not, none is expected.
  bool take(uint64_t size) {
    const bool is_next = next_ < expected_.count && expected_.place[next_].size == size;
    if (is_next)
      next_++;
    else
      expect_none();
    return is_next;
  }

 private:
  FilePlaces expected_;
  uint32_t next_ = 0;
};

}  // namespace cudatransform
