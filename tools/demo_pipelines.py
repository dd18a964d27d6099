"""The pipelines of tools/demo: what is in a file, measuring a quality, fetching frames."""
# SPDX-License-Identifier: LGPL-2.1-or-later
from dataclasses import dataclass

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstPbutils", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstPbutils, GstVideo  # noqa: E402
import numpy  # noqa: E402

Gst.init(None)

DECODE = "filesrc name=file ! decodebin name=decoder caps=video/x-raw expose-all-streams=false"
STATS = ("backend", "device", "method", "frames", "mean-psnr", "mean-psnr-y", "mean-psnr-u",
         "mean-psnr-v", "mean-zeros", "kernel-time-mean", "upload-time-mean", "download-time-mean")


class DemoError(Exception):
    """Something that the user should read, without a traceback."""


@dataclass
class Media:
    path: str
    still: bool
    frames: int  # how many of them go through the elements
    width: int
    height: int
    decoded_format: str
    format: str  # the raw format that goes into cudadct8x8


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

    def fail(self, message):
        error, debug = message.parse_error()
        element = message.src.get_name() if message.src else "the pipeline"
        if self.missing:
            raise DemoError(f"{self.path}: GStreamer has nothing that decodes this: "
                            f"{', '.join(self.missing)} is missing")
        detail = (debug or "").strip().splitlines()
        raise DemoError(f"{self.path}: {element} says: {error.message}"
                        + (f" ({detail[-1].strip()})" if detail else ""))

    def run(self):
        self.play()
        while not self.check(200):
            pass


def transformable_formats():
    """The raw formats that cudadct8x8 takes from system memory."""
    factory = Gst.ElementFactory.find("cudadct8x8")
    if not factory:
        raise DemoError("GStreamer does not find cudadct8x8; GST_PLUGIN_PATH should name build/gst")
    formats = []
    for template in factory.get_static_pad_templates():
        caps = template.get_caps()
        if template.direction != Gst.PadDirection.SINK:
            continue
        for index in range(caps.get_size()):
            if not caps.get_features(index).contains("memory:CUDAMemory"):
                value = caps.get_structure(index).get_value("format")
                formats += [value] if isinstance(value, str) else list(value)
    return formats


def format_for(decoded):
    """Keeps what the elements take; else the nearest that shows luma and chroma apart."""
    info = GstVideo.VideoFormat.get_info(GstVideo.VideoFormat.from_string(decoded))
    if decoded in transformable_formats() and not info.has_alpha() and decoded != "GBR":
        return decoded
    if info.flags & GstVideo.VideoFormatFlags.GRAY:
        return "GRAY8"
    return "I420"


def probe(path, video_frames, still_frames):
    """Decodes the beginning of `path` to learn what it is."""
    seen = {"frames": 0, "caps": None}

    def count(pad, _info):
        seen["caps"] = seen["caps"] or pad.get_current_caps()
        seen["frames"] += 1
        return Gst.PadProbeReturn.OK

    with Pipeline(f"{DECODE} ! identity eos-after={video_frames + 1} ! "
                  "fakesink name=sink sync=false", path) as pipeline:
        pipeline["sink"].get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, count)
        pipeline.run()
    if not seen["caps"]:
        raise DemoError(f"{path}: has no picture in it")
    structure = seen["caps"].get_structure(0)
    still = seen["frames"] == 1
    decoded = structure.get_string("format")
    return Media(path, still, still_frames if still else min(seen["frames"], video_frames),
                 structure.get_int("width")[1], structure.get_int("height")[1], decoded,
                 format_for(decoded))


def source(media, frames):
    """A description of `frames` raw frames of the file."""
    limit = f"imagefreeze num-buffers={frames}" if media.still else f"identity eos-after={frames + 1}"
    return f"{DECODE} ! videoconvert ! video/x-raw,format={media.format} ! {limit}"


def read_stats(element):
    stats = element.get_property("stats")
    return {name: stats.get_value(name) for name in STATS if stats.has_field(name)}


def measure(media, quality):
    """Runs both elements; returns the stats of the forward and of the inverse one."""
    with Pipeline(f"{source(media, media.frames)} ! "
                  f"cudadct8x8 name=forward quality={quality} measure=psnr+time+zeros ! "
                  "cudaidct8x8 name=inverse measure=time ! fakesink sync=false",
                  media.path) as pipeline:
        pipeline.run()
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
    return sample.get_caps().get_structure(0), data


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
    """The first component's coefficients of the first frame: a block's stand where its samples do."""
    fields = "quantized=true" if quantized else "quantized=false,format=F32LE"
    with Pipeline(f"{source(media, 1)} ! cudadct8x8 quality={quality} ! "
                  f"video/x-dct,layout=plane,{fields} ! appsink name=sink sync=false",
                  media.path) as pipeline:
        pipeline.play()
        structure, data = pull(pipeline, "sink")
    kind = {"S16LE": "<i2", "S32LE": "<i4", "F32LE": "<f4"}[structure.get_string("format")]
    width = -(-structure.get_int("width")[1] // 8) * 8
    height = -(-structure.get_int("height")[1] // 8) * 8
    # In system memory components follow each other, rows without padding; luma comes first.
    return numpy.frombuffer(data, kind, width * height).reshape(height, width)
