"""How loops are compiled."""

import gc
from types import SimpleNamespace

import pytest
from numba.core import event

import mvdfq._engines.compiled  # noqa: F401


def compiling(module):
    """Tell listeners that a function of a module is compiled."""
    function = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
    return event.trigger_event("numba:compile", {"dispatcher": function})


@pytest.fixture
def collector():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("is_on", [True, False])
def test_the_garbage_collector_rests_while_a_function_is_compiled(is_on, collector):
    (gc.enable if is_on else gc.disable)()
    with compiling("mvdfq._engines.cpu"):
        with compiling("numba.np.arrayobj"):  # a function that the function calls
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() == is_on


def test_functions_of_others_are_compiled_as_before(collector):
    gc.enable()
    with compiling("user"):
        assert gc.isenabled()
    assert gc.isenabled()
