// The functions of libcudatransform.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/cudatransform.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

#include "core/encode_chunk.h"
#include "core/engine.h"
#include "core/jpeg_batches.h"
#include "core/jpeg_encode.h"
#include "transform/device/host_device.h"
#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"
#endif

namespace cudatransform::core {

CtCode code_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return CT_OK;
    case StatusCode::kInvalidArgument:
    case StatusCode::kInvalidSetting:
      return CT_INVALID_ARGUMENT;
    case StatusCode::kUnsupported:
      return CT_UNSUPPORTED;
    case StatusCode::kNotFound:
      return CT_NOT_FOUND;
    case StatusCode::kOutOfMemory:
      return CT_OUT_OF_MEMORY;
    case StatusCode::kDeviceLost:
      return CT_DEVICE_LOST;
    case StatusCode::kCancelled:
    case StatusCode::kFailed:
      break;
  }
  return CT_FAILED;
}

void set_text(CtError* error, CtCode code, const std::string& text) {
  error->code = code;
  const size_t size = std::min(text.size(), sizeof error->text - 1);
  std::memcpy(error->text, text.data(), size);
  error->text[size] = 0;
}

CtCode report(CtCode code, const std::string& text, CtError* error) {
  if (error != nullptr) set_text(error, code, text);
  return code;
}

CtCode report(const Status& status, CtError* error) {
  return report(code_of(status.code), status.message, error);
}

Status copy_to_host(CtEngine& engine, void* to, int64_t to_pitch, const void* from,
                    int64_t from_pitch, size_t row_bytes, size_t rows) {
  const std::lock_guard lock(engine.downloads);
  Queue& queue = engine.device->queue(QueueKind::kDownload);
  Copy2D copy;
  copy.dst = to;
  copy.dst_pitch = to_pitch;
  copy.src = from;
  copy.src_pitch = from_pitch;
  copy.row_bytes = row_bytes;
  copy.rows = rows;
  CT_RETURN_IF_ERROR(wait_for_caller(engine, queue));
  return finish(queue, engine.device->download(queue, copy));
}

bool is_forked(const CtEngine& engine) { return engine.process != getpid(); }
CtCode report_forked(CtError* error) {
  return report(CT_FORKED,
                "it was made before this process was forked: make a new engine in the child",
                error);
}

CtCode check(const CtEngine* engine, CtError* error) {
  if (engine == nullptr) return report(CT_INVALID_ARGUMENT, "engine is NULL", error);
  return is_forked(*engine) ? report_forked(error) : CT_OK;
}

CtCode check(const CtDecodeOptions& options, CtError* error) {
  const auto wrong = [&](const char* what, int64_t value) {
    return report(CT_INVALID_ARGUMENT, std::string(what) + ", not " + std::to_string(value), error);
  };
  if (number_in(options.output) < CT_OUTPUT_RGB ||
      number_in(options.output) > CT_OUTPUT_COEFFICIENTS)
    return wrong("output is one of CtOutput", number_in(options.output));
  if (number_in(options.upsampling) < CT_UPSAMPLING_FANCY ||
      number_in(options.upsampling) > CT_UPSAMPLING_NEAREST)
    return wrong("upsampling is one of CtUpsampling", number_in(options.upsampling));
  const int32_t scale = options.scale;
  if (scale != 0 && scale != 1 && scale != 2 && scale != 4 && scale != 8)
    return wrong("scale is 1, 2, 4 or 8", scale);
  if (scale > 1 && options.output == CT_OUTPUT_COEFFICIENTS)
    return wrong("quantized coefficients have scale 1", scale);
  const int32_t draft_width = options.draft_width, draft_height = options.draft_height;
  if (draft_width < 0 || draft_height < 0 || (draft_width > 0) != (draft_height > 0))
    return wrong("draft_width and draft_height are both 0 or both more",
                 std::min(draft_width, draft_height));
  if (draft_width > 0 && (scale > 1 || options.output == CT_OUTPUT_COEFFICIENTS))
    return wrong("draft_width needs pixels and scale 1", draft_width);
  if (options.upright != 0 && options.output == CT_OUTPUT_COEFFICIENTS)
    return wrong("upright is 0 where the output is quantized coefficients", options.upright);
  if (options.batches < 0 || options.batches > 64)
    return wrong("batches are 0 to 64", options.batches);
  return CT_OK;
}

