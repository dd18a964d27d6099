// Which pictures a device decodes as the only ones of their engine.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/lanes.h"

#include <functional>

#include "tests/check/fakecuda/fakecuda.h"
#include "tests/core/support.h"
#include "tests/jpeg/streams.h"
#if CT_HAVE_CUDA
#include "cuda/device/cuda_device.h"

namespace cudatransform::test {
namespace {

class Probe : public core::Chunk {
 public:
  explicit Probe(bool* was_alone, std::function<void()> meanwhile = {}, core::Latch* end = nullptr)
      : was_alone_(was_alone), meanwhile_(std::move(meanwhile)), end_(end) {}
  size_t count() const override { return 1; }
  Status place(core::Lane& lane) override {
    *was_alone_ = lane.is_alone;
    if (meanwhile_) meanwhile_();
    return {};
  }
  void pack(core::Lane&, size_t) override {}
  Status submit(core::Lane&) override { return {}; }
  void settle(core::Lane&, const Status& status) override { EXPECT_TRUE(status.ok()); }
  void end() override {
    if (end_ != nullptr) end_->step();
  }

 private:
  bool* const was_alone_;
  const std::function<void()> meanwhile_;
  core::Latch* const end_;
};

TEST(Lanes, AChunkIsAloneIfAllOthersAreIdle) {
  if (device < 0) GTEST_SKIP() << "no device";
  std::unique_ptr<Device> made;
  ASSERT_TRUE(make_primary_cuda_device(device, &made).ok());
  core::Threads threads(2);
  std::unique_ptr<core::Lanes> lanes;
  ASSERT_TRUE(core::Lanes::make(*made, threads, &lanes).ok());
  bool outer = false, inner = true, added = true, later = false;
  Probe within(&inner);
  Probe first(&outer, [&] { lanes->run(within); });
  lanes->run(first);
  EXPECT_TRUE(outer);
  EXPECT_FALSE(inner);
  core::Latch end(1);  // more chunks may follow one that does not wait
  lanes->add(std::make_unique<Probe>(&added, nullptr, &end));
  end.wait();
  EXPECT_FALSE(added);
  Probe last(&later);
  lanes->run(last);
  EXPECT_TRUE(later);
}

TEST(Lanes, APictureThatIsAloneIsDecodedInParts) {
  if (device < 0 || count_launches("jpeg_decode_parts") < 0) GTEST_SKIP() << "no fake driver";
  const Engine engine(device);
  // Larger than what is decoded so beside others.
  const Bytes file = make_stream({.width = 1800, .height = 500, .sparse = true});
  const int before = count_launches("jpeg_decode_parts");
  EXPECT_EQ(decode(engine, {file}, decode_options(CT_OUTPUT_COEFFICIENTS))[0].error.code, CT_OK);
  EXPECT_EQ(count_launches("jpeg_decode_parts") - before, 1);
  decode(engine, {file, file}, decode_options(CT_OUTPUT_COEFFICIENTS));
  EXPECT_EQ(count_launches("jpeg_decode_parts") - before, 1);
}

}  // namespace
}  // namespace cudatransform::test

#endif
