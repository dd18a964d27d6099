// Width and height in caps, when pictures are scaled.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/dct8x8/caps_sizes.h"

#include <algorithm>

namespace cudatransform {
namespace {

// Sizes from `low` to `high`, not empty.
struct SizeRange {
  gint64 low, high;
};
SizeRange scaled_down(SizeRange size, int scale) {
  return {(size.low - 1) / scale + 1, (size.high - 1) / scale + 1};
}
// All sizes that scaled_down() turns into one of `size`.
SizeRange scaled_up(SizeRange size, int scale) {
  return {(size.low - 1) * scale + 1, size.high * scale};
}

// Appends to `list` the results of `scaled` for the sizes in `value`: an int, a range or a list. A
// range loses its steps: it is scaled from end to end.
template <typename Scaled>
void append_sizes(const GValue* value, const Scaled& scaled, GValue* list) {
  SizeRange size;
  if (G_VALUE_HOLDS_INT(value)) {
    size.low = size.high = g_value_get_int(value);
  } else if (GST_VALUE_HOLDS_INT_RANGE(value)) {
    size = {gst_value_get_int_range_min(value), gst_value_get_int_range_max(value)};
  } else {
    if (GST_VALUE_HOLDS_LIST(value))
      for (guint i = 0; i < gst_value_list_get_size(value); i++)
        append_sizes(gst_value_list_get_value(value, i), scaled, list);
    return;
  }
  if (size.high < 1) return;
  size = scaled({std::max<gint64>(size.low, 1), size.high});
  size.high = std::min<gint64>(size.high, G_MAXINT);
  if (size.low > size.high) return;
  GValue item = G_VALUE_INIT;
  g_value_init(&item, size.low == size.high ? G_TYPE_INT : GST_TYPE_INT_RANGE);
  if (size.low == size.high)
    g_value_set_int(&item, static_cast<gint>(size.low));
  else
    gst_value_set_int_range(&item, static_cast<gint>(size.low), static_cast<gint>(size.high));
  gst_value_list_append_and_take_value(list, &item);
}

// Replaces width and height. False if no size is left, because all are too large for caps.
template <typename Scaled>
bool scale_sizes(GstStructure* s, const Scaled& scaled) {
  for (const char* field : {"width", "height"}) {
    const GValue* value = gst_structure_get_value(s, field);
    if (!value) continue;
    GValue list = G_VALUE_INIT;
    g_value_init(&list, GST_TYPE_LIST);
    append_sizes(value, scaled, &list);
    const guint count = gst_value_list_get_size(&list);
    if (count == 1)
      gst_structure_set_value(s, field, gst_value_list_get_value(&list, 0));
    else if (count > 1)
      gst_structure_set_value(s, field, &list);
    g_value_unset(&list);
    if (count == 0) return false;
  }
  return true;
}

}  // namespace

bool scale_sizes_down(GstStructure* s, int scale) {
  return scale == 1 || scale_sizes(s, [scale](SizeRange size) { return scaled_down(size, scale); });
}

bool scale_sizes_up(GstStructure* s, int scale) {
  return scale == 1 || scale_sizes(s, [scale](SizeRange size) { return scaled_up(size, scale); });
}

}  // namespace cudatransform
