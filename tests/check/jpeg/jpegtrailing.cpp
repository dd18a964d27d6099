// The bytes after a picture in its file, on every path into jpegcoefdec: other pictures of damaged
// files, trailers, and the lengths that XMP data name of both.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/app/gstappsrc.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gst/coef/coef.h>
#include "tests/check/files.h"
#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegs.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace {

using namespace testing;

constexpr char kParsed[] = "image/jpeg,parsed=true";

Bytes text(const std::string& words) { return Bytes(words.begin(), words.end()); }

// Like the video of a motion photo, with bytes that look like the beginning of a picture.
Bytes film(gsize size = 3000) {
  Bytes bytes = joined({{0, 0, 0, 16}, text("ftypmp42"), {0, 0, 0, 0}});
  std::mt19937 random(3);
  while (bytes.size() < size) bytes.push_back(static_cast<guint8>(random() % 255));
  const Bytes start = {0xff, 0xd8, 0xff, 0xe1, 0, 16};
  std::copy(start.begin(), start.end(), bytes.begin() + gssize(size / 2));
  return bytes;
}

// ---- Damage ----

// One fault after the index, which defines what belongs to the file.
Bytes with_fault(Bytes first, std::mt19937& random) {
  const gsize begin = segment_of(first, 0xe2).end + 1;
  const gsize at = begin + random() % (first.size() - begin);
  const auto place = first.begin() + gssize(at);
  switch (random() % 5) {
    case 0:
      first[at] ^= static_cast<guint8>(1u << random() % 8);
      break;
    case 1:
      first.resize(at);
      break;
    case 2:
      first.erase(place, place + gssize(std::min<gsize>(1 + random() % 40, first.size() - at)));
      break;
    case 3:
      first.insert(place, 1 + random() % 40, static_cast<guint8>(random()));
      break;
    default:
      first[at - 1] = 0xff;
      first[at] = static_cast<guint8>(0xd0 + random() % 16);
      break;
  }
  return first;
}

// The sizes of the pictures that jpegcoefdec makes of these buffers.
std::multiset<int> widths_of(const std::vector<Bytes>& buffers, const char* caps,
                             GstFormat format) {
  const std::string line = "jpegcoefdec n-threads=3";
  g_autoptr(GstHarness) harness = gst_harness_new_parse(line.c_str());
  gst_harness_push_event(harness, gst_event_new_stream_start("file"));
  g_autoptr(GstCaps) input = gst_caps_from_string(caps);
  gst_harness_push_event(harness, gst_event_new_caps(input));
  push_segment(harness, format);
  GstClockTime time = 0;
  for (const Bytes& bytes : buffers)
    gst_harness_push(harness, buffer_of(bytes, format == GST_FORMAT_TIME ? time += 40 * GST_MSECOND
                                                                         : GST_CLOCK_TIME_NONE));
  gst_harness_push_event(harness, gst_event_new_eos());
  std::multiset<int> widths;
  while (GstBuffer* buffer = gst_harness_try_pull(harness)) {
    widths.insert(static_cast<int>(gst_buffer_get_dct_meta(buffer)->components[0].width));
    gst_buffer_unref(buffer);
  }
  return widths;
}

// With any fault of the first picture, none of the others replaces it.
CHECK_TEST(test_no_other_picture_in_the_place_of_a_damaged_one) {
  struct Way {
    const char* caps;
    GstFormat format;
    bool is_cut;  // by a parser
  };
  constexpr Way kWays[] = {{"image/jpeg", GST_FORMAT_BYTES, false},
                           {"image/jpeg,framerate=25/1", GST_FORMAT_TIME, false},
                           {kParsed, GST_FORMAT_BYTES, false},
                           {"image/jpeg,parsed=true,framerate=25/1", GST_FORMAT_TIME, true}};
  std::mt19937 random(5);
  int shown = 0, lost = 0;
  // A decoder takes a tenth of a second to start on a GPU.
  const int files = quick() || is_cuda() ? 40 : 600;
  for (int i = 0; i < files; i++) {
    const Bytes first = with_fault(first_of(good(), others(), i % 2 == 0), random);
    for (const Way& way : kWays) {
      std::vector<Bytes> buffers = {joined({first, joined(others()), film(200)})};
      if (way.is_cut) buffers = {first, others()[0], others()[1]};
      const std::multiset<int> widths = widths_of(buffers, way.caps, way.format);
      fail_unless(widths.count(24) == 0 && widths.count(40) == 0 && widths.size() <= 1,
                  "file %d, %s: %d pictures", i, way.caps, static_cast<int>(widths.size()));
      (widths.empty() ? lost : shown)++;
    }
  }
  fail_unless(lost > 40 && shown > 4, "%d lost, %d shown", lost, shown);
}

