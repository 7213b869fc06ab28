from .api import run as run
from .published import TABLES as TABLES
