// Dirac and VC-2 against reference decoders: every frame of the encoders' streams, every sample of
// the streams that BBC's conformance generator makes.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The data is in dirac/ and vc2/ of the test data; each README states which decoder is right in
// which cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/conformance/dirac_stream.h"
#include "tests/conformance/test_data.h"
#include "tests/dirac/bit_writer.h"
#include "tests/dirac/encoder/random_stream.h"
#include "tests/dirac/encoder/stream.h"
#include "tests/engine/engines.h"
#include "transform/dwt/dwt.h"

namespace cudatransform::test {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDiracStreams = 38;
constexpr size_t kVc2Streams = 628;
constexpr uintmax_t kQuickBytes = 50000;  // of a stream, unless the environment overrides it
constexpr size_t kQuickPart = 8;          // of the generated streams

Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// All files below `folder` whose names end in `ending`, sorted.
std::vector<fs::path> files_of(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ending) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The hashes of FFmpeg's framemd5 format: the last field of lines that are no comments.
std::vector<std::string> read_hashes(const fs::path& path) {
  std::vector<std::string> hashes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    hashes.push_back(line.substr(line.find_last_of(", ") + 1));
  }
  return hashes;
}

// CUDATRANSFORM_TEST_STREAM_BYTES: leaves out larger streams of encoders. An emulated GPU takes
// seconds for a picture.
bool is_dropped(const fs::path& path) {
  const char* most = std::getenv("CUDATRANSFORM_TEST_STREAM_BYTES");
  if (most != nullptr) return fs::file_size(path) > std::strtoull(most, nullptr, 10);
  return quick() && fs::file_size(path) > kQuickBytes;
}

// Streams take turns: number 0 has its tasks run in order and a portable transform, number 1 has
// its tasks run in the opposite order, number 2 a transform in vectors, and so on.
DecodedStream decode(const Engine& engine, const fs::path& path, size_t number) {
  StreamDecoding how;
  how.last_first = number % 2 != 0;
  engine.activate();
  DiracRenderOps ops = rendering_ops(engine);
  if (!engine.is_cuda && number % 4 >= 2) ops.dwt = &host_dwt_ops();
  return decode_dirac_stream(read_file(path), *engine.device, ops, how);
}

void expect_no_errors(const DecodedStream& stream) {
  for (const std::string& error : stream.errors) ADD_FAILURE() << error;
  for (const DecodedPicture& picture : stream.pictures) {
    EXPECT_FALSE(picture.is_damaged) << "picture " << picture.number;
  }
}

void expect_hashes(const Engine& engine, const fs::path& path, size_t number) {
  DecodedStream stream = decode(engine, path, number);
  expect_no_errors(stream);
  const std::vector<DecodedPicture> frames = frames_of(std::move(stream.pictures));
  fs::path list = path;
  const std::vector<std::string> hashes = read_hashes(list.replace_extension(".framemd5"));
  ASSERT_EQ(frames.size(), hashes.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(md5_of(frames[i].joined()), hashes[i]) << "frame " << i;
  }
}

TEST(Dirac, StreamsOfEncoders) {
  const std::string readme = find_test_data("dirac/README.md");
  if (readme.empty()) GTEST_SKIP() << "no dirac/ in the test data";
  const std::vector<fs::path> streams = files_of(fs::path(readme).parent_path(), ".drc");
  EXPECT_EQ(streams.size(), kDiracStreams);
  for (const Engine& engine : rendering_engines()) {
    for (size_t number = 0; number < streams.size(); ++number) {
      if (is_dropped(streams[number])) continue;
      SCOPED_TRACE(engine.name + ": " + streams[number].stem().string());
      expect_hashes(engine, streams[number], number);
    }
  }
}

// A folder that is deleted with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "cudatransform-vc2-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void expect_expected_pictures(const Engine& engine, const fs::path& path, size_t number) {
  const DecodedStream stream = decode(engine, path, number);
  expect_no_errors(stream);
  const fs::path folder = path.parent_path() / (path.stem().string() + "_expected");
  const size_t count = files_of(folder, ".raw").size();
  ASSERT_GT(count, 0u);
  ASSERT_EQ(stream.pictures.size(), count);
  for (size_t i = 0; i < count; ++i) {
    const Bytes expected = read_file(folder / ("picture_" + std::to_string(i) + ".raw"));
    EXPECT_TRUE(stream.pictures[i].joined() == expected) << "picture " << i;
  }
}

TEST(Dirac, StreamsOfTheVc2Generator) {
  const std::string archive = find_test_data("vc2/streams.tar.xz");
  if (archive.empty()) GTEST_SKIP() << "no vc2/ in the test data";
  const ScratchFolder folder;
  ASSERT_FALSE(folder.path().empty());
  const std::string command = "tar -xJf '" + archive + "' -C '" + folder.path().string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const std::vector<fs::path> streams = files_of(folder.path(), ".vc2");
  EXPECT_EQ(streams.size(), kVc2Streams);
  for (const Engine& engine : rendering_engines()) {
    for (size_t i = 0; i < streams.size(); i += quick() ? kQuickPart : 1) {
      const fs::path& path = streams[i];
      SCOPED_TRACE(engine.name + ": " + path.parent_path().filename().string() + "/" +
                   path.stem().string());
      expect_expected_pictures(engine, path, i);
    }
  }
}

