// The decoder that any codec of pictures can use, with a codec made for the test: a picture is a
// buffer of two bytes, its kind and its number, and what comes out is the number.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/stream/picture_decoder.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "tests/check/testing.h"

GST_DEBUG_CATEGORY_EXTERN(cudatransform_debug);  // of the plugin

namespace {

using namespace cudatransform;

constexpr guint64 kBytes = 1000;  // of memory that a picture takes

class Job final : public PictureJob {
 public:
  guint8 kind() const { return data()[0]; }
  guint8 number() const { return data()[1]; }

  // 'x' is on a device that has failed: only who waits finds out.
  bool is_ready() override { return kind() != 'x'; }

  bool begun = false;

 protected:
  Status settle(bool wait, Left* left, PictureFindings*) override {
    *left = wait || kind() != 'x' ? Left::kNothing : Left::kWork;
    if (kind() != 'x' || !wait) return {};
    return Status::error(StatusCode::kDeviceLost, "the device is lost");
  }
  Status decode(PictureFindings* found) override {
    if (kind() == 's') g_usleep(20000);
    while (kind() == 'f' && *interrupt() == 0) g_usleep(1000);  // for ever
    if (kind() == 'f') return Status::error(StatusCode::kCancelled, "interrupted");
    if (kind() == 'd') found->damage = "it has a hole";
    if (kind() == 'i') found->irregular = "it has a stain";
    return {};
  }
};

class Codec final : public PictureCodec {
 public:
  explicit Codec(GstVideoDecoder* decoder) : decoder_(decoder) {}

  const char* name() const override { return "TEST"; }
  std::unique_ptr<PictureJob> new_job() override { return std::make_unique<Job>(); }
  Status read_header(PictureJob& job, const GstVideoCodecState*) override {
    if (static_cast<Job&>(job).kind() == 'u')
      return Status::error(StatusCode::kUnsupported, "of a strange kind");
    return job.claim(kBytes, 16, 8);
  }
  Status begin(PictureJob& job) override {
    static_cast<Job&>(job).begun = true;
    most_begun = std::max(most_begun, ++begun_);
    return {};
  }
  bool needs_new_state(const PictureJob&) override { return false; }
  void set_output_state(const PictureJob&, GstVideoCodecState* input) override {
    GstVideoCodecState* state =
        gst_video_decoder_set_output_state(decoder_, GST_VIDEO_FORMAT_ENCODED, 16, 8, input);
    state->caps = gst_caps_new_empty_simple("video/x-numbers");
    gst_video_codec_state_unref(state);
  }
  bool set_gap_state(GstVideoCodecState* input) override {
    set_output_state(Job(), input);
    return true;
  }
  Status finish(PictureJob& job, GstBuffer** buffer) override {
    *buffer = gst_buffer_new_memdup(&job.data()[1], 1);
    return {};
  }
  void release(PictureJob& job) override {
    if (std::exchange(static_cast<Job&>(job).begun, false)) begun_--;
  }
  void limit_kept(guint64) override {}
  guint64 reusable(const PictureJob&) const override { return 0; }
  void stop() override {}

  int most_begun = 0;

 private:
  GstVideoDecoder* decoder_;
  int begun_ = 0;
};

}  // namespace

// ---- The element ----

G_DECLARE_FINAL_TYPE(TestDec, test_dec, TEST, DEC, GstVideoDecoder)
struct _TestDec {
  GstVideoDecoder parent;
  Codec* codec;
  PictureDecoder* pictures;
  PictureSettings settings;
};
#define test_dec_parent_class parent_class
G_DEFINE_TYPE(TestDec, test_dec, GST_TYPE_VIDEO_DECODER)

