// The CUDA engine's resampling: the passes of a batch, with a launch for each kind of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/resize/engine.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "cuda/common/batch_launch.h"
#include "cuda/device/kernel_family.h"
#include "cuda/device/queue.h"
#include "cuda/resize/kernels.h"
#include "cuda/resize/params.h"
#include "cuda/resize/tables.h"
#include "transform/resize/axis.h"
#include "transform/resize/plan.h"

namespace cudatransform {
namespace cuda {

CT_KERNEL_FAMILY(resize_kernels, CT_RESIZE_IMAGES)
CT_KERNEL_FAMILY(resize_batch_kernels, CT_RESIZE_BATCH_IMAGES)

namespace {

// Intermediates of the jobs that are under way together.
constexpr size_t kMaxScratch = size_t{256} << 20;
// Weights that are sent together. New ones are made and copied in as much time as the device needs
// for the pictures, so it begins with some of them.
constexpr size_t kMaxTables = size_t{512} << 10;
constexpr size_t kMaxJobs = 65535;  // of a grid
#define CT_COUNT(...) +1
constexpr uint32_t kPassKernels = CT_RESIZE_PASS_KERNELS(CT_COUNT);
#undef CT_COUNT
constexpr int kStages = 3;  // a reduction, and two passes

ResizeView view_of(const ResizePicture& picture) {
  ResizeView view = {};
  for (int c = 0; c < kMaxResizeChannels; ++c) {
    view.data[c] = static_cast<uint8_t*>(picture.data[c]);
    view.pitch[c] = picture.pitch[c];
  }
  view.width = picture.width;
  view.height = picture.height;
  view.step = picture.step;
  return view;
}

// Channels after the last are never used, but have addresses.
ResizeView with_all_channels(ResizeView view, int channels) {
  for (int c = channels; c < kMaxResizeChannels; ++c) {
    view.data[c] = view.data[0];
    view.pitch[c] = view.pitch[0];
  }
  return view;
}

// ---- Both passes in one kernel ----

struct FusedShape {
  std::shared_ptr<const ResizeAxis> x, y;
  bool rows_first = false;  // the vertical pass
  int32_t channels = 0;     // of the kernel
};

// The maximum number of samples that adjacent outputs read, a multiple of eight.
int32_t largest_window(const ResizeAxis& axis, int32_t outputs) {
  const std::span<const int32_t> bands = axis.bands;
  const size_t step = 2 * static_cast<size_t>(outputs / kResizeBand);
  int32_t largest = 0;
  for (size_t i = 0; i < bands.size(); i += step)
    largest = std::max(largest, bands[std::min(i + step, bands.size()) - 1] - bands[i]);
  return largest;
}

constexpr int32_t round_up(int32_t value, int32_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
// An odd multiple of the bytes that four lanes read of a line: eight lines are in different banks.
constexpr int32_t pitch_of(int32_t bytes, int32_t lanes) {
  return ((bytes + lanes - 1) / lanes | 1) * lanes;
}

// Sets rounds of rows that fit in `room`, 0 if there are none; the size of one.
int64_t place_rows(int64_t room, int32_t rows, ResizeFusedParams* params) {
  const int64_t most = room / params->raw_pitch / kResizeLines * kResizeLines;
  const int64_t rounds = most < kResizeLines ? 0 : (rows + most - 1) / most;
  params->round =
      rounds == 0 ? 0 : round_up(static_cast<int32_t>((rows + rounds - 1) / rounds), kResizeLines);
  return int64_t{params->round} * params->raw_pitch;
}

// The same of bytes of all rows.
int64_t place_columns(int64_t room, int32_t rows, int32_t planes, ResizeFusedParams* params) {
  const int64_t deep = rows + kResizeStep + ResizeAxis::kBandAlignment;
  const int64_t most = room / (deep * planes) / kResizeGroup * kResizeGroup - kResizeGroup;
  params->round =
      most < kResizeGroup ? 0 : static_cast<int32_t>(std::min<int64_t>(most, params->raw_segment));
  params->raw_segment = params->round;
  params->raw_pitch = pitch_of(planes * params->round, kResizeCopyAlignment);
  return deep * params->raw_pitch;
}

// Where a tile's samples and weights are in shared memory; its size, 0 if they take more than
// `limit`.
uint32_t place_fused(const FusedShape& shape, int32_t limit, ResizeFusedParams* params) {
  const int32_t first = kResizeBand << params->first_log;
  const int32_t second = kResizeBand << params->second_log;
  const int32_t results = shape.channels * first * second;
  const int32_t bytes = params->is_packed ? shape.channels : 1;  // from sample to sample
  const int32_t planes = params->is_packed ? 1 : shape.channels;
  const int32_t lanes = bytes == 2 ? 32 : bytes == 4 ? 64 : 16;
  const auto steps_of = [](const ResizeAxis& axis) {
    return (largest_window(axis, kResizeBand) + kResizeStep - 1) / kResizeStep;
  };
  params->first_steps = steps_of(shape.rows_first ? *shape.y : *shape.x);
  params->second_steps = steps_of(shape.rows_first ? *shape.x : *shape.y);
  const int64_t weights = ((int64_t{params->first_steps} << params->first_log) +
                           (int64_t{params->second_steps} << params->second_log)) *
                          kResizeStepWeights;
  const int32_t rows = largest_window(*shape.y, shape.rows_first ? first : second);
  const int64_t row_bytes =
      int64_t{largest_window(*shape.x, shape.rows_first ? second : first)} * bytes +
      kResizeCopyAlignment;
  if (weights > limit || row_bytes * planes > limit || rows > limit) return 0;
  const int32_t segment = round_up(static_cast<int32_t>(row_bytes), kResizeGroup);
  params->between_pitch = shape.rows_first
                              ? pitch_of(planes * segment, lanes)
                              : pitch_of(round_up(rows, kResizeLines), kResizeCopyAlignment);
  params->between_segment = shape.rows_first ? segment : first * params->between_pitch;
  const int64_t between =
      int64_t{params->between_pitch} * first * (shape.rows_first ? 1 : shape.channels);
  // Steps read beyond a window what has no weight.
  const int64_t beyond = int64_t{kResizeStep} * bytes;
  const int64_t room = limit - kResizeHead - between - results - weights - beyond;
  params->raw_segment = segment;
  params->raw_pitch = pitch_of(planes * segment, lanes);
  const int64_t raw = shape.rows_first ? place_columns(room, rows, planes, params)
                                       : place_rows(room - beyond, rows, params) + beyond;
  if (params->round == 0) return 0;
  params->between = kResizeHead + static_cast<int32_t>(raw);
  params->weights = params->between + static_cast<int32_t>(between);
  params->results = params->weights + static_cast<int32_t>(weights + beyond);
  const int64_t all = params->results + results;
  return all <= limit ? static_cast<uint32_t>(all) : 0;
}

bool has_one_round(const FusedShape& shape, const ResizeFusedParams& params) {
  const int32_t down = kResizeBand << params.second_log;
  return shape.rows_first ? params.round >= params.between_segment
                          : params.round >= largest_window(*shape.y, down);
}

// How the kernel reads the input, and which channel of its is which of the picture. Copies of rows
// take fewer instructions than those of 16 bytes, but longer: for `many` tiles.
void set_layout(const ResizeView& from, int channels, bool many, ResizeFusedParams* params) {
  const uint8_t *low = from.data[0], *high = from.data[0];
  for (int c = 1; c < channels; ++c) {
    low = std::min<const uint8_t*>(low, from.data[c]);
    high = std::max<const uint8_t*>(high, from.data[c]);
  }
  bool same_pitch = true, distinct = true, aligned_by_4 = true, aligned_by_16 = true;
  for (int c = 0; c < channels; ++c) {
    same_pitch = same_pitch && from.pitch[c] == from.pitch[0];
    distinct = distinct && std::count(from.data, from.data + channels, from.data[c]) == 1;
  }
  params->is_packed = channels > 1 && from.step >= channels && from.step <= kMaxResizeChannels &&
                      same_pitch && distinct && high - low < from.step;
  params->from = from;
  std::fill(std::begin(params->channel_of), std::end(params->channel_of), -1);
  if (params->is_packed) {
    for (int c = 0; c < channels; ++c) params->channel_of[from.data[c] - low] = c;
    for (int i = 0; i < kMaxResizeChannels; ++i)
      params->from.data[i] = const_cast<uint8_t*>(low) + i;
  } else {
    std::iota(params->channel_of, params->channel_of + channels, 0);
  }
  params->row_bytes = params->is_packed
                          ? (from.width - 1) * from.step + static_cast<int32_t>(high - low) + 1
                          : from.width;
  for (int plane = 0; plane < (params->is_packed ? 1 : channels); ++plane) {
    const uint64_t place = reinterpret_cast<uintptr_t>(params->from.data[plane]) |
                           static_cast<uint64_t>(from.pitch[plane]);
    aligned_by_4 = aligned_by_4 && place % 4 == 0;
    aligned_by_16 = aligned_by_16 && place % 16 == 0;
  }
  params->copies = !params->is_packed && from.step > 1 ? ResizeCopies::kSamples
                   : aligned_by_16 && many             ? ResizeCopies::kRows
                   : aligned_by_16                     ? ResizeCopies::kSixteen
                   : aligned_by_4                      ? ResizeCopies::kFour
                                                       : ResizeCopies::kShifted;
}

bool have_one_format(const ResizeView& a, const ResizeView& b) {
  return a.width == b.width && a.height == b.height && a.step == b.step &&
         std::equal(std::begin(a.pitch), std::end(a.pitch), b.pitch);
}

// CTAs that keep a GPU busy: some for each place of 132 multiprocessors.
constexpr uint64_t kEnoughCtas = 1536;
constexpr uint64_t kMaxWalk = 8;

// Pictures that a CTA takes one after the other, with the same weights.
uint32_t walk_of(uint32_t tiles, size_t pictures) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(uint64_t{tiles} * pictures / kEnoughCtas, 1, kMaxWalk));
}

class Batches {
 public:
  // `tile`: of fused kernels; smaller where its windows do not fit.
  Batches(Device& device, StreamQueue& queue, ResizeKernelChoice choice, int32_t tile)
      : device_(device), queue_(queue), choice_(choice), tile_(tile), tables_(queue) {}

