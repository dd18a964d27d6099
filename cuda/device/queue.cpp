// Streams and the events that order them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/device/queue.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <unordered_map>
#include <vector>

namespace cudatransform::cuda {
namespace {

// The streams that are ours, of all contexts: a fence gets the handle of the one that waits.
class OwnStreams {
 public:
  void add(CUstream stream, CUcontext context, std::shared_ptr<Progress> progress) {
    const std::lock_guard lock(mutex_);
    streams_[stream] = {context, std::move(progress)};
  }
  void remove(CUstream stream, const std::shared_ptr<Progress>& progress) {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(stream);
    if (found != streams_.end() && found->second.progress == progress) streams_.erase(found);
  }
  // Null for a stream of others, or of another context: one may be lost and the other not know.
  std::shared_ptr<Progress> find(CUstream stream, CUcontext context) {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(stream);
    const bool ours = found != streams_.end() && found->second.context == context;
    return ours ? found->second.progress : nullptr;
  }

  // How far the streams of a context have got.
  struct Mark {
    CUstream stream;
    std::shared_ptr<Progress> progress;
    uint64_t number;  // of the last fence
  };
  std::vector<Mark> marks_of(CUcontext context) {
    std::vector<Mark> marks;
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, stream] : streams_)
      if (stream.context == context)
        marks.push_back({handle, stream.progress, stream.progress->recorded()});
    return marks;
  }
  // Whether a stream is past its mark. One that is never idle is past it once somebody has waited
  // for it. Queries the driver under the lock, so that the stream is not destroyed concurrently.
  bool is_past(const Mark& mark, const Driver& driver) {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(mark.stream);
    if (found == streams_.end() || found->second.progress != mark.progress) return true;
    return driver.stream_query(mark.stream) != CUDA_ERROR_NOT_READY ||
           (mark.number > 0 && mark.progress->is_done(mark.number));
  }

 private:
  struct Stream {
    CUcontext context;
    std::shared_ptr<Progress> progress;
  };
  std::mutex mutex_;
  std::unordered_map<CUstream, Stream> streams_;
};

OwnStreams& own_streams() {
  static OwnStreams& streams = *new OwnStreams;  // never destroyed: objects may be released at exit
  return streams;
}

class EventFence final : public Fence {
 public:
  EventFence(std::shared_ptr<Context> context, CUevent event, CUstream stream,
             std::shared_ptr<Progress> progress)
      : context_(std::move(context)),
        event_(event),
        stream_(stream),
        progress_(std::move(progress)),
        number_(progress_->next_number()) {}
  ~EventFence() override { context_->give_event(false, event_); }

  bool known_done() override {
    if (result_ == CUDA_ERROR_NOT_READY && progress_->is_done(number_)) result_ = CUDA_SUCCESS;
    return result_ != CUDA_ERROR_NOT_READY;
  }

  bool done() override {
    if (known_done()) return true;
    if (!progress_->may_poll(number_)) return false;
    ScopedContext scoped(*context_);
    // A destroyed context has no work to wait for. A stuck one may still do it.
    if (!scoped.status().ok()) return !context_->stuck();
    note(context_->driver().event_query(event_));
    return known_done();
  }

  Status wait() override {
    if (!known_done()) {
      CT_ENTER_CONTEXT(*context_);
      const Driver& driver = context_->driver();
      CUresult result = driver.event_query(event_);  // most have nothing to wait for
      if (result == CUDA_ERROR_NOT_READY) {
        int64_t took = 0;
        result = context_->wait_until(progress_->spin_ns(), &took,
                                      [&] { return driver.event_query(event_); });
        progress_->note_wait(took);
      }
      note(result);
    }
    const CUresult result = result_;
    if (result == CUDA_ERROR_NOT_READY) return context_->stuck_status();
    return context_->driver().check(result, "waiting for the GPU");
  }

  // A null stream is the legacy default stream of the fence's own context.
  Status enqueue_wait(void* native_stream) override {
    // A stream's next work is after its earlier work anyway. A stream that has the handle of a
    // destroyed one has nothing to wait for: that one's work was finished first.
    if ((known_done() && result_ == CUDA_SUCCESS) ||
        (native_stream != nullptr && native_stream == stream_))
      return {};
    CT_ENTER_CONTEXT(*context_);
    const Driver& driver = context_->driver();
    const auto stream = static_cast<CUstream>(native_stream);
    CT_RETURN_IF_ERROR(driver.check(driver.stream_wait_event(stream, event_, CU_EVENT_WAIT_DEFAULT),
                                    "cuStreamWaitEvent"));
    const auto waiting = own_streams().find(stream, context_->handle());
    if (waiting != nullptr) waiting->follow(progress_, number_);
    return {};
  }

 private:
  // Another thread may have learned more in the meantime: "not done" changes nothing.
  void note(CUresult result) {
    if (result == CUDA_ERROR_NOT_READY) return;
    result_ = result;
    if (result == CUDA_SUCCESS) progress_->note_done(number_);
  }

