// Streams through cudajpegdec and cudajpegenc: the same output, answers and messages as from their
// elements in a row.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>

#include "tests/check/files.h"
#include "tests/check/jpeg/jpegbins.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/testing.h"

namespace {

using namespace testing;

constexpr int kCount = G_N_ELEMENTS(kBins);
constexpr const char* kSink = " ! appsink name=sink sync=false";

std::string source_of(const char* format, int frames = 3) {
  return "videotestsrc pattern=ball num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,width=70,height=50,framerate=25/1" +
         (*format ? std::string(",format=") + format : "") + " ! ";
}

// ---- Bytes ----

CHECK_TEST(test_encoded_files) {
  const struct {
    const char *format, *first, *second;
  } cases[] = {
      {"", "quality=90", ""},  // the source's choice among what the encoder takes
      {"I420", "", "progressive=true"},
      {"NV12", "quality=30", "optimize=true"},
      {"BGRx", "quality=30", ""},
      {"Y42B", "method=float", "restart-interval=3"},
      {"Y444", "quant-preset=flat", "arithmetic=true"},
      {"GRAY8", "", "n-threads=2"},
      {"GBR", "", ""},
      {"I420_12LE", "", ""},
  };
  for (const auto& one : cases) {
    const std::string source = source_of(one.format);
    compare(play(source + as_bin(kEncoder, one.first, one.second) + kSink),
            play(source + in_a_row(kEncoder, one.first, one.second) + kSink),
            std::string(one.format) + " " + one.first + " " + one.second);
  }
}

CHECK_TEST(test_decoded_frames) {
  const struct {
    const char *format, *first, *second, *wanted;
  } cases[] = {
      {"I420", "", "", ""},
      {"I420", "", "scale=half", ""},
      {"RGB", "", "chroma-upsampling=nearest", "video/x-raw,format=(string)RGB ! "},
      {"RGBA", "", "scale=quarter", "video/x-raw,format=(string)BGRP ! "},
      {"I420", "n-threads=3", "", "video/x-raw,format=(string){NV12,I420} ! "},
      {"Y444", "entropy-backend=cpu", "method=float", ""},
      {"GRAY8", "", "", ""},
      {"GBR", "", "", ""},
  };
  for (const auto& one : cases) {
    const std::string source =
        source_of(one.format) + in_a_row(kEncoder) + " ! image/jpeg,parsed=true ! ";
    const auto frames = [&](const std::string& decoder) {
      return play(source + decoder + " ! " + one.wanted + "appsink name=sink sync=false");
    };
    compare(frames(as_bin(kDecoder, one.first, one.second)),
            frames(in_a_row(kDecoder, one.first, one.second)),
            std::string(one.format) + " " + one.first + " " + one.second);
  }
}

// Containers and networks, as recipes have them. A stream of each goes through the two bins.
CHECK_TEST(test_transports) {
  const Folder folder;
  const struct {
    const char *muxer, *demuxer;
  } cases[] = {{"avimux", "avidemux"},   {"matroskamux", "matroskademux"},
               {"qtmux", "qtdemux"},     {"multipartmux", "multipartdemux"},
               {"identity", "identity"}, {"identity", "jpegparse"}};
  for (const auto& one : cases) {
    if (require_element_or_skip(one.muxer) || require_element_or_skip(one.demuxer)) continue;
    const std::string file = folder.file(std::string(one.muxer) + one.demuxer);
    run_well(source_of("I420", 5) + as_bin(kEncoder) + " ! " + one.muxer +
             " ! filesink location=" + file);
    const std::string source = "filesrc location=" + file + " ! " + one.demuxer + " ! ";
    const Frames frames = play(source + as_bin(kDecoder) + kSink);
    fail_unless_equals_uint64(frames.size(), 5);
    compare(frames, play(source + in_a_row(kDecoder) + kSink), one.demuxer);
  }
}

CHECK_TEST(test_rtp) {
  if (require_element_or_skip("rtpjpegpay") || require_element_or_skip("rtpjpegdepay")) return;
  const char* over = " ! rtpjpegpay ! rtpjpegdepay ! ";
  int warnings = 0;
  // RTP counts in blocks of eight.
  const std::string source =
      "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=64,height=48 ! ";
  const Frames frames =
      play(source + as_bin(kEncoder) + over + as_bin(kDecoder) + kSink, &warnings);
  fail_unless_equals_uint64(frames.size(), 5);
  fail_unless_equals_int(warnings, 0);
  compare(frames, play(source + in_a_row(kEncoder) + over + in_a_row(kDecoder) + kSink), "RTP");
  // The warning about files that RTP does not carry sees the payloader outside of the bin.
  play(source + as_bin(kEncoder, "", "optimize=true") + " ! queue ! rtpjpegpay" + kSink, &warnings);
  fail_unless_equals_int(warnings, 1);
}

// A camera's pictures, one at a time, in the caps that v4l2src has for them.
Frames shot_by_camera(const Frames& files, const std::string& decoder) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(decoder.c_str());
  gst_harness_set_live(h, TRUE);
  gst_harness_set_sink_caps_str(h, "video/x-raw");
  gst_harness_set_src_caps_str(
      h,
      "image/jpeg,parsed=true,width=70,height=50,pixel-aspect-ratio=1/1,framerate=30/1,"
      "interlace-mode=progressive,colorimetry=2:4:7:1");
  fail_unless_equals_uint64(gst_harness_query_latency(h), 0);
  Frames frames;
  for (size_t i = 0; i < files.size(); i++) {
    GstBuffer* file = gst_buffer_new_memdup(files[i].data(), files[i].size());
    GST_BUFFER_PTS(file) = i * kFrame;
    g_autoptr(GstBuffer) frame = gst_harness_push_and_pull(h, file);
    fail_unless_equals_uint64(GST_BUFFER_PTS(frame), i * kFrame);
    g_autoptr(GstCaps) caps = current_caps(h);
    frames.push_back(samples_of(frame, caps));
  }
  g_autoptr(GstCaps) caps = current_caps(h);
  g_autoptr(GstCaps) expected = gst_caps_from_string(
      "video/x-raw,format=I420,width=70,height=50,framerate=30/1,colorimetry=1:4:0:0");
  g_autofree gchar* text = gst_caps_to_string(caps);
  fail_unless(gst_caps_is_subset(caps, expected), "%s", text);
  return frames;
}

