"""Files -> sequences; a name of `__init__.pyi` is imported, with what it needs, when it is used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
