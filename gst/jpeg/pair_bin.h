// The base class of bins that are two elements in a row: pads, properties and statistics are the
// elements'.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/jpeg/pair_properties.h"

#define GST_TYPE_PAIR_BIN (gst_pair_bin_get_type())
#define GST_PAIR_BIN(object) (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_PAIR_BIN, GstPairBin))
#define GST_PAIR_BIN_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST((klass), GST_TYPE_PAIR_BIN, GstPairBinClass))
#define GST_PAIR_BIN_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS((object), GST_TYPE_PAIR_BIN, GstPairBinClass))

// The bin does nothing while data flow. Messages come from the elements, which have the names of
// their factories within the bin.
struct GstPairBin {
  GstBin parent;
  GstElement* elements[2];
};

struct GstPairBinClass {
  GstBinClass parent_class;
  const char* element_name;  // of the stats structure
  cudatransform::Pair pair;
  std::vector<cudatransform::PairProperty>* properties;  // by property id; never freed
};

G_BEGIN_DECLS
GType gst_pair_bin_get_type(void);
G_END_DECLS

// Call it in class_init, once the elements' types are registered.
void gst_pair_bin_install(GstPairBinClass* klass, const char* element_name,
                          const cudatransform::Pair& pair);
