// The 8x8 DCT by the textbook, in double precision: the judge of the engines.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Written from the formula (ITU-T T.81, A.3.3) and, on purpose, without a line of transform/.
#pragma once

namespace cudatransform::test {

// F(u,v) = 1/4 C(u) C(v) sum f(x,y) cos((2x+1) u pi/16) cos((2y+1) v pi/16), C(0) = sqrt(1/2);
// indices 8 y + x and 8 v + u.
void definition_dct(const double samples[64], double coefs[64]);
void definition_idct(const double coefs[64], double samples[64]);

// The inverse at n x n samples, n = 1, 2 or 4, index n y + x. By low frequencies: the n x n lowest
// coefficients through the orthonormal inverse of n points,
//   f(x,y) = 1/4 C(u) C(v) sum F(u,v) cos((2x+1) u pi/2n) cos((2y+1) v pi/2n).
// By means: every sample is the mean of definition_idct()'s (8/n)^2 samples in its place.
void definition_low_frequencies(const double coefs[64], int n, double* samples);
void definition_means(const double coefs[64], int n, double* samples);

// Halves away from zero.
double round_half_away(double value);

// The distance of `value` from the nearest number at which its rounding changes.
double distance_to_tie(double value);

// The natural index (8 v + u) of the k-th coefficient of a zigzag scan, found by walking it.
int natural_of_zigzag(int k);

}  // namespace cudatransform::test
