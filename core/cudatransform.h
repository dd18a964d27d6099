// libcudatransform: batches of JPEG files to pixels or DCT coefficients and back, and transforms
// and filters of these, on the CPU or a GPU.
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The library needs neither GStreamer nor GLib. Every object belongs to an engine. Engines share
// only what a process has once: the CUDA driver, and which process has used it.
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
  char text[508];  // UTF-8; of a picture with CT_OK: the damage that was concealed, or what a
                   // filter has lost
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
  uint64_t max_device_memory;  // of ct_engine_set_max_device_memory()
  // A CUstream of the device's primary context, with or without CU_STREAM_NON_BLOCKING, that the
  // caller keeps until the engine is freed, and does not capture; NULL or CU_STREAM_LEGACY: the
  // legacy default stream. Not CU_STREAM_PER_THREAD. The caller's work with device memory is on
  // this stream, or joined to it by events: calls start after what was enqueued there before, and
  // device memory of a released block is reused after what was then enqueued there. All calls
  // return with their results complete, which any stream may read.
  void* stream;
} CtEngineOptions;

// `options` NULL: the CPU, all cores. Free it with ct_engine_free(), after its decoders; blocks may
// outlive it.
CT_API CtCode ct_engine_new(const CtEngineOptions* options, CtEngine** engine, CtError* error);
CT_API void ct_engine_free(CtEngine* engine);
// Limits blocks of results, in use or kept for later ones, to so many bytes from now on; 0: no
// limit. Those in use stay. A picture without room is CT_OUT_OF_MEMORY. Not counted:
// working memory of the device's six lanes, some 72 MiB each, or more if one picture needs more.
CT_API CtCode ct_engine_set_max_device_memory(CtEngine* engine, uint64_t bytes, CtError* error);

// ---- Memory ----

// A reference-counted block of memory, on the host or the device, that holds results. When the
// last reference is released the block returns to its engine, which reuses it after the work that
// was then enqueued on the engine's `stream` (host memory immediately).
typedef struct CtBlock CtBlock;
// A block of the engine's memory with room for `bytes` at `data`, for what the caller puts there.
CT_API CtCode ct_block_new(CtEngine* engine, size_t bytes, CtBlock** block, void** data,
                           CtError* error);
CT_API void ct_block_ref(CtBlock* block);
CT_API void ct_block_unref(CtBlock* block);  // NULL is allowed

// Copies `rows` rows of `row_bytes` bytes from a block's memory to the host's, and waits. Pitches
// are bytes from one row to the next.
CT_API CtCode ct_copy_to_host(CtEngine* engine, void* to, int64_t to_pitch, const void* from,
                              int64_t from_pitch, size_t row_bytes, size_t rows, CtError* error);

// ---- JPEG files ----

typedef enum {
  CT_OUTPUT_RGB,          // uint8 (height, width, 3); grayscale files three times the same
  CT_OUTPUT_GRAY,         // uint8 (height, width): luma as the file has it; not of RGB files
  CT_OUTPUT_COEFFICIENTS  // int16 quantized coefficients of each component
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
  int32_t keep_metadata;  // of quantized coefficients: APPn and COM segments, and what follows the
                          // picture
  int32_t stack;  // nonzero: pictures of a batch that all have the same size lie in one block,
                  // without gaps
  uint64_t max_pixels;  // of a picture; 0: 134217728; UINT64_MAX: no limit
  uint64_t max_memory;  // bytes for a picture, not counting its file; 0: no limit
  int32_t batches;      // in flight in a decoder; 0: 3
  // Of pixels, instead of `scale`, for both more than 0: 1/8, 1/4 or 1/2 of the size where that is
  // at least as large, as Pillow's draft() has it.
  int32_t draft_width, draft_height;
  // Of pixels, nonzero: rotated and mirrored by the file's Exif orientation, as Pillow's
  // exif_transpose() has it. Crops and CtPicture count in such pixels; draft_width and draft_height
  // do not.
  int32_t upright;
} CtDecodeOptions;

// Left and top inclusive, right and bottom exclusive, in pixels of the whole result; all 0: the
// whole picture.
typedef struct {
  int32_t left, top, right, bottom;
} CtCrop;

