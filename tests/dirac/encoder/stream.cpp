// Joins units to a stream of Dirac or VC-2 as a file has it.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/dirac/encoder/stream.h"

#include <algorithm>
#include <utility>

#include "tests/dirac/encoder/coefs.h"
#include "tests/dirac/encoder/motion.h"

namespace cudatransform::test {

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
      if (band.is_coded) writer->unsigned_code(static_cast<uint64_t>(band.quantiser));
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
