"""How loops are compiled, so that the first run in a new environment is short.

Python calls the `compiled` loops, which are `bare` if they make no arrays and return none: then
references to arrays are not counted, and there is less to compile. Their parts are `inlined`, or
`inner` if several loops share them: the compiler sees an inner function again in every loop that
calls it, and copies the whole loop for every inlined function. Wrappers without a caller and
checks of every division are left out: a division by 0 gives infinity or NaN, as in numpy.

What was measured, in time of compiling: a loop takes 10 to 20 ms, a slice 7 ms, an array as an
argument 4 ms, an inlined function about 50 ms, and memory that a loop makes (``np.empty``) 50 to
100 ms. So callers pass memory, arrays have two axes at most where rows can be numbered by one
index, and loops copy arrays value by value: ``a[:] = b`` compiles all of its errors and their
texts. A loop with a constant number of steps, up to about ten, is written out step by step.
"""

import gc
from typing import Any

from numba import njit
from numba.core import event

OPTIONS: Any = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}
compiled = njit(**OPTIONS)
bare = njit(**OPTIONS | {"_nrt": False})
inner = njit(**OPTIONS | {"no_cpython_wrapper": True})
inlined = njit(**OPTIONS | {"no_cpython_wrapper": True, "inline": "always"})


class _WithoutCollection(event.Listener):
    """No search for garbage while a function of ours is compiled: a sixth less time.

    The compiler makes millions of objects that live until it ends. Its lock is held here, so
    events of threads do not overlap; a function may compile other functions.
    """

    depth, was_enabled = 0, False

    def on_start(self, event: Any) -> None:
        """Note whether the collector is on, and turn it off."""
        if self.depth == 0:
            if not event.data["dispatcher"].py_func.__module__.startswith("mvdfq."):
                return  # other packages compile as they like
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """Turn the collector on again."""
        self.depth = max(self.depth - 1, 0)
        if self.depth == 0 and self.was_enabled:
            self.was_enabled = False
            gc.enable()


event.register("numba:compile", _WithoutCollection())
