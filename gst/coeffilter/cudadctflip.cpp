// Element cudadctflip: losslessly flips, rotates and crops 8x8 DCT coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudadctflip
 * @title: cudadctflip
 * @short_description: losslessly flips, rotates and crops DCT coefficients
 * @see_also: jpegcoefdec, jpegcoefenc, videoflip
 *
 * Flips, rotates and crops pictures of 8x8 DCT coefficients (video/x-dct) without loss, using CUDA
 * or, with identical output, the CPU. The coefficients are those of libjpeg's jpegtran.
 *
 * docs/elements/cudadctflip.md is the manual.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! jpegcoefdec ! cudadctflip video-direction=90r ! \
 *   jpegcoefenc ! filesink location=rotated.jpg
 * ]| Rotates a photograph by 90 degrees clockwise.
 *
 * Since: 1.0
 */

#include <gst/video/video.h>

#include <memory>

#include "cuda/coeffilter/engine.h"
#include "gst/coeffilter/coeffilter.h"
#include "gst/coeffilter/flip_transform.h"
#include "gst/elements.h"
#include "gst/engine/properties.h"
#include "gst/stream/pinned_setting.h"

using namespace cudatransform;

GST_DEBUG_CATEGORY_STATIC(cudadctflip_debug);
#define GST_CAT_DEFAULT cudadctflip_debug

namespace {

// The properties. Guarded by the object lock.
struct FlipSettings {
  GstVideoOrientationMethod direction = GST_VIDEO_ORIENTATION_IDENTITY;
  FlipRequest request;  // all but the direction
};

// The orientation of tags. Guarded by the object lock.
struct TaggedDirections {
  GstVideoOrientationMethod stream = GST_VIDEO_ORIENTATION_CUSTOM;  // custom: nothing
  GstVideoOrientationMethod global = GST_VIDEO_ORIENTATION_CUSTOM;

  GstVideoOrientationMethod best() const {
    if (stream != GST_VIDEO_ORIENTATION_CUSTOM) return stream;
    return global != GST_VIDEO_ORIENTATION_CUSTOM ? global : GST_VIDEO_ORIENTATION_IDENTITY;
  }
};

}  // namespace

struct GstCudaDctFlip {
  GstCudaCoefFilter parent;
  FlipSettings settings;
  TaggedDirections tags;
};

struct GstCudaDctFlipClass {
  GstCudaCoefFilterClass parent_class;
};

#define GST_CUDA_DCT_FLIP(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), gst_cuda_dct_flip_get_type(), GstCudaDctFlip))

GType gst_cuda_dct_flip_get_type(void);
#define gst_cuda_dct_flip_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE(GstCudaDctFlip, gst_cuda_dct_flip, GST_TYPE_CUDA_COEF_FILTER,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_VIDEO_DIRECTION, nullptr)
                            GST_DEBUG_CATEGORY_INIT(cudadctflip_debug, "cudadctflip", 0,
                                                    "CUDA lossless DCT flipper"));
GST_ELEMENT_REGISTER_DEFINE(cudadctflip, "cudadctflip", GST_RANK_NONE,
                            gst_cuda_dct_flip_get_type());

// ---- The request of the next frame ----

// A picture's own Exif data, which may differ from one to the next, come before tags.
static GstVideoOrientationMethod direction_of(GstBuffer* in, GstVideoOrientationMethod by_tags) {
  const GstDctJpegMeta* meta = in ? gst_buffer_get_dct_jpeg_meta(in) : nullptr;
  Orientation orientation;
  return meta && read_upright_orientation(*meta, &orientation) ? method_of(orientation) : by_tags;
}

// What properties and tags request for a frame, `in` (null: not known). The caller holds the object
// lock.
static FlipRequest wanted_request(const GstCudaDctFlip* self, GstBuffer* in,
                                  GstVideoOrientationMethod* direction) {
  *direction = self->settings.direction;
  if (*direction == GST_VIDEO_ORIENTATION_AUTO) *direction = direction_of(in, self->tags.best());
  FlipRequest request = self->settings.request;
  request.orientation = orientation_of(*direction);
  return request;
}

// Takes the settings of the next frame, `in` (null: not known), on the streaming thread. Sizes of
// others are negotiated before that frame.
static void take_request(GstCudaDctFlip* self, GstBuffer* in) {
  FlipTransform& transform = transform_of<FlipTransform>(self);
  GST_OBJECT_LOCK(self);
  GstVideoOrientationMethod direction;
  const FlipRequest request = wanted_request(self, in, &direction);
  const bool differs = request != transform.request;
  transform.request = request;
  transform.is_upright = self->settings.direction == GST_VIDEO_ORIENTATION_AUTO;
  transform.direction = nick_of(direction);
  GST_OBJECT_UNLOCK(self);
  if (differs) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
}