namespace {

// Bytes of blocks that wait for their next use when no batches are under way.
constexpr size_t kMaxKept = size_t{1} << 24;

int cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
}

Status make_device(CtEngine& engine, int32_t ordinal) {
#if CT_HAVE_CUDA
  // CUDA does not work in the children of a process that has used it.
  static std::atomic<pid_t> cuda_process{0};
  const pid_t self = getpid();
  pid_t used = 0;
  if (!cuda_process.compare_exchange_strong(used, self) && used != self)
    return Status::error(StatusCode::kNotFound,
                         "CUDA does not survive a fork, and a parent of this process has used it");
  int count = 0;
  CT_RETURN_IF_ERROR(probe_cuda_driver(&count));
  std::unique_ptr<Device> device;
  CT_RETURN_IF_ERROR(make_primary_cuda_device(ordinal, &device));
  engine.device = std::move(device);
  return {};
#else
  (void)engine;
  return Status::error(StatusCode::kNotFound,
                       "built without CUDA (-Dcuda=disabled), no cuda:" + std::to_string(ordinal));
#endif
}

// The driver's names of streams (cuda.h): CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
constexpr uintptr_t kLegacyStream = 1, kStreamPerThread = 2;

Status set_stream(CtEngine& engine, const CtEngineOptions& options) {
  const auto name = reinterpret_cast<uintptr_t>(options.stream);
  if (name != 0 && options.device < 0)
    return Status::error(StatusCode::kInvalidArgument,
                         "a stream for an engine of the CPU, expected NULL or a CUDA device");
  // The library's threads, which enqueue work, have another one than the caller's.
  if (name == kStreamPerThread)
    return Status::error(
        StatusCode::kInvalidArgument,
        "the stream is CU_STREAM_PER_THREAD, expected a stream that all threads share");
  if (name != kLegacyStream) engine.stream = options.stream;
  return {};
}

Status fill(CtEngine& engine, const CtEngineOptions& options) {
  CT_RETURN_IF_ERROR(set_stream(engine, options));
  engine.process = getpid();
  engine.host = make_host_device(1);
  if (!engine.host) return no_memory();
  engine.device = engine.host;
  if (options.device >= 0) CT_RETURN_IF_ERROR(make_device(engine, options.device));
  engine.blocks =
      std::make_shared<Blocks>(engine.device, MemoryKind::kDevice, options.max_device_memory);
  engine.files = std::make_shared<Blocks>(engine.device, MemoryKind::kPinned, 0);
  engine.threads = std::make_unique<Threads>(options.threads > 0 ? options.threads : cores());
  if (engine.is_cuda())
    CT_RETURN_IF_ERROR(Lanes::make(*engine.device, *engine.threads, &engine.lanes));
  return {};
}

CtCode check(const CtEncodeOptions& options, CtError* error) {
  const auto wrong = [&](const char* what, int64_t value) {
    return report(CT_INVALID_ARGUMENT, std::string(what) + ", not " + std::to_string(value), error);
  };
  if (options.quality < 0 || options.quality > 100)
    return wrong("quality is 1 to 100", options.quality);
  if (number_in(options.sampling) < CT_SAMPLING_420 ||
      number_in(options.sampling) > CT_SAMPLING_RGB)
    return wrong("sampling is one of CtSampling", number_in(options.sampling));
  if (number_in(options.preset) < CT_PRESET_ANNEX_K ||
      number_in(options.preset) > CT_PRESET_PERCEPTUAL)
    return wrong("preset is one of CtPreset", number_in(options.preset));
  if (number_in(options.quantizer) < CT_QUANTIZER_ROUND ||
      number_in(options.quantizer) > CT_QUANTIZER_RD)
    return wrong("quantizer is one of CtQuantizer", number_in(options.quantizer));
  if (number_in(options.method) < CT_METHOD_ISLOW || number_in(options.method) > CT_METHOD_SHUFFLE)
    return wrong("method is one of CtMethod", number_in(options.method));
  if (options.target_size < 0) return wrong("target_size is 0 or more", options.target_size);
  if (options.max_size < 0) return wrong("max_size is 0 or more", options.max_size);
  if (has_size(options)) {
    const char* const name = options.target_size > 0 ? "target_size" : "max_size";
    const char* const excluded = options.progressive != 0  ? "progressive"
                                 : options.arithmetic != 0 ? "arithmetic"
                                 : options.n_tables != 0   ? "tables"
                                                           : nullptr;
    if (excluded != nullptr)
      return report(CT_INVALID_ARGUMENT, std::string(name) + " excludes " + excluded, error);
    if (options.max_size > 0 && options.target_size > options.max_size)
      return wrong("target_size is at most max_size", options.target_size);
  }
  if (options.n_tables < 0 || options.n_tables > 2 ||
      (options.n_tables > 0 && options.tables == nullptr))
    return wrong("tables are none, one or two", options.n_tables);
  for (int t = 0; t < options.n_tables; ++t)
    if (quant_table_of(options.tables[t]).has_zero())
      return wrong("entries of tables are 1 to 65535", 0);
  if (options.restart < 0 || options.restart > 65535)
    return wrong("a restart interval is 0 to 65535 MCUs", options.restart);
  if (options.markers_size > 0 && options.markers == nullptr)
    return report(CT_INVALID_ARGUMENT, "markers are NULL, but their size is not 0", error);
  return CT_OK;
}

