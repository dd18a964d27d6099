// Random streams: headers, coefficients, vectors and references of every kind, and the samples that
// they mean.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/encoder/random_stream.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "dirac/sequence.h"
#include "tests/dirac/encoder/dice.h"
#include "tests/dirac/encoder/random_picture.h"
#include "tests/dirac/encoder/stream.h"

namespace cudatransform::test {

namespace {

constexpr int kMostReferences = 8;  // that a decoder keeps

DiracSignalRange random_range(Dice& dice, int depth) {
  const int64_t least = int64_t{1} << (depth - 1), most = (int64_t{1} << depth) - 1;
  return {static_cast<uint32_t>(dice.any(0, most)), static_cast<uint32_t>(dice.any(least, most))};
}

void draw_ranges(Dice& dice, DiracSequence* s) {
  if (dice.one_in(3)) {
    const auto& preset = dice.of(kDiracSignalRanges);
    std::copy_n(preset, 2, s->range);
    return;
  }
  constexpr int kDepths[] = {8, 8, 8, 8, 10, 10, 12, 15, 16, 9, 1, 5};
  const int depth = dice.of(kDepths);
  s->range[0] = random_range(dice, depth);
  s->range[1] = random_range(dice, dice.one_in(4) ? dice.of(kDepths) : depth);
}

void draw_sizes(Dice& dice, DiracSequence* s) {
  s->width = static_cast<uint32_t>(dice.one_in(8) ? dice.number(65, 140) : dice.number(1, 64));
  s->height = static_cast<uint32_t>(dice.number(2, 48));
  s->chroma = static_cast<DiracChroma>(dice.number(0, 2));
  s->field_coding = dice.one_in(4);
  s->clean_width = s->width;
  s->clean_height = s->height;
  if (!dice.one_in(4)) return;
  s->clean_width = static_cast<uint32_t>(dice.number(1, static_cast<int>(s->width)));
  s->clean_left = s->width - s->clean_width;
  s->clean_top = static_cast<uint32_t>(dice.number(0, 1));
  s->clean_height = s->height - s->clean_top;
}

void draw_colors(Dice& dice, DiracSequence* s) {
  s->color = {static_cast<uint32_t>(dice.number(0, 4)), static_cast<uint32_t>(dice.number(0, 4)),
              static_cast<uint32_t>(dice.number(0, 5))};
}

DiracRational random_ratio(Dice& dice) {
  return {static_cast<uint32_t>(dice.any(1, 100000)), static_cast<uint32_t>(dice.any(1, 2000))};
}

// Keeps the pictures that later ones may refer to, as a decoder does.
class Streamer {
 public:
  explicit Streamer(uint32_t seed) : dice_(seed) {}

  RandomStream make(int pictures) {
    stream_.sequence = make_random_sequence(static_cast<uint32_t>(dice_.any(0, UINT32_MAX)));
    const SequenceForm form = {dice_.one_in(2), dice_.one_in(2)};
    writer_.add_sequence(stream_.sequence, form);
    if (dice_.one_in(4)) add_encoder_name();
    // Numbers are even for pictures of fields, and may wrap.
    first_ = static_cast<uint32_t>(dice_.one_in(4) ? -2 * dice_.any(0, 4) : 2 * dice_.any(0, 1000));
    for (int i = 0; i < pictures; ++i) {
      if (dice_.one_in(10)) add_what_is_skipped(form);
      add_picture(i);
    }
    if (!dice_.one_in(4)) writer_.add_unit(0x10, {});
    stream_.bytes = writer_.take();
    return std::move(stream_);
  }

 private:
  // References by the picture's place in the stream.
  using Reference = std::pair<uint32_t, size_t>;

  // The first eight releases had different quantisers.
  void add_encoder_name() {
    const int release = dice_.number(0, 12);
    const std::string name = "\x01Schroedinger 1.0." + std::to_string(release);
    writer_.add_unit(0x20, {name.begin(), name.end()});
    omits_single_deltas_ = release < 8;
  }

  void add_what_is_skipped(const SequenceForm& form) {
    std::vector<uint8_t> data(static_cast<size_t>(dice_.number(0, 40)));
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(dice_.number(0, 255));
    constexpr uint8_t kCodes[] = {0x21, 0x30, 0x70};
    if (dice_.one_in(2)) return writer_.add_sequence(stream_.sequence, form);
    writer_.add_unit(dice_.of(kCodes), data);
  }

