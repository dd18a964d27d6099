// Pipelines with an application at both ends that writes to memory as early and reads it as late as
// it may, for tests that lose one wait.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <deque>
#include <memory>

#include "tests/check/drivers/lostwaits.h"
#include "tests/check/drivers/lostwaits_app.h"
#include "tests/check/memory/pinnedpools.h"

namespace testing {
namespace {

constexpr int kFrames = 24, kMiddle = 12, kPeriod = 4;
class Application {
 public:
  explicit Application(const Scene& scene);
  ~Application();
  void push(int number);
  void pull();
  unsigned long long hash() const { return hash_; }
  void end();

 private:
  Slot* free_slot();
  Slot& slot();
  GstBuffer* new_memory() const;
  GstBuffer* like(GstBuffer* coefficients) const;
  GstBuffer* coefficients(int number);
  void add(const void* data, size_t size);
  void read(GstBuffer* buffer, GstCaps* caps);
  void finish_read();

  const Scene& scene_;
  GstVideoInfo info_ = video_info(GST_VIDEO_FORMAT_I420, 64, 48);
  GstHarness* h_;
  GstHarness* maker_ = nullptr;  // of files or coefficients
  GstBufferPool* pool_ = nullptr;
  GstCudaContext* context_ = nullptr;
  std::unique_ptr<AppStream> writer_, reader_;
  std::deque<Slot> slots_;
  std::vector<std::vector<guint8>> read_;  // the reader's stream still writes to these
  unsigned long long hash_ = 0xcbf29ce484222325;
};

GstHarness* harness_of(const char* line, GstCudaContext* context, bool knows_fence) {
  GstHarness* h = gst_harness_new_parse(line);
  // Reading the meta is no promise.
  const GType reported = knows_fence ? GST_COEF_FENCE_API_TYPE : GST_DCT_META_API_TYPE;
  gst_harness_add_propose_allocation_meta(h, reported, nullptr);
  if (context == nullptr) return h;
  gst_element_set_state(h->element, GST_STATE_NULL);
  set_context(h->element, context);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  return h;
}

Application::Application(const Scene& scene) : scene_(scene) {
  context_ = new_context(0);
  writer_ = std::make_unique<AppStream>(context_);
  reader_ = std::make_unique<AppStream>(context_);
  h_ = harness_of(scene.line, context_, scene.knows_fence);
  GstCaps* caps = nullptr;
  if (scene.input == Scene::kFiles) {
    maker_ =
        harness_of("cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu n-threads=1", nullptr, false);
    gst_harness_set_src_caps(maker_, video_caps(info_));
    caps = gst_caps_from_string("image/jpeg,framerate=25/1,parsed=true");
  } else if (scene.input == Scene::kCoefficients) {
    maker_ =
        harness_of("cudadct8x8 ! capsfilter caps=video/x-dct(memory:CUDAMemory)", context_, true);
    gst_harness_set_src_caps(maker_, video_caps(info_));
    require(gst_harness_push(maker_, make_frame(info_)) == GST_FLOW_OK, "no coefficients");
    gst_buffer_unref(gst_harness_pull(maker_));
    caps = current_caps(maker_);
  } else {
    caps = scene.input == Scene::kCuda ? cuda_video_caps(info_) : video_caps(info_);
  }
  gst_harness_set_src_caps(h_, gst_caps_ref(caps));
  if (scene.input == Scene::kPinned) pool_ = proposed_pool(h_, caps, nullptr);
  gst_caps_unref(caps);
}

Application::~Application() {
  end();
  gst_harness_teardown(h_);
  if (maker_) gst_harness_teardown(maker_);
  for (Slot& slot : slots_) gst_buffer_unref(slot.own);
  if (pool_) free_pool(pool_);
  writer_.reset();
  reader_.reset();
  gst_object_unref(context_);
}

GstBuffer* Application::new_memory() const {
  if (scene_.input == Scene::kPinned) return acquire(pool_);
  GstBuffer* frame = make_frame(info_);
  if (scene_.input != Scene::kCuda) return frame;
  GstBuffer* moved = to_cuda(context_, info_, frame);
  gst_buffer_unref(frame);
  return moved;
}

Slot* Application::free_slot() {
  for (Slot& slot : slots_)
    if (slot.free) return &slot;
  return nullptr;
}

Slot& Application::slot() {
  if (Slot* given_back = free_slot()) return *given_back;
  GstBuffer* own = new_memory();
  const bool cuda = scene_.input == Scene::kCuda;
  GstCaps* caps = cuda ? cuda_video_caps(info_) : video_caps(info_);
  slots_.push_back({own, bytes_in(own, caps), cuda ? writer_.get() : nullptr});
  gst_caps_unref(caps);
  return slots_.back();
}

// Other memory for the same coefficients.
GstBuffer* Application::like(GstBuffer* coefficients) const {
  GstVideoInfo info = GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(coefficients, 0))->info;
  GstCaps* caps = cuda_video_caps(info);
  GstBufferPool* pool = gst_cuda_buffer_pool_new(context_);
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(info.size), 0, 0);
  require(gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE),
          "no pool");
  GstBuffer* pooled = acquire(pool);
  GstBuffer* own = gst_buffer_copy(coefficients);
  gst_buffer_replace_all_memory(own, gst_buffer_get_memory(pooled, 0));
  gst_dct_meta_set_fence(gst_buffer_get_dct_meta(own), nullptr);
  gst_buffer_unref(pooled);
  gst_object_unref(pool);
  gst_caps_unref(caps);
  return own;
}

