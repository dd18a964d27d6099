// Packed pictures to jobs and back.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/conformance/flat_job.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>

#include "tests/engine/dct8x8/job_runner.h"

namespace cudatransform::test {
namespace {

void require(const Engine& engine, const Status& status) {
  if (!status.ok()) throw std::runtime_error(engine.name + ": " + status.message);
}

// Memory on the engine's side of a packed array.
class Packed {
 public:
  Packed(const Engine& engine, size_t bytes) : engine_(engine), bytes_(bytes) {
    require(engine, engine.device->allocate(MemoryKind::kDevice, bytes, &memory_));
  }
  void* address() const { return memory_->data(); }
  void upload(const void* from) {
    const auto pitch = static_cast<ptrdiff_t>(bytes_);
    require(engine_, engine_.device->upload(engine_.device->queue(QueueKind::kUpload),
                                            {address(), pitch, from, pitch, bytes_, 1}));
  }
  void download(void* to) {
    const auto pitch = static_cast<ptrdiff_t>(bytes_);
    Queue& queue = engine_.device->queue(QueueKind::kDownload);
    FencePtr fence;
    require(engine_, engine_.device->download(queue, {to, pitch, address(), pitch, bytes_, 1}));
    require(engine_, queue.record(&fence));
    require(engine_, fence->wait());
  }

 private:
  const Engine& engine_;
  size_t bytes_;
  std::unique_ptr<Memory> memory_;
};

// A job whose planes are on the engine's side.
struct PackedJob {
  Dct8x8Job job;
  std::vector<Packed> samples, coefs;

  PackedJob(const Engine& engine, Direction direction, const FlatOptions& options,
            const BytePicture& picture, const Qcoefs& qcoefs) {
    job.direction = direction;
    job.method = options.method;
    job.scale = options.scale;
    job.components = static_cast<int>(picture.size());
    for (size_t c = 0; c < picture.size(); ++c) {
      samples.emplace_back(engine, picture[c].samples.size());
      samples.back().upload(picture[c].samples.data());
      coefs.emplace_back(engine, qcoefs[c].size() * 2);
      coefs.back().upload(qcoefs[c].data());
      job.tables[c] = options.tables[c];
      job.coefs[c].data = coefs.back().address();
      job.coefs[c].table = static_cast<int32_t>(c);
      job.coefs[c].blocks_w = (picture[c].width * options.scale + 7) / 8;
      job.coefs[c].blocks_h = (picture[c].height * options.scale + 7) / 8;
      job.coefs[c].pitch = job.coefs[c].blocks_w * 128;
      job.samples[c].data = samples.back().address();
      job.samples[c].width = picture[c].width;
      job.samples[c].height = picture[c].height;
      job.samples[c].pitch = picture[c].width;
    }
  }
};

size_t qcoef_count(const BytePlane& plane) {
  return static_cast<size_t>(plane.blocks_w()) * plane.blocks_h() * 64;
}

}  // namespace

Qcoefs forward_qcoefs(const Engine& engine, const FlatOptions& options, const BytePicture& picture,
                      PictureSums* sums) {
  Qcoefs qcoefs;
  for (const BytePlane& plane : picture) qcoefs.emplace_back(qcoef_count(plane), int16_t{0x5A5A});
  PackedJob packed(engine, Direction::kForward, options, picture, qcoefs);
  std::unique_ptr<Memory> pinned;
  if (sums != nullptr) {
    pinned = make_sums(engine);
    if (!pinned) throw std::runtime_error("no pinned memory");
    packed.job.measure = kMeasureSse | kMeasureZeros;
    packed.job.sums = static_cast<PictureSums*>(pinned->data());
  }
  require(engine, submit_and_wait(engine, *engine.ops, packed.job));
  for (size_t c = 0; c < picture.size(); ++c) packed.coefs[c].download(qcoefs[c].data());
  if (sums != nullptr) std::memcpy(sums, pinned->data(), sizeof *sums);
  return qcoefs;
}

BytePicture inverse_planes(const Engine& engine, const FlatOptions& options, const Qcoefs& qcoefs,
                           const BytePicture& like) {
  BytePicture result = like;
  for (BytePlane& plane : result)
    for (uint8_t& sample : plane.samples) sample ^= 0x55;
  PackedJob packed(engine, Direction::kInverse, options, result, qcoefs);
  require(engine, submit_and_wait(engine, *engine.ops, packed.job));
  for (size_t c = 0; c < like.size(); ++c) packed.samples[c].download(result[c].samples.data());
  return result;
}

std::vector<int16_t> inverse_residuals(const Engine& engine, Method method,
                                       const std::vector<int32_t>& coefs, int blocks_w,
                                       int blocks_h) {
  std::vector<int16_t> result(coefs.size(), int16_t{0x5A5A});
  Packed input(engine, coefs.size() * 4), output(engine, coefs.size() * 2);
  input.upload(coefs.data());
  output.upload(result.data());
  Dct8x8Job job;
  job.direction = Direction::kInverse;
  job.method = method;
  job.type = CoefType::kS32;
  job.quantized = false;
  job.components = 1;
  job.coefs[0].data = input.address();
  job.coefs[0].pitch = static_cast<ptrdiff_t>(blocks_w) * 256;
  job.coefs[0].blocks_w = blocks_w;
  job.coefs[0].blocks_h = blocks_h;
  job.samples[0].data = output.address();
  job.samples[0].type = SampleType::kS16;
  job.samples[0].stride = 2;
  job.samples[0].width = 8 * blocks_w;
  job.samples[0].height = 8 * blocks_h;
  job.samples[0].pitch = 16 * static_cast<ptrdiff_t>(blocks_w);
  require(engine, submit_and_wait(engine, *engine.ops, job));
  output.download(result.data());
  return result;
}

double psnr(const BytePlane& a, const BytePlane& b) {
  double sum = 0;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const double difference = a.samples[i] - b.samples[i];
    sum += difference * difference;
  }
  if (sum == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.samples.size()) / sum);
}

std::string first_difference(const Qcoefs& expected, const Qcoefs& got) {
  for (size_t c = 0; c < expected.size(); ++c) {
    if (expected[c].size() != got[c].size()) return "sizes differ";
    size_t count = 0, first = 0;
    for (size_t i = 0; i < expected[c].size(); ++i)
      if (expected[c][i] != got[c][i] && count++ == 0) first = i;
    if (count != 0)
      return std::to_string(count) + " coefficients differ; component " + std::to_string(c) +
             " block " + std::to_string(first / 64) + " coefficient " + std::to_string(first % 64) +
             ": expected " + std::to_string(expected[c][first]) + ", got " +
             std::to_string(got[c][first]);
  }
  return "";
}

std::string first_difference(const BytePicture& expected, const BytePicture& got) {
  for (size_t c = 0; c < expected.size(); ++c) {
    size_t count = 0, first = 0;
    for (size_t i = 0; i < expected[c].samples.size(); ++i)
      if (expected[c].samples[i] != got[c].samples[i] && count++ == 0) first = i;
    if (count != 0)
      return std::to_string(count) + " samples differ; component " + std::to_string(c) + " (" +
             std::to_string(first % expected[c].width) + "," +
             std::to_string(first / expected[c].width) + "): expected " +
             std::to_string(expected[c].samples[first]) + ", got " +
             std::to_string(got[c].samples[first]);
  }
  return "";
}

}  // namespace cudatransform::test
