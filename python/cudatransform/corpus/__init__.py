"""A job over a corpus of JPEG files: `python -m cudatransform.corpus ACTION INPUT OUTPUT`.

actions.py says what is done to a picture, folder.py what lies where in OUTPUT, job.py spreads it over
processes and machines with Ray Data.
"""
# SPDX-License-Identifier: LGPL-2.1-or-later
