#!/usr/bin/env python3
# docs/examples/dct_on_device.py, coefficients_to_torch.py: arrays on the device have the values
# of a run in system memory, and the buffers live as long as the arrays.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# usage: coefficients_to_torch_test.py FOLDER-OF-THE-EXAMPLE FILE.jpg [fake]
# fake: on the driver of tests/check/fakecuda, whose device memory is the host's. Otherwise every
# library of torch and cupy that is there; exits 77 where something is missing.
import ctypes
import gc
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)]
import device_arrays  # noqa: E402

numpy = device_arrays.require_numpy()
import coefficients_to_torch as example  # noqa: E402
import dct_on_device as on_device  # noqa: E402

PATH = sys.argv[2]
SYSTEM = ("filesrc location=\"{}\" ! jpegcoefdec backend=cpu ! video/x-dct,layout=block ! "
          "appsink name=sink sync=false")
# Several buffers of one pool: the file again and again, larger and smaller coefficients.
REPEATED = ("multifilesrc location=\"{}\" num-buffers=12 caps=image/jpeg,framerate=25/1 ! "
            "jpegcoefdec backend=cuda ! video/x-dct(memory:CUDAMemory) ! "
            "appsink name=sink sync=false max-buffers=2")


def coefficients_in_system_memory():
    pipeline = on_device.Pipeline(SYSTEM.format(PATH))
    coefficients = next(iter(pipeline.buffers(cuda=False)))
    # Independent of the code under test: there components follow each other without padding.
    data = ctypes.string_at(coefficients.info.data, coefficients.info.size)
    found, offset = [], 0
    for component in coefficients.meta.contents.components[:len(coefficients)]:
        shape = component.blocks_h, component.blocks_w, 64
        count = int(numpy.prod(shape))
        found.append(numpy.frombuffer(data, "<i2", count, offset).reshape(shape))
        offset += 2 * count
    assert offset == len(data)
    for index, coefs in enumerate(found):
        assert (numpy.asarray(coefficients.component(index)) == coefs).all()
    tables = [coefficients.table(i) for i in range(len(coefficients))]
    del coefficients
    pipeline.close()
    return found, tables


class Fake:
    """An array of device memory that is the host's; holds what it was made of."""

    def __init__(self, coefs):
        interface = dict(coefs.__cuda_array_interface__)
        self.__array_interface__ = interface
        self.coefs = coefs


def as_numpy(coefs):
    return numpy.asarray(Fake(coefs))


def check_arrays(as_array, to_numpy, address_of):
    expected, tables = coefficients_in_system_memory()
    assert any((coefs != 0).any() for coefs in expected)
    pipeline = on_device.Pipeline(REPEATED.format(PATH))
    on_device.share_primary_context(pipeline.address)
    kept, count = [], 0
    for coefficients in pipeline.buffers():
        count += 1
        assert len(coefficients) == len(expected)
        for index, coefs in enumerate(expected):
            made = coefficients.component(index)
            array = as_array(made)
            # No copy: the array is at the buffer's own address.
            assert address_of(array) == made.__cuda_array_interface__["data"][0]
            assert tuple(array.shape) == coefs.shape, array.shape
            assert (to_numpy(array) == coefs).all()
            assert coefficients.table(index) == tables[index]
            if count <= 3:
                kept.append((array, coefs))
        del coefficients, made, array
    assert count == 12, count
    pipeline.close()
    gc.collect()
    # Arrays outlive their pipeline, and no one has written to their memory.
    check_context()
    addresses = {address_of(array) for array, _ in kept}
    assert len(addresses) == len(kept)
    for array, coefs in kept:
        assert (to_numpy(array) == coefs).all()
    return expected, tables


def check_context():
    """No context has been made: all memory is in the primary one."""
    if sys.argv[3:] == ["fake"]:
        counts = (ctypes.c_int * 64)()
        ctypes.CDLL("libcuda.so.1").fakecuda_get_counts(counts)
        assert counts[0] > 0 and counts[4] == 0, list(counts[:5])  # FakecudaCounts


def check_summary(as_array, expected, tables):
    pipeline = on_device.Pipeline(example.PIPELINE.format(PATH))
    on_device.share_primary_context(pipeline.address)
    rows = [example.summarize(coefficients, as_array) for coefficients in pipeline.buffers()]
    pipeline.close()
    assert len(rows) == 1
    for (width, height, zeros, dc), coefs, table in zip(rows[0], expected, tables):
        assert (height, width) == coefs.shape[:2]
        assert abs(zeros - (coefs == 0).mean()) < 1e-6
        assert abs(dc - coefs[:, :, 0].astype(float).mean() * table[0]) < 1e-3


def check_refused():
    """What is no buffer of coefficients, and what is in the other memory."""
    new = on_device.declare(on_device.gst, "gst_buffer_new", ctypes.c_void_p)
    buffer = new()
    try:
        on_device.Coefficients(buffer)
        raise AssertionError("a buffer without a meta was taken")
    except ValueError:
        pass
    on_device.mini_object_unref(buffer)
    pipeline = on_device.Pipeline(SYSTEM.format(PATH))
    coefficients = next(iter(pipeline.buffers(cuda=False)))
    assert not hasattr(coefficients.component(0), "__cuda_array_interface__")
    del coefficients
    pipeline.close()


def libraries():
    if sys.argv[3:] == ["fake"]:
        yield "fake", as_numpy, numpy.array, lambda array: array.__array_interface__["data"][0]
        return
    for name, module in device_arrays.libraries():
        if name == "torch":
            yield (name, example.with_torch(), lambda array: array.cpu().numpy(),
                   lambda array: array.data_ptr())
        else:
            yield name, example.with_cupy(), module.asnumpy, lambda array: array.data.ptr


def main():
    done = []
    for name, as_array, to_numpy, address_of in libraries():
        expected, tables = check_arrays(as_array, to_numpy, address_of)
        check_summary(as_array, expected, tables)
        done.append(name)
    if not done:
        device_arrays.skip("neither torch nor cupy with a GPU")
    check_refused()
    print("ok:", ", ".join(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
