// libcudatransform: batches of JPEG files to pixels or DCT coefficients, on the CPU or a GPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The library needs neither GStreamer nor GLib. It has no global state: every object belongs to an
// engine, and engines know nothing of each other.
//
// Threads: any thread may call any function. Calls on one decoder are serialized; calls on
// different objects run in parallel.
//
// fork(): objects made before a fork are unusable in the child, where every call on them returns
// CT_FORKED. An engine for the CPU that is made in the child works. A CUDA context does not survive
// a fork, so ct_engine_new() refuses CUDA in a child of a process that has used it.
//
// Errors: functions that can fail return a CtCode and, through `error` (which may be NULL), the
// same code with a sentence. What is wrong with one picture of a batch is in that picture's
// `error`; the others are not affected.
//
// Structures begin with `struct_size`, which the caller sets to sizeof of the structure: a newer
// library takes an older program's structures.
//
#ifndef CUDATRANSFORM_H
#define CUDATRANSFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CT_API
#define CT_API __attribute__((visibility("default")))
#endif

// ---- Errors ----

typedef enum {
  CT_OK = 0,
  CT_INVALID_ARGUMENT,  // an option or a pointer of the caller's
  CT_UNREADABLE,        // a file that cannot be opened or read
  CT_DAMAGED,           // not a JPEG file, or a part of it is missing or contradictory
  CT_UNSUPPORTED,       // a sound file of a kind that the library does not decode
  CT_LIMIT,             // more than max_pixels or max_memory
  CT_OUT_OF_MEMORY,     // of the host or of the device
  CT_NOT_FOUND,         // no driver, no device, or no code for it in this build
  CT_DEVICE_LOST,       // the device has failed: make a new engine
  CT_FORKED,            // the object was made before a fork
  CT_FAILED             // any other failure of the driver or the system
} CtCode;

typedef struct {
  CtCode code;
  char text[508];  // UTF-8; a picture with CT_OK and a text was concealed: the text is the damage
} CtError;

// "1.0.0"
CT_API const char* ct_version(void);

// ---- Engine ----

// The CPU's threads and, if `device` is not negative, one CUDA device.
typedef struct CtEngine CtEngine;

typedef struct {
  size_t struct_size;
  int32_t device;              // CUDA ordinal, whose primary context is used; -1: CPU
  int32_t threads;             // 0: as many as the process may use cores
  uint64_t max_device_memory;  // bytes that the engine allocates on the device; 0: no limit
} CtEngineOptions;

// `options` NULL: the CPU, all cores. Free it with ct_engine_free(), after its decoders; blocks may
// outlive it.
CT_API CtCode ct_engine_new(const CtEngineOptions* options, CtEngine** engine, CtError* error);
CT_API void ct_engine_free(CtEngine* engine);

// ---- Memory ----

// A reference-counted block of memory, on the host or the device, that results lie in. When the
// last reference is gone the block goes back to its engine, which fills it anew after the work that
// was then enqueued on the device's legacy default stream: finish work on other streams first.
typedef struct CtBlock CtBlock;
CT_API void ct_block_ref(CtBlock* block);
CT_API void ct_block_unref(CtBlock* block);  // NULL is allowed

// Copies `rows` rows of `row_bytes` bytes from a block's memory to the host's, and waits. Pitches
// are bytes from one row to the next.
CT_API CtCode ct_copy_to_host(CtEngine* engine, void* to, int64_t to_pitch, const void* from,
                              int64_t from_pitch, size_t row_bytes, size_t rows, CtError* error);

// ---- JPEG files ----

typedef enum {
  CT_OUTPUT_RGB,    // uint8 (height, width, 3); grayscale files three times the same
  CT_OUTPUT_GRAY,   // uint8 (height, width): luma as the file has it; not of RGB files
  CT_OUTPUT_LEVELS  // int16 quantized coefficients of each component
} CtOutput;

