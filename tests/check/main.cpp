// The main() of test programs without their own.
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/testing.h"

int main(int argc, char** argv) { return testing::run(argc, argv); }
