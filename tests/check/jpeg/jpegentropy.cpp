// jpegcoefdec with entropy-backend=cuda compared with entropy-backend=cpu: equal coefficients,
// verdicts and counts. The device decodes every undamaged file that it supports.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Coefficients are compared as the files that jpegcoefenc makes of them.
// CUDATRANSFORM_TEST_PICTURES: how many damaged files, and how many tiny ones.
// CUDATRANSFORM_TEST_SEED: where chance begins, to damage them in other ways.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"
#include "tests/jpeg/slow_codec.h"

namespace {

using namespace testing;
using cudatransform::test::random_deep_picture;
using cudatransform::test::slow_encode;

struct Counts {
  guint64 frames = 0, damaged = 0, dropped = 0, irregular = 0;
  bool operator==(const Counts&) const = default;
};

// The results of a stream of pictures.
struct Outcome {
  std::vector<Bytes> files;
  std::vector<GstClockTime> times;
  std::vector<bool> corrupted;
  GstFlowReturn flow = GST_FLOW_OK;
  Counts counts;
  guint64 by_cuda = 0, by_cpu = 0;
};

Outcome decode(const std::vector<Bytes>& pictures, const std::string& properties,
               const char* between = "") {
  Outcome outcome;
  const std::string line = "jpegcoefdec name=decoder max-errors=-1 " + properties + " ! " +
                           between + "jpegcoefenc n-threads=1";
  GstHarness* h = new_harness(line);
  gst_harness_set_src_caps_str(h, "image/jpeg,parsed=true,framerate=25/1");
  GstClockTime time = 0;
  for (const Bytes& picture : pictures) {
    outcome.flow = gst_harness_push(h, buffer_of(picture, time));
    time += 40 * GST_MSECOND;
  }
  gst_harness_push_event(h, gst_event_new_eos());
  while (GstBuffer* buffer = gst_harness_try_pull(h)) {
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    outcome.files.emplace_back(map.data, map.data + map.size);
    gst_buffer_unmap(buffer, &map);
    outcome.times.push_back(GST_BUFFER_PTS(buffer));
    outcome.corrupted.push_back(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED));
    gst_buffer_unref(buffer);
  }
  GstElement* decoder = gst_harness_find_element(h, "jpegcoefdec");
  outcome.counts = {stat_of(decoder, "frames"), stat_of(decoder, "damaged"),
                    stat_of(decoder, "dropped"), stat_of(decoder, "irregular")};
  outcome.by_cuda = stat_of(decoder, "cuda-frames");
  outcome.by_cpu = stat_of(decoder, "cpu-frames");
  gst_object_unref(decoder);
  end_harness(h);
  fail_unless_equals_uint64(outcome.by_cuda + outcome.by_cpu, outcome.counts.frames);
  return outcome;
}

// Returns the number of pictures that the device decoded.
Outcome expect_same(const std::vector<Bytes>& pictures, const std::string& properties = "",
                    const char* between = "") {
  const Outcome judge = decode(pictures, "entropy-backend=cpu " + properties);
  const Outcome ours = decode(pictures, "entropy-backend=cuda " + properties, between);
  fail_unless_equals_uint64(judge.by_cuda, 0);
  fail_unless(ours.counts == judge.counts, "other counts: %d damaged, not %d",
              static_cast<int>(ours.counts.damaged), static_cast<int>(judge.counts.damaged));
  fail_unless(ours.flow == judge.flow);
  fail_unless(ours.times == judge.times && ours.corrupted == judge.corrupted);
  fail_unless_equals_uint64(ours.files.size(), judge.files.size());
  for (size_t i = 0; i < ours.files.size(); i++)
    fail_unless(ours.files[i] == judge.files[i], "picture %d differs", static_cast<int>(i));
  return ours;
}

int picture_count(int otherwise, int quickly) {
  const char* wanted = g_getenv("CUDATRANSFORM_TEST_PICTURES");
  if (wanted) return std::atoi(wanted);
  return quick() ? quickly : otherwise;
}

// With other pictures and a trailer after the first.
std::vector<Bytes> files_of_several() {
  const Bytes cmyk = make_four_components(kFourComponents[0], 80, 64);
  return {several(true), several(false, Bytes(100, 7)),
          joined({first_of(cmyk, others(), true), joined(others())})};
}

