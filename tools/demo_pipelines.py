"""The pipelines of tools/demo: what is in a file, measuring a quality, fetching frames."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from dataclasses import dataclass
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstPbutils", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstPbutils, GstVideo  # noqa: E402
import numpy  # noqa: E402

Gst.init(None)

# Sound and subtitles stay unlinked: videoconvert accepts neither.
DECODE = "filesrc name=file ! decodebin name=decoder ! videoconvert name=decoded"
DECODE_JPEG = ("filesrc name=file ! jpegcoefdec name=decoder on-error=fail ! cudaidct8x8 ! "
               "videoconvert name=decoded")
STATS = ("backend", "device", "method", "frames", "psnr-global", "psnr-y-global", "psnr-u-global",
         "psnr-v-global", "zeros-mean", "kernel-time-mean", "upload-time-mean",
         "download-time-mean")


class DemoError(Exception):
    """Something that the user should read, without a traceback."""


class MissingDecoder(DemoError):
    """GStreamer lacks a plugin, which a package may have."""


@dataclass
class Media:
    path: str
    still: bool
    frames: int  # how many of them go through the elements
    width: int
    height: int
    decoded_format: str
    format: str  # the raw format that goes into cudadct8x8
    decode: str  # description of a pipeline that makes raw frames of the file


class Pipeline:
    """A pipeline from a description; goes to NULL at the end of its `with`."""

    def __init__(self, description, path):
        try:
            self.pipeline = Gst.parse_launch(description)
        except gi.repository.GLib.Error as error:
            raise DemoError(f"the pipeline cannot be made: {error.message}") from error
        self.path = path
        self.missing = []
        self.pipeline.get_by_name("file").set_property("location", path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pipeline.set_state(Gst.State.NULL)

    def __getitem__(self, name):
        return self.pipeline.get_by_name(name)

    def play(self):
        self.pipeline.set_state(Gst.State.PLAYING)

    def check(self, timeout_ms=0):
        """Handles one message. True at the end of the stream; raises on an error."""
        message = self.pipeline.get_bus().timed_pop(timeout_ms * Gst.MSECOND)
        if not message:
            return False
        if GstPbutils.is_missing_plugin_message(message):
            self.missing.append(GstPbutils.missing_plugin_message_get_description(message))
        if message.type == Gst.MessageType.ERROR:
            self.fail(message)
        return message.type == Gst.MessageType.EOS

    def check_plugins(self):
        if self.missing:
            raise MissingDecoder(f"{self.path}: GStreamer has nothing that decodes this: "
                                 f"{', '.join(self.missing)} is missing")

    def fail(self, message):
        error, debug = message.parse_error()
        element = message.src.get_name() if message.src else "the pipeline"
        self.check_plugins()
        decoder, decoded = self["decoder"], self["decoded"]
        if decoder and decoder.srcpads and not decoded.get_static_pad("sink").is_linked():
            raise DemoError(f"{self.path}: has no picture in it")
        detail = (debug or "").strip().splitlines()[1:]  # the first line is a place in a source
        raise DemoError(f"{self.path}: GStreamer stopped at {element}: {error.message}"
                        + (f" ({' '.join(detail).strip()})" if detail else ""))

    def run(self, frames, patience=None):
        """Plays to the end, made after `frames` at the element called limit; returns their count.

        With `patience`, a pause of so many seconds after a frame counts as the end too: some
        demuxers (GIF's is one) never say that theirs has come.
        """
        limit = self["limit"].get_static_pad("src")
        seen = 0

        def count(_pad, _info):
            nonlocal seen
            seen += 1
            return Gst.PadProbeReturn.OK if seen <= frames else Gst.PadProbeReturn.DROP

        def end(pad, _info):
            pad.get_peer().send_event(Gst.Event.new_eos())
            return Gst.PadProbeReturn.REMOVE

        limit.add_probe(Gst.PadProbeType.BUFFER, count)
        self.play()
        ended, before, since = False, 0, time.monotonic()
        while not self.check(100):
            if seen != before:
                before, since = seen, time.monotonic()
            stalled = patience and seen and time.monotonic() > since + patience
            if not ended and (seen >= frames or stalled):
                limit.add_probe(Gst.PadProbeType.IDLE, end)
                ended = True
        return min(seen, frames)


def structure_of(caps, index=0):
    """Newer versions of GStreamer hand a structure to Python for the length of a `with` only."""
    structure = caps.get_structure(index)
    if not hasattr(structure, "__enter__"):
        return structure
    with structure as lent:
        return lent.copy()


def formats_of(element):
    """The raw formats that an element takes from system memory."""
    factory = Gst.ElementFactory.find(element)
    if not factory:
        raise DemoError(f"GStreamer does not find {element}; GST_PLUGIN_PATH should name build/gst")
    formats = set()
    for template in factory.get_static_pad_templates():
        caps = template.get_caps()
        if template.direction != Gst.PadDirection.SINK:
            continue
        for index in range(caps.get_size()):
            if not caps.get_features(index).contains("memory:CUDAMemory"):
                value = structure_of(caps, index).get_value("format")
                formats.update([value] if isinstance(value, str) else value)
    return formats


def format_for(decoded):
    """Keeps what both transforms take; else the nearest that shows luma and chroma apart."""
    info = GstVideo.VideoFormat.get_info(GstVideo.VideoFormat.from_string(decoded))
    if decoded in formats_of("cudadct8x8") & formats_of("cudadwt") and decoded != "GBR":
        return decoded
    if info.flags & GstVideo.VideoFormatFlags.GRAY:
        return "GRAY16_LE" if info.bits > 8 else "GRAY8"
    return "I420"


def probe(path, decode, video_frames, still_frames):
    """Decodes the beginning of `path` to learn what it is."""
    with Pipeline(f"{decode} ! identity name=limit ! fakesink sync=false", path) as pipeline:
        seen = pipeline.run(video_frames, patience=3)
        caps = pipeline["decoded"].get_static_pad("sink").get_current_caps()
        if not seen or not caps:
            pipeline.check_plugins()
            raise DemoError(f"{path}: has no picture in it")
    structure = structure_of(caps)
    still = seen == 1
    decoded = structure.get_string("format")
    return Media(path, still, still_frames if still else seen,
                 structure.get_int("width")[1], structure.get_int("height")[1], decoded,
                 format_for(decoded), decode)


def source(media, frames):
    """A description of `frames` raw frames of the file."""
    repeat = f"imagefreeze num-buffers={frames} ! " if media.still else ""
    return f"{media.decode} ! video/x-raw,format={media.format} ! {repeat}identity name=limit"


def read_stats(element):
    stats = element.get_property("stats")
    return {name: stats.get_value(name) for name in STATS if stats.has_field(name)}


def measure(media, quality):
    """Runs both elements; returns the stats of the forward and of the inverse one."""
    with Pipeline(f"{source(media, media.frames)} ! "
                  f"cudadct8x8 name=forward quality={quality} measure=psnr+time+zeros ! "
                  "cudaidct8x8 name=inverse measure=time ! fakesink sync=false",
                  media.path) as pipeline:
        pipeline.run(media.frames)
        return read_stats(pipeline["forward"]), read_stats(pipeline["inverse"])


def pull(pipeline, name):
    """The first sample of an appsink: its caps and its bytes."""
    while True:
        sample = pipeline[name].emit("try-pull-sample", 200 * Gst.MSECOND)
        pipeline.check()
        if sample:
            break
    ok, mapped = sample.get_buffer().map(Gst.MapFlags.READ)
    if not ok:
        raise DemoError("a buffer cannot be mapped")
    data = bytes(mapped.data)
    sample.get_buffer().unmap(mapped)
    return structure_of(sample.get_caps()), data


def rgb(structure, data):
    width, height = structure.get_int("width")[1], structure.get_int("height")[1]
    rows = numpy.frombuffer(data, numpy.uint8).reshape(height, -1)  # padded to four bytes
    return rows[:, : 3 * width].reshape(height, width, 3)


def source_and_reconstruction(media, quality):
    """The first frame before and after, as RGB arrays."""
    to_rgb = "videoconvert ! video/x-raw,format=RGB ! appsink sync=false"
    with Pipeline(f"{source(media, 1)} ! tee name=split "
                  f"split. ! queue ! {to_rgb} name=before "
                  f"split. ! queue ! cudadct8x8 quality={quality} ! cudaidct8x8 ! "
                  f"{to_rgb} name=after", media.path) as pipeline:
        pipeline.play()
        return rgb(*pull(pipeline, "before")), rgb(*pull(pipeline, "after"))


def coefficients(media, quality, quantized):
    """The first component's coefficients of the first frame, each block's at its samples."""
    fields = "quantized=true" if quantized else "quantized=false,format=F32LE"
    caps = f"video/x-dct,layout=plane,{fields}"
    return first_plane(media, f"cudadct8x8 quality={quality} ! {caps}", 8)


def pyramid(media, levels):
    """The first component's wavelet coefficients of the first frame, as their pyramid of bands."""
    return first_plane(media, f"cudadwt levels={levels} ! video/x-dwt", 2**levels)


def first_plane(media, elements, multiple):
    """The first frame's coefficients of the first component, with sides that are multiples."""
    with Pipeline(f"{source(media, 1)} ! {elements} ! appsink name=sink sync=false",
                  media.path) as pipeline:
        pipeline.play()
        structure, data = pull(pipeline, "sink")
    kind = {"S16LE": "<i2", "S32LE": "<i4", "F32LE": "<f4"}[structure.get_string("format")]
    width, height = (-(-structure.get_int(side)[1] // multiple) * multiple
                     for side in ("width", "height"))
    # In system memory components follow each other, luma first, rows without padding.
    return numpy.frombuffer(data, kind, width * height).reshape(height, width)
