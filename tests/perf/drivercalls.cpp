// The elements' driver calls for one frame, in the long run: launches, waits, copies. Fails if
// there are more than in the table.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the shim driver (shimcuda/), with a GPU or the fake driver behind it.
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/check/drivers/shimdriver.h"
#include "tests/check/frames.h"

namespace {

using namespace testing;

// Emulated kernels take long.
bool is_emulated() { return g_getenv("CUDATRANSFORM_TEST_EMULATED") != nullptr; }

constexpr int kWarm = 15;
int frames_of_case() { return is_emulated() ? 5 : 50; }

enum class Source { kSystem, kCuda, kLimitedInCuda, kJpeg };

// Calls for one frame.
struct Calls {
  int launches, waits, copies, records, stream_waits, queries;
};

struct Case {
  const char* name;
  Source source;
  const char* line;
  Calls most;
};

#define FORWARD "cudadct8x8 backend=cuda"
#define INVERSE "cudaidct8x8 backend=cuda"
#define TO_WAVELETS "cudadwt backend=cuda levels=4"
#define FROM_WAVELETS "cudaidwt backend=cuda"
#define DECODER "jpegcoefdec backend=cuda n-threads=1"
#define BY_GPU " entropy-backend=cuda"
#define ENCODER "jpegcoefenc name=encoder backend=cuda n-threads=1"
#define IN_CUDA "capsfilter caps=video/x-raw(memory:CUDAMemory)"
#define RESIZE "cudaresize backend=cuda ! " IN_CUDA ",width=80,height=48"
#define IN_SYSTEM "capsfilter caps=video/x-raw"

// Frames are I420: three planes, and so three copies where a frame or its coefficients are copied.
// No case allocates anything, makes an event or a stream, or copies synchronously.
//
// Waits: one for each frame or file in system memory; one for each frame of coefficients whose peer
// has not promised to honor the fence. Measuring adds none. And, for now, one for each plane that
// is copied from unpinned memory (*); before the first of these also one for the event that records
// when the copies begin, if that is measured.
//
// A waiting thread polls the driver, since no driver call has a time limit. The number of queries
// depends on the GPU and is not compared: the number of waits is.
//
// Records: one for each kernel's, upload's and download's fence; with measure=time two more for
// uploads and downloads, while kernels report their time themselves. Stream waits: for another
// queue's work, for coefficients by the queue that reads them, and for what used a block before its
// pool reused it, unless the host knows that it is done.
//
// Queries: one before each wait, since most have nothing to wait for; one before each unpinned
// plane, since the driver may wait inside of such a copy; one for each time that events measure. A
// frame's source is known to be free once the frame is finished.
//
// Calls for a raw frame in CUDA memory depend on GStreamer: kPushed if the element makes it, from
// coefficients in CUDA memory, and kRead if another element has made it.
#if GST_CHECK_VERSION(1, 23, 1)
// The frame's stream defines when it is finished, and the host does not wait. The element records
// the stream's position before we write, and our queue waits for it: the frame's last reader may be
// behind. Then that stream waits for our kernel, and so does the queue that next writes to the
// coefficients' block: no one has seen on the host that they have been read. Since no thread waits,
// the first element polls: before it waits for a slow GPU, and sometimes twice after a fast one. So
// does an inverse that measures.
constexpr Calls kPushed = {0, 0, 0, 1, 1 + 1 + 1, 2};
constexpr Calls kMeasured = {0, 0, 0, 0, 0, 3};
// The position of the producer's stream, for which our queue waits.
constexpr Calls kRead = {0, 0, 0, 1, 1, 0};
// Each further element that makes coefficients writes to a block that no one has seen read, too.
constexpr Calls kBetween = {0, 0, 0, 0, 1, 0};
// What describes two planes is copied to the GPU. A slow one has not read the last one yet when the
// host writes the next, and the host waits for that as well as for the oldest frame.
constexpr Calls kDescribed = {0, 2, 1, 0, 0, 0};
#else
// It cannot mark itself unfinished: the host waits for the kernel. After that the frame and its
// source coefficients are free for all, and no other thread has to wait.
constexpr Calls kPushed = {0, 1, 0, 0, 0, 1};
constexpr Calls kMeasured = {0, 0, 0, 0, 0, 0};
constexpr Calls kRead = {0, 0, 0, 0, 0, 0};
constexpr Calls kBetween = {0, 0, 0, 0, 0, 0};
constexpr Calls kDescribed = {0, 0, 1, 0, 0, 0};
#endif

// Whether the GPU is as fast as the host. A slow one has done nothing before a thread waits for it.
// If no thread waits for a frame, the GPU would fall further and further behind, with all its
// inputs: the first element then waits for the oldest of the few frames that it may hold.
enum Pace { kFastGpu, kSlowGpu, kPaces };

constexpr int max_waits(const Calls& most, Pace pace) {
  return pace == kSlowGpu && most.waits == 0 ? 1 : most.waits;
}

constexpr Calls operator+(const Calls& a, const Calls& b) {
  return {a.launches + b.launches,
          a.waits + b.waits,
          a.copies + b.copies,
          a.records + b.records,
          a.stream_waits + b.stream_waits,
          a.queries + b.queries};
}

constexpr Case kCases[] = {
    // ... launches, waits, copies, records, stream waits, queries
    {"CUDA memory from end to end", Source::kCuda, FORWARD " ! " INVERSE " ! " IN_CUDA,
     Calls{2, 0, 0, 2, 1, 0} + kPushed},
    {"CUDA memory from end to end, measured", Source::kCuda,
     FORWARD " measure=psnr+time ! " INVERSE " measure=psnr+time ! " IN_CUDA,
     Calls{2, 0, 0, 2, 1, 0} + kPushed + kMeasured},
    // Wavelets: a launch for each level. For the PSNR forward inverts its result; sums are copied
    // to the host, and events measure the time, since levels' kernels do not.
    {"wavelets in CUDA memory from end to end", Source::kCuda,
     TO_WAVELETS " ! " FROM_WAVELETS " ! " IN_CUDA, Calls{8, 0, 0, 2, 1, 0} + kPushed},
    {"wavelets in CUDA memory from end to end, measured", Source::kCuda,
     TO_WAVELETS " measure=psnr+time ! " FROM_WAVELETS " measure=psnr+time ! " IN_CUDA,
     Calls{12, 0, 2, 6, 1, 2} + kPushed + kMeasured},
    {"turned and requantized in CUDA memory", Source::kCuda,
     FORWARD " ! cudadctflip backend=cuda video-direction=90r ! "
             "cudadctquant backend=cuda quality=20 ! " INVERSE " ! " IN_CUDA,
     Calls{4, 0, 0, 4, 3, 0} + kPushed + kBetween + kBetween},
    // A launch for the planes of each size.
    {"resized in CUDA memory", Source::kCuda, RESIZE,
     Calls{2, 0, 0, 2, 0, 0} + kPushed + kDescribed},
    {"JPEG to RGB, resized in CUDA memory", Source::kJpeg,
     DECODER " ! " INVERSE " ! " IN_CUDA ",format=RGB ! " RESIZE,
     Calls{3, 0, 3, 3, 1, 0} + kPushed + kRead + kPushed},
    {"a queue between the elements", Source::kCuda, FORWARD " ! queue ! " INVERSE " ! " IN_CUDA,
     Calls{2, 0, 0, 2, 1, 0} + kPushed},
    {"a frame in CUDA memory between the elements", Source::kJpeg,
     DECODER " ! " INVERSE " ! " IN_CUDA " ! " FORWARD " ! " INVERSE " ! " IN_CUDA,
     Calls{3, 0, 3, 4, 2, 0} + kPushed + kRead + kPushed},
    {"system memory in and out (*)",
     Source::kSystem,
     FORWARD " ! " INVERSE " ! " IN_SYSTEM,
     {2, 1 + 3, 6, 4, 3, 1 + 2 * 3}},
    {"system memory in and out, measured (*)",
     Source::kSystem,
     FORWARD " measure=psnr+time ! " INVERSE " measure=psnr+time ! " IN_SYSTEM,
     {2, 1 + 1 + 3, 6, 8, 3, 1 + 2 * 3 + 2}},
    {"one of two branches knows no fence", Source::kCuda,
     FORWARD " ! tee name=t ! " INVERSE " ! " IN_CUDA " t. ! fakesink async=false",
     Calls{2, 1, 0, 2, 0, 1} + kPushed},
    {"coefficients in CUDA memory for a peer that knows no fence",
     Source::kCuda,
     FORWARD " ! video/x-dct(memory:CUDAMemory) ! identity drop-allocation=true",
     {1, 1, 0, 1, 0, 1}},
    {"system memory to coefficients in system memory (*)",
     Source::kSystem,
     FORWARD " ! capsfilter caps=video/x-dct",
     {1, 1 + 3, 6, 3, 2, 1 + 2 * 3}},
    {"JPEG to frames in CUDA memory", Source::kJpeg, DECODER " ! " INVERSE " ! " IN_CUDA,
     Calls{1, 0, 3, 2, 1, 0} + kPushed},
    // The kernels themselves report to the host when a picture is decoded: records and queries are
    // those of the inverse alone.
    {"JPEG decoded by the GPU, to frames in CUDA memory", Source::kJpeg,
     DECODER BY_GPU " ! " INVERSE " ! " IN_CUDA, Calls{5, 0, 1, 1, 0, 0} + kPushed},
    {"JPEG decoded by the GPU, to coefficients", Source::kJpeg,
     DECODER BY_GPU " ! capsfilter caps=video/x-dct(memory:CUDAMemory)", Calls{4, 0, 1, 0, 0, 0}},
    {"JPEG to frames in system memory",
     Source::kJpeg,
     DECODER " ! " INVERSE " ! " IN_SYSTEM,
     {1, 1, 6, 3, 2, 1}},
    {"frames in CUDA memory to JPEG", Source::kCuda, FORWARD " ! " ENCODER, {3, 1, 1, 3, 2, 1}},
    {"frames of limited range in CUDA memory to JPEG",
     Source::kLimitedInCuda,
     FORWARD " ! " ENCODER,
     {4, 1, 1, 3, 2, 1}},
    {"frames in system memory to JPEG (*)",
     Source::kSystem,
     FORWARD " ! " ENCODER,
     {3, 1 + 3, 4, 4, 3, 1 + 2 * 3}},
    {"frames in CUDA memory to JPEG by the CPU",
     Source::kCuda,
     FORWARD " ! " ENCODER " entropy-backend=cpu",
     {1, 1, 3, 2, 1, 1}},
    {"frames in system memory to JPEG by the CPU (*)",
     Source::kSystem,
     FORWARD " ! " ENCODER " entropy-backend=cpu",
     {1, 1 + 3, 6, 3, 2, 1 + 2 * 3}},
};

// The requested number of frames of a case's kind.
class Frames {
 public:
  Frames(GstHarness* h, Source source) : h_(h), source_(source) {
    info_ = video_info(GST_VIDEO_FORMAT_I420, 160, 96);
    if (source != Source::kLimitedInCuda)
      gst_video_colorimetry_from_string(&info_.colorimetry, "1:4:0:0");
    GstCaps* caps = video_caps(info_);
    if (source == Source::kJpeg) {
      gst_caps_replace(&caps, nullptr);
      caps = gst_caps_from_string("image/jpeg,framerate=25/1,parsed=true");
      file_ = one_file();
    } else if (is_in_cuda()) {
      gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
    } else {
      frame_ = make_frame(info_);
    }
    gst_harness_set_src_caps(h, gst_caps_ref(caps));
    if (is_in_cuda()) make_pool(caps);
    gst_caps_unref(caps);
  }
  ~Frames() {
    if (pool_) gst_buffer_pool_set_active(pool_, FALSE);
    gst_clear_object(&pool_);
    gst_clear_buffer(&frame_);
    gst_clear_buffer(&file_);
  }

