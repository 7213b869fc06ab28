# The public names of this room, each with the file it lives in.
from .audio import read_audio as read_audio
from .bands import log_bands as log_bands
from .base import Dataset as Dataset, ReadError as ReadError
from .blocks import FolderBlocks as FolderBlocks, list_parts as list_parts
from .fasta import (
    both_strands as both_strands,
    reverse_complement as reverse_complement,
)
from .homology import (
    HomologyTask as HomologyTask,
    homology_tasks as homology_tasks,
    read_splits as read_splits,
)
from .labels import read_labels as read_labels
from .listing import list_audio as list_audio
from .npz import write_npz as write_npz
from .profiles import (
    log_odds_to_probabilities as log_odds_to_probabilities,
    read_profiles as read_profiles,
)
from .proteins import read_fasta as read_fasta
from .reading import read as read, read_series as read_series
from .recipes import (
    AUDIO_RECIPES as AUDIO_RECIPES,
    AudioRecipe as AudioRecipe,
    audio_recipe as audio_recipe,
)
from .records import FORMATS as FORMATS, recognise as recognise
from .scales import (
    property_rows as property_rows,
    substitution_rows as substitution_rows,
)
from .ts import write_ts as write_ts