static void test_dec_finalize(GObject* object) {
  delete TEST_DEC(object)->pictures;
  delete TEST_DEC(object)->codec;
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void test_dec_init(TestDec* self) {
  auto* decoder = GST_VIDEO_DECODER(self);
  self->codec = new Codec(decoder);
  self->pictures = new PictureDecoder(decoder, *self->codec,
                                      [](GstVideoDecoder* of) { return TEST_DEC(of)->settings; });
  gst_video_decoder_set_packetized(decoder, TRUE);
}

static void test_dec_class_init(TestDecClass* klass) {
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                                                             GST_STATIC_CAPS("video/x-test"));
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                                                            GST_STATIC_CAPS("video/x-numbers"));
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &sink);
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &src);
  G_OBJECT_CLASS(klass)->finalize = test_dec_finalize;
  auto* decoder_class = GST_VIDEO_DECODER_CLASS(klass);
  decoder_class->start = [](GstVideoDecoder* decoder) -> gboolean {
    TEST_DEC(decoder)->pictures->start();
    return TRUE;
  };
  decoder_class->stop = [](GstVideoDecoder* decoder) -> gboolean {
    TEST_DEC(decoder)->pictures->stop();
    return TRUE;
  };
  decoder_class->set_format = [](GstVideoDecoder* decoder, GstVideoCodecState* state) -> gboolean {
    return TEST_DEC(decoder)->pictures->set_input(state);
  };
  decoder_class->decide_allocation = [](GstVideoDecoder*, GstQuery* query) -> gboolean {
    // The base class insists on one.
    g_autoptr(GstBufferPool) pool = gst_buffer_pool_new();
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, nullptr, 1, 0, 0);
    gst_buffer_pool_set_config(pool, config);
    gst_query_add_allocation_pool(query, pool, 1, 0, 0);
    return TRUE;
  };
  decoder_class->handle_frame = [](GstVideoDecoder* decoder, GstVideoCodecFrame* frame) {
    return TEST_DEC(decoder)->pictures->decode(frame);
  };
  decoder_class->finish = [](GstVideoDecoder* decoder) {
    return TEST_DEC(decoder)->pictures->finish();
  };
  decoder_class->flush = [](GstVideoDecoder* decoder) -> gboolean {
    TEST_DEC(decoder)->pictures->flush();
    return TRUE;
  };
  decoder_class->sink_event = [](GstVideoDecoder* decoder, GstEvent* event) -> gboolean {
    return TEST_DEC(decoder)->pictures->sink_event(event, GST_VIDEO_DECODER_CLASS(parent_class));
  };
}

namespace {

// ---- Tests ----

class Stream {
 public:
  explicit Stream(OnError on_error = OnError::kDrop, guint n_threads = 1, guint64 max_memory = 0) {
    element_ = GST_ELEMENT(g_object_ref_sink(g_object_new(test_dec_get_type(), nullptr)));
    TEST_DEC(element_)->settings = {on_error, max_memory, n_threads};
    bus_ = gst_bus_new();
    gst_element_set_bus(element_, bus_);
    harness_ = gst_harness_new_with_element(element_, "sink", "src");
    gst_harness_set_src_caps_str(harness_, "video/x-test");
  }
  ~Stream() {
    gst_element_set_bus(element_, nullptr);
    gst_harness_teardown(harness_);
    gst_object_unref(bus_);
    gst_object_unref(element_);
  }

  GstFlowReturn push(char kind) {
    const guint8 bytes[] = {guint8(kind), guint8('0' + pushed_)};
    GstBuffer* buffer = gst_buffer_new_memdup(bytes, sizeof(bytes));
    GST_BUFFER_PTS(buffer) = GST_SECOND * guint64(pushed_++);
    return gst_harness_push(harness_, buffer);
  }
  // All of them, to the end of the stream; what has come out, damaged ones in brackets.
  std::string play(const char* kinds) {
    for (const char* kind = kinds; *kind; kind++) push(*kind);
    gst_harness_push_event(harness_, gst_event_new_eos());
    return come_out();
  }
  std::string come_out() {
    std::string numbers;
    while (GstBuffer* buffer = gst_harness_try_pull(harness_)) numbers += number_of(buffer);
    return numbers;
  }
  // The next ones, which nothing else has to come for.
  std::string wait_for(int count) {
    std::string numbers;
    for (int i = 0; i < count; i++) {
      GstBuffer* buffer = gst_harness_pull(harness_);
      fail_unless(buffer != nullptr, "only '%s' came out", numbers.c_str());
      numbers += number_of(buffer);
    }
    return numbers;
  }
  // Whether an error comes that nothing else has to come for.
  bool fails() {
    GstMessage* message = gst_bus_timed_pop_filtered(bus_, 10 * GST_SECOND, GST_MESSAGE_ERROR);
    if (message) gst_message_unref(message);
    return message != nullptr;
  }
  // The first message of that type, and no other of it; "" for none.
  std::string message(GstMessageType type) {
    const std::vector<testing::Told> told = testing::take_messages(bus_, type);
    fail_unless(told.size() <= 1, "a second message behind: %s", told[0].text.c_str());
    return told.empty() ? "" : told[0].text;
  }
  std::string counts() {
    g_autoptr(GstStructure) stats = TEST_DEC(element_)->pictures->stats("stats");
    guint64 frames = 0, damaged = 0, dropped = 0, irregular = 0;
    gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "damaged", G_TYPE_UINT64, &damaged,
                      "dropped", G_TYPE_UINT64, &dropped, "irregular", G_TYPE_UINT64, &irregular,
                      nullptr);
    std::string text;
    for (const guint64 count : {frames, damaged, dropped, irregular})
      text += (text.empty() ? "" : " ") + std::to_string(count);
    return text;
  }
  GstHarness* harness() { return harness_; }
  Codec& codec() { return *TEST_DEC(element_)->codec; }
  GstElement* element() { return element_; }