  GstBuffer* next() {
    GstBuffer* buffer = nullptr;
    if (is_in_cuda()) {
      fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr), GST_FLOW_OK);
    } else {
      buffer = gst_buffer_copy(source_ == Source::kJpeg ? file_ : frame_);
    }
    GST_BUFFER_PTS(buffer) = number_++ * 40 * GST_MSECOND;
    return buffer;
  }

 private:
  // The pool that the element proposes.
  void make_pool(GstCaps* caps) {
    g_autoptr(GstQuery) query = gst_query_new_allocation(caps, TRUE);
    fail_unless(gst_pad_peer_query(h_->srcpad, query));
    fail_unless(gst_query_get_n_allocation_pools(query) > 0, "no pool was proposed");
    guint size = 0, min = 0, max = 0;
    gst_query_parse_nth_allocation_pool(query, 0, &pool_, &size, &min, &max);
    GstStructure* config = gst_buffer_pool_get_config(pool_);
    gst_buffer_pool_config_set_params(config, caps, size, min, max);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    fail_unless(gst_buffer_pool_set_config(pool_, config));
    fail_unless(gst_buffer_pool_set_active(pool_, TRUE));
  }

  GstBuffer* one_file() {
    g_autoptr(GstHarness) h =
        harness_of("cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu n-threads=1", info_);
    fail_unless_equals_int(gst_harness_push(h, make_frame(info_)), GST_FLOW_OK);
    return gst_harness_pull(h);
  }

  bool is_in_cuda() const { return source_ == Source::kCuda || source_ == Source::kLimitedInCuda; }

  GstHarness* h_;
  Source source_;
  GstVideoInfo info_;
  GstBufferPool* pool_ = nullptr;
  GstBuffer *frame_ = nullptr, *file_ = nullptr;
  guint64 number_ = 0;
};

