// The list of measured jobs and their sizes.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/gpu/cases.h"

#include <algorithm>

namespace cudatransform::bench {
namespace {

using test::DctSpec;
using test::KernelSize;
using test::PixelFormat;
using test::Sampling;

// One plane, padded to whole 16x16 macroblocks as encoders have it. There are enough sets for more
// than 256 MiB, several times an L2 cache. A graph takes some 400 us: long enough for events, short
// enough for steady clocks.
struct Size {
  const char* name;
  int width, height;
  int visible_height;
  size_t sets, launches;
  int repetitions;
};
constexpr Size k1080p = {"1080p", 1920, 1088, 1080, 48, 96, 60};
constexpr Size k4K = {"4K", 3840, 2176, 2160, 16, 48, 60};
constexpr Size k8K = {"8K", 7680, 4320, 4320, 6, 12, 60};
constexpr Size k32K = {"32K", 32768, 32768, 32768, 2, 2, 24};
constexpr Size kSizes[] = {k1080p, k4K, k8K, k32K};
// Hong's squares, and the whitepaper's picture. Some of Hong's kernels take milliseconds.
constexpr Size kSquares[] = {{"1024", 1024, 1024, 1024, 86, 86, 10},
                             {"2048", 2048, 2048, 2048, 22, 22, 10},
                             {"4096", 4096, 4096, 4096, 6, 6, 10}};
constexpr Size k512 = {"512", 512, 512, 512, 344, 344, 60};

constexpr PixelFormat kI420 = {"I420", Sampling::k420, 8, false};
constexpr PixelFormat kFormats[] = {
    kI420,
    {"Y42B", Sampling::k422, 8, false},
    {"Y444", Sampling::k444, 8, false},
    {"NV12", Sampling::k420, 8, true},
    {"I420_10LE", Sampling::k420, 10, false},
    {"I422_10LE", Sampling::k422, 10, false},
    {"Y444_12LE", Sampling::k444, 12, false},
    {"P010_10LE", Sampling::k420, 10, true},
    {"GRAY16_LE", Sampling::kGray, 16, false},
};
constexpr Method kFast[] = {Method::kFloat, Method::kIslow};
constexpr Method kRoad[] = {Method::kNaive,      Method::kMatrix,  Method::kSeparable,
                            Method::kDecomposed, Method::kShuffle, Method::kReference,
                            Method::kIfast,      Method::kIslow,   Method::kFloat};

class List {
 public:
  List(const Size& size, Direction direction, const char* group)
      : size_(size),
        direction_(direction == Direction::kForward ? "forward" : "inverse"),
        group_(std::string(group) + " " + size.name + " " + direction_) {
    spec_.width = size.width;
    spec_.height = size.height;
    spec_.direction = direction;
  }

  const DctSpec& spec() const { return spec_; }

  // A row of a paper's table, by its own name: `paper`'s kernel, or the spec's method.
  Case& add_paper(const char* kind, const std::string& words, const DctSpec& spec,
                  const char* kernel = nullptr) {
    const PaperKernel* paper = kernel == nullptr ? nullptr : &paper_kernel(kernel);
    DctSpec placed = spec;
    if (paper != nullptr) placed.layout = paper->layout;
    Case& added = append(kind, placed);
    added.name += "/" + words + "/direction:" + direction_;
    added.in_paper = true;
    added.paper = paper;
    return added;
  }

  // A job launched as elements launch it.
  void add_plain(const DctSpec& spec, const std::string& more = "") {
    Case& added = add("plain", spec, more);
    added.plain = true;
    added.dependent_launch = true;
  }

  // A job on each kind of kernel.
  void add_kernels(const DctSpec& spec, const std::string& more = "") {
    using cuda::KernelChoice;
    add("kernels", spec, more + "/kernels:whole").kernels = KernelChoice::kWhole;
    add("kernels", spec, more + "/kernels:edged").kernels = KernelChoice::kEdged;
    add("kernels", spec, more + "/kernels:split").kernels = KernelChoice::kSplit;
    add("kernels", spec, more + "/kernels:general").kernels = KernelChoice::kGeneral;
  }

