"""How loops are compiled, so that the first run in a new environment is short.

Python calls the `compiled` loops. Their parts are `inner`, or `inlined` if they have one caller:
the compiler then sees them once. Wrappers that nobody calls and checks of every division are left
out: a division by 0 gives infinity or NaN, as in numpy. Together this halves the time of compiling.
Loops copy arrays value by value, since ``a[:] = b`` compiles all of its errors and their texts.
"""

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
compiled = njit(**OPTIONS)
inner = njit(**OPTIONS | {"no_cpython_wrapper": True})
inlined = njit(**OPTIONS | {"no_cpython_wrapper": True, "inline": "always"})