CHECK_TEST(test_camera) {
  const Frames files = play(source_of("I420") + in_a_row(kEncoder) + kSink);
  compare(shot_by_camera(files, as_bin(kDecoder, "n-threads=1")),
          shot_by_camera(files, in_a_row(kDecoder, "n-threads=1")), "camera");
}

// ---- Negotiation ----

CHECK_LOOP_TEST(test_templates, 0, kCount) {
  const Bin& kind = kBins[__i__];
  const auto template_of = [](const char* element, const char* pad) {
    g_autoptr(GstElement) made = make(element);
    return gst_pad_template_get_caps(
        gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(made), pad));
  };
  const char* const pads[] = {"sink", "src"};
  for (int i = 0; i < 2; i++) {
    g_autoptr(GstCaps) bin = template_of(kind.name, pads[i]);
    g_autoptr(GstCaps) part = template_of(kind.parts[i], pads[i]);
    fail_unless(gst_caps_is_strictly_equal(bin, part), "%s: %s", kind.name, pads[i]);
  }
}

// The answers of a line's pads, as text: the order counts.
std::string answers_of(const std::string& line, const char* sink_filter, const char* src_filter,
                       const char* sink_caps) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(line.c_str());
  std::string answers;
  const auto ask = [&](GstPad* pad, const char* filter) {
    g_autoptr(GstCaps) asked = filter ? gst_caps_from_string(filter) : nullptr;
    g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(pad, asked);
    g_autofree gchar* text = gst_caps_to_string(caps);
    answers += std::string(text) + "\n";
  };
  for (const char* filter : {static_cast<const char*>(nullptr), sink_filter})
    ask(h->srcpad, filter);
  for (const char* filter : {static_cast<const char*>(nullptr), src_filter})
    ask(h->sinkpad, filter);
  GstCaps* caps = gst_caps_from_string(sink_caps);
  answers += gst_pad_peer_query_accept_caps(h->srcpad, caps) ? "accepted\n" : "refused\n";
  gst_harness_set_src_caps(h, gst_caps_ref(caps));
  g_autoptr(GstQuery) query = gst_query_new_allocation(caps, TRUE);
  gst_caps_unref(caps);
  answers += gst_pad_peer_query(h->srcpad, query) ? "pools " : "no allocation ";
  answers += std::to_string(gst_query_get_n_allocation_pools(query)) + ", metas " +
             std::to_string(gst_query_get_n_allocation_metas(query)) + ", latency ";
  return answers + std::to_string(gst_harness_query_latency(h));
}

CHECK_LOOP_TEST(test_queries, 0, kCount) {
  const Bin& kind = kBins[__i__];
  const bool decodes = __i__ == 0;
  const char* raw = "video/x-raw,format=(string){Y444,GBR,I420,NV12},width=[1,1000]";
  const char* file = "image/jpeg,width=[1,1000],height=[1,500]";
  const char* caps = decodes ? "image/jpeg,width=64,height=48,framerate=25/1"
                             : "video/x-raw,format=NV12,width=64,height=48,framerate=25/1";
  for (const char* threads : {"n-threads=1", "n-threads=3"}) {
    const auto answers = [&](const std::string& line) {
      return answers_of(line, decodes ? file : raw, decodes ? raw : file, caps);
    };
    const std::string bin = answers(as_bin(kind, threads));
    const std::string row = answers(in_a_row(kind, threads, threads));
    fail_unless(bin == row, "%s\nanswers\n%s\nexpected\n%s", kind.name, bin.c_str(), row.c_str());
    fail_unless(contains(bin, "accepted"), "%s", bin.c_str());
  }
}