  bool is_full() const {
    return scratch_ > kMaxScratch || tables_.bytes() > kMaxTables || jobs_ == kMaxJobs;
  }

  void add(const ResizeJob& job) {
    ++jobs_;
    const ResizePlan plan = plan_resize(job);
    ResizeView from = with_all_channels(view_of(job.from), job.channels);
    if (plan.premultiplies || job.reduction.exists()) from = add_reduction(job, plan, from);
    ResizePassParams last = params_of(job, from, with_all_channels(view_of(job.to), job.channels));
    last.type = job.type;
    last.table = tables_.add_values(job);
    last.divides = plan.premultiplies;
    if (!plan.filters()) return add_pick(plan, last);
    if (choice_ != ResizeKernelChoice::kPasses && add_fused(job, plan, last)) return;
    const bool both = plan.x.is_filtered && plan.y.is_filtered;
    const bool along_last = plan.y.is_filtered ? plan.rows_first && both : true;
    const ResizeSide& side = along_last ? plan.x : plan.y;
    const auto axis = tables_.add_axis(job.filter, side, &last.axis);
    if (both) {
      const int32_t begin = along_last ? 0 : axis->begin();
      const int32_t rows = along_last ? plan.y.out : axis->end() - begin;
      const ResizeView between = new_view(job.channels, along_last ? plan.x.in : plan.x.out, rows);
      ResizePassParams first = params_of(job, from, between);
      tables_.add_axis(job.filter, along_last ? plan.y : plan.x, &first.axis);
      first.top = begin;  // 0 if it goes down columns
      add_pass(1, along_last ? ResizePass::kDown : ResizePass::kAlong, first);
      last.from = between;
      last.top = begin;
    }
    add_pass(2, along_last ? ResizePass::kAlong : ResizePass::kDown, last);
  }

