// Buffers of quantized coefficients with tables, for coefficient filters, and the directions of
// cudadctflip.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>

#include "tests/check/frames.h"
#include "tests/check/testing.h"

namespace testing {

// "NAME backend=... PROPERTIES"
inline std::string coef_filter(const std::string& name, const std::string& properties = "") {
  return name + " backend=" + backend() + " " + properties;
}

inline GstDctInfo qcoefs_info(GstCoefSampling sampling, int width, int height) {
  GstDctInfo info;
  fail_unless(gst_dct_info_set(&info, GST_COEF_FORMAT_S16LE, GST_DCT_LAYOUT_BLOCK,
                               GST_DCT_ORDER_RASTER, TRUE, 8, sampling, width, height, nullptr));
  return info;
}

inline GstCaps* qcoefs_caps(const GstDctInfo& info) {
  GstCaps* caps = gst_dct_info_to_caps(&info);
  gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 25, 1, "pixel-aspect-ratio",
                      GST_TYPE_FRACTION, 4, 3, nullptr);
  return caps;
}

inline guint16 table_entry(guint table, guint i) {
  return static_cast<guint16>(3 + 64 * table + i);
}

// Quantized coefficients that differ from block to block. Each component has a separate table, none
// of which is symmetric.
inline GstBuffer* make_qcoefs(const GstDctInfo& info, guint seed = 1) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  GstMapInfo map;
  fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
  auto* qcoefs = reinterpret_cast<gint16*>(map.data);
  for (gsize i = 0; i < map.size / 2; i++) {
    seed = seed * 1103515245 + 12345;
    qcoefs[i] = static_cast<gint16>((seed >> 16) % 5 == 0 ? (seed >> 20) % 400 - 200 : 0);
  }
  gst_buffer_unmap(buffer, &map);
  GstDctMeta* meta = gst_buffer_add_dct_meta(buffer, &info);
  for (guint c = 0; c < info.n_components; c++) {
    guint16 values[64];
    for (guint i = 0; i < 64; i++) values[i] = table_entry(c, i);
    fail_unless(gst_dct_meta_set_table(meta, c, values));
    meta->components[c].table = c;
  }
  GST_BUFFER_PTS(buffer) = 0;
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 25;
  return buffer;
}

inline int qcoef_at(const GstDctInfo& info, GstBuffer* buffer, const std::vector<guint8>& bytes,
                    guint c, guint bx, guint by, guint i) {
  return static_cast<int>(coefficient_at(info, buffer, bytes, c, bx, by, i % 8, i / 8));
}

inline GstDctInfo current_info(GstHarness* h) {
  g_autoptr(GstCaps) caps = current_caps(h);
  GstDctInfo info;
  g_autofree gchar* reason = nullptr;
  fail_unless(gst_dct_info_from_caps(&info, caps, &reason), "%s", reason);
  return info;
}

}  // namespace testing

namespace testing {

struct Direction {
  const char* nick;
  bool transposes, mirrors_x, mirrors_y;
  int exif;  // the orientation that it makes upright
};
inline constexpr Direction kDirections[] = {
    {"identity", false, false, false, 1}, {"90r", true, true, false, 6},
    {"180", false, true, true, 3},        {"90l", true, false, true, 8},
    {"horiz", false, true, false, 2},     {"vert", false, false, true, 4},
    {"ul-lr", true, false, false, 5},     {"ur-ll", true, true, true, 7},
};
inline constexpr int kDirectionCount = G_N_ELEMENTS(kDirections);

}  // namespace testing