typedef enum {
  CT_UPSAMPLING_FANCY,   // libjpeg's triangle filters
  CT_UPSAMPLING_NEAREST  // samples are repeated, as with djpeg -nosmooth
} CtUpsampling;

typedef struct {
  size_t struct_size;
  CtOutput output;
  CtUpsampling upsampling;
  int32_t scale;          // of pixels: 1, 2, 4 or 8 for 1/scale of the size, rounded up; 0: 1
  int32_t conceal;        // nonzero: shows what there is of a damaged picture
  int32_t keep_metadata;  // of levels: APPn and COM segments, and what follows the picture
  int32_t stack;  // nonzero: pictures of a batch that all have the same size lie in one block,
                  // without gaps
  uint64_t max_pixels;  // of a picture; 0: 134217728; UINT64_MAX: no limit
  uint64_t max_memory;  // bytes for a picture, beside its file; 0: no limit
  int32_t batches;      // in flight in a decoder; 0: 3
} CtDecodeOptions;

// A file. With `path` NULL it lies in memory: `data`, `size`, which must stay until its pictures
// have been pulled. Otherwise the library reads it, on its threads, with `path` in the encoding of
// the file system.
typedef struct {
  const void* data;
  size_t size;
  const char* path;
} CtSource;

enum { CT_MAX_COMPONENTS = 4, CT_MAX_TABLES = 4 };

typedef struct {
  int32_t id;              // as frame headers have it by convention: 1, 2, 3, 4, or R, G, B, C, ...
  int32_t h_samp, v_samp;  // sampling factors, in lowest terms
  int32_t width, height;   // samples
  int32_t blocks_w, blocks_h;
  int32_t table;  // index into CtPicture.tables
  void* data;     // levels: int16 (blocks_h, blocks_w, 8, 8) in natural order
  int64_t pitch;  // bytes from one row of blocks to the next
} CtComponent;

typedef enum { CT_GRAY, CT_YCBCR, CT_RGB, CT_CMYK, CT_YCCK } CtColor;

typedef struct {
  uint64_t offset, size;  // in CtPicture.behind
} CtPlace;

// A result. Release it with ct_picture_clear().
typedef struct {
  CtError error;  // with an error nothing else is set
  int32_t width, height;
  int32_t depth;  // bits of a sample: 8 or 12
  CtColor color;
  uint32_t irregular;  // bits of docs/elements/jpegcoefdec.md, "Irregular pictures"
  int32_t by_device;   // nonzero: the device has decoded the entropy coding

  // Pixels: `data` (height, width, channels), rows `pitch` bytes apart.
  int32_t channels;
  void* data;
  int64_t pitch;

  // Levels.
  int32_t components, n_tables;
  CtComponent component[CT_MAX_COMPONENTS];
  uint16_t tables[CT_MAX_TABLES][64];  // in natural order
  const uint8_t* markers;              // kept segments, one after the other
  size_t markers_size;
  const uint8_t* behind;  // the bytes behind the picture in its file
  size_t behind_size;
  const CtPlace* attachments;  // pictures by the file's index (MPF)
  int32_t n_attachments;

  CtBlock* block;  // of pixels or levels
  CtBlock* rest;   // host memory of markers, behind and attachments; NULL: none
} CtPicture;

CT_API void ct_picture_clear(CtPicture* picture);
CT_API void ct_pictures_clear(CtPicture* pictures, size_t count);

// Decodes `count` files and waits for them. Pictures are in the order of the sources, all are set.
// Fails as a whole only for wrong options or an unusable engine.
CT_API CtCode ct_decode(CtEngine* engine, const CtDecodeOptions* options, const CtSource* sources,
                        size_t count, CtPicture* pictures, CtError* error);

// Decodes batches ahead: while one is pulled and used, later ones are under way.
typedef struct CtDecoder CtDecoder;
CT_API CtCode ct_decoder_new(CtEngine* engine, const CtDecodeOptions* options, CtDecoder** decoder,
                             CtError* error);
