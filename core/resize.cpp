// Batches of pictures resampled to one size, as Pillow does it.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "transform/resize/resize.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/cudatransform.h"
#include "core/engine.h"
#if CT_HAVE_CUDA
#include "cuda/resize/engine.h"
#endif

namespace cudatransform::core {
namespace {

constexpr int kMaxChannels = 4;

Status wrong(const std::string& what) { return Status::error(StatusCode::kInvalidArgument, what); }

// The results' type, and their places in one block.
struct Results {
  ResizeType type = ResizeType::kU8;
  int64_t sample_bytes = 1, picture_bytes = 0;
  bool is_planar = false;
};

bool type_of(CtType type, Results* results) {
  switch (type) {
    case CT_UINT8:
      *results = {ResizeType::kU8, 1};
      return true;
    case CT_FLOAT32:
      *results = {ResizeType::kF32, 4};
      return true;
    case CT_FLOAT16:
      *results = {ResizeType::kF16, 2};
      return true;
    case CT_BFLOAT16:
      *results = {ResizeType::kBf16, 2};
      return true;
    case CT_UINT16:
    case CT_INT16:
    case CT_INT32:
      break;
  }
  return false;
}

Status check(const CtResizeOptions& options, Results* results) {
  const auto most = kMaxResizeSide;
  if (options.width < 1 || options.width > most || options.height < 1 || options.height > most)
    return wrong("a size of " + std::to_string(options.width) + "x" +
                 std::to_string(options.height) + ", expected 1x1 to " + std::to_string(most) +
                 "x" + std::to_string(most));
  const auto check_number = [](const char* name, int number, int last) {
    return number >= 0 && number <= last
               ? Status()
               : wrong(std::string(name) + ", not " + std::to_string(number));
  };
  CT_RETURN_IF_ERROR(
      check_number("filter is one of CtFilter", number_in(options.filter), CT_MKS2021));
  CT_RETURN_IF_ERROR(
      check_number("order is one of CtResizeOrder", number_in(options.order), CT_PILLOW_11));
  CT_RETURN_IF_ERROR(
      check_number("recipe is one of CtRecipe", number_in(options.recipe), CT_HF_FAST));
  CT_RETURN_IF_ERROR(check_number("type is one of CtType", number_in(options.type), CT_BFLOAT16));
  if (!(options.reducing_gap == 0 || options.reducing_gap >= 1))
    return wrong("reducing_gap is 0 or at least 1, not " + std::to_string(options.reducing_gap));
  if (!type_of(options.type, results))
    return wrong("type is CT_UINT8, CT_FLOAT32, CT_FLOAT16 or CT_BFLOAT16, not " +
                 std::to_string(options.type));
  results->is_planar = options.planar != 0;
  return {};
}

void place_input(const CtImage& image, ResizePicture* from) {
  from->width = image.width;
  from->height = image.height;
  from->step = image.channels;
  for (int c = 0; c < image.channels; ++c) {
    from->data[c] = static_cast<uint8_t*>(const_cast<void*>(image.data)) + c;
    from->pitch[c] = static_cast<ptrdiff_t>(image.pitch);
  }
}

void place_output(const CtResizeOptions& options, const Results& results, int channels,
                  uint8_t* data, ResizePicture* to) {
  const int64_t sample = results.sample_bytes;
  const int64_t plane = sample * options.width * options.height;
  to->width = options.width;
  to->height = options.height;
  to->step = static_cast<int32_t>(results.is_planar ? sample : sample * channels);
  for (int c = 0; c < channels; ++c) {
    to->data[c] = data + c * (results.is_planar ? plane : sample);
    to->pitch[c] = static_cast<ptrdiff_t>(to->step) * options.width;
  }
}

Status make_job(const CtEngine& engine, const CtResizeOptions& options, const Results& results,
                const CtImage& image, const CtBox* box, const float* table, uint8_t* data,
                ResizeJob* job) {
  if (image.data == nullptr || image.channels < 1 || image.channels > kMaxChannels)
    return wrong("data is NULL, or there are " + std::to_string(image.channels) +
                 " channels, expected 1 to 4");
  if ((image.on_device != 0) != engine.is_cuda())
    return wrong(engine.is_cuda() ? "is in host memory, expected memory of the engine's device"
                                  : "is in device memory, expected host memory");
  job->channels = image.channels;
  job->has_alpha = options.has_alpha != 0 && image.channels % 2 == 0;
  job->filter = static_cast<ResizeFilter>(options.filter);
  job->order = static_cast<ResizeOrder>(options.order);
  job->type = results.type;
  job->table = table;
  place_input(image, &job->from);
  place_output(options, results, image.channels, data, &job->to);
  job->box =
      box != nullptr ? ResizeBox{box->left, box->top, box->right, box->bottom} : whole_box(*job);
  if (options.reducing_gap >= 1) CT_RETURN_IF_ERROR(set_reducing_gap(options.reducing_gap, job));
  return validate(*job);
}

Status run(CtEngine& engine, std::span<const ResizeJob> jobs) {
  if (engine.is_cuda())
    return run_and_wait(engine, [&](Device& device, Queue& queue) {
      return CT_OPS(device, resize).submit(device, queue, jobs, nullptr);
    });
  std::vector<Status> failures(jobs.size());
  engine.threads->run_here(jobs.size(), [&](size_t i) {
    failures[i] = host_resize_ops().submit(*engine.host, engine.host->queue(QueueKind::kCompute),
                                           jobs.subspan(i, 1), nullptr);
  });
  for (Status& failure : failures) CT_RETURN_IF_ERROR(std::move(failure));
  return {};
}

Status resize(CtEngine& engine, const CtResizeOptions& options, std::span<const CtImage> images,
              const CtBox* boxes, CtBlock** block) {
  Results results;
  CT_RETURN_IF_ERROR(check(options, &results));
  const int channels = images.empty() ? 1 : std::clamp(images[0].channels, 1, kMaxChannels);
  for (const CtImage& image : images)
    if (image.channels != images[0].channels) return wrong("images have different channels");
  results.picture_bytes = results.sample_bytes * channels * options.width * int64_t{options.height};
  std::vector<float> table;
  if (results.type != ResizeType::kU8) {
    table.resize(size_t{256} * static_cast<size_t>(channels));
    const auto given = [&](const double* values) {
      return std::span(values, values != nullptr ? static_cast<size_t>(channels) : 0);
    };
    CT_RETURN_IF_ERROR(make_values(static_cast<ValueRecipe>(options.recipe), channels,
                                   given(options.mean), given(options.std), table.data()));
  }
  CT_RETURN_IF_ERROR(
      engine.blocks->take(static_cast<size_t>(results.picture_bytes) * images.size(), block));
  std::vector<ResizeJob> jobs(images.size());
  for (size_t i = 0; i < images.size(); ++i) {
    Status status =
        make_job(engine, options, results, images[i], boxes != nullptr ? &boxes[i] : nullptr,
                 table.empty() ? nullptr : table.data(),
                 (*block)->data() + results.picture_bytes * static_cast<int64_t>(i), &jobs[i]);
    if (status.ok()) continue;
    status.message = "image " + std::to_string(i) + ": " + status.message;
    return status;
  }
  return jobs.empty() ? Status() : run(engine, jobs);
}

}  // namespace
}  // namespace cudatransform::core

using namespace cudatransform::core;  // for the public functions below

CtCode ct_resize(CtEngine* engine, const CtResizeOptions* options, const CtImage* images,
                 const CtBox* boxes, size_t count, CtBlock** block, void** data, CtError* error) {
  return guarded(error, [&] {
    if (block == nullptr || data == nullptr || (images == nullptr && count > 0))
      return report(CT_INVALID_ARGUMENT, "images, block or data are NULL", error);
    *block = nullptr;
    CtResizeOptions own;
    CtCode code = check(engine, error);
    if (code == CT_OK) code = copy_options(options, &own, error);
    if (code != CT_OK) return code;
    const auto status = resize(*engine, own, {images, count}, boxes, block);
    if (status.ok()) {
      *data = (*block)->data();
    } else {
      ct_block_unref(*block);
      *block = nullptr;
    }
    return report(status, error);
  });
}
