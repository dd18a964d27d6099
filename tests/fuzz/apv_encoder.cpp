// Fuzz target: the element cudaapvenc, fed with frames of wrong sizes and metas.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The input: two bytes of settings and the caps (three bytes), then frames until it is used up, as
// those of transforms.cpp. The output is decoded.
#include <string>
#include <vector>

#include "apv/frame.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/stream_input.h"

namespace {

using fuzzing::ElementRun;
using fuzzing::Input;
using fuzzing::promise;

void check_unit(GstBuffer* buffer, GstCaps*) {
  fuzzing::read_bytes(buffer);
  GstMapInfo map;
  promise(gst_buffer_map(buffer, &map, GST_MAP_READ), "access units can be read");
  cudatransform::ApvAccessUnit unit;
  promise(cudatransform::read_apv_access_unit({map.data, map.size}, &unit).ok(),
          "access units are sound");
  cudatransform::ApvFrame frame;
  promise(frame.begin(unit.frame, nullptr, {}).ok(), "frames are sound");
  std::vector<int16_t> coefs(frame.coef_count());
  for (size_t i = 0; i < frame.chain_count(); i++) frame.decode_chain(i, coefs.data());
  promise(frame.damage() == nullptr, "chains are sound");
  gst_buffer_unmap(buffer, &map);
}

void run_apv(const uint8_t* data, size_t size) {
  Input input(data, size);
  const guint8 how = input.byte(), more = input.byte();
  std::string text =
      "cudaapvenc n-threads=" + std::to_string(1 + (more & 1)) + " qp=" + std::to_string(how & 63);
  if (how & 64) text += " tile-height=128";
  if (how & 128) text += " qp-offset-c1=-9 qp-offset-c3=63";
  if (more & 2) text += " tile-width=500";
  ElementRun run(text.c_str(), check_unit);
  if (more & 4) run.want_caps("video/x-apv, stream-format=(string)au");
  fuzzing::push_raw_frames(&run, &input);
  const fuzzing::StreamLock lock(run);
  promise(fuzzing::stat_of(run, "frames") == run.buffers(), "what is counted has been pushed");
}

const fuzzing::Targets targets({{"fuzz_cudaapvenc", run_apv}}, fuzzing::set_up_elements);

}  // namespace
