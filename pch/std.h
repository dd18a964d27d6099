// What most files include of the standard library, compiled once a target with -Db_pch=true.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Files include what they need themselves all the same: builds without it are the usual ones.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>
