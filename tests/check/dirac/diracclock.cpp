// When frames are shown: cudadiracdec's clock alone, without an element.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dirac/clock.h"

#include <array>
#include <vector>

#include "tests/check/testing.h"

namespace {

using namespace cudatransform;

constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE, kFrame = 40 * GST_MSECOND;

DiracSequence sequence_of(uint32_t rate = 25, bool fields = false) {
  DiracSequence sequence;
  sequence.frame_rate = {rate, 1};
  sequence.field_coding = fields;
  return sequence;
}

// A clock whose frames are of one sequence and come out one after the other.
struct Stream {
  DiracSequence sequence = sequence_of();
  bool framed = true;
  GstClockTime start = 0;  // of the segment
  uint64_t count = 1;
  DiracClock clock;

  DiracClock::Times show(uint32_t number, GstClockTime given = kNone) {
    return clock.show(sequence, count, number, framed, given, start);
  }
  // Shows a frame at that time.
  void expect(GstClockTime time, uint32_t number, GstClockTime given = kNone) {
    const DiracClock::Times times = show(number, given);
    fail_unless(times.time == time, "frame %u at %" GST_TIME_FORMAT ", expected %" GST_TIME_FORMAT,
                number, GST_TIME_ARGS(times.time), GST_TIME_ARGS(time));
  }
};

CHECK_TEST(test_times_of_the_container) {
  Stream stream;
  for (uint32_t i = 0; i < 10; i++) {
    const GstClockTime given = GST_SECOND + 50 * GST_MSECOND * i;
    const DiracClock::Times times = stream.show(i, given);
    fail_unless_equals_uint64(times.time, given);
    fail_unless_equals_uint64(times.duration, kFrame);
    fail_unless(times.is_given);
  }
}

// Pictures 0 3 1 2 6 4 5 with the times 0 1 2 3 4 5 6, which a demuxer has given them in coding
// order. A shown picture takes the earliest time that has come and is not used.
CHECK_TEST(test_times_in_coding_order) {
  constexpr std::array<uint32_t, 7> kCoded = {0, 3, 1, 2, 6, 4, 5};
  std::array<GstClockTime, 7> times = {};  // by number
  std::vector<GstClockTime*> waiting;
  Stream stream;
  uint32_t shown = 0;
  for (size_t i = 0; i < kCoded.size(); i++) {
    times[kCoded[i]] = kFrame * i;
    waiting.push_back(&times[kCoded[i]]);
    // A picture is shown as soon as all earlier ones have come.
    for (bool found = true; found;) {
      found = false;
      for (size_t w = 0; w < waiting.size(); w++) {
        if (waiting[w] != &times[shown]) continue;
        waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(w));
        take_earliest_time(&times[shown], waiting);
        const DiracClock::Times given = stream.show(shown, times[shown]);
        fail_unless_equals_uint64(given.time, kFrame * shown);
        fail_unless(given.is_given);
        shown++;
        found = true;
        break;
      }
    }
  }
  fail_unless_equals_int(shown, 7);
}

CHECK_TEST(test_earliest_time) {
  GstClockTime own = 5, a = kNone, b = 3, c = 7, d = 4;
  take_earliest_time(&own, std::array{&a, &b, &c, &d});
  fail_unless(own == 3 && a == kNone && b == 5 && c == 7 && d == 4);
  take_earliest_time(&own, std::array{&a, &c, &own});
  fail_unless(own == 3 && c == 7);
  own = kNone;  // has none, and takes none
  take_earliest_time(&own, std::array{&a, &b});
  fail_unless(own == kNone && b == 5);
  take_earliest_time(&b, {});
  fail_unless_equals_uint64(b, 5);
}

// Without a time a frame follows the one before it; the first is where the segment begins.
CHECK_TEST(test_missing_times) {
  Stream stream;
  stream.start = 3 * GST_SECOND;
  stream.expect(3 * GST_SECOND, 0);
  stream.expect(3 * GST_SECOND + kFrame, 1);
  stream.expect(7 * GST_SECOND, 2, 7 * GST_SECOND);
  const DiracClock::Times times = stream.show(3);
  fail_unless_equals_uint64(times.time, 7 * GST_SECOND + kFrame);
  fail_unless(!times.is_given);
}

