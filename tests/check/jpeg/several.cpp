// Files of several pictures for the element tests: a writer and a parser of the tests' own.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/check/jpeg/several.h"

#include <algorithm>
#include <cstring>

#include "tests/check/jpeg/jpegdecoder.h"
#include "tests/check/jpeg/jpegstreams.h"

namespace testing {

Bytes number(guint64 value, gsize size, bool big) {
  Bytes bytes(size);
  for (gsize i = 0; i < size; i++)
    bytes[big ? size - 1 - i : i] = static_cast<guint8>(value >> (8 * i));
  return bytes;
}

namespace {

guint64 number_at(const Bytes& bytes, gsize at, gsize size, bool big) {
  guint64 value = 0;
  for (gsize i = 0; i < size; i++) value = value << 8 | bytes[at + (big ? i : size - 1 - i)];
  return value;
}

struct Entry {
  gsize size, offset;
};

Bytes index_of(const std::vector<Entry>& entries, bool big) {
  const auto put = [big](guint64 value, gsize size) { return number(value, size, big); };
  Bytes data = joined({{'M', 'P', 'F', 0},
                       big ? Bytes{'M', 'M'} : Bytes{'I', 'I'},
                       put(42, 2),
                       put(8, 4),
                       put(2, 2),
                       put(0xb001, 2),
                       put(4, 2),
                       put(1, 4),
                       put(entries.size(), 4),
                       put(0xb002, 2),
                       put(7, 2),
                       put(16 * entries.size(), 4),
                       put(38, 4),
                       put(0, 4)});
  for (const Entry& e : entries)
    data = joined({data, put(0x20003, 4), put(e.size, 4), put(e.offset, 4), put(0, 4)});
  return joined({{0xff, 0xe2}, number(data.size() + 2, 2, true), data});
}

}  // namespace

std::vector<Bytes> pictures_of(const Bytes& file) {
  std::vector<Bytes> pictures;
  for (const Segment& s : segments_of(file)) {
    if (s.code != 0xe2 || s.end - s.begin < 20 || memcmp(&file[s.begin + 4], "MPF", 4) != 0)
      continue;
    const gsize tiff = s.begin + 8;
    const bool big = file[tiff] == 'M';
    const gsize directory = tiff + number_at(file, tiff + 4, 4, big);
    for (gsize i = 0; i < number_at(file, directory, 2, big); i++) {
      const gsize field = directory + 2 + 12 * i;
      if (number_at(file, field, 2, big) != 0xb002) continue;
      const gsize entries = tiff + number_at(file, field + 8, 4, big);
      for (gsize k = 0; k < number_at(file, field + 4, 4, big) / 16; k++) {
        const gsize size = number_at(file, entries + 16 * k + 4, 4, big);
        const gsize offset = number_at(file, entries + 16 * k + 8, 4, big);
        const gsize begin = k == 0 ? 0 : tiff + offset;
        fail_unless(begin + size <= file.size(), "picture %d is not in the file",
                    static_cast<int>(k));
        pictures.emplace_back(file.begin() + gssize(begin), file.begin() + gssize(begin + size));
      }
    }
  }
  return pictures;
}

Bytes first_of(const Bytes& picture, const std::vector<Bytes>& others, bool big, gsize gap) {
  const gsize place = segments_of(picture)[1].end, tiff = place + 8;  // behind SOI and APPn
  std::vector<Entry> entries(others.size() + 1, Entry{0, 0});
  gsize at = picture.size() + index_of(entries, big).size();
  entries[0].size = at;
  at += gap;
  for (gsize i = 0; i < others.size(); i++) {
    entries[i + 1] = {others[i].size(), at - tiff};
    at += others[i].size();
  }
  return inserted(picture, place, index_of(entries, big));
}

const std::vector<Bytes>& others() {
  static const std::vector<Bytes> pictures = {make_jpeg(24, 16), make_jpeg(40, 40)};
  return pictures;
}

Bytes several(bool big, const Bytes& tail) {
  return joined({first_of(good(), others(), big), joined(others()), tail});
}

bool has_others(const Bytes& file) {
  const std::vector<Bytes> all = pictures_of(file);
  return all.size() == 3 && all[1] == others()[0] && all[2] == others()[1];
}

std::vector<Bytes> through(const Bytes& stream, const std::string& decoder,
                           const std::string& encoder, gsize piece, const char* caps,
                           GstFormat format) {
  const std::string line = "jpegcoefdec " + decoder + " ! jpegcoefenc n-threads=1 " + encoder;
  g_autoptr(GstHarness) harness = gst_harness_new_parse(line.c_str());
  gst_harness_push_event(harness, gst_event_new_stream_start("bytes"));
  g_autoptr(GstCaps) input = gst_caps_from_string(caps);
  gst_harness_push_event(harness, gst_event_new_caps(input));
  push_segment(harness, format);
  for (gsize at = 0; at < stream.size();) {
    const gsize size = piece == 0 ? stream.size() : std::min(piece, stream.size() - at);
    gst_harness_push(
        harness, buffer_of(Bytes(stream.begin() + gssize(at), stream.begin() + gssize(at + size)),
                           format == GST_FORMAT_TIME ? at * GST_MSECOND : GST_CLOCK_TIME_NONE));
    at += size;
  }
  gst_harness_push_event(harness, gst_event_new_eos());
  std::vector<Bytes> files;
  while (GstBuffer* buffer = gst_harness_try_pull(harness)) {
    files.push_back(bytes_of(buffer));
    gst_buffer_unref(buffer);
  }
  return files;
}

}  // namespace testing
