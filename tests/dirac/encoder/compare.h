// Compares a decoder's picture with the writer's.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "dirac/picture.h"
#include "tests/dirac/encoder/picture.h"

namespace cudatransform::test {

// "" or the first difference. `found`: all its tasks have ended.
std::string judge_parsed(const CodedPicture& coded, const DiracPicture& found);

}  // namespace cudatransform::test
