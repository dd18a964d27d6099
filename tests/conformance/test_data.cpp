// Finds test pictures, and reads the PGM format (netpbm's "P5").
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/conformance/test_data.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

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

}  // namespace cudatransform::test
