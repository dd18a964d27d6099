// Makes streams of Dirac for benchmarks: pictures of one kind at a bit rate, byte for byte the same
// on every machine.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// make_dirac [--kind=inter|intra|vlc] [--source=photograph|gradient|noise] [--rate=MBITS]
//            [--pictures=N] [--size=WxH] [--threads=N] FILE.drc
//
// The rate is for 25 pictures a second. What the benchmarks of cudadiracdec are about:
//   make_dirac --rate=2 inter-2.drc           1080p, 500 pictures
//   make_dirac --rate=42 inter-42.drc
//   make_dirac --kind=intra --rate=100 intra-100.drc
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/bench/dirac/group.h"
#include "tests/dirac/encoder/stream.h"

namespace {

using namespace cudatransform;
using namespace cudatransform::test;

constexpr int kPicturesASecond = 25;
constexpr uint32_t kCustomFormat = 0;
constexpr uint32_t kMajorVersion = 2, kMinorVersion = 2, kMainProfile = 8, kMainLevel = 128;

struct Options {
  std::string kind = "inter", source = "photograph", path;
  double megabits = 2;
  int pictures = 500, width = 1920, height = 1080;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
};

bool parse(int argc, char** argv, Options* o) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto value = [&](std::string_view name) {
      return argument.starts_with(name) ? argv[i] + name.size() : nullptr;
    };
    if (const char* text = value("--kind=")) {
      o->kind = text;
    } else if (const char* text = value("--source=")) {
      o->source = text;
    } else if (const char* text = value("--rate=")) {
      o->megabits = std::atof(text);
    } else if (const char* text = value("--pictures=")) {
      o->pictures = std::atoi(text);
    } else if (const char* text = value("--threads=")) {
      o->threads = std::atoi(text);
    } else if (const char* text = value("--size=")) {
      if (std::sscanf(text, "%dx%d", &o->width, &o->height) != 2) return false;
    } else if (argument.starts_with("--") || !o->path.empty()) {
      return false;
    } else {
      o->path = argument;
    }
  }
  constexpr int kMaxSide = 8192;
  const bool sized = o->width >= 64 && o->height >= 64 && o->width <= kMaxSide &&
                     o->height <= kMaxSide && o->width % 2 == 0 && o->height % 2 == 0;
  return !o->path.empty() && sized && o->megabits > 0 && o->pictures > 0 && o->threads > 0;
}

DiracSequence sequence_of(const Options& options) {
  DiracSequence s;
  s.major_version = kMajorVersion;
  s.minor_version = kMinorVersion;
  s.profile = kMainProfile;
  s.level = kMainLevel;
  s.base_format = kCustomFormat;
  s.width = s.clean_width = static_cast<uint32_t>(options.width);
  s.height = s.clean_height = static_cast<uint32_t>(options.height);
  s.chroma = DiracChroma::k420;
  s.frame_rate = {kPicturesASecond, 1};
  s.range[0] = {0, 255};
  s.range[1] = {128, 255};
  return s;
}

// Codes all groups in as many threads as the user wants.
std::vector<std::vector<DiracUnit>> code_groups(const Scene& scene, const GroupSettings& settings,
                                                const Options& options) {
  const int count = (options.pictures + kPicturesOfAGroup - 1) / kPicturesOfAGroup;
  std::vector<std::vector<DiracUnit>> groups(static_cast<size_t>(count));
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) {
      try {
        const int first = i * kPicturesOfAGroup;
        groups[static_cast<size_t>(i)] = code_group(
            scene, settings, first, std::min(first + kPicturesOfAGroup, options.pictures));
        std::fprintf(stderr, "group %d of %d\n", i + 1, count);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        return;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < std::min(options.threads, count); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return groups;
}

void make(const Options& options) {
  const std::map<std::string, SceneKind> sources = {{"photograph", SceneKind::kPhotograph},
                                                    {"gradient", SceneKind::kGradient},
                                                    {"noise", SceneKind::kNoise}};
  if (sources.count(options.source) == 0)
    throw std::runtime_error("no source is called " + options.source);
  GroupSettings settings;
  settings.sequence = sequence_of(options);
  settings.is_intra = options.kind != "inter";
  settings.coding = options.kind == "vlc" ? DiracCoding::kVlc : DiracCoding::kArithmetic;
  settings.bits_of_a_picture = options.megabits * 1e6 / kPicturesASecond;
  const Scene scene(sources.at(options.source), options.width, options.height);
  StreamWriter writer;
  for (const auto& group : code_groups(scene, settings, options)) {
    writer.add_sequence(settings.sequence);
    for (const auto& [code, data] : group) writer.add_unit(code, data);
  }
  writer.add_unit(0x10, {});
  std::ofstream file(options.path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(writer.bytes().data()),
             static_cast<std::streamsize>(writer.bytes().size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + options.path);
  std::printf(
      "%s: %d pictures, %zu bytes, %.2f Mbit/s\n", options.path.c_str(), options.pictures,
      writer.bytes().size(),
      8e-6 * static_cast<double>(writer.bytes().size()) * kPicturesASecond / options.pictures);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bool sound = parse(argc, argv, &options);
  if (!sound || (options.kind != "inter" && options.kind != "intra" && options.kind != "vlc")) {
    std::fprintf(stderr,
                 "make_dirac [--kind=inter|intra|vlc] [--source=photograph|gradient|noise] "
                 "[--rate=MBITS] [--pictures=N] [--size=WxH] [--threads=N] FILE.drc\n");
    return 2;
  }
  try {
    make(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_dirac: %s\n", error.what());
    return 1;
  }
  return 0;
}
