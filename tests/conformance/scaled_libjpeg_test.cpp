// The scaled inverse against libjpeg-turbo, to the last bit: TurboJPEG's planes for every sampling,
// djpeg for gray and 4:4:4.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>
#include <turbojpeg.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>

#include "tests/conformance/flat_job.h"
#include "tests/conformance/test_data.h"
#include "tests/engine/dct8x8/definition.h"
#include "tests/engine/engines.h"
#include "tests/jpeg/codec.h"

namespace cudatransform::test {
namespace {

// ---- JPEG files decoded by TurboJPEG and djpeg ----
//
// Both throw std::runtime_error with their own message.

struct Handle {
  tjhandle tj = tjInitDecompress();
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { tjDestroy(tj); }
  void require(int result) const {
    if (result != 0) throw std::runtime_error(std::string("TurboJPEG: ") + tjGetErrorStr2(tj));
  }
};

// The scale that TurboJPEG takes for a size: the largest one that does not exceed it.
bool picks(int scale, int width, int height) {
  const int w = (width + scale - 1) / scale, h = (height + scale - 1) / scale;
  int count = 0;
  const tjscalingfactor* factors = tjGetScalingFactors(&count);
  for (int i = 0; i < count; ++i) {
    const tjscalingfactor& f = factors[i];
    const bool larger = f.num * scale > f.denom;
    if (larger && TJSCALED(width, f) <= w && TJSCALED(height, f) <= h) return false;
  }
  return true;
}

// TurboJPEG copies rows of the padded width out of a buffer with rows of whole blocks.
bool reads_past_its_rows(int width, int padded_width, int scale) {
  return padded_width > (width + 7) / 8 * (8 / scale);
}

// A file that is deleted with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<uint8_t>& bytes) {
    std::string path = (std::filesystem::temp_directory_path() / "scaled-XXXXXX").string();
    const int file = mkstemp(path.data());
    if (file < 0) throw std::runtime_error("no temporary file");
    const bool written =
        write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    close(file);
    path_ = path;
    if (!written) throw std::runtime_error("could not write " + path);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error("could not run " + command);
  std::string output;
  char buffer[65536];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) output.append(buffer, n);
  return output;
}

// Every component at 1/scale by tjDecompressToYUVPlanes, which keeps the sampling. Visible samples
// only: TurboJPEG's planes are padded to whole MCUs of one sample. `fast`: TJFLAG_FASTDCT. Empty
// where TurboJPEG, which takes sizes instead of a scale, would take a larger scale of the same size
// (pictures of one or two samples); and with CUDATRANSFORM_SANITIZED=1 where TurboJPEG 2.1 reads
// past the end of a row of its own, for samples that are only padding.
BytePicture turbojpeg_planes(const std::vector<uint8_t>& file, int scale, bool fast) {
  const Handle handle;
  int width = 0, height = 0, subsampling = 0, colorspace = 0;
  const auto size = static_cast<unsigned long>(file.size());
  handle.require(tjDecompressHeader3(handle.tj, file.data(), size, &width, &height, &subsampling,
                                     &colorspace));
  if (!picks(scale, width, height)) return {};
  const int w = (width + scale - 1) / scale, h = (height + scale - 1) / scale;
  if (sanitized() && reads_past_its_rows(width, tjPlaneWidth(0, w, subsampling), scale)) return {};
  const int components = subsampling == TJSAMP_GRAY ? 1 : 3;
  BytePicture padded, visible;
  unsigned char* planes[3] = {};
  int strides[3] = {};
  for (int c = 0; c < components; ++c) {
    BytePlane plane{tjPlaneWidth(c, w, subsampling), tjPlaneHeight(c, h, subsampling), {}};
    plane.samples.resize(static_cast<size_t>(plane.width) * plane.height);
    strides[c] = plane.width;
    padded.push_back(std::move(plane));
  }
  for (int c = 0; c < components; ++c) planes[c] = padded[c].samples.data();
  handle.require(tjDecompressToYUVPlanes(handle.tj, file.data(), size, planes, w, strides, h,
                                         fast ? TJFLAG_FASTDCT : TJFLAG_ACCURATEDCT));
  for (int c = 0; c < components; ++c) {
    // TurboJPEG pads luma to a multiple of chroma's step; chroma sizes are rounded up.
    BytePlane plane = {c == 0 ? w : padded[c].width, c == 0 ? h : padded[c].height, {}};
    for (int y = 0; y < plane.height; ++y) {
      const auto row = padded[c].samples.begin() + static_cast<ptrdiff_t>(y) * padded[c].width;
      plane.samples.insert(plane.samples.end(), row, row + plane.width);
    }
    visible.push_back(std::move(plane));
  }
  return visible;
}

