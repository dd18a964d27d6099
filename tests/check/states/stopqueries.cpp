// Serialized queries on an element that is being started, stopped or flushed: the element refuses
// them at every moment, and they touch nothing.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs on the CPU engine and on the fake driver, which does work only when a thread waits for it.
// Nothing here depends on speed: the test sends queries from inside the state change, at the
// moments that matter, and the change goes on once they are answered.
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/check/drivers/fakedriver.h"
#include "tests/check/frames.h"
#include "tests/check/states/watchdog.h"

namespace {

using namespace testing;

constexpr int kWidth = 40, kHeight = 24;
constexpr int kThreads = 2;  // that ask

struct Kind {
  const char* factory;
  const char* properties;
  bool transforms;  // its pad takes queries before start() is over; frames wait for the device
};
constexpr Kind kKinds[] = {
    {"cudadct8x8", "async-depth=8", true},
    {"cudaidct8x8", "async-depth=8", true},
    {"jpegcoefenc", "n-threads=4", false},
    {"jpegcoefdec", "n-threads=4", false},
};

// Whether frames are in flight after their push. On a GPU they may be done.
bool waits(const Kind& kind) { return kind.transforms && is_cuda() && is_fake(); }

bool has(const char* factory) {
  GstElementFactory* found = gst_element_factory_find(factory);
  if (found) gst_object_unref(found);
  return found != nullptr;
}

// An element's input: a buffer and its caps.
struct Input {
  GstBuffer* buffer;
  GstCaps* caps;
};

// The output of `line` for `in` (transfer full).
Input made_by(const char* line, const Input& in) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(line);
  gst_harness_set_src_caps(h, in.caps);
  fail_unless_equals_int(gst_harness_push(h, in.buffer), GST_FLOW_OK);
  const Input out = {gst_harness_pull(h), gst_pad_get_current_caps(h->sinkpad)};
  fail_unless(out.buffer && out.caps);
  return out;
}

Input input_of(const std::string& factory) {
  const GstVideoInfo info = video_info(GST_VIDEO_FORMAT_I420, kWidth, kHeight);
  Input input = {make_frame(info), video_caps(info)};
  if (factory == "cudadct8x8") return input;
  input = made_by("cudadct8x8 backend=cpu", input);
  if (factory != "jpegcoefdec") return input;
  input = made_by("jpegcoefenc backend=cpu n-threads=1", input);
  input.caps = gst_caps_make_writable(input.caps);
  gst_caps_set_simple(input.caps, "parsed", G_TYPE_BOOLEAN, TRUE, nullptr);
  return input;
}

// A meta that elements copy from frames to their output. While `on_free` is set, the next meta that
// is freed calls it: in the middle of dropping a frame.
std::atomic<const std::function<void()>*> on_free = nullptr;

void free_meta(GstMeta*, GstBuffer*) {
  if (const auto* call = on_free.exchange(nullptr)) (*call)();
}

const GstMetaInfo* meta_info();
gboolean copy_meta(GstBuffer* to, GstMeta*, GstBuffer*, GQuark type, gpointer) {
  return GST_META_TRANSFORM_IS_COPY(type) && gst_buffer_add_meta(to, meta_info(), nullptr);
}

const GstMetaInfo* meta_info() {
  static const gchar* tags[] = {nullptr};
  static const GType api = gst_meta_api_type_register("CudatransformStopqueriesMetaAPI", tags);
  static const GstMetaInfo* info = gst_meta_register(
      api, "CudatransformStopqueriesMeta", sizeof(GstMeta),
      [](GstMeta*, gpointer, GstBuffer*) -> gboolean { return TRUE; }, free_meta, copy_meta);
  return info;
}

