// Autoplugging: with ranks that a user raises, decodebin, playbin, encodebin and their like decode
// and encode JPEG with our elements.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/app/gstappsink.h>
#include <gst/pbutils/pbutils.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/check/files.h"
#include "tests/check/frames.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

using Factories = std::vector<const char*>;
const Factories kElements = {"jpegcoefdec", "cudaidct8x8"}, kDecoder = {"cudajpegdec"},
                kEncoder = {"cudajpegenc"};

// A picture and a film, made once.
struct Files {
  Folder folder;
  const std::string picture = folder.file("picture.jpg"), film = folder.file("film.avi");

  Files() {
    const std::string coder =
        ",width=70,height=50,framerate=25/1 ! cudadct8x8 backend=cpu ! jpegcoefenc backend=cpu ! ";
    run_well("videotestsrc num-buffers=1 ! video/x-raw,format=I420" + coder +
             "filesink location=" + picture);
    run_well("videotestsrc num-buffers=5 pattern=ball ! video/x-raw,format=I420" + coder +
             "avimux ! filesink location=" + film);
  }
};

const Files& files() {
  static const Files made;
  return made;
}

// While it lives, factories have another rank than their own.
class Raised {
 public:
  explicit Raised(const Factories& factories) {
    for (const char* name : factories) {
      GstPluginFeature* feature = gst_registry_lookup_feature(gst_registry_get(), name);
      fail_unless(feature != nullptr, "no %s", name);
      features_.push_back({feature, gst_plugin_feature_get_rank(feature)});
      gst_plugin_feature_set_rank(feature, GST_RANK_PRIMARY + 100);
    }
  }
  ~Raised() {
    for (const auto& [feature, rank] : features_) {
      gst_plugin_feature_set_rank(feature, rank);
      gst_object_unref(feature);
    }
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  struct Feature {
    GstPluginFeature* feature;
    guint rank;
  };
  std::vector<Feature> features_;
};

bool has_ours(GstElement* bin, const char* factory) {
  bool found = false;
  GstIterator* elements = gst_bin_iterate_all_by_element_factory_name(GST_BIN(bin), factory);
  GValue item = G_VALUE_INIT;
  if (gst_iterator_next(elements, &item) == GST_ITERATOR_OK) found = true;
  if (G_IS_VALUE(&item)) g_value_unset(&item);
  gst_iterator_free(elements);
  return found;
}

GstFlowReturn collect(GstAppSink* sink, gpointer data) {
  g_autoptr(GstSample) sample = gst_app_sink_pull_sample(sink);
  static_cast<Frames*>(data)->push_back(
      samples_of(gst_sample_get_buffer(sample), gst_sample_get_caps(sample)));
  return GST_FLOW_OK;
}

// See until_it_ends().
struct Attempt {
  int seconds;
  std::string failure;  // why it did not end
};

using Look = std::function<void(GstElement*)>;

// The pictures that a playbin shows.
Frames try_to_play(const char* player, const std::string& file, const Look& look,
                   Attempt* attempt) {
  Frames frames;
  GstElement* sink = gst_parse_launch("appsink sync=false caps=video/x-raw", nullptr);
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = collect;
  gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &frames, nullptr);
  g_autoptr(GstElement) pipeline = gst_element_factory_make(player, nullptr);
  g_object_set(pipeline, "uri", ("file://" + file).c_str(), "video-sink", sink, nullptr);
  attempt->failure = run_to_eos(pipeline, attempt->seconds);
  if (attempt->failure.empty()) look(pipeline);  // an unfinished run may have plugged nothing
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return frames;
}

// The pictures of a line that ends in such a sink.
Frames try_line(const std::string& source, const Look& look, Attempt* attempt) {
  Frames frames;
  g_autoptr(GstElement) pipeline =
      launch(source + " ! appsink name=sink sync=false caps=video/x-raw");
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstAppSinkCallbacks callbacks = {};
  callbacks.new_sample = collect;
  gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &frames, nullptr);
  attempt->failure = run_to_eos(pipeline, attempt->seconds);
  if (attempt->failure.empty()) look(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return frames;
}

// GStreamer 1.22's decodebin3, and with it uridecodebin3 and playbin3, sometimes does not end on a
// busy machine, even with its own decoders: it gets five attempts. One that ends takes a tenth of
// a second, the last of them may be slow.
Frames until_it_ends(const std::string& what, const std::function<Frames(Attempt*)>& run) {
  Attempt attempt;
  Frames frames;
  for (int seconds : {3, 5, 8, 12, 20}) {
    attempt = {seconds, {}};
    frames = run(&attempt);
    if (attempt.failure != "timeout") break;
  }
  fail_unless(attempt.failure.empty(), "%s: %s", what.c_str(), attempt.failure.c_str());
  return frames;
}