  void add_picture(int index) {
    CodedPicture picture;
    draw_kind(dice_, stream_.sequence, &picture);
    picture.omits_single_deltas = omits_single_deltas_;
    picture.header.number = number_of(index);
    const DefinedPicture* defined[kMaxObmcReferences] = {};
    draw_references(&picture, defined);
    const bool is_natural = draw_content(dice_, stream_.sequence, &picture);
    writer_.add_picture(picture);
    const dwt::Rule rule = is_natural ? dwt::Rule::kUnbounded : dwt::Rule::kS32;
    stream_.defined.push_back(define_picture(stream_.sequence, picture, defined, rule));
    keep(picture.header);
    stream_.pictures.push_back(std::move(picture));
  }

  // Groups of three whose coding order differs from the order of showing.
  uint32_t number_of(int index) {
    if (stream_.sequence.field_coding) return first_ + static_cast<uint32_t>(index);
    const int place = index % 3;
    return first_ + static_cast<uint32_t>(index - place + (place == 0 ? 2 : place - 1));
  }

  void draw_references(CodedPicture* picture, const DefinedPicture** defined) {
    DiracPictureHeader& header = picture->header;
    for (int r = 0; r < header.reference_count; ++r) {
      if (references_.empty() || dice_.one_in(40)) {
        header.references[r] = header.number + 5000 + static_cast<uint32_t>(dice_.number(0, 9));
        missing_.push_back(std::make_unique<DefinedPicture>(define_grey(stream_.sequence)));
        defined[r] = missing_.back().get();
        continue;
      }
      const auto at =
          static_cast<size_t>(dice_.any(0, static_cast<int64_t>(references_.size()) - 1));
      header.references[r] = references_[at].first;
      defined[r] = &stream_.defined[references_[at].second];
    }
    if (!header.is_reference || !dice_.one_in(2)) return;
    // An existing one, or none.
    header.retires = true;
    header.retired = header.number - static_cast<uint32_t>(dice_.number(1, 12));
    const auto* used = header.references;
    if (std::find(used, used + header.reference_count, header.retired) !=
        used + header.reference_count)
      header.retires = false;  // decoders disagree whether it still exists
  }

  void keep(const DiracPictureHeader& header) {
    const auto drop = [&](uint32_t number) {
      std::erase_if(references_, [&](const Reference& r) { return r.first == number; });
    };
    if (header.retires) drop(header.retired);
    if (!header.is_reference) return;
    if (references_.size() == kMostReferences) references_.erase(references_.begin());
    references_.emplace_back(header.number, stream_.defined.size() - 1);
  }

  Dice dice_;
  StreamWriter writer_;
  RandomStream stream_;
  uint32_t first_ = 0;
  bool omits_single_deltas_ = false;
  std::vector<Reference> references_;  // oldest first
  std::vector<std::unique_ptr<DefinedPicture>> missing_;
};

}  // namespace

DiracSequence make_random_sequence(uint32_t seed) {
  Dice dice(seed);
  DiracSequence s;
  s.major_version = static_cast<uint32_t>(dice.number(1, 3));
  s.minor_version = static_cast<uint32_t>(dice.one_in(3) ? 2 : 0);
  constexpr uint32_t kProfiles[] = {0, 1, 2, 3, 8};
  s.profile = dice.of(kProfiles);
  if (s.profile == 3) s.minor_version = 0;
  s.level = static_cast<uint32_t>(dice.number(0, 128));
  s.base_format = static_cast<uint32_t>(dice.number(0, std::size(kDiracBaseFormats) - 1));
  s.interlaced = dice.one_in(2);
  s.top_field_first = kDiracBaseFormats[s.base_format].top_field_first;
  s.frame_rate = dice.one_in(2) ? dice.of(kDiracFrameRates) : random_ratio(dice);
  s.pixel_aspect_ratio = dice.one_in(2) ? dice.of(kDiracAspectRatios) : random_ratio(dice);
  draw_sizes(dice, &s);
  draw_ranges(dice, &s);
  draw_colors(dice, &s);
  return s;
}

RandomStream make_random_stream(uint32_t seed, int pictures) {
  return Streamer(seed).make(pictures);
}

}  // namespace cudatransform::test