std::vector<Bytes> some_pictures() {
  std::vector<Bytes> pictures;
  guint seed = 1;
  for (const Subsampling subsampling : {Subsampling::kGray, Subsampling::k422, Subsampling::k420}) {
    for (const int quality : {20, 90, 100}) {
      for (const auto& [width, height] : {std::pair{1, 1}, {65, 33}, {160, 112}})
        pictures.push_back(make_jpeg(width, height, subsampling, quality, seed++));
    }
  }
  for (const FourComponents& kind : kFourComponents)
    pictures.push_back(make_four_components(kind, 65, 33, seed++));
  for (const int components : {1, 3})
    pictures.push_back(slow_encode(random_deep_picture(65, 33, components, 2, 2, seed++)));
  for (const Bytes& file : files_of_several()) pictures.push_back(file);
  return pictures;
}

CHECK_TEST_IF(test_sound_pictures_are_decoded_on_the_device, is_cuda()) {
  const std::vector<Bytes> pictures = some_pictures();
  for (const char* threads : {"n-threads=1", "n-threads=4"}) {
    const Outcome ours = expect_same(pictures, threads);
    fail_unless_equals_uint64(ours.by_cuda, pictures.size());
    fail_unless_equals_uint64(ours.by_cpu, 0);
  }
}

CHECK_TEST_IF(test_fetched_to_system_memory, is_cuda()) {
  const Outcome ours = expect_same(some_pictures(), "n-threads=3", "video/x-dct ! ");
  fail_unless_equals_uint64(ours.by_cpu, 0);
}

// In order with the others.
CHECK_TEST_IF(test_other_kinds_are_decoded_by_the_cpu, is_cuda()) {
  std::vector<Bytes> pictures;
  for (guint i = 0; i < 12; i++) {
    const Bytes picture = make_jpeg(64, 48, Subsampling::k420, 75, i + 1);
    pictures.push_back(i % 3 == 1 ? with_qcoef(picture, 5, static_cast<int>(i)) : picture);
  }
  const Outcome ours = expect_same(pictures, "n-threads=4");
  fail_unless_equals_uint64(ours.by_cuda, 8);
  fail_unless_equals_uint64(ours.by_cpu, 4);
}

// One fault, or several, anywhere.
Bytes with_damage(Bytes picture, std::mt19937& random) {
  const gsize at = 20 + random() % (picture.size() - 20);
  const auto place = picture.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 7) {
    case 0:
      picture[at] ^= static_cast<guint8>(1u << random() % 8);
      break;
    case 1:
      picture.resize(at);
      break;
    case 2:
      picture.erase(place);
      break;
    case 3:
      picture.insert(place, static_cast<guint8>(random()));
      break;
    case 4:
      picture[at - 1] = 0xff;
      picture[at] = static_cast<guint8>(0xd0 + random() % 10);
      break;
    case 5:
      for (guint i = 2 + random() % 6; i > 0; i--)
        picture[20 + random() % (picture.size() - 20)] = static_cast<guint8>(random());
      break;
    default:
      picture = damaged(picture);
      break;
  }
  return picture;
}

// In parts, because the test keeps the output.
CHECK_TEST_IF(test_damage_has_the_same_verdict, is_cuda()) {
  constexpr int kPart = 500;
  const char* begin = g_getenv("CUDATRANSFORM_TEST_SEED");
  std::mt19937 random(begin ? static_cast<guint>(std::atoi(begin)) : 11);
  std::vector<Bytes> good;
  guint seed = 1;
  for (const Subsampling subsampling : {Subsampling::k420, Subsampling::k422, Subsampling::kGray})
    for (const int quality : {50, 85, 98})
      good.push_back(make_jpeg(80, 64, subsampling, quality, seed++));
  for (const FourComponents& kind : kFourComponents)
    good.push_back(make_four_components(kind, 80, 64, seed++));
  for (const int components : {1, 3, 3})
    good.push_back(slow_encode(random_deep_picture(80, 64, components, 2, 1, seed++)));
  for (const Bytes& file : files_of_several()) good.push_back(file);
  const int count = picture_count(200, 30);
  guint64 damaged = 0, by_cuda = 0;
  for (int done = 0; done < count; done += kPart) {
    std::vector<Bytes> pictures;
    for (int i = 0; i < std::min(kPart, count - done); i++) {
      const Bytes& one = good[static_cast<gsize>(i) % good.size()];
      pictures.push_back(with_damage(one, random));
      if (i % 4 == 0) pictures.push_back(one);
    }
    for (const char* on_error : {"drop", "conceal"}) {
      const Outcome ours = expect_same(pictures, std::string("n-threads=3 on-error=") + on_error);
      damaged += ours.counts.damaged;
      by_cuda += ours.by_cuda;
    }
  }
  std::printf("%d files, twice: %d damaged, %d decoded by the device\n", count,
              static_cast<int>(damaged), static_cast<int>(by_cuda));
  fail_unless(damaged > static_cast<guint64>(count) / 2);
  fail_unless(by_cuda >= static_cast<guint64>(count) / 3);
}

