// Finds and reads test pictures, MD5, and the definition's samples of a file's quantized
// coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/conformance/test_data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/engine/dct8x8/definition.h"

namespace cudatransform::test {

std::string find_test_data(const std::string& name) {
  const char* variable = std::getenv("CUDATRANSFORM_TEST_DATA");
  const std::string folder = variable != nullptr && *variable != '\0' ? variable : CT_TEST_DATA;
  if (folder.empty()) return "";
  for (const std::string& path : {folder + "/images/" + name, folder + "/" + name})
    if (std::filesystem::is_regular_file(path)) return path;
  return "";
}

std::vector<uint8_t> read_test_data(const std::string& name) {
  std::ifstream file(find_test_data(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool read_pgm(const std::string& path, BytePlane* plane, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int maximum = 0;
  const auto number = [&file](int* value) {
    while ((file >> std::ws).peek() == '#')
      file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    return static_cast<bool>(file >> *value);
  };
  if (!(file >> magic) || magic != "P5" || !number(&plane->width) || !number(&plane->height) ||
      !number(&maximum) || maximum != 255 || plane->width < 1 || plane->height < 1) {
    *error = path + " is not a binary 8-bit PGM";
    return false;
  }
  file.get();
  plane->samples.resize(static_cast<size_t>(plane->width) * plane->height);
  file.read(reinterpret_cast<char*>(plane->samples.data()),
            static_cast<std::streamsize>(plane->samples.size()));
  if (static_cast<size_t>(file.gcount()) != plane->samples.size()) {
    *error = path + " is too short";
    return false;
  }
  return true;
}

namespace {

constexpr int kRotations[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

// RFC 1321, 3.4: the integer parts of 2^32 times the sines of 1 to 64.
std::array<uint32_t, 64> make_sines() {
  std::array<uint32_t, 64> sines;
  for (size_t i = 0; i < 64; ++i) {
    sines[i] =
        static_cast<uint32_t>(std::floor(std::ldexp(std::fabs(std::sin(double(i + 1))), 32)));
  }
  return sines;
}

void take_block(const uint8_t* block, std::array<uint32_t, 4>* state) {
  static const std::array<uint32_t, 64> sines = make_sines();
  uint32_t words[16];
  std::memcpy(words, block, sizeof words);
  auto [a, b, c, d] = *state;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t round = i / 16;
    const uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (d & b) | (~d & c)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
    const uint32_t word = round == 0   ? i
                          : round == 1 ? (5 * i + 1) % 16
                          : round == 2 ? (3 * i + 5) % 16
                                       : 7 * i % 16;
    const uint32_t sum = a + mixed + sines[i] + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kRotations[round][i % 4]);
  }
  *state = {(*state)[0] + a, (*state)[1] + b, (*state)[2] + c, (*state)[3] + d};
}

}  // namespace

std::string md5_of(const std::vector<uint8_t>& bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<uint8_t> padded = bytes;
  padded.push_back(0x80);
  padded.resize((padded.size() + 8 + 63) / 64 * 64);
  const uint64_t bits = 8 * uint64_t{bytes.size()};
  std::memcpy(padded.data() + padded.size() - sizeof bits, &bits, sizeof bits);
  std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (size_t at = 0; at < padded.size(); at += 64) take_block(padded.data() + at, &state);
  std::string text;
  for (const uint32_t word : state) {
    for (int shift = 0; shift < 32; shift += 8) {
      const uint32_t byte = word >> shift & 0xff;
      for (const uint32_t digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
    }
  }
  return text;
}

std::vector<std::vector<Gold>> gold_of(const JpegContents& photograph) {
  Coefficients qcoefs;
  Picture like;
  for (size_t c = 0; c < photograph.qcoefs.size(); ++c) {
    const BytePlane& plane = photograph.planes[c];
    qcoefs.emplace_back(plane.blocks_w(), plane.blocks_h());
    qcoefs.back().values.assign(photograph.qcoefs[c].begin(), photograph.qcoefs[c].end());
    like.emplace_back(plane.width, plane.height);
  }
  const RealPicture exact = definition_inverse(dequantize(qcoefs, photograph.tables), like);
  std::vector<std::vector<Gold>> gold;
  for (const auto& plane : exact) {
    gold.emplace_back();
    for (const double value : plane.samples) {
      constexpr double kDoubt = 1e-8;  // the error of double precision
      const auto round = [](double v) {
        return static_cast<int>(std::clamp(std::floor(v + 128.5), 0.0, 255.0));
      };
      gold.back().push_back({round(value - kDoubt), round(value + kDoubt)});
    }
  }
  return gold;
}

InverseErrors judge_inverse(const std::vector<Gold>& gold, const BytePlane& plane) {
  InverseErrors errors{};
  for (size_t i = 0; i < gold.size(); ++i) {
    const int sample = plane.samples[i];
    errors.all += (sample - gold[i].high) * (sample - gold[i].high);
    const int nearest = std::clamp(sample, gold[i].low, gold[i].high);
    errors.without_ties += (sample - nearest) * (sample - nearest);
  }
  return errors;
}

}  // namespace cudatransform::test
