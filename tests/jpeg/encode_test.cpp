// Parallel Huffman coding against libjpeg: the same file, byte for byte, for any picture.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "jpeg/encode_bits.h"
#include "jpeg/encode_file.h"
#include "tests/engine/engines.h"
#include "tests/engine/run_job.h"
#include "tests/jpeg/encode_pictures.h"
#ifdef CT_HAVE_CUDA
#include "cuda/jpeg/engine.h"
#endif

namespace cudatransform::test {
namespace {

using Bytes = std::vector<uint8_t>;

struct Coder {
  const Engine& engine;
  const JpegEncodeOps& ops;
};

std::vector<Coder> coders() {
  std::vector<Coder> all;
  for (const Engine* engine : engine_of_each_kind()) {
#ifdef CT_HAVE_CUDA
    if (engine->is_cuda) all.push_back({*engine, cuda_jpeg_encode_ops()});
#endif
    if (!engine->is_cuda) all.push_back({*engine, host_jpeg_encode_ops()});
  }
  return all;
}

std::unique_ptr<Memory> allocate(Device& device, MemoryKind kind, size_t bytes) {
  std::unique_ptr<Memory> memory;
  const Status status = device.allocate(kind, bytes, &memory);
  EXPECT_TRUE(status.ok()) << status.message;
  return memory;
}

// A picture on a device, and its scan's coding parameters.
class Picture {
 public:
  Picture(const Coder& coder, const JpegCase& c, JpegTestQcoefs& qcoefs)
      : coder_(coder), device_(*coder.engine.device) {
    for (int k = 0; k < 64; ++k) {
      tables_[0][k] = static_cast<uint16_t>(k + 1);
      tables_[1][k] = static_cast<uint16_t>(2 * k + 1);
    }
    picture = describe(c, qcoefs, tables_);
    options.restart_interval = c.restart;
    options.optimize = c.optimize;
    for (size_t i = 0; i < qcoefs.components.size(); ++i) {
      JpegBlocks& component = qcoefs.components[i];
      const size_t bytes = component.qcoefs.size() * 2;
      device_qcoefs_.push_back(allocate(device_, MemoryKind::kDevice, bytes));
      const auto pitch = static_cast<ptrdiff_t>(bytes);
      const Copy2D copy = {
          device_qcoefs_.back()->data(), pitch, component.qcoefs.data(), pitch, bytes, 1};
      EXPECT_TRUE(device_.upload(device_.queue(QueueKind::kUpload), copy).ok());
      job.qcoefs[i] = {static_cast<const int16_t*>(device_qcoefs_.back()->data()),
                       ptrdiff_t(component.stride * 2)};
    }
    EXPECT_TRUE(make_jpeg_scan_layout(picture, options, &job.layout).ok());
    results_ = allocate(device_, MemoryKind::kPinned, sizeof(Results));
    std::memset(results_->data(), 0xaa, sizeof(Results));
    job.result = &results().result;
    job.counts = &results().counts;
  }

  JpegEncodeResult encode(const JpegHuffmanTables& tables, size_t capacity) {
    JpegCodes codes;
    EXPECT_TRUE(make_jpeg_codes(tables, &codes).ok());
    output_ = allocate(device_, MemoryKind::kPinned, capacity + kGuard);
    std::memset(output_->data(), 0x5a, capacity + kGuard);
    job.codes = &codes;
    job.output = static_cast<uint8_t*>(output_->data());
    job.capacity = capacity;
    if (!run(coder_.ops.encode)) return {0, kJpegNoRoom};
    const auto* end = static_cast<const uint8_t*>(output_->data()) + capacity;
    EXPECT_TRUE(std::all_of(end, end + kGuard, [](uint8_t byte) { return byte == 0x5a; }));
    return *job.result;
  }
  // Symbols as the engine counts them, which are those of host memory.
  void check_counts(const JpegTestQcoefs& qcoefs) {
    JpegSymbolCounts expected;
    JpegEncodeJob defined = job;
    defined.counts = &expected;
    for (size_t i = 0; i < qcoefs.components.size(); ++i)
      defined.qcoefs[i].data = qcoefs.components[i].qcoefs.data();
    count_jpeg_symbols(defined);
    const bool counted = run(coder_.ops.count);
    EXPECT_TRUE(counted && std::memcmp(job.counts, &expected, sizeof expected) == 0);
  }
  Bytes scan() const { return {job.output, job.output + job.result->size}; }

