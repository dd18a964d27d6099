// Shared by the element tests: a main that does not fork, skips that show as SKIP, and GPU gates.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/testing.h"

#include <dlfcn.h>
#define GST_USE_UNSTABLE_API  // the list of tracers
#include <gst/gsttracer.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/check/fakecuda/fakecuda.h"

namespace testing {
namespace {

std::atomic<int>& critical_count() {
  static std::atomic<int> count{0};
  return count;
}

std::vector<void (*)(TCase*)>& registered_tests() {
  static std::vector<void (*)(TCase*)> tests;
  return tests;
}

Suite* make_suite() {
  Suite* suite = suite_create(g_get_prgname());
  TCase* tests = tcase_create("all");
  suite_add_tcase(suite, tests);
  for (auto add : registered_tests()) add(tests);
  return suite;
}

GstContext* kept_context = nullptr;
constexpr char kKeepsContext[] = "keeps-context";  // data of elements that new_harness() makes

// How often the fake driver's user missed a wait that it needs: with FAKECUDA_DEFERRED=1, which
// describes the first one.
int count_violations() {
  if (!is_deferred()) return 0;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  auto get =
      driver == nullptr
          ? nullptr
          : reinterpret_cast<decltype(&fakecuda_get_order)>(dlsym(driver, "fakecuda_get_order"));
  if (get == nullptr) {
    std::fprintf(stderr, "libcuda.so.1 is not the fake driver\n");
    return 1;
  }
  FakecudaOrder order;
  get(&order);
  if (order.violations > 0)
    std::fprintf(stderr, "%d times work was not waited for: %s\n", order.violations, order.first);
  return order.violations;
}

void count_criticals(const gchar* domain, GLogLevelFlags level, const gchar* message, gpointer) {
  if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) critical_count()++;
  g_log_default_handler(domain, level, message, nullptr);
}

std::atomic<int> alive_count = 0;

void count_alive(GstDebugCategory* category, GstDebugLevel, const gchar*, const gchar*, gint,
                 GObject*, GstDebugMessage* message, gpointer) {
  if (g_str_equal(gst_debug_category_get_name(category), "GST_TRACER") &&
      g_str_has_prefix(gst_debug_message_get(message), "object-alive,"))
    ++alive_count;
}

bool has_leaks_tracer() {
  GList* tracers = gst_tracing_get_active_tracers();
  bool found = false;
  for (const GList* l = tracers; l != nullptr; l = l->next)
    found = found || g_str_equal(G_OBJECT_TYPE_NAME(l->data), "GstLeaksTracer");
  g_list_free_full(tracers, gst_object_unref);
  return found;
}

// Has GStreamer's leaks tracer, where GST_TRACERS has it, describe the objects that are alive when
// GStreamer ends: as the program exits, GstCheck sees to that. False: the tracer does not watch.
bool await_leaks() {
  const char* wanted = g_getenv("GST_TRACERS");
  if (wanted == nullptr || std::strstr(wanted, "leaks") == nullptr) return true;
  gst_debug_add_log_function(count_alive, nullptr, nullptr);
  gst_debug_set_threshold_for_name("GST_TRACER", GST_LEVEL_TRACE);
  if (has_leaks_tracer()) return true;
  std::fprintf(stderr, "the leaks tracer did not run\n");
  return false;
}

void fail_if_alive() {
  if (alive_count == 0) return;
  std::fprintf(stderr, "%d objects are alive at the end (leaks tracer)\n", alive_count.load());
  std::fflush(nullptr);
  _exit(1);
}

}  // namespace

int take_criticals() { return critical_count().exchange(0); }

Registered::Registered(void (*add)(TCase*)) { registered_tests().push_back(add); }

int run(int argc, char** argv) {
  if (g_strcmp0(g_getenv("CUDATRANSFORM_TEST_BACKEND"), "cuda") == 0)
    if (const int status = require_cuda_or_skip()) return status;
  std::atexit(fail_if_alive);  // after gst_deinit(), which GstCheck has called at exit
  gst_check_init(&argc, &argv);
  g_log_set_default_handler(count_criticals, nullptr);
  SRunner* runner = srunner_create(make_suite());
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  const int ran = srunner_ntests_run(runner);
  const int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  const int violations = count_violations();
  if (kept_context) gst_context_unref(kept_context);
  kept_context = nullptr;
  // A failed test has left its pipeline running, and gst_deinit() would wait for the threads.
  if (failed > 0) {
    std::fflush(nullptr);
    _exit(1);
  }
  if (ran == 0) std::fprintf(stderr, "no test ran\n");
  const bool watched = await_leaks();
  const int criticals = take_criticals();
  if (criticals > 0) std::fprintf(stderr, "%d unexpected criticals or warnings\n", criticals);
  return ran > 0 && watched && criticals == 0 && violations == 0 ? 0 : 1;
}

void use_kept_cuda_context(GstElement* element) {
  if (kept_context) gst_element_set_context(element, kept_context);
}

void keep_cuda_context(GstElement* element) {
  if (!kept_context) kept_context = gst_element_get_context(element, "gst.cuda.context");
}

GstHarness* new_harness(const std::string& line) {
  GError* error = nullptr;
  g_autoptr(GstElement) bin = gst_parse_bin_from_description(line.c_str(), TRUE, &error);
  fail_unless(error == nullptr, "%s: %s", line.c_str(), error ? error->message : "");
  gst_object_ref_sink(bin);
  use_kept_cuda_context(bin);
  g_object_set_data(G_OBJECT(bin), kKeepsContext, bin);
  return gst_harness_new_with_element(bin, "sink", "src");
}

