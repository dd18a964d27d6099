// The treatment of damaged pictures: one policy for all decoders.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/stream/damage.h"

#include "gst/engine/debug.h"

namespace cudatransform {

void DamagePolicy::note_good() {
  bad_in_row_ = 0;
  seen_good_ = true;
}

DamagePolicy::Verdict DamagePolicy::judge(OnError on_error, bool can_show,
                                          const std::string& what) {
  if (on_error == OnError::kConceal && can_show) {
    GST_INFO_OBJECT(decoder_, "concealing a damaged picture: %s", what.c_str());
    return Verdict::kShow;
  }
  const gint most = gst_video_decoder_get_max_errors(decoder_);
  bad_in_row_++;
  if (on_error == OnError::kFail || (most >= 0 && bad_in_row_ > static_cast<guint>(most))) {
    GST_ELEMENT_ERROR_WITH_DETAILS(
        decoder_, STREAM, DECODE, ("A %s picture is damaged: %s", codec_, what.c_str()),
        ("%u in a row", bad_in_row_), ("reason", G_TYPE_STRING, what.c_str(), nullptr));
    return Verdict::kFail;
  }
  // A run of bad pictures gets one message, because the application may not read the bus.
  if (bad_in_row_ == 1)
    GST_ELEMENT_WARNING(decoder_, STREAM, DECODE,
                        ("Dropped a damaged %s picture: %s", codec_, what.c_str()), (nullptr));
  else
    GST_WARNING_OBJECT(decoder_, "dropped a damaged picture: %s", what.c_str());
  return Verdict::kDrop;
}

}  // namespace cudatransform
