// Long streams in which anything possible happens between two frames: no frame is lost, all engines
// make the same bytes, memory does not grow, and nothing hangs.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <glib.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/check/drivers/shimdriver.h"
#include "tests/check/frames.h"
#include "tests/check/states/soakschedule.h"

namespace testing {

// Ends the program, and reports its position, when no frame has arrived for half a minute.
class SoakWatch {
 public:
  void start(const std::string& what);
  void stop();
  // The current step, and the frame after it; -1: the frame itself.
  void now(int frame, int step) {
    frame_ = frame;
    step_ = step;
  }
  void arrived() { arrived_++; }

 private:
  void watch();
  void discard(int seconds);

  GThread* thread_ = nullptr;
  std::atomic<bool> ended_ = false;
  std::atomic<int> frame_ = 0, step_ = -1;
  std::atomic<unsigned> arrived_ = 0;
  std::string what_;
};

// The program's.
SoakWatch& soak_watch();

// The memory in use in the first half of a stream, after a tenth of it, and in the second: the
// host's where it is least, since busy threads hold more for a moment, and on the shim the most of
// the device's.
class SoakMemory {
 public:
  explicit SoakMemory(int frames) : frames_(frames) {}
  void sample(int frame);
  // Fails the test if the second half needed more than the limits above the first; the host's
  // memory counts where numbers are tested.
  void check(double host_mb, double device_mb) const;

