// Frames in flight at the end of a stream, and a peer that refuses them: nothing is lost in
// silence, and nothing comes out behind what was refused.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the fake driver, where work is not done before somebody waits for it.
#include <string>

#include "tests/check/states/asyncruns.h"

namespace {

using namespace testing;  // the helpers are half of every line here

struct Peer {
  GstFlowReturn answer = GST_FLOW_OK;
  int asked = 0;
};

GstFlowReturn refuse(GstPad* pad, GstObject*, GstBuffer* buffer) {
  auto* peer = static_cast<Peer*>(g_object_get_data(G_OBJECT(pad), "peer"));
  peer->asked++;
  gst_buffer_unref(buffer);
  return peer->answer;
}

// A line with four frames in flight, and the messages of its elements.
class Refused {
 public:
  Refused(const std::string& line, GstFlowReturn answer) : run_(line) {
    peer_.answer = answer;
    gst_element_set_bus(run_.harness()->element, bus_);
    g_object_set_data(G_OBJECT(run_.harness()->sinkpad), "peer", &peer_);
    gst_pad_set_chain_function(run_.harness()->sinkpad, refuse);
    run_.caps(small());
    run_.push_many(0, 4);
    fail_unless_equals_int(peer_.asked, 0);
  }
  ~Refused() {
    gst_element_set_bus(run_.harness()->element, nullptr);
    gst_object_unref(bus_);
  }

  AsyncRun& run() { return run_; }
  Peer& peer() { return peer_; }
  // The number of errors so far.
  int errors() {
    while (GstMessage* message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR)) {
      GError* error = nullptr;
      gst_message_parse_error(message, &error, nullptr);
      fail_unless(g_error_matches(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED), "%s",
                  error->message);
      g_error_free(error);
      gst_message_unref(message);
      errors_++;
    }
    return errors_;
  }

 private:
  GstBus* bus_ = gst_bus_new();
  Peer peer_;
  AsyncRun run_;
  int errors_ = 0;
};

const std::string kLines[] = {
    "cudadct8x8 backend=cuda async-depth=5 ! capsfilter caps=video/x-dct",
    "cudadct8x8 backend=cuda ! video/x-dct ! cudaidct8x8 backend=cuda async-depth=5",
};

constexpr struct {
  GstFlowReturn answer;
  int errors;  // posted by the element that drains
  bool final;
} kAnswers[] = {
    {GST_FLOW_NOT_LINKED, 1, false},    {GST_FLOW_NOT_NEGOTIATED, 1, false},
    {GST_FLOW_NOT_SUPPORTED, 1, true},  {GST_FLOW_CUSTOM_ERROR, 1, true},
    {GST_FLOW_CUSTOM_ERROR_2, 1, true}, {GST_FLOW_ERROR, 0, true},  // who returns it has said why
    {GST_FLOW_FLUSHING, 0, false},      {GST_FLOW_EOS, 0, false},
};

constexpr int kCases = G_N_ELEMENTS(kLines) * G_N_ELEMENTS(kAnswers);

GST_START_TEST(test_refusal_at_eos) {
  const auto& answer = kAnswers[__i__ % G_N_ELEMENTS(kAnswers)];
  Refused refused(kLines[__i__ / G_N_ELEMENTS(kAnswers)], answer.answer);
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1);  // and the rest is dropped
  fail_unless_equals_int(refused.errors(), answer.errors);
}
GST_END_TEST;

// The last frames leave before an event that comes before the end.
GST_START_TEST(test_refusal_before_eos) {
  const auto& answer = kAnswers[__i__ % G_N_ELEMENTS(kAnswers)];
  Refused refused(kLines[__i__ / G_N_ELEMENTS(kAnswers)], answer.answer);
  refused.run().event(gst_event_new_gap(GST_SECOND, GST_SECOND));
  fail_unless_equals_int(refused.peer().asked, 1);
  fail_unless_equals_int(refused.errors(), 0);  // a buffer may come, and bring it to light
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1);
  fail_unless_equals_int(refused.errors(), answer.errors);
}
GST_END_TEST;

// Behind what was refused for good nothing comes out, whatever is pushed, until a flush.
GST_START_TEST(test_nothing_behind) {
  const auto& answer = kAnswers[__i__ % G_N_ELEMENTS(kAnswers)];
  if (!answer.final) return;
  Refused refused(kLines[__i__ / G_N_ELEMENTS(kAnswers)], answer.answer);
  refused.run().event(gst_event_new_gap(GST_SECOND, GST_SECOND));
  refused.peer().answer = GST_FLOW_OK;
  for (guint i = 4; i < 12; i++) fail_unless_equals_int(refused.run().push(i), answer.answer);
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1);
  fail_unless_equals_int(refused.errors(), 0);  // the pushes said it
  push_flush(refused.run().harness());
  refused.run().push_many(12, 15);
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1 + 3);
}
GST_END_TEST;

// The base class pushes a frame that is refused, with others behind it.
GST_START_TEST(test_nothing_behind_a_push) {
  const auto& answer = kAnswers[__i__ % G_N_ELEMENTS(kAnswers)];
  if (!answer.final) return;
  Refused refused(kLines[__i__ / G_N_ELEMENTS(kAnswers)], answer.answer);
  fail_unless_equals_int(refused.run().push(4), answer.answer);
  fail_unless_equals_int(refused.peer().asked, 1);
  refused.peer().answer = GST_FLOW_OK;
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1);
}
GST_END_TEST;

Suite* make_suite() {
  Suite* suite = suite_create("endflow");
  TCase* tc = tcase_create("endflow");
  suite_add_tcase(suite, tc);
  tcase_add_loop_test(tc, test_refusal_at_eos, 0, kCases);
  tcase_add_loop_test(tc, test_refusal_before_eos, 0, kCases);
  tcase_add_loop_test(tc, test_nothing_behind, 0, kCases);
  tcase_add_loop_test(tc, test_nothing_behind_a_push, 0, kCases);
  return suite;
}

}  // namespace

int main(int argc, char** argv) { return testing::run(argc, argv, make_suite); }
