// How many JPEG files a second libcudatransform decodes, in batches.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "core/cudatransform.h"

namespace {

const char kUsage[] =
    "bench_batches [OPTION]... FILE...\n"
    "  --device=N     CUDA device; -1: the CPU (default)\n"
    "  --threads=N    of the engine\n"
    "  --batch=N      files in a batch (64); 1: one call of ct_decode() after the other\n"
    "  --batches=N    in flight\n"
    "  --seconds=N    of measurement (2)\n"
    "  --output=rgb|gray|coefficients\n"
    "  --paths        the library reads the files\n"
    "  --stack        pictures of a batch lie in one block\n"
    "  --encode       measures encoding, at quality 90\n"
    "  --size=N       pictures of batches are resampled to N x N normalized float32, by bilinear\n"
    "  --filter=N     or by another one of CtFilter\n"
    "  --crops=N      of N random parts; 0: of new ones all the time\n"
    "  --decoded      measures resampling alone\n"
    "  --compare      measures nothing: compares the device's results with the CPU's\n"
    "Files are taken in rotation. Prints files a second, best of three.\n";

struct Settings {
  CtEngineOptions engine = {sizeof(CtEngineOptions), -1, 0, 0};
  CtDecodeOptions decode = {};
  size_t batch = 64;
  double seconds = 2;
  CtResizeOptions resize = {};
  long crops = -1;
  bool paths = false, compares = false, encodes = false, decoded = false;
  std::vector<std::string> files;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bench_batches: %s\n", what.c_str());
  std::exit(1);
}

bool take(const char* argument, const char* name, std::string* value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0 || argument[length] != '=') return false;
  *value = argument + length + 1;
  return true;
}

Settings read_arguments(int argc, char** argv) {
  Settings settings;
  settings.decode.struct_size = sizeof settings.decode;
  settings.resize.struct_size = sizeof settings.resize;
  settings.resize.filter = CT_BILINEAR;
  for (int i = 1; i < argc; ++i) {
    std::string value;
    if (take(argv[i], "--device", &value))
      settings.engine.device = std::atoi(value.c_str());
    else if (take(argv[i], "--threads", &value))
      settings.engine.threads = std::atoi(value.c_str());
    else if (take(argv[i], "--batch", &value))
      settings.batch = std::strtoull(value.c_str(), nullptr, 10);
    else if (take(argv[i], "--batches", &value))
      settings.decode.batches = std::atoi(value.c_str());
    else if (take(argv[i], "--seconds", &value))
      settings.seconds = std::atof(value.c_str());
    else if (take(argv[i], "--size", &value))
      settings.resize.width = settings.resize.height = std::atoi(value.c_str());
    else if (take(argv[i], "--filter", &value))
      settings.resize.filter = static_cast<CtFilter>(std::atoi(value.c_str()));
    else if (take(argv[i], "--crops", &value))
      settings.crops = std::atol(value.c_str());
    else if (take(argv[i], "--output", &value))
      settings.decode.output = value == "coefficients" ? CT_OUTPUT_COEFFICIENTS
                               : value == "gray"       ? CT_OUTPUT_GRAY
                                                       : CT_OUTPUT_RGB;
    else if (std::strcmp(argv[i], "--paths") == 0)
      settings.paths = true;
    else if (std::strcmp(argv[i], "--encode") == 0)
      settings.encodes = true;
    else if (std::strcmp(argv[i], "--decoded") == 0)
      settings.decoded = true;
    else if (std::strcmp(argv[i], "--compare") == 0)
      settings.compares = true;
    else if (std::strcmp(argv[i], "--stack") == 0)
      settings.decode.stack = 1;
    else if (argv[i][0] == '-')
      fail(std::string("unknown option ") + argv[i] + "\n" + kUsage);
    else
      settings.files.emplace_back(argv[i]);
  }
  if (settings.files.empty() || settings.batch == 0) fail(kUsage);
  return settings;
}

std::vector<char> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The pixels or quantized coefficients of all files, one batch.
std::vector<std::vector<char>> decode_all(const Settings& settings, int32_t device) {
  CtEngineOptions options = settings.engine;
  options.device = device;
  CtEngine* engine = nullptr;
  CtError error;
  if (ct_engine_new(&options, &engine, &error) != CT_OK) fail(error.text);
  std::vector<CtSource> sources;
  for (const std::string& path : settings.files) sources.push_back({nullptr, 0, path.c_str()});
  std::vector<CtPicture> pictures(sources.size());
  if (ct_decode(engine, &settings.decode, sources.data(), sources.size(), pictures.data(),
                &error) != CT_OK)
    fail(error.text);
  std::vector<std::vector<char>> all;
  const auto copy = [&](const void* from, int64_t pitch, size_t row_bytes, size_t rows) {
    std::vector<char>& to = all.back();
    to.resize(to.size() + row_bytes * rows);
    if (ct_copy_to_host(engine, to.data() + to.size() - row_bytes * rows,
                        static_cast<int64_t>(row_bytes), from, pitch, row_bytes, rows,
                        &error) != CT_OK)
      fail(error.text);
  };
  for (CtPicture& picture : pictures) {
    all.emplace_back(picture.error.text, picture.error.text + std::strlen(picture.error.text));
    if (picture.data != nullptr)
      copy(picture.data, picture.pitch, static_cast<size_t>(picture.width * picture.channels),
           static_cast<size_t>(picture.height));
    for (int c = 0; c < picture.components; ++c) {
      const CtComponent& component = picture.component[c];
      copy(component.data, component.pitch, static_cast<size_t>(component.blocks_w) * 128,
           static_cast<size_t>(component.blocks_h));
    }
    ct_picture_clear(&picture);
  }
  ct_engine_free(engine);
  return all;
}