 private:
  int frames_;
  double resident_[2] = {}, device_[2] = {};
};

namespace {

constexpr double kMb = 1048576;

int patience() {
  // Everything takes many times as long there.
  const bool slow = g_getenv("CUDATRANSFORM_SANITIZED") || g_getenv("CUDATRANSFORM_VALGRIND");
  return slow ? 300 : 30;
}

double resident_mb() {
  g_autofree gchar* text = nullptr;
  if (!g_file_get_contents("/proc/self/statm", &text, nullptr, nullptr)) return 0;
  unsigned long size = 0, resident = 0;
  std::sscanf(text, "%lu %lu", &size, &resident);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMb;
}

// Device and pinned memory of this process, which the shim counts. The driver itself only reports
// the usage of all processes on the device.
double device_mb() {
  if (!shim().get_counts) return 0;
  const ShimcudaCounts now = shim_counts();
  return static_cast<double>(now.device_bytes + now.pinned_bytes) / kMb;
}

}  // namespace

SoakWatch& soak_watch() {
  static SoakWatch watch;
  return watch;
}

void SoakWatch::start(const std::string& what) {
  stop();
  what_ = what;
  ended_ = false;
  thread_ = g_thread_new(
      "watch",
      [](gpointer self) -> gpointer {
        static_cast<SoakWatch*>(self)->watch();
        return nullptr;
      },
      this);
}

void SoakWatch::stop() {
  ended_ = true;
  if (thread_) g_thread_join(thread_);
  thread_ = nullptr;
}

void SoakWatch::watch() {
  unsigned seen = arrived_;
  int quiet = 0;  // tenths of a second
  while (!ended_) {
    g_usleep(G_USEC_PER_SEC / 10);
    quiet = arrived_ == seen ? quiet + 1 : 0;
    seen = arrived_;
    if (quiet >= 10 * patience()) discard(quiet / 10);
  }
}

// Where each thread of the process is, as far as the system reports it.
void SoakWatch::discard(int seconds) {
  std::fprintf(stderr, "%s: no frame for %d s, %u so far; before frame %d, step %d\n",
               what_.c_str(), seconds, arrived_.load(), frame_.load(), step_.load());
  GDir* threads = g_dir_open("/proc/self/task", 0, nullptr);
  while (const gchar* id = threads ? g_dir_read_name(threads) : nullptr) {
    std::string line = std::string("  thread ") + id;
    for (const char* file : {"comm", "wchan", "syscall"}) {
      g_autofree gchar* text = nullptr;
      const std::string path = std::string("/proc/self/task/") + id + "/" + file;
      if (g_file_get_contents(path.c_str(), &text, nullptr, nullptr))
        line += std::string(" ") + g_strchomp(text);
    }
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::abort();
}

void SoakMemory::sample(int frame) {
  if (frame < frames_ / 10) return;
  const int half = frame < frames_ / 2 ? 0 : 1;
  const double resident = resident_mb();
  if (resident_[half] == 0 || resident < resident_[half]) resident_[half] = resident;
  device_[half] = std::max(device_[half], device_mb());
}

void SoakMemory::check(double host_limit, double device_limit) const {
  std::printf("  at least resident %.1f, then %.1f MB; on the device at most %.1f, then %.1f MB\n",
              resident_[0], resident_[1], device_[0], device_[1]);
  fail_unless(resident_[0] > 0 && resident_[1] > 0, "nothing was sampled");
  if (test_numbers()) fail_unless(resident_[1] - resident_[0] < host_limit, "memory grew");
  fail_unless(device_[1] - device_[0] < device_limit, "device memory grew");
}

}  // namespace testing

// CUDATRANSFORM_SOAK_FRAMES: frames of each stream; a hundred thousand take minutes. With
// CUDATRANSFORM_TEST_BACKEND=cuda the CUDA engine is compared with the CPU's, otherwise the CPU
// engine with itself on one thread. On the fake driver that does its work late (FAKECUDA_DEFERRED)
// it is compared with the same driver doing it immediately.

namespace {

using namespace testing;

constexpr GstClockTime kDuration = 40 * GST_MSECOND;
// Growth of the resident set from the first half to the second. A GPU's driver takes up to 7 MB in
// 3000 frames while other programs are on the GPU, and up to 3 MB alone or in 100,000.
constexpr int kManyFrames = 100000;
double growth_mb(int frames) {
  const bool gpu = is_cuda() && !is_fake_behind_shim();
  return gpu && frames < kManyFrames ? 16 : 4;
}
constexpr double kDeviceGrowthMb = 32;  // of device and pinned memory

struct Geometry {
  GstVideoFormat format;
  int width, height;
};

// The first kExact have 8 bits, where both engines agree in every bit of the DCT.
constexpr Geometry kGeometries[] = {
    {GST_VIDEO_FORMAT_I420, 64, 48},      {GST_VIDEO_FORMAT_NV12, 70, 45},
    {GST_VIDEO_FORMAT_Y444, 33, 17},      {GST_VIDEO_FORMAT_GRAY8, 40, 24},
    {GST_VIDEO_FORMAT_GBR, 48, 32},       {GST_VIDEO_FORMAT_Y42B, 97, 31},
    {GST_VIDEO_FORMAT_Y41B, 72, 16},      {GST_VIDEO_FORMAT_I420, 1, 1},
    {GST_VIDEO_FORMAT_YV12, 160, 96},     {GST_VIDEO_FORMAT_RGB, 90, 34},
    {GST_VIDEO_FORMAT_BGRx, 33, 65},      {GST_VIDEO_FORMAT_I420_10LE, 64, 48},
    {GST_VIDEO_FORMAT_P010_10LE, 40, 24}, {GST_VIDEO_FORMAT_GRAY16_LE, 50, 20},
};
constexpr int kExact = 11;
constexpr guint kSeeds = 5;  // pictures of each geometry

int frame_count() {
  const gchar* wanted = g_getenv("CUDATRANSFORM_SOAK_FRAMES");
  return wanted ? std::atoi(wanted) : quick() ? 300 : 3000;
}

// One run of a schedule.
class Stream {
 public:
  Stream(const SoakPlan& plan, const char* backend, int threads) : plan_(plan) {
    const std::string engine = std::string(" backend=") + backend;
    const std::string transform = engine + " n-threads=" + std::to_string(threads);
    const std::string line = forward(plan.kind) + transform + " ! " +
                             (plan.kind == SoakPlan::kFiles
                                  ? "jpegcoefenc name=e n-threads=1" + engine +
                                        " ! jpegcoefdec name=d on-error=fail n-threads=1" + engine
                                  : std::string("capsfilter name=c caps=ANY ! queue")) +
                             inverse(plan.kind) + transform + " ! capsfilter caps=video/x-raw";
    h_ = gst_harness_new_parse(line.c_str());
    bus_ = gst_bus_new();
    gst_bus_set_sync_handler(bus_, keep_errors, nullptr, nullptr);
    gst_element_set_bus(h_->element, bus_);
  }
  ~Stream() {
    gst_element_set_bus(h_->element, nullptr);
    gst_object_unref(bus_);
    gst_harness_teardown(h_);
    for (auto& [key, buffer] : pictures_) gst_buffer_unref(buffer);
    gst_clear_caps(&caps_);
  }

  // Returns the hash of every frame.
  std::vector<guint64> run(SoakMemory& memory) {
    const std::vector<SoakFrame> schedule = make_soak_schedule(plan_);
    for (int n = 0; n < plan_.frames; n++) {
      const SoakFrame& frame = schedule[static_cast<size_t>(n)];
      const auto& steps = frame.before;
      for (size_t s = 0; s < steps.size(); s++) {
        soak_watch().now(n, steps[s].kind);
        s += static_cast<size_t>(take(steps, s));
      }
      soak_watch().now(n, -1);
      push(n);
      pull(frame.delayed ? 0 : 1);
      if (n % 100 == 99) memory.sample(n);
    }
    end_of_stream();
    fail_unless_equals_uint64(hashes_.size(), static_cast<guint64>(plan_.frames));
    return hashes_;
  }

