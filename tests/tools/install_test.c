/* What a program outside of the tree does: it runs an element and reads the coefficients. */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled as C and as C++ by install_test.py and uninstalled_test.py. */
#include <gst/coef/coef.h>
#include <stdio.h>

#define PIPELINE                                                          \
  "videotestsrc num-buffers=1 pattern=white ! "                           \
  "video/x-raw,format=GRAY8,width=9,height=8 ! cudadct8x8 backend=cpu ! " \
  "fakesink name=sink"

/* The plugin's library is this program's: a meta that the one has attached, the other finds. */
static int check_sample(GstSample* sample) {
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  GstDctMeta* meta = gst_buffer_get_dct_meta(buffer);
  GstDctInfo info;
  if (!gst_dct_info_from_caps(&info, gst_sample_get_caps(sample), NULL) || info.size != 256)
    return 3;
  if (meta == NULL || meta->n_components != 1 || meta->components[0].blocks_w != 2) return 4;
  if (!gst_dct_meta_validate(meta, &info, gst_buffer_get_size(buffer), NULL)) return 5;
  return 0;
}

int main(int argc, char** argv) {
  GstElement* pipeline;
  GstElement* sink;
  GstSample* sample = NULL;
  GstMessage* message;
  GstBus* bus;
  GError* error = NULL;
  int result = 2;

  gst_init(&argc, &argv);
  pipeline = gst_parse_launch(PIPELINE, &error);
  if (error != NULL) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus(pipeline);
  message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND,
                                       (GstMessageType)(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_object_get(sink, "last-sample", &sample, NULL);
  if (message != NULL && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS && sample != NULL)
    result = check_sample(sample);
  if (sample != NULL) gst_sample_unref(sample);
  if (message != NULL) gst_message_unref(message);
  gst_object_unref(sink);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  printf("result %d\n", result);
  return result;
}
