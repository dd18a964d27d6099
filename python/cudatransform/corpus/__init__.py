"""A job over a corpus of JPEG files: `python -m cudatransform.corpus ACTION INPUT OUTPUT`.

actions.py treats a picture, folder.py has the layout of OUTPUT, worker.py does chunks of
files, and job.py has them done by on_ray.py or, without Ray, by local.py.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