// The output of `djpeg -dct METHOD -scale 1/SCALE`, one or three planes: no conversion where the
// file is gray or RGB. Empty where there is no djpeg.
BytePicture djpeg_planes(const std::vector<uint8_t>& file, int scale, const std::string& method) {
  if (std::system("command -v djpeg > /dev/null 2>&1") != 0) return {};
  const TemporaryFile input(file);
  const std::string output = output_of("djpeg -dct " + method + " -scale 1/" +
                                       std::to_string(scale) + " '" + input.path() + "'");
  // djpeg writes netpbm's header without comments, each number after a single white space.
  char kind = 0;
  int width = 0, height = 0, maximum = 0, header = 0;
  if (std::sscanf(output.c_str(), "P%c %d %d %d%n", &kind, &width, &height, &maximum, &header) != 4)
    throw std::runtime_error("djpeg failed");
  const size_t components = kind == '6' ? 3 : 1, samples = static_cast<size_t>(width) * height;
  const size_t first = static_cast<size_t>(header) + 1;
  if (maximum != 255 || output.size() != first + components * samples)
    throw std::runtime_error("djpeg wrote something else than a PGM or PPM");
  BytePicture picture(components, {width, height, std::vector<uint8_t>(samples)});
  for (size_t i = 0; i < components * samples; ++i)
    picture[i % components].samples[i / components] = static_cast<uint8_t>(output[first + i]);
  return picture;
}

// ---- Comparisons ----

constexpr int kScales[] = {2, 4, 8};

struct Score {
  int jobs = 0, unequal = 0, samples = 0;
};
using Scores = std::map<std::string, Score>;

void print_scores(const Scores& scores) {
  for (const auto& [name, score] : scores)
    std::printf("%-24s %5d comparisons, %d unequal; %d samples\n", name.c_str(), score.jobs,
                score.unequal, score.samples);
}

// All engines over one file, against one judge's planes.
void compare(const JpegContents& contents, int scale, const BytePicture& expected,
             const std::string& what, Scores* scores) {
  for (const Engine& engine : engines()) {
    const std::string name = engine.name + " 1/" + std::to_string(scale);
    const FlatOptions options{Method::kIslow, contents.tables, false, scale};
    const std::string difference =
        first_difference(expected, inverse_planes(engine, options, contents.qcoefs, expected));
    EXPECT_EQ(difference, "") << name << ", " << what;
    Score& score = (*scores)[name];
    score.jobs++;
    score.unequal += !difference.empty();
    for (const BytePlane& plane : expected) score.samples += static_cast<int>(plane.samples.size());
  }
}

void compare_with_turbojpeg(const Source& source, int quality, Scores* scores) {
  const std::vector<uint8_t> file =
      jpeg_from_planes(source.planes, source.sampling, source.width, source.height,
                       tables_for(source.planes.size(), quality), Method::kIslow);
  const JpegContents contents = jpeg_qcoefs(file);
  for (const int scale : kScales) {
    const BytePicture expected = turbojpeg_planes(file, scale, false);
    if (expected.empty()) continue;
    const std::string what = source.name + ", quality " + std::to_string(quality);
    for (size_t c = 0; c < expected.size(); ++c) {
      // Scaling a component and subsampling a scaled picture come to the same sizes.
      EXPECT_EQ(expected[c].width, scaled_size(contents.planes[c].width, scale)) << what;
      EXPECT_EQ(expected[c].height, scaled_size(contents.planes[c].height, scale)) << what;
    }
    compare(contents, scale, expected, what, scores);
    // libjpeg's fast method scales by the accurate one's arithmetic, and so do we. (Not compared:
    // 4:2:0 at 1/2, for which TurboJPEG 2.1 gives the scaled inverse the fast method's multipliers
    // for chroma. 4:2:0 at other scales and other samplings at 1/2 show the intention.)
    EXPECT_EQ(effective_method(Method::kIfast, 8, scale), Method::kIslow);
    if (scale == 2 && source.sampling.h == 2 && source.sampling.v == 2) continue;
    EXPECT_EQ(first_difference(expected, turbojpeg_planes(file, scale, true)), "") << what;
  }
}

constexpr std::pair<JpegSampling, size_t> kSamplings[] = {{{1, 1}, 1}, {{1, 1}, 3}, {{2, 1}, 3},
                                                          {{2, 2}, 3}, {{4, 1}, 3}, {{1, 2}, 3}};

