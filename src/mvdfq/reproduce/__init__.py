"""The experiments of the paper, run again: `run` computes a table, `TABLES` names them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