static GstFlowReturn gst_cuda_dct_flip_submit_input_buffer(GstBaseTransform* trans,
                                                           gboolean is_discont, GstBuffer* in) {
  if (trans->segment.format == GST_FORMAT_TIME) {
    const GstClockTime time =
        gst_segment_to_stream_time(&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(in));
    if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(trans), time);
  }
  take_request(GST_CUDA_DCT_FLIP(trans), in);
  return GST_BASE_TRANSFORM_CLASS(parent_class)->submit_input_buffer(trans, is_discont, in);
}

using PinnedRequest = PinnedSetting<FlipRequest>;

static FlipRequest taken_request(GstBaseTransform* trans) {
  return locked(trans, transform_of<FlipTransform>(trans).request);
}

// Caps are also queried before data flow, when no frame has taken a request yet.
static FlipRequest request_of(GstBaseTransform* trans) {
  if (gst_pad_has_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans))) return taken_request(trans);
  const ObjectLock lock(trans);
  GstVideoOrientationMethod direction;
  return wanted_request(GST_CUDA_DCT_FLIP(trans), nullptr, &direction);
}

// ---- Events ----

// A list replaces the one of its scope. As videoflip: downstream must not rotate the picture again.
static GstEvent* take_tags(GstCudaDctFlip* self, GstEvent* event) {
  GstTagList* tags = nullptr;
  gst_event_parse_tag(event, &tags);
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_CUSTOM;
  const bool has_orientation = gst_video_orientation_from_tag(tags, &method);
  GST_OBJECT_LOCK(self);
  if (gst_tag_list_get_scope(tags) == GST_TAG_SCOPE_STREAM)
    self->tags.stream = method;
  else
    self->tags.global = method;
  const bool is_auto = self->settings.direction == GST_VIDEO_ORIENTATION_AUTO;
  GST_OBJECT_UNLOCK(self);
  if (!is_auto || !has_orientation) return event;
  GstTagList* upright = gst_tag_list_copy(tags);
  gst_tag_list_add(upright, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, "rotate-0", nullptr);
  GstEvent* changed = gst_event_new_tag(upright);
  gst_event_set_seqnum(changed, gst_event_get_seqnum(event));
  gst_event_unref(event);
  return changed;
}

static void forget_tags(GstCudaDctFlip* self) {
  GST_OBJECT_LOCK(self);
  self->tags = {};
  GST_OBJECT_UNLOCK(self);
  take_request(self, nullptr);
}

static gboolean gst_cuda_dct_flip_start(GstBaseTransform* trans) {
  forget_tags(GST_CUDA_DCT_FLIP(trans));
  return GST_BASE_TRANSFORM_CLASS(parent_class)->start(trans);
}

static gboolean gst_cuda_dct_flip_sink_event(GstBaseTransform* trans, GstEvent* event) {
  auto* self = GST_CUDA_DCT_FLIP(trans);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_STREAM_START:
      forget_tags(self);
      break;
    case GST_EVENT_TAG:
      event = take_tags(self, event);
      break;
    case GST_EVENT_CAPS: {
      // Properties may change before set_caps() compares what transform_caps() has promised.
      take_request(self, nullptr);
      const PinnedRequest pinned(trans, taken_request);
      return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
    }
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
}

// ---- Caps and metas ----

static gboolean gst_cuda_dct_flip_query(GstBaseTransform* trans, GstPadDirection direction,
                                        GstQuery* query) {
  const PinnedRequest pinned(trans, request_of);
  return GST_BASE_TRANSFORM_CLASS(parent_class)->query(trans, direction, query);
}

static void append_others(GstBaseTransform* trans, GstPadDirection direction, const GstStructure* s,
                          std::vector<StructurePtr>* others) {
  const FlipRequest request = PinnedRequest::of(trans, request_of);
  others->emplace_back(gst_structure_copy(s));
  if (direction == GST_PAD_SINK)
    flip_caps(others->back().get(), request);
  else
    unflip_caps(others->back().get(), request);
}

// Metas about places in the picture are dropped: their code cannot transform them.
static gboolean gst_cuda_dct_flip_transform_meta(GstBaseTransform* trans, GstBuffer* out,
                                                 GstMeta* meta, GstBuffer* in) {
  for (const char* tag : {GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR})
    if (gst_meta_api_type_has_tag(meta->info->api, g_quark_from_static_string(tag))) return FALSE;
  return GST_BASE_TRANSFORM_CLASS(parent_class)->transform_meta(trans, out, meta, in);
}

static gboolean gst_cuda_dct_flip_copy_metadata(GstBaseTransform* trans, GstBuffer* in,
                                                GstBuffer* out) {
  if (!GST_BASE_TRANSFORM_CLASS(parent_class)->copy_metadata(trans, in, out)) return FALSE;
  transform_of<FlipTransform>(trans).flip_metadata(out);
  return TRUE;
}

