// What is wrong with a JPEG file: its oddities, and libjpeg's errors as a Status.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/errors.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "jpeg/stuffing.h"

namespace cudatransform {

std::string irregularity_text(uint32_t irregularities) {
  static constexpr struct {
    uint32_t bit;
    const char* text;
  } kTexts[] = {
      {kJpegTrailingBytes, "extraneous bytes after entropy-coded data"},
      {kJpegExtraneousBytes, "extraneous bytes between segments"},
      {kJpegScanParameters, "invalid SOS parameters for sequential JPEG"},
      {kJpegMissingEoi, "missing EOI"},
      {kJpegUnexpectedMarker, "unexpected marker"},
      {kJpegUnknownHeader, "unknown JFIF revision or Adobe transform code"},
  };
  std::string all;
  for (const auto& [bit, text] : kTexts)
    if ((irregularities & bit) != 0) all += (all.empty() ? "" : "; ") + std::string(text);
  return all;
}

// Sound files may be of kinds that libjpeg does not read.
static StatusCode status_code_of(int message_code) {
  switch (message_code) {
    case JERR_OUT_OF_MEMORY:
      return StatusCode::kOutOfMemory;
    case JERR_BAD_PRECISION:
    case JERR_COMPONENT_COUNT:
    case JERR_SOF_UNSUPPORTED:
      return StatusCode::kUnsupported;
    default:
      return StatusCode::kInvalidArgument;
  }
}

JpegErrors::JpegErrors() : state_{} {
  jpeg_std_error(&state_.base);
  state_.self = this;
  state_.base.error_exit = exit_on_error;
  state_.base.emit_message = note_message;
  state_.base.output_message = [](j_common_ptr) {};
}

void JpegErrors::reset(std::span<const uint8_t> file) {
  data_ = file.data();
  size_ = file.size();
  state_.base.num_warnings = 0;
  damage_.clear();
  doubt_.clear();
  irregular_ = 0;
  last_trailing_scan_ = scans_with_trailing_bytes_ = 0;
  leaves_at_damage_ = false;
  frame_marker_ = 0;
  depth_ = 0;
}

JpegErrors& JpegErrors::of(j_common_ptr cinfo) {
  return *reinterpret_cast<State*>(cinfo->err)->self;
}

void JpegErrors::exit_on_error(j_common_ptr cinfo) {
  State& state = of(cinfo).state_;
  state.code = status_code_of(state.base.msg_code);
  state.number = state.base.msg_code;
  state.base.format_message(cinfo, state.message);
  longjmp(state.leave, 1);
}

void JpegErrors::fail(j_common_ptr cinfo, const char* message) {
  State& state = of(cinfo).state_;
  state.code = StatusCode::kInvalidArgument;
  state.number = 0;
  strncpy(state.message, message, sizeof state.message - 1);
  longjmp(state.leave, 1);
}

void JpegErrors::fail_for_memory(j_common_ptr cinfo, const char* what, size_t bytes) {
  State& state = of(cinfo).state_;
  state.code = StatusCode::kOutOfMemory;
  state.number = 0;
  snprintf(state.message, sizeof state.message, "no memory for %s of %zu bytes", what, bytes);
  longjmp(state.leave, 1);
}

void JpegErrors::cancel(j_common_ptr cinfo) {
  State& state = of(cinfo).state_;
  state.code = StatusCode::kCancelled;
  state.number = 0;
  strncpy(state.message, "interrupted", sizeof state.message - 1);
  longjmp(state.leave, 1);
}

// Whether there is anything but zeros and FFs, which fill up a buffer, in the bytes that libjpeg
// has skipped to find a marker.
bool JpegErrors::are_data(const jpeg_decompress_struct& cinfo) const {
  // The source is still before the marker. Bytes that were in the bit buffer count, too. At the end
  // of the data libjpeg inserts an EOI.
  const JOCTET* at = cinfo.src->next_input_byte;
  if (std::less<>()(at, data_) || std::less<>()(data_ + size_, at)) return true;
  const auto most = static_cast<size_t>(at - data_);
  const size_t count = std::min(static_cast<size_t>(std::max(0, cinfo.err->msg_parm.i[0])), most);
  return std::any_of(at - count, at, [](JOCTET byte) { return byte != 0 && byte != 0xff; });
}

JpegErrors::Severity JpegErrors::note_irregular(uint32_t what, Severity severity) {
  irregular_ |= what;
  return severity;
}

// Bytes between the segments of the header belong to no segment.
JpegErrors::Severity JpegErrors::weigh_extraneous(const jpeg_decompress_struct& cinfo) {
  const int scan = cinfo.input_scan_number;
  if (scan == 0) return note_irregular(kJpegExtraneousBytes, Severity::kIrregular);
  if (!are_data(cinfo)) return note_irregular(kJpegTrailingBytes, Severity::kIrregular);
  if (scan != last_trailing_scan_) scans_with_trailing_bytes_++;
  last_trailing_scan_ = scan;
  return note_irregular(kJpegTrailingBytes, Severity::kSuspicious);
}

JpegErrors::Severity JpegErrors::weigh(const j_common_ptr cinfo) {
  switch (cinfo->err->msg_code) {
    case JTRC_MISC_MARKER:
      if (cinfo->err->msg_parm.i[0] != kDnl) return Severity::kNothing;
      [[fallthrough]];
    case JTRC_PARMLESS_MARKER:
      return note_irregular(kJpegUnexpectedMarker, Severity::kIrregular);
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
      return note_irregular(kJpegUnknownHeader, Severity::kIrregular);
    case JWRN_NOT_SEQUENTIAL:
      return note_irregular(kJpegScanParameters, Severity::kIrregular);
    case JWRN_JPEG_EOF:
      return note_irregular(kJpegMissingEoi, Severity::kSuspicious);
    case JWRN_EXTRANEOUS_DATA:
      return weigh_extraneous(*reinterpret_cast<j_decompress_ptr>(cinfo));
    case JWRN_TOO_MUCH_DATA:  // when writing
      return Severity::kNothing;
    default:
      // A bad code, a marker too early or out of order, contradictory scans.
      return Severity::kDamage;
  }
}

// libjpeg reports a frame header when it has read the precision and not used it yet. Only from
// libjpeg-turbo 3 on does it continue at 12 bits, because of samples: decoding of coefficients is
// the same in all versions, and holds all that codes can express. So it may take the picture for
// one of 8 bits.
void JpegErrors::note_frame(j_decompress_ptr cinfo) {
  if (frame_marker_ != 0) return;  // it will refuse a second one
  frame_marker_ = cinfo->err->msg_parm.i[0];
  depth_ = static_cast<uint32_t>(cinfo->data_precision);
  if (depth_ == 12) cinfo->data_precision = 8;
}

void JpegErrors::note_message(j_common_ptr cinfo, int qcoef) {
  JpegErrors& self = of(cinfo);
  State& state = self.state_;
  const int code = cinfo->err->msg_code;
  const bool is_trace = qcoef >= 0;
  if (code == JTRC_SOF) self.note_frame(reinterpret_cast<j_decompress_ptr>(cinfo));
  if (is_trace && code != JTRC_PARMLESS_MARKER && code != JTRC_MISC_MARKER) return;
  if (!is_trace) state.base.num_warnings++;
  const Severity severity = self.weigh(cinfo);
  std::string& text = severity == Severity::kDamage ? self.damage_ : self.doubt_;
  if (severity < Severity::kSuspicious || !text.empty()) return;
  state.base.format_message(cinfo, state.message);
  text = state.message;
  if (severity != Severity::kDamage || !self.leaves_at_damage_) return;
  state.code = StatusCode::kOk;
  longjmp(state.leave, 1);
}

__attribute__((noinline)) Status JpegErrors::call(void (*function)(const void*), const void* data) {
  if (setjmp(state_.leave) == 0)
    function(data);
  else if (state_.code != StatusCode::kOk)
    return Status::error(state_.code, state_.message);
  return {};
}

}  // namespace cudatransform
