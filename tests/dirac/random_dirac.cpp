// Writes random streams of Dirac and VC-2, small ones, with every feature of a stream.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// random_dirac FIRST COUNT PICTURES FOLDER    writes FOLDER/random-N.drc for COUNT seeds N
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/dirac/encoder/random_stream.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "random_dirac FIRST COUNT PICTURES FOLDER\n");
    return 2;
  }
  const auto first = static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto count = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
  for (uint32_t seed = first; seed < first + count; ++seed) {
    const auto stream = cudatransform::test::make_random_stream(seed, std::atoi(argv[3]));
    std::ofstream file(std::string(argv[4]) + "/random-" + std::to_string(seed) + ".drc",
                       std::ios::binary);
    file.write(reinterpret_cast<const char*>(stream.bytes.data()),
               static_cast<std::streamsize>(stream.bytes.size()));
    if (!file.flush()) {
      std::fprintf(stderr, "random_dirac: cannot write into %s\n", argv[4]);
      return 1;
    }
  }
  return 0;
}