CHECK_TEST(test_damage_is_of_the_file) {
  const Bytes first = first_of(good(), others(), true);
  Bytes short_one = first;
  short_one.erase(short_one.end() - 300, short_one.end() - 100);
  const Bytes open_end(first.begin(), first.end() - 150);
  for (const Bytes& damaged : {short_one, open_end}) {
    for (const char* caps : {"image/jpeg", "image/jpeg,parsed=true"}) {
      Decoder decoder("", caps);
      decoder.push(joined({damaged, joined(others())}));
      decoder.finish();
      fail_unless_equals_int(decoder.count(), 0);
      fail_unless_equals_uint64(decoder.stat("damaged"), 1);
    }
  }
}

// ---- Trailers ----

// What comes out where a file is read by filesrc, in blocks of that many bytes.
std::vector<Bytes> from_file(const Bytes& file, int block, const std::string& decoder = "") {
  const Folder folder;
  const std::string path = folder.file("a.jpg");
  g_file_set_contents(path.c_str(), reinterpret_cast<const gchar*>(file.data()),
                      static_cast<gssize>(file.size()), nullptr);
  return play("filesrc location=" + path + " blocksize=" + std::to_string(block) +
              " ! jpegcoefdec n-threads=2 " + decoder +
              " ! jpegcoefenc n-threads=1 ! appsink name=sink sync=false");
}

CHECK_TEST(test_trailers_of_files) {
  const Bytes zeros(700, 0);
  for (const Bytes& file : {joined({good(), film()}), several(true, film()), several(false, {0xff}),
                            joined({good(), film(), {0xff, 0xd8, 0xff, 0xe1}}),
                            joined({several(), zeros}), several(), good()})
    for (const int block : {7, 100, static_cast<int>(good().size()), 4096, 1 << 20})
      fail_unless(from_file(file, block) == std::vector<Bytes>{file}, "%d bytes in blocks of %d",
                  static_cast<int>(file.size()), block);
  fail_unless(from_file(joined({good(), film()}), 100, "keep-metadata=false") ==
              std::vector<Bytes>{good()});
}

// A file of several files: each has the bytes after it, up to the next.
CHECK_TEST(test_trailers_between_files) {
  const Bytes damaged = testing::damaged(make_jpeg(32, 32));
  const std::vector<Bytes> files = {joined({good(), Bytes(9, 0)}), joined({good(), film()}),
                                    several(true, film(500)), good(), several(false)};
  for (const int block : {50, 4096}) {
    fail_unless(from_file(joined(files), block) == files, "blocks of %d", block);
    fail_unless(from_file(joined({good(), damaged, good()}), block) ==
                std::vector<Bytes>({good(), good()}));
  }
}

// As in AVI: a buffer with a time is a file, with or without parsed=true.
CHECK_TEST(test_trailers_of_buffers_with_times) {
  const std::vector<Bytes> files = {joined({good(), film()}), several(true, film()), good(),
                                    several(false, Bytes(10, 0))};
  for (const char* caps : {"image/jpeg,framerate=25/1", kParsed}) {
    g_autoptr(GstHarness) harness =
        gst_harness_new_parse("jpegcoefdec n-threads=1 ! jpegcoefenc n-threads=1");
    gst_harness_set_src_caps_str(harness, caps);
    GstClockTime time = 0;
    for (const Bytes& file : files) {
      gst_harness_push(harness, buffer_of(file, time += 40 * GST_MSECOND));
      g_autoptr(GstBuffer) buffer = gst_harness_try_pull(harness);
      fail_unless(buffer != nullptr && bytes_of(buffer) == file, "%s", caps);
      fail_unless_equals_uint64(GST_BUFFER_PTS(buffer), time);
    }
  }
}