// Whether the device makes of each file what the CPU makes.
void compare(const Settings& settings) {
  const auto host = decode_all(settings, -1), device = decode_all(settings, settings.engine.device);
  size_t different = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    if (host[i] == device[i]) continue;
    std::printf("%s differs\n", settings.files[i].c_str());
    ++different;
  }
  std::printf("%zu files compared, %zu differ\n", host.size(), different);
  if (different > 0) std::exit(1);
}

class Run {
 public:
  explicit Run(const Settings& settings)
      : settings_(settings),
        parts_(static_cast<size_t>(std::max(settings.crops, 0L))),
        pictures_(settings.batch) {
    CtError error;
    if (ct_engine_new(&settings.engine, &engine_, &error) != CT_OK) fail(error.text);
    if (ct_decoder_new(engine_, &settings.decode, &decoder_, &error) != CT_OK) fail(error.text);
    for (const std::string& path : settings.files) bytes_.push_back(bytes_of(path));
  }
  ~Run() {
    ct_decoder_free(decoder_);
    ct_engine_free(engine_);
  }

  // Files a second that are made of the pictures of all files, where the engine has them.
  double measure_encoding(double seconds) {
    using Clock = std::chrono::steady_clock;
    decode_batch();
    std::vector<CtImage> images;
    for (const CtPicture& picture : pictures_) images.push_back(image_of(picture));
    CtEncodeOptions options = {};
    options.struct_size = sizeof options;
    options.quality = 90;
    std::vector<CtFile> made(images.size());
    CtError error;
    const auto encode = [&] {
      if (ct_encode(engine_, &options, images.data(), images.size(), made.data(), &error) != CT_OK)
        fail(error.text);
      for (CtFile& file : made) {
        if (file.error.code != CT_OK) fail(file.error.text);
        by_device_ += static_cast<uint64_t>(file.by_device);
        ct_file_clear(&file);
      }
    };
    encode();
    const auto begin = Clock::now();
    size_t files = 0;
    std::chrono::duration<double> took{0};
    for (; took.count() < seconds; took = Clock::now() - begin, files += images.size()) encode();
    for (CtPicture& picture : pictures_) ct_picture_clear(&picture);
    return static_cast<double>(files) / took.count();
  }
  // Pictures a second that are resampled, of one batch.
  double measure_resampling(double seconds) {
    using Clock = std::chrono::steady_clock;
    decode_batch();
    resize();
    const auto begin = Clock::now();
    size_t pictures = 0;
    std::chrono::duration<double> took{0};
    for (; took.count() < seconds; took = Clock::now() - begin, pictures += pictures_.size())
      resize();
    for (CtPicture& picture : pictures_) ct_picture_clear(&picture);
    return static_cast<double>(pictures) / took.count();
  }
  // Files a second, one call after the other.
  double measure_single(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    size_t files = 0;
    std::chrono::duration<double> took{0};
    for (; took.count() < seconds; took = Clock::now() - begin, ++files) {
      const CtSource source = next_source();
      CtError error;
      CtPicture picture;
      if (ct_decode(engine_, &settings_.decode, &source, 1, &picture, &error) != CT_OK ||
          picture.error.code != CT_OK)
        fail(error.text);
      by_device_ += static_cast<uint64_t>(picture.by_device);
      ct_picture_clear(&picture);
    }
    return static_cast<double>(files) / took.count();
  }
  // Files a second.
  double measure(double seconds) {
    if (settings_.encodes) return measure_encoding(seconds);
    if (settings_.decoded) return measure_resampling(seconds);
    if (settings_.batch == 1) return measure_single(seconds);
    using Clock = std::chrono::steady_clock;
    const size_t ahead = settings_.decode.batches > 0 ? settings_.decode.batches : 3;
    for (size_t i = 0; i < ahead; ++i) push();
    for (size_t i = 0; i < ahead; ++i) pull(true);
    const auto begin = Clock::now();
    size_t files = 0;
    std::chrono::duration<double> took{0};
    for (; took.count() < seconds; took = Clock::now() - begin) {
      pull(true);
      files += settings_.batch;
    }
    for (size_t i = 0; i < ahead; ++i) pull(false);
    return static_cast<double>(files) / took.count();
  }

