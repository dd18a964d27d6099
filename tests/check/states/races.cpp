// Pipelines under simultaneous load: serialized queries, other queries and properties from
// separate threads, state changes, flushes and new caps. Nothing hangs, crashes or leaks, and
// ThreadSanitizer has nothing to report.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A number of rounds of steps from a fixed seed; each step begins when frames have come out since
// the step before, however long that takes. With CUDATRANSFORM_TEST_BACKEND=cuda on the fake driver
// frames are in flight all the time.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/check/drivers/fakedriver.h"
#include "tests/check/states/watchdog.h"

namespace {

using namespace testing;

constexpr char kSource[] = "videotestsrc name=src ! capsfilter name=caps caps=";
constexpr const char* kCaps[] = {"video/x-raw,format=I420,width=96,height=64,framerate=1000/1",
                                 "video/x-raw,format=I420,width=72,height=40,framerate=1000/1"};
constexpr char kSink[] = " ! fakesink name=sink sync=false";

// Coefficients between the transforms alone, with a queue, and as JPEG files.
// Kernels do nothing on the fake driver, and their output does not fit into a JPEG file.
std::string line_of(int i) {
  const std::string f = std::string("cudadct8x8 backend=") + (i == 2 ? "cpu" : backend()) +
                        " name=f async-depth=8 measure=psnr+time post-messages=true";
  const std::string inv = inverse("name=i async-depth=8");
  const std::string engine = std::string(" n-threads=3 backend=") + backend();
  const std::string between[] = {" ! ", " keep-reference=true ! queue max-size-buffers=3 ! ",
                                 " ! jpegcoefenc name=e" + engine +
                                     " ! queue max-size-buffers=3 ! jpegcoefdec name=d" + engine +
                                     " ! "};
  return kSource + std::string(kCaps[0]) + " ! " + f + between[i] + inv + kSink;
}
constexpr int kLines = 3;
constexpr const char* kNames[kLines] = {"two transforms", "with a queue", "with JPEG files"};

int rounds() { return under_valgrind() ? 8 : quick() ? 25 : 60; }

// The output, and the latest of it: buffers that outlive their elements.
class Output {
 public:
  ~Output() { forget(); }
  void take(GstBuffer* buffer) {
    std::lock_guard lock(lock_);
    gst_buffer_replace(&kept_[count_ % G_N_ELEMENTS(kept_)], buffer);
    count_++;
    changed_.notify_all();
  }
  // No more will come.
  void end_with(const char* error) {
    std::lock_guard lock(lock_);
    error_ = error;
    changed_.notify_all();
  }
  std::string error() {
    std::lock_guard lock(lock_);
    return error_;
  }
  // Waits for this many buffers more, and returns the error that occurred instead, or "".
  std::string await(unsigned more) {
    std::unique_lock lock(lock_);
    const unsigned wanted = count_ + more;
    changed_.wait(lock, [&] { return static_cast<int>(count_ - wanted) >= 0 || !error_.empty(); });
    return error_;
  }
  void forget() {
    std::lock_guard lock(lock_);
    for (GstBuffer*& buffer : kept_) gst_clear_buffer(&buffer);
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  unsigned count_ = 0;
  std::string error_;
  GstBuffer* kept_[2] = {};  // few, as pools may be small
};

class Run {
 public:
  explicit Run(int line) : line_(line), random_(static_cast<unsigned>(line)) {
    pipeline_ = launch(line_of(line));
    for (const char* name : {"f", "e", "d", "i"})
      if (GstElement* element = gst_bin_get_by_name(GST_BIN(pipeline_), name))
        elements_.push_back(element);
    GstBus* bus = gst_element_get_bus(pipeline_);
    gst_bus_set_sync_handler(bus, see_message, &output_, nullptr);
    gst_object_unref(bus);
    caps_ = gst_bin_get_by_name(GST_BIN(pipeline_), "caps");
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline_), "sink");
    g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo* info, gpointer output) {
          static_cast<Output*>(output)->take(GST_PAD_PROBE_INFO_BUFFER(info));
          return GST_PAD_PROBE_OK;
        },
        &output_, nullptr);
  }
  ~Run() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    for (GstElement* element : elements_) gst_object_unref(element);
    gst_object_unref(caps_);
    gst_object_unref(pipeline_);
    output_.forget();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void take_steps() {
    Watchdog::get().now(kNames[line_], "PLAYING");
    change_to(GST_STATE_PLAYING);
    for (unsigned seed = 0; seed < 2; seed++) threads_.emplace_back([=, this] { ask(seed); });
    threads_.emplace_back([this] { poke(); });
    for (int round = 0; round < rounds(); round++) {
      Watchdog::get().now(kNames[line_], "waiting for frames");
      const std::string error = output_.await(1 + random_() % 12);
      fail_unless(error.empty(), "%s", error.c_str());
      // A pipeline on its way to PLAYING may lose the state when it is flushed or changed again.
      gst_element_get_state(pipeline_, nullptr, nullptr, GST_CLOCK_TIME_NONE);
      step();
    }
    Watchdog::get().now(kNames[line_], "NULL");
    change_to(GST_STATE_NULL);
  }

 private:
  void change_to(GstState state) {
    fail_unless(gst_element_set_state(pipeline_, state) != GST_STATE_CHANGE_FAILURE);
  }

  void step() {
    switch (random_() % 6) {
      case 0:
      case 1:
        Watchdog::get().now(kNames[line_], "READY and PLAYING");
        change_to(GST_STATE_READY);
        break;
      case 2:
        Watchdog::get().now(kNames[line_], "NULL and PLAYING");
        change_to(GST_STATE_NULL);
        break;
      case 3:
        Watchdog::get().now(kNames[line_], "PAUSED and PLAYING");
        change_to(GST_STATE_PAUSED);
        break;
      case 4:
        Watchdog::get().now(kNames[line_], "a flush");
        fail_unless(gst_element_seek_simple(pipeline_, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
        return;
      default: {
        Watchdog::get().now(kNames[line_], "new caps");
        g_autoptr(GstCaps) caps = gst_caps_from_string(kCaps[random_() % 2]);
        g_object_set(caps_, "caps", caps, nullptr);
        await_caps(caps);
        return;
      }
    }
    change_to(GST_STATE_PLAYING);
  }

  // GStreamer's source gives up if caps change while it negotiates: it queries those after it, and
  // then they are others.
  void await_caps(GstCaps* wanted) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(caps_, "src");
    bool have_come = false;
    while (!have_come && output_.error().empty()) {
      g_usleep(50);
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
      have_come = caps && gst_caps_is_subset(caps, wanted);
    }
  }

  // A thread that sends serialized queries, as a peer may at any time.
  void ask(unsigned seed) {
    std::mt19937 random(seed);
    g_autoptr(GstCaps) raw = gst_caps_from_string(kCaps[0]);
    while (!over_) {
      GstPad* pad = gst_element_get_static_pad(elements_[random() % elements_.size()], "sink");
      GstCaps* caps = random() % 2 ? gst_pad_get_current_caps(pad) : gst_caps_ref(raw);
      g_autoptr(GstQuery) query =
          caps && random() % 2 ? gst_query_new_allocation(caps, TRUE) : gst_query_new_drain();
      (void)gst_pad_query(pad, query);
      gst_clear_caps(&caps);
      gst_object_unref(pad);
      g_usleep(random() % 400);  // lets frames gather, now and then
    }
  }

  // A thread that sends queries and sets properties as an application does.
  void poke() {
    std::mt19937 random(7);
    while (!over_) {
      GstElement* element = elements_[random() % elements_.size()];
      set(element, "quality", std::to_string(1 + random() % 100));
      set(element, "method", random() % 2 ? "islow" : "float");
      set(element, "measure", random() % 2 ? "psnr+time+zeros" : "time");
      set(element, "progressive", random() % 2 ? "true" : "false");
      set(element, "async-depth", std::to_string(2 + random() % 8));
      read_all(element);
      for (const char* name : {"sink", "src"}) {
        g_autoptr(GstPad) pad = gst_element_get_static_pad(element, name);
        for (GstQuery* query : {gst_query_new_latency(), gst_query_new_caps(nullptr),
                                gst_query_new_context("gst.cuda.context")}) {
          (void)gst_pad_query(pad, query);
          gst_query_unref(query);
        }
      }
      g_usleep(random() % 1000);
    }
  }

  static void set(GstElement* element, const char* name, const std::string& value) {
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), name))
      gst_util_set_object_arg(G_OBJECT(element), name, value.c_str());
  }

  static void read_all(GstElement* element) {
    guint count = 0;
    GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
    for (guint i = 0; i < count; i++) {
      if (!(specs[i]->flags & G_PARAM_READABLE)) continue;
      GValue value = G_VALUE_INIT;
      g_value_init(&value, specs[i]->value_type);
      g_object_get_property(G_OBJECT(element), specs[i]->name, &value);
      g_value_unset(&value);
    }
    g_free(specs);
  }

  // Messages are read as they come: an unread bus grows.
  static GstBusSyncReply see_message(GstBus*, GstMessage* message, gpointer output) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      g_autoptr(GError) error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      static_cast<Output*>(output)->end_with(error->message);
    }
    gst_message_unref(message);
    return GST_BUS_DROP;
  }

  const int line_;
  std::mt19937 random_;
  GstElement* pipeline_ = nullptr;
  GstElement* caps_ = nullptr;
  std::vector<GstElement*> elements_;
  Output output_;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

CHECK_LOOP_TEST(test_races, 0, kLines) {
  if (__i__ == kLines - 1 && require_element_or_skip("jpegcoefenc")) return;
  {
    Run run(__i__);
    run.take_steps();
  }
  if (is_cuda() && is_fake()) check_clean();
}

}  // namespace
