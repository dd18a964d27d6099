// Decodes JPEG files to RGB with libcudatransform, a batch at a time, and prints their mean colors.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cc decode_batch.c $(pkg-config --cflags --libs cudatransform) -o decode_batch
// ./decode_batch photos/*.jpg

#include <cudatransform.h>
#include <stdio.h>
#include <stdlib.h>

static void print_mean_color(const char* path, const CtPicture* picture) {
  uint64_t sums[3] = {0, 0, 0};
  for (int32_t y = 0; y < picture->height; y++) {
    const uint8_t* row = (const uint8_t*)picture->data + y * picture->pitch;
    for (int32_t x = 0; x < 3 * picture->width; x++) sums[x % 3] += row[x];
  }
  const double pixels = (double)picture->width * picture->height;
  printf("%s: %d x %d, mean color %.1f %.1f %.1f\n", path, picture->width, picture->height,
         sums[0] / pixels, sums[1] / pixels, sums[2] / pixels);
}

int main(int argc, char** argv) {
  const size_t count = (size_t)(argc - 1);
  CtError error;
  CtEngine* engine = NULL;
  if (ct_engine_new(NULL, &engine, &error) != CT_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }

  CtSource* sources = calloc(count + 1, sizeof *sources);
  CtPicture* pictures = calloc(count + 1, sizeof *pictures);
  for (size_t i = 0; i < count; i++) sources[i].path = argv[i + 1];
  CtDecodeOptions options = {.struct_size = sizeof options, .output = CT_OUTPUT_RGB};
  if (ct_decode(engine, &options, sources, count, pictures, &error) != CT_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }

  int failures = 0;
  for (size_t i = 0; i < count; i++) {
    if (pictures[i].error.code == CT_OK) {
      print_mean_color(argv[i + 1], &pictures[i]);
    } else {
      fprintf(stderr, "%s: %s\n", argv[i + 1], pictures[i].error.text);
      failures++;
    }
    ct_picture_clear(&pictures[i]);
  }
  free(pictures);
  free(sources);
  ct_engine_free(engine);
  return failures > 0;
}
