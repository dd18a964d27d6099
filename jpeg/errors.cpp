// libjpeg's errors as a Status: its fatal ones leave the call, its warnings are kept.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "jpeg/errors.h"

#include <cstring>

namespace cudatransform {

JpegErrors::JpegErrors() : state_{} {
  jpeg_std_error(&state_.base);
  state_.self = this;
  state_.base.error_exit = exit_on_error;
  state_.base.emit_message = note_message;
  state_.base.output_message = [](j_common_ptr) {};
}

void JpegErrors::reset() {
  state_.base.num_warnings = 0;
  damage_.clear();
}

JpegErrors& JpegErrors::of(j_common_ptr cinfo) {
  return *reinterpret_cast<State*>(cinfo->err)->self;
}

void JpegErrors::exit_on_error(j_common_ptr cinfo) {
  State& state = of(cinfo).state_;
  state.code = state.base.msg_code;
  state.base.format_message(cinfo, state.message);
  longjmp(state.leave, 1);
}

void JpegErrors::fail(j_common_ptr cinfo, const char* message) {
  State& state = of(cinfo).state_;
  state.code = 0;
  strncpy(state.message, message, sizeof state.message - 1);
  longjmp(state.leave, 1);
}

// Whether a warning says that coefficients are wrong or missing.
static bool means_damage(const jpeg_error_mgr& error) {
  switch (error.msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA:
      return false;
    case JWRN_EXTRANEOUS_DATA:
      // Bytes between two markers are no part of the picture, unless it goes on behind them.
      return error.msg_parm.i[1] >= 0xd0 && error.msg_parm.i[1] <= 0xd7;
    default:
      return true;
  }
}

void JpegErrors::note_message(j_common_ptr cinfo, int level) {
  if (level >= 0) return;  // a trace message
  JpegErrors& self = of(cinfo);
  self.state_.base.num_warnings++;
  if (!self.damage_.empty() || !means_damage(self.state_.base)) return;
  char text[JMSG_LENGTH_MAX];
  self.state_.base.format_message(cinfo, text);
  self.damage_ = text;
}

__attribute__((noinline)) Status JpegErrors::call(void (*function)(const void*), const void* data) {
  if (setjmp(state_.leave)) {
    const bool memory = state_.code == JERR_OUT_OF_MEMORY;
    return Status::error(memory ? StatusCode::kOutOfMemory : StatusCode::kInvalidArgument,
                         state_.message);
  }
  function(data);
  return {};
}

}  // namespace cudatransform