// ---- Properties ----

static void gst_cuda_dct_flip_init(GstCudaDctFlip* self) {
  self->settings = {};
  self->tags = {};
}

/**
 * GstCudaDctFlip:video-direction:
 *
 * Video direction: rotation and flipping.
 *
 * Since: 1.0
 */

/**
 * GstCudaDctFlip:crop-left:
 *
 * Left edge of the crop, rounded down to an MCU boundary.
 *
 * Since: 1.0
 */

/**
 * GstCudaDctFlip:crop-top:
 *
 * Top edge of the crop, rounded down to an MCU boundary.
 *
 * Since: 1.0
 */

/**
 * GstCudaDctFlip:crop-width:
 *
 * Width of the crop in pixels (0 = to the right edge).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctFlip:crop-height:
 *
 * Height of the crop in pixels (0 = to the bottom edge).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctFlip:trim:
 *
 * Drop partial MCUs that cannot be transformed (like jpegtran -trim).
 *
 * Since: 1.0
 */

/**
 * GstCudaDctFlip:perfect:
 *
 * Fail if the transformation cannot be lossless (like jpegtran -perfect).
 *
 * Since: 1.0
 */

static void install_properties(GObjectClass* klass) {
  const SettingsOf<FlipSettings> flip(
      [](gpointer element) -> auto& { return GST_CUDA_DCT_FLIP(element)->settings; });
  const SettingsOf<FlipRequest> request(
      [](gpointer element) -> auto& { return GST_CUDA_DCT_FLIP(element)->settings.request; });
  const SettingTraits<FlipRequest, int32_t> samples = {.max = G_MAXINT, .flags = kControllable};
  install_properties(
      klass,
      // Replaces GstVideoDirection's property, whose flags are too restrictive.
      {flip.row("video-direction", "Video Direction", "Video direction: rotation and flipping",
                &FlipSettings::direction,
                {.type = GST_TYPE_VIDEO_ORIENTATION_METHOD, .flags = kControllable}),
       request.row("crop-left", "Crop Left",
                   "Left edge of the crop, rounded down to an MCU boundary", &FlipRequest::left,
                   samples),
       request.row("crop-top", "Crop Top", "Top edge of the crop, rounded down to an MCU boundary",
                   &FlipRequest::top, samples),
       request.row("crop-width", "Crop Width",
                   "Width of the crop in pixels (0 = to the right edge)", &FlipRequest::width,
                   samples),
       request.row("crop-height", "Crop Height",
                   "Height of the crop in pixels (0 = to the bottom edge)", &FlipRequest::height,
                   samples),
       request.row("trim", "Trim",
                   "Drop partial MCUs that cannot be transformed (like jpegtran -trim)",
                   &FlipRequest::trim),
       request.row("perfect", "Perfect",
                   "Fail if the transformation cannot be lossless (like jpegtran -perfect)",
                   &FlipRequest::perfect)});
}

static void gst_cuda_dct_flip_class_init(GstCudaDctFlipClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* trans_class = GST_BASE_TRANSFORM_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  install_properties(G_OBJECT_CLASS(klass));
  trans_class->start = GST_DEBUG_FUNCPTR(gst_cuda_dct_flip_start);
  trans_class->submit_input_buffer = GST_DEBUG_FUNCPTR(gst_cuda_dct_flip_submit_input_buffer);
  trans_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_dct_flip_sink_event);
  trans_class->query = GST_DEBUG_FUNCPTR(gst_cuda_dct_flip_query);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_dct_flip_transform_meta);
  trans_class->copy_metadata = GST_DEBUG_FUNCPTR(gst_cuda_dct_flip_copy_metadata);
  base_class->element_name = "cudadctflip";
  base_class->only_measures = kMeasureTime;
  base_class->probe_kernels = CT_CUDA_PROBE(probe_cuda_flip_kernels);
  base_class->category = cudadctflip_debug;
  base_class->make_transform = make_transform<FlipTransform>;
  GST_CUDA_COEF_FILTER_CLASS(klass)->append_others = append_others;
  GST_CUDA_COEF_FILTER_CLASS(klass)->keeps_reference = false;
  GST_CUDA_COEF_FILTER_CLASS(klass)->keeps_file = false;
  gst_cuda_coef_filter_add_templates(element_class, {"S16LE", "S32LE", "F32LE", "F16LE"},
                                     {"block", "plane"});
  gst_element_class_set_static_metadata(
      element_class, "CUDA Lossless DCT Flipper", "Filter/Effect/Video/Hardware",
      "Flips, rotates and crops DCT coefficients losslessly using CUDA or the CPU",
      "The cudatransform authors");
}
