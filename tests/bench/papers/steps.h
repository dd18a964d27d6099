// The steps of GPUDCT's ladder that are not methods of the elements, as separate engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "tests/engine/engines.h"

namespace cudatransform::bench {

// Takes inverse jobs of whole blocks in block layout, whatever their method. `cuda`: the engine of
// methods, whose device it shares.
const test::Engine& step_engine(const test::Engine& cuda, const std::string& step);

}  // namespace cudatransform::bench
