"""The experiments of the paper, run again: `run` computes a table, `TABLES` lists the tables.

Words of this room. A *table* is a table of the paper. A *cell* is one place of a table, with the
methods that compute our figure. A *reading* is one answer to the question which settings the paper
used: text, comment, tuned or inferred. A *row* is one figure of a result. A *line* is a line of the
paper's source. A *machine* is a support vector machine. The settings of every cell
are lines of `settings.csv`, the figures of the paper are lines of `published.csv`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
