// The base class of bins that are two elements in a row: pads, properties and statistics are the
// elements'.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

namespace cudatransform {

// The two elements, in the order of the stream.
struct Pair {
  GType types[2];
  const char* names[2];
  int transform;  // the index of the one that transforms; a property of both has its value
};

// A property of the bin. Setting it sets it in all elements that have it.
struct PairProperty {
  GParamSpec* spec;  // the bin's
  bool is_in[2];
  int reads;  // the index of the element that has the value
};

// The bin's properties, without `stats`, with names, types, ranges and defaults of the elements'.
// They have the elements' texts, too, or a common one where those differ. Properties that only
// change coefficients are omitted, as these stay within the bin.
std::vector<PairProperty> pair_properties(const Pair& pair);
// Disables those that are omitted.
void turn_inner_properties_off(GstElement* element);

}  // namespace cudatransform

#define GST_TYPE_CUDA_PAIR_BIN (gst_cuda_pair_bin_get_type())
#define GST_CUDA_PAIR_BIN(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_CUDA_PAIR_BIN, GstCudaPairBin))
#define GST_CUDA_PAIR_BIN_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_CUDA_PAIR_BIN, GstCudaPairBinClass))
#define GST_CUDA_PAIR_BIN_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS((object), GST_TYPE_CUDA_PAIR_BIN, GstCudaPairBinClass))

// The bin does nothing while data flow. Messages come from the elements, which have the names of
// their factories within the bin.
struct GstCudaPairBin {
  GstBin parent;
  GstElement* elements[2];
};

struct GstCudaPairBinClass {
  GstBinClass parent_class;
  const char* element_name;  // of the stats structure
  cudatransform::Pair pair;
  std::vector<cudatransform::PairProperty>* properties;  // by property id; never freed
};

G_BEGIN_DECLS
GType gst_cuda_pair_bin_get_type(void);
G_END_DECLS

// Call it in class_init, once the elements' types are registered.
void gst_cuda_pair_bin_install(GstCudaPairBinClass* klass, const char* element_name,
                               const cudatransform::Pair& pair);