 private:
  // Takes it.
  static std::string number_of(GstBuffer* buffer) {
    char number = 0;
    gst_buffer_extract(buffer, 0, &number, 1);
    const bool bad = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
    gst_buffer_unref(buffer);
    return bad ? std::string("(") + number + ")" : std::string(1, number);
  }

  GstElement* element_;
  GstBus* bus_;
  GstHarness* harness_;
  int pushed_ = 0;
};

void expect(const std::string& found, const std::string& expected) {
  fail_unless(found == expected, "'%s', not '%s'", found.c_str(), expected.c_str());
}

CHECK_TEST(test_order) {
  Stream stream(OnError::kDrop, 4);
  expect(stream.play("sggsggsg"), "01234567");
  expect(stream.counts(), "8 0 0 0");
}

CHECK_TEST(test_drop) {
  Stream stream(OnError::kDrop, 3);
  expect(stream.play("gddg"), "03");
  expect(stream.message(GST_MESSAGE_WARNING), "Dropped a damaged TEST picture: it has a hole");
  expect(stream.message(GST_MESSAGE_ERROR), "");
  expect(stream.counts(), "2 2 2 0");
}

CHECK_TEST(test_conceal) {
  Stream stream(OnError::kConceal, 3);
  expect(stream.play("gdg"), "0(1)2");
  expect(stream.message(GST_MESSAGE_WARNING), "");
  expect(stream.counts(), "3 1 0 0");
}

// What is odd is shown as it is, ends a run of damaged pictures, and is counted.
CHECK_TEST(test_irregular) {
  Stream stream(OnError::kFail, 3);
  expect(stream.play("giigi"), "01234");
  expect(stream.message(GST_MESSAGE_WARNING), "");
  expect(stream.counts(), "5 0 0 3");
  Stream run;
  gst_video_decoder_set_max_errors(GST_VIDEO_DECODER(run.element()), 2);
  expect(run.play("ddidd"), "2");
  expect(run.message(GST_MESSAGE_ERROR), "");
}

// Behind the error nothing comes out, and it is said again, until a flush.
CHECK_TEST(test_fail) {
  Stream stream(OnError::kFail);
  stream.push('g');
  fail_unless_equals_int(stream.push('d'), GST_FLOW_ERROR);
  fail_unless_equals_int(stream.push('g'), GST_FLOW_ERROR);
  expect(stream.come_out(), "0");
  expect(stream.message(GST_MESSAGE_ERROR), "A TEST picture is damaged: it has a hole");
  testing::push_flush(stream.harness());
  fail_unless_equals_int(stream.push('g'), GST_FLOW_OK);
  expect(stream.come_out(), "3");
}

CHECK_TEST(test_max_errors) {
  Stream stream;
  gst_video_decoder_set_max_errors(GST_VIDEO_DECODER(stream.element()), 2);
  expect(stream.play("gddgdddg"), "03");
  expect(stream.message(GST_MESSAGE_ERROR), "A TEST picture is damaged: it has a hole");
}

// A strange kind is an error at the beginning, and damage behind a good picture.
CHECK_TEST(test_strange_kind) {
  Stream first;
  expect(first.play("ug"), "");
  expect(first.message(GST_MESSAGE_ERROR), "of a strange kind");
  Stream later;
  expect(later.play("gug"), "02");
  expect(later.message(GST_MESSAGE_WARNING), "Dropped a damaged TEST picture: of a strange kind");
}

CHECK_TEST(test_nothing_to_show) {
  Stream stream;
  expect(stream.play("ddd"), "");
  expect(stream.message(GST_MESSAGE_ERROR), "None of 3 TEST pictures could be decoded");
}

CHECK_TEST(test_max_memory) {
  Stream bounded(OnError::kDrop, 4, 2 * kBytes + kBytes / 2);
  expect(bounded.play("ssssss"), "012345");
  fail_unless_equals_int(bounded.codec().most_begun, 2);
  Stream refused(OnError::kDrop, 4, kBytes);
  expect(refused.play("g"), "");
  expect(refused.message(GST_MESSAGE_WARNING),
         "Dropped a damaged TEST picture: the picture has 16x8 pixels and needs 1002 bytes, more "
         "than max-memory=1000");
}