  std::shared_ptr<Context> context_;
  CUevent event_;
  CUstream stream_;  // that it was recorded in; only compared
  std::shared_ptr<Progress> progress_;
  uint64_t number_;
  std::atomic<CUresult> result_ = CUDA_ERROR_NOT_READY;
};

}  // namespace

void Progress::note_done(uint64_t number) {
  uint64_t known = done_;
  while (known < number && !done_.compare_exchange_weak(known, number)) {
  }
  if (known >= number) return;
  for (;;) {
    Followed followed;
    {
      const std::lock_guard lock(mutex_);
      if (followed_.empty() || followed_.front().until > number) return;
      followed = std::move(followed_.front());
      followed_.pop_front();
    }
    // Not under the lock: that one may have waited for us.
    if (const auto other = followed.other.lock()) other->note_done(followed.number);
  }
}

void Progress::follow(const std::shared_ptr<Progress>& other, uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (followed_.size() == kMaxFollowed) followed_.pop_front();
  followed_.push_back({other, number, recorded_ + 1});
}

bool Progress::may_poll(uint64_t number) {
  const int64_t now = now_ns();
  // Two threads that both poll lose only a microsecond.
  if (number >= polled_number_ && now - polled_at_ < kPollInterval) return false;
  polled_number_ = number;
  polled_at_ = now;
  return true;
}

StreamQueue::StreamQueue(std::shared_ptr<Context> context, CUstream stream)
    : context_(std::move(context)), stream_(stream), progress_(std::make_shared<Progress>()) {
  own_streams().add(stream_, context_->handle(), progress_);
}

StreamQueue::~StreamQueue() {
  (void)synchronize();
  own_streams().remove(stream_, progress_);
  if ((scratch_ != 0 || zeroed_ != 0) && !context_->settle()) return;
  ScopedContext scoped(*context_);
  if (!scoped.status().ok()) return;
  const Driver& driver = context_->driver();
  if (scratch_ != 0) driver.mem_free(scratch_);
  if (zeroed_ != 0) driver.mem_free(zeroed_);
  driver.stream_destroy(stream_);
}

Status StreamQueue::wait_for(const FencePtr& fence) {
  return fence == nullptr ? Status{} : fence->enqueue_wait(stream_);
}

// The driver captures the event in the wait call: afterwards it may be recorded elsewhere.
Status StreamQueue::wait_for_stream(void* native_stream) {
  CT_ENTER_CONTEXT(*context_);
  CUevent event = nullptr;
  CT_RETURN_IF_ERROR(context_->take_event(false, &event));
  const Driver& driver = context_->driver();
  Status status = driver.check(driver.event_record(event, static_cast<CUstream>(native_stream)),
                               "cuEventRecord");
  if (status.ok())
    status = driver.check(driver.stream_wait_event(stream_, event, CU_EVENT_WAIT_DEFAULT),
                          "cuStreamWaitEvent");
  context_->give_event(false, event);
  return status;
}

Status StreamQueue::record(FencePtr* fence) {
  const Status status = try_record(fence);
  if (!status.ok()) (void)synchronize();
  return status;
}

Status StreamQueue::try_record(FencePtr* fence) {
  CUevent event = nullptr;
  CT_RETURN_IF_ERROR(context_->take_event(false, &event));
  auto recorded = std::make_shared<EventFence>(context_, event, stream_, progress_);
  CT_ENTER_CONTEXT(*context_);
  const Driver& driver = context_->driver();
  CT_RETURN_IF_ERROR(driver.check(driver.event_record(event, stream_), "cuEventRecord"));
  *fence = std::move(recorded);
  return {};
}

Status StreamQueue::load(KernelKey key) {
  CUfunction function = nullptr;
  return context_->kernel(key, &function);
}

Status StreamQueue::scratch(size_t bytes, CUdeviceptr* address) {
  const Driver& driver = context_->driver();
  if (bytes > scratch_bytes_) {
    CT_ENTER_CONTEXT(*context_);
    if (scratch_ != 0) {
      CT_RETURN_IF_ERROR(synchronize());
      if (!context_->settle()) return context_->stuck_status();
      CT_RETURN_IF_ERROR(driver.check(driver.mem_free(scratch_), "cuMemFree"));
      scratch_ = 0;
      scratch_bytes_ = 0;
    }
    const std::string wanted = "cuMemAlloc of " + std::to_string(bytes) + " bytes between kernels";
    CT_RETURN_IF_ERROR(driver.check(driver.mem_alloc(&scratch_, bytes), wanted.c_str()));
    scratch_bytes_ = bytes;
  }
  *address = scratch_;
  return {};
}

