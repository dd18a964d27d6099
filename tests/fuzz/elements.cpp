// Shared by the fuzz targets of elements: a GStreamer without other plugins, and an element's run.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/elements.h"

#include <algorithm>
#include <utility>

G_BEGIN_DECLS
GST_PLUGIN_STATIC_DECLARE(cudatransform);
G_END_DECLS

namespace fuzzing {
namespace {

GstStaticPadTemplate source_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

// GLib itself would trap, which libFuzzer does not catch.
void abort_on_critical(const gchar* domain, GLogLevelFlags level, const gchar* message, gpointer) {
  g_log_default_handler(domain, level, message, nullptr);
  promise(!(level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)),
          "nothing calls GLib or GStreamer wrongly");
}

}  // namespace

void set_up_elements() {
  for (const char* path : {"GST_PLUGIN_SYSTEM_PATH_1_0", "GST_PLUGIN_PATH_1_0"})
    g_setenv(path, "", TRUE);
  g_setenv("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init(nullptr, nullptr);
  gst_debug_set_active(FALSE);
  GST_PLUGIN_STATIC_REGISTER(cudatransform);
  g_log_set_default_handler(abort_on_critical, nullptr);
}

ElementRun::ElementRun(const char* description, Look look)
    : harness_(gst_harness_new_empty()), look_(std::move(look)) {
  GstElement* element = gst_parse_launch(description, nullptr);
  promise(element != nullptr, "the element exists");
  gst_util_set_object_arg(G_OBJECT(element), "backend", "cpu");
  gst_harness_add_element_full(harness_, element, &source_template, "sink", &sink_template, "src");
  gst_object_unref(element);
  gst_harness_set_drop_buffers(harness_, TRUE);
  gst_pad_add_probe(
      harness_->sinkpad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      note, this, nullptr);
  gst_harness_play(harness_);
}

ElementRun::~ElementRun() {
  gpointer element = harness_->element;
  g_object_add_weak_pointer(G_OBJECT(element), &element);
  gst_harness_teardown(harness_);
  promise(element == nullptr, "nobody holds the element");
  promise(g_atomic_int_get(&memories_) == 0, "all input has been given back");
}

void read_bytes(GstBuffer* buffer) {
  GstMapInfo map;
  promise(gst_buffer_map(buffer, &map, GST_MAP_READ), "what comes out can be read");
  guint64 sum = 0;
  for (gsize i = 0; i < map.size; i++) sum += map.data[i];
  promise(sum <= 255 * guint64{map.size}, "bytes are small");
  gst_buffer_unmap(buffer, &map);
}

GstPadProbeReturn ElementRun::note(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
  auto* run = static_cast<ElementRun*>(self);
  if (GST_IS_EVENT(info->data)) {
    run->at_eos_ = GST_EVENT_TYPE(info->data) == GST_EVENT_EOS;
    return GST_PAD_PROBE_OK;
  }
  promise(!run->at_eos_, "nothing comes behind EOS");
  run->buffers_++;
  GstCaps* caps = gst_pad_get_current_caps(pad);
  run->look_(GST_PAD_PROBE_INFO_BUFFER(info), caps);
  gst_clear_caps(&caps);
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn ElementRun::answer(GstPad*, GstPadProbeInfo* info, gpointer self) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_DURATION) return GST_PAD_PROBE_OK;
  GstFormat format = GST_FORMAT_UNDEFINED;
  gst_query_parse_duration(query, &format, nullptr);
  if (format != GST_FORMAT_BYTES) return GST_PAD_PROBE_OK;
  gst_query_set_duration(query, format, static_cast<ElementRun*>(self)->length_);
  return GST_PAD_PROBE_HANDLED;
}

void ElementRun::know_length(gint64 bytes) {
  length_ = bytes;
  gst_pad_add_probe(
      harness_->srcpad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_UPSTREAM | GST_PAD_PROBE_TYPE_PUSH),
      answer, this, nullptr);
}

void ElementRun::begin(GstCaps* caps, GstFormat format) {
  push_event(gst_event_new_stream_start("fuzz"));
  push_caps(caps);
  GstSegment segment;
  gst_segment_init(&segment, format);
  push_event(gst_event_new_segment(&segment));
}

void ElementRun::begin_again(GstCaps* caps, GstFormat format) {
  push_event(gst_event_new_flush_start());
  push_event(gst_event_new_flush_stop(TRUE));
  begin(caps, format);
}

bool ElementRun::push_caps(GstCaps* caps) {
  const bool taken = push_event(gst_event_new_caps(caps));
  gst_caps_unref(caps);
  return taken;
}

GstBuffer* ElementRun::make_buffer(const guint8* data, gsize size) {
  struct Held {
    guint8* bytes;
    int* count;
  };
  auto* held = new Held{new guint8[size], &memories_};
  std::copy_n(data, size, held->bytes);
  g_atomic_int_inc(&memories_);
  const GDestroyNotify let_go = [](gpointer pointer) {
    auto* done = static_cast<Held*>(pointer);
    g_atomic_int_add(done->count, -1);
    delete[] done->bytes;
    delete done;
  };
  return gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), held->bytes, size, 0, size,
                                     held, let_go);
}

void push_frames(ElementRun* run, Input* input, const FrameMaker& maker, guint most, bool sound,
                 bool may_refuse) {
  guint frames = 0;
  GstFlowReturn flow = GST_FLOW_OK;
  for (; input->size() > 0 && frames < most && flow == GST_FLOW_OK; frames++) {
    const guint8 before = input->byte();
    if ((before & 7) == 1) {
      if (GstCaps* caps = maker.other_caps(before, &sound)) run->push_caps(caps);
    } else if ((before & 7) == 2) {
      run->begin_again(maker.same_caps(), GST_FORMAT_TIME);
      sound = false;  // the flush drops earlier frames
    }
    bool frame_is_sound = true;
    GstBuffer* buffer = maker.frame(&frame_is_sound);
    sound = sound && frame_is_sound;
    GST_BUFFER_PTS(buffer) = frames * 40 * GST_MSECOND;
    flow = run->push(buffer);
  }
  promise(flow == GST_FLOW_OK || !sound || (may_refuse && flow == GST_FLOW_NOT_NEGOTIATED),
          "sound frames are taken");
  if (flow != GST_FLOW_OK) return;
  run->push_event(gst_event_new_eos());
  promise(!sound || (run->at_eos() && run->buffers() == frames), "sound frames come out");
}

}  // namespace fuzzing
