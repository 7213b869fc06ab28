"""What decoders write past Python is held back; what others write is not."""

import os
import sys

import pytest

from mvdfq.io.sound.decoding import hushed


def test_remarks_of_the_decoder_are_held_back(capfd):
    with hushed():
        os.write(2, b"Note: Trying to resync...\n[src/libmpg123/id3.c:950] warning: small\n")
        print("a.py:1: UserWarning: heed this", file=sys.stderr)
        os.write(2, b"Warning: Xing stream size off by more than 1%\n12 % done")
    print(" and more", file=sys.stderr)
    assert capfd.readouterr().err == "a.py:1: UserWarning: heed this\n12 % done and more\n"


@hushed()
@hushed()
def interrupted():
    os.write(2, b"Note: inner\n")
    raise KeyboardInterrupt


def test_errors_pass_and_the_stream_is_given_back(capfd):
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    os.write(2, b"Note: outside\n")
    assert capfd.readouterr().err == "Note: outside\n"
