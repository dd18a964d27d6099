// Whole streams of Dirac and VC-2: their headers, and the units that hold pictures.
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tests/dirac/encoder/stream.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "dirac/sequence.h"
#include "tests/dirac/encoder/picture.h"

namespace cudatransform::test {
namespace {

// The index of the entry that equals `value`, counted from `first`; -1: none.
template <typename Value, size_t kCount>
int index_of(const Value& value, const Value (&presets)[kCount], int first) {
  for (size_t i = 0; i < kCount; ++i) {
    if (presets[i] == value) return static_cast<int>(i) + first;
  }
  return -1;
}

// Profiles 0 and 3 of version n.0 are VC-2's.
bool is_of_vc2(const DiracSequence& s) {
  return s.minor_version == 0 && (s.profile == 0 || s.profile == 3);
}

DiracColor color_of_preset(int index, const DiracSequence& s) {
  DiracColor color = kDiracColors[index];
  if (index == kDiracColorDcinema && !is_of_vc2(s)) color.matrix = 0;
  return color;
}

class SequenceWriter {
 public:
  SequenceWriter(const DiracSequence& sequence, const SequenceForm& form, BitWriter* writer)
      : s_(sequence), base_(kDiracBaseFormats[sequence.base_format]), form_(form), w_(*writer) {}

  void write() {
    codes({s_.major_version, s_.minor_version, s_.profile, s_.level, s_.base_format});
    write_sizes();
    write_rates();
    write_clean_area();
    write_range();
    write_color();
    w_.unsigned_code(s_.field_coding ? 1 : 0);
  }

 private:
  void codes(std::initializer_list<uint64_t> values) {
    for (const uint64_t value : values) w_.unsigned_code(value);
  }
  // Whether the next part is written.
  bool flag(bool equals_base) {
    const bool written = !equals_base || form_.repeats;
    w_.bit(written);
    return written;
  }
  bool has_base_size() const { return s_.width == base_.width && s_.height == base_.height; }

  void write_sizes() {
    if (flag(has_base_size())) codes({s_.width, s_.height});
    if (flag(s_.chroma == base_.chroma)) w_.unsigned_code(static_cast<uint64_t>(s_.chroma));
    if (flag(s_.interlaced == base_.interlaced)) w_.unsigned_code(s_.interlaced ? 1 : 0);
  }

  template <size_t kCount>
  void write_ratio(const DiracRational& ratio, int base, const DiracRational (&presets)[kCount]) {
    if (!flag(ratio == presets[base - 1])) return;
    const int index = form_.uses_presets ? index_of(ratio, presets, 1) : -1;
    if (index > 0) return w_.unsigned_code(static_cast<uint64_t>(index));
    codes({0, ratio.numerator, ratio.denominator});
  }
  void write_rates() {
    write_ratio(s_.frame_rate, base_.frame_rate, kDiracFrameRates);
    write_ratio(s_.pixel_aspect_ratio, base_.pixel_aspect_ratio, kDiracAspectRatios);
  }

  // A decoder takes a whole picture for clean if its size is written.
  void write_clean_area() {
    const bool resized = !has_base_size() || form_.repeats;
    const uint32_t width = resized || base_.clean_width == 0 ? s_.width : base_.clean_width;
    const uint32_t height = resized || base_.clean_height == 0 ? s_.height : base_.clean_height;
    const uint32_t left = resized ? 0 : base_.clean_left;
    if (flag(s_.clean_width == width && s_.clean_height == height && s_.clean_left == left &&
             s_.clean_top == 0))
      codes({s_.clean_width, s_.clean_height, s_.clean_left, s_.clean_top});
  }

  void write_range() {
    const auto equals = [&](int preset) {
      return kDiracSignalRanges[preset - 1][0] == s_.range[0] &&
             kDiracSignalRanges[preset - 1][1] == s_.range[1];
    };
    if (!flag(equals(base_.signal_range))) return;
    for (int i = 1; form_.uses_presets && i <= static_cast<int>(std::size(kDiracSignalRanges));
         ++i) {
      if (equals(i)) return w_.unsigned_code(static_cast<uint64_t>(i));
    }
    w_.unsigned_code(0);
    for (const DiracSignalRange& range : s_.range) codes({range.offset, range.excursion});
  }