// 64x32, 4:4:4, 8 bits.
void add_sequence(StreamWriter* stream) {
  BitWriter w;
  for (const uint64_t value : {3, 0, 3, 0, 0}) w.unsigned_code(value);
  w.bit(true);
  for (const uint64_t value : {64, 32}) w.unsigned_code(value);
  w.bit(true);
  w.unsigned_code(0);
  for (int i = 0; i < 6; ++i) w.bit(false);
  w.unsigned_code(0);
  stream->add_unit(0x00, w.bytes());
}

struct Any {
  Dice dice;
  uint64_t operator()(int64_t from, int64_t to) {
    return static_cast<uint64_t>(dice.any(from, to));
  }
};

// The part before the slices: any wavelet with any levels, and coding parameters.
void write_head(uint32_t number, Any& any, std::initializer_list<uint64_t> numbers, BitWriter* w) {
  w->number(number, 32);
  w->unsigned_code(any(0, 6));
  w->unsigned_code(any(1, 3));
  for (const bool flag : {false, false}) w->bit(flag);
  for (const uint64_t value : numbers) w->unsigned_code(value);
  w->bit(false);
  w->align();
}

// High quality slices of any bytes. A third of them are mostly zeros, which are the longest codes.
void add_random_picture(uint32_t number, Any& any, StreamWriter* stream) {
  BitWriter w;
  const uint64_t columns = any(1, 5), rows = any(1, 4), prefix = any(0, 3), scaler = any(1, 3);
  write_head(number, any, {columns, rows, prefix, scaler}, &w);
  for (uint64_t slice = 0; slice < columns * rows; ++slice) {
    for (uint64_t i = 0; i < prefix; ++i) w.number(any(0, 255), 8);
    w.number(any(0, 60), 8);
    for (int c = 0; c < kMaxComponents; ++c) {
      const uint64_t count = any(0, 40), kind = any(0, 2);
      w.number(count, 8);
      for (uint64_t i = 0; i < count * scaler; ++i)
        w.number(kind == 0 && any(0, 9) != 0 ? 0 : any(0, 255), 8);
    }
  }
  stream->add_unit(0xe8, w.bytes());
}

// Low delay slices of any codes. Luma has a share of each, sometimes nothing or all.
void add_random_low_delay_picture(uint32_t number, Any& any, StreamWriter* stream) {
  BitWriter w;
  const uint64_t columns = any(1, 5), rows = any(1, 4), numerator = any(1, 150), parts = any(1, 3);
  write_head(number, any, {columns, rows, numerator, parts}, &w);
  for (uint64_t slice = 0; slice < columns * rows; ++slice) {
    const uint64_t bytes = (slice + 1) * numerator / parts - slice * numerator / parts;
    if (bytes == 0) continue;
    const int length = static_cast<int>(std::bit_width(8 * bytes - 8));
    const uint64_t left = 8 * bytes - 7 - static_cast<uint64_t>(length);
    w.number(any(0, 60), 7);
    const uint64_t share = any(0, 4), kind = any(0, 2);
    w.number(share == 0 ? 0 : share == 1 ? left : any(0, static_cast<int64_t>(left)), length);
    for (uint64_t i = 0; i < left; ++i)
      w.bit(kind == 0 ? any(0, 9) == 0 : any(0, static_cast<int64_t>(kind)) != 0);
  }
  stream->add_unit(0xc8, w.bytes());
}

TEST(Dirac, RandomSlicesAreThoseOfTheCpu) {
  Any any{Dice(17)};
  StreamWriter writer;
  add_sequence(&writer);
  const uint32_t count = quick() ? 60 : 1000;
  for (uint32_t i = 0; i < count; ++i) {
    if (i % 3 == 0)
      add_random_low_delay_picture(i, any, &writer);
    else
      add_random_picture(i, any, &writer);
  }
  const Bytes stream = writer.take();
  const Engine& portable = portable_engine();
  const DecodedStream expected =
      decode_dirac_stream(stream, *portable.device, rendering_ops(portable));
  for (const std::string& error : expected.errors) ADD_FAILURE() << error;
  ASSERT_EQ(expected.pictures.size(), count);
  for (const Engine& engine : rendering_engines()) {
    SCOPED_TRACE(engine.name);
    engine.activate();
    const DecodedStream found = decode_dirac_stream(stream, *engine.device, rendering_ops(engine));
    ASSERT_EQ(found.pictures.size(), count);
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_TRUE(found.pictures[i].joined() == expected.pictures[i].joined()) << "picture " << i;
      EXPECT_EQ(found.pictures[i].is_damaged, expected.pictures[i].is_damaged) << "picture " << i;
    }
  }
}

TEST(Dirac, Md5) {
  EXPECT_EQ(md5_of({}), "d41d8cd98f00b204e9800998ecf8427e");
  const std::string text =
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
  EXPECT_EQ(md5_of(Bytes(text.begin(), text.end())), "57edf4a22be3c955ac49da2e2107b67a");
}

}  // namespace
}  // namespace cudatransform::test
