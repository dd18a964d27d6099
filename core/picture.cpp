// Pictures of quantized coefficients: their layout in memory, and what else of their files they
// keep.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "core/picture.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace cudatransform::core {
namespace {

constexpr int32_t kMaxSide = 65535;

// In the order of CtColor.
constexpr JpegColor kColors[] = {JpegColor::kGray, JpegColor::kYcbcr, JpegColor::kRgb,
                                 JpegColor::kCmyk, JpegColor::kYcck,  JpegColor::kTwo};

Status wrong(const std::string& what) { return Status::error(StatusCode::kInvalidArgument, what); }

std::string pair(int32_t a, int32_t b) { return std::to_string(a) + "x" + std::to_string(b); }

int32_t divided(int32_t size, int32_t by) { return (size + by - 1) / by; }

void set_size(const CtPicture& picture, int c, CtComponent* component) {
  const JpegSampling sampling = sampling_of(picture);
  const auto width = static_cast<uint32_t>(picture.width);
  const auto height = static_cast<uint32_t>(picture.height);
  component->width = static_cast<int32_t>(sampling.width(width, c));
  component->height = static_cast<int32_t>(sampling.height(height, c));
  component->blocks_w = divided(component->width, 8);
  component->blocks_h = divided(component->height, 8);
}

Status check_factors(const CtPicture& picture) {
  const auto is_factor = [](int32_t factor) { return factor >= 1 && factor <= 4; };
  for (int c = 0; c < picture.components; ++c) {
    const CtComponent& component = picture.component[c];
    if (!is_factor(component.h_samp) || !is_factor(component.v_samp))
      return wrong("sampling factors of component " + std::to_string(c) + " are " +
                   pair(component.h_samp, component.v_samp) + ", not 1 to 4");
  }
  const JpegSampling sampling = sampling_of(picture);
  JpegSampling reduced = sampling;
  reduced.reduce(picture.components);
  if (reduced != sampling)
    return wrong("sampling factors " + sampling.text(picture.components) +
                 " have a common divisor");
  return {};
}

Status check_component(const CtPicture& picture, int c) {
  const CtComponent& component = picture.component[c];
  const std::string name = "component " + std::to_string(c);
  CtComponent right = {};
  set_size(picture, c, &right);
  if (component.width != right.width || component.height != right.height)
    return wrong(name + " has " + pair(component.width, component.height) + " samples, not " +
                 pair(right.width, right.height));
  if (component.blocks_w != right.blocks_w || component.blocks_h != right.blocks_h)
    return wrong(name + " has " + pair(component.blocks_w, component.blocks_h) + " blocks, not " +
                 pair(right.blocks_w, right.blocks_h));
  if (component.table < 0 || component.table >= picture.n_tables)
    return wrong(name + " has table " + std::to_string(component.table) + " of " +
                 std::to_string(picture.n_tables));
  if (quant_table_of(picture.tables[component.table]).is_blank())
    return wrong("all entries of the quantization table of " + name + " are 0");
  return {};
}

}  // namespace

CtColor color_of(JpegColor color) {
  return static_cast<CtColor>(std::find(std::begin(kColors), std::end(kColors), color) - kColors);
}
JpegColor color_of(CtColor color) { return kColors[color]; }

JpegSampling sampling_of(const CtPicture& picture) {
  JpegSampling sampling;
  for (int c = 0; c < picture.components; ++c) {
    sampling.h[c] = static_cast<uint32_t>(picture.component[c].h_samp);
    sampling.v[c] = static_cast<uint32_t>(picture.component[c].v_samp);
  }
  return sampling;
}

Status check_qcoefs(const CtPicture& picture) {
  if (picture.error.code != CT_OK) return wrong("the picture is an error");
  if (number_in(picture.color) < CT_GRAY || number_in(picture.color) > CT_TWO)
    return wrong("color is one of CtColor, not " + std::to_string(number_in(picture.color)));
  if (picture.components != components_of(color_of(picture.color)))
    return wrong("a picture of coefficients has " +
                 std::to_string(components_of(color_of(picture.color))) + " components, not " +
                 std::to_string(picture.components));
  if (picture.depth != 8 && picture.depth != 12)
    return wrong("depth is 8 or 12, not " + std::to_string(picture.depth));
  if (std::min(picture.width, picture.height) < 1 ||
      std::max(picture.width, picture.height) > kMaxSide)
    return wrong("a picture of " + pair(picture.width, picture.height));
  if (picture.n_tables < 1 || picture.n_tables > CT_MAX_TABLES)
    return wrong("there are 1 to 4 tables, not " + std::to_string(picture.n_tables));
  CT_RETURN_IF_ERROR(check_factors(picture));
  for (int c = 0; c < picture.components; ++c) CT_RETURN_IF_ERROR(check_component(picture, c));
  return {};
}

void set_sizes(CtPicture* picture) {
  for (int c = 0; c < picture->components; ++c) set_size(*picture, c, &picture->component[c]);
}

Status make_qcoefs(CtEngine& engine, CtPicture* picture) {
  int64_t bytes = 0;
  for (int c = 0; c < picture->components; ++c) {
    const CtComponent& component = picture->component[c];
    bytes += qcoef_row_bytes(component.blocks_w) * component.blocks_h;
  }
  CT_RETURN_IF_ERROR(engine.blocks->take(static_cast<size_t>(bytes), &picture->block));
  uint8_t* at = picture->block->data();
  for (int c = 0; c < picture->components; ++c) {
    CtComponent& component = picture->component[c];
    component.data = at;
    component.pitch = qcoef_row_bytes(component.blocks_w);
    at += component.pitch * component.blocks_h;
  }
  return {};
}

CoefArray coefs_of(const CtComponent& component) {
  return {.data = component.data,
          .pitch = static_cast<ptrdiff_t>(component.pitch),
          .blocks_w = component.blocks_w,
          .blocks_h = component.blocks_h,
          .table = component.table};
}

Status make_rest(size_t places, size_t markers, size_t trailing, CtPicture* picture,
                 RestMemory* rest) {
  *rest = {};
  const size_t place_bytes = places * sizeof(CtPlace);
  if (place_bytes + markers + trailing == 0) return {};
  CT_RETURN_IF_ERROR(make_host_block(place_bytes + markers + trailing, &picture->rest));
  uint8_t* const memory = picture->rest->data();
  *rest = {reinterpret_cast<CtPlace*>(memory), memory + place_bytes,
           memory + place_bytes + markers};
  picture->attachments = rest->places;
  picture->n_attachments = static_cast<int32_t>(places);
  picture->markers = rest->markers;
  picture->markers_size = markers;
  picture->trailing = rest->trailing;
  picture->trailing_size = trailing;
  return {};
}

}  // namespace cudatransform::core