  Status run() {
    CT_RETURN_IF_ERROR(tables_.send(device_));
    CUdeviceptr scratch = 0;
    if (scratch_ > 0) CT_RETURN_IF_ERROR(queue_.scratch(scratch_, &scratch));
    for (auto& stage : stages_) {
      for (Pass& pass : stage) place(scratch, &pass.params);
      CT_RETURN_IF_ERROR(launch(stage, kResizeThreads));
    }
    for (FusedPass& pass : fused_) place(scratch, &pass.params);
    return launch_fused();
  }

 private:
  struct Pass {
    uint32_t kernel, ctas, shared;
    ResizePassParams params;
  };
  struct FusedPass {
    uint32_t kernel, ctas, shared;
    ResizeFusedParams params;
  };
  struct Kept final : StreamQueue::Kept {
    Staging addresses;
  };

  static ResizePassParams params_of(const ResizeJob& job, const ResizeView& from,
                                    const ResizeView& to) {
    ResizePassParams params = {};
    params.from = from;
    params.to = to;
    params.channels = job.channels;
    return params;
  }

  // Planes in scratch memory, where their addresses are offsets until place().
  ResizeView new_view(int channels, int32_t width, int32_t height) {
    constexpr size_t kAlignment = 256;
    ResizeView view = {};
    const auto pitch = (static_cast<size_t>(width) + 15) / 16 * 16;
    for (int c = 0; c < channels; ++c) {
      view.data[c] = reinterpret_cast<uint8_t*>(kScratch + scratch_);
      view.pitch[c] = static_cast<int64_t>(pitch);
      scratch_ += (pitch * static_cast<size_t>(height) + kAlignment - 1) / kAlignment * kAlignment;
    }
    view.width = width;
    view.height = height;
    view.step = 1;
    return with_all_channels(view, channels);
  }