// More of them than any queue, lane or pool of the element holds.
CHECK_TEST_IF(test_thousands_of_tiny_pictures, is_cuda()) {
  std::vector<Bytes> kinds, pictures;
  guint seed = 1;
  for (const Subsampling subsampling : {Subsampling::kGray, Subsampling::k422, Subsampling::k420})
    for (const int size : {1, 7, 8, 9, 17})
      kinds.push_back(make_jpeg(size, size, subsampling, 90, seed++));
  for (const FourComponents& kind : kFourComponents)
    kinds.push_back(make_four_components(kind, 9, 9, seed++));
  kinds.push_back(slow_encode(random_deep_picture(9, 9, 3, 2, 2, seed++)));
  const int count = picture_count(3000, 100);
  for (int i = 0; i < count; i++)
    pictures.push_back(kinds[static_cast<gsize>(i / 16) % kinds.size()]);
  const Outcome ours = expect_same(pictures, "n-threads=8");
  fail_unless_equals_uint64(ours.by_cuda, pictures.size());
}

// Where max-memory leaves no room for the device's share.
CHECK_TEST_IF(test_without_memory_for_the_device, is_cuda()) {
  const Bytes picture = make_jpeg(256, 256, Subsampling::k420, 90);
  // Counts for libjpeg-turbo, and for the decoder of sound files.
  const gsize decoders = (gsize{1} << 17) + (gsize{1} << 16);
  const gsize needed = picture.size() + 256 * 256 * 3 + decoders;
  const Outcome ours =
      expect_same({picture, picture}, "n-threads=1 max-memory=" + std::to_string(needed + 1000));
  fail_unless_equals_uint64(ours.by_cpu, 2);
  fail_unless_equals_uint64(ours.counts.damaged, 0);
}

// A core decodes a small one sooner than the device.
CHECK_TEST_IF(test_auto_looks_at_the_size, is_cuda()) {
  const Bytes small = make_jpeg(128, 96), large = make_jpeg(128, 96, Subsampling::k420, 100);
  fail_unless(small.size() < 8'000 && large.size() > 8'000 && large.size() < 30'000,
              "%" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT " bytes", small.size(), large.size());
  const Outcome both = decode({small, large}, "n-threads=1");
  fail_unless_equals_uint64(both.by_cuda, 1);
  const Outcome system = decode({small, large}, "n-threads=1", "video/x-dct ! ");
  fail_unless_equals_uint64(system.by_cuda, 0);
}

// max-memory has room for the picture on the CPU, and then for the device's share as well. That
// bytes follow the picture, a worker finds when the device has its work.
CHECK_TEST_IF(test_memory_of_trailers, is_cuda()) {
  const Bytes file = joined({make_jpeg(64, 48), make_jpeg(512, 400, Subsampling::k420, 100)});
  const auto limit = [](guint64 bytes) {
    return "n-threads=1 max-memory=" + std::to_string(bytes);
  };
  guint64 little = file.size(), enough = 16 * file.size();
  while (enough - little > 1) {
    const guint64 middle = (little + enough) / 2;
    const Outcome outcome = decode({file}, "entropy-backend=cpu " + limit(middle));
    (outcome.counts.frames == 1 ? enough : little) = middle;
  }
  expect_same({file}, limit(little));
  guint64 by_cuda = 0;
  for (guint64 more = 0; more <= 2 * file.size(); more += file.size() / 8)
    by_cuda += expect_same({file}, limit(enough + more)).by_cuda;
  fail_unless(by_cuda > 0);
}

CHECK_TEST(test_refused_without_a_device) {
  g_autoptr(GstElement) decoder = gst_element_factory_make("jpegcoefdec", nullptr);
  const Messages bus(decoder);
  gst_util_set_object_arg(G_OBJECT(decoder), "backend", "cpu");
  gst_util_set_object_arg(G_OBJECT(decoder), "entropy-backend", "cuda");
  fail_unless(gst_element_set_state(decoder, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
  expect(take_text(bus, GST_MESSAGE_ERROR), {"entropy-backend=cuda"});
  gst_element_set_state(decoder, GST_STATE_NULL);
}

}  // namespace
