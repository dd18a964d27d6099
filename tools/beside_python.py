"""Compares the Python module with the elements and other packages; a corpus job on processes."""
# SPDX-License-Identifier: LGPL-2.1-or-later
import io
import itertools
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from bench_runs import BenchError, for_seconds, take_turns, timed
from bench_tables import print_table

PACKAGES = """\
The Python module compared with other packages. Tables of two sizes of pictures, 1920x1080 and
500x375, 4:2:0, quality 90, cut out of one photograph: the time of cudatransform.read(), jpeglib and
torchjpeg where installed, of decode(), encode() and Pillow, all on one thread; and the pictures per
second of cudatransform.Reader and of gst-launch's jpegcoefdec with as many threads, which reuses a
buffer immediately, or keeps as many as two batches; and of a Reader's pixels. With --cuda all go to
the GPU. Medians of all runs.

Needs the module and, for jpegcoefdec, the plugin: see docs/python.md."""

CORPUS = """\
A corpus job's chunks on growing numbers of processes, and what Ray adds to them. Cuts pictures of
--size, 4:2:0, quality 90, out of one photograph, writes many files of them, and prints files per
second: of the body of the job's actors on plain processes, which share a list of chunks of 64
files, for each number of workers; of as many processes that do nothing but read one file from
memory, which is what the machine allows; and with --ray of the whole job on Ray. The first quarter
of the files is not counted: Ray takes some seconds to start. Medians of all turns.

Needs the module: see docs/python.md."""

try:
    import cudatransform as ct
    import numpy
    from cudatransform.corpus import actions, folder
    LACKING = None
except (ImportError, OSError) as error:
    LACKING = error

BATCH = 32  # pictures; a caller holds the last ones while it takes the next
SIZES = {"1920x1080": 8, "500x375": 32}  # and how many pictures


def cut(photograph, size, count, quality=90):
    """Yields files of pictures cut out of a JPEG file."""
    across, down = map(int, size.split("x"))
    pixels = ct.read(photograph).pixels()
    height, width = pixels.shape[:2]
    if across > width or down > height:
        raise BenchError(f"{photograph} is smaller than {size}")
    for index in range(count):
        x, y = (width - across) * index // count, (height - down) * (index * 3 % count) // count
        part = pixels[y:y + down, x:x + across].copy()
        yield ct.write(ct.Picture.from_pixels(part, quality))


# ---- Compared with other packages ----

def make_pictures(photograph, top, size):
    """Paths of pictures cut out of a JPEG file."""
    paths = []
    for index, data in enumerate(cut(photograph, size, SIZES[size])):
        paths.append(os.path.join(top, f"{size}-{index:05d}.jpg"))
        with open(paths[-1], "wb") as file:
            file.write(data)
    return paths


def single_contestants():
    """{name: a function that reads a path and returns seconds}."""
    data = {}  # of the files

    def from_memory(run):
        def timed_run(path):
            if path not in data:
                data[path] = numpy.fromfile(path, numpy.uint8)
            return run(data[path])
        return timed_run
    found = {"cudatransform.read, from memory": from_memory(timed(ct.read)),
             "cudatransform.read": timed(ct.read)}
    try:
        import jpeglib
        found["jpeglib.read_dct"] = timed(lambda path: jpeglib.read_dct(path).Y)
    except ImportError:
        pass
    try:
        import torch
        import torchjpeg.codec
        torch.set_num_threads(1)
        found["torchjpeg.codec.read_coefficients"] = timed(torchjpeg.codec.read_coefficients)
    except (ImportError, OSError):
        pass
    return found


