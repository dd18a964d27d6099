// jpegcoefdec's max-memory: how many pictures it decodes at a time, and how much memory it keeps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <malloc.h>

#include <cstdlib>
#include <string>

#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

// An odd number of blocks: the rows of luma, which libjpeg pads, are decoded elsewhere.
const Bytes& large() {
  static const Bytes picture = make_jpeg(3000, 1992);
  return picture;
}
constexpr guint64 kQcoefs = guint64{375} * 249 * 128 + 2 * guint64{188} * 125 * 128;
constexpr guint64 kPadded = guint64{376} * 250 * 128;

// The large picture's size in memory, as the refusal states it.
guint64 needed() {
  static guint64 bytes = 0;
  if (bytes != 0) return bytes;
  Decoder decoder("max-memory=1000");
  decoder.push(large());
  const std::string text = decoder.message(GST_MESSAGE_WARNING);
  fail_unless(contains(text, "3000x1992") && contains(text, "max-memory=1000"), "%s", text.c_str());
  const size_t at = text.find("needs ");
  fail_unless(at != std::string::npos, "%s", text.c_str());
  bytes = strtoull(text.c_str() + at + 6, nullptr, 10);
  return bytes;
}

GstHarness* open_with(guint64 memory, guint threads) {
  return open("max-memory=" + std::to_string(memory) + " n-threads=" + std::to_string(threads) +
              " backend=" + backend());
}

GstElement* decoder_of(GstHarness* h) { return gst_harness_find_element(h, "jpegcoefdec"); }

// The limit counts all of it: the file, the quantized coefficients, the separate rows, and little
// more.
CHECK_TEST(test_refusal) {
  const guint64 counted = large().size() + kQcoefs + kPadded;
  fail_unless(needed() >= counted && needed() < counted + 1000000, "%" G_GUINT64_FORMAT, needed());
  Decoder decoder("max-memory=" + std::to_string(needed() - 1));
  decoder.push(good());
  fail_unless_equals_int(decoder.push(large()), GST_FLOW_OK);
  fail_unless_equals_uint64(decoder.stat("damaged"), 1);
  fail_unless(contains(decoder.message(GST_MESSAGE_WARNING), "max-memory"));
  GstElement* element = decoder_of(decoder.harness());
  for (const guint64 memory : {needed(), guint64{0}}) {
    g_object_set(element, "max-memory", memory, nullptr);
    decoder.push(large());
  }
  gst_object_unref(element);
  fail_unless_equals_uint64(decoder.stat("damaged"), 1);
  fail_unless_equals_int(decoder.count(), 3);
  gst_buffer_unref(decoder.pull());
  decoder.expect(large());
  decoder.expect(large());

  Decoder strict("on-error=fail max-memory=" + std::to_string(needed() - 1));
  fail_unless_equals_int(strict.push(large()), GST_FLOW_ERROR);
  fail_unless(contains(strict.message(GST_MESSAGE_ERROR), "max-memory"));
}

// The element decodes as many at a time as there is room for, and loses none.
CHECK_TEST(test_in_flight) {
  constexpr guint kPictures = 12;
  for (const guint room : {1u, 3u}) {
    g_autoptr(GstHarness) h = open_with(room * needed() + needed() / 2, 8);
    for (guint i = 0; i < kPictures; i++) {
      push(h, large(), i * 40 * GST_MSECOND);
      const guint in_flight = i + 1 - gst_harness_buffers_in_queue(h);
      fail_unless(in_flight <= room, "%u at a time", in_flight);
    }
    finish(h);
    fail_unless_equals_int(static_cast<int>(gst_harness_buffers_in_queue(h)), int{kPictures});
    expect(h, large(), 0);
  }
}

void count_down(gpointer count, GstMiniObject*) {
  g_atomic_int_dec_and_test(static_cast<int*>(count));
}

// Memory that others held is returned, and the element does not keep it beyond the limit.
CHECK_TEST(test_pool) {
  constexpr guint kPictures = 10;
  if (is_cuda()) return;  // there it is the device's
  GstHarness* h = open_with(4 * needed(), 2);
  int alive = 0;
  for (guint i = 0; i < kPictures; i++) push(h, large(), i * 40 * GST_MSECOND);
  finish(h);
  for (guint i = 0; i < kPictures; i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
    alive++;
    gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(gst_buffer_peek_memory(buffer, 0)), count_down,
                             &alive);
  }
  fail_unless(g_atomic_int_get(&alive) * kQcoefs <= 4 * needed(), "%d are kept", alive);
  gst_harness_teardown(h);
  fail_unless_equals_int(g_atomic_int_get(&alive), 0);
}

gsize bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void forget(GstHarness* h) {
  while (GstBuffer* buffer = gst_harness_try_pull(h)) gst_buffer_unref(buffer);
}

// After large pictures nothing large stays: no private rows, no pool.
// Device blocks are not host memory.
CHECK_TEST_IF(test_nothing_stays, test_numbers() && !is_cuda()) {
  g_autoptr(GstHarness) h = open_with(guint64{1} << 30, 8);
  push(h, good());
  const gsize before = bytes_in_use();
  for (guint i = 0; i < 12; i++) {
    push(h, large());
    forget(h);
  }
  finish(h);
  forget(h);
  push_flush(h);
  GstElement* element = decoder_of(h);
  g_object_set(element, "max-memory", guint64{1000000}, nullptr);
  gst_object_unref(element);
  push(h, large());  // refused; until then the pool may have kept a gigabyte
  push_flush(h);
  const gsize after = bytes_in_use();
  fail_unless(after < before + kPadded / 2, "%" G_GSIZE_FORMAT " bytes more", after - before);
}

}  // namespace