// On the device, whose lanes take one chunk after another.
void encode_on_device(CtEngine& engine, const CtEncodeOptions& options, const CtImage* images,
                      size_t count, CtFile* files) {
  const auto done = std::make_shared<Latch>(1);
  const auto end = [done] { done->step(); };
  // Lanes read images and write files until then, also where memory runs out here.
  const struct Wait {
    Latch& done;
    ~Wait() {
      done.step();
      done.wait();
    }
  } wait{*done};
  std::unique_ptr<EncodeChunk> chunk;
  const auto send = [&] {
    if (!chunk || chunk->count() == 0) return;
    done->add();
    if (count == 1)
      engine.lanes->run(*chunk);
    else
      engine.lanes->add(std::move(chunk));
  };
  for (size_t i = 0; i < count; ++i) {
    if (chunk && chunk->add(images[i], &files[i])) continue;
    send();
    chunk = std::make_unique<EncodeChunk>(engine, options, end);
    (void)chunk->add(images[i], &files[i]);
  }
  send();
}

// Options and a place for each file.
CtCode begin_files(CtEngine* engine, const CtEncodeOptions* options, const void* items,
                   size_t count, CtFile* files, CtEncodeOptions* own, CtError* error) {
  if (engine == nullptr || ((items == nullptr || files == nullptr) && count > 0))
    return report(CT_INVALID_ARGUMENT, "engine, images or files are NULL", error);
  if (is_forked(*engine)) return report_forked(error);
  if (const CtCode code = copy_options(options, own, error); code != CT_OK) return code;
  std::fill_n(files, count, CtFile{});
  return check(*own, error);
}

}  // namespace
}  // namespace cudatransform::core

using namespace cudatransform::core;  // for the public functions below

struct CtDecoder {
  CtEngine* engine;
  std::mutex pushes, pulls;  // one of each at a time
  std::unique_ptr<JpegBatches> batches;
};

CtEngine::CtEngine() : items(std::make_unique<JpegItems>()) {}
CtEngine::~CtEngine() = default;

const char* ct_version(void) { return CT_VERSION; }

CtCode ct_engine_new(const CtEngineOptions* options, CtEngine** engine, CtError* error) {
  return guarded(error, [&] {
    if (engine == nullptr) return report(CT_INVALID_ARGUMENT, "engine is NULL", error);
    CtEngineOptions own;
    if (const CtCode code = copy_options(options, &own, error); code != CT_OK) return code;
    if (options == nullptr) own.device = -1;
    if (own.threads < 0 || own.threads > 1024)
      return report(CT_INVALID_ARGUMENT,
                    "threads are 0 to 1024, not " + std::to_string(own.threads), error);
    auto made = std::make_unique<CtEngine>();
    if (const auto status = fill(*made, own); !status.ok()) return report(status, error);
    *engine = made.release();
    return CT_OK;
  });
}

void ct_engine_free(CtEngine* engine) {
  if (engine == nullptr) return;
  // A forked child has neither the threads nor the device.
  if (is_forked(*engine)) return;
  engine->blocks->close();
  engine->files->close();
  // They may be about to return from idle lanes.
  engine->threads.reset();
  delete engine;
}

CtCode ct_engine_set_max_device_memory(CtEngine* engine, uint64_t bytes, CtError* error) {
  return guarded(error, [&] {
    const CtCode code = check(engine, error);
    if (code == CT_OK) engine->blocks->limit(bytes);
    return code;
  });
}

