from .api import TABLES as TABLES, run as run