// A file. With `path` NULL it is in memory: `data`, `size`, which must stay until its pictures
// have been pulled. Otherwise the library reads it, on its threads, with `path` in the encoding of
// the file system.
typedef struct {
  const void* data;
  size_t size;
  const char* path;
  // Of pixels: the part that is output. What it does not need is not decoded where that can be
  // avoided, so damage may not be found there. Such pixels may have gaps between rows, and are not
  // stacked.
  CtCrop crop;
} CtSource;

enum { CT_MAX_COMPONENTS = 4, CT_MAX_TABLES = 4 };

typedef struct {
  int32_t id;              // as frame headers have it by convention: 1, 2, 3, 4, or R, G, B, C, ...
  int32_t h_samp, v_samp;  // sampling factors, in lowest terms
  int32_t width, height;   // samples
  int32_t blocks_w, blocks_h;
  int32_t table;  // index into CtPicture.tables
  void* data;     // quantized coefficients: int16 (blocks_h, blocks_w, 8, 8) in natural order
  int64_t pitch;  // bytes from one row of blocks to the next
} CtComponent;

typedef enum {
  CT_GRAY,
  CT_YCBCR,
  CT_RGB,
  CT_CMYK,
  CT_YCCK,
  CT_TWO  // two components of unspecified color: quantized coefficients alone
} CtColor;

typedef struct {
  uint64_t offset, size;  // in CtPicture.trailing
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

  // Quantized coefficients.
  int32_t components, n_tables;
  CtComponent component[CT_MAX_COMPONENTS];
  uint16_t tables[CT_MAX_TABLES][64];  // in natural order
  const uint8_t* markers;              // kept segments, one after the other
  size_t markers_size;
  const uint8_t* trailing;  // the bytes behind the picture in its file
  size_t trailing_size;
  const CtPlace* attachments;  // pictures by the file's index (MPF)
  int32_t n_attachments;

  CtBlock* block;  // of pixels or quantized coefficients
  CtBlock* rest;   // host memory of markers, trailing and attachments; NULL: none
} CtPicture;

CT_API void ct_picture_clear(CtPicture* picture);
CT_API void ct_pictures_clear(CtPicture* pictures, size_t count);

// The header of a file, whatever its kind. Arrays are of the first four components.
typedef struct {
  // Bytes up to the first scan, or to where reading has ended because of a fault; 0: the bytes
  // given end before, and more may say more. It and `marker` are set with an error, too.
  uint64_t size;
  int32_t marker;  // of the frame, 0xC0 (SOF0: baseline) to 0xCF (ITU-T T.81, table B.1); 0: none
  int32_t width, height;  // samples, as the file has them, which may be on its side
  int32_t depth;          // bits of a sample
  int32_t components;     // up to 255
  CtColor color;          // of up to four, by libjpeg's rules
  int32_t id[CT_MAX_COMPONENTS];
  int32_t h_samp[CT_MAX_COMPONENTS], v_samp[CT_MAX_COMPONENTS];  // as the file has them, 0 to 15
  int32_t table[CT_MAX_COMPONENTS];  // index into `tables`; -1: none in front of the scan
  int32_t n_tables;
  uint16_t tables[CT_MAX_TABLES][64];  // in natural order
  int32_t orientation;                 // 1 to 8, of the Exif data; 0: none
  int32_t pictures;                    // by the file's index (MPF), 1 without
} CtInfo;

// Reads the header of a file, up to its first scan, without an engine. What follows may be damaged.
// CT_UNREADABLE; CT_DAMAGED: it is no JPEG file, or has no whole frame header or table.
CT_API CtCode ct_info(const CtSource* source, CtInfo* info, CtError* error);

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
// Begins a batch. Returns immediately, or when fewer than `batches` are under way. The array of
// sources is copied; what it points to is not.
CT_API CtCode ct_decoder_push(CtDecoder* decoder, const CtSource* sources, size_t count,
                              CtError* error);
// Waits for the oldest batch, and gives its pictures. `count` is that of its push. A call with
// `timeout_ms` that is not negative returns CT_OK with `*is_done` 0 if the batch is not done by
// then, so that callers can check for signals.
CT_API CtCode ct_decoder_pull(CtDecoder* decoder, CtPicture* pictures, size_t count,
                              int32_t timeout_ms, int32_t* is_done, CtError* error);

// ---- JPEG files of pixels and quantized coefficients ----

