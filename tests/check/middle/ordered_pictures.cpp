// OrderedPictures: the loop of all codecs, with a codec that only sleeps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/stream/ordered_pictures.h"

#include <pthread.h>

#include <random>
#include <utility>

#include "gst/engine/buffer_ptr.h"
#include "gst/engine/engine_element.h"
#include "tests/check/testing.h"

namespace cudatransform {
void init_debug_category();  // gst/engine/debug.h would replace GstCheck's category
}

namespace {

using namespace cudatransform;
using namespace testing;

// ---- The codec: each buffer has a number, and states how long its work takes and how it ends ----

enum class End : guint8 { kPushed, kDropped, kFails };
struct Work {
  guint32 number, microseconds;
  End end;
};

struct SleepingPicture final : FrameJob {
  explicit SleepingPicture(GstVideoCodecFrame* frame) : frame(frame) {
    gst_buffer_extract(frame->input_buffer, 0, &work, sizeof work);
  }
  void run() override {
    for (guint32 slept = 0; slept < work.microseconds && *interrupts == 0; slept += 100)
      g_usleep(100);
  }
  bool is_small() const override { return work.microseconds == 0; }

  GstVideoCodecFrame* frame;
  Work work = {};
  const std::atomic<unsigned>* interrupts = nullptr;
};

class SleepingCodec final : public PictureCodec {
 public:
  explicit SleepingCodec(GstVideoDecoder* decoder) : decoder_(decoder), loop(decoder, *this) {}

  GstFlowReturn decode(GstVideoCodecFrame* frame) {
    if (loop.has_failed()) {
      gst_video_decoder_release_frame(decoder_, frame);
      return loop.failure();
    }
    if (!loop.is_started()) loop.start_workers(threads, threads);
    auto picture = std::make_unique<SleepingPicture>(frame);
    picture->interrupts = &loop.interrupts();
    loop.add(std::move(picture), kBytes);
    return loop.push_done();
  }
  GstFlowReturn finish(std::unique_ptr<FrameJob> done) override {
    const auto& picture = static_cast<SleepingPicture&>(*done);
    if (picture.work.end == End::kDropped)
      return gst_video_decoder_drop_frame(decoder_, picture.frame);
    if (picture.work.end == End::kFails) {
      gst_video_decoder_release_frame(decoder_, picture.frame);
      post_error(GST_ELEMENT(decoder_), Status::error(StatusCode::kFailed, "as it was reported"));
      return GST_FLOW_ERROR;
    }
    if (!CodecStatePtr(gst_video_decoder_get_output_state(decoder_))) {
      gst_video_codec_state_unref(
          gst_video_decoder_set_output_state(decoder_, GST_VIDEO_FORMAT_GRAY8, 4, 4, nullptr));
      loop.set_rate(25, 1);
    }
    loop.note_time(picture.took());
    picture.frame->output_buffer = gst_buffer_copy(picture.frame->input_buffer);
    return gst_video_decoder_finish_frame(decoder_, picture.frame);
  }
  void discard(std::unique_ptr<FrameJob> picture) override {
    gst_video_decoder_release_frame(decoder_, static_cast<SleepingPicture&>(*picture).frame);
  }

  static constexpr guint64 kBytes = 1000;
  static inline int threads = 4;  // of the next codec

 private:
  GstVideoDecoder* const decoder_;