// A file that ends with EOI and has no index looks like one picture at first.
CHECK_TEST(test_trailers_without_an_index) {
  const Bytes file = joined({good(), others()[0]});
  for (const char* threads : {"1", "3"}) {
    g_autoptr(GstHarness) harness = gst_harness_new_parse(
        (std::string("jpegcoefdec n-threads=") + threads + " ! jpegcoefenc n-threads=1").c_str());
    gst_harness_set_src_caps_str(harness, kParsed);
    gst_harness_push(harness, buffer_of(file, 0));
    g_autoptr(GstBuffer) buffer = gst_harness_pull(harness);
    fail_unless(buffer != nullptr && bytes_of(buffer) == file);
  }
}

CHECK_TEST(test_memory_of_trailers) {
  const Bytes file = joined({good(), Bytes(1 << 20, 0), {0xff, 0xd9}});
  for (const bool keeps : {false, true}) {
    Decoder decoder(std::string("on-error=conceal max-memory=1500000 keep-metadata=") +
                        (keeps ? "true" : "false"),
                    kParsed);
    decoder.push(file);
    decoder.push(good());
    decoder.finish();
    fail_unless_equals_int(decoder.count(), keeps ? 1 : 2);
    fail_unless_equals_uint64(decoder.stat("damaged"), keeps ? 1 : 0);
    if (keeps) fail_unless(contains(decoder.message(GST_MESSAGE_WARNING), "max-memory"));
  }
}

// A buffer of several memories is not merged for each byte that may begin a picture.
CHECK_TEST(test_trailers_in_several_memories) {
  Bytes starts;
  for (int i = 0; i < 200000; i++) starts.insert(starts.end(), {0xff, 0xd8, 0xff, 1});
  // Immediately after the picture they are damaged ones.
  for (const Bytes& between : {Bytes{1}, Bytes{}}) {
    const Bytes file = joined({good(), between, starts, Bytes(6, 1)});
    g_autoptr(GstBuffer) buffer = gst_buffer_new();  // which is not the element's alone
    for (gsize at = 0; at < file.size(); at += 70000) {
      const gsize end = std::min(at + 70000, file.size());
      g_autoptr(GstBuffer) part =
          buffer_of(Bytes(file.begin() + gssize(at), file.begin() + gssize(end)));
      gst_buffer_append_memory(buffer, gst_buffer_get_memory(part, 0));
    }
    g_autoptr(GstHarness) harness =
        gst_harness_new_parse("jpegcoefdec n-threads=1 ! jpegcoefenc n-threads=1");
    gst_harness_set_src_caps_str(harness, "image/jpeg,framerate=25/1");
    gst_harness_push(harness, gst_buffer_ref(buffer));
    gst_harness_push_event(harness, gst_event_new_eos());
    g_autoptr(GstBuffer) made = gst_harness_try_pull(harness);
    fail_unless(made != nullptr && bytes_of(made) == (between.empty() ? good() : file));
  }
}

// The bytes after a picture in its buffer may be the beginning of the next one.
CHECK_TEST(test_pictures_that_begin_at_the_end_of_a_buffer) {
  const Bytes first = joined({good(), {1, 0xff, 2}});
  const Bytes next = make_jpeg(64, 48, Subsampling::k420, 75, 9);
  for (const gsize begin : {gsize{1}, gsize{2}, gsize{3}, gsize{10}}) {
    g_autoptr(GstHarness) harness = open("n-threads=1");
    push(harness, joined({first, cut(next, begin)}));
    push(harness, Bytes(next.begin() + gssize(begin), next.end()), 40 * GST_MSECOND);
    expect(harness, good());
    expect(harness, next);
    expect_no_more(harness);
  }
}

// A picture of a stream whose end is unknown leaves when it is there.
CHECK_TEST(test_streams_do_not_wait) {
  g_autoptr(GstHarness) harness = open_bytes("n-threads=1");
  gst_harness_push(harness, buffer_of(joined({good(), film()})));
  expect(harness, good());
}