  void write_color() {
    const bool is_uhd_of_dirac = base_.color == kDiracColorUhd && !is_of_vc2(s_);
    if (!flag(s_.color == color_of_preset(is_uhd_of_dirac ? 3 : base_.color, s_))) return;
    for (int i = 1; form_.uses_presets && i < static_cast<int>(std::size(kDiracColors)); ++i) {
      if (color_of_preset(i, s_) == s_.color) return w_.unsigned_code(static_cast<uint64_t>(i));
    }
    w_.unsigned_code(0);
    for (const uint32_t part : {s_.color.primaries, s_.color.matrix, s_.color.transfer}) {
      if (flag(part == 0)) w_.unsigned_code(part);
    }
  }

  const DiracSequence& s_;
  const DiracBaseFormat& base_;
  SequenceForm form_;
  BitWriter& w_;
};

void write_slice_parameters(const CodedPicture& picture, BitWriter& w) {
  const DiracTransform& t = picture.transform;
  const bool is_low_delay = picture.header.coding == DiracCoding::kLowDelay;
  w.unsigned_code(static_cast<uint64_t>(t.columns[0]));
  w.unsigned_code(static_cast<uint64_t>(t.rows[0]));
  w.unsigned_code(is_low_delay ? t.slice_numerator : t.prefix_bytes);
  w.unsigned_code(is_low_delay ? t.slice_denominator : t.size_scaler);
  w.bit(picture.writes_matrix);
  for (size_t i = 0; picture.writes_matrix && i < picture.bands[0].size(); ++i)
    w.unsigned_code(t.matrix[i]);
}

void write_partition(const CodedPicture& picture, BitWriter& w) {
  const DiracTransform& t = picture.transform;
  w.bit(picture.writes_partition);
  if (!picture.writes_partition) return;
  for (int level = 0; level <= t.levels.both; ++level) {
    w.unsigned_code(static_cast<uint64_t>(t.columns[level]));
    w.unsigned_code(static_cast<uint64_t>(t.rows[level]));
  }
  w.unsigned_code(t.codeblock_quantizers ? 1 : 0);
}

// Numbers wrap modulo 2^32.
int32_t distance(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }

}  // namespace

void write_sequence(const DiracSequence& sequence, const SequenceForm& form, BitWriter* writer) {
  SequenceWriter(sequence, form, writer).write();
}

void write_picture_header(const CodedPicture& picture, BitWriter* writer) {
  const DiracPictureHeader& h = picture.header;
  writer->number(h.number, 32);
  for (int i = 0; i < h.reference_count; ++i)
    writer->signed_code(distance(h.number, h.references[i]));
  if (h.is_reference) writer->signed_code(h.retires ? distance(h.number, h.retired) : 0);
}

void write_prediction(const CodedPicture& picture, BitWriter* writer) {
  const DiracPrediction& p = picture.prediction;
  BitWriter& w = *writer;
  w.unsigned_code(static_cast<uint64_t>(picture.block_preset));
  if (picture.block_preset == 0) {
    for (const int32_t side : {p.length_x, p.length_y, p.separation_x, p.separation_y})
      w.unsigned_code(static_cast<uint64_t>(side));
  }
  w.unsigned_code(static_cast<uint64_t>(p.precision));
  w.bit(false);        // no global motion
  w.unsigned_code(0);  // prediction mode
  w.bit(picture.writes_weights);
  if (!picture.writes_weights) return;
  w.unsigned_code(static_cast<uint64_t>(p.weight_bits));
  for (int i = 0; i < picture.header.reference_count; ++i) w.signed_code(p.weights[i]);
}

void write_transform(const DiracSequence& sequence, const CodedPicture& picture,
                     BitWriter* writer) {
  const DiracTransform& t = picture.transform;
  BitWriter& w = *writer;
  w.unsigned_code(static_cast<uint64_t>(t.wavelet));
  w.unsigned_code(static_cast<uint64_t>(t.levels.both));
  if (!picture.header.has_slices()) return write_partition(picture, w);
  if (sequence.major_version >= 3) {
    w.bit(t.wavelet_ho != t.wavelet);
    if (t.wavelet_ho != t.wavelet) w.unsigned_code(static_cast<uint64_t>(t.wavelet_ho));
    w.bit(t.levels.horizontal != 0);
    if (t.levels.horizontal != 0) w.unsigned_code(static_cast<uint64_t>(t.levels.horizontal));
  }
  write_slice_parameters(picture, w);
}

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint8_t kEndOfSequence = 0x10;
constexpr uint8_t kFragmentBit = 0x0c;

void append(const Bytes& bytes, Bytes* to) { to->insert(to->end(), bytes.begin(), bytes.end()); }

// Returns the written bits, up to the next whole byte, and empties the writer.
void flush(BitWriter* writer, Bytes* to) {
  writer->align();
  append(writer->bytes(), to);
  *writer = {};
}

void append_bands(const CodedPicture& picture, BitWriter* writer, Bytes* to) {
  for (int c = 0; c < kMaxComponents; ++c) {
    for (size_t i = 0; i < picture.bands[c].size(); ++i) {
      const CodedBand& band = picture.bands[c][i];
      const Bytes data = band.is_coded ? write_band(picture, c, static_cast<int>(i)) : Bytes();
      writer->unsigned_code(data.size());
      if (band.is_coded) writer->unsigned_code(static_cast<uint64_t>(band.quantizer));
      flush(writer, to);
      append(data, to);
    }
  }
}

void put_number(size_t value, int bytes, Bytes* to) {
  for (int i = bytes - 1; i >= 0; --i) to->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

}  // namespace

Bytes write_picture(const DiracSequence& sequence, const CodedPicture& picture) {
  Bytes bytes;
  BitWriter w;
  write_picture_header(picture, &w);
  flush(&w, &bytes);
  if (!picture.is_intra()) {
    write_prediction(picture, &w);
    flush(&w, &bytes);
    for (const Bytes& data : write_motion(picture)) {
      w.unsigned_code(data.size());
      flush(&w, &bytes);
      append(data, &bytes);
    }
    w.bit(!picture.has_residual);
    if (!picture.has_residual) {
      flush(&w, &bytes);
      return bytes;
    }
  }
  write_transform(sequence, picture, &w);
  flush(&w, &bytes);
  if (!picture.header.has_slices()) {
    append_bands(picture, &w, &bytes);
    return bytes;
  }
  for (const Bytes& slice : write_slices(picture)) append(slice, &bytes);
  return bytes;
}

void StreamWriter::add_unit(uint8_t code, const Bytes& data) {
  const size_t size = 13 + data.size();
  for (const char letter : {'B', 'B', 'C', 'D'}) bytes_.push_back(static_cast<uint8_t>(letter));
  bytes_.push_back(code);
  put_number(code == kEndOfSequence ? 0 : size, 4, &bytes_);
  put_number(last_size_, 4, &bytes_);
  append(data, &bytes_);
  last_size_ = code == kEndOfSequence ? 0 : size;
}

void StreamWriter::add_sequence(const DiracSequence& sequence, const SequenceForm& form) {
  BitWriter w;
  write_sequence(sequence, form, &w);
  sequence_ = sequence;
  add_unit(0x00, w.bytes());
}

void StreamWriter::add_picture(const CodedPicture& picture) {
  if (picture.fragments > 0) return add_fragments(picture);
  add_unit(picture.parse_code, write_picture(sequence_, picture));
}

void StreamWriter::add_fragments(const CodedPicture& picture) {
  const auto code = static_cast<uint8_t>(picture.parse_code | kFragmentBit);
  BitWriter parameters;
  write_transform(sequence_, picture, &parameters);
  Bytes first;
  put_number(picture.header.number, 4, &first);
  put_number(parameters.bytes().size(), 2, &first);
  put_number(0, 2, &first);
  append(parameters.bytes(), &first);
  add_unit(code, first);
  const std::vector<Bytes> slices = write_slices(picture);
  const auto across = static_cast<size_t>(picture.transform.columns[0]);
  for (size_t at = 0; at < slices.size();) {
    const size_t count = std::min(static_cast<size_t>(picture.fragments), slices.size() - at);
    Bytes data, fragment;
    for (size_t i = at; i < at + count; ++i) append(slices[i], &data);
    put_number(picture.header.number, 4, &fragment);
    put_number(std::min<size_t>(data.size(), 0xffff), 2, &fragment);
    put_number(count, 2, &fragment);
    put_number(at % across, 2, &fragment);
    put_number(at / across, 2, &fragment);
    append(data, &fragment);
    add_unit(code, fragment);
    at += count;
  }
}

Bytes StreamWriter::take() {
  last_size_ = 0;
  return std::move(bytes_);
}

}  // namespace cudatransform::test
