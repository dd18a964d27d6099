// Random pictures of Dirac and VC-2: the decoder reads back the writer's picture, and its renderer
// makes the specifications' samples of it, on every engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// They have features that no encoder's stream has: weights, predicted pictures above 8 bits, motion
// data and predicted pictures without arithmetic coding, six levels or none, quantizers and
// matrices of all kinds, deviations of early encoders. CUDATRANSFORM_TEST_PICTURES: how many;
// CUDATRANSFORM_TEST_SEED which come first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/dirac_stream.h"
#include "tests/dirac/encoder/random_stream.h"
#include "tests/dirac/encoder/stream.h"
#include "tests/engine/engines.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::test {
namespace {

constexpr int kPicturesOfAStream = 8;
constexpr uint32_t kPictures = 600, kQuickPictures = 160;

uint32_t from_environment(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

int sample_at(const Bytes& plane, int depth, size_t at) {
  if (depth <= 8) return plane[at];
  uint16_t value;
  std::memcpy(&value, plane.data() + 2 * at, sizeof value);
  return value;
}

// "" or the first difference.
std::string judge_samples(const DefinedPicture& defined, const DecodedPicture& found) {
  if (found.is_damaged != defined.is_damaged) return "damage";
  for (int c = 0; c < kMaxComponents; ++c) {
    const Plane& plane = defined.planes[c];
    const int depth = found.sequence->depth(c);
    if (found.planes[c].size() != plane.samples.size() * (depth <= 8 ? 1 : 2)) return "sizes";
    for (size_t i = 0; i < plane.samples.size(); ++i) {
      const int sample = sample_at(found.planes[c], depth, i);
      if (sample == plane.samples[i]) continue;
      const auto width = static_cast<size_t>(plane.width);
      return "component " + std::to_string(c) + " at " + std::to_string(i % width) + ", " +
             std::to_string(i / width) + ": expected " + std::to_string(plane.samples[i]) +
             ", found " + std::to_string(sample);
    }
  }
  return "";
}

std::string describe(const RandomStream& stream, const CodedPicture& picture) {
  const DiracSequence& s = stream.sequence;
  const DiracTransform& t = picture.transform;
  return std::to_string(s.width) + "x" + std::to_string(s.height) + ", chroma " +
         std::to_string(static_cast<int>(s.chroma)) + ", " + std::to_string(s.depth(0)) + "/" +
         std::to_string(s.depth(1)) + " bits, code " + std::to_string(picture.parse_code) +
         ", wavelets " + std::to_string(static_cast<int>(t.wavelet)) + "/" +
         std::to_string(static_cast<int>(t.wavelet_ho)) + ", levels " +
         std::to_string(t.levels.both) + "+" + std::to_string(t.levels.horizontal) +
         (picture.has_residual ? "" : ", no residual");
}

// Engines alternate between vectors and portable code for the host's part.
DiracRenderOps ops_for(const Engine& engine, uint32_t seed) {
  DiracRenderOps ops = rendering_ops(engine);
  if (!engine.is_cuda && seed % 2 != 0) ops.dwt = &host_dwt_ops();
  return ops;
}

void check(const Engine& engine, const RandomStream& stream, uint32_t seed) {
  SCOPED_TRACE(engine.name + ", seed " + std::to_string(seed));
  engine.activate();
  StreamDecoding how;
  how.last_first = seed % 4 >= 2;
  size_t parsed = 0;
  how.look = [&](const DiracPicture& picture) {
    ASSERT_LT(parsed, stream.pictures.size());
    const CodedPicture& coded = stream.pictures[parsed];
    EXPECT_EQ(judge_parsed(coded, picture), "")
        << "picture " << parsed << ": " << describe(stream, coded);
    EXPECT_EQ(picture.sequence(), stream.sequence);
    ++parsed;
  };
  const DecodedStream decoded =
      decode_dirac_stream(stream.bytes, *engine.device, ops_for(engine, seed), how);
  for (const std::string& error : decoded.errors) ADD_FAILURE() << error;
  ASSERT_EQ(parsed, stream.pictures.size());
  ASSERT_EQ(decoded.pictures.size(), stream.pictures.size());
  std::map<uint32_t, const DecodedPicture*> by_number;
  for (const DecodedPicture& picture : decoded.pictures) by_number[picture.number] = &picture;
  for (size_t i = 0; i < stream.pictures.size(); ++i) {
    const DecodedPicture* found = by_number[stream.pictures[i].header.number];
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(judge_samples(stream.defined[i], *found), "")
        << "picture " << i << ": " << describe(stream, stream.pictures[i]);
  }
}

TEST(DiracRandom, PicturesEqualTheDefinition) {
  const uint32_t count =
      from_environment("CUDATRANSFORM_TEST_PICTURES", quick() ? kQuickPictures : kPictures);
  const uint32_t first = from_environment("CUDATRANSFORM_TEST_SEED", 1);
  const std::vector<Engine> engines = rendering_engines();
  ASSERT_FALSE(engines.empty());
  for (uint32_t i = 0; i < count / kPicturesOfAStream; ++i) {
    const RandomStream stream = make_random_stream(first + i, kPicturesOfAStream);
    for (const Engine& engine : engines) {
      check(engine, stream, first + i);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Samples, or differences of samples, of a side that lead to the largest coefficients: the required
// signs of `size` samples in a row for the coefficient at `place`.
std::vector<int> worst_signs(const DiracTransform& transform, int size, int place) {
  std::vector<int> signs;
  for (int i = 0; i < size; ++i) {
    dwt::Values values(size, 1 << transform.levels.both);
    for (int y = 0; y < values.rows; ++y) values.at(i, y) = 1 << 20;
    const dwt::Values pyramid = dwt::analyze(values, shape_of(transform), dwt::Rule::kUnbounded);
    signs.push_back(pyramid.at(place, 0) < 0 ? -1 : 1);
  }
  return signs;
}

CodedPicture core_picture(uint32_t number, int references, Wavelet wavelet, int levels) {
  CodedPicture picture;
  picture.header.number = number;
  picture.header.is_reference = true;
  picture.header.reference_count = references;
  picture.header.references[0] = number - 1;
  picture.parse_code = static_cast<uint8_t>(0x0c | references);
  picture.transform.wavelet = picture.transform.wavelet_ho = wavelet;
  picture.transform.levels = {levels, 0};
  std::fill(std::begin(picture.transform.columns), std::end(picture.transform.columns), 1);
  std::fill(std::begin(picture.transform.rows), std::end(picture.transform.rows), 1);
  return picture;
}

// White at positive signs and black elsewhere, or from black to white and back, at each of
// `places`.
void add_worst_pictures(Wavelet wavelet, int levels, int quantizer, RandomStream* stream) {
  const int size = static_cast<int>(stream->sequence.width);
  for (const bool is_intra : {true, false}) {
    for (const int place : {1, 2, size / 2 + 3}) {
      if (quick() && place != 2) continue;
      const auto number = static_cast<uint32_t>(stream->pictures.size());
      CodedPicture picture = core_picture(number, is_intra ? 0 : 1, wavelet, levels);
      lay_out_bands(stream->sequence, &picture);
      if (!is_intra) {
        picture.block_preset = 1;
        picture.prediction.length_x = picture.prediction.length_y = 8;
        picture.prediction.separation_x = picture.prediction.separation_y = 4;
        picture.prediction.blocks_across = picture.prediction.blocks_down = size / 4;
        picture.splits.assign(static_cast<size_t>(size * size / 256), 0);
        picture.blocks.assign(static_cast<size_t>(size * size / 16), {});
      }
      const std::vector<int> signs = worst_signs(picture.transform, size, place);
      dwt::Values values(size, size);
      for (int y = 0; y < size; ++y) {
        for (int x = 0; x < size; ++x) {
          const int sign = signs[static_cast<size_t>(x)] * signs[static_cast<size_t>(y)];
          values.at(x, y) = is_intra ? (sign > 0 ? 127 : -128) : 255 * sign;
        }
      }
      for (int c = 0; c < kMaxComponents; ++c) {
        for (CodedBand& band : picture.bands[c]) band.quantizer = quantizer;
        quantize_component(&picture, c, values);
      }
      const DefinedPicture* reference = number > 0 ? &stream->defined.back() : nullptr;
      stream->defined.push_back(
          define_picture(stream->sequence, picture, &reference, dwt::Rule::kUnbounded));
      stream->pictures.push_back(std::move(picture));
    }
  }
}

// The specification's numbers have no bound, and some pictures need more than 16 bits.
TEST(DiracRandom, WorstPicturesEqualTheDefinition) {
  const std::pair<Wavelet, int> transforms[] = {{Wavelet::kDd97, 4},     {Wavelet::kLegall53, 4},
                                                {Wavelet::kLegall53, 5}, {Wavelet::kDd137, 4},
                                                {Wavelet::kHaar, 5},     {Wavelet::kHaarShift, 5},
                                                {Wavelet::kFidelity, 3}, {Wavelet::kDaub97, 3}};
  for (const auto& [wavelet, levels] : transforms) {
    for (const int quantizer : {0, 45, 53}) {
      if (quick() && quantizer != 45) continue;
      SCOPED_TRACE("wavelet " + std::to_string(static_cast<int>(wavelet)) + ", quantizer " +
                   std::to_string(quantizer));
      RandomStream stream;
      DiracSequence& s = stream.sequence;
      s.major_version = 2;
      s.minor_version = 2;
      s.profile = 8;
      s.width = s.height = s.clean_width = s.clean_height = 64;
      s.chroma = DiracChroma::k444;
      s.frame_rate = {25, 1};
      s.range[1].offset = 128;
      add_worst_pictures(wavelet, levels, quantizer, &stream);
      StreamWriter writer;
      writer.add_sequence(s);
      for (const CodedPicture& picture : stream.pictures) writer.add_picture(picture);
      stream.bytes = writer.take();
      for (const Engine& engine : rendering_engines()) check(engine, stream, 0);
    }
  }
}

}  // namespace
}  // namespace cudatransform::test