// Sizes and formats that change in a stream, and a flush.
CHECK_TEST(test_renegotiation) {
  g_autoptr(GstHarness) h = gst_harness_new_parse(
      (as_bin(kEncoder, "n-threads=1") + " ! " + as_bin(kDecoder, "n-threads=1")).c_str());
  const struct {
    GstVideoFormat format;
    int width, height;
  } cases[] = {{GST_VIDEO_FORMAT_I420, 64, 48},
               {GST_VIDEO_FORMAT_I420, 33, 17},
               {GST_VIDEO_FORMAT_Y444, 33, 17},
               {GST_VIDEO_FORMAT_GRAY8, 640, 1}};
  bool flushed = false;
  for (const auto& one : cases) {
    const GstVideoInfo info = video_info(one.format, one.width, one.height);
    gst_harness_set_src_caps(h, video_caps(info));
    g_autoptr(GstBuffer) frame = gst_harness_push_and_pull(h, make_frame(info));
    const GstVideoInfo found = output_info(h);
    fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&found), one.format);
    fail_unless_equals_int(found.width, one.width);
    fail_unless_equals_int(found.height, one.height);
    if (!flushed) push_flush(h);
    flushed = true;
  }
  fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
}

// ---- Messages ----

// The first message of that type is from the element of that name; "": there is none.
void check_source(const std::string& line, GstMessageType type, const std::string& expected) {
  g_autoptr(GstElement) pipeline = launch(line);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, 20 * GST_SECOND, static_cast<GstMessageType>(type | GST_MESSAGE_EOS));
  fail_unless(message != nullptr, "timeout: %s", line.c_str());
  const std::string name =
      GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS ? "" : GST_MESSAGE_SRC_NAME(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  fail_unless(name == expected, "%s: a message from '%s', expected '%s'", line.c_str(),
              name.c_str(), expected.c_str());
}

// A message comes from the element that it is about.
CHECK_TEST(test_errors) {
  const Folder folder;
  const Frames files = play(source_of("I420", 2) + in_a_row(kEncoder) + kSink);
  const auto write = [&](const char* name, const std::string& bytes) {
    const std::string path = folder.file(name);
    fail_unless(g_file_set_contents(path.c_str(), bytes.data(), static_cast<gssize>(bytes.size()),
                                    nullptr));
    return "filesrc location=" + path + " ! ";
  };
  const std::string sound(files[0].begin(), files[0].end());
  const std::string half = sound.substr(0, sound.size() / 2);
  const std::string decoder = as_bin(kDecoder) + " ! fakesink", frames = source_of("I420");
  check_source(write("sound.jpg", sound) + decoder, GST_MESSAGE_ERROR, "");
  check_source(write("damaged.jpg", half + sound) + decoder, GST_MESSAGE_WARNING, "jpegcoefdec");
  check_source(write("none.jpg", half) + decoder, GST_MESSAGE_ERROR, "jpegcoefdec");
  check_source(frames + as_bin(kEncoder, "luma-qtable=\"<0>\"") + " ! fakesink", GST_MESSAGE_ERROR,
               "cudadct8x8");
  check_source(frames + as_bin(kEncoder, "measure=zeros post-messages=true") + " ! fakesink",
               GST_MESSAGE_ELEMENT, "cudadct8x8");
  if (is_cuda()) return;
  // The engine that is not there: bins change their elements' states against the stream.
  for (const Bin& kind : kBins)
    check_source("fakesrc ! " + std::string(kind.name) + " backend=cuda ! fakesink",
                 GST_MESSAGE_ERROR, kind.parts[1]);
}

// A pipeline is played again after READY and after NULL.
CHECK_TEST(test_played_again) {
  g_autoptr(GstElement) pipeline = launch(source_of("I420") + as_bin(kEncoder) + " ! " +
                                          as_bin(kDecoder, "name=d") + " ! fakesink name=sink");
  g_autoptr(GstElement) decoder = gst_bin_get_by_name(GST_BIN(pipeline), "d");
  for (const GstState between : {GST_STATE_READY, GST_STATE_NULL, GST_STATE_NULL}) {
    run_well(pipeline);
    g_autoptr(GstStructure) stats = nullptr;
    g_autoptr(GstStructure) inner = nullptr;
    g_object_get(decoder, "stats", &stats, nullptr);
    fail_unless(gst_structure_get(stats, "jpegcoefdec", GST_TYPE_STRUCTURE, &inner, nullptr));
    guint64 frames = 0;
    fail_unless(gst_structure_get_uint64(inner, "frames", &frames));
    fail_unless_equals_uint64(frames, 3);
    fail_unless(gst_element_set_state(pipeline, between) == GST_STATE_CHANGE_SUCCESS);
  }
}

// Encoding profiles name presets, which are files of all properties that can be set.
CHECK_TEST(test_presets) {
  g_autoptr(GstElement) encoder = make("cudajpegenc");
  fail_unless(GST_IS_PRESET(encoder));
  g_auto(GStrv) names = gst_preset_get_property_names(GST_PRESET(encoder));
  fail_unless(g_strv_contains(names, "quality"));
}

}  // namespace