// An element between two pads of ours.
class Line {
 public:
  explicit Line(const Kind& kind)
      : input_(input_of(kind.factory)), pushes_by_itself_(!kind.transforms) {
    const std::string line = std::string(kind.factory) + " backend=" + backend() + " ";
    GstElement* element = launch(line + kind.properties);  // a single one is not in a pipeline
    gst_object_ref_sink(element);
    h_ = gst_harness_new_with_element(element, "sink", "src");
    sink_ = gst_element_get_static_pad(element, "sink");
    gst_object_unref(element);
    gst_pad_add_probe(h_->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, &Line::see, this, nullptr);
  }
  ~Line() {
    gst_object_unref(sink_);
    gst_harness_teardown(h_);
    gst_buffer_unref(input_.buffer);
    gst_caps_unref(input_.caps);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void begin_stream() {
    event(gst_event_new_stream_start("stream"));
    event(gst_event_new_caps(input_.caps));
    push_segment(h_);
  }
  void event(GstEvent* event) { fail_unless(gst_harness_push_event(h_, event)); }
  // Elements that push by themselves have pushed one of them by then, so that they have negotiated.
  void push(guint frames) {
    const guint before = received();
    for (guint i = 0; i < frames; i++) {
      GstBuffer* buffer = gst_buffer_copy(input_.buffer);
      GST_BUFFER_PTS(buffer) = pushed_++ * GST_SECOND / 25;
      GST_BUFFER_DURATION(buffer) = GST_SECOND / 25;
      gst_buffer_add_meta(buffer, meta_info(), nullptr);
      fail_unless_equals_int(gst_harness_push(h_, buffer), GST_FLOW_OK);
    }
    while (pushes_by_itself_ && received() == before) g_usleep(100);
  }
  void change_to(GstState state) {
    fail_unless_equals_int(gst_element_set_state(h_->element, state), GST_STATE_CHANGE_SUCCESS);
  }

  // Queries from several threads simultaneously, and waits for them; returns how often the answer
  // was yes.
  int ask(GstQuery* (*make)(Line*)) {
    std::atomic<int> answered = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++)
      threads.emplace_back([&] {
        g_autoptr(GstQuery) query = make(this);
        if (gst_pad_query(sink_, query)) answered++;
      });
    for (std::thread& thread : threads) thread.join();
    return answered;
  }
  int ask_to_drain() {
    return ask([](Line*) { return gst_query_new_drain(); });
  }
  int ask_for_pool() {
    return ask([](Line* line) { return gst_query_new_allocation(line->input_.caps, TRUE); });
  }
  int ask_both() {
    const int drained = ask_to_drain();
    return drained + ask_for_pool();
  }

  // Serialized queries that have come out of the element.
  int passed_on() const { return passed_on_; }
  // No frame is on its way to the harness meanwhile.
  guint received() const {
    GST_PAD_STREAM_LOCK(h_->sinkpad);
    const guint received = gst_harness_buffers_received(h_);
    GST_PAD_STREAM_UNLOCK(h_->sinkpad);
    return received;
  }
  GstPad* sink() const { return sink_; }

 private:
  static GstPadProbeReturn see(GstPad*, GstPadProbeInfo* info, gpointer self) {
    const GstQueryType type = GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info));
    if (gst_query_type_get_flags(type) & GST_QUERY_TYPE_SERIALIZED &&
        info->type & GST_PAD_PROBE_TYPE_PUSH)
      static_cast<Line*>(self)->passed_on_++;
    return GST_PAD_PROBE_OK;
  }

  Input input_;
  const bool pushes_by_itself_;
  GstHarness* h_;
  GstPad* sink_;
  guint pushed_ = 0;
  std::atomic<int> passed_on_ = 0;
};

const Kind* kind_of(int i) { return has(kKinds[i].factory) ? &kKinds[i] : nullptr; }

// Queries just before and just after a pad is activated or deactivated: before start() and stop()
// of a GstBaseTransform, which GStreamer calls in between, and when they are over.
struct Activation {
  Line* line;
  GstPadActivateModeFunction original;                    // null: nothing to be done
  int before_start = 0, before_stop = 0, after_stop = 0;  // answered with yes
  int started = 0, stopped = 0;
};

gboolean activate(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  auto* a = static_cast<Activation*>(pad->activatemodedata);
  (active ? a->before_start : a->before_stop) += a->line->ask_both();
  const gboolean done = !a->original || a->original(pad, parent, mode, active);
  if (!active) a->after_stop += a->line->ask_both();
  (active ? a->started : a->stopped)++;
  return done;
}