// Plays `file` in every way that plugs decoders automatically: `take` gets the pictures. playbin3
// decodes with decodebin3.
void play_all_ways(const std::string& file, const Look& look,
                   const std::function<void(const std::string&, const Frames&)>& take) {
  const std::string from = "filesrc location=" + file, uri = " uri=file://" + file;
  for (const std::string& source :
       {from + " ! decodebin", from + " ! decodebin3", "uridecodebin" + uri, "uridecodebin3" + uri})
    take(source,
         until_it_ends(source, [&](Attempt* attempt) { return try_line(source, look, attempt); }));
  for (const char* player : {"playbin", "playbin3"})
    take(player, until_it_ends(player, [&](Attempt* attempt) {
           return try_to_play(player, file, look, attempt);
         }));
}

void check(const std::string& file, const std::string& direct) {
  const Raised raised(kDecoder);
  const Frames expected =
      play(direct + "jpegcoefdec ! cudaidct8x8 backend=cpu ! appsink name=sink sync=false");
  bool ours = true;
  const auto look = [&](GstElement* pipeline) {
    for (const char* factory : kDecoder) ours = ours && has_ours(pipeline, factory);
  };
  play_all_ways(file, look, [&](const std::string& what, const Frames& frames) {
    compare(frames, expected, what);
    fail_unless(ours, "%s: other decoders", what.c_str());
  });
}

// By default none of our elements is autoplugged.
CHECK_TEST(test_ranks_as_they_are) {
  if (require_element_or_skip("jpegdec") != 0) return;
  std::string found;
  const auto look = [&](GstElement* pipeline) {
    for (const Factories& factories : {kElements, kDecoder})
      for (const char* factory : factories)
        if (has_ours(pipeline, factory)) found = factory;
  };
  play_all_ways(files().picture, look, [&](const std::string& what, const Frames& frames) {
    fail_unless(found.empty(), "%s: %s", what.c_str(), found.c_str());
    fail_unless_equals_uint64(frames.size(), 1);
  });
}

CHECK_TEST(test_raised_ranks) {
  const Files& f = files();
  check(f.picture, "filesrc location=" + f.picture + " ! ");
  check(f.film, "filesrc location=" + f.film + " ! avidemux ! ");
}

// gst-discoverer's library finds the pictures' size.
CHECK_TEST(test_discoverer) {
  const Raised raised(kDecoder);
  for (const std::string& file : {files().picture, files().film}) {
    g_autoptr(GError) error = nullptr;
    g_autoptr(GstDiscoverer) discoverer = gst_discoverer_new(20 * GST_SECOND, &error);
    g_autoptr(GstDiscovererInfo) info =
        gst_discoverer_discover_uri(discoverer, ("file://" + file).c_str(), &error);
    fail_unless(error == nullptr, "%s", error ? error->message : "");
    GList* streams = gst_discoverer_info_get_video_streams(info);
    fail_unless_equals_int(g_list_length(streams), 1);
    auto* stream = static_cast<GstDiscovererVideoInfo*>(streams->data);
    fail_unless_equals_int(gst_discoverer_video_info_get_width(stream), 70);
    fail_unless_equals_int(gst_discoverer_video_info_get_height(stream), 50);
    gst_discoverer_stream_info_list_free(streams);
  }
}

// encodebin takes jpegenc unless the rank is raised.
CHECK_TEST(test_encodebin) {
  const std::string source =
      "videotestsrc num-buffers=3 pattern=ball ! video/x-raw,format=I420,width=70,height=50,"
      "colorimetry=1:4:0:0 ! ";
  const std::string sink = " ! appsink name=sink sync=false";
  bool ours = false;
  const auto encode = [&] {
    return play(source + "encodebin profile=image/jpeg" + sink, nullptr,
                [&](GstElement* pipeline) { ours = has_ours(pipeline, "cudajpegenc"); });
  };
  if (require_element_or_skip("jpegenc") == 0) encode();
  fail_if(ours, "encodebin without a raised rank");
  const Raised raised(kEncoder);
  const Frames files = encode();
  fail_unless(ours, "encodebin with another encoder");
  // jifmux, after the encoder, adds segments.
  const Frames expected = play(source + "cudadct8x8 ! jpegcoefenc" + sink);
  fail_unless_equals_uint64(files.size(), expected.size());
  for (size_t i = 0; i < files.size(); i++) {
    const std::string wrong = difference(read_jpeg(files[i]), read_jpeg(expected[i]));
    fail_unless(wrong.empty(), "file %zu: %s", i, wrong.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  for (const char* element : {"avimux", "decodebin3", "playbin3", "uridecodebin3", "encodebin"})
    if (const int status = require_element_or_skip(element)) return status;
  return testing::run(argc, argv);
}
