// From the units of a stream to its pictures, in the order in which they are coded.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dirac/picture.h"
#include "dirac/sequence.h"
#include "dirac/units.h"
#include "transform/device/status.h"

namespace cudatransform {

// For any bytes, no call reads outside of them, memory follows from the limits, and time from the
// size of the unit and the limits. One thread at a time; the pictures that it gives out belong to
// the caller, and their tasks may run on any thread.
class DiracDecoder {
 public:
  // `spares`: how many released pictures are kept, for their memory. `budget` limits the memory of
  // all pictures; null: there is no limit.
  explicit DiracDecoder(const DiracLimits& limits = {}, size_t spares = 8,
                        MemoryBudgetPtr budget = nullptr)
      : limits_(limits), budget_(some_budget(std::move(budget))), max_spares_(spares) {}

  // Takes a unit, from its parse info to its end. A failure concerns this unit alone: the next may
  // be given; with kOutOfMemory the same again. kUnsupported: sound, but beyond the limits or of a
  // kind that no encoder makes; kInvalidArgument: damaged. Units before the first sequence header
  // are dropped. The bytes are copied, or stay as they are while `owner` is held, as a picture may
  // hold it.
  Status take(std::span<const uint8_t> unit, std::shared_ptr<const void> owner = nullptr);
  // The stream ends here, with or without an end of sequence; also before a seek. All pictures that
  // have begun are output.
  void finish();

  // The next picture, whose tasks have not run yet; null where there is none.
  std::unique_ptr<DiracPicture> next_picture();
  // A picture that is not used any more, for its memory.
  void give_back(std::unique_ptr<DiracPicture> picture);
  // Frees those that are kept. False: there is none.
  bool drop_spares();

  // The header in force; null outside of a sequence.
  const std::shared_ptr<const DiracSequence>& sequence() const { return sequence_; }
  // How many sequences have begun: pictures of different ones are unrelated.
  uint64_t sequence_count() const { return sequence_count_; }

 private:
  static constexpr int kMaxWaiting = 2;  // the end of one in fragments, and what ended it

  Status take_sequence(std::span<const uint8_t> data);
  Status take_picture(const DiracParseInfo& info, std::span<const uint8_t> data,
                      std::shared_ptr<const void> owner);
  Status take_fragment(const DiracParseInfo& info, std::span<const uint8_t> data);
  void take_auxiliary(std::span<const uint8_t> data);
  void end_fragments();
  void end_sequence();
  std::unique_ptr<DiracPicture> new_picture();
  void put(std::unique_ptr<DiracPicture> picture);
  void give_up(std::unique_ptr<DiracPicture> picture, const Status& status);

  DiracLimits limits_;
  const MemoryBudgetPtr budget_;
  std::shared_ptr<const DiracSequence> sequence_;
  uint64_t sequence_count_ = 0;
  DiracQuirks quirks_;
  std::unique_ptr<DiracPicture> fragments_;  // the picture whose fragments are coming
  std::unique_ptr<DiracPicture> waiting_[kMaxWaiting];
  int waiting_count_ = 0;
  const size_t max_spares_;
  std::vector<std::unique_ptr<DiracPicture>> spares_;
};

}  // namespace cudatransform