 private:
  static GstBusSyncReply keep_errors(GstBus*, GstMessage* message, gpointer) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      g_autoptr(GError) error = nullptr;
      g_autofree gchar* debug = nullptr;
      gst_message_parse_error(message, &error, &debug);
      std::printf("error: %s (%s)\n", error->message, debug ? debug : "");
      std::fflush(stdout);
    }
    gst_message_unref(message);
    return GST_BUS_DROP;
  }

  static std::string forward(SoakPlan::Kind kind) {
    return kind == SoakPlan::kWavelets ? "cudadwt name=f" : "cudadct8x8 name=f";
  }
  static std::string inverse(SoakPlan::Kind kind) {
    return kind == SoakPlan::kWavelets ? " ! cudaidwt name=i" : " ! cudaidct8x8 name=i";
  }

  void send(GstEvent* event) { gst_harness_push_event(h_, event); }

  void begin_segment() {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    send(gst_event_new_segment(&segment));
  }

  // Does a step; returns how many of the following ones it has done as well.
  int take(const std::vector<SoakStep>& steps, size_t at) {
    const SoakStep& step = steps[at];
    switch (step.kind) {
      case SoakStep::kProperty:
        set(step);
        break;
      case SoakStep::kFrames:
        geometry_ = step.number;
        new_caps();
        break;
      case SoakStep::kCoding:
        set({SoakStep::kProperty, "c", "caps", "video/x-dct(ANY)," + step.value});
        break;
      case SoakStep::kGap:
        send(gst_event_new_gap(position_, kDuration));
        break;
      case SoakStep::kFlush:
        flush();
        break;
      case SoakStep::kEndOfStream:
        end_of_stream();
        flush();
        break;
      case SoakStep::kReady:
        restart(GST_STATE_READY, {});
        break;
      case SoakStep::kNull: {
        const auto first = steps.begin() + static_cast<ptrdiff_t>(at) + 1;
        restart(GST_STATE_NULL, {first, first + step.number});
        return step.number;
      }
    }
    return 0;
  }

  void set(const SoakStep& step) {
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(h_->element), step.element.c_str());
    if (element == nullptr) return;
    GObjectClass* klass = G_OBJECT_GET_CLASS(element);
    if (g_object_class_find_property(klass, step.property.c_str())) {
      if (step.property.find("-qtable") != std::string::npos && step.value.empty()) {
        GValue none = G_VALUE_INIT;
        g_value_init(&none, GST_TYPE_ARRAY);
        g_object_set_property(G_OBJECT(element), step.property.c_str(), &none);
        g_value_unset(&none);
      } else {
        gst_util_set_object_arg(G_OBJECT(element), step.property.c_str(), step.value.c_str());
      }
    }
  }

  void new_caps() {
    const Geometry& g = kGeometries[geometry_];
    info_ = video_info(g.format, g.width, g.height);
    gst_clear_caps(&caps_);
    caps_ = video_caps(info_);
    gst_harness_set_src_caps(h_, gst_caps_ref(caps_));
  }

  void flush() {
    send(gst_event_new_flush_start());
    send(gst_event_new_flush_stop(TRUE));
    begin_segment();
  }

  void end_of_stream() {
    send(gst_event_new_eos());
    pull(pushed_ - static_cast<int>(hashes_.size()));
  }

  void restart(GstState state, const std::vector<SoakStep>& settings) {
    gst_pad_set_active(h_->srcpad, FALSE);
    fail_unless_equals_int(gst_element_set_state(h_->element, state), GST_STATE_CHANGE_SUCCESS);
    for (const SoakStep& step : settings) set(step);
    fail_unless_equals_int(gst_element_set_state(h_->element, GST_STATE_PLAYING),
                           GST_STATE_CHANGE_SUCCESS);
    gst_pad_set_active(h_->srcpad, TRUE);
    gst_pad_push_event(h_->srcpad, gst_event_new_stream_start("soak"));
    new_caps();
  }

  GstBuffer* picture(guint seed) {
    GstBuffer*& made = pictures_[{geometry_, seed}];
    if (made == nullptr) made = make_frame(info_, seed);
    return made;
  }

  void push(int number) {
    GstBuffer* source = picture(static_cast<guint>(number) % kSeeds);
    // Sometimes separate memory, which is freed when the elements release it.
    GstBuffer* buffer = number % 7 == 0 ? gst_buffer_copy_deep(source) : gst_buffer_copy(source);
    position_ = static_cast<GstClockTime>(number) * kDuration;
    GST_BUFFER_PTS(buffer) = position_;
    GST_BUFFER_DURATION(buffer) = kDuration;
    pushed_++;
    const GstFlowReturn flow = gst_harness_push(h_, buffer);
    fail_unless(flow == GST_FLOW_OK, "frame %d: %s", number, gst_flow_get_name(flow));
  }

  // Takes at least `count` frames, and more if there are more.
  void pull(int count) {
    // The harness keeps them until a test pulls them.
    while (GstEvent* event = gst_harness_try_pull_event(h_)) gst_event_unref(event);
    while (GstEvent* event = gst_harness_try_pull_upstream_event(h_)) gst_event_unref(event);
    while (GstBuffer* buffer = count > 0 ? gst_harness_pull(h_) : gst_harness_try_pull(h_)) {
      count--;
      fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), hashes_.size() * kDuration);
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h_->sinkpad);
      hashes_.push_back(hash_of_frame(buffer, caps));
      gst_buffer_unref(buffer);
      soak_watch().arrived();
    }
    fail_unless(count <= 0, "%d frames have not come", count);
  }

  const SoakPlan& plan_;
  GstHarness* h_;
  GstBus* bus_;
  int geometry_ = 0, pushed_ = 0;
  GstVideoInfo info_ = {};
  GstCaps* caps_ = nullptr;
  GstClockTime position_ = 0;
  std::map<std::pair<int, guint>, GstBuffer*> pictures_;
  std::vector<guint64> hashes_;
};