  ResizeView add_reduction(const ResizeJob& job, const ResizePlan& plan, const ResizeView& from) {
    const ResizeReduction& by = job.reduction;
    const ResizeView to = new_view(job.channels, job.reduced_width(), job.reduced_height());
    ResizePassParams params = params_of(job, from, to);
    params.right = from.width;
    params.bottom = from.height;
    if (by.exists()) {
      params.left = by.left;
      params.top = by.top;
      params.right = by.right;
      params.bottom = by.bottom;
    }
    params.reduce_x = by.x;
    params.reduce_y = by.y;
    params.premultiplies = plan.premultiplies;
    add_pass(0, ResizePass::kReduce, params);
    return to;
  }

  void add_pick(const ResizePlan& plan, ResizePassParams& params) {
    if (plan.picks) {
      params.columns =
          tables_.add_positions(nearest_positions(plan.x.in, plan.x.from, plan.x.to, plan.x.out));
      params.rows =
          tables_.add_positions(nearest_positions(plan.y.in, plan.y.from, plan.y.to, plan.y.out));
    } else {
      params.left = static_cast<int32_t>(plan.x.from);
      params.top = static_cast<int32_t>(plan.y.from);
    }
    add_pass(2, ResizePass::kPick, params);
  }

  void add_pass(int stage, ResizePass kind, ResizePassParams params) {
    params.across = divide_up(params.to.width, kResizeAcross);
    params.by_across = make_divider(params.across);
    stages_[stage].push_back({static_cast<uint32_t>(kind),
                              params.across * divide_up(params.to.height, kResizeRows), 0, params});
  }

  // False where a tile's window does not fit in shared memory.
  bool add_fused(const ResizeJob& job, const ResizePlan& plan, const ResizePassParams& last) {
    if (!plan.x.is_filtered || !plan.y.is_filtered) return false;
    ResizeFusedParams params = {};
    FusedShape shape;
    shape.x = tables_.add_axis(job.filter, plan.x, &params.x);
    shape.y = tables_.add_axis(job.filter, plan.y, &params.y);
    shape.rows_first = plan.rows_first;
    set_layout(last.from, job.channels, tile_ > kResizeSmallTile, &params);
    shape.channels = params.is_packed ? params.from.step : job.channels;
    // Of small windows several CTAs share a multiprocessor.
    Context& context = queue_.context();
    const int32_t all = context.max_shared();
    const int32_t share =
        std::min(all, context.shared_for(resize_ctas(shape.channels, plan.rows_first)));
    const int32_t largest = tile_;
    uint32_t shared = 0;
    const auto places = [&](int32_t tile, int32_t limit) {
      if (tile > largest) return false;
      params.first_log = tile == kResizeLargeTile ? 2 : 1;
      params.second_log = tile == kResizeSmallTile ? 0 : params.first_log;
      return (shared = place_fused(shape, limit, &params)) > 0;
    };
    const bool fits = (places(kResizeLargeTile, share) && has_one_round(shape, params)) ||
                      places(kResizeTile, share) || places(kResizeSmallTile, share) ||
                      places(kResizeSmallTile, all);
    if (!fits) return false;
    params.to = last.to;
    params.channels = job.channels;
    params.divides = last.divides;
    params.type = last.type;
    params.table = last.table;
    params.count = params.walk = 1;
    const int32_t first = kResizeBand << params.first_log;
    const int32_t second = kResizeBand << params.second_log;
    params.across = divide_up(params.to.width, plan.rows_first ? second : first);
    params.by_across = make_divider(params.across);
    const uint32_t down = divide_up(params.to.height, plan.rows_first ? first : second);
    const uint32_t kernel =
        kPassKernels + 2 * static_cast<uint32_t>(shape.channels - 1) + (plan.rows_first ? 1 : 0);
    fused_.push_back({kernel, params.across * down, shared, params});
    return true;
  }