CtCode ct_block_new(CtEngine* engine, size_t bytes, CtBlock** block, void** data, CtError* error) {
  return guarded(error, [&] {
    if (const CtCode code = check(engine, error); code != CT_OK) return code;
    if (block == nullptr || data == nullptr)
      return report(CT_INVALID_ARGUMENT, "block or data is NULL", error);
    const auto status = engine->blocks->take(bytes, block);
    if (status.ok()) *data = (*block)->data();
    return report(status, error);
  });
}
void ct_block_ref(CtBlock* block) {
  if (block != nullptr) ref(block);
}
void ct_block_unref(CtBlock* block) { unref(block); }

CtCode ct_copy_to_host(CtEngine* engine, void* to, int64_t to_pitch, const void* from,
                       int64_t from_pitch, size_t row_bytes, size_t rows, CtError* error) {
  return guarded(error, [&] {
    if (engine == nullptr || to == nullptr || from == nullptr)
      return report(CT_INVALID_ARGUMENT, "engine, to or from is NULL", error);
    if (is_forked(*engine)) return report_forked(error);
    return report(copy_to_host(*engine, to, to_pitch, from, from_pitch, row_bytes, rows), error);
  });
}

void ct_picture_clear(CtPicture* picture) {
  unref(picture->block);
  unref(picture->rest);
  *picture = {};
}

void ct_pictures_clear(CtPicture* pictures, size_t count) {
  for (size_t i = 0; i < count; ++i) ct_picture_clear(&pictures[i]);
}

namespace {

// Checks the arguments, and makes what decodes.
CtCode make_batches(CtEngine* engine, const CtDecodeOptions* options,
                    std::unique_ptr<JpegBatches>* batches, CtError* error) {
  CtDecodeOptions own;
  CtCode code = check(engine, error);
  if (code == CT_OK) code = copy_options(options, &own, error);
  if (code == CT_OK) code = check(own, error);
  return code == CT_OK ? report(JpegBatches::make(*engine, own, batches), error) : code;
}

CtCode decode_now(CtEngine* engine, const CtDecodeOptions* options, const CtSource& source,
                  CtPicture* picture, CtError* error) {
  return guarded(error, [&] {
    std::unique_ptr<JpegBatches> batches;
    const CtCode code = make_batches(engine, options, &batches, error);
    if (code == CT_OK) batches->decode_now(source, picture);
    return code;
  });
}

}  // namespace

CtCode ct_decoder_new(CtEngine* engine, const CtDecodeOptions* options, CtDecoder** decoder,
                      CtError* error) {
  return guarded(error, [&] {
    if (decoder == nullptr) return report(CT_INVALID_ARGUMENT, "decoder is NULL", error);
    auto made = std::make_unique<CtDecoder>();
    made->engine = engine;
    const CtCode code = make_batches(engine, options, &made->batches, error);
    if (code == CT_OK) *decoder = made.release();
    return code;
  });
}

void ct_decoder_free(CtDecoder* decoder) {
  if (decoder == nullptr || is_forked(*decoder->engine)) return;
  CtEngine& engine = *decoder->engine;
  delete decoder;
  // A decoder of batches has filled more memory than single files need.
  engine.blocks->trim(kMaxKept);
  engine.files->trim(kMaxKept);
  if (engine.lanes) engine.lanes->trim();
}

CtCode ct_decoder_push(CtDecoder* decoder, const CtSource* sources, size_t count, CtError* error) {
  return guarded(error, [&] {
    if (decoder == nullptr || (sources == nullptr && count > 0))
      return report(CT_INVALID_ARGUMENT, "decoder or sources are NULL", error);
    if (is_forked(*decoder->engine)) return report_forked(error);
    const std::lock_guard lock(decoder->pushes);
    decoder->batches->push({sources, count});
    return CT_OK;
  });
}

CtCode ct_decoder_pull(CtDecoder* decoder, CtPicture* pictures, size_t count, int32_t timeout_ms,
                       int32_t* is_done, CtError* error) {
  return guarded(error, [&] {
    if (decoder == nullptr || (pictures == nullptr && count > 0))
      return report(CT_INVALID_ARGUMENT, "decoder or pictures are NULL", error);
    if (is_forked(*decoder->engine)) return report_forked(error);
    const std::lock_guard lock(decoder->pulls);
    const size_t oldest = decoder->batches->oldest_count();
    if (oldest == 0) return report(CT_INVALID_ARGUMENT, "no batch has been pushed", error);
    if (count != oldest && !(count == 0 && oldest == 1))
      return report(CT_INVALID_ARGUMENT,
                    "the oldest batch has " + std::to_string(oldest) + " pictures, not " +
                        std::to_string(count),
                    error);
    const bool done = decoder->batches->wait(timeout_ms);
    if (is_done != nullptr) *is_done = done ? 1 : 0;
    if (done) decoder->batches->take(pictures);
    return CT_OK;
  });
}