CHECK_LOOP_TEST(test_ladder, 0, G_N_ELEMENTS(kKinds)) {
  const Kind* kind = kind_of(__i__);
  if (!kind) return;
  Line line(*kind);
  Activation activation = {&line, GST_PAD_ACTIVATEMODEFUNC(line.sink())};
  const GstState ladder[] = {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED,
                             GST_STATE_READY, GST_STATE_NULL,   GST_STATE_PLAYING, GST_STATE_NULL};
  // gst_harness sets PLAYING itself.
  GstPadActivateModeFunction video_base = activation.original;
  gst_pad_set_activatemode_function_full(line.sink(), activate, &activation, nullptr);
  bool runs = true;
  int passed_on = line.passed_on();
  for (const GstState state : ladder) {
    Watchdog::get().now(kind->factory, gst_element_state_get_name(state));
    line.change_to(state);
    const bool ran = std::exchange(runs, state >= GST_STATE_PAUSED);
    // Base classes of decoders and encoders start before they open their pads.
    if (kind->transforms) fail_unless_equals_int(activation.before_start, 0);
    fail_unless_equals_int(activation.before_stop, 0);
    fail_unless_equals_int(activation.after_stop, 0);
    if (kind->transforms) fail_unless_equals_int(line.passed_on(), passed_on);
    passed_on = line.passed_on();
    if (runs) {
      if (!ran) line.begin_stream();
      line.push(5);
      passed_on = line.passed_on();  // for a pool, the element itself has asked
      fail_unless_equals_int(line.ask_to_drain(), kThreads);
      fail_unless_equals_int(line.passed_on(), passed_on + kThreads);
    } else {
      fail_unless_equals_int(line.ask_both(), 0);
      fail_unless_equals_int(line.passed_on(), passed_on);
    }
    passed_on = line.passed_on();
  }
  fail_unless_equals_int(activation.started, 2);
  fail_unless_equals_int(activation.stopped, 3);
  gst_pad_set_activatemode_function(line.sink(), video_base);
}

// In the middle of stop(), while it drops the first of the frames in flight.
CHECK_LOOP_TEST(test_stop, 0, G_N_ELEMENTS(kKinds)) {
  const Kind* kind = kind_of(__i__);
  if (!kind) return;
  for (const GstState low : {GST_STATE_READY, GST_STATE_NULL}) {
    Line line(*kind);
    for (int round = 0; round < 3; round++) {
      line.begin_stream();
      line.push(3);
      const int passed_on = line.passed_on();
      int calls = 0, answered = 0;
      const std::function<void()> call = [&] {
        if (!GST_PAD_IS_FLUSHING(line.sink())) {  // a frame that leaves by itself before stop()
          on_free = &call;
          return;
        }
        calls++;
        answered = line.ask_both();
      };
      on_free = &call;
      Watchdog::get().now(kind->factory, "stopping with frames in flight");
      line.change_to(low);
      on_free = nullptr;
      if (waits(*kind)) fail_unless_equals_int(calls, 1);
      fail_unless_equals_int(answered, 0);
      fail_unless_equals_int(line.passed_on(), passed_on);
      line.change_to(GST_STATE_PLAYING);
    }
  }
}

// From FLUSH_START to FLUSH_STOP, with frames in flight; afterwards everything is as before.
CHECK_LOOP_TEST(test_flush, 0, G_N_ELEMENTS(kKinds)) {
  const Kind* kind = kind_of(__i__);
  if (!kind) return;
  Line line(*kind);
  line.begin_stream();
  for (int round = 0; round < 3; round++) {
    Watchdog::get().now(kind->factory, "flushing");
    line.push(3);
    line.event(gst_event_new_flush_start());
    const int passed_on = line.passed_on();
    const guint received = line.received();
    fail_unless_equals_int(line.ask_both(), 0);
    fail_unless_equals_int(line.passed_on(), passed_on);
    line.event(gst_event_new_flush_stop(TRUE));
    fail_unless_equals_int(line.received(), received);
    line.begin_stream();
    line.push(3);
    fail_unless_equals_int(line.ask_to_drain(), kThreads);
    fail_unless_equals_int(line.ask_for_pool(), kThreads);
    line.event(gst_event_new_gap(GST_SECOND, GST_SECOND));
    if (kind->transforms) fail_unless_equals_int(line.received(), received + 3);
  }
}

}  // namespace