void end_harness(GstHarness* h) {
  if (h->element && g_object_get_data(G_OBJECT(h->element), kKeepsContext))
    keep_cuda_context(h->element);
  gst_harness_teardown(h);
}

GstElement* launch(const std::string& line) {
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
  fail_unless(error == nullptr, "%s: %s", line.c_str(), error ? error->message : "");
  return pipeline;
}

void push_segment(GstHarness* h, GstFormat format) {
  GstSegment segment;
  gst_segment_init(&segment, format);
  fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}

void push_flush(GstHarness* h, GstFormat format) {
  fail_unless(gst_harness_push_event(h, gst_event_new_flush_start()));
  fail_unless(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  push_segment(h, format);
}

void drain(GstHarness* h) {
  g_autoptr(GstQuery) query = gst_query_new_drain();
  (void)gst_pad_peer_query(h->srcpad, query);
}

GstCaps* current_caps(GstHarness* h) { return gst_pad_get_current_caps(h->sinkpad); }

GstBuffer* passed(GstHarness* h, GstBuffer* buffer) {
  fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
  return gst_harness_pull(h);
}

static std::string reason_of(GstMessage* message) {
  const GstStructure* details = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error_details(message, &details);
  else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning_details(message, &details);
  const char* reason = details ? gst_structure_get_string(details, "reason") : nullptr;
  return reason ? reason : "";
}

Report report_of(GstMessage* message) {
  g_autoptr(GError) error = nullptr;
  g_autofree gchar* debug = nullptr;
  const GstMessageType type = GST_MESSAGE_TYPE(message);
  (type == GST_MESSAGE_ERROR     ? gst_message_parse_error
   : type == GST_MESSAGE_WARNING ? gst_message_parse_warning
                                 : gst_message_parse_info)(message, &error, &debug);
  std::string text = error->message;
  if (const std::string reason = reason_of(message); !reason.empty()) text += ": " + reason;
  return {text, debug ? debug : "", error->domain, error->code};
}

std::vector<Report> take_messages(GstBus* bus, GstMessageType type) {
  std::vector<Report> reported;
  while (GstMessage* message = gst_bus_pop_filtered(bus, type)) {
    reported.push_back(report_of(message));
    gst_message_unref(message);
  }
  return reported;
}

std::string take_text(GstBus* bus, GstMessageType type) {
  const std::vector<Report> reported = take_messages(bus, type);
  return reported.empty() ? "" : reported.front().text;
}

Messages::Messages(GstElement* element) : element_(GST_ELEMENT(gst_object_ref(element))) {
  gst_element_set_bus(element_, bus_);
}

Messages::~Messages() {
  gst_element_set_bus(element_, nullptr);
  gst_object_unref(element_);
  gst_object_unref(bus_);
}

GstStructure* stats_of(GstElement* element) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  return stats;
}

guint64 stat_of(GstElement* element, const char* field) {
  g_autoptr(GstStructure) stats = stats_of(element);
  guint64 value = 0;
  fail_unless(gst_structure_get_uint64(stats, field, &value), "no %s in stats", field);
  return value;
}

DoneAtOnce::DoneAtOnce() : deferred_(is_deferred()) {
  if (deferred_) g_setenv("FAKECUDA_DEFERRED", "0", TRUE);
}

DoneAtOnce::~DoneAtOnce() {
  if (deferred_) g_setenv("FAKECUDA_DEFERRED", "1", TRUE);
}

bool is_deferred() { return g_strcmp0(g_getenv("FAKECUDA_DEFERRED"), "1") == 0; }

bool quick() {
  return g_getenv("CUDATRANSFORM_TEST_QUICK") || g_getenv("CUDATRANSFORM_VALGRIND") ||
         g_getenv("CUDATRANSFORM_SANITIZED");
}

bool only_threads() {
#ifdef __SANITIZE_THREAD__
  return true;
#else
  return false;
#endif
}

bool under_valgrind() { return g_getenv("CUDATRANSFORM_VALGRIND") != nullptr; }

bool test_numbers() { return g_getenv("CUDATRANSFORM_TEST_NUMBERS") && !quick(); }

int skip(const char* why, bool needs_gpu) {
  const bool required = needs_gpu && g_strcmp0(g_getenv("CUDATRANSFORM_REQUIRE_GPU"), "1") == 0;
  std::printf("%s: %s\n", required ? "FAIL (CUDATRANSFORM_REQUIRE_GPU=1)" : "SKIP", why);
  return required ? 1 : kSkip;
}

int require_cuda_or_skip(int devices) {
  // Left open: a driver does not like to be unloaded.
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return skip("no CUDA driver (libcuda.so.1)", true);
  auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  if (init == nullptr || count_devices == nullptr)
    return skip("a CUDA driver without cuInit", true);
  int count = 0;
  if (init(0) != 0 || count_devices(&count) != 0 || count < 1)
    return skip("a CUDA driver, but no device", true);
  if (count < devices) return skip("a CUDA driver, but too few devices");
  return 0;
}

int require_element_or_skip(const char* factory) {
  g_autoptr(GstElementFactory) found = gst_element_factory_find(factory);
  if (found == nullptr) {
    g_autofree gchar* why = g_strdup_printf("no element %s", factory);
    return skip(why);
  }
  return 0;
}

}  // namespace testing