// Pixels: uint8 (height, width) of grayscale or (height, width, 3) of RGB, whose pixels and
// channels are contiguous.
typedef struct {
  const void* data;  // of the host, or of the engine's device
  int64_t pitch;     // bytes from one row to the next
  int32_t width, height;
  int32_t channels;   // 1 or 3; of ct_resize() 1 to 4
  int32_t on_device;  // nonzero: `data` is an address of the engine's device, and all work that was
                      // enqueued on the engine's `stream` comes first
} CtImage;

// Decodes one file to pixels in the calling thread. `*image` is in `*block`, which the caller
// releases. Both are set with CT_OK only. Fails, as ct_decode(), only for wrong arguments or an
// unusable engine: what is wrong with the file is in `*error` beside CT_OK, and `*block` is NULL.
CT_API CtCode ct_decode_image(CtEngine* engine, const CtDecodeOptions* options,
                              const CtSource* source, CtImage* image, CtBlock** block,
                              CtError* error);

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

// docs/elements/cudadct8x8.md, "Methods". ISLOW has libjpeg-turbo's bits.
typedef enum {
  CT_METHOD_ISLOW,
  CT_METHOD_IFAST,
  CT_METHOD_FLOAT,
  CT_METHOD_REFERENCE,
  CT_METHOD_NAIVE,
  CT_METHOD_MATRIX,
  CT_METHOD_SEPARABLE,
  CT_METHOD_DECOMPOSED,
  CT_METHOD_SHUFFLE
} CtMethod;