TEST(ScaledLibjpeg, Noise) {
  const std::pair<int, int> sizes[] = {{1, 1},   {2, 3},    {7, 9},     {15, 17},  {33, 17},
                                       {65, 50}, {131, 77}, {160, 128}, {163, 125}};
  Scores scores;
  std::mt19937 random(1);
  for (const auto& [width, height] : sizes)
    for (const auto& [sampling, components] : kSamplings)
      for (const int quality : kQualities)
        compare_with_turbojpeg(
            make_source("noise", sampling, components, width, height,
                        [&](size_t, int, int) { return static_cast<uint8_t>(random()); }),
            quality, &scores);
  print_scores(scores);
  EXPECT_FALSE(scores.empty());
}

// Samples that drive coefficients to their limits. libjpeg refuses to code them above quality 90.
TEST(ScaledLibjpeg, Extremes) {
  Scores scores;
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const Picture picture = make_picture(Sampling::kGray, 512, 128, 8, Content::kExtreme, seed);
    for (const int quality : {1, 5, 25, 50, 75, 90})
      compare_with_turbojpeg(make_source("extremes", {1, 1}, 1, 512, 128,
                                         [&](size_t, int x, int y) { return picture[0].at(x, y); }),
                             quality, &scores);
  }
  print_scores(scores);
}

TEST(ScaledLibjpeg, Barbara) {
  const std::string path = find_test_data("barbara.pgm");
  if (path.empty()) GTEST_SKIP() << "no barbara.pgm";
  BytePlane plane;
  std::string error;
  ASSERT_TRUE(read_pgm(path, &plane, &error)) << error;
  Scores scores;
  for (const int quality : kQualities)
    compare_with_turbojpeg({"Barbara", {1, 1}, plane.width, plane.height, {plane}}, quality,
                           &scores);
  print_scores(scores);
}

TEST(ScaledLibjpeg, Cathedral) {
  const std::vector<uint8_t> file = read_test_data("006mp-cathedral.jpg");
  if (file.empty()) GTEST_SKIP() << "no 006mp-cathedral.jpg";
  const JpegContents contents = jpeg_planes(file, Method::kIslow);
  ASSERT_EQ(contents.planes.size(), 3u);
  Scores scores;
  const JpegContents own = jpeg_qcoefs(file);
  for (const int scale : kScales)
    compare(own, scale, turbojpeg_planes(file, scale, false), "the file itself", &scores);
  for (const auto& [sampling, components] : kSamplings)
    for (const int quality : kQualities)
      compare_with_turbojpeg(
          make_source("cathedral", sampling, components, 501, 375,
                      [&](size_t c, int x, int y) {
                        const BytePlane& plane = contents.planes[c];
                        return plane.samples[static_cast<size_t>(700 + y) * plane.width + 400 + x];
                      }),
          quality, &scores);
  print_scores(scores);
}

// As a user would compare: files through djpeg. RGB is 4:4:4 that djpeg writes without conversion.
TEST(ScaledLibjpeg, Djpeg) {
  if (djpeg_planes(jpeg_from_planes({{1, 1, {0}}}, {1, 1}, 1, 1, tables_for(1, 50), Method::kIslow),
                   2, "int")
          .empty())
    GTEST_SKIP() << "no djpeg";
  const std::pair<int, int> sizes[] = {{1, 1}, {2, 3}, {7, 9}, {33, 17}, {163, 125}};
  Scores scores;
  std::mt19937 random(2);
  for (const auto& [width, height] : sizes)
    for (const size_t components : {size_t{1}, size_t{3}})
      for (const int quality : kQualities) {
        const Source source = make_source(
            "smooth noise", {1, 1}, components, width, height, [&](size_t c, int x, int y) {
              return static_cast<int>(40 * c + random() % 40) + x + y / 2;
            });
        const std::vector<uint8_t> file =
            jpeg_from_planes(source.planes, source.sampling, width, height,
                             tables_for(components, quality), Method::kIslow, components == 3);
        const JpegContents contents = jpeg_qcoefs(file);
        for (const int scale : kScales) {
          const BytePicture expected = djpeg_planes(file, scale, "int");
          const std::string what = "djpeg, " + source.name;
          ASSERT_EQ(expected.size(), components) << what;
          compare(contents, scale, expected, what, &scores);
          EXPECT_EQ(first_difference(expected, djpeg_planes(file, scale, "fast")), "") << what;
        }
      }
  print_scores(scores);
}

}  // namespace
}  // namespace cudatransform::test
