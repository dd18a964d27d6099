// The base class of bins that are two elements in a row: pads, properties and statistics are the
// elements'.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gst/jpeg/pair_bin.h"

#include <gst/base/gstbasetransform.h>
#include <gst/controller/gstproxycontrolbinding.h>
#include <gst/video/gstvideodecoder.h>
#include <gst/video/gstvideoencoder.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gst/engine/properties.h"

namespace cudatransform {
namespace {

// The base classes' properties that have an effect where each picture is a key frame.
constexpr std::string_view kOfBaseClasses[] = {"discard-corrupted-frames", "max-errors", "qos"};
// Booleans that change nothing but the coefficients and what is attached to them.
constexpr const char* kInner[] = {"keep-metadata", "keep-reference", "tables-in-caps"};

bool is_of_base_class(const GParamSpec* spec) {
  return g_type_is_a(GST_TYPE_BASE_TRANSFORM, spec->owner_type) ||
         g_type_is_a(GST_TYPE_VIDEO_DECODER, spec->owner_type) ||
         g_type_is_a(GST_TYPE_VIDEO_ENCODER, spec->owner_type);
}

bool is_wanted(const GParamSpec* spec) {
  const std::string_view name = spec->name;
  if (is_of_base_class(spec))
    return std::find(std::begin(kOfBaseClasses), std::end(kOfBaseClasses), name) !=
           std::end(kOfBaseClasses);
  return name != "stats" &&
         std::find(std::begin(kInner), std::end(kInner), name) == std::end(kInner);
}

// The blurbs of properties that mean the same to both elements in other words.
constexpr std::pair<std::string_view, const char*> kCommonBlurbs[] = {
    {"backend", "Backend of both stages"},
    {"n-threads", "Number of threads of each stage (0 = automatic)"},
    {"qos", "Handle Quality-of-Service events from downstream"},
};

// Null: the elements that have the property describe it differently.
const char* common_blurb(GParamSpec* const specs[2]) {
  const char* texts[2];
  for (int i = 0; i < 2; i++) texts[i] = g_param_spec_get_blurb(specs[specs[i] ? i : 1 - i]);
  if (std::string_view(texts[0]) == texts[1]) return texts[0];
  for (const auto& [name, blurb] : kCommonBlurbs)
    if (name == specs[0]->name) return blurb;
  return nullptr;
}

// With the default that `initial` has: a class may start with another value than its base class's
// specification says. Null for a type that no property has had so far.
GParamSpec* copy_spec(GParamSpec* spec, const GValue* initial, const char* blurb) {
  const char* name = spec->name;
  const char* nick = g_param_spec_get_nick(spec);  // of a class that stays
  const auto flags = static_cast<GParamFlags>(spec->flags | G_PARAM_STATIC_STRINGS);
  const auto number = [&](auto make, const auto* of, auto value) {
    return make(name, nick, blurb, of->minimum, of->maximum, value, flags);
  };
  if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    return g_param_spec_boolean(name, nick, blurb, g_value_get_boolean(initial), flags);
  if (G_IS_PARAM_SPEC_INT(spec))
    return number(g_param_spec_int, G_PARAM_SPEC_INT(spec), g_value_get_int(initial));
  if (G_IS_PARAM_SPEC_UINT(spec))
    return number(g_param_spec_uint, G_PARAM_SPEC_UINT(spec), g_value_get_uint(initial));
  if (G_IS_PARAM_SPEC_INT64(spec))
    return number(g_param_spec_int64, G_PARAM_SPEC_INT64(spec), g_value_get_int64(initial));
  if (G_IS_PARAM_SPEC_UINT64(spec))
    return number(g_param_spec_uint64, G_PARAM_SPEC_UINT64(spec), g_value_get_uint64(initial));
  if (G_IS_PARAM_SPEC_DOUBLE(spec))
    return number(g_param_spec_double, G_PARAM_SPEC_DOUBLE(spec), g_value_get_double(initial));
  if (G_IS_PARAM_SPEC_ENUM(spec))
    return g_param_spec_enum(name, nick, blurb, spec->value_type, g_value_get_enum(initial), flags);
  if (G_IS_PARAM_SPEC_FLAGS(spec))
    return g_param_spec_flags(name, nick, blurb, spec->value_type, g_value_get_flags(initial),
                              flags);
  if (G_IS_PARAM_SPEC_STRING(spec))
    return g_param_spec_string(name, nick, blurb, g_value_get_string(initial), flags);
  if (GST_IS_PARAM_SPEC_ARRAY_LIST(spec))
    return gst_param_spec_array(name, nick, blurb, GST_PARAM_SPEC_ARRAY_LIST(spec)->element_spec,
                                flags);
  return nullptr;
}

struct GFree {
  void operator()(gpointer p) const { g_free(p); }
};

void add_properties(GObject* element, int index, std::vector<PairProperty>* properties) {
  guint n = 0;
  const std::unique_ptr<GParamSpec*, GFree> specs(
      g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n));
  for (guint i = 0; i < n; i++) {
    GParamSpec* spec = specs.get()[i];
    if (!is_wanted(spec)) continue;
    const auto known = std::find_if(properties->begin(), properties->end(), [spec](auto& property) {
      return std::string_view(property.spec->name) == spec->name;
    });
    if (known == properties->end())
      properties->push_back({spec, {index == 0, index == 1}, index});
    else
      known->is_in[index] = true;
  }
}

}  // namespace