 public:
  OrderedPictures loop;
};

// ---- Its element ----

G_DECLARE_FINAL_TYPE(SleepDec, sleep_dec, SLEEP, DEC, GstVideoDecoder)
struct _SleepDec {
  GstVideoDecoder parent;
  SleepingCodec* codec;
};
G_DEFINE_TYPE(SleepDec, sleep_dec, GST_TYPE_VIDEO_DECODER)

SleepingCodec& codec_of(gpointer decoder) { return *SLEEP_DEC(decoder)->codec; }

void sleep_dec_init(SleepDec* self) {
  self->codec = new SleepingCodec(GST_VIDEO_DECODER(self));
  gst_video_decoder_set_packetized(GST_VIDEO_DECODER(self), TRUE);
  gst_video_decoder_set_use_default_pad_acceptcaps(GST_VIDEO_DECODER(self), TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(self));
}

void sleep_dec_class_init(SleepDecClass* klass) {
  init_debug_category();
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                                                             GST_STATIC_CAPS("image/x-sleep"));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw"));
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &sink);
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &src);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Sleeper", "Decoder", "Sleeps",
                                        "The cudatransform authors");
  G_OBJECT_CLASS(klass)->finalize = [](GObject* object) {
    delete SLEEP_DEC(object)->codec;
    G_OBJECT_CLASS(sleep_dec_parent_class)->finalize(object);
  };
  auto* decoder = GST_VIDEO_DECODER_CLASS(klass);
  decoder->start = [](GstVideoDecoder* self) -> gboolean {
    codec_of(self).loop.start();
    return TRUE;
  };
  decoder->stop = [](GstVideoDecoder* self) -> gboolean {
    codec_of(self).loop.stop();
    return TRUE;
  };
  decoder->set_format = [](GstVideoDecoder* self, GstVideoCodecState*) -> gboolean {
    OrderedPictures& loop = codec_of(self).loop;
    return loop.may_change_caps(loop.drain());
  };
  decoder->handle_frame = [](GstVideoDecoder* self, GstVideoCodecFrame* frame) {
    return codec_of(self).decode(frame);
  };
  decoder->drain = [](GstVideoDecoder* self) { return codec_of(self).loop.drain(); };
  decoder->finish = [](GstVideoDecoder* self) {
    OrderedPictures& loop = codec_of(self).loop;
    return loop.finish([&] { return loop.drain(); });
  };
  decoder->flush = [](GstVideoDecoder* self) -> gboolean {
    codec_of(self).loop.flush();
    return TRUE;
  };
  decoder->sink_event = [](GstVideoDecoder* self, GstEvent* event) {
    return codec_of(self).loop.take_event(event, [&] {
      return GST_VIDEO_DECODER_CLASS(sleep_dec_parent_class)->sink_event(self, event);
    });
  };
  decoder->sink_query = [](GstVideoDecoder* self, GstQuery* query) -> gboolean {
    OrderedPictures& loop = codec_of(self).loop;
    loop.take_query(query, [&] { return loop.drain(); });
    return GST_VIDEO_DECODER_CLASS(sleep_dec_parent_class)->sink_query(self, query);
  };
}

// ---- A harness around it ----

class Decoder {
 public:
  explicit Decoder(int threads) {
    SleepingCodec::threads = threads;
    element_ = GST_ELEMENT(g_object_new(sleep_dec_get_type(), nullptr));
    gst_object_ref_sink(element_);
    gst_element_set_bus(element_, bus_);
    h_ = gst_harness_new_with_element(element_, "sink", "src");
    gst_harness_set_src_caps_str(h_, "image/x-sleep");
  }
  ~Decoder() {
    gst_harness_teardown(h_);
    gst_object_unref(element_);
    gst_object_unref(bus_);
  }

  GstFlowReturn push(guint32 number, guint32 microseconds = 0, End end = End::kPushed) {
    const Work work = {number, microseconds, end};
    GstBuffer* buffer = gst_buffer_new_memdup(&work, sizeof work);
    GST_BUFFER_PTS(buffer) = number * GST_MSECOND;
    return gst_harness_push(h_, buffer);
  }
  // The number of the next picture, which must come without another input.
  guint32 pull() {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h_);
    return number_of(buffer);
  }
  // The numbers of those that have come, which must ascend from above `last`.
  guint32 pull_all(guint32 last) {
    while (GstBuffer* buffer = gst_harness_try_pull(h_)) {
      const guint32 number = number_of(buffer);
      fail_unless(number > last, "%u after %u", number, last);
      last = number;
      gst_buffer_unref(buffer);
    }
    return last;
  }
  int errors() {
    int count = 0;
    while (GstMessage* message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR)) {
      gst_message_unref(message);
      count++;
    }
    return count;
  }
  GstHarness* harness() { return h_; }
  OrderedPictures& loop() { return codec_of(element_).loop; }
  void finish() { gst_harness_push_event(h_, gst_event_new_eos()); }

 private:
  static guint32 number_of(GstBuffer* buffer) {
    fail_unless(buffer != nullptr);
    Work work = {};
    gst_buffer_extract(buffer, 0, &work, sizeof work);
    return work.number;
  }

  GstElement* element_ = nullptr;
  GstBus* bus_ = gst_bus_new();
  GstHarness* h_ = nullptr;
};

// ---- Tests ----

CHECK_TEST(test_order) {
  std::mt19937 random(1);
  for (const int threads : {1, 2, 5}) {
    Decoder decoder(threads);
    guint32 pushed = 0;
    for (guint32 i = 1; i <= 200; i++) {
      const bool drops = random() % 5 == 0;
      pushed += !drops;
      const guint32 takes = random() % 3 == 0 ? random() % 2000 : 0;
      fail_unless_equals_int(decoder.push(i, takes, drops ? End::kDropped : End::kPushed),
                             GST_FLOW_OK);
    }
    decoder.finish();
    fail_unless_equals_int(gst_harness_buffers_received(decoder.harness()), pushed);
    decoder.pull_all(0);
    fail_unless_equals_uint64(decoder.loop().used_bytes(), 0);
  }
}

GstPadProbeReturn note_thread(GstPad*, GstPadProbeInfo*, gpointer name) {
  pthread_getname_np(pthread_self(), static_cast<char*>(name), 16);
  return GST_PAD_PROBE_OK;
}