// Waits for batches under way and drops them.
CT_API void ct_decoder_free(CtDecoder* decoder);
// Begins a batch. Returns at once, or when fewer than `batches` are under way. The array of sources
// is copied; what it points to is not.
CT_API CtCode ct_decoder_push(CtDecoder* decoder, const CtSource* sources, size_t count,
                              CtError* error);
// Waits for the oldest batch, and gives its pictures. `count` is that of its push. A call with
// `timeout_ms` that is not negative returns CT_OK with `*is_done` 0 if the batch is not done by
// then, so that callers can look for signals.
CT_API CtCode ct_decoder_pull(CtDecoder* decoder, CtPicture* pictures, size_t count,
                              int32_t timeout_ms, int32_t* is_done, CtError* error);

// ---- JPEG files of pixels and levels ----

// Pixels: uint8 (height, width) of grayscale or (height, width, 3) of RGB, whose pixels and
// channels lie side by side.
typedef struct {
  const void* data;  // of the host, or of the engine's device
  int64_t pitch;     // bytes from one row to the next
  int32_t width, height;
  int32_t channels;   // 1 or 3
  int32_t on_device;  // nonzero: `data` is an address of the engine's device, and all work that was
                      // enqueued on its legacy default stream comes first
} CtImage;

typedef enum {
  CT_SAMPLING_420,
  CT_SAMPLING_422,
  CT_SAMPLING_444,
  CT_SAMPLING_440,
  CT_SAMPLING_411,
  CT_SAMPLING_441,
  CT_SAMPLING_RGB  // no YCbCr: R, G and B as they are
} CtSampling;

typedef enum { CT_PRESET_ANNEX_K, CT_PRESET_PERCEPTUAL } CtPreset;

typedef enum { CT_QUANTIZER_ROUND, CT_QUANTIZER_DEAD_ZONE, CT_QUANTIZER_RD } CtQuantizer;

typedef struct {
  size_t struct_size;
  // Of pixels.
  int32_t quality;      // 1 to 100; 0: 85
  CtSampling sampling;  // of RGB pixels
  CtPreset preset;      // that `quality` scales
  CtQuantizer quantizer;
  // Instead of `quality` and `preset`: of luma or R, and of chroma or G and B.
  const uint16_t (*tables)[64];
  int32_t n_tables;  // 0 to 2; one is for all
  // Of files.
  int32_t progressive, arithmetic, optimize;  // nonzero: as cjpeg's options
  int32_t restart;                            // MCUs from one restart marker to the next; 0: none
  // Segments of pixels' files: APPn and COM, one after the other. Pictures have their own.
  const uint8_t* markers;
  size_t markers_size;
  int32_t leave_metadata;  // nonzero: pictures' markers and what is behind them are not written
} CtEncodeOptions;

// A JPEG file. Release it with ct_file_clear().
typedef struct {
  CtError error;  // CT_OK with a text: a warning
  const uint8_t* data;
  size_t size;
  int32_t by_device;  // nonzero: the device has done the entropy coding
  CtBlock* block;
} CtFile;

CT_API void ct_file_clear(CtFile* file);

// Encodes `count` images and waits for them. Files are in the order of the images, all are set.
// Levels are those of `cjpeg -dct int`, and files those of libjpeg-turbo.
CT_API CtCode ct_encode(CtEngine* engine, const CtEncodeOptions* options, const CtImage* images,
                        size_t count, CtFile* files, CtError* error);

// Writes pictures of levels, as ct_decode() gives them or the caller makes them, in host memory.
// `tables` are uint16 of 1 to 65535 (255 in baseline files that other programs read). The result of
// a picture that contradicts itself is CT_INVALID_ARGUMENT.
CT_API CtCode ct_write(CtEngine* engine, const CtEncodeOptions* options, const CtPicture* pictures,
                       size_t count, CtFile* files, CtError* error);

#ifdef __cplusplus
}
#endif
#endif
