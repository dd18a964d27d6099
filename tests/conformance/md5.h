// MD5 (RFC 1321), the format of lists of reference frames.
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudatransform::test {

// 32 hexadecimal digits.
std::string md5_of(const std::vector<uint8_t>& bytes);

}  // namespace cudatransform::test