// A transform's coefficients, copied on our stream, with our fence.
GstBuffer* Application::coefficients(int number) {
  require(gst_harness_push(maker_, make_frame(info_, static_cast<guint>(number))) == GST_FLOW_OK,
          "no coefficients");
  GstBuffer* made = gst_harness_pull(maker_);
  GstDctMeta* meta = gst_buffer_get_dct_meta(made);
  GstCaps* caps = current_caps(maker_);
  Slot* slot = free_slot();
  if (slot == nullptr) {
    GstBuffer* own = like(made);
    slots_.push_back({own, bytes_in(own, caps), writer_.get()});
    slot = &slots_.back();
  }
  require(gst_coef_fence_wait_written(meta->fence, writer_->handle()), "coefficients failed");
  const std::vector<Bytes> from = bytes_in(made, caps);
  gst_caps_unref(caps);
  for (size_t i = 0; i < from.size(); i++)
    writer_->copy(from[i].data, CU_MEMORYTYPE_DEVICE, from[i].pitch, slot->rows[i].data,
                  CU_MEMORYTYPE_DEVICE, slot->rows[i].pitch, from[i].width, from[i].rows);
  GstCoefSyncPoint* copied = point_of(*writer_);
  gst_coef_fence_add_read(meta->fence, copied);
  GstBuffer* out = lend(slot);
  GstCoefFence* fence = gst_coef_fence_new();
  gst_coef_fence_set_written(fence, copied);
  gst_dct_meta_set_fence(gst_buffer_get_dct_meta(out), fence);
  gst_coef_fence_unref(fence);
  gst_coef_sync_point_unref(copied);
  gst_buffer_unref(made);
  return out;
}

void Application::push(int number) {
  GstBuffer* buffer = nullptr;
  if (scene_.input == Scene::kFiles) {
    require(gst_harness_push(maker_, make_frame(info_, static_cast<guint>(number))) == GST_FLOW_OK,
            "no file");
    buffer = gst_harness_pull(maker_);
  } else if (scene_.input == Scene::kCoefficients) {
    buffer = coefficients(number);
  } else {
    Slot& chosen = slot();
    std::deque<std::vector<guint8>> bytes;
    chosen.write(static_cast<unsigned char>(number + 1), &bytes);
    if (chosen.stream != nullptr) chosen.stream->finish();
    buffer = lend(&chosen);
  }
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * 40 * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
  require(gst_harness_push(h_, buffer) == GST_FLOW_OK, "a frame was refused");
}

void Application::add(const void* data, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash_ = (hash_ ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
}

void Application::finish_read() {
  if (read_.empty()) return;
  reader_->finish();
  for (const auto& part : read_) add(part.data(), part.size());
  read_.clear();
}

// An application that knows the fence reads whenever it likes, and says so; any other has finished
// reading when it releases the buffer.
void Application::read(GstBuffer* buffer, GstCaps* caps) {
  const bool cuda = gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0));
  GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  const bool fenced = scene_.knows_fence && meta && meta->fence;
#if GST_CHECK_VERSION(1, 23, 1)
  // Only for raw frames; coefficients have a fence.
  if (cuda && !meta) gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0)));
#endif
  if (fenced)
    require(gst_coef_fence_wait_written(meta->fence, reader_->handle()), "a frame failed");
  for (const Bytes& b : bytes_in(buffer, caps)) {
    if (!cuda) {
      for (size_t y = 0; y < b.rows; y++) add(b.data + y * b.pitch, b.width);
      continue;
    }
    read_.emplace_back(b.width * b.rows);
    reader_->copy(b.data, CU_MEMORYTYPE_DEVICE, b.pitch, read_.back().data(), CU_MEMORYTYPE_HOST,
                  b.width, b.width, b.rows);
  }
  if (!fenced) return finish_read();
  GstCoefSyncPoint* point = point_of(*reader_);
  gst_coef_fence_add_read(meta->fence, point);
  gst_coef_sync_point_unref(point);
}

void Application::pull() {
  while (GstBuffer* buffer = gst_harness_try_pull(h_)) {
    GstCaps* caps = current_caps(h_);
    read(buffer, caps);
    gst_caps_unref(caps);
    gst_buffer_unref(buffer);
  }
}

void Application::end() {
  gst_harness_push_event(h_, gst_event_new_eos());
  pull();
  finish_read();
  for (const char* name : {"f", "i"}) {
    GstElement* element = gst_bin_get_by_name(GST_BIN(h_->element), name);
    if (element == nullptr) continue;
    gdouble psnr = 0;
    g_object_get(element, "psnr", &psnr, nullptr);
    add(&psnr, sizeof psnr);
    gst_object_unref(element);
  }
}

FakecudaOrder order_now() {
  FakecudaOrder order = {};
  entry<decltype(fakecuda_get_order)>("fakecuda_get_order")(&order);
  return order;
}

}  // namespace

SceneResult run_scene(const Scene& scene, int lost) {
  SceneResult result = {};
  {
    Application application(scene);
    for (int i = 0; i < kFrames; i++) {
      if (i == kMiddle) entry<decltype(fakecuda_ignore_wait)>("fakecuda_ignore_wait")(lost);
      application.push(i);
      application.pull();
      if (i == kMiddle + kPeriod - 1) result.waits = order_now().waits;
    }
    application.end();
    result.hash = application.hash();
  }
  result.order = order_now();
  return result;
}

}  // namespace testing
