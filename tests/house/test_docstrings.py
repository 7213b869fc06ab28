"""Every public name documents exactly the parameters it accepts, and shows an example."""

import inspect

import pytest

import mvdfq
from docstrings import accepted, documented, sections

ROOMS = (mvdfq, mvdfq.io)
NAMED = [getattr(room, name) for room in ROOMS for name in room.__all__]
PUBLIC = [value for value in NAMED if callable(value)]
CLASSES = [value for value in PUBLIC if inspect.isclass(value)]
METHODS = [
    method
    for cls in CLASSES
    for name, method in inspect.getmembers(cls, inspect.isfunction)
    if not name.startswith("_") and method.__module__.startswith("mvdfq.")
]


@pytest.mark.parametrize("value", PUBLIC, ids=lambda value: value.__name__)
def test_documented_parameters_are_the_accepted_ones(value):
    assert documented(value) == accepted(value)


@pytest.mark.parametrize("value", PUBLIC, ids=lambda value: value.__name__)
def test_there_is_an_example(value):
    assert ">>>" in sections(value).get("Examples", "")


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__qualname__)
def test_methods_document_all_their_parameters_or_none(method):
    # One sentence is enough for a method whose parameters explain themselves.
    assert method.__doc__
    assert documented(method) in ([], accepted(method))