Status StreamQueue::zeroed(size_t bytes, CUdeviceptr* address) {
  constexpr size_t kBytes = 4096;
  if (bytes > kBytes)
    return Status::error(
        StatusCode::kInvalidArgument,
        std::to_string(bytes) + " bytes of zeros, expected at most " + std::to_string(kBytes));
  if (zeroed_ == 0) {
    CT_ENTER_CONTEXT(*context_);
    const Driver& driver = context_->driver();
    CUdeviceptr memory = 0;
    CT_RETURN_IF_ERROR(driver.check(driver.mem_alloc(&memory, kBytes), "cuMemAlloc (sums)"));
    if (Status status = clear(memory, kBytes); !status.ok()) {
      if (context_->settle()) driver.mem_free(memory);
      return status;
    }
    zeroed_ = memory;
  }
  *address = zeroed_;
  return {};
}

Status StreamQueue::launch(KernelKey key, unsigned blocks, unsigned threads, void** arguments,
                           bool waits_itself, unsigned jobs, unsigned shared) {
  CUfunction function = nullptr;
  CT_RETURN_IF_ERROR(context_->kernel(key, &function));
  const CUresult result =
      launch(function, {blocks, jobs, threads, shared}, arguments, waits_itself);
  if (result == CUDA_SUCCESS) return {};
  return context_->check(result, key.family.kernel(key.number).name);
}

CUresult StreamQueue::launch(CUfunction function, const Grid& grid, void** arguments,
                             bool waits_itself) {
  const ScopedContext scoped(*context_);
  if (!scoped.status().ok()) return scoped.result();
  const Driver& driver = context_->driver();
  if (grid.shared > Context::kSharedWithoutRequest && std::ranges::count(large_, function) == 0) {
    // The same for all launches: other queues launch the kernel, too.
    const CUresult result = driver.func_set_attribute(
        function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, context_->max_shared());
    if (result != CUDA_SUCCESS) return result;
    large_.push_back(function);
  }
  if (waits_itself && may_overlap_ && context_->has_dependent_launch()) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config = {};
    config.gridDimX = grid.blocks;
    config.gridDimY = grid.jobs;
    config.blockDimX = grid.threads;
    config.sharedMemBytes = grid.shared;
    config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream_;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return driver.launch_kernel_ex(&config, function, arguments, nullptr);
  }
  return driver.launch_kernel(function, grid.blocks, grid.jobs, 1, grid.threads, 1, 1, grid.shared,
                              stream_, arguments, nullptr);
}

Status StreamQueue::clear(CUdeviceptr address, size_t bytes) {
  CT_ENTER_CONTEXT(*context_);
  const Driver& driver = context_->driver();
  return driver.check(driver.memset_d8_async(address, 0, bytes, stream_), "cuMemsetD8Async");
}

Status StreamQueue::send(CUdeviceptr destination, const void* source, size_t bytes) {
  CT_ENTER_CONTEXT(*context_);
  const Driver& driver = context_->driver();
  CUDA_MEMCPY2D what = {};
  what.srcMemoryType = CU_MEMORYTYPE_HOST;
  what.srcHost = source;
  what.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  what.dstDevice = destination;
  what.srcPitch = what.dstPitch = what.WidthInBytes = bytes;
  what.Height = 1;
  return driver.check(driver.memcpy_2d_async(&what, stream_), "cuMemcpy2DAsync");
}

Status StreamQueue::read_back(void* destination, CUdeviceptr source, size_t bytes) {
  CT_ENTER_CONTEXT(*context_);
  const Driver& driver = context_->driver();
  return driver.check(driver.memcpy_dtoh_async(destination, source, bytes, stream_),
                      "cuMemcpyDtoHAsync");
}

Status StreamQueue::synchronize(int64_t spin_ns) {
  CT_ENTER_CONTEXT(*context_);
  const Driver& driver = context_->driver();
  int64_t took = 0;
  const CUresult result =
      context_->wait_until(spin_ns, &took, [&] { return driver.stream_query(stream_); });
  return context_->check(result, "waiting for the GPU");
}

bool Context::settle() {
  std::vector<OwnStreams::Mark> marks = own_streams().marks_of(handle_);
  const ScopedContext scoped(*this);
  // A lost context has no work to wait for.
  if (!scoped.status().ok()) return !stuck();
  int64_t took = 0;
  const CUresult result = wait_until(Wait::kLong, &took, [&] {
    std::erase_if(marks, [&](const auto& mark) { return own_streams().is_past(mark, driver_); });
    return marks.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
  return result == CUDA_SUCCESS;
}

Status check_queue(Device& device, const StreamQueue* stream) {
  if (!device.is_host() && stream != nullptr) return {};
  return Status::error(StatusCode::kInvalidArgument,
                       "the CUDA engine needs a CUDA device and one of its queues");
}

Status probe_kernel(Device& device, KernelKey key) {
  auto* stream = dynamic_cast<StreamQueue*>(&device.queue(QueueKind::kCompute));
  if (stream == nullptr) return Status::error(StatusCode::kInvalidArgument, "not a CUDA device");
  return stream->load(key);
}

}  // namespace cudatransform::cuda

namespace cudatransform {

Status finish_cuda_queue(Queue& queue) {
  auto* stream = dynamic_cast<cuda::StreamQueue*>(&queue);
  return stream != nullptr ? stream->synchronize(cuda::Wait::kEager) : Status();
}

}  // namespace cudatransform