CtCode ct_decode(CtEngine* engine, const CtDecodeOptions* options, const CtSource* sources,
                 size_t count, CtPicture* pictures, CtError* error) {
  if (count == 1 && sources != nullptr && pictures != nullptr)
    return decode_now(engine, options, sources[0], pictures, error);
  CtDecoder* decoder = nullptr;
  CtCode code = ct_decoder_new(engine, options, &decoder, error);
  if (code == CT_OK) code = ct_decoder_push(decoder, sources, count, error);
  if (code == CT_OK) code = ct_decoder_pull(decoder, pictures, count, -1, nullptr, error);
  ct_decoder_free(decoder);
  return code;
}

CtCode ct_decode_image(CtEngine* engine, const CtDecodeOptions* options, const CtSource* source,
                       CtImage* image, CtBlock** block, CtError* error) {
  if (source == nullptr || image == nullptr || block == nullptr)
    return report(CT_INVALID_ARGUMENT, "source, image or block is NULL", error);
  CtDecodeOptions own;
  CtCode code = check(engine, error);
  if (code == CT_OK) code = copy_options(options, &own, error);
  if (code != CT_OK) return code;
  if (number_in(own.output) == CT_OUTPUT_COEFFICIENTS)
    return report(CT_INVALID_ARGUMENT, "an image has pixels, not quantized coefficients", error);
  own.struct_size = sizeof own;
  CtPicture picture = {};
  code = decode_now(engine, &own, *source, &picture, error);
  if (code != CT_OK) return code;
  if (error != nullptr) *error = picture.error;
  *image = {picture.data,   picture.pitch,    picture.width,
            picture.height, picture.channels, engine->is_cuda() ? 1 : 0};
  *block = picture.block;
  return CT_OK;
}

void ct_file_clear(CtFile* file) {
  unref(file->block);
  *file = {};
}

void ct_files_clear(CtFile* files, size_t count) {
  for (size_t i = 0; i < count; ++i) ct_file_clear(&files[i]);
}

CtCode ct_encode(CtEngine* engine, const CtEncodeOptions* options, const CtImage* images,
                 size_t count, CtFile* files, CtError* error) {
  return guarded(error, [&] {
    CtEncodeOptions own;
    if (const CtCode code = begin_files(engine, options, images, count, files, &own, error);
        code != CT_OK)
      return code;
    if (engine->lanes && EncodeChunk::takes(own)) {
      if (const auto status = EncodeChunk::probe(*engine->device); !status.ok())
        return report(status, error);
      encode_on_device(*engine, own, images, count, files);
    } else {
      engine->threads->run_here(
          count, [&](size_t i) { encode_on_host(*engine, own, images[i], &files[i]); });
    }
    return CT_OK;
  });
}

namespace {

// make(engine, options, picture, file) makes a file of a picture of quantized coefficients.
template <typename Make>
CtCode make_files(CtEngine* engine, const CtEncodeOptions* options, const CtPicture* pictures,
                  size_t count, CtFile* files, CtError* error, const Make& make) {
  return guarded(error, [&] {
    CtEncodeOptions own;
    if (const CtCode code = begin_files(engine, options, pictures, count, files, &own, error);
        code != CT_OK)
      return code;
    engine->threads->run_here(count, [&](size_t i) { make(*engine, own, pictures[i], &files[i]); });
    return CT_OK;
  });
}

}  // namespace

CtCode ct_write(CtEngine* engine, const CtEncodeOptions* options, const CtPicture* pictures,
                size_t count, CtFile* files, CtError* error) {
  return make_files(engine, options, pictures, count, files, error, write_on_host);
}

CtCode ct_reencode(CtEngine* engine, const CtEncodeOptions* options, const CtPicture* pictures,
                   size_t count, CtFile* files, CtError* error) {
  return make_files(engine, options, pictures, count, files, error, reencode_on_host);
}