typedef struct {
  size_t struct_size;
  // Of pixels, and of ct_reencode().
  int32_t quality;        // 1 to 100; 0: 85
  CtSampling sampling;    // of RGB pixels
  CtPreset preset;        // that `quality` scales
  CtQuantizer quantizer;  // others than ROUND are for ISLOW, IFAST and FLOAT
  CtMethod method;
  // Bytes of a sequential Huffman file whose tables are a preset's; 0: no limit. `target_size` is
  // used instead of `quality`: the finest tables whose file has no more bytes, or those of quality
  // 1 and a warning. With `max_size` alone, coarser tables than those of `quality` where the file
  // would be larger; an error if even those of quality 1 make a larger file.
  int64_t target_size, max_size;
  // Instead of `quality` and `preset`: of luma or R, and of chroma or G and B.
  const uint16_t (*tables)[64];
  int32_t n_tables;  // 0 to 2; one is for all
  // Of files.
  int32_t progressive, arithmetic, optimize;  // nonzero: as cjpeg's options
  int32_t restart;                            // MCUs from one restart marker to the next; 0: none
  // Segments of pixels' files: APPn and COM, concatenated. Pictures have their own.
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
CT_API void ct_files_clear(CtFile* files, size_t count);

// Encodes `count` images and waits for them. Files are in the order of the images, all are set.
// Quantized coefficients are those of `cjpeg -dct int`, and files those of libjpeg-turbo.
CT_API CtCode ct_encode(CtEngine* engine, const CtEncodeOptions* options, const CtImage* images,
                        size_t count, CtFile* files, CtError* error);

// Writes pictures of quantized coefficients, as filters take them (see below): ct_decode()'s, or
// the caller's. `tables` are uint16 of 0 to 65535, not all of them 0 (up to 255 in baseline files
// that other programs read).
// The result of a picture that contradicts itself is CT_INVALID_ARGUMENT.
CT_API CtCode ct_write(CtEngine* engine, const CtEncodeOptions* options, const CtPicture* pictures,
                       size_t count, CtFile* files, CtError* error);

// Decodes pictures of quantized coefficients to the samples of their components, without chroma
// upsampling or conversion of colors, and encodes these: by `options`, but with the sampling of the
// picture, and without its markers and what is behind it. The result of a picture of more than 8
// bits, or of two or four components, is CT_UNSUPPORTED.
CT_API CtCode ct_reencode(CtEngine* engine, const CtEncodeOptions* options,
                          const CtPicture* pictures, size_t count, CtFile* files, CtError* error);

// ---- The 8x8 DCT of planes ----

// In memory of the caller's: host memory for an engine of the CPU, device memory for one with a
// CUDA device. Such a call starts after the work that was then enqueued on the engine's `stream`.
// Any number of threads may call with one engine, whose device takes one call after the other.

typedef struct {
  size_t struct_size;
  CtMethod method;  // above 8 bits IFAST means FLOAT, and so does ISLOW at 10 and 16
  int32_t depth;    // bits of a sample: 8, 10, 12 or 16; 0: 8
  // 64 quantizer steps in natural order, 1 to 65535, of ct_idct() 0 as well; NULL: no quantization
  const uint16_t* table;
} CtDctOptions;

// A plane of samples from 0 to 2^depth - 1: uint8 at depth 8, else uint16.
typedef struct {
  void* data;
  int64_t pitch;  // bytes from one row to the next
  int32_t width, height;
} CtSamples;

// (blocks_h, blocks_w, 8, 8), [by, bx, v, u] is the coefficient of v half waves downwards and u to
// the right; as many blocks as cover the plane. With a table they are quantized coefficients: int16
// up to depth 12, int32 at 16. Without one they are float32 values of the orthonormal transform,
// whose DC is eight times the mean of the samples less 2^(depth - 1). On a device, `data` and
// `pitch` are multiples of 16.
typedef struct {
  void* data;
  int64_t pitch;  // bytes from one row of blocks to the next
  int32_t blocks_w, blocks_h;
} CtCoefficients;

// Partial blocks at the right and bottom repeat the last column and row. Bytes between rows are not
// written. `options` NULL: ISLOW, 8 bits, no quantization.
CT_API CtCode ct_dct(CtEngine* engine, const CtDctOptions* options, const CtSamples* samples,
                     const CtCoefficients* coefficients, CtError* error);
// The inverse: samples are rounded and clipped.
CT_API CtCode ct_idct(CtEngine* engine, const CtDctOptions* options,
                      const CtCoefficients* coefficients, const CtSamples* samples, CtError* error);

// ---- Quantization tables ----

// The tables of luma and chroma for a quality, 1 to 100, in natural order: libjpeg's
// (jpeg_set_quality()), or those of docs/elements/cudadct8x8.md, "Perceptual tables".
// `chroma_h` and `chroma_v`: samples of luma across and down for one of chroma, such as 2 and 2
// (4:2:0), 2 and 1, 1 and 1; only the perceptual tables depend on them.
CT_API CtCode ct_quality_tables(CtPreset preset, int32_t quality, int32_t chroma_h,
                                int32_t chroma_v, uint16_t luma[64], uint16_t chroma[64],
                                CtError* error);

// ---- Filters of pictures of quantized coefficients ----

// They take a picture of ct_decode(), or one that the caller has filled in: its width, height,
// depth, color, components with their sampling factors (1 to 4, without a common divisor across or
// down), sizes and quantized coefficients, and tables. Quantized coefficients are in host memory,
// or in device memory for an engine with a CUDA device, as those of ct_dct(), and multiples of 16
// there. Markers, attachments and trailing data are optional, in host memory. The result, `to`,
// which is another structure and need not be cleared, has separate memory; `irregular` and
// `by_device` are as before. It is released with ct_picture_clear(). If a call fails, `to->error`
// has the error, too, and nothing else is set.

typedef enum {
  CT_FLIP_NONE,
  CT_FLIP_90R,  // rotated, clockwise
  CT_FLIP_180,
  CT_FLIP_90L,
  CT_FLIP_HORIZ,  // left and right exchanged
  CT_FLIP_VERT,
  CT_FLIP_UL_LR,  // rows become columns
  CT_FLIP_UR_LL,  // transposed at the other diagonal
  CT_FLIP_AUTO    // upright, by the Exif data in `markers`, which then say that it is
} CtDirection;

typedef struct {
  size_t struct_size;
  CtDirection direction;
  int32_t trim;     // nonzero: drops partial MCUs that would have to come first at an edge;
                    // otherwise they stay there, neither rotated nor mirrored
  int32_t perfect;  // nonzero: fails where there are such
  // What is kept, in samples of the rotated picture. It begins at a whole MCU: the columns and rows
  // of that before `left` and `top` stay. A size of 0 goes to the edge.
  int32_t left, top, width, height;
} CtFlipOptions;

// Rotates, mirrors and crops without loss, with jpegtran's coefficients, and makes metadata true of
// the result: docs/elements/cudadctflip.md, "Metadata". With CT_OK, `to->error.text` has a line for
// each kind of loss: what could not follow the picture; and where CT_FLIP_AUTO leaves partial MCUs
// as they are. `options` NULL: a copy.
CT_API CtCode ct_flip(CtEngine* engine, const CtFlipOptions* options, const CtPicture* from,
                      CtPicture* to, CtError* error);
// Quantized coefficients with libjpeg's tables of a quality, 1 to 100, where these are coarser than
// the picture's: rounded to the nearest, ties away from zero.
CT_API CtCode ct_requantize(CtEngine* engine, int32_t quality, const CtPicture* from, CtPicture* to,
                            CtError* error);

// The pixels of a picture, which are those of its file by ct_decode(). `options` are its, too; the
// orientation is that of the Exif data in `markers`.
CT_API CtCode ct_pixels(CtEngine* engine, const CtDecodeOptions* options, const CtPicture* from,
                        CtPicture* to, CtError* error);

// ---- Resampling ----

typedef enum {
  CT_UINT8,
  CT_UINT16,
  CT_INT16,
  CT_INT32,
  CT_FLOAT16,
  CT_FLOAT32,
  CT_BFLOAT16
} CtType;

// Pillow's filters, by its names.
typedef enum {
  CT_NEAREST,
  CT_BOX,
  CT_BILINEAR,
  CT_HAMMING,
  CT_BICUBIC,
  CT_LANCZOS,
  CT_MKS2013,
  CT_MKS2021
} CtFilter;

// Which version's bytes: those of 13, of 12.2 and 12.3, or of older ones, which differ in the order
// of the two passes.
typedef enum { CT_PILLOW_13, CT_PILLOW_12, CT_PILLOW_11 } CtResizeOrder;

// How bytes become floats, to the bit: those of torchvision's ToTensor and Normalize, of its v2
// transforms, and of Hugging Face's image processors, slow and fast.
typedef enum { CT_TORCHVISION, CT_TORCHVISION_V2, CT_HF, CT_HF_FAST } CtRecipe;

typedef struct {
  size_t struct_size;
  int32_t width, height;  // of the results
  CtFilter filter;
  CtResizeOrder order;
  double reducing_gap;  // Pillow's, at least 1; 0: none
  int32_t has_alpha;    // nonzero: the last of two or four channels is alpha
  CtType type;          // CT_UINT8, CT_FLOAT32, CT_FLOAT16 or CT_BFLOAT16
  int32_t planar;       // nonzero: (channels, height, width) instead of (height, width, channels)
  // Of floats; `mean` and `std` have a number for each channel, or are NULL.
  CtRecipe recipe;
  const double* mean;
  const double* std;
} CtResizeOptions;

// In samples, may have fractions.
typedef struct {
  double left, top, right, bottom;
} CtBox;

// Resamples images of 1 to 4 channels, all of as many, to one size, and waits. Images are in host
// memory, or in device memory for an engine with a CUDA device; work that was then enqueued on the
// engine's `stream` comes first. `boxes` NULL: whole images. The results are contiguous at `*data`
// in `*block`. Fails as a whole, with the number of the image.
CT_API CtCode ct_resize(CtEngine* engine, const CtResizeOptions* options, const CtImage* images,
                        const CtBox* boxes, size_t count, CtBlock** block, void** data,
                        CtError* error);

// ---- Planes by frequency ----

// Of one component (64, blocks_h, blocks_w): plane 0 is DC, the others are in zigzag order.
typedef struct {
  void* data;
  int64_t pitch;  // bytes from one row to the next, without a gap between planes either
  int32_t blocks_w, blocks_h;
} CtBands;

typedef struct {
  int32_t components;
  CtBands bands[CT_MAX_COMPONENTS];
  CtBlock* block;
} CtPlanes;

// CT_INT16: quantized coefficients. CT_INT32, CT_FLOAT32, CT_FLOAT16: quantized coefficients times
// their quantization table. `from` is a picture as filters take it; the planes are released with
// ct_planes_clear().
CT_API CtCode ct_planes(CtEngine* engine, CtType type, const CtPicture* from, CtPlanes* planes,
                        CtError* error);
CT_API void ct_planes_clear(CtPlanes* planes);

// ---- Arrays on the host ----

typedef struct {
  const void* data;  // aligned to its samples, as the pitch
  int64_t pitch;     // bytes from one row to the next
} CtArray;

// The sum of the squared differences of two arrays of CT_UINT8, CT_UINT16 or CT_FLOAT32, in host
// memory for all engines, on whose threads it runs. That of integers is exact up to 2^53. PSNR is
// 10 log10(peak^2 row_samples rows / sum).
CT_API CtCode ct_squared_error(CtEngine* engine, CtType type, const CtArray* a, const CtArray* b,
                               size_t row_samples, size_t rows, double* sum, CtError* error);

#ifdef __cplusplus
}
#endif
#endif