// A GPU may be slow at any time, but not if it has had this long for so small a frame. And fences
// poll the driver every 20 us at most: with shorter gaps the number of frames in flight would
// depend on the host's speed.
void let_gpu_finish(Pace pace) { g_usleep(pace == kFastGpu && !is_fake_behind_shim() ? 2000 : 50); }

void push_frame(GstHarness* h, Frames* frames, Pace pace) {
  let_gpu_finish(pace);
  fail_unless_equals_int(gst_harness_push(h, frames->next()), GST_FLOW_OK);
}

void pull_frame(GstHarness* h) {
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  fail_unless(out != nullptr, "no output");
}

void run_frames(GstHarness* h, Frames* frames, int count, Pace pace) {
  for (int i = 0; i < count; i++) {
    push_frame(h, frames, pace);
    pull_frame(h);
  }
}

void set_pace(Pace pace) { g_setenv("FAKECUDA_LAG", pace == kSlowGpu ? "1000000000" : "0", TRUE); }

// More simultaneously than later, and with a slow GPU, so that the most frames ever are in flight,
// whichever thread is late then.
void warm_up(GstHarness* h, Frames* frames, Pace pace) {
  set_pace(kSlowGpu);
  const int warm = is_emulated() ? 3 : kWarm;
  for (int i = 0; i < warm; i++) push_frame(h, frames, kSlowGpu);
  for (int i = 0; i < warm; i++) pull_frame(h);
  set_pace(pace);
  run_frames(h, frames, warm, pace);
}

