// Coefficients of a JPEG picture that downstream refuses: found before caps are set, and explained.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/refusal.h"

#include <string>

#include <gst/coef/dct.h>
#include "gst/dct8x8/file_query.h"
#include "gst/engine/buffer_ptr.h"
#include "gst/stream/caps_fields.h"
#include "gst/stream/refusal.h"
#include "transform/picture.h"

namespace cudatransform {
namespace {

std::string name_of(const GstDctInfo& info) {
  std::string name = std::string("the picture is ") + gst_coef_sampling_to_string(info.sampling) +
                     ", " + std::to_string(info.width) + "x" + std::to_string(info.height);
  return info.depth == 8 ? name : name + " at " + std::to_string(info.depth) + " bits";
}

// Why there is no raw video of such coefficients.
std::string no_raw_video(const GstDctInfo& info) {
  if (info.n_components > kMaxComponents)
    return "cudaidct8x8 makes no raw video of four components, as no format has C, M, Y and K";
  return "cudaidct8x8 makes no raw video of that sampling at " + std::to_string(info.depth) +
         " bits, only of 4:2:0, 4:2:2, 4:4:4 and gray";
}

// The formats of the file's own color space; those of RGB are many.
std::string raw_video(const RawOffer& offer) {
  const CapsPtr own(gst_caps_new_empty());
  for (guint i = 0; i < gst_caps_get_size(offer.made.get()); i++) {
    const GstStructure* s = gst_caps_get_structure(offer.made.get(), i);
    if (!string_field_allows(s, "format", "RGB"))
      gst_caps_append_structure(own.get(), gst_structure_copy(s));
  }
  const bool has_rgb = gst_caps_get_size(own.get()) < gst_caps_get_size(offer.made.get());
  return "cudaidct8x8 outputs it as " + field_values(own.get(), "format") +
         (has_rgb ? " or RGB" : "");
}

// Empty: cudaidct8x8 is not downstream, or its raw video is accepted.
std::string raw_refusal(GstPad* src, const GstCaps* caps, const GstDctInfo& info) {
  const QueryPtr query(make_raw_query(caps));
  if (!gst_pad_peer_query(src, query.get())) return {};
  const RawOffer offer = read_raw_query(query.get());
  if (gst_caps_is_empty(offer.made.get())) return no_raw_video(info);
  if (gst_caps_can_intersect(offer.made.get(), offer.accepted.get())) return {};
  const Misfit misfit = find_misfit(offer.made.get(), offer.accepted.get());
  const bool is_format = misfit.field && std::string(misfit.field) == "format";
  return (is_format ? raw_video(offer) + ", " : "") + misfit.text();
}

// What downstream accepts of all coefficients.
std::string refusal(GstPad* src, const GstCaps* caps) {
  const CapsPtr all(gst_pad_get_pad_template_caps(src));
  const CapsPtr accepted(gst_pad_peer_query_caps(src, all.get()));
  return find_misfit(caps, accepted.get()).text();
}

}  // namespace

Status ask_downstream(GstPad* src, GstCaps* caps) {
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, caps, nullptr) || peer_accepts(src, caps)) return {};
  std::string why = raw_refusal(src, caps, info);
  if (why.empty()) why = refusal(src, caps);
  return Status::error(StatusCode::kUnsupported, name_of(info) + "; " + why);
}

}  // namespace cudatransform