  JpegHuffmanTables optimal_tables() {
    JpegHuffmanTables tables;
    if (!run(coder_.ops.count)) return tables;
    const uint32_t pairs = has_chroma(picture.color) ? 2 : 1;
    EXPECT_TRUE(make_optimal_jpeg_tables(*job.counts, pairs, &tables).ok());
    return tables;
  }

  // The file, and an estimate of its size that capacity() meets exactly.
  Bytes file(size_t capacity, JpegHeaders* headers) {
    JpegHuffmanTables tables;
    EXPECT_TRUE(headers->standard_tables(&tables).ok());
    if (options.optimize) tables = optimal_tables();
    const JpegBytes* header = nullptr;
    EXPECT_TRUE(
        headers->find(picture, options, options.optimize ? &tables : nullptr, &header).ok());
    if (header == nullptr || header->size() > capacity) return {};
    Bytes file(header->data(), header->data() + header->size());
    const JpegEncodeResult result = encode(tables, capacity - header->size());
    EXPECT_EQ(result.faults, 0u);
    if (result.faults != 0) return {};
    const Bytes coded = scan();
    file.insert(file.end(), coded.begin(), coded.end());
    return file;
  }

  JpegPicture picture;
  JpegOptions options;
  JpegEncodeJob job;

 private:
  static constexpr size_t kGuard = 64;
  struct Results {
    JpegEncodeResult result;
    JpegSymbolCounts counts;
  };
  bool run(decltype(JpegEncodeOps::encode) submit) {
    const Status status =
        submit_and_wait(coder_.engine, [&](Device& device, Queue& queue, FencePtr* done) {
          return submit(device, queue, job, done);
        });
    EXPECT_TRUE(status.ok()) << status.message;
    return status.ok();
  }
  Results& results() { return *static_cast<Results*>(results_->data()); }