const char* name_of(SoakPlan::Kind kind) {
  static constexpr const char* kNames[] = {"a queue", "JPEG files", "wavelets"};
  return kNames[kind];
}

std::vector<guint64> run_stream(const SoakPlan& plan, const char* backend, int threads) {
  soak_watch().start(std::string("through ") + name_of(plan.kind) + " on " + backend);
  const gint64 started = g_get_monotonic_time();
  std::vector<guint64> hashes;
  SoakMemory memory(plan.frames);
  {
    Stream stream(plan, backend, threads);
    hashes = stream.run(memory);
  }
  soak_watch().stop();
  // Now, as the tests after a failed one would wait for the threads of its stream.
  if (!quick() && !g_getenv("GST_TRACERS")) memory.check(growth_mb(plan.frames), kDeviceGrowthMb);
  guint64 all = 0;
  for (guint64 hash : hashes) all = (all ^ hash) * 0x100000001b3;
  std::printf("%s, %s, threads=%d: %zu frames in %.1f s, hash %016" G_GINT64_MODIFIER "x\n",
              name_of(plan.kind), backend, threads, hashes.size(),
              static_cast<double>(g_get_monotonic_time() - started) / 1e6, all);
  std::fflush(stdout);
  return hashes;
}

// Wavelets need planes.
bool is_packed(GstVideoFormat format) {
  return format == GST_VIDEO_FORMAT_RGB || format == GST_VIDEO_FORMAT_BGRx;
}

SoakPlan plan_of(SoakPlan::Kind kind, bool exact, int frames) {
  static constexpr unsigned kSeedOf[] = {7, 11, 13};
  SoakPlan plan = {frames, kSeedOf[kind], kind, exact, {}};
  // Wavelets have the same bits at every depth.
  const bool all = !exact || kind == SoakPlan::kWavelets;
  for (int g = 0; g < (all ? static_cast<int>(G_N_ELEMENTS(kGeometries)) : kExact); g++)
    if (kind != SoakPlan::kWavelets || !is_packed(kGeometries[g].format))
      plan.geometries.push_back(g);
  return plan;
}

// On the CPU engine; on the fake driver, which makes no pictures, with work that is done
// immediately.
std::vector<guint64> run_expected(const SoakPlan& plan) {
  if (!is_deferred()) return run_stream(plan, "cpu", is_cuda() ? 0 : 1);
  const DoneAtOnce order;
  return run_stream(plan, backend(), 0);
}

void compare_engines(SoakPlan::Kind kind) {
  const SoakPlan plan = plan_of(kind, true, frame_count());
  const std::vector<guint64> expected = run_expected(plan);
  const std::vector<guint64> found = run_stream(plan, backend(), 0);
  for (size_t i = 0; i < expected.size(); i++)
    fail_unless(found[i] == expected[i], "frame %d differs", static_cast<int>(i));
}

// The fake driver's kernels write no bytes to compare, or to write to a file.
bool computes() { return !is_fake_behind_shim(); }

CHECK_TEST_IF(test_engines_agree, computes()) { compare_engines(SoakPlan::kQueue); }

CHECK_TEST_IF(test_engines_agree_on_files,
              computes() && require_element_or_skip("jpegcoefdec") == 0) {
  compare_engines(SoakPlan::kFiles);
}

CHECK_TEST_IF(test_engines_agree_on_wavelets, computes()) { compare_engines(SoakPlan::kWavelets); }

// Every method and depth for which the engines agree only within a level.
CHECK_TEST(test_every_method) {
  run_stream(plan_of(SoakPlan::kQueue, false, frame_count()), backend(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  testing::hide_shim_from_children();
  return testing::run(argc, argv);
}
