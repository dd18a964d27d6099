// The JPEG elements' speed, from memory to frames and back, compared with GStreamer's and bare
// loops of libjpeg-turbo.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Detailed 4:2:0 pictures of quality 90, 1080p and, where the name says so, 4K. All contestants
// take turns, some seconds each, and count by medians: a machine that others use as well slows all
// of them alike. Counters:
//   ms/frame    between two frames at the sink, so without the start of a pipeline; "one at a
//   time":
//               from a picture's way in to its way out
//   frames/s
//   GB/s        of files
//   x jpegdec   how many times as fast as jpegdec with its own settings (decoding)
//   x jpegenc   likewise (encoding)
//   x bare      how many times as fast as libjpeg-turbo's raw-data loop on one thread
//   x jpegtran  how many times as fast as libjpeg-turbo on all cores (turning)
// --engine=cuda adds the lines that need a GPU; --seconds=S: of all turns together, 60 by default;
// --frames=N: of each turn, for a quick look. --only=TEXT: contestants with that in their names;
// several, by "|", whole names behind "=", which may begin with "decode:", "encode:" or "turn:".
// --verbose: says each turn's figure immediately.
#include <benchmark/benchmark.h>
#include <gst/gst.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/bench/common.h"
#include "tests/bench/jpeg/contestants.h"
#include "tests/bench/jpeg/pictures.h"
#include "tests/bench/pipeline/line.h"
#include "tests/bench/turns.h"