struct Column {
  const char* name;
  int ShimcudaCounts::*counted;
  int Calls::*most;  // null: none
};

constexpr Column kColumns[] = {
    {"launches", &ShimcudaCounts::launches, &Calls::launches},
    {"waits", &ShimcudaCounts::waits, &Calls::waits},
    {"copies", &ShimcudaCounts::copies, &Calls::copies},
    {"records", &ShimcudaCounts::records, &Calls::records},
    {"stream waits", &ShimcudaCounts::stream_waits, &Calls::stream_waits},
    {"queries", &ShimcudaCounts::queries, &Calls::queries},
    {"synchronous copies", &ShimcudaCounts::sync_copies, nullptr},
    {"allocations", &ShimcudaCounts::allocations, nullptr},
    {"frees", &ShimcudaCounts::frees, nullptr},
    {"events, streams and modules made", &ShimcudaCounts::makes, nullptr},
};

// The fake driver's kernels write nothing, and files cannot hold every level that memory may have.
// Its device memory is the host's: writing to it needs no call.
GstPadProbeReturn write_zeros(GstPad*, GstPadProbeInfo* probe, gpointer) {
  constexpr auto kMapCuda = static_cast<GstMapFlags>(GST_MAP_WRITE | GST_MAP_FLAG_LAST << 1);
  GstMapInfo map;
  fail_unless(gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(probe), &map, kMapCuda));
  memset(map.data, 0, map.size);
  gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(probe), &map);
  return GST_PAD_PROBE_OK;
}

