"""Classify multivariate sequences with string kernels, in linear time.

Every public name is an attribute of this package. `__init__.pyi` lists the names; each is
imported when it is first used, so that ``import mvdfq`` itself costs next to nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
