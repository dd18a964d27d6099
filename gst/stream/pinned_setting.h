// A setting that caps depend on, as one query or event sees it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/base/gstbasetransform.h>

#include <utility>

namespace cudatransform {

// A query needs one value throughout, and so does an event with caps. The base class transforms
// caps back and forth for it, and the setting may change in between: the two results would have no
// size in common. While an object of this class lives, its thread sees the value that `trans` had
// at the beginning.
template <typename Setting>
class PinnedSetting {
 public:
  // Takes the lock that guards the setting.
  using Read = Setting (*)(GstBaseTransform* trans);

  PinnedSetting(GstBaseTransform* trans, Read read) : PinnedSetting(trans, of(trans, read)) {}
  PinnedSetting(GstBaseTransform* trans, Setting value)
      : trans_(trans), value_(std::move(value)), outer_(innermost) {
    innermost = this;
  }
  ~PinnedSetting() { innermost = outer_; }
  PinnedSetting(const PinnedSetting&) = delete;
  PinnedSetting& operator=(const PinnedSetting&) = delete;

  // The setting or, within a query or an event, its value at the beginning.
  static Setting of(GstBaseTransform* trans, Read read) {
    for (const PinnedSetting* pinned = innermost; pinned; pinned = pinned->outer_)
      if (pinned->trans_ == trans) return pinned->value_;
    return read(trans);
  }

 private:
  static inline thread_local const PinnedSetting* innermost = nullptr;
  GstBaseTransform* trans_;
  const Setting value_;
  const PinnedSetting* outer_;  // queries nest: each may query the next element
};

}  // namespace cudatransform