// A real AVI file, if there are elements for it.
CHECK_TEST(test_avi) {
  for (const char* name : {"avimux", "avidemux"})
    if (g_autoptr(GstElementFactory) factory = gst_element_factory_find(name); !factory) return;
  const Folder folder;
  const std::vector<Bytes> files = {several(true, film()), joined({good(), film(600)})};
  const std::string writing =
      "appsrc name=source format=time caps=image/jpeg,width=64,height=48,framerate=25/1 ! "
      "mux.video_0  "
      "avimux name=mux ! filesink location=" +
      folder.file("a.avi");
  g_autoptr(GstElement) writer = gst_parse_launch(writing.c_str(), nullptr);
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(writer), "source");
  for (guint i = 0; i < files.size(); i++) {
    GstBuffer* buffer = buffer_of(files[i], i * 40 * GST_MSECOND);
    gst_app_src_push_buffer(GST_APP_SRC(source), buffer);
  }
  gst_app_src_end_of_stream(GST_APP_SRC(source));
  run_well(writer);
  gst_element_set_state(writer, GST_STATE_NULL);
  fail_unless(play("filesrc location=" + folder.file("a.avi") +
                   " ! avidemux ! jpegcoefdec ! jpegcoefenc ! appsink name=sink sync=false") ==
              files);
}

// ---- All pictures ----

// A buffer that is a file outputs all of its pictures, for any beginning of the next one.
CHECK_TEST(test_all_pictures_of_parsed_files) {
  const Bytes open_end = cut(others()[1], others()[1].size() - 2);
  const std::vector<Bytes> three = {good(), others()[0], others()[1]};
  for (const GstFormat format : {GST_FORMAT_BYTES, GST_FORMAT_TIME}) {
    fail_unless(through(several(), "pictures=all", "", 0, kParsed, format) == three);
    fail_unless(through(several(true, film()), "pictures=all", "", 0, kParsed, format) == three);
    const Bytes open_file = joined({good(), others()[0], open_end});
    fail_unless(through(open_file, "pictures=all", "", 0, kParsed, format) == three);
  }
  Decoder decoder("pictures=all", "image/jpeg,parsed=true,framerate=25/1");
  for (int i = 1; i <= 3; i++) {
    decoder.push(joined({several(), {0xff}}));
    fail_unless_equals_int(decoder.count(), 3 * i);
  }
}

// ---- Lengths ----

std::string item(const std::string& semantic, const std::string& mime, gsize length) {
  return "<rdf:li rdf:parseType='Resource'><Container:Item Item:Semantic=\"" + semantic +
         "\" Item:Mime=\"" + mime + "\"" +
         (length ? " Item:Length=\"" + std::to_string(length) + "\"" : "") + "/></rdf:li>";
}

// An XMP segment with items after the primary one, and the distance of a video from the end.
Bytes xmp(const std::string& items, gsize film_at = 0) {
  std::string words =
      "<x:xmpmeta><rdf:Description "
      "xmlns:GCamera='http://ns.google.com/photos/1.0/camera/' "
      "xmlns:Container='http://ns.google.com/photos/1.0/container/' "
      "xmlns:Item=\"http://ns.google.com/photos/1.0/container/item/\"";
  if (film_at) words += " GCamera:MicroVideoOffset='" + std::to_string(film_at) + "'";
  words += "><Container:Directory><rdf:Seq>" + item("Primary", "image/jpeg", 0) + items +
           "</rdf:Seq></Container:Directory></rdf:Description></x:xmpmeta>";
  const Bytes data = joined({text("http://ns.adobe.com/xap/1.0/"), {0}, text(words)});
  return joined({{0xff, 0xe1}, number(data.size() + 2, 2, true), data});
}

Bytes with_xmp(const Bytes& picture, const Bytes& segment) {
  return inserted(picture, segment_of(picture, 0xe0).end, segment);
}

// An Ultra HDR photograph that moves.
Bytes photograph(gsize gain_map = others()[0].size(), gsize moving = film().size(), gsize gap = 0) {
  const Bytes segment = xmp(
      item("GainMap", "image/jpeg", gain_map) + item("MotionPhoto", "video/mp4", moving), moving);
  const std::vector<Bytes> map = {others()[0]};
  return joined(
      {first_of(with_xmp(good(), segment), map, true, gap), Bytes(gap, 0), map[0], film()});
}

