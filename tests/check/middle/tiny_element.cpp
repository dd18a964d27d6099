// Element tinyxor: raw video to the same video, each sample XOR the mask property.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// It shows that another transform's element needs gst/engine and gst/stream alone.
#include "tests/check/middle/tiny_element.h"

#include "gst/engine/debug.h"
#include "gst/engine/pools.h"
#include "gst/engine/properties.h"
#include "gst/stream/frame_mover.h"
#include "gst/stream/frame_output.h"
#include "gst/stream/transform_base.h"
#include "tests/tiny/tiny.h"

using cudatransform::Status;

namespace {

using namespace cudatransform;

struct TinySettings {
  guint mask = 0xff;
};

class TinyTransform final : public FrameTransform {
 public:
  explicit TinyTransform(FrameMover& mover)
      : engine_(mover.engine()), mover_(mover), frames_(engine_) {}

  TinySettings settings;  // guarded by the object lock

  Status configure(const GstCaps* in, const GstCaps* out) override {
    stop();
    if (!gst_video_info_from_caps(&info_, in))
      return Status::error(StatusCode::kUnsupported, "no raw video");
    frames_.configure(info_, has_cuda_memory(out));
    return {};
  }
  Status allocate(GstQuery* query, GstCaps* caps) override { return frames_.allocate(query, caps); }
  void propose(GstQuery* query, GstCaps* caps, guint buffers) override {
    propose_raw_pool(engine_, query, caps, buffers);
  }
  bool waits_for_frames() const override { return frames_.waits_for_frames(); }
  bool can_hold_frames() const override { return !frames_.is_bounded(); }

  Status take_settings(const char**) override {
    job_.mask = static_cast<uint8_t>(settings.mask);
    return {};
  }
  Status submit(FrameTask& task) override {
    MeasuredFrame* const frame = task.measured;
    FrameInput input;
    CT_RETURN_IF_ERROR(input.bring_in(mover_, task.in, info_, InPlace::kAlways, blocks_, frame));
    Rects target;
    CT_RETURN_IF_ERROR(frames_.begin(&task.out, &target));
    job_.components = component_planes(info_, input.placed().rects, job_.from);
    component_planes(info_, target, job_.to);
    if (frame) frame->set_samples({job_.from, size_t(job_.components)}, 8);
    FencePtr done;
    Device& device = engine_.device();
    CT_RETURN_IF_ERROR(
        ops_of(device).submit(device, engine_.queue(QueueKind::kCompute), job_, &done));
    mover_.mark_read(task.in, input.placed(), done);
    return frames_.finish(mover_, target, done, frame, &task.out);
  }
  void stop() override {
    blocks_.clear();
    frames_.stop();
  }

 private:
  static const test::TinyOps& ops_of([[maybe_unused]] const Device& device) {
#if CT_HAVE_CUDA
    if (!device.is_host()) return test::cuda_tiny_ops();
#endif
    return test::host_tiny_ops();
  }

  Engine& engine_;
  FrameMover& mover_;
  GstVideoInfo info_ = {};
  BlockPool blocks_;
  FrameOutput frames_;
  test::TinyJob job_;
};

GST_DEBUG_CATEGORY_STATIC(tinyxor_debug);

}  // namespace

struct GstTinyXor {
  GstCudaTransformBase parent;
};

struct GstTinyXorClass {
  GstCudaTransformBaseClass parent_class;
};

G_DEFINE_TYPE_WITH_CODE(GstTinyXor, gst_tiny_xor, GST_TYPE_CUDA_TRANSFORM_BASE,
                        GST_DEBUG_CATEGORY_INIT(tinyxor_debug, "tinyxor", 0, "XOR"));

static void gst_tiny_xor_init(GstTinyXor*) {}

static void gst_tiny_xor_class_init(GstTinyXorClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  auto* base_class = GST_CUDA_TRANSFORM_BASE_CLASS(klass);
  base_class->element_name = "tinyxor";
  base_class->category = tinyxor_debug;
  base_class->make_transform = make_transform<TinyTransform>;
  const auto tiny = settings_of<&TinyTransform::settings>();
  install_properties(G_OBJECT_CLASS(klass), {tiny.row("mask", "Mask", "What samples are XORed with",
                                                      &TinySettings::mask, {.max = 255})});
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "video/x-raw(memory:CUDAMemory), format={ I420, Y444 }; "
      "video/x-raw, format={ I420, Y444, GRAY8 }");
  for (const auto& [name, direction] : {std::pair("sink", GST_PAD_SINK), {"src", GST_PAD_SRC}})
    gst_element_class_add_pad_template(element_class,
                                       gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
  gst_element_class_set_static_metadata(element_class, "XOR", "Filter/Effect/Video",
                                        "XORs samples with a mask", "The cudatransform authors");
}

void testing::register_tiny_element() {
  cudatransform::init_debug_category();
  gst_element_register(nullptr, "tinyxor", GST_RANK_NONE, gst_tiny_xor_get_type());
}