  const Coder& coder_;
  Device& device_;
  uint16_t tables_[2][64];
  std::vector<std::unique_ptr<Memory>> device_qcoefs_;
  std::unique_ptr<Memory> results_, output_;
};

void check_case(const JpegCase& c) {
  SCOPED_TRACE(testing::Message() << c);
  JpegTestQcoefs qcoefs(c);
  for (const Coder& coder : coders()) {
    SCOPED_TRACE(coder.engine.name);
    Picture own(coder, c, qcoefs);
    JpegWriter writer;
    JpegBytes expected;
    const Status status = writer.write(own.picture, own.options, &expected);
    ASSERT_TRUE(status.ok()) << status.message;
    JpegHeaders headers;
    // No room remains.
    const Bytes file = own.file(expected.size(), &headers);
    ASSERT_EQ(file.size(), expected.size());
    const auto differs = std::mismatch(file.begin(), file.end(), expected.data());
    ASSERT_EQ(differs.first - file.begin(), ptrdiff_t(file.size())) << "first byte that differs";
    own.check_counts(qcoefs);
  }
}

constexpr JpegColor kYcbcr = JpegColor::kYcbcr, kRgb = JpegColor::kRgb, kGray = JpegColor::kGray,
                    kCmyk = JpegColor::kCmyk, kYcck = JpegColor::kYcck;

TEST(JpegEncode, EverySamplingAndSize) {
  const struct {
    JpegColor color;
    int h, v;
  } kinds[] = {{kGray, 1, 1},  {kRgb, 1, 1},   {kYcbcr, 1, 1}, {kYcbcr, 2, 2}, {kYcbcr, 2, 1},
               {kYcbcr, 1, 2}, {kYcbcr, 4, 1}, {kYcbcr, 1, 4}, {kYcbcr, 4, 2}, {kYcbcr, 3, 2},
               {kCmyk, 1, 1},  {kYcck, 1, 1},  {kYcck, 2, 2},  {kYcck, 2, 1},  {kYcck, 1, 2},
               {kYcck, 4, 1},  {kYcck, 3, 1}};
  const struct {
    uint32_t width, height;
  } sizes[] = {{1, 1}, {8, 8}, {9, 17}, {100, 75}, {129, 40}, {24, 200}};
  for (const auto& kind : kinds)
    for (const auto& size : sizes)
      check_case({size.width, size.height, kind.color, kind.h, kind.v});
}

// Dummy blocks in all components, ratios that are fractions, and components that are larger than
// luma.
TEST(JpegEncode, SamplingsWithoutAName) {
  const struct {
    JpegColor color;
    JpegSampling factors;
  } kinds[] = {{kYcbcr, {{1, 2, 2, 1}, {1, 2, 2, 1}}},
               {kYcbcr, {{2, 1, 2, 1}, {2, 1, 1, 1}}},
               {kYcbcr, {{3, 2, 1, 1}, {1, 2, 1, 1}}},
               {kYcbcr, {{2, 3, 1, 1}, {1, 1, 3, 1}}},
               {kYcbcr, {{1, 4, 1, 1}, {1, 2, 1, 1}}},
               {kRgb, {{2, 2, 1, 1}, {2, 2, 1, 1}}},
               {kRgb, {{1, 1, 4, 1}, {3, 1, 1, 1}}},
               {kCmyk, {{2, 1, 1, 2}, {2, 1, 1, 2}}},
               {kYcck, {{1, 2, 1, 3}, {2, 1, 1, 1}}},
               {JpegColor::kTwo, {{2, 3, 1, 1}, {2, 1, 1, 1}}},
               {JpegColor::kTwo, {{1, 1, 1, 1}, {1, 4, 1, 1}}},
               {kYcbcr, {{3, 1, 1, 1}, {2, 1, 2, 1}}}};
  const struct { uint32_t width, height; } sizes[] = {{1, 1}, {17, 9}, {100, 75}, {67, 45}};
  for (const auto& kind : kinds)
    for (const auto& size : sizes)
      for (const uint32_t restart : {0u, 2u}) {
        if (quick() && restart != 0 && size.width != 67) continue;
        check_case({.width = size.width,
                    .height = size.height,
                    .color = kind.color,
                    .fill = JpegFill::kSparse,
                    .restart = restart,
                    .optimize = restart != 0,
                    .factors = kind.factors});
      }
}

TEST(JpegEncode, EveryKindOfQcoefs) {
  for (const JpegFill fill : {JpegFill::kDense, JpegFill::kSparse, JpegFill::kZero,
                              JpegFill::kExtreme, JpegFill::kOnes, JpegFill::kPicture})
    for (const bool optimize : {false, true}) {
      check_case({161, 90, kYcbcr, 2, 2, fill, 0, optimize});
      check_case({75, 50, kGray, 1, 1, fill, 0, optimize});
      check_case({75, 50, kYcck, 2, 2, fill, 0, optimize});
    }
}

TEST(JpegEncode, RestartIntervals) {
  std::vector<uint32_t> intervals = {1, 7, 11, 65535};
  if (!quick()) intervals.insert(intervals.end(), {2, 3, 10, 13, 64});
  for (const uint32_t restart : intervals)
    for (const JpegFill fill :
         {JpegFill::kPicture, JpegFill::kSparse, JpegFill::kZero, JpegFill::kOnes}) {
      if (quick() && restart == 1 && fill != JpegFill::kSparse) continue;
      check_case({161, 60, kYcbcr, 2, 2, fill, restart});
      check_case({61, 60, kYcck, 2, 1, fill, restart});
      check_case({75, 40, kGray, 1, 1, fill, restart, true});
    }
}

TEST(JpegEncode, OptimizedTablesOfManyPictures) {
  for (uint32_t width = 1; width < (quick() ? 20u : 120u); width += 7)
    for (const JpegFill fill : {JpegFill::kPicture, JpegFill::kDense, JpegFill::kSparse})
      check_case({width, 60, width % 2 ? kYcbcr : kRgb, 1, 1, fill, 0, true});
}

TEST(JpegEncode, ManyTiles) {
  if (quick()) GTEST_SKIP();
  check_case({1920, 1080, kYcbcr, 2, 2});
  check_case({1921, 1081, kYcbcr, 2, 1, JpegFill::kPicture, 1});
  check_case({640, 480, kYcbcr, 1, 1, JpegFill::kExtreme});
}

// Symbols rare enough for the longest codes, which then have to be shortened.
TEST(JpegEncode, OptimalTablesOfFibonacciNumbers) {
  JpegTestQcoefs qcoefs({8 * 1000, 8 * 12, kGray, 1, 1, JpegFill::kZero});
  JpegBlocks& component = qcoefs.components[0];
  uint32_t a = 1, b = 1, symbol = 0;
  for (size_t i = 0, left = 1; i < 12000; ++i) {
    int16_t* block = &component.qcoefs[component.stride * (i / 1000) + 64 * (i % 1000)];
    // Run and size count through the symbols.
    block[jpeg_natural_index(1 + symbol / 10)] = static_cast<int16_t>(1 << symbol % 10);
    if (--left > 0) continue;
    const uint32_t next = a + b;
    a = b;
    b = next;
    left = next;
    ++symbol;
  }
  for (const Coder& coder : coders()) {
    if (quick() && !coder.engine.device->is_host()) continue;
    Picture own(coder, {8 * 1000, 8 * 12, kGray, 1, 1, JpegFill::kZero, 0, true}, qcoefs);
    const JpegHuffmanTables tables = own.optimal_tables();
    EXPECT_GT(tables.ac[0].counts[16], 2);
    JpegWriter writer;
    JpegBytes expected;
    ASSERT_TRUE(writer.write(own.picture, own.options, &expected).ok());
    JpegHeaders headers;
    EXPECT_EQ(own.file(expected.size(), &headers),
              Bytes(expected.data(), expected.data() + expected.size()));
  }
}

TEST(JpegEncode, QcoefsThatAreNotPlainAreReported) {
  const JpegCase c{100, 75, kYcbcr, 2, 2};
  const struct {
    size_t component, at;
    int16_t value;
    bool plain;
  } changes[] = {{0, 64 * 20 + 5, 1023, true},
                 {0, 64 * 20 + 5, -1023, true},
                 {0, 64 * 20 + 5, 1024, false},
                 {1, 64 * 3 + 63, -1024, false},
                 {2, 64 * 10 + 1, -32768, false},
                 {0, 0, 1023, true},
                 {0, 0, 1024, false},
                 {0, 64 * 7, -1024, true},
                 {1, 64 * 6, -1025, false},
                 {2, 64 * 34, 32767, false}};
  for (const auto& change : changes) {
    JpegTestQcoefs qcoefs(c);
    qcoefs.components[change.component].qcoefs[change.at] = change.value;
    for (const Coder& coder : coders()) {
      Picture own(coder, c, qcoefs);
      JpegHeaders headers;
      JpegHuffmanTables tables;
      ASSERT_TRUE(headers.standard_tables(&tables).ok());
      EXPECT_EQ(own.encode(tables, 1 << 20).faults, change.plain ? 0u : kJpegQcoefsNotPlain)
          << coder.engine.name << ": " << change.value << " at " << change.at;
    }
  }
}

TEST(JpegEncode, SymbolsWithoutACodeAreReported) {
  const JpegCase c{100, 75, kYcbcr, 2, 2};
  for (const Coder& coder : coders()) {
    JpegTestQcoefs qcoefs(c);
    Picture own(coder, c, qcoefs);
    JpegHuffmanTables tables = own.optimal_tables();
    EXPECT_EQ(own.encode(tables, 1 << 20).faults, 0u);
    // The rarest is removed.
    int last = 16;
    while (tables.ac[1].counts[last] == 0) --last;
    --tables.ac[1].counts[last];
    EXPECT_NE(own.encode(tables, 1 << 20).faults & kJpegNoCode, 0u) << coder.engine.name;
  }
}

// The kernel still reports the size, which is enough then.
TEST(JpegEncode, MissingRoomIsReported) {
  for (const JpegFill fill : {JpegFill::kPicture, JpegFill::kOnes, JpegFill::kZero}) {
    const JpegCase c{161, 90, kYcbcr, 2, 2, fill, 5};
    JpegTestQcoefs qcoefs(c);
    for (const Coder& coder : coders()) {
      Picture own(coder, c, qcoefs);
      JpegHeaders headers;
      JpegHuffmanTables tables;
      ASSERT_TRUE(headers.standard_tables(&tables).ok());
      const uint32_t size = own.encode(tables, 1 << 20).size;
      const Bytes whole = own.scan();
      for (const size_t capacity : {size_t{1}, size_t{size} / 2, size_t{size} - 1}) {
        const JpegEncodeResult result = own.encode(tables, capacity);
        EXPECT_EQ(result.faults, kJpegNoRoom) << coder.engine.name;
        EXPECT_EQ(result.size, size) << coder.engine.name;
      }
      EXPECT_EQ(own.encode(tables, size).faults, 0u) << coder.engine.name;
      EXPECT_EQ(own.scan(), whole) << coder.engine.name;
    }
  }
}

TEST(JpegEncode, JobsAreValidated) {
  JpegScanLayout layout;
  EXPECT_FALSE(make_jpeg_scan_layout(0, 8, {1}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {0}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {5}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {1, {2}, {1}}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {3, {5, 1, 1}, {1, 1, 1}}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {3, {1, 0, 1}, {1, 1, 1}}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {3, {3, 1, 1}, {3, 1, 1}}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {4, {4, 1, 1, 1}, {2, 1, 1, 1}}, 0, &layout).ok());
  EXPECT_FALSE(make_jpeg_scan_layout(8, 8, {3}, 65536, &layout).ok());
  EXPECT_EQ(make_jpeg_scan_layout(65500, 65500, {3}, 0, &layout).code, StatusCode::kUnsupported);
  EXPECT_TRUE(make_jpeg_scan_layout(8, 8, {2, {3, 2}, {2, 2}}, 0, &layout).ok());
  EXPECT_TRUE(make_jpeg_scan_layout(7680, 4320, {3}, 1, &layout).ok());
  const JpegCase c{100, 75, kYcbcr, 2, 2};
  JpegTestQcoefs qcoefs(c);
  for (const Coder& coder : coders()) {
    Picture own(coder, c, qcoefs);
    JpegCodes codes;
    own.job.output = reinterpret_cast<uint8_t*>(own.job.result);
    EXPECT_FALSE(validate(own.job, false).ok());  // without codes
    own.job.codes = &codes;
    EXPECT_TRUE(validate(own.job, false).ok());
    codes.of[1][7] = jpeg_code(0, 17, 7);
    EXPECT_FALSE(validate(own.job, false).ok());
    codes.of[1][7] = jpeg_code(8, 3, 7);
    EXPECT_FALSE(validate(own.job, false).ok());
    codes.of[1][7] = 0;
    own.job.qcoefs[2].stride -= 2;
    EXPECT_TRUE(validate(own.job, false).ok());  // 8 were left
    own.job.qcoefs[0].stride -= 2;
    EXPECT_FALSE(validate(own.job, false).ok());
  }
}

TEST(JpegEncode, TablesAreChecked) {
  JpegCodes codes;
  JpegHuffmanTables tables;
  EXPECT_TRUE(make_jpeg_codes(tables, &codes).ok());
  tables.ac[0].counts[1] = 2;  // all ones
  tables.ac[0].symbols[1] = 1;
  EXPECT_FALSE(make_jpeg_codes(tables, &codes).ok());
  tables.ac[0].counts[1] = 1;
  tables.ac[0].counts[2] = 1;
  EXPECT_TRUE(make_jpeg_codes(tables, &codes).ok());
  tables.ac[0].symbols[1] = 0;  // twice
  EXPECT_FALSE(make_jpeg_codes(tables, &codes).ok());
  tables = {};
  tables.dc[1].counts[3] = 1;
  tables.dc[1].symbols[0] = 16;
  EXPECT_FALSE(make_jpeg_codes(tables, &codes).ok());
}

}  // namespace
}  // namespace cudatransform::test