std::vector<PairProperty> pair_properties(const Pair& pair) {
  std::vector<PairProperty> properties;
  GObject* elements[2];
  for (int i = 0; i < 2; i++) {
    elements[i] = G_OBJECT(gst_object_ref_sink(g_object_new(pair.types[i], nullptr)));
    add_properties(elements[i], i, &properties);
  }
  for (PairProperty& property : properties) {
    const char* name = property.spec->name;
    GParamSpec* specs[2];
    for (int i = 0; i < 2; i++)
      specs[i] = g_object_class_find_property(G_OBJECT_GET_CLASS(elements[i]), name);
    // A base class may have an unrelated one of this name.
    for (int i = 0; i < 2; i++)
      if (!property.is_in[i]) specs[i] = nullptr;
    if (property.is_in[0] && property.is_in[1]) property.reads = pair.transform;
    GParamSpec* read = specs[property.reads];
    GValue initial = G_VALUE_INIT;
    g_value_init(&initial, read->value_type);
    g_object_get_property(elements[property.reads], name, &initial);
    const char* blurb = common_blurb(specs);
    property.spec = blurb ? copy_spec(read, &initial, blurb) : nullptr;
    if (!property.spec) g_error("no copy of property %s", name);
    g_value_unset(&initial);
  }
  for (GObject* element : elements) gst_object_unref(element);
  return properties;
}

void turn_inner_properties_off(GstElement* element) {
  for (const char* name : kInner)
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), name))
      g_object_set(element, name, FALSE, nullptr);
}

}  // namespace cudatransform

using namespace cudatransform;

#define gst_cuda_pair_bin_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_CODE(GstCudaPairBin, gst_cuda_pair_bin, GST_TYPE_BIN,
                                 gst_type_mark_as_plugin_api(g_define_type_id,
                                                             static_cast<GstPluginAPIFlags>(0)));

static GstStructure* make_stats(GObject* object) {
  GstCudaPairBin* self = GST_CUDA_PAIR_BIN(object);
  const GstCudaPairBinClass* klass = GST_CUDA_PAIR_BIN_GET_CLASS(self);
  GstStructure* stats = gst_structure_new_empty(
      (std::string("application/x-") + klass->element_name + "-stats").c_str());
  for (int i = 0; i < 2; i++) {
    GstStructure* of_element = nullptr;
    g_object_get(self->elements[i], "stats", &of_element, nullptr);
    gst_structure_set(stats, klass->pair.names[i], GST_TYPE_STRUCTURE, of_element, nullptr);
    gst_structure_free(of_element);
  }
  return stats;
}

static Property row_of(const PairProperty& property) {
  const auto element = [](GObject* object, int i) {
    return G_OBJECT(GST_CUDA_PAIR_BIN(object)->elements[i]);
  };
  return {property.spec,
          [element, property](GObject* object, GValue* value) {
            g_object_get_property(element(object, property.reads), property.spec->name, value);
          },
          [element, property](GObject* object, const GValue* value) {
            for (int i = 0; i < 2; i++)
              if (property.is_in[i])
                g_object_set_property(element(object, i), property.spec->name, value);
          }};
}

// An element has notified a property.
static void forward_notify(GObject* element, GParamSpec* spec, gpointer bin) {
  GstCudaPairBin* self = GST_CUDA_PAIR_BIN(bin);
  for (const PairProperty& property : *GST_CUDA_PAIR_BIN_GET_CLASS(self)->properties)
    if (std::string_view(property.spec->name) == spec->name &&
        element == G_OBJECT(self->elements[property.reads]))
      g_object_notify_by_pspec(G_OBJECT(self), property.spec);
}

