"""Model files taken apart, changed and written again with checksums that fit."""

import hashlib
import io
import json
import zipfile

import numpy as np
from numpy.lib.format import write_array, write_array_header_1_0


def npy(array, header=None):
    """An array as .npy; with `header`, of which that claims another shape or type."""
    buffer = io.BytesIO()
    if header is None:
        write_array(buffer, array)
        return buffer.getvalue()
    write_array_header_1_0(buffer, {"descr": array.dtype.str, "fortran_order": False, **header})
    return buffer.getvalue() + array.tobytes()


class Opened:
    """A model file taken apart, to be changed and written again with checksums that fit."""

    def __init__(self, path):
        self.path = path
        with zipfile.ZipFile(path) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}
        self.description = json.loads(self.members.pop("model.json"))
        dicts = list(walk(self.description["model"]))
        arrays = {one["number"]: one["array"] for one in dicts if "array" in one}
        for one in dicts:  # so that one place can be changed and another not
            if one.get("again") in arrays:
                one["array"] = arrays[one.pop("again")]

    def write(self, text=None, compression=zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(self.path, "w", compression) as archive:
            archive.writestr("model.json", json.dumps(self.description) if text is None else text)
            for name, data in self.members.items():
                archive.writestr(name, data)

    def state(self, kind, has=""):
        """State of the first object of a class, of those that have an attribute."""
        return next(
            one["state"]
            for one in walk(self.description["model"])
            if one.get("object") == kind and (not has or has in one["state"])
        )

    def change(self, described, change, key="array"):
        """Put what a function makes of an array in its place."""
        array = change(np.load(io.BytesIO(self.members[described[key]])).copy())
        described[key] = f"changed {len(self.members)}.npy"
        self.members[described[key]] = npy(array)
        digest = hashlib.sha256(array.tobytes()).hexdigest()
        passport = {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest}
        self.description["arrays"][described[key]] = passport


def walk(value):
    """Every dict of a description, the outer ones first."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, dict | list):
            yield from walk(one)
