// The CPU engine's conversions of coefficients.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "transform/verbs/convert.h"

namespace cudatransform {

const ConvertOps& host_convert_ops();

}  // namespace cudatransform
