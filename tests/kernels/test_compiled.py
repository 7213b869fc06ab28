"""How loops are compiled."""

import gc

import pytest
from numba.core import event

from mvdfq._engines import compiled


@pytest.mark.parametrize("is_on", [True, False])
def test_the_garbage_collector_rests_while_a_function_is_compiled(is_on):
    before = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        with event.trigger_event("numba:compile"):
            with event.trigger_event("numba:compile"):  # a function that the function calls
                pass
            assert not gc.isenabled()
        assert gc.isenabled() == is_on
    finally:
        (gc.enable if before else gc.disable)()
    assert compiled.OPTIONS["cache"]