void stand_in_for_kernel(GstHarness* h) {
  g_autoptr(GstElement) encoder = gst_bin_get_by_name(GST_BIN(h->element), "encoder");
  if (encoder == nullptr) return;
  g_autoptr(GstPad) pad = gst_element_get_static_pad(encoder, "sink");
  if (is_fake_behind_shim())
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, write_zeros, nullptr, nullptr);
}

// Fails if there are more calls than in the table. Returns the number of waits with a sleep.
int check_calls(const Case& one, Pace pace) {
  const std::string name = std::string(one.name) + (pace == kSlowGpu ? ", slow GPU" : "");
  Calls limit = one.most;
  limit.waits = max_waits(one.most, pace);
  GstHarness* h = gst_harness_new_parse(one.line);
  stand_in_for_kernel(h);
  std::string report;
  bool more = false;
  int slept = 0;
  const int count = frames_of_case();
  {
    Frames frames(h, one.source);
    warm_up(h, &frames, pace);
    const ShimcudaCounts before = shim_counts();
    run_frames(h, &frames, count, pace);
    const ShimcudaCounts after = shim_counts();
    slept = after.sleeps - before.sleeps;
    for (const Column& column : kColumns) {
      const int calls = after.*column.counted - before.*column.counted;
      // The GPU decides how much it has in flight if no thread waits, and so how far pools grow.
      if (pace == kSlowGpu && !is_fake_behind_shim() && !column.most) continue;
      const int most = column.most ? limit.*column.most * count : 0;
      more = more || calls > most;
      // No thread waits for a fast GPU's finished work.
      if (calls == most || (calls < most && pace == kFastGpu)) continue;
      report += std::string(column.name) + ": " + std::to_string(calls) + " for " +
                std::to_string(count) + " frames, the table says " + std::to_string(most) + "; ";
    }
    if (!report.empty()) std::printf("%s: %s\n", name.c_str(), report.c_str());
  }
  gst_harness_teardown(h);
  check_nothing_is_left(name.c_str());
  fail_if(more, "%s: %s", name.c_str(), report.c_str());
  return slept;
}

bool can_run(const Case& one) {
  // Kernels that do nothing decode nothing. Emulated ones add no coverage.
  const bool by_gpu = one.source == Source::kJpeg && strstr(one.line, BY_GPU);
  if (is_fake_behind_shim() && by_gpu != is_emulated()) return false;
  return !strstr(one.line, "jpeg") || require_element_or_skip("jpegcoefdec") == 0;
}

CHECK_LOOP_TEST(test_calls_per_frame, 0, G_N_ELEMENTS(kCases) * kPaces) {
  const Case& one = kCases[__i__ / kPaces];
  if (under_valgrind() && (__i__ / kPaces + __i__) % kPaces != 0) return;  // one pace for each
  if (can_run(one)) check_calls(one, static_cast<Pace>(__i__ % kPaces));
}

// Threads that wait long sleep, and make no further driver calls. The first five lines: without and
// with copies.
CHECK_LOOP_TEST(test_sleeping, 0, 5) {
  const Case& one = kCases[__i__];
  if (!is_fake_behind_shim() || !can_run(one)) return;
  g_setenv("FAKECUDA_WAIT", "400", TRUE);
  const int slept = check_calls(one, kSlowGpu);
  g_unsetenv("FAKECUDA_WAIT");
  fail_unless(slept > 0, "%s: nobody slept", one.name);
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = testing::require_shim_or_skip()) return status;
  return testing::run(argc, argv);
}
