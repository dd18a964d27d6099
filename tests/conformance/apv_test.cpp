// APV against reference decoders: the MD5 of every frame of their streams, and the results of
// broken ones.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The data is in apv/ of the test data, whose README names the streams' origin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apv/access_unit.h"
#include "tests/apv/rendering.h"
#include "tests/conformance/test_data.h"
#include "tests/engine/engines.h"

namespace cudatransform::test {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

struct DecodedApv {
  std::vector<Bytes> frames;        // planes one after the other, without padding
  std::vector<std::string> errors;  // of access units without a frame
  std::vector<int> damaged;         // chains, of each frame
  std::vector<std::string> damage;  // the first of them
};

// Where the codes of an engine's frames are read.
enum class Place { kHost, kBoth, kDevice };
constexpr const char* kPlaceNames[] = {": ", ", codes on both: ", ", codes too: "};
std::vector<Place> places_of(const Engine& engine) {
  if (!engine.is_cuda) return {Place::kHost};
  return {Place::kHost, Place::kBoth, Place::kDevice};
}

class Decoder {
 public:
  Decoder(const Engine& engine, Place place)
      : engine_(engine), place_(place), renderer_(*engine.device, apv_render_ops(engine)) {}

  DecodedApv decode(const Bytes& stream) {
    DecodedApv result;
    ApvSplitter splitter;
    for (size_t at = 0; at < stream.size();) {
      const ApvSpan span =
          splitter.next({stream.data() + at, stream.size() - at}, true, UINT32_MAX);
      at += span.skipped;
      if (span.skipped > 0) result.errors.push_back("skipped bytes");
      if (span.size == 0) continue;
      // Separate memory, so that a read outside of the unit is seen.
      const Bytes unit(stream.begin() + static_cast<ptrdiff_t>(at),
                       stream.begin() + static_cast<ptrdiff_t>(at + span.size));
      at += span.size;
      if (const Status status = decode_unit(unit, &result); !status.ok())
        result.errors.push_back(status.message);
    }
    return result;
  }

 private:
  Status decode_unit(const Bytes& bytes, DecodedApv* result) {
    ApvAccessUnit unit;
    CT_RETURN_IF_ERROR(read_apv_access_unit(bytes, &unit));
    ApvPicture picture;
    CT_RETURN_IF_ERROR(picture.frame.begin(unit.frame, nullptr, {}));
    CT_RETURN_IF_ERROR(renderer_.prepare(&picture, on_device(picture.frame)));
    if (picture.is_on_device()) {
      // As if there were few, many and a great many frames.
      constexpr int kInFlight[] = {1, 11, 30000};
      CT_RETURN_IF_ERROR(renderer_.stage(picture));
      CT_RETURN_IF_ERROR(renderer_.decode(&picture, kInFlight[bytes.size() % 3]));
    }
    for (size_t i = picture.host_chains(); i-- > 0;) picture.decode_chain(i);
    CT_RETURN_IF_ERROR(picture.wait());
    result->damaged.push_back(picture.frame.damaged_chains());
    const char* damage = picture.frame.damage();
    result->damage.push_back(damage != nullptr ? damage : "");
    return render_apv(engine_, renderer_, &picture, &result->frames.emplace_back());
  }

  uint32_t on_device(const ApvFrame& frame) const {
    if (place_ != Place::kBoth) return place_ == Place::kHost ? kNoApvChains : kAllApvChains;
    return frame.bytes_of(frame.payload().size() % frame.chain_count());
  }