// A time before the end of the previous frame belongs to no picture, except for rounding.
CHECK_TEST(test_times_that_do_not_ascend) {
  Stream stream;
  stream.expect(GST_SECOND, 0, GST_SECOND);
  const DiracClock::Times same = stream.show(1, GST_SECOND);
  fail_unless_equals_uint64(same.time, GST_SECOND + kFrame);
  fail_unless(!same.is_given);
  const GstClockTime early = GST_SECOND + 2 * kFrame - GST_MSECOND;
  const DiracClock::Times rounded = stream.show(2, early);
  fail_unless_equals_uint64(rounded.time, early);
  fail_unless(rounded.is_given);
}

// In a stream of bytes numbers are times, with any timestamps on buffers.
CHECK_TEST(test_raw_stream) {
  Stream stream;
  stream.framed = false;
  const DiracClock::Times first = stream.show(10, 99 * GST_SECOND);
  fail_unless(first.time == 0 && !first.is_given);
  stream.expect(kFrame, 11);
  stream.expect(5 * kFrame, 15);  // four are missing
  stream.count = 2;               // the next sequence goes on behind the last frame
  stream.expect(6 * kFrame, 0);
  stream.expect(7 * kFrame, 1);
}

CHECK_TEST(test_fields) {
  Stream stream;
  stream.sequence = sequence_of(25, true);
  stream.framed = false;
  stream.expect(0, 4);
  stream.expect(kFrame, 7);  // of the frame of 6 and 7
  stream.expect(2 * kFrame, 8);
  fail_unless_equals_uint64(stream.show(10).duration, kFrame);
  // The first frame's first field is missing.
  Stream late;
  late.sequence = stream.sequence;
  late.framed = false;
  late.expect(0, 5);
  late.expect(kFrame, 6);
}

CHECK_TEST(test_numbers_wrap_around) {
  for (const bool fields : {false, true}) {
    Stream stream;
    stream.sequence = sequence_of(25, fields);
    stream.framed = false;
    const uint32_t step = fields ? 2 : 1;
    for (uint32_t i = 0; i < 6; i++) stream.expect(kFrame * i, 0u - 3 * step + i * step);
  }
  // Pictures before the first are shown with it.
  Stream stream;
  stream.framed = false;
  stream.expect(0, 2);
  stream.expect(0, 0xffffffff);
}

CHECK_TEST(test_unknown_rate) {
  Stream stream;
  stream.sequence = sequence_of(0);
  stream.framed = false;
  stream.expect(0, 0);
  stream.expect(0, 7);
  fail_unless_equals_uint64(stream.show(8).duration, 0);
}

// After a seek, numbers of one sequence give the position, if it is near the one requested.
CHECK_TEST(test_flush) {
  Stream stream;
  stream.framed = false;
  fail_unless(!stream.clock.is_after_seek());
  stream.clock.flush();
  fail_unless(!stream.clock.is_after_seek(), "nothing was shown before it");
  stream.expect(0, 100);
  stream.clock.flush();
  fail_unless(stream.clock.is_after_seek());
  stream.start = 10 * GST_SECOND;
  stream.expect(12 * GST_SECOND, 100 + 12 * 25);
  fail_unless(!stream.clock.is_after_seek());
  stream.expect(12 * GST_SECOND + kFrame, 101 + 12 * 25);
  // Numbers that restart, or jump far.
  for (const uint32_t number : {0u, 100 + 41 * 25u}) {
    stream.clock.flush();
    stream.expect(10 * GST_SECOND, number);
    stream.expect(10 * GST_SECOND + 2 * kFrame, number + 2);
  }
}

// A container's times take precedence, and need not ascend over a flush.
CHECK_TEST(test_flush_of_a_container) {
  Stream stream;
  stream.expect(9 * GST_SECOND, 0, 9 * GST_SECOND);
  stream.clock.flush();
  stream.start = 2 * GST_SECOND;
  stream.expect(2 * GST_SECOND, 50, 2 * GST_SECOND);
  stream.clock.flush();
  stream.start = 20 * GST_SECOND;
  stream.expect(20 * GST_SECOND, 60);
}

CHECK_TEST(test_prediction) {
  Stream stream;
  stream.framed = false;
  GstClockTime time = 77;
  fail_unless(!stream.clock.predict(stream.sequence, 1, 0, &time));
  stream.expect(0, 5);
  fail_unless(stream.clock.predict(stream.sequence, 1, 8, &time));
  fail_unless_equals_uint64(time, 3 * kFrame);
  fail_unless(!stream.clock.predict(stream.sequence, 2, 8, &time), "of another sequence");
  stream.clock.flush();
  fail_unless(!stream.clock.predict(stream.sequence, 1, 8, &time), "wherever that is");
  fail_unless_equals_uint64(time, 3 * kFrame);
}

}  // namespace