  uint64_t by_device() const { return by_device_; }

 private:
  CtSource next_source() {
    const size_t i = next_++ % bytes_.size();
    if (settings_.paths) return {nullptr, 0, settings_.files[i].c_str()};
    return {bytes_[i].data(), bytes_[i].size(), nullptr};
  }
  void decode_batch() {
    std::vector<CtSource> sources(settings_.batch);
    for (CtSource& source : sources) source = next_source();
    CtError error;
    if (ct_decode(engine_, &settings_.decode, sources.data(), sources.size(), pictures_.data(),
                  &error) != CT_OK)
      fail(error.text);
  }
  CtImage image_of(const CtPicture& picture) const {
    return {picture.data,   picture.pitch,    picture.width,
            picture.height, picture.channels, settings_.engine.device >= 0 ? 1 : 0};
  }
  void push() {
    std::vector<CtSource> sources(settings_.batch);
    for (CtSource& source : sources) source = next_source();
    CtError error;
    if (ct_decoder_push(decoder_, sources.data(), sources.size(), &error) != CT_OK)
      fail(error.text);
  }
  void pull(bool push_next) {
    CtError error;
    if (ct_decoder_pull(decoder_, pictures_.data(), pictures_.size(), -1, nullptr, &error) != CT_OK)
      fail(error.text);
    if (push_next) push();
    for (CtPicture& picture : pictures_)
      if (picture.error.code != CT_OK) fail(picture.error.text);
    if (settings_.resize.width > 0) resize();
    for (CtPicture& picture : pictures_) {
      by_device_ += static_cast<uint64_t>(picture.by_device);
      ct_picture_clear(&picture);
    }
  }

  // The part of a picture that torchvision's RandomResizedCrop takes.
  CtImage new_part(const CtPicture& picture) {
    std::uniform_real_distribution<double> areas(.08, 1),
        ratios(std::log(3. / 4), std::log(4. / 3));
    CtImage part = image_of(picture);
    do {
      const double area = areas(random_) * picture.width * picture.height;
      const double ratio = std::exp(ratios(random_));
      part.width = static_cast<int32_t>(std::lround(std::sqrt(area * ratio)));
      part.height = static_cast<int32_t>(std::lround(std::sqrt(area / ratio)));
    } while (part.width < 1 || part.height < 1 || part.width > picture.width ||
             part.height > picture.height);
    const int64_t left = random_() % static_cast<uint32_t>(picture.width - part.width + 1);
    const int64_t top = random_() % static_cast<uint32_t>(picture.height - part.height + 1);
    part.data = static_cast<uint8_t*>(picture.data) + top * picture.pitch + left * part.channels;
    return part;
  }
  // The same size, or a new one.
  CtImage part_of(const CtPicture& picture) {
    if (settings_.crops < 0) return image_of(picture);
    if (settings_.crops == 0) return new_part(picture);
    CtImage& known = parts_[part_++ % parts_.size()];
    if (known.width == 0) known = new_part(picture);
    CtImage part = image_of(picture);
    part.width = std::min(part.width, known.width);
    part.height = std::min(part.height, known.height);
    return part;
  }
  void resize() {
    CtResizeOptions options = settings_.resize;
    options.type = CT_FLOAT32;
    options.planar = 1;
    constexpr double kMean[] = {.485, .456, .406}, kDeviation[] = {.229, .224, .225};
    options.mean = kMean;
    options.std = kDeviation;
    std::vector<CtImage> images;
    for (const CtPicture& picture : pictures_) images.push_back(part_of(picture));
    CtBlock* block = nullptr;
    void* data = nullptr;
    CtError error;
    if (ct_resize(engine_, &options, images.data(), nullptr, images.size(), &block, &data,
                  &error) != CT_OK)
      fail(error.text);
    ct_block_unref(block);
  }

  const Settings& settings_;
  std::mt19937 random_;
  std::vector<CtImage> parts_;  // that are known
  size_t part_ = 0;
  CtEngine* engine_ = nullptr;
  CtDecoder* decoder_ = nullptr;
  std::vector<std::vector<char>> bytes_;
  std::vector<CtPicture> pictures_;
  size_t next_ = 0;
  uint64_t by_device_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_arguments(argc, argv);
  if (settings.compares) {
    compare(settings);
    return 0;
  }
  Run run(settings);
  double best = 0;
  for (int i = 0; i < 3; ++i) best = std::max(best, run.measure(settings.seconds));
  std::printf("%.0f files/s, batches of %zu, %" PRIu64 " decoded by the device\n", best,
              settings.batch, run.by_device());
  return 0;
}