  static void place_view(CUdeviceptr scratch, ResizeView* view) {
    for (uint8_t*& data : view->data) {
      const auto address = reinterpret_cast<uintptr_t>(data);
      if (address >= kScratch)
        data = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(scratch) + address - kScratch);
    }
  }

  void place_axis(ResizeAxisView* axis) const {
    tables_.place(&axis->first);
    tables_.place(&axis->count);
    tables_.place(&axis->weights);
    tables_.place(&axis->bands);
  }

  void place(CUdeviceptr scratch, ResizeFusedParams* params) const {
    place_view(scratch, &params->from);
    place_axis(&params->x);
    place_axis(&params->y);
    tables_.place(&params->table);
  }

  void place(CUdeviceptr scratch, ResizePassParams* params) const {
    place_view(scratch, &params->from);
    place_view(scratch, &params->to);
    place_axis(&params->axis);
    tables_.place(&params->columns);
    tables_.place(&params->rows);
    tables_.place(&params->table);
  }

  static bool have_one_shape(const FusedPass& a, const FusedPass& b) {
    const ResizeFusedParams &x = a.params, &y = b.params;
    return a.kernel == b.kernel && a.ctas == b.ctas && a.shared == b.shared && x.x == y.x &&
           x.y == y.y && have_one_format(x.from, y.from) && have_one_format(x.to, y.to) &&
           x.copies == y.copies && x.is_packed == y.is_packed && x.row_bytes == y.row_bytes &&
           x.first_log == y.first_log && x.second_log == y.second_log && x.channels == y.channels &&
           std::equal(std::begin(x.channel_of), std::end(x.channel_of), y.channel_of) &&
           x.divides == y.divides && x.type == y.type && x.table == y.table;
  }

  bool is_for_tests() const {
    return choice_ == ResizeKernelChoice::kMany || choice_ == ResizeKernelChoice::kManyLarge;
  }

  // Whether pictures of one shape have a launch of their own, which follows the others: where they
  // are all, or enough for a GPU.
  bool are_group(size_t pictures, uint32_t tiles) const {
    return pictures > 1 &&
           (pictures == fused_.size() || tiles * pictures >= kEnoughCtas || is_for_tests());
  }

  // Adjacent pictures of one shape may be a group.
  Status launch_fused() {
    struct Group {
      size_t begin, end;
    };
    std::vector<Group> groups;
    std::vector<FusedPass> rest;
    for (size_t begin = 0, end = 0; begin < fused_.size(); begin = end) {
      while (++end < fused_.size() && have_one_shape(fused_[begin], fused_[end])) {
      }
      if (are_group(end - begin, fused_[begin].ctas))
        groups.push_back({begin, end});
      else
        rest.insert(rest.end(), fused_.begin() + begin, fused_.begin() + end);
    }
    if (!groups.empty()) {
      const void* sent = nullptr;
      CT_RETURN_IF_ERROR(send_addresses(&sent));
      for (const Group& group : groups) {
        FusedPass& first = fused_[group.begin];
        ResizeFusedParams& params = first.params;
        params.pictures = static_cast<const ResizeAddresses*>(sent) + group.begin;
        params.count = static_cast<uint32_t>(group.end - group.begin);
        params.walk = is_for_tests() ? 3 : walk_of(first.ctas, params.count);
        CT_RETURN_IF_ERROR(queue_.launch({resize_kernels(), first.kernel}, first.ctas,
                                         kResizeFusedThreads, params, false,
                                         divide_up(params.count, params.walk), first.shared));
      }
    }
    return launch(rest, kResizeFusedThreads);
  }

  Status send_addresses(const void** address) {
    void* host = nullptr;
    Staging& staging = queue_.kept<Kept>().addresses;
    CT_RETURN_IF_ERROR(staging.begin(device_, fused_.size() * sizeof(ResizeAddresses), &host));
    auto* to = static_cast<ResizeAddresses*>(host);
    for (const FusedPass& pass : fused_) {
      std::copy(std::begin(pass.params.from.data), std::end(pass.params.from.data), to->from);
      std::copy(std::begin(pass.params.to.data), std::end(pass.params.to.data), to->to);
      ++to;
    }
    return staging.end(device_, queue_, address);
  }