namespace cudatransform::bench {
namespace {

constexpr int kPictures = 8, kLargePictures = 4;
constexpr int kSmallWidths[] = {160, 256, 320, 480, 640, 960, 1280};
int frames_of_turn = 40;  // --frames=; times the cores where all of them work
int skipped = 24;         // frames at the start of a turn that are not counted

using Job = JpegJob;

struct Contestant {
  std::string name;
  Job job;
  const JpegSet* set;
  std::function<double()> turn;  // seconds a frame
  std::vector<double> seconds;
};

JpegSet hd = {"1080p", JpegPicture::kWidth, JpegPicture::kHeight, {}};
JpegSet large = {"4K", 2 * JpegPicture::kWidth, 2 * JpegPicture::kHeight, {}};
std::vector<JpegSet> small;  // ones for which the device should be faster than the cores
std::vector<Contestant> contestants;
double all_seconds = 60;
bool with_cuda = false, verbose = false;
std::string only;

PipeSize dimensions(const JpegSet& set) { return {set.name.c_str(), set.width, set.height}; }
std::string name_of(const std::string& name, const JpegSet& set) {
  return &set == &hd ? name : name + ", " + set.name;
}

bool has_element(const char* name) {
  return gst_registry_check_feature_version(gst_registry_get(), name, 1, 0, 0);
}

void add(Job job, const JpegSet& set, const std::string& name, std::function<double()> turn) {
  contestants.push_back({name_of(name, set), job, &set, std::move(turn), {}});
}

void add_pipeline(Job job, const JpegSet& set, const std::string& name, const std::string& elements,
                  int frames, int before = skipped) {
  // Made in its first turn, kept for the others.
  auto pipeline = std::make_shared<std::unique_ptr<JpegPipeline>>();
  add(job, set, name, [=, &set] {
    if (!*pipeline) *pipeline = std::make_unique<JpegPipeline>(job, set, elements);
    return (*pipeline)->turn(frames, before);
  });
}

void add_pipeline(Job job, const std::string& name, const std::string& elements, int frames) {
  add_pipeline(job, hd, name, elements, frames);
}

void add_loop(Job job, const std::string& name, JpegLoop loop) {
  add(job, hd, name, [=] { return time_jpeg_loop(loop, hd.pictures, frames_of_turn); });
}

// nvJPEG alone, without a pipeline around it.
void add_nvjpeg(Job job, const JpegSet& set, const std::string& name, const NvjpegLoop& loop,
                const std::string& why) {
  if (loop) return add(job, set, name, loop);
  std::fprintf(stderr, "bench_jpeg: without %s: %s\n", name.c_str(), why.c_str());
}

void add_nvjpeg_decoder(const std::string& name, NvjpegBackend backend, NvjpegPixels pixels,
                        int batch, int frames) {
  std::string why;
  const NvjpegLoop loop = nvjpeg_decoder(backend, pixels, batch, hd.pictures, frames, &why);
  add_nvjpeg(Job::kDecode, hd, name, loop, why);
}

void add_nvjpeg_encoder(const JpegSet& set, NvjpegPixels pixels, int threads, int frames) {
  const bool rgb = pixels == NvjpegPixels::kRgb;
  const JpegPicture& picture = set.pictures[0];
  std::string why;
  const NvjpegLoop loop = nvjpeg_encoder(rgb ? rgb_of(picture.file) : picture.i420, pixels,
                                         set.width, set.height, threads, frames, &why);
  add_nvjpeg(Job::kEncode, set,
             std::string("nvJPEG, ") + (rgb ? "RGB, " : "") + std::to_string(threads) +
                 (threads == 1 ? " thread" : " threads"),
             loop, why);
}

// Files, one by one, each from its push to its output.
void add_latency(const JpegSet& set, const std::string& name, const std::string& elements,
                 const char* caps) {
  auto line = std::make_shared<std::unique_ptr<Line>>();
  add(Job::kDecode, set, name, [=, &set] {
    if (!*line) {
      std::vector<const std::vector<uint8_t>*> files;
      for (const JpegPicture& picture : set.pictures) files.push_back(&picture.file);
      *line = std::make_unique<Line>(elements, files, dimensions(set), caps);
      (*line)->latency(skipped);
    }
    return (*line)->latency(4 * frames_of_turn);
  });
}

// Frames that are in CUDA memory already, more than its caches hold.
void add_device_frames(const JpegSet& set, const std::string& name, const std::string& elements,
                       int frames, bool rgb = false) {
  auto line = std::make_shared<std::unique_ptr<Line>>();
  add(Job::kEncode, set, name, [=, &set] {
    if (!*line) {
      std::vector<std::vector<uint8_t>> pictures;
      for (const JpegPicture& picture : set.pictures)
        pictures.push_back(rgb ? rgb_of(picture.file) : picture.i420);
      PipeSize dims = dimensions(set);
      dims.rgb = rgb;
      if (frames_of_turn == 1) dims.ring = 4;
      *line = std::make_unique<Line>(elements, dims, true, "image/jpeg", pictures);
      (*line)->rate(4 * skipped);
    }
    return (*line)->rate(frames);
  });
}

constexpr const char* kFrames = "video/x-raw(memory:CUDAMemory)";
constexpr const char* kRgbFrames = "video/x-raw(memory:CUDAMemory),format=RGB";
constexpr const char* kCoefficients = "video/x-dct(memory:CUDAMemory)";

void add_cuda_decoders(int cores, int many) {
  // Twice as many pictures as cores are in flight, each in newly allocated memory: among the first
  // thousand frames one takes up to three times as long as later ones.
  const int before = skipped + 4 * cores, long_before = skipped + 4 * many;
  const std::string by_cuda = "jpegcoefdec backend=cuda", threads = std::to_string(cores);
  const std::string by_cpu = by_cuda + " entropy-backend=cpu n-threads=" + threads;
  // The decoder keeps the GPU busy, so a transformed frame is done late.
  const std::string inverse = " ! cudaidct8x8 backend=cuda async-depth=16 ! ";
  const std::string coefficients = std::string(" ! ") + kCoefficients;
  add_pipeline(Job::kDecode, "ours, CUDA, codes by CPU", by_cpu + inverse + kFrames, many);
  add_pipeline(Job::kDecode, "ours, CUDA, codes by CPU, coefficients", by_cpu + coefficients, many);
  for (const JpegSet* one : {&hd, &large}) {
    const JpegSet& set = *one;
    // Most of a second, so that neither the start of a turn nor its end shows.
    const int frames = (&set == &large ? 8 : 24) * many;
    const auto add_one = [&](const std::string& name, const std::string& elements) {
      add_pipeline(Job::kDecode, set, name, elements, frames, long_before);
    };
    add_one("ours, CUDA", by_cuda + inverse + kFrames);
    add_one("ours, CUDA, queue", by_cuda + " ! queue" + inverse + kFrames);
    add_one("ours, CUDA, RGB", by_cuda + inverse + kRgbFrames);
    add_one("ours, CUDA, RGB, queue", by_cuda + " ! queue" + inverse + kRgbFrames);
    const std::string resize = inverse + kRgbFrames +
                               " ! cudaresize backend=cuda async-depth=16 ! " + kRgbFrames +
                               ",width=224,height=224";
    add_one("ours, CUDA, RGB at 224x224", by_cuda + resize);
    add_one("ours, CUDA, RGB at 224x224, queue", by_cuda + " ! queue" + resize);
    add_one("ours, CUDA, coefficients", by_cuda + coefficients);
    add_latency(set, "ours, CUDA, one at a time",
                by_cuda + " n-threads=1 ! cudaidct8x8 backend=cuda", kFrames);
    add_latency(set, "ours, CUDA, coefficients, one at a time", by_cuda + " n-threads=1",
                kCoefficients);
  }
  // The size from which on the device is faster.
  for (const JpegSet& set : small) {
    for (const std::string entropy : {"cpu", "cuda"}) {
      const std::string name = "ours, coefficients, codes by " + entropy;
      const std::string decoder = by_cuda + " entropy-backend=" + entropy;
      const bool by_gpu = entropy == "cuda";
      add_pipeline(Job::kDecode, set, name, decoder + coefficients, (by_gpu ? 12 : 4) * many,
                   by_gpu ? long_before : before);
      add_latency(set, name + ", one at a time", decoder + " n-threads=1", kCoefficients);
    }
  }
  if (has_element("nvjpegdec"))
    add_pipeline(Job::kDecode, "nvjpegdec", "nvjpegdec", 5 * frames_of_turn);
  for (const NvjpegPixels pixels : {NvjpegPixels::kPlanes, NvjpegPixels::kRgb}) {
    const std::string rgb = pixels == NvjpegPixels::kRgb ? ", RGB" : "";
    add_nvjpeg_decoder("nvJPEG, hardware" + rgb, NvjpegBackend::kHardware, pixels, 32, many);
    // nvJPEG leaves batches of 100 and less to the CPU, one thread.
    add_nvjpeg_decoder("nvJPEG, gpu_hybrid" + rgb, NvjpegBackend::kGpuHybrid, pixels, 128, many);
  }
}

void add_cuda_encoders(int many) {
  const std::string forward = "cudadct8x8 quality=90 backend=cuda async-depth=4 ! ";
  const std::string coder = "jpegcoefenc backend=cuda";
  const std::string all = forward + coder;
  add_pipeline(Job::kEncode, "ours, CUDA", all + " entropy-backend=cuda", 4 * many);
  add_pipeline(Job::kEncode, "ours, CUDA, optimized", all + " entropy-backend=cuda optimize=true",
               4 * many);
  add_pipeline(Job::kEncode, "ours, CUDA, entropy on the CPU", all + " entropy-backend=cpu", many);
  for (const JpegSet* one : {&hd, &large}) {
    const JpegSet& set = *one;
    const int frames = (&set == &large ? 2 : 6) * many;
    add_device_frames(set, "ours, CUDA memory", all + " entropy-backend=cuda", frames);
    add_device_frames(
        set, "ours, CUDA memory, queue",
        forward + "queue max-size-bytes=0 max-size-time=0 ! " + coder + " entropy-backend=cuda",
        frames);
    add_device_frames(set, "ours, CUDA memory, RGB", all + " entropy-backend=cuda", frames, true);
    // Of 1080p, what quality 85 has. The waits of the one element and the other's work overlap.
    if (&set == &hd)
      add_device_frames(
          set, "ours, CUDA memory, target-size",
          "cudadct8x8 target-size=500000 backend=cuda ! queue ! " + coder + " entropy-backend=cuda",
          many);
    for (const int threads : {1, 16}) {
      add_nvjpeg_encoder(set, NvjpegPixels::kPlanes, threads, many);
      add_nvjpeg_encoder(set, NvjpegPixels::kRgb, threads, many);
    }
    if (has_element("nvjpegenc"))  // from GStreamer 1.26 on
      add_device_frames(set, "nvjpegenc, CUDA memory", "nvjpegenc quality=90", many);
  }
  for (const char* quantizer : {"round", "dead-zone", "rd"})
    add_device_frames(hd, std::string("ours, CUDA memory, quality 80, ") + quantizer,
                      std::string("cudadct8x8 quality=80 quant-preset=perceptual quantizer=") +
                          quantizer + " backend=cuda async-depth=4 ! " + coder +
                          " entropy-backend=cuda",
                      6 * many);
  if (has_element("nvjpegenc"))
    add_pipeline(Job::kEncode, "nvjpegenc", "nvjpegenc quality=90", many);
}

// Files that are rotated by 90 degrees, to files. jpegtran leaves the Huffman tables of Annex K,
// too.
void add_turners(int cores, int many) {
  for (const int threads : {1, cores})
    add(Job::kTurn, hd, threads == 1 ? "jpegtran" : "jpegtran, all cores",
        [=] { return time_jpegtran(hd.pictures, threads == 1 ? frames_of_turn : many, threads); });
  const auto line = [](const std::string& decoder, const std::string& flip,
                       const std::string& encoder) {
    return "jpegcoefdec " + decoder + " ! cudadctflip video-direction=90r " + flip +
           " ! jpegcoefenc " + encoder;
  };
  const std::string cpu = "backend=cpu n-threads=1", all = "backend=cpu";
  add_pipeline(Job::kTurn, "ours", line(cpu, cpu, cpu), frames_of_turn);
  add_pipeline(Job::kTurn, "ours, all cores", line(all, cpu, all), many);
  if (!with_cuda) return;
  const std::string cuda = "backend=cuda", coder = cuda + " entropy-backend=cuda";
  add_pipeline(Job::kTurn, hd, "ours, CUDA", line(coder, cuda, coder), 24 * many,
               skipped + 4 * many);
  add_pipeline(Job::kTurn, hd, "ours, CUDA, queue",
               line(coder, cuda + " ! queue max-size-bytes=0 max-size-time=0", coder), 24 * many,
               skipped + 4 * many);
}

void add_contestants() {
  const std::string cpu = "backend=cpu n-threads=1", all = "backend=cpu";
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int many = frames_of_turn * std::max(1, cores);
  add_pipeline(Job::kDecode, "jpegdec", "jpegdec", frames_of_turn);
  add_pipeline(Job::kDecode, "jpegdec islow", "jpegdec idct-method=islow", frames_of_turn);
  add_loop(Job::kDecode, "bare loop", JpegLoop::kReadRaw);
  add_loop(Job::kDecode, "bare loop, coefficients", JpegLoop::kReadCoefficients);
  add_pipeline(Job::kDecode, "ours", "jpegcoefdec " + cpu + " ! cudaidct8x8 " + cpu,
               frames_of_turn);
  add_pipeline(Job::kDecode, "ours, an eighth of the size",
               "jpegcoefdec " + cpu + " ! cudaidct8x8 scale=eighth " + cpu, frames_of_turn);
  add_pipeline(Job::kDecode, "ours, RGB",
               "jpegcoefdec " + cpu + " ! cudaidct8x8 " + cpu + " ! video/x-raw,format=RGB",
               frames_of_turn);
  add_pipeline(Job::kDecode, "ours, all cores",
               "jpegcoefdec " + all + " ! queue ! cudaidct8x8 " + cpu, many);
  if (with_cuda) add_cuda_decoders(cores, many);
  add_pipeline(Job::kEncode, "jpegenc", "jpegenc quality=90", frames_of_turn);
  add_pipeline(Job::kEncode, "jpegenc islow", "jpegenc quality=90 idct-method=islow", 40);
  add_loop(Job::kEncode, "bare loop", JpegLoop::kWriteRaw);
  const std::string forward = "cudadct8x8 quality=90 ";
  add_pipeline(Job::kEncode, "ours", forward + cpu + " ! jpegcoefenc " + cpu, frames_of_turn);
  add_pipeline(Job::kEncode, "ours, all cores", forward + cpu + " ! jpegcoefenc " + all, many);
  if (with_cuda) add_cuda_encoders(many);
  add_turners(cores, many);
}

// The speed relative to another's, if that has run.
void compare(benchmark::State& state, const Contestant& contestant, const char* counter,
             const char* name) {
  if (contestant.set != &hd) return;
  for (const Contestant& other : contestants)
    if (other.job == contestant.job && other.name == name)
      state.counters[counter] = median(other.seconds) / median(contestant.seconds);
}

std::string job_of(const Contestant& contestant) {
  constexpr const char* kNames[] = {"decode", "encode", "turn"};
  return kNames[static_cast<int>(contestant.job)];
}

void choose_contestants() {
  std::erase_if(contestants, [](const Contestant& contestant) {
    for (std::string rest = only;;) {
      const size_t end = rest.find('|');
      const std::string wanted = rest.substr(0, end);
      if (wanted == "=" + job_of(contestant) + ":" + contestant.name ||
          wanted == "=" + contestant.name || contestant.name.find(wanted) != std::string::npos)
        return false;
      if (end == std::string::npos) return true;
      rest.erase(0, end + 1);
    }
  });
  if (contestants.empty()) throw std::runtime_error("no contestant has that name");
}

void take_turns() {
  take_rounds(all_seconds, 1, [](int) {
    for (Contestant& contestant : contestants) {
      contestant.seconds.push_back(contestant.turn());
      if (verbose)
        std::fprintf(stderr, "%s: %s: %.0f frames/s\n", job_of(contestant).c_str(),
                     contestant.name.c_str(), 1 / contestant.seconds.back());
    }
  });
}

void report(benchmark::State& state, const Contestant& contestant) {
  const double seconds = median(contestant.seconds);
  for (auto _ : state) state.SetIterationTime(seconds);
  state.counters["ms/frame"] = 1e3 * seconds;
  state.counters["frames/s"] = 1 / seconds;
  state.counters["GB/s"] = 1e-9 * contestant.set->file_bytes() / seconds;
  state.counters["bytes/file"] = contestant.set->file_bytes();
  compare(state, contestant, "x jpegdec", "jpegdec");
  compare(state, contestant, "x jpegenc", "jpegenc");
  compare(state, contestant, "x jpegtran", "jpegtran, all cores");
  compare(state, contestant, "x bare", "bare loop");
}

void describe_run() {
  benchmark::AddCustomContext("bytes_per_file",
                              std::to_string(static_cast<size_t>(hd.file_bytes())));
  describe_machine();
  gchar* version = gst_version_string();
  benchmark::AddCustomContext("gstreamer", version);
  g_free(version);
  benchmark::AddCustomContext("rounds", std::to_string(contestants.front().seconds.size()));
}

bool take_option(std::string_view argument) {
  double frames = 0;
  if (argument == "--engine=cuda")
    with_cuda = true;
  else if (argument.starts_with("--only="))
    only = argument.substr(argument.find('=') + 1);
  else if (argument == "--verbose")
    verbose = true;
  else if (has_value(argument, "--frames=", &frames))
    skipped = frames_of_turn = std::max(1, static_cast<int>(frames));
  else
    return has_value(argument, "--seconds=", &all_seconds);
  return true;
}

void run() {
  hd.pictures = make_jpeg_pictures(kPictures);
  if (with_cuda) {
    large.pictures = make_large_jpeg_pictures(hd.pictures, kLargePictures);
    for (const int width : kSmallWidths) {
      const int height = width * 9 / 16;
      small.push_back({std::to_string(width) + "x" + std::to_string(height), width, height,
                       make_small_jpeg_pictures(hd.pictures, width, height)});
    }
  }
  add_contestants();
  choose_contestants();
  take_turns();
  describe_run();
  for (const Contestant& contestant : contestants) {
    const std::string name =
        "engine:jpeg/case:" + job_of(contestant) + "/contestant:" + contestant.name;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&](benchmark::State& state) { report(state, contestant); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace
}  // namespace cudatransform::bench

int main(int argc, char** argv) {
  namespace bench = cudatransform::bench;
  gst_init(&argc, &argv);
  const int status = bench::run_program("bench_jpeg", argc, argv, bench::take_option, [] {
    bench::run();
    return 0;
  });
  bench::contestants.clear();  // pipelines, before GStreamer goes
  return status;
}