CHECK_TEST(test_pushes_without_input) {
  Decoder decoder(3);
  char thread[16] = "";
  gst_pad_add_probe(decoder.harness()->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, note_thread, thread,
                    nullptr);
  decoder.push(1, 3000);
  decoder.push(2, 0);
  fail_unless_equals_int(decoder.pull(), 1);
  fail_unless_equals_int(decoder.pull(), 2);
  fail_unless_equals_string(thread, "GstCoefPush");
}

CHECK_TEST(test_memory_in_flight) {
  Decoder decoder(4);
  for (guint32 i = 1; i <= 3; i++) decoder.push(i, 50000);
  GST_VIDEO_DECODER_STREAM_LOCK(decoder.harness()->element);
  const guint64 used = decoder.loop().used_bytes();
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder.harness()->element);
  fail_unless_equals_uint64(used, 3 * SleepingCodec::kBytes);
  drain(decoder.harness());
  decoder.finish();
  fail_unless_equals_uint64(decoder.loop().used_bytes(), 0);
}

// A failure ends the stream: nothing is pushed after it, and each picture returns it until a flush.
CHECK_TEST(test_failure) {
  for (const int threads : {1, 3}) {
    Decoder decoder(threads);
    decoder.push(1, 1000);
    decoder.push(2, 1000, End::kFails);
    for (guint32 i = 3; i < 20; i++) decoder.push(i, 1000);
    fail_unless_equals_int(decoder.push(20), GST_FLOW_ERROR);
    fail_unless_equals_int(decoder.errors(), 1);
    fail_unless_equals_int(decoder.pull_all(0), 1);
    push_flush(decoder.harness());
    fail_unless_equals_int(decoder.push(21), GST_FLOW_OK);
    fail_unless_equals_int(decoder.pull(), 21);
    fail_unless_equals_int(decoder.errors(), 0);
  }
}

// An event's sender does not learn of a failure that it causes: the next picture does.
CHECK_TEST(test_failure_behind_an_event) {
  Decoder decoder(3);
  decoder.push(1, 20000, End::kFails);
  gst_harness_push_event(decoder.harness(), gst_event_new_stream_start("next"));
  fail_unless_equals_int(decoder.errors(), 1);
  fail_unless_equals_int(decoder.push(2), GST_FLOW_ERROR);
}

// As events: the query's sender gets its buffers back, but does not learn of a failure.
CHECK_TEST(test_drain_query) {
  Decoder decoder(4);
  for (guint32 i = 1; i <= 3; i++) decoder.push(i, 20000);
  drain(decoder.harness());
  fail_unless_equals_int(gst_harness_buffers_received(decoder.harness()), 3);
  decoder.push(4, 20000, End::kFails);
  drain(decoder.harness());
  fail_unless_equals_int(decoder.errors(), 1);
  fail_unless_equals_int(decoder.push(5), GST_FLOW_ERROR);
}

// A flush interrupts the work.
CHECK_TEST(test_interrupts) {
  Decoder decoder(3);
  const gint64 begin = g_get_monotonic_time();
  for (guint32 i = 1; i <= 2; i++) decoder.push(i, 30 * G_USEC_PER_SEC);
  push_flush(decoder.harness());
  fail_unless(g_get_monotonic_time() - begin < 10 * G_USEC_PER_SEC);
  decoder.push(3);
  fail_unless_equals_int(decoder.pull(), 3);
}

// Flushes, drains, segments and caps at any time.
CHECK_TEST(test_storm) {
  std::mt19937 random(7);
  Decoder decoder(3);
  guint32 number = 0, last = 0;
  const int cycles = quick() ? 1000 : 10000;
  for (int i = 0; i < cycles; i++) {
    for (int n = static_cast<int>(random() % 5); n > 0; n--) {
      const guint32 takes = random() % 4 == 0 ? random() % 300 : 0;
      fail_unless_equals_int(decoder.push(++number, takes), GST_FLOW_OK);
    }
    switch (random() % 5) {
      case 0:
        push_flush(decoder.harness());
        break;
      case 1:
        push_segment(decoder.harness());
        break;
      case 2:
        drain(decoder.harness());
        break;
      case 3:
        gst_harness_set_src_caps_str(decoder.harness(),
                                     i % 2 ? "image/x-sleep,framerate=5/1" : "image/x-sleep");
        break;
      default:
        break;
    }
    last = decoder.pull_all(last);
  }
  decoder.push(++number);
  decoder.finish();
  fail_unless_equals_int(decoder.pull_all(last), number);
  fail_unless_equals_int(decoder.errors(), 0);
  fail_unless_equals_uint64(decoder.loop().used_bytes(), 0);
}

// The element stops while pictures are in flight.
CHECK_TEST(test_stops_at_any_time) {
  for (gulong wait = 0; wait < 6000; wait += 200) {
    Decoder decoder(3);
    for (guint32 i = 1; i <= 3; i++) decoder.push(i, 2000);
    g_usleep(wait);
  }
}

}  // namespace