  template <typename Kind>
  Status launch(std::vector<Kind>& passes, uint32_t threads) {
    if (passes.empty()) return {};
    if (passes.size() == 1) {
      const KernelKey key = {resize_kernels(), passes[0].kernel};
      return queue_.launch(key, passes[0].ctas, threads, passes[0].params, false, 1,
                           passes[0].shared);
    }
    Batch<decltype(Kind::params)> batch;
    for (const Kind& pass : passes) batch.add(pass.kernel, pass.ctas, pass.params, pass.shared);
    CT_RETURN_IF_ERROR(batch.send(device_, queue_));
    return batch.launch(queue_, resize_batch_kernels(), threads, 0, 1,
                        [](uint32_t kernel) { return kernel; });
  }

  // Above all addresses of a process and a device.
  static constexpr uintptr_t kScratch = uintptr_t{1} << 63;

  Device& device_;
  StreamQueue& queue_;
  const ResizeKernelChoice choice_;
  const int32_t tile_;
  ResizeTables tables_;
  std::vector<Pass> stages_[kStages];
  std::vector<FusedPass> fused_;  // behind reductions
  size_t scratch_ = 0, jobs_ = 0;
};

// Large tiles read less for each output, and compute less besides, if there are enough for a GPU:
// some for each of 132 multiprocessors.
int32_t tile_for(std::span<const ResizeJob> jobs) {
  constexpr uint64_t kFew = 512, kMany = 4096;  // tiles of the middle size
  uint64_t tiles = 0;
  for (const ResizeJob& job : jobs)
    tiles += uint64_t{divide_up(job.to.width, kResizeTile)} * divide_up(job.to.height, kResizeTile);
  return tiles < kFew ? kResizeSmallTile : tiles < kMany ? kResizeTile : kResizeLargeTile;
}

Status submit_all(Device& device, StreamQueue& queue, std::span<const ResizeJob> jobs,
                  ResizeKernelChoice choice) {
  const int32_t tile = choice == ResizeKernelChoice::kMany        ? kResizeTile
                       : choice == ResizeKernelChoice::kManyLarge ? kResizeLargeTile
                                                                  : tile_for(jobs);
  for (size_t i = 0; i < jobs.size();) {
    Batches batches(device, queue, choice, tile);
    while (i < jobs.size() && !batches.is_full()) batches.add(jobs[i++]);
    CT_RETURN_IF_ERROR(batches.run());
  }
  return {};
}

template <ResizeKernelChoice kChoice>
Status submit(Device& device, Queue& queue, std::span<const ResizeJob> jobs, FencePtr* fence) {
  for (const ResizeJob& job : jobs) CT_RETURN_IF_ERROR(validate(job));
  auto* stream = dynamic_cast<StreamQueue*>(&queue);
  CT_RETURN_IF_ERROR(check_queue(device, stream));
  try {
    CT_RETURN_IF_ERROR(submit_all(device, *stream, jobs, kChoice));
  } catch (const std::bad_alloc&) {
    return Status::error(StatusCode::kOutOfMemory, "no host memory for the weights of filters");
  }
  return fence != nullptr ? stream->record(fence) : Status{};
}

}  // namespace
}  // namespace cuda

Status probe_cuda_resize_kernels(Device& device) {
  return cuda::probe_kernel(device, {cuda::resize_kernels(), 0});
}

const ResizeOps& cuda_resize_ops(cuda::ResizeKernelChoice choice) {
  using cuda::ResizeKernelChoice;
  static constexpr ResizeOps kOps = {"cuda", cuda::submit<ResizeKernelChoice::kAuto>};
  static constexpr ResizeOps kMany = {"cuda", cuda::submit<ResizeKernelChoice::kMany>};
  static constexpr ResizeOps kManyLarge = {"cuda", cuda::submit<ResizeKernelChoice::kManyLarge>};
  static constexpr ResizeOps kPasses = {"cuda", cuda::submit<ResizeKernelChoice::kPasses>};
  switch (choice) {
    case ResizeKernelChoice::kMany:
      return kMany;
    case ResizeKernelChoice::kManyLarge:
      return kManyLarge;
    case ResizeKernelChoice::kPasses:
      return kPasses;
    case ResizeKernelChoice::kAuto:
      break;
  }
  return kOps;
}

}  // namespace cudatransform