  const Engine& engine_;
  const Place place_;
  ApvRenderer renderer_;
};

std::vector<fs::path> streams() {
  std::vector<fs::path> found;
  const std::string readme = find_test_data("apv/README.md");
  if (readme.empty()) return found;
  for (const auto& entry : fs::directory_iterator(fs::path(readme).parent_path()))
    if (entry.path().extension() == ".apv") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_broken(const fs::path& path) { return path.stem().string().starts_with("bad_"); }

void expect_hashes(const Engine& engine, Place place) {
  constexpr int kStreams = 33;
  Decoder decoder(engine, place);
  int count = 0;
  for (fs::path path : streams()) {
    if (is_broken(path)) continue;
    ++count;
    SCOPED_TRACE(engine.name + kPlaceNames[static_cast<int>(place)] + path.stem().string());
    const DecodedApv decoded = decoder.decode(read_file(path));
    for (const std::string& error : decoded.errors) ADD_FAILURE() << error;
    std::ifstream list(path.replace_extension(".md5"));
    const std::vector<std::string> hashes((std::istream_iterator<std::string>(list)), {});
    ASSERT_EQ(decoded.frames.size(), hashes.size());
    for (size_t i = 0; i < hashes.size(); ++i) {
      EXPECT_EQ(md5_of(decoded.frames[i]), hashes[i]) << "frame " << i;
      EXPECT_EQ(decoded.damaged[i], 0);
    }
  }
  EXPECT_EQ(count, kStreams);
}

TEST(Apv, Streams) {
  if (streams().empty()) GTEST_SKIP() << "no apv/ in the test data";
  for (const Engine& engine : engines_with(&Engine::apv_ops))
    for (const Place place : places_of(engine)) expect_hashes(engine, place);
}

// A few bytes changed, removed or added. Most changes hit the codes.
Bytes mutate(Bytes bytes, std::mt19937& random) {
  for (uint32_t i = 1 + random() % 4; i > 0; --i) {
    const auto at = static_cast<ptrdiff_t>(random() % bytes.size());
    switch (random() % 4) {
      case 0:
        bytes.erase(bytes.begin() + at);
        break;
      case 1:
        bytes.insert(bytes.begin() + at, static_cast<uint8_t>(random()));
        break;
      default:
        bytes[static_cast<size_t>(at)] = static_cast<uint8_t>(random());
    }
  }
  return bytes;
}

// CUDATRANSFORM_TEST_STREAMS: how many damaged streams have to be the same wherever codes are read.
TEST(Apv, DamagedStreamsAreTheSameEverywhere) {
  if (streams().empty()) GTEST_SKIP() << "no apv/ in the test data";
  constexpr uintmax_t kMaxBytes = 30000;
  std::vector<Bytes> small;
  for (const fs::path& path : streams())
    if (fs::file_size(path) < kMaxBytes && !is_broken(path)) small.push_back(read_file(path));
  const char* wanted = std::getenv("CUDATRANSFORM_TEST_STREAMS");
  const int count = wanted != nullptr ? std::atoi(wanted) : quick() ? 60 : 600;
  Decoder expected(portable_engine(), Place::kHost);
  int damaged = 0;
  for (const Engine& engine : engines_with(&Engine::apv_ops)) {
    for (const Place place : places_of(engine)) {
      std::mt19937 random(1);
      Decoder decoder(engine, place);
      for (int i = 0; i < count; ++i) {
        const Bytes stream = mutate(small[random() % small.size()], random);
        const DecodedApv a = expected.decode(stream), b = decoder.decode(stream);
        SCOPED_TRACE(engine.name + kPlaceNames[static_cast<int>(place)] + std::to_string(i));
        ASSERT_EQ(a.errors, b.errors);
        ASSERT_EQ(a.damaged, b.damaged);
        ASSERT_EQ(a.damage, b.damage);
        ASSERT_TRUE(a.frames == b.frames);
        damaged += !a.damaged.empty() && a.damaged[0] > 0;
      }
    }
  }
  EXPECT_GT(damaged, count / 4);
}

// A word of the error that each broken stream gives, or none where chains alone are damaged.
TEST(Apv, BrokenStreams) {
  const std::map<std::string, std::string> errors = {
      {"bad_chroma_1", "chroma format 1"},
      {"bad_data_all_ones", ""},
      {"bad_pbu_size_beyond_the_unit", "PBU of 16777215 bytes"},
      {"bad_q_matrix_zero", "quantization matrix"},
      {"bad_signature_wrong", "skipped"},
      {"bad_tile_data_size_beyond", "component 0"},
      {"bad_tile_header_size_wrong", "header of 21 bytes"},
      {"bad_tile_qp_64", "quantization parameter 64"},
      {"bad_tile_width_0", "tiles of 0x16"},
      {"bad_truncated", "access unit of"},
  };
  if (streams().empty()) GTEST_SKIP() << "no apv/ in the test data";
  for (const Engine* engine : engine_of_each_kind()) {
    Decoder decoder(*engine, engine->is_cuda ? Place::kDevice : Place::kHost);
    size_t count = 0;
    for (const fs::path& path : streams()) {
      if (!is_broken(path)) continue;
      ++count;
      SCOPED_TRACE(engine->name + ": " + path.stem().string());
      const DecodedApv decoded = decoder.decode(read_file(path));
      const std::string& expected = errors.at(path.stem());
      EXPECT_EQ(decoded.errors.size(), expected.empty() ? 0u : 1u);
      for (const std::string& error : decoded.errors)
        EXPECT_NE(error.find(expected), std::string::npos) << error;
      EXPECT_EQ(decoded.damaged, std::vector<int>(expected.empty() ? 1 : 0, 1));
    }
    EXPECT_EQ(count, errors.size());
  }
}

}  // namespace
}  // namespace cudatransform::test
