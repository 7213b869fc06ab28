"""Files -> sequences: audio, series and proteins.

`__init__.pyi` lists the names; each is imported when it is first used, so that what one format
needs is not loaded for another.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
