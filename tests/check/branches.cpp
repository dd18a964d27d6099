// Coefficients that several branches of a pipeline read at once, through tee and queue, some of
// them by elements that know their fence and some by appsinks that do not: everybody reads the
// right bytes. SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/app/gstappsink.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;
using Bytes = std::vector<guint8>;

// What can be seen of a buffer, without what lies between its rows.
Bytes visible_bytes(GstSample* sample) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  GstCaps* caps = gst_sample_get_caps(sample);
  const Bytes all = bytes_of(buffer);
  const char* media = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  if (strcmp(media, "image/jpeg") == 0) return all;
  Bytes seen;
  const auto take = [&](gsize offset, gsize stride, gsize row_bytes, gsize rows) {
    for (gsize y = 0; y < rows; y++) {
      fail_unless(offset + y * stride + row_bytes <= all.size());
      const auto row = all.begin() + static_cast<ptrdiff_t>(offset + y * stride);
      seen.insert(seen.end(), row, row + static_cast<ptrdiff_t>(row_bytes));
    }
  };
  if (strcmp(media, "video/x-raw") == 0) {
    GstVideoInfo info;
    fail_unless(gst_video_info_from_caps(&info, caps));
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); p++)
      take(GST_VIDEO_INFO_PLANE_OFFSET(&info, p),
           static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&info, p)),
           static_cast<gsize>(GST_VIDEO_INFO_COMP_WIDTH(&info, p)),
           static_cast<gsize>(GST_VIDEO_INFO_COMP_HEIGHT(&info, p)));
    return seen;
  }
  GstDctInfo info;
  fail_unless(gst_dct_info_from_caps(&info, caps));
  const GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  for (guint c = 0; c < info.n_components; c++)
    take(meta->components[c].offset, meta->components[c].stride, gst_dct_info_row_bytes(&info, c),
         gst_dct_info_rows(&info, c));
  return seen;
}

GstFlowReturn collect(GstAppSink* sink, gpointer data) {
  GstSample* sample = gst_app_sink_pull_sample(sink);
  static_cast<std::vector<Bytes>*>(data)->push_back(visible_bytes(sample));
  gst_sample_unref(sample);
  return GST_FLOW_OK;
}

// What the appsinks of a pipeline got, by their names.
std::map<std::string, std::vector<Bytes>> run_branches(const std::string& line,
                                                       const std::vector<std::string>& sinks) {
  std::map<std::string, std::vector<Bytes>> got;
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
  fail_unless(error == nullptr, "%s", error ? error->message : "");
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = collect;
  for (const std::string& name : sinks) {
    GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), name.c_str());
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &got[name], nullptr);
    gst_object_unref(sink);
  }
  const std::string text = run_to_eos(pipeline);
  fail_unless(text.empty(), "%s: %s", line.c_str(), text.c_str());
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return got;
}

// "... ! tee" with `branches`, each behind a queue, against each branch alone on the CPU engine.
void check_branches(const std::string& source, const std::string& head,
                    const std::vector<std::string>& branches) {
  const auto on = [](std::string text, const char* engine) {
    const std::string mark = "ENGINE";
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, mark.size(), std::string("backend=") + engine);
    return text;
  };
  std::string line = source + on(head, backend()) + " ! tee name=t";
  std::vector<std::string> sinks;
  std::map<std::string, std::vector<Bytes>> expected;
  for (const std::string& branch : branches) {
    const std::string sink(1, static_cast<char>('a' + sinks.size()));
    const std::string end = branch + " ! appsink name=" + sink + " sync=false";
    expected[sink] = run_branches(source + on(head + " ! " + end, "cpu"), {sink})[sink];
    line += " t. ! queue max-size-buffers=3 ! " + on(end, backend());
    sinks.push_back(sink);
  }
  const auto found = run_branches(line, sinks);
  for (const std::string& sink : sinks) {
    const auto& want = expected[sink];
    const auto& have = found.at(sink);
    fail_unless(!want.empty());
    fail_unless_equals_uint64(have.size(), want.size());
    for (size_t i = 0; i < want.size(); i++)
      fail_unless(have[i] == want[i], "%s: %s: buffer %d differs", line.c_str(), sink.c_str(),
                  static_cast<int>(i));
  }
}

std::string source_of(const char* size) {
  return std::string("videotestsrc pattern=ball num-buffers=") + (quick() ? "10" : "60") +
         " ! video/x-raw,format=I420," + size + " ! ";
}

constexpr const char* kInverse = "cudaidct8x8 ENGINE ! video/x-raw";

GST_START_TEST(test_transforms) {
  for (const char* size : {"width=320,height=192", "width=70,height=46"})
    check_branches(source_of(size), "cudadct8x8 ENGINE",
                   {"video/x-dct(ANY)", kInverse, "cudaidct8x8 ENGINE scale=1/2 ! video/x-raw",
                    "identity drop-allocation=true"});
}
GST_END_TEST;

GST_START_TEST(test_all_branches_know_the_fence) {
  check_branches(source_of("width=320,height=192"), "cudadct8x8 ENGINE", {kInverse, kInverse});
}
GST_END_TEST;

GST_START_TEST(test_files) {
  if (require_element_or_skip("jpegcoefdec") != 0) return;
  const std::string files = "cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu ! ";
  const std::string writer = "jpegcoefenc ENGINE n-threads=3 ! image/jpeg";
  for (const char* size : {"width=320,height=192", "width=70,height=46"}) {
    check_branches(source_of(size) + files, "jpegcoefdec ENGINE n-threads=3",
                   {"video/x-dct(ANY)", kInverse, writer, writer});
    check_branches(source_of(size), "cudadct8x8 ENGINE", {writer, kInverse, "video/x-dct(ANY)"});
  }
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("branches");
  TCase* tc = tcase_create("branches");
  tcase_set_timeout(tc, 180);
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_transforms);
  tcase_add_test(tc, test_all_branches_know_the_fence);
  tcase_add_test(tc, test_files);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
