// What is wrong with a JPEG file: its oddities, and libjpeg's errors as a Status.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

// jpeglib.h uses FILE and size_t without declaring them, and jerror.h its types.
#include <jpeglib.h>

#include <jerror.h>

#include "transform/device/status.h"

namespace cudatransform {

// A picture is damaged when something is missing or contradicts itself. It is irregular when all of
// its blocks were decoded from existing codes, so that its quantized coefficients are certain, but
// the file has one of these. Bits of a set.
//
// Bytes after the last block of an interval or a scan, which are not more MCUs.
inline constexpr uint32_t kJpegTrailingBytes = 1 << 0;
// Bytes between segments.
inline constexpr uint32_t kJpegExtraneousBytes = 1 << 1;
// Ss, Se, Ah, Al of a sequential scan.
inline constexpr uint32_t kJpegScanParameters = 1 << 2;
// The file ends without EOI, after the last block.
inline constexpr uint32_t kJpegMissingEoi = 1 << 3;
// A marker without a meaning where it is: RSTn outside of a scan, TEM, DNL.
inline constexpr uint32_t kJpegUnexpectedMarker = 1 << 4;
// An unknown JFIF version or Adobe transform code.
inline constexpr uint32_t kJpegUnknownHeader = 1 << 5;

// In words, for messages; empty for 0.
std::string irregularity_text(uint32_t irregularities);

// A decoder's verdict about a picture.
struct JpegFindings {
  std::string damage;      // the first fault; empty: nothing is missing
  uint32_t irregular = 0;  // bits of those above; they mean nothing if the picture is damaged
};

// The error manager of one libjpeg object, which keeps a pointer to it: neither moves. Fatal errors
// leave the call, warnings are kept.
class JpegErrors {
 public:
  JpegErrors();
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  jpeg_error_mgr* manager() { return &state_.base; }

  // Calls `function`, which may call libjpeg. An error of libjpeg's leaves it by longjmp, so it has
  // no objects with destructors. Afterwards the libjpeg object must be aborted or destroyed.
  template <typename Function>
  Status guard(const Function& function) {
    // Not inlined: variables of the caller that `function` changes live in memory, not in registers
    // that longjmp would restore.
    return call([](const void* data) { (*static_cast<const Function*>(data))(); },
                static_cast<const void*>(&function));
  }

  // Forgets warnings; before each picture. `file`: the bytes to be read, none when writing. guard()
  // goes on after damage.
  void reset(std::span<const uint8_t> file = {});
  // The first warning that means damaged coefficients; empty without one.
  const std::string& damage() const { return damage_; }
  // The subjects of the other warnings: bits of jpeg/errors.h.
  uint32_t irregular() const { return irregular_; }
  // The first warning that means damage unless all blocks are known to be complete: coded data that
  // are extraneous, or data that end without EOI; empty without one.
  const std::string& doubt() const { return doubt_; }
  // The marker of the first frame header and its bits a sample; 0: there was none. libjpeg takes
  // pictures of 12 bits for ones of 8, see note_frame().
  int frame_marker() const { return frame_marker_; }
  uint32_t depth() const { return depth_; }
  // The number of scans that have left something over.
  int scans_with_trailing_bytes() const { return scans_with_trailing_bytes_; }
  // From now on guard() returns at the first damage, with no error: damage() describes it.
  void leave_at_damage() { leaves_at_damage_ = true; }
  // libjpeg's number of the error that the last guard() returned; 0 for others.
  int code() const { return state_.number; }
  // Raises an error of ours, or of the file where libjpeg does not check.
  static void fail(j_common_ptr cinfo, const char* message);
  // There is no memory for that many bytes.
  static void fail_for_memory(j_common_ptr cinfo, const char* what, size_t bytes);
  // Leaves guard() with kCancelled.
  static void cancel(j_common_ptr cinfo);

 private:
  struct State {
    jpeg_error_mgr base;  // first: libjpeg hands back a pointer to it
    JpegErrors* self;
    jmp_buf leave;
    char message[JMSG_LENGTH_MAX];
    StatusCode code;
    int number;  // libjpeg's, of its own errors
  };
  Status call(void (*function)(const void*), const void* data);
  static JpegErrors& of(j_common_ptr cinfo);
  static void exit_on_error(j_common_ptr cinfo);
  static void note_message(j_common_ptr cinfo, int qcoef);
  void note_frame(j_decompress_ptr cinfo);
  // The severity of a message. The first suspicious one sets `text`.
  enum class Severity { kNothing, kIrregular, kSuspicious, kDamage };
  Severity weigh(const j_common_ptr cinfo);
  Severity note_irregular(uint32_t what, Severity severity);
  Severity weigh_extraneous(const jpeg_decompress_struct& cinfo);
  bool are_data(const jpeg_decompress_struct& cinfo) const;

  State state_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::string damage_, doubt_;
  uint32_t irregular_ = 0;
  int last_trailing_scan_ = 0, scans_with_trailing_bytes_ = 0;  // the number of a scan
  int frame_marker_ = 0;
  uint32_t depth_ = 0;
  bool leaves_at_damage_ = false;
};

}  // namespace cudatransform
