// JPEG files through jpegcoefdec, cudaidct8x8 and jpegcoefenc, judged by libjpeg-turbo: every
// coefficient, every table and every sample is the same.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The files are those of the folders in CUDATRANSFORM_JPEGS (separated by ':', searched through),
// or else a set that make_jpegs.py makes.
#include <gst/app/gstappsink.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegpictures.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

std::string make_script;

bool looks_like_jpeg(const std::string& name) {
  g_autofree gchar* lower = g_ascii_strdown(name.c_str(), -1);
  return g_str_has_suffix(lower, ".jpg") || g_str_has_suffix(lower, ".jpeg");
}

void find_files(const std::string& folder, std::vector<std::string>* files) {
  GDir* dir = g_dir_open(folder.c_str(), 0, nullptr);
  if (!dir) return;
  while (const gchar* name = g_dir_read_name(dir)) {
    const std::string path = folder + "/" + name;
    if (g_file_test(path.c_str(), G_FILE_TEST_IS_DIR))
      find_files(path, files);
    else if (looks_like_jpeg(name))
      files->push_back(path);
  }
  g_dir_close(dir);
}

// The output for one file.
struct Outcome {
  std::string error;
  GstSample* coefficients = nullptr;
  GstSample* frame = nullptr;
  GstSample* jpeg = nullptr;
};

void clear(Outcome* outcome) {
  for (GstSample** sample : {&outcome->coefficients, &outcome->frame, &outcome->jpeg})
    if (*sample) gst_sample_unref(std::exchange(*sample, nullptr));
}

GstSample* take_sample(GstElement* pipeline, const char* name) {
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
  return gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 0);
}

Outcome run(const std::string& path, bool with_frame) {
  Outcome outcome;
  const auto sink = [](const std::string& name) {
    return " ! appsink name=" + name + " sync=false wait-on-eos=false ";
  };
  std::string line = "filesrc name=source ! jpegcoefdec ! tee name=t  t. ! queue" +
                     sink("coefficients") + "t. ! queue ! jpegcoefenc" + sink("jpeg");
  if (with_frame)
    line += "t. ! queue ! " + inverse("method=islow") + " ! video/x-raw" + sink("frame");
  g_autoptr(GstElement) pipeline = gst_parse_launch(line.c_str(), nullptr);
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  g_object_set(source, "location", path.c_str(), nullptr);
  gst_object_unref(source);
  use_kept_cuda_context(pipeline);
  outcome.error = run_to_eos(pipeline);
  keep_cuda_context(pipeline);
  if (outcome.error.empty()) {
    outcome.coefficients = take_sample(pipeline, "coefficients");
    if (with_frame) outcome.frame = take_sample(pipeline, "frame");
    outcome.jpeg = take_sample(pipeline, "jpeg");
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return outcome;
}

// "" or the fault.
std::string judge(const std::string& path, bool* supported) {
  g_autofree gchar* data = nullptr;
  gsize size = 0;
  if (!g_file_get_contents(path.c_str(), &data, &size, nullptr)) return "cannot be read";
  const std::vector<guint8> file(data, data + size);
  const JpegJudge expected(file);
  const bool with_frame = !expected.has_four();
  Outcome outcome = run(path, with_frame);
  std::string wrong;
  *supported = expected.is_ours();
  if (!*supported) {
    if (outcome.error.empty()) wrong = "went through, though libjpeg says " + expected.kind();
  } else if (!outcome.error.empty()) {
    wrong = outcome.error;
  } else if (!outcome.coefficients || (with_frame && !outcome.frame) || !outcome.jpeg) {
    wrong = "a picture is missing";
  } else {
    wrong = expected.compare_coefficients(outcome.coefficients);
    if (wrong.empty() && with_frame) wrong = expected.compare_frame(outcome.frame);
    if (wrong.empty()) {
      const JpegJudge again(bytes_of(gst_sample_get_buffer(outcome.jpeg)));
      wrong = again.compare_coefficients(outcome.coefficients);
      if (!wrong.empty()) wrong = "written again: " + wrong;
    }
  }
  clear(&outcome);
  return wrong;
}

CHECK_TEST(test_files) {
  std::vector<std::string> files;
  const Folder made;
  if (const gchar* folders = g_getenv("CUDATRANSFORM_JPEGS")) {
    gchar** split = g_strsplit(folders, ":", -1);
    for (gchar** folder = split; *folder; folder++) find_files(*folder, &files);
    g_strfreev(split);
  } else {
    std::string command = make_script + " " + made.path();
    // Slow tools get one size that is odd in both dimensions and MCUs.
    if (quick()) command += " 17x33";
    gint status = 0;
    fail_unless(g_spawn_command_line_sync(command.c_str(), nullptr, nullptr, &status, nullptr));
    fail_unless_equals_int(status, 0);
    for (const FourComponents& kind : kFourComponents) {
      const Bytes jpeg = make_four_components(kind, 65, 33);
      const std::string path = made.file(std::string(kind.sampling) + ".jpg");
      fail_unless(g_file_set_contents(path.c_str(), reinterpret_cast<const gchar*>(jpeg.data()),
                                      static_cast<gssize>(jpeg.size()), nullptr));
    }
    find_files(made.path(), &files);
  }
  fail_if(files.empty(), "no files");
  std::sort(files.begin(), files.end());
  // Neighbors in that order differ in one thing.
  size_t number = 0;
  if (under_valgrind()) std::erase_if(files, [&](const auto&) { return number++ % 3 != 0; });
  int equal = 0, unsupported = 0, wrong = 0;
  for (const std::string& file : files) {
    bool supported = true;
    const std::string text = judge(file, &supported);
    if (!text.empty()) {
      std::printf("%s: %s\n", file.c_str(), text.c_str());
      wrong++;
    } else if (supported) {
      equal++;
    } else {
      std::printf("%s: refused, as it should be\n", file.c_str());
      unsupported++;
    }
  }
  std::printf("%d files equal, %d refused, %d wrong\n", equal, unsupported, wrong);
  fail_unless_equals_int(wrong, 0);
  fail_unless(equal > 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  make_script = argv[1];
  g_autofree gchar* cjpeg = g_find_program_in_path("cjpeg");
  if (!cjpeg && !g_getenv("CUDATRANSFORM_JPEGS"))
    return skip("no cjpeg (package libjpeg-turbo-progs)");
  return testing::run(argc, argv);
}
