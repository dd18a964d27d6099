// Shared by the element tests: a main that does not fork, skips that show as SKIP, and GPU gates.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CHECK_TEST(test_name) { ... } is a test. Of a CHECK_LOOP_TEST there is one for each __i__ from
// `begin` to below `end`, and a CHECK_TEST_IF is there when the condition holds; these expressions
// are evaluated by run(). A program without its own main() has one that calls run().
#pragma once

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <string>
#include <vector>

namespace testing {

inline constexpr int kSkip = 77;  // meson shows it as SKIP

// Runs every test of the program, in the order of their definition, in this process (CUDA does not
// survive a fork, and neither do sanitizers' reports). Returns the exit status: 0 when all passed,
// and no object is alive at the end where GST_TRACERS=leaks has GStreamer look.
// Skips without a GPU when CUDATRANSFORM_TEST_BACKEND is "cuda".
int run(int argc, char** argv);

// Called after each test, when its scope has ended; null: nothing.
inline void (*after_each_test)() = nullptr;

// A test of the program, as CHECK_TEST and its like define it.
struct Registered {
  explicit Registered(void (*add)(TCase* tests));
};

// The criticals and warnings of GLib's log, of domains that GstCheck does not watch, since the last
// call. run() fails when some remain at the end.
int take_criticals();

// Under valgrind and the sanitizers, which make everything slow, and where
// CUDATRANSFORM_TEST_QUICK requests it: tests run a fraction of the cases.
bool quick();
// ThreadSanitizer alone: what threads do not change, other suites test.
bool only_threads();

// Under valgrind alone, which is slower still. Valgrind checks memory: of cases that take the same
// paths and differ in the numbers, a part is enough, as all of them run elsewhere.
bool under_valgrind();

// Whether to test times and megabytes, which depend on other load of the machine: in meson's suites
// perf and soak, where nothing makes the program slow.
bool test_numbers();

// Prints why the program cannot run and returns kSkip; with CUDATRANSFORM_REQUIRE_GPU=1 in the
// environment and `needs_gpu`, returns 1 instead, so that a broken GPU machine cannot pass.
int skip(const char* why, bool needs_gpu = false);

// 0 with a CUDA driver and a device, or as many as wanted; otherwise what skip() returns. A machine
// with one device is not broken: too few of them are a skip even where a GPU is required. Call it
// first in main.
int require_cuda_or_skip(int devices = 1);

// A CUDA context takes a fifth of a second to make. Programs of hundreds of pipelines that are not
// about contexts share one: every pipeline is given the kept one before it starts, and the first
// that has made one gives it away before it ends. Nothing happens on the CPU engine.
void use_kept_cuda_context(GstElement* pipeline);
void keep_cuda_context(GstElement* pipeline);
// gst_harness_new_parse() for such programs.
GstHarness* new_harness(const std::string& line);
// gst_harness_teardown(), which also keeps the context of a harness of new_harness(). The end of a
// g_autoptr(GstHarness) calls it.
void end_harness(GstHarness* h);

// The pipeline of that line; fails the test where there is none.
GstElement* launch(const std::string& line);

// Steps of harnesses that many tests take: a segment from 0 on, a flush from its start to its stop
// and the segment after it, and a DRAIN query.
void push_segment(GstHarness* h, GstFormat format = GST_FORMAT_TIME);
void push_flush(GstHarness* h, GstFormat format = GST_FORMAT_TIME);
void drain(GstHarness* h);
GstCaps* current_caps(GstHarness* h);  // of the output; transfer full
// Pushes a buffer, which must go well, and pulls one.
GstBuffer* passed(GstHarness* h, GstBuffer* buffer);

// An error, a warning or an information message. Where its details have a reason, that follows the
// text behind ": ".
struct Report {
  std::string text, debug;
  GQuark domain = 0;
  int code = 0;
};
Report report_of(GstMessage* message);
// The messages of that kind so far; others are dropped.
std::vector<Report> take_messages(GstBus* bus, GstMessageType type);
// The text of the first of them, "" without one.
std::string take_text(GstBus* bus, GstMessageType type);

// While it lives, an element that is in no pipeline has this bus.
class Messages {
 public:
  explicit Messages(GstElement* element);
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  operator GstBus*() const { return bus_; }

 private:
  GstElement* element_;
  GstBus* bus_ = gst_bus_new();
};

// An element's property `stats`; transfer full.
GstStructure* stats_of(GstElement* element);
// A count of it; fails the test where there is none of that name.
guint64 stat_of(GstElement* element, const char* field);

// Whether the program runs on the fake driver that does all work as late as it may, where kernels
// write stand-in bytes. run() fails if the program did not wait for work.
bool is_deferred();

// While it lives such a driver does all work immediately, in the order in which it is enqueued:
// pipelines that run entirely during its life make the reference output for others.
class DoneAtOnce {
 public:
  DoneAtOnce();
  ~DoneAtOnce();
  DoneAtOnce(const DoneAtOnce&) = delete;
  DoneAtOnce& operator=(const DoneAtOnce&) = delete;

 private:
  const bool deferred_;
};

// 0 if the element is in the registry; otherwise skip()'s result. Needs GStreamer initialized.
int require_element_or_skip(const char* factory);

}  // namespace testing

G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstHarness, testing::end_harness)

#define CHECK_LOOP_TEST(name, begin, end)                                  \
  static void name##_body(int __i__);                                      \
  GST_START_TEST(name) {                                                   \
    name##_body(__i__);                                                    \
    if (testing::after_each_test) testing::after_each_test();              \
  }                                                                        \
  GST_END_TEST                                                             \
  static const testing::Registered name##_registered(                      \
      [](TCase* tests) { tcase_add_loop_test(tests, name, begin, end); }); \
  static void name##_body([[maybe_unused]] int __i__)
#define CHECK_TEST(name) CHECK_LOOP_TEST(name, 0, 1)
#define CHECK_TEST_IF(name, condition) CHECK_LOOP_TEST(name, 0, (condition) ? 1 : 0)