// Pushes a file, and returns the encoder's message about the output.
std::string warning_of(const Bytes& file, const std::string& decoder = "",
                       const std::string& encoder = "", const char* caps = kParsed) {
  const std::string line =
      "jpegcoefdec n-threads=1 " + decoder + " ! jpegcoefenc n-threads=1 " + encoder;
  g_autoptr(GstHarness) harness = gst_harness_new_parse(line.c_str());
  g_autoptr(GstElement) element = gst_harness_find_element(harness, "jpegcoefenc");
  const Messages bus(element);
  gst_harness_set_src_caps_str(harness, caps);
  gst_harness_push(harness, buffer_of(file, 0));
  gst_harness_push(harness, buffer_of(file, 40 * GST_MSECOND));
  gst_harness_push_event(harness, gst_event_new_eos());
  const guint64 counted = stat_of(element, "xmp-length-mismatches");
  const std::vector<Report> reported = take_messages(bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64(counted, 2 * reported.size());
  return reported.empty() ? "" : reported[0].text;
}

void expect_nothing(const std::string& reported) {
  fail_unless(reported.empty(), "%s", reported.c_str());
}

CHECK_TEST(test_lengths_stay_true) {
  for (const char* encoder : {"", "progressive=true", "arithmetic=true", "keep-metadata=false"})
    expect_nothing(warning_of(photograph(), "", encoder));
  expect_nothing(warning_of(photograph(), "keep-metadata=false"));
  expect_nothing(warning_of(with_xmp(good(), xmp(""))));
  // Elements in place of attributes, and another prefix.
  std::string words =
      "<a xmlns:I='http://ns.google.com/photos/1.0/container/item/'><rdf:li>"
      "<I:Mime>image/jpeg</I:Mime></rdf:li><rdf:li><I:Mime> image/jpeg</I:Mime><I:Length>\n";
  words += std::to_string(others()[0].size()) + "</I:Length></rdf:li>";
  const Bytes data = joined({text("http://ns.adobe.com/xap/1.0/"), {0}, text(words)});
  const Bytes segment = joined({{0xff, 0xe1}, number(data.size() + 2, 2, true), data});
  const Bytes file = joined({with_xmp(good(), segment), others()[0]});
  expect_nothing(warning_of(file));
  expect(warning_of(with_xmp(good(), segment)), {"trailing data of 0 bytes"});
}

// Messages are UTF-8, for any names of items.
CHECK_TEST(test_names_that_are_no_text) {
  for (const std::string& semantic : {std::string("\xff\xfe"), std::string(5000, 'x')}) {
    const Bytes segment = xmp(item(semantic, "image/jpeg", 1000));
    const std::string reported = warning_of(with_xmp(good(), segment));
    expect(reported, {"XMP: item of 1000 bytes"});
    fail_unless(g_utf8_validate(reported.c_str(), -1, nullptr));
  }
}

// Everything that was dropped is reported.
CHECK_TEST(test_untrue_lengths_are_told) {
  const Bytes file = photograph();
  const gsize end = file.size() - others()[0].size() - film().size();
  expect(warning_of(file, "pictures=all"), {"GainMap"});
  expect(warning_of(cut(file, end)), {"GainMap"});
  expect(warning_of(cut(file, end + others()[0].size())), {"MotionPhoto"});
  expect(warning_of(photograph(others()[0].size() - 1)), {"GainMap"});
  expect(warning_of(photograph(others()[0].size(), film().size() + 1)), {"MotionPhoto"});
  expect(warning_of(photograph(others()[0].size(), film().size(), 5)), {"GainMap"});
  const Bytes old = with_xmp(good(), xmp("", film().size()));
  expect_nothing(warning_of(joined({old, film()})));
  expect(warning_of(joined({old, film(), {0}})), {"MicroVideoOffset"});
  expect(warning_of(old), {"MicroVideoOffset"});
  // The length of the picture itself changes.
  const std::string sized = item("Primary", "image/jpeg", 123);
  const Bytes data =
      joined({text("http://ns.adobe.com/xap/1.0/"),
              {0},
              text("<a xmlns:Item='http://ns.google.com/photos/1.0/container/item/'>" + sized)});
  const Bytes primary = joined({{0xff, 0xe1}, number(data.size() + 2, 2, true), data});
  expect(warning_of(with_xmp(good(), primary)), {"length of 123 bytes"});
}

}  // namespace
