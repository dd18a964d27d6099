// The parallel decoders of all engines, and what tests expect of them.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gtest/gtest.h>

#include "tests/engine/engines.h"
#include "tests/jpeg/scans_judge.h"
#include "tests/jpeg/streams.h"
#if CT_HAVE_CUDA
#include "cuda/jpeg/engine.h"
#endif

namespace cudatransform::test {

inline const JpegDecodeOps* ops_of(const Engine& engine) {
#if CT_HAVE_CUDA
  if (engine.is_cuda) return &cuda_jpeg_decode_ops();
#endif
  return engine.is_cuda ? nullptr : &portable_jpeg_decode_ops();
}

// Calls `test` with one decoder for each kind of device.
template <typename Test>
void for_each_decoder(Test&& test) {
  for (const Engine* engine : engine_of_each_kind()) {
    if (ops_of(*engine) == nullptr) continue;
    SCOPED_TRACE(engine->name);
    engine->activate();
    ScansDecoder decoder(*engine->device, *ops_of(*engine));
    test(decoder);
  }
}

// Any sound stream is decoded right, or passed to the CPU if nothing synchronizes.
inline bool expect_decoded_or_left(const StreamKind& kind, ScansDecoder& decoder) {
  const auto file = make_stream(kind);
  const ScansOutcome outcome = judge_scans(file.data(), file.size(), decoder);
  EXPECT_EQ(outcome.wrong, "") << kind.text();
  EXPECT_TRUE(outcome.judged_sound && outcome.was_fast) << kind.text();
  if (outcome.verdict == ScansVerdict::kSound) return true;
  EXPECT_NE(static_cast<int>(outcome.verdict), static_cast<int>(ScansVerdict::kNo)) << kind.text();
  EXPECT_NE(outcome.reported & kJpegNotSynchronized, 0u) << kind.text();
  return false;
}

}  // namespace cudatransform::test