  // `kind`: the value of "case"; `more`: further pairs.
  Case& add(const char* kind, const DctSpec& spec, const std::string& more = "") {
    Case& added = append(kind, spec);
    added.name +=
        std::string("/method:") + method_name(spec.method) + "/direction:" + direction_ + more;
    return added;
  }

  void add_streams() {
    for (size_t i = 0; i < stream_variants().size(); ++i) {
      Case& added = append("stream", spec_);
      added.name += "/direction:" + direction_ + "/variant:" + stream_variants()[i].name;
      added.stream = static_cast<int>(i);
    }
  }

  std::vector<Case> cases;

 private:
  Case& append(const char* kind, const DctSpec& spec) {
    Case& added = cases.emplace_back();
    added.name = std::string("engine:cuda/case:") + kind + "/size:" + size_.name;
    added.group = group_;
    added.spec = spec;
    added.job = dct_job(spec);
    added.sets = size_.sets;
    added.launches = size_.launches;
    added.repetitions = size_.repetitions;
    return added;
  }

  Size size_;
  std::string direction_, group_;
  DctSpec spec_;
};

// The table of the limit, and its variants on the same buffers.
std::vector<Case> limit_cases(const Size& size, Direction direction) {
  List list(size, direction, "limit");
  list.add_streams();
  for (Method method : kFast) {
    DctSpec spec = list.spec();
    spec.method = method;
    list.add("limit", spec);
    DctSpec plane = spec;
    plane.layout = Layout::kPlane;
    list.add("limit", plane, "/layout:plane");
    DctSpec zigzag = spec;
    zigzag.order = Order::kZigzag;
    list.add("limit", zigzag, "/order:zigzag");
    if (direction == Direction::kForward) {
      DctSpec psnr = spec;
      psnr.measure = kMeasureSse;
      list.add("psnr", psnr);
      for (const Quantizer quantizer : {Quantizer::kDeadZone, Quantizer::kRd}) {
        DctSpec decided = spec;
        decided.quantizer = quantizer;
        list.add("decided", decided, std::string("/quantizer:") + quantizer_name(quantizer));
      }
    }
    if (size.launches < k4K.launches) continue;
    list.add("chain", spec).dependent_launch = true;
    list.add("chain", plane, "/layout:plane").dependent_launch = true;
    list.add_plain(spec);
    list.add_kernels(spec);
  }
  return list.cases;
}

// One set of buffers, for as long as L2 holds it.
std::vector<Case> resident_cases(Direction direction) {
  Size size = k1080p;
  size.sets = 1;
  List list(size, direction, "L2");
  for (Method method : kFast) {
    DctSpec spec = list.spec();
    spec.method = method;
    list.add("L2", spec);
  }
  return list.cases;
}

// Every method as a whole job. Few launches: some take long.
std::vector<Case> ladder_cases(Direction direction) {
  Size size = k4K;
  size.launches = size.sets;
  List list(size, direction, "ladder");
  for (Method method : kRoad) {
    DctSpec spec = list.spec();
    spec.method = method;
    list.add("ladder", spec);
  }
  return list.cases;
}

// GPUDCT's ladder. Four of its steps are methods.
std::vector<Case> gpudct_cases(Size size) {
  size.launches = size.sets;
  List list(size, Direction::kInverse, "gpudct");
  DctSpec spec = list.spec();
  const auto add = [&](const char* step, Method method, const char* kernel = nullptr) {
    spec.method = method;
    list.add_paper("gpudct", std::string("step:") + step, spec, kernel);
  };
  add("naive", Method::kNaive);
  add("lut", Method::kNaive, "gpudct_lut");
  add("separable", Method::kSeparable);
  add("decomposed", Method::kDecomposed);
  add("no_shared", Method::kShuffle);
  add("next", Method::kShuffle, "gpudct_next");
  add("next16", Method::kShuffle, "gpudct_next16");
  return list.cases;
}

// Hong's tables: algorithm/variant.
std::vector<Case> hong_cases(const Size& size) {
  List list(size, Direction::kForward, "hong");
  const auto add = [&](const char* words, const char* kernel) {
    list.add_paper("hong", words, list.spec(), kernel);
  };
  add("algorithm:naive/variant:block", "hong_naive_block");
  add("algorithm:naive/variant:global", "hong_naive_global");
  add("algorithm:naive/variant:shared", "hong_naive_shared");
  add("algorithm:matrix/variant:block", "hong_matrix_block");
  add("algorithm:matrix/variant:global", "hong_matrix_global");
  add("algorithm:matrix/variant:shared", "hong_matrix_shared");
  add("algorithm:rowcolumn/variant:block", "hong_rowcolumn_block");
  return list.cases;
}

// The whitepaper's 16-bit kernel; its other two are methods, in "ladder".
std::vector<Case> whitepaper_cases(const Size& size) {
  List list(size, Direction::kForward, "whitepaper");
  list.add_paper("whitepaper", "kernel:short", list.spec(), "whitepaper_short").exact_as =
      Method::kIfast;
  return list.cases;
}

// Pixel formats at the sizes that video has, one of them odd; all planes of a frame in one job. At
// 8K that of 12 bits alone.
std::vector<Case> format_cases(const Size& size, Direction direction) {
  List list(size, direction, "format");
  const bool is_8k = size.width == k8K.width;
  for (Method method : kFast) {
    DctSpec spec = list.spec();
    spec.method = method;
    spec.height = size.visible_height;
    spec.format = kI420;
    if (size.visible_height == k1080p.visible_height) {
      list.add("planes", spec);
      list.add_plain(spec, "/format:I420");
      // Whole blocks, half again as many as in one plane: the choice of kernels changes here.
      spec.height = size.height;
      list.add_kernels(spec, "/format:I420");
      spec.height = size.visible_height;
    }
    std::string baseline;
    for (const PixelFormat& format : kFormats) {
      if (effective_method(method, format.depth) != method) continue;
      if (is_8k && format.depth != 12 && !baseline.empty()) continue;
      spec.format = format;
      Case& added = list.add("format", spec, std::string("/format:") + format.name);
      if (baseline.empty()) baseline = added.name;
      added.baseline = baseline;
    }
    if (is_8k) continue;
    spec.format = kI420;
    spec.width = size.width - 3;
    spec.height = size.visible_height - 1;
    list.add("format", spec, "/format:I420-odd").baseline = baseline;
  }
  return list.cases;
}

std::vector<Case> scaled_cases(const Size& size) {
  List list(size, Direction::kInverse, "scaled");
  for (Method method : kFast) {
    for (int scale : {2, 4, 8}) {
      DctSpec spec = list.spec();
      spec.method = method;
      spec.scale = scale;
      list.add("scaled", spec, "/scale:" + std::to_string(scale));
    }
  }
  return list.cases;
}

// ---- The other transforms ----

// A picture as video has it, and sets of buffers.
struct OtherSize {
  KernelSize size;
  size_t sets;
};
constexpr OtherSize kOtherSizes[] = {
    {{"1080p", 1920, 1080}, 48}, {{"4K", 3840, 2160}, 16}, {{"8K", 7680, 4320}, 8}};
constexpr OtherSize kSquare = {{"32K", 32768, 32768}, 1};
constexpr size_t kInFlight = 8;

Case& add_other(const OtherSize& of, const test::KernelJob& job, const std::string& group,
                std::vector<Case>* all) {
  Case& added = all->emplace_back();
  added.name = "engine:cuda/case:" + job.kind + "/size:" + of.size.name + "/" + job.keys;
  added.group = job.kind + " " + of.size.name + " " + group;
  added.job = job;
  added.sets = added.launches = of.sets;
  added.plain = job.stages;
  return added;
}

void add_dwt(const OtherSize& of, test::DwtKernel kernel, std::vector<Case>* all) {
  const bool is_video = std::string(of.size.name) == "8K";
  const bool is_large = of.sets == 1;  // one picture of this size fills every GPU
  kernel.gray = is_large;
  const std::string group =
      std::string(wavelet_name(kernel.wavelet)) + " index " + std::to_string(kernel.index);
  const auto add = [&](size_t pictures, const char* more) {
    Case& added = add_other(of, dwt_job(of.size, kernel), group, all);
    added.name += "/pictures:" + std::to_string(pictures) + more;
    added.pictures = pictures;
    added.launches = std::max(of.sets, pictures);  // the same for every set and every stream
    added.dependent_launch = true;
  };
  add(1, "");
  if (is_large) return;
  add(kInFlight, "");
  if (!is_video || kernel.index == 0) return;
  kernel.method = DwtMethod::kSeparableSlab;
  add(kInFlight, "/method:separable-slab");
}

void add_dwts(const OtherSize& of, std::vector<Case>* all) {
  for (int w = 0; w < kWaveletCount; ++w)
    for (const int index : {8, 0})
      for (const Direction direction : {Direction::kForward, Direction::kInverse})
        if (index != 0 || std::string(of.size.name) == "8K")
          add_dwt(of, {static_cast<Wavelet>(w), index, direction}, all);
}

}  // namespace

std::vector<Case> sweep_cases() {
  static constexpr struct {
    const char* name;
    int width, height;
  } kFrames[] = {{"512x512", 512, 512},     {"768x576", 768, 576},     {"1024x768", 1024, 768},
                 {"1280x720", 1280, 720},   {"1600x912", 1600, 912},   {"1920x1088", 1920, 1088},
                 {"2048x1152", 2048, 1152}, {"2304x1296", 2304, 1296}, {"2560x1440", 2560, 1440},
                 {"3072x1728", 3072, 1728}, {"3840x2160", 3840, 2160}};
  std::vector<Case> all;
  for (const auto& frame : kFrames) {
    const size_t bytes = size_t{3} * static_cast<size_t>(frame.width * frame.height);
    const size_t sets = (size_t{300} << 20) / bytes;
    const Size size = {frame.name, frame.width, frame.height, frame.height, sets, sets, 30};
    for (const Direction direction : {Direction::kForward, Direction::kInverse}) {
      List list(size, direction, "sweep");
      for (const Method method : kFast) {
        DctSpec spec = list.spec();
        spec.method = method;
        list.add("sweep", spec, "/kernels:whole").kernels = cuda::KernelChoice::kWhole;
        list.add("sweep", spec, "/kernels:split").kernels = cuda::KernelChoice::kSplit;
      }
      for (Case& one : list.cases) all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  const auto append = [&all](std::vector<Case> some) {
    for (Case& one : some) all.push_back(std::move(one));
  };
  constexpr Direction kDirections[] = {Direction::kForward, Direction::kInverse};
  for (const Size& size : kSizes)
    for (Direction direction : kDirections) append(limit_cases(size, direction));
  for (Direction direction : kDirections) append(resident_cases(direction));
  for (Direction direction : kDirections) append(ladder_cases(direction));
  for (const Size& size : {k4K, k32K}) append(gpudct_cases(size));
  for (const Size& size : kSquares) append(hong_cases(size));
  for (const Size& size : {k512, k4K}) append(whitepaper_cases(size));
  for (const Size& size : {k1080p, k4K, k8K})
    for (Direction direction : kDirections) append(format_cases(size, direction));
  for (const Size& size : {k1080p, k4K}) append(scaled_cases(size));
  for (const OtherSize& of : kOtherSizes) add_dwts(of, &all);
  add_dwts(kSquare, &all);
  for (const auto& jobs_of : {test::rgb_jobs, test::range_jobs, test::resize_jobs, test::apv_jobs,
                              test::filter_jobs, test::transpose_jobs})
    for (const OtherSize& of : kOtherSizes)
      for (const test::KernelJob& job : jobs_of(of.size))
        // Cases that differ in the direction alone are one group.
        add_other(of, job, job.keys.substr(0, job.keys.find("/direction:")), &all);
  return all;
}

}  // namespace cudatransform::bench
