// Raw frames and coefficient buffers for the element tests, and how far two frames are apart.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include <gst/coef/coef.h>

namespace testing {

// The engine under test: "cpu" unless CUDATRANSFORM_TEST_BACKEND says "cuda".
const char* backend();
bool is_cuda();
// "cudadct8x8 backend=... PROPERTIES", likewise for the inverse.
std::string forward(const std::string& properties = "");
std::string inverse(const std::string& properties = "");
// Likewise for "cudadwt" and "cudaidwt".
std::string forward_dwt(const std::string& properties = "");
std::string inverse_dwt(const std::string& properties = "");

GstVideoInfo video_info(GstVideoFormat format, int width, int height);
GstCaps* video_caps(const GstVideoInfo& info);
// Of a harness's output.
GstVideoInfo output_info(GstHarness* h);

// A harness of the line that has been given caps of raw frames.
GstHarness* harness_of(const std::string& line, const GstVideoInfo& info);

// A picture with gradients, edges and a little noise in every component, the same for the same
// seed. Bytes between rows are 0xa5.
GstBuffer* make_frame(const GstVideoInfo& info, guint seed = 1);

// Calls `visit` for every sample: component, its value in `a` and in `b`, at the sample's own
// depth. The strides are those of the buffers' metas.
using VisitSamples = void (*)(int component, int a, int b, gpointer user_data);
void visit_samples(const GstVideoInfo& info, GstBuffer* a, GstBuffer* b, VisitSamples visit,
                   gpointer user_data);

// The largest difference of two samples.
int largest_difference(const GstVideoInfo& info, GstBuffer* a, GstBuffer* b);

// Mean squared errors of the components, and of all samples together in [3].
std::vector<double> mean_squared_errors(const GstVideoInfo& info, GstBuffer* a, GstBuffer* b);

// Copies the samples of a frame, each buffer with its own strides, in whatever memory.
void copy_frame(const GstVideoInfo& info, GstBuffer* from, GstBuffer* to);

// A hash of a raw frame's visible contents, with its size.
guint64 hash_of_frame(GstBuffer* buffer, GstCaps* caps);

// These caps with one field changed, as it is written in caps, or removed where `value` is empty.
GstCaps* with_field(const char* caps, const char* field, const char* value);

// Fills a buffer of 16-bit levels with levels that no encoder makes, in one of this many patterns.
inline constexpr int kWildPatterns = 4;
void fill_wildly(GstBuffer* buffer, int pattern);

// Whether an element's sink pad refuses `caps` (transfer full), in a query and in an event.
bool refuses_caps(const std::string& element, GstCaps* caps);

// Whether an element's answer to the ALLOCATION query for `caps` (transfer full) lists `api`
// without parameters.
bool lists_meta(GstHarness* h, GstCaps* caps, GType api);

// A buffer of an active pool.
GstBuffer* acquire(GstBufferPool* pool);
// Deactivates a pool and unreferences it.
void free_pool(GstBufferPool* pool);

// A buffer's bytes.
std::vector<guint8> bytes_of(GstBuffer* buffer);

// Coefficient (u, v) of block (bx, by) of a component, for any layout, order and format. The
// buffer's meta has its place.
double coefficient_at(const GstDctInfo& info, GstBuffer* buffer, const std::vector<guint8>& bytes,
                      guint component, guint bx, guint by, guint u, guint v);

// Plays a pipeline to EOS, which has to come, and calls `change` about every millisecond meanwhile,
// with 0, 1, 2 and so on. Leaves it in NULL.
void play_with_changes(GstElement* pipeline, const std::function<void(int)>& change);

// What arrives at a pipeline's fakesink of the name "sink", with signal-handoffs=true: frames or
// 8x8 DCT coefficients.
struct SeenFrames {
  int frames = 0;
  int wrong = 0;  // buffers that do not fit their caps
  int sizes = 0;  // changes of the width

  // It has to live as long as the pipeline plays.
  void watch(GstElement* pipeline);

 private:
  static void on_frame(GstElement* sink, GstBuffer* buffer, GstPad* pad, gpointer data);
  gint last_width_ = 0;
};

// Plays the caller's pipeline to EOS and leaves it PLAYING. Returns the same as run_pipeline().
std::string run_to_eos(GstElement* pipeline, int seconds = 60);

// Runs a pipeline to EOS. Returns the text of the first error (message and debug), "" without one;
// "timeout" after 30 s.
std::string run_pipeline(const std::string& description);

// The same two, which fail the test on an error.
void run_well(GstElement* pipeline);
void run_well(const std::string& description);

// Pushes one buffer into an element and returns the text of the error that it posts ("" without).
// The flow must end in an error exactly when an error message is posted. Takes `caps` and `buffer`.
std::string push_one(const std::string& element, GstCaps* caps, GstBuffer* buffer);
// Fails unless `text` is an error's and has all these parts.
void expect(const std::string& text, std::initializer_list<const char*> named);

// The frames of a pipeline that ends in "appsink name=sink".
using Frames = std::vector<std::vector<guint8>>;
// The visible contents of a buffer: the samples of a raw frame, component by component, or the rows
// of coefficients, without the bytes between rows; of any other buffer all bytes.
std::vector<guint8> samples_of(GstBuffer* buffer, GstCaps* caps);
// Plays `line` to its end, and returns samples_of() of all output. `*warnings`: how many were on
// the bus. `look` is called before the pipeline stops.
Frames play(const std::string& line, int* warnings = nullptr,
            const std::function<void(GstElement*)>& look = {});
// The same for appsinks with other names.
std::map<std::string, Frames> play_sinks(const std::string& line,
                                         const std::vector<std::string>& sinks,
                                         int* warnings = nullptr,
                                         const std::function<void(GstElement*)>& look = {});
// Fails the test where they differ.
void compare(const Frames& a, const Frames& b, const std::string& what);

}  // namespace testing
