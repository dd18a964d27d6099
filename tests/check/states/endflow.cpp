// Frames in flight at the end of a stream, and a peer that refuses them: no loss is silent, and
// nothing comes out after the refusal.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// On the fake driver, which does work only when a thread waits for it.
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
    g_object_set_data(G_OBJECT(run_.harness()->sinkpad), "peer", &peer_);
    gst_pad_set_chain_function(run_.harness()->sinkpad, refuse);
    run_.caps(small());
    run_.push_many(0, 4);
    fail_unless_equals_int(peer_.asked, 0);
  }

  AsyncRun& run() { return run_; }
  Peer& peer() { return peer_; }
  // The number of errors so far.
  int errors() {
    for (const Report& error : take_messages(bus_, GST_MESSAGE_ERROR)) {
      fail_unless(error.domain == GST_STREAM_ERROR && error.code == GST_STREAM_ERROR_FAILED, "%s",
                  error.text.c_str());
      errors_++;
    }
    return errors_;
  }

 private:
  Peer peer_;
  AsyncRun run_;
  const Messages bus_{run_.harness()->element};
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
    {GST_FLOW_CUSTOM_ERROR_2, 1, true}, {GST_FLOW_ERROR, 0, true},  // its returner has said why
    {GST_FLOW_FLUSHING, 0, false},      {GST_FLOW_EOS, 0, false},
};

constexpr int kCases = G_N_ELEMENTS(kLines) * G_N_ELEMENTS(kAnswers);

CHECK_LOOP_TEST(test_refusal_at_eos, 0, kCases) {
  const auto& answer = kAnswers[__i__ % G_N_ELEMENTS(kAnswers)];
  Refused refused(kLines[__i__ / G_N_ELEMENTS(kAnswers)], answer.answer);
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1);  // and the rest is dropped
  fail_unless_equals_int(refused.errors(), answer.errors);
}

// The last frames leave before an event that precedes the end.
CHECK_LOOP_TEST(test_refusal_before_eos, 0, kCases) {
  const auto& answer = kAnswers[__i__ % G_N_ELEMENTS(kAnswers)];
  Refused refused(kLines[__i__ / G_N_ELEMENTS(kAnswers)], answer.answer);
  refused.run().event(gst_event_new_gap(GST_SECOND, GST_SECOND));
  fail_unless_equals_int(refused.peer().asked, 1);
  fail_unless_equals_int(refused.errors(), 0);  // a buffer may come, and bring it to light
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1);
  fail_unless_equals_int(refused.errors(), answer.errors);
}

// After a final refusal nothing comes out, for any input, until a flush.
CHECK_LOOP_TEST(test_nothing_behind, 0, kCases) {
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

// The base class pushes the refused frame, with others after it.
CHECK_LOOP_TEST(test_nothing_behind_a_push, 0, kCases) {
  const auto& answer = kAnswers[__i__ % G_N_ELEMENTS(kAnswers)];
  if (!answer.final) return;
  Refused refused(kLines[__i__ / G_N_ELEMENTS(kAnswers)], answer.answer);
  fail_unless_equals_int(refused.run().push(4), answer.answer);
  fail_unless_equals_int(refused.peer().asked, 1);
  refused.peer().answer = GST_FLOW_OK;
  refused.run().event(gst_event_new_eos());
  fail_unless_equals_int(refused.peer().asked, 1);
}

}  // namespace
