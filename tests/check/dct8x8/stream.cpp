// A decoded video with sound, through both elements, to the end: every frame arrives, with its own
// timestamps.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <utility>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

using Times = std::vector<std::pair<GstClockTime, GstClockTime>>;

GstPadProbeReturn note_times(GstPad*, GstPadProbeInfo* info, gpointer data) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  static_cast<Times*>(data)->emplace_back(GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer));
  return GST_PAD_PROBE_OK;
}

void watch(GstElement* pipeline, const char* name, Times* times) {
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, note_times, times, nullptr);
}

constexpr int kFrames = 300;

void check_stream(const std::string& path, const std::string& between) {
  const std::string line = "filesrc location=" + path +
                           " ! decodebin name=d d. ! queue ! videoconvert ! " +
                           forward("name=first measure=psnr keep-reference=true") + between +
                           " ! " + inverse("measure=psnr") +
                           " ! videoconvert ! fakesink name=last async=false d. ! queue ! "
                           "audioconvert ! fakesink name=sound async=false";
  g_autoptr(GstElement) pipeline = launch(line);
  Times before, after, sound;
  watch(pipeline, "first", &before);
  watch(pipeline, "last", &after);
  watch(pipeline, "sound", &sound);
  run_well(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless_equals_uint64(before.size(), kFrames);
  fail_unless(before == after, "timestamps changed");
  fail_unless(!sound.empty());
}

CHECK_TEST(test_video_with_sound) {
  const Folder folder;
  const std::string path = folder.file("video.ogg");
  run_well(
      "videotestsrc pattern=ball num-buffers=" + std::to_string(kFrames) +
      " ! video/x-raw,format=I420,width=176,height=144,framerate=30000/1001 ! theoraenc ! queue ! "
      "oggmux name=m ! filesink location=" +
      path + " audiotestsrc num-buffers=400 ! audioconvert ! vorbisenc ! queue ! m.");
  check_stream(path, "");
  check_stream(path, " ! queue max-size-buffers=3");
}

}  // namespace

int main(int argc, char** argv) {
  // Not our leak: the libraries that decodebin loads leak as they start.
  if (g_getenv("CUDATRANSFORM_VALGRIND")) return testing::skip("decoders under valgrind");
  gst_init(&argc, &argv);
  for (const char* needed : {"decodebin", "theoraenc", "theoradec", "vorbisenc", "oggmux"})
    if (const int status = testing::require_element_or_skip(needed)) return status;
  return testing::run(argc, argv);
}
