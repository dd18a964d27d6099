// Units to pictures: sequences, slices whole and in fragments, damage, reused memory.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dirac/decoder.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "dirac/renderer.h"
#include "tests/dirac/bit_writer.h"
#include "transform/device/host_device.h"

namespace cudatransform::test {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kSequence = 0x00, kEnd = 0x10, kAuxiliary = 0x20, kVlcIntra = 0x48,
                  kArithmeticIntra = 0x08, kVlcInter = 0x49, kHighQuality = 0xe8, kFragment = 0xec;

Bytes unit(uint8_t code, const Bytes& data) {
  Bytes bytes = {'B', 'B', 'C', 'D', code, 0, 0, 0, 0, 0, 0, 0, 0};
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

// 32x16, 4:4:4, 8 bits.
Bytes sequence_unit(uint64_t version = 3, uint64_t width = 32) {
  BitWriter w;
  for (const uint64_t value : {version, uint64_t{0}, uint64_t{3}, uint64_t{0}, uint64_t{0}}) {
    w.unsigned_code(value);
  }
  w.bit(true);
  w.unsigned_code(width);
  w.unsigned_code(16);
  w.bit(true);
  w.unsigned_code(0);
  for (int i = 0; i < 6; ++i) w.bit(false);
  w.unsigned_code(0);
  return unit(kSequence, w.bytes());
}

// Two by two slices of one level of LeGall.
void write_slice_parameters(BitWriter& w) {
  w.unsigned_code(1);
  w.unsigned_code(1);
  w.bit(false);
  w.bit(false);
  for (const uint64_t value : {2, 2, 0, 1}) w.unsigned_code(value);
  w.bit(false);
  w.align();
}
// Luma begins with one quantized coefficient, its number; chroma is zero.
void write_slice(BitWriter& w, int64_t qcoef) {
  BitWriter luma;
  luma.signed_code(qcoef);
  w.number(9, 8);
  w.number(luma.bytes().size(), 8);
  // Ones after the quantized coefficient are zeros.
  for (size_t i = 0; i < 8 * luma.bytes().size(); ++i) {
    w.bit(i >= luma.count() || (luma.bytes()[i / 8] >> (7 - i % 8) & 1) != 0);
  }
  w.number(0, 16);
}

Bytes slice_picture(uint32_t number) {
  BitWriter w;
  w.number(number, 32);
  write_slice_parameters(w);
  for (int64_t i = 0; i < 4; ++i) write_slice(w, i + 1);
  return unit(kHighQuality, w.bytes());
}
Bytes first_fragment(uint32_t number) {
  BitWriter w;
  w.number(number, 32);
  w.number(0, 32);
  write_slice_parameters(w);
  return unit(kFragment, w.bytes());
}
Bytes slice_fragment(uint32_t number, int first, int count) {
  BitWriter w;
  w.number(number, 32);
  w.number(0, 16);
  w.number(static_cast<uint64_t>(count), 16);
  w.number(static_cast<uint64_t>(first % 2), 16);
  w.number(static_cast<uint64_t>(first / 2), 16);
  for (int i = first; i < first + count; ++i) write_slice(w, i + 1);
  return unit(kFragment, w.bytes());
}

Status give(DiracDecoder& decoder, const Bytes& bytes) { return decoder.take(bytes); }
void run(DiracPicture& picture) {
  for (int task = 0; task < picture.task_count(); ++task) picture.run_task(task);
}

// The first quantized coefficients of the slices, as the band of level 0 has them in its corners.
std::vector<int> slice_qcoefs(const DiracPicture& picture) {
  const DiracBand& band = picture.qcoefs().band(0, 0);
  std::vector<int> qcoefs;
  for (int i = 0; i < 4; ++i) {
    const int32_t x = dirac_part(band.width, i % 2, 2), y = dirac_part(band.height, i / 2, 2);
    const uint64_t before = band.map_row(y)[0] & ((uint64_t{1} << x) - 1);
    const bool is_there = (band.map_row(y)[0] >> x & 1) != 0;
    const auto* row = static_cast<const int16_t*>(band.qcoefs) + ptrdiff_t{y} * band.width;
    qcoefs.push_back(is_there ? row[std::popcount(before)] : 0);
  }
  return qcoefs;
}

std::unique_ptr<DiracPicture> decoded(DiracDecoder& decoder) {
  std::unique_ptr<DiracPicture> picture = decoder.next_picture();
  if (picture != nullptr) run(*picture);
  return picture;
}

TEST(DiracDecoder, WholeSlicesAndFragmentsAreTheSame) {
  DiracDecoder decoder;
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  ASSERT_TRUE(give(decoder, slice_picture(7)).ok());
  const auto whole = decoded(decoder);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->header().number, 7u);
  EXPECT_EQ(whole->damage(), nullptr);
  EXPECT_EQ(slice_qcoefs(*whole), (std::vector<int>{1, 2, 3, 4}));

  for (const Bytes& fragment :
       {first_fragment(8), slice_fragment(8, 0, 1), slice_fragment(8, 1, 2)}) {
    ASSERT_TRUE(give(decoder, fragment).ok());
    EXPECT_EQ(decoder.next_picture(), nullptr) << "slices are missing";
  }
  ASSERT_TRUE(give(decoder, slice_fragment(8, 3, 1)).ok());
  const auto fragments = decoded(decoder);
  ASSERT_NE(fragments, nullptr);
  EXPECT_EQ(fragments->damage(), nullptr);
  EXPECT_EQ(slice_qcoefs(*fragments), (std::vector<int>{1, 2, 3, 4}));
}

TEST(DiracDecoder, MissingFragments) {
  DiracDecoder decoder;
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  EXPECT_FALSE(give(decoder, slice_fragment(1, 0, 1)).ok()) << "nothing has begun";
  ASSERT_TRUE(give(decoder, first_fragment(2)).ok());
  ASSERT_TRUE(give(decoder, slice_fragment(2, 1, 1)).ok());
  EXPECT_FALSE(give(decoder, slice_fragment(2, 0, 1)).ok()) << "too late";
  EXPECT_FALSE(give(decoder, slice_fragment(3, 2, 1)).ok()) << "of another picture";
  EXPECT_FALSE(give(decoder, slice_fragment(2, 2, 3)).ok()) << "more than there are";
  ASSERT_TRUE(give(decoder, first_fragment(4)).ok());
  const auto picture = decoded(decoder);
  ASSERT_NE(picture, nullptr) << "another picture ends it";
  EXPECT_NE(picture->damage(), nullptr);
  EXPECT_EQ(slice_qcoefs(*picture), (std::vector<int>{0, 2, 0, 0}));
  decoder.finish();
  EXPECT_NE(decoder.next_picture(), nullptr) << "the end of the stream ends it";
}

TEST(DiracDecoder, SlicesThatAreCutOff) {
  DiracDecoder decoder;
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  Bytes bytes = slice_picture(1);
  bytes.resize(bytes.size() - 7);
  ASSERT_TRUE(give(decoder, bytes).ok());
  const auto picture = decoded(decoder);
  ASSERT_NE(picture, nullptr);
  EXPECT_NE(picture->damage(), nullptr);
  EXPECT_EQ(slice_qcoefs(*picture), (std::vector<int>{1, 2, 3, 0}));
}

TEST(DiracDecoder, SequencesBeginAndEnd) {
  DiracDecoder decoder;
  EXPECT_TRUE(give(decoder, slice_picture(1)).ok()) << "dropped";
  EXPECT_EQ(decoder.next_picture(), nullptr);
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  const auto first = decoder.sequence();
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  EXPECT_EQ(decoder.sequence(), first) << "a header that repeats the one before";
  EXPECT_EQ(decoder.sequence_count(), 1u);
  ASSERT_TRUE(give(decoder, sequence_unit(3, 64)).ok());
  EXPECT_EQ(decoder.sequence()->width, 64u) << "another is an end and a beginning";
  EXPECT_EQ(decoder.sequence_count(), 2u);
  ASSERT_TRUE(give(decoder, unit(kEnd, {})).ok());
  EXPECT_EQ(decoder.sequence(), nullptr);
  EXPECT_FALSE(give(decoder, unit(kSequence, {})).ok());
  EXPECT_FALSE(give(decoder, {1, 2, 3}).ok());
}

TEST(DiracDecoder, LimitsAreTheCallers) {
  DiracLimits limits;
  limits.max_width = 40;
  limits.max_unit_bytes = 20;
  DiracDecoder decoder(limits);
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  EXPECT_EQ(give(decoder, slice_picture(1)).code, StatusCode::kUnsupported);
  EXPECT_EQ(give(decoder, sequence_unit(3, 64)).code, StatusCode::kUnsupported);
  EXPECT_EQ(decoder.sequence(), nullptr) << "what follows belongs to what was refused";
}

// A band of one codeblock, with its own quantizer: with and without the delta.
Bytes core_picture(bool has_delta) {
  BitWriter w;
  w.number(1, 32);
  w.align();
  w.unsigned_code(1);
  w.unsigned_code(0);
  w.bit(true);
  w.unsigned_code(1);
  w.unsigned_code(1);
  w.unsigned_code(1);
  w.align();
  for (int c = 0; c < kMaxComponents; ++c) {
    BitWriter band;
    if (has_delta) band.signed_code(3);
    band.signed_code(-9);
    band.align();
    w.align();
    w.unsigned_code(band.bytes().size());
    w.unsigned_code(8);
    w.align();
    for (const uint8_t byte : band.bytes()) w.number(byte, 8);
  }
  return unit(kVlcIntra, w.bytes());
}

TEST(DiracDecoder, OldSchroedingerHasNoDeltaOfSingleCodeblocks) {
  const auto auxiliary = [](const char* name) {
    Bytes data = {1};
    while (*name != '\0') data.push_back(static_cast<uint8_t>(*name++));
    return unit(kAuxiliary, data);
  };
  for (const auto& [name, has_delta] : {std::pair{"Schroedinger 1.0.7", false},
                                        {"Schroedinger 1.0.8", true},
                                        {"Schroedinger 1.0.11", true},
                                        {"Dirac", true}}) {
    SCOPED_TRACE(name);
    DiracDecoder decoder;
    ASSERT_TRUE(give(decoder, sequence_unit(2)).ok());
    ASSERT_TRUE(give(decoder, auxiliary(name)).ok());
    ASSERT_TRUE(give(decoder, core_picture(has_delta)).ok());
    const auto picture = decoded(decoder);
    ASSERT_NE(picture, nullptr);
    const DiracBand& band = picture->qcoefs().band(2, 0);
    EXPECT_EQ(band.quantizer(0, 0), has_delta ? 11 : 8);
    EXPECT_EQ(*static_cast<const int16_t*>(band.qcoefs), -9);
  }
}

// Two superblocks side by side: one block of vectors, sixteen of DC values; no residual.
TEST(DiracDecoder, MotionInVlc) {
  BitWriter w;
  w.number(5, 32);
  w.signed_code(-1);
  w.align();
  w.unsigned_code(1);  // blocks of 8 every 4
  w.unsigned_code(2);
  w.bit(false);
  w.unsigned_code(0);
  w.bit(false);
  const auto put_stream = [&](const BitWriter& stream) {
    w.align();
    w.unsigned_code(stream.bytes().size());
    w.align();
    for (const uint8_t byte : stream.bytes()) w.number(byte, 8);
  };
  BitWriter splits, modes, x, y, dc[kMaxComponents];
  splits.unsigned_code(0);
  splits.unsigned_code(2);
  modes.bit(true);  // the first reference
  // It predicts its neighbors, until there is a block of DC values to the left.
  for (int i = 0; i < 16; ++i) modes.bit(i % 4 == 0);
  x.signed_code(-7);
  y.signed_code(100);
  for (int c = 0; c < kMaxComponents; ++c) dc[c].signed_code(10 * c - 5);
  for (BitWriter* stream : {&splits, &modes, &x, &y, &dc[0], &dc[1], &dc[2]}) {
    while (stream->count() % 8 != 0) stream->bit(true);  // zeros
    put_stream(*stream);
  }
  w.align();
  w.bit(true);
  DiracDecoder decoder;
  ASSERT_TRUE(give(decoder, sequence_unit(2)).ok());
  ASSERT_TRUE(give(decoder, unit(kVlcInter, w.bytes())).ok());
  const auto picture = decoded(decoder);
  ASSERT_NE(picture, nullptr);
  EXPECT_EQ(picture->damage(), nullptr);
  EXPECT_FALSE(picture->has_residual());
  EXPECT_EQ(picture->header().references[0], 4u);
  const ObmcBlock* blocks = picture->blocks();
  for (int i = 0; i < 16; ++i) {
    const ObmcBlock& left = blocks[i / 4 * 8 + i % 4];
    EXPECT_EQ(left.references, 1);
    EXPECT_EQ(left.vector[0][0], -7);
    EXPECT_EQ(left.vector[0][1], 100);
    const ObmcBlock& right = blocks[i / 4 * 8 + 4 + i % 4];
    EXPECT_EQ(right.references, 0) << i;
    EXPECT_EQ(right.dc[0], -5) << i;
    EXPECT_EQ(right.dc[2], 15) << i;
  }
}

TEST(DiracDecoder, PicturesThatCannotBe) {
  DiracDecoder decoder;
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  for (const uint8_t code : {kVlcIntra, kArithmeticIntra, kVlcInter, kHighQuality, kFragment}) {
    const Status status = give(decoder, unit(code, {}));
    EXPECT_EQ(status.code, StatusCode::kInvalidArgument) << int(code);
    EXPECT_GT(status.message.size(), 10u);
  }
  EXPECT_TRUE(give(decoder, slice_picture(1)).ok()) << "one that can be follows";
  EXPECT_NE(decoder.next_picture(), nullptr);
}

TEST(DiracDecoder, MemoryIsUsedAgain) {
  DiracDecoder decoder;
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  ASSERT_TRUE(give(decoder, slice_picture(1)).ok());
  auto picture = decoded(decoder);
  const DiracPicture* address = picture.get();
  const void* qcoefs = picture->qcoefs().band(0, 0).qcoefs;
  decoder.give_back(std::move(picture));
  ASSERT_TRUE(give(decoder, slice_picture(2)).ok());
  picture = decoded(decoder);
  EXPECT_EQ(picture.get(), address);
  EXPECT_EQ(picture->qcoefs().band(0, 0).qcoefs, qcoefs);
  EXPECT_EQ(slice_qcoefs(*picture), (std::vector<int>{1, 2, 3, 4}));
}

// Pictures that take the memory of those before them need no room for it: otherwise that would be
// freed first, and a device stops for that.
TEST(DiracRenderer, NeedsWhatIsNotKept) {
  const auto budget = std::make_shared<MemoryBudget>();
  const auto device = make_host_device(1);
  DiracRenderer renderer(
      *device, {&portable_dirac_dequantize_ops(), &host_dwt_ops(), &portable_obmc_ops()}, budget);
  DiracDecoder decoder;
  ASSERT_TRUE(give(decoder, sequence_unit()).ok());
  ASSERT_TRUE(give(decoder, slice_picture(1)).ok());
  const auto picture = decoded(decoder);
  const uint64_t samples = bytes_of_dirac_picture(picture->sequence());
  DiracRenderedPtr first, second;
  ASSERT_TRUE(renderer.render(*picture, nullptr, &first).ok());
  ASSERT_TRUE(renderer.render(*picture, nullptr, &second).ok());
  EXPECT_EQ(renderer.need(*picture, 9).kept, 0u);
  renderer.reset();
  first.reset();
  second.reset();
  EXPECT_EQ(renderer.need(*picture, 0).kept, samples) << "a picture takes one block";
  EXPECT_EQ(renderer.need(*picture, 1).kept, 2 * samples);
  EXPECT_EQ(renderer.need(*picture, 9).kept, 2 * samples);
  const uint64_t used = budget->used();
  ASSERT_TRUE(renderer.render(*picture, nullptr, &first).ok());
  EXPECT_EQ(budget->used(), used);
  EXPECT_EQ(renderer.need(*picture, 9).kept, samples);
  renderer.trim();
  EXPECT_EQ(renderer.need(*picture, 9).kept, 0u);
}

}  // namespace
}  // namespace cudatransform::test