// The bin's control bindings, from which the elements get their values frame by frame.
static void bind_controls(GstCudaPairBin* self) {
  for (const PairProperty& property : *GST_CUDA_PAIR_BIN_GET_CLASS(self)->properties)
    for (int i = 0; i < 2; i++)
      if (const char* name = property.spec->name;
          property.is_in[i] && (property.spec->flags & GST_PARAM_CONTROLLABLE))
        gst_object_add_control_binding(GST_OBJECT(self->elements[i]),
                                       gst_proxy_control_binding_new(GST_OBJECT(self->elements[i]),
                                                                     name, GST_OBJECT(self), name));
}

// Ghost pads put the caps of an answer into the order of the question's filter. The elements' pads
// have their own order, of which the first is preferred: 4:2:0 before 4:4:4.
static gboolean query_from_outside(GstPad* ghost, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS) return gst_pad_query_default(ghost, parent, query);
  GstPad* target = gst_ghost_pad_get_target(GST_GHOST_PAD(ghost));
  const gboolean answered = target && gst_pad_query(target, query);
  gst_clear_object(&target);
  return answered;
}

// Likewise of the neighbor's answer to an element.
static gboolean query_from_inside(GstPad* internal, GstObject* ghost, GstQuery* query) {
  return (GST_QUERY_TYPE(query) == GST_QUERY_CAPS && gst_pad_peer_query(GST_PAD(ghost), query)) ||
         gst_pad_query_default(internal, ghost, query);
}

static void add_ghost_pad(GstCudaPairBin* self, GstElement* element, const char* name) {
  GstPad* pad = gst_element_get_static_pad(element, name);
  GstPadTemplate* templ = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), name);
  GstPad* ghost = gst_ghost_pad_new_from_template(name, pad, templ);
  GstProxyPad* internal = gst_proxy_pad_get_internal(GST_PROXY_PAD(ghost));
  gst_pad_set_query_function(ghost, query_from_outside);
  gst_pad_set_query_function(GST_PAD(internal), query_from_inside);
  gst_object_unref(internal);
  gst_element_add_pad(GST_ELEMENT(self), ghost);
  gst_object_unref(pad);
}

static void gst_cuda_pair_bin_constructed(GObject* object) {
  G_OBJECT_CLASS(parent_class)->constructed(object);
  GstCudaPairBin* self = GST_CUDA_PAIR_BIN(object);
  const Pair& pair = GST_CUDA_PAIR_BIN_GET_CLASS(self)->pair;
  for (int i = 0; i < 2; i++) {
    self->elements[i] = GST_ELEMENT(
        gst_object_ref_sink(g_object_new(pair.types[i], "name", pair.names[i], nullptr)));
    turn_inner_properties_off(self->elements[i]);
    g_signal_connect_object(self->elements[i], "notify", G_CALLBACK(forward_notify), self,
                            GConnectFlags(0));
    gst_bin_add(GST_BIN(self), self->elements[i]);
  }
  gst_element_link(self->elements[0], self->elements[1]);
  add_ghost_pad(self, self->elements[0], "sink");
  add_ghost_pad(self, self->elements[1], "src");
  bind_controls(self);
}

static void gst_cuda_pair_bin_finalize(GObject* object) {
  for (GstElement*& element : GST_CUDA_PAIR_BIN(object)->elements) gst_clear_object(&element);
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

static void gst_cuda_pair_bin_init(GstCudaPairBin*) {}

static void gst_cuda_pair_bin_class_init(GstCudaPairBinClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->constructed = gst_cuda_pair_bin_constructed;
  object_class->finalize = gst_cuda_pair_bin_finalize;
}

static void add_template(GstElementClass* klass, GType of, const char* name) {
  auto* of_class = GST_ELEMENT_CLASS(g_type_class_ref(of));
  const GstPadTemplate* templ = gst_element_class_get_pad_template(of_class, name);
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new(name, GST_PAD_TEMPLATE_DIRECTION(templ), GST_PAD_ALWAYS,
                                  GST_PAD_TEMPLATE_CAPS(templ)));
  g_type_class_unref(of_class);
}

void gst_cuda_pair_bin_install(GstCudaPairBinClass* klass, const char* element_name,
                               const Pair& pair) {
  klass->element_name = element_name;
  klass->pair = pair;
  klass->properties = new std::vector<PairProperty>(pair_properties(pair));
  std::vector<Property> rows = {stats_property(make_stats)};
  for (const PairProperty& property : *klass->properties) rows.push_back(row_of(property));
  install_properties(G_OBJECT_CLASS(klass), rows);
  add_template(GST_ELEMENT_CLASS(klass), pair.types[0], "sink");
  add_template(GST_ELEMENT_CLASS(klass), pair.types[1], "src");
}