CHECK_TEST(test_flush_interrupts) {
  Stream stream(OnError::kDrop, 2);
  stream.push('f');
  testing::push_flush(stream.harness());
  expect(stream.play("g"), "1");
  expect(stream.counts(), "1 0 0 0");
}

// A finished picture leaves, whether the next one comes or not; those behind it wait for it.
CHECK_TEST(test_leaves_alone) {
  Stream stream(OnError::kDrop, 4);
  stream.push('s');
  stream.push('g');
  expect(stream.wait_for(2), "01");
  stream.push('s');
  expect(stream.wait_for(1), "2");
  // It took 20 ms, which is told in steps.
  const GstClockTime latency = gst_harness_query_latency(stream.harness());
  fail_unless(latency >= 20 * GST_MSECOND && latency <= 3 * 40 * GST_MSECOND, "%" GST_TIME_FORMAT,
              GST_TIME_ARGS(latency));
}

// So does what is told of a damaged one. The next picture is not taken then.
CHECK_TEST(test_fails_alone) {
  Stream stream(OnError::kFail, 3);
  stream.push('d');
  fail_unless(stream.fails());
  fail_unless_equals_int(stream.push('g'), GST_FLOW_ERROR);
  expect(stream.come_out(), "");
}

CHECK_TEST(test_failed_device_is_found_alone) {
  Stream stream(OnError::kDrop, 3);
  stream.push('x');
  fail_unless(stream.fails());
}

std::atomic<int> refused;

GstFlowReturn refuse(GstPad*, GstObject*, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  refused++;
  return GST_FLOW_EOS;
}

// What downstream says to the task, upstream hears with its next picture, once.
CHECK_TEST(test_refusal_is_told) {
  Stream stream(OnError::kDrop, 3);
  refused = 0;
  GstPadChainFunction chain = GST_PAD_CHAINFUNC(stream.harness()->sinkpad);
  gst_pad_set_chain_function(stream.harness()->sinkpad, refuse);
  fail_unless_equals_int(stream.push('s'), GST_FLOW_OK);
  while (refused == 0) g_usleep(1000);
  gst_pad_set_chain_function(stream.harness()->sinkpad, chain);
  g_usleep(1000);
  fail_unless_equals_int(stream.push('s'), GST_FLOW_EOS);
  fail_unless_equals_int(stream.push('g'), GST_FLOW_OK);
  expect(stream.wait_for(2), "12");
}

// The element is stopped while pictures are in work, are being pushed, or have just left.
CHECK_TEST(test_stops_at_any_time) {
  for (gulong wait = 0; wait < 25000; wait += 500) {
    Stream stream(OnError::kDrop, 3);
    stream.push('s');
    stream.push('g');
    g_usleep(wait);
  }
}

// Holds up the first caps until a flush has begun, and counts ALLOCATION queries.
struct Negotiation {
  std::atomic<bool> has_caps = false, is_flushing = false;
  std::atomic<int> queries = 0;
};

GstPadProbeReturn watch(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto* seen = static_cast<Negotiation*>(data);
  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) {
    const bool first = info->type & GST_PAD_PROBE_TYPE_PUSH;
    if (first && GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ALLOCATION)
      seen->queries++;
  } else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) {
    seen->has_caps = true;
    while (!seen->is_flushing) g_usleep(1000);
  }
  return GST_PAD_PROBE_OK;
}

// What a flush has kept downstream from answering is asked again behind it.
CHECK_TEST(test_flush_while_negotiating) {
  Stream stream(OnError::kDrop, 3);
  Negotiation seen;
  gst_pad_add_probe(stream.harness()->sinkpad,
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                 GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM),
                    watch, &seen, nullptr);
  stream.push('s');
  while (!seen.has_caps) g_usleep(1000);
  gst_harness_push_event(stream.harness(), gst_event_new_flush_start());
  seen.is_flushing = true;
  gst_harness_push_event(stream.harness(), gst_event_new_flush_stop(TRUE));
  testing::push_segment(stream.harness());
  fail_unless_equals_int(seen.queries, 0);
  stream.push('g');
  expect(stream.wait_for(1), "1");
  fail_unless_equals_int(seen.queries, 1);
}

CHECK_TEST(test_gap_first) {
  Stream stream;
  fail_unless(gst_harness_push_event(stream.harness(), gst_event_new_gap(0, GST_SECOND)));
  g_autoptr(GstCaps) caps = testing::current_caps(stream.harness());
  fail_unless(gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-numbers"));
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GST_DEBUG_CATEGORY_INIT(cudatransform_debug, "cudatransform", 0, "Block transforms");
  return testing::run(argc, argv);
}
