// Random pictures of Dirac and VC-2: what the decoder finds in them is what was written, and its
// renderer makes of it what the specifications say, on every engine.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// They have what no stream of an encoder has: weights, predicted pictures above 8 bits, motion data
// and predicted pictures without arithmetic coding, six levels or none, quantisers and matrices of
// all kinds. CUDATRANSFORM_TEST_PICTURES says how many; CUDATRANSFORM_TEST_SEED which come first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/dirac_stream.h"
#include "tests/dirac/encoder/compare.h"
#include "tests/dirac/encoder/random_stream.h"
#include "tests/engine/engines.h"
#include "transform/dwt/engine.h"

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

// Engines by turns have vectors or portable code for what a host does.
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

}  // namespace
}  // namespace cudatransform::test