def pixel_contestants(paths):
    """The same for pixels: files are in memory, and so are the pixels that become files."""
    from PIL import Image
    data, pixels = {}, {}
    for path in paths:
        with open(path, "rb") as file:
            data[path] = file.read()
        pixels[path] = ct.decode(path)

    def open_all(path):
        return numpy.asarray(Image.open(io.BytesIO(data[path])).convert("RGB"))

    def save(path):
        Image.fromarray(pixels[path]).save(io.BytesIO(), "JPEG", quality=90)
    for path in paths:
        if not numpy.array_equal(open_all(path), pixels[path]):
            raise BenchError(f"{path}: other pixels than Pillow's")
    return {"cudatransform.decode": timed(lambda path: ct.decode(data[path])),
            "Pillow open": timed(open_all),
            "cudatransform.encode": timed(lambda path: ct.encode(pixels[path], quality=90)),
            "Pillow save": timed(save)}


def time_by_turns(contestants, paths, seconds):
    """{name: seconds of each turn}"""
    for run in contestants.values():
        run(paths[0])
    return take_turns(contestants, for_seconds(seconds, [(path,) for path in paths]))


def time_pixels(paths, seconds):
    times = time_by_turns(pixel_contestants(paths), paths, seconds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    bases = {"cudatransform.decode": "Pillow open", "cudatransform.encode": "Pillow save"}
    return [(name, f"{1e3 * median:.3f}", f"{median / medians[bases.get(name, name)]:.2f}")
            for name, median in medians.items()]


def time_singles(paths, seconds):
    times = time_by_turns(single_contestants(), paths, seconds)
    ours = statistics.median(times["cudatransform.read"])
    return [(name, f"{1e3 * statistics.median(values):.3f}",
             f"{statistics.median(values) / ours:.2f}") for name, values in times.items()]


def reader_rate(paths, count, device, workers, output="coefficients"):
    listed = list(itertools.islice(itertools.cycle(paths), count))
    begin = time.perf_counter()
    for batch in ct.Reader(listed, batch_size=BATCH, device=device, num_workers=workers,
                           output=output):
        if batch.failures:
            raise BenchError(str(batch.failures[0]))
    return time.perf_counter() - begin


def launch_time(folder, name, count, device, workers, kept=0):
    """kept: pictures that stay in memory, as a caller of a Reader has them, instead of one."""
    memory = "(memory:CUDAMemory)" if device == "cuda" else ""
    backend = "cuda" if device == "cuda" else "cpu"
    command = ["gst-launch-1.0", "-q", "multifilesrc",
               f"location={folder}/{name}-%05d.jpg", "loop=true", f"num-buffers={count}",
               "caps=image/jpeg,framerate=25/1,parsed=true", "!", "jpegcoefdec",
               f"n-threads={workers or 0}", f"backend={backend}", "!", f"video/x-dct{memory}", "!"]
    if kept:
        command += ["queue", f"min-threshold-buffers={kept}", f"max-size-buffers={kept + 2}",
                    "max-size-bytes=0", "max-size-time=0", "!"]
    command += ["fakesink", "sync=false"]
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - begin


def with_cpu(run, count):
    """Seconds of a contestant, and those of all cores together."""
    def used():
        return sum(part.ru_utime + part.ru_stime for part in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    before = used()
    return run(count), used() - before


def time_many(folder, name, paths, device, options):
    """Rows of name, pictures a second, share of gst-launch's, microseconds of CPU a picture."""
    workers, seconds = options.workers, options.turn
    contestants = {
        "gst-launch-1.0 jpegcoefdec":
            lambda count: launch_time(folder, name, count, device, workers),
        f"the same, {2 * BATCH} pictures kept":
            lambda count: launch_time(folder, name, count, device, workers, 2 * BATCH),
        "cudatransform.Reader": lambda count: reader_rate(paths, count, device, workers),
        "cudatransform.Reader (pixels)":
            lambda count: reader_rate(paths, count, device, workers, "pixels")}
    # Starting takes time, too: the extra time of a longer run is that of its pictures.
    rate = 256 / reader_rate(paths, 256, device, workers)
    few = 4 * BATCH
    many = few + max(128, 32 * int(rate * seconds / 32))

    def rate_and_cpu(run):
        (short, short_cpu), (long, long_cpu) = with_cpu(run, few), with_cpu(run, many)
        return (many - few) / (long - short), 1e6 * (long_cpu - short_cpu) / (many - few)
    taken = take_turns({contestant: lambda run=run: rate_and_cpu(run)
                        for contestant, run in contestants.items()}, [()] * options.turns)
    rates = {contestant: tuple(zip(*values)) for contestant, values in taken.items()}
    base = statistics.median(rates["gst-launch-1.0 jpegcoefdec"][0])
    return [(contestant, f"{statistics.median(values):.0f}",
             f"{statistics.median(values) / base:.2f}", f"{min(values):.0f} to {max(values):.0f}",
             f"{statistics.median(cpu):.0f}")
            for contestant, (values, cpu) in rates.items()]


def beside_packages(options):
    device = "cuda" if options.cuda else "cpu"
    with tempfile.TemporaryDirectory() as top:
        for size in options.sizes:
            paths = make_pictures(options.photograph, top, size)
            bytes_ = sum(os.path.getsize(path) for path in paths) // len(paths)
            print(f"### {size}, {bytes_ // 1000} kB each\n")
            print_table(("one thread", "ms", "times ours"), time_singles(paths, options.seconds))
            print_table(("one thread", "ms", "times Pillow"), time_pixels(paths, options.seconds))
            threads = f"{options.workers} threads" if options.workers else "all cores"
            print_table((f"{threads}, to {device}", "pictures/s", "times gst-launch", "all turns",
                         "us of CPU each"), time_many(top, size, paths, device, options))


# ---- A corpus job ----

def write_files(photograph, top, count, size):
    """`count` files in folders of 256."""
    kinds = list(cut(photograph, size, 32))
    for index in range(count):
        where = os.path.join(top, f"{index // 256:03d}")
        os.makedirs(where, exist_ok=True)
        with open(os.path.join(where, f"{index:06d}.jpg"), "wb") as file:
            file.write(kinds[index % len(kinds)])


def pictures_of(root, names, device):
    """The files in order, from one Reader that goes on from chunk to chunk."""
    paths = (os.fsdecode(os.path.join(root, name)) for name in names)
    for batch in actions.reader_of(paths, device):
        for item in batch:
            yield item.cpu() if device != "cpu" else item


def work(action, device, source, target, names, tasks, ready):
    """A process: chunks by their numbers, until there are none."""
    output, root = folder.Output(target), os.fsencode(source)
    assert len(list(pictures_of(root, names[:2], device))) == 2
    ready.wait()
    numbers, taken = iter(tasks.get, None), []

    def chunk(number):
        return names[folder.CHUNK * number:folder.CHUNK * (number + 1)]

    def wanted():
        for number in numbers:
            taken.append(number)
            yield from chunk(number)
    items = pictures_of(root, wanted(), device)
    for first in items:
        number = taken.pop(0)
        actions.do_chunk(action, {}, root, number, chunk(number), output,
                         itertools.chain([first], items))


def decode(path, count, ready, rates):
    """A process: reads a file from memory again and again, and nothing else."""
    with open(path, "rb") as file:
        data = file.read()
    ct.read(data)
    ready.wait()
    begin = time.perf_counter()
    for _ in range(count):
        ct.read(data)
    rates.put(count / (time.perf_counter() - begin))


def bare(path, count, workers):
    """Files a second of that many processes that share nothing: what the machine itself allows."""
    spawn = multiprocessing.get_context("spawn")
    ready, rates = spawn.Barrier(workers), spawn.SimpleQueue()
    made = [spawn.Process(target=decode, args=(path, count, ready, rates)) for _ in range(workers)]
    for process in made:
        process.start()
    total = sum(rates.get() for _ in made)
    for process in made:
        process.join()
    return total


def plain(action, device, source, target, names, workers):
    """Files a second of all chunks on that many processes, which have started before."""
    output = folder.Output(target)
    output.claim({"action": action, "options": {}, "input": source}, names)
    spawn = multiprocessing.get_context("spawn")
    tasks, ready = spawn.SimpleQueue(), spawn.Barrier(workers + 1)
    made = [spawn.Process(target=work, args=(action, device, source, target, names, tasks, ready))
            for _ in range(workers)]
    for process in made:
        process.start()
    ready.wait()
    for number in range(-(-len(names) // folder.CHUNK)):
        tasks.put(number)
    for _ in made:
        tasks.put(None)
    for process in made:
        process.join()
        if process.exitcode:
            raise BenchError("a process has failed")
    output.release()
    return rate_of(target)


def on_ray(action, device, source, target, workers):
    """The same of the job on Ray."""
    import ray.data  # noqa: F401, or the job would run on plain processes
    from cudatransform.corpus import job
    job.run(action, source, target, {}, workers=workers, device=device, say=lambda line: None)
    return rate_of(target)


def rate_of(target):
    """Files a second of all chunks but the first quarter: Ray is starting until then."""
    output = folder.Output(target)
    times = sorted(map(output.done_at, output.done()))
    times = times[len(times) // 4:]
    return (len(times) - 1) * folder.CHUNK * 1e9 / (times[-1] - times[0])


def time_corpus(options):
    with tempfile.TemporaryDirectory() as top:
        source = os.path.join(top, "input")
        write_files(options.photograph, source, options.files, options.size)
        names = folder.list_files(source)
        first = os.path.join(source, os.fsdecode(names[0]))
        contestants = {}
        for workers in options.workers:
            contestants["reading alone", workers] = (
                lambda _, workers=workers: bare(first, min(1000, options.files), workers))
            contestants["plain", workers] = lambda turn, workers=workers: plain(
                options.action, options.device, source, os.path.join(top, f"{turn}-{workers}"),
                names, workers)
            if options.ray:
                contestants["Ray", workers] = lambda turn, workers=workers: on_ray(
                    options.action, options.device, source, os.path.join(top, f"{turn}-{workers}r"),
                    workers)
        rates = take_turns(contestants, [(turn,) for turn in range(options.turns)])
    one = {kind: statistics.median(rates[kind, options.workers[0]]) / options.workers[0]
           for kind, _ in rates}
    print_table((f"{options.action}: workers", "on", "files/s",
                 "times one worker's, by their number", "all turns"),
                [(str(workers), kind, f"{statistics.median(values):.0f}",
                  f"{statistics.median(values) / workers / one[kind]:.2f}",
                  f"{min(values):.0f} to {max(values):.0f}")
                 for (kind, workers), values in rates.items()])
    for workers in options.workers if options.ray else ():
        share = statistics.median(plain_rate / ray_rate - 1 for plain_rate, ray_rate in
                                  zip(rates["plain", workers], rates["Ray", workers]))
        print(f"Ray takes {100 * share:.0f} % more with {workers} workers\n")
    print(json.dumps({f"{kind} {workers}": values for (kind, workers), values in rates.items()}),
          file=sys.stderr)


def needs_module(work):
    def run(options):
        if LACKING:
            raise BenchError(f"the module, see docs/python.md: {LACKING}")
        work(options)
    return run


def add_arguments(add):
    """add: makes the parser of a name, a description and what is to be done."""
    parser = add("python", PACKAGES, needs_module(beside_packages))
    parser.add_argument("photograph", help="a JPEG file of 1920x1080 or larger")
    parser.add_argument("--cuda", action="store_true", help="to the GPU")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--workers", type=int, help="threads; the element's and the Reader's own "
                        "choice without")
    parser.add_argument("--seconds", type=float, default=10, help="of reading one by one")
    parser.add_argument("--turn", type=float, default=1.5, help="seconds of each turn of many")
    parser.add_argument("--turns", type=int, default=5)
    parser = add("corpus", CORPUS, needs_module(time_corpus))
    parser.add_argument("photograph", help="a JPEG file of that size or larger")
    parser.add_argument("--action", default="repack", choices=("stats", "repack"))
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--size", default="500x375")
    parser.add_argument("--files", type=int, default=4096)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--ray", action="store_true")
