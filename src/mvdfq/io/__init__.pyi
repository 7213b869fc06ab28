# The public names of this room, each with the file it lives in.
from .dataset import Dataset as Dataset, ReadError as ReadError
from .folder_blocks import FolderBlocks as FolderBlocks, list_parts as list_parts
from .letters.fasta import (
    both_strands as both_strands,
    reverse_complement as reverse_complement,
)
from .letters.homology import (
    HomologyTask as HomologyTask,
    homology_tasks as homology_tasks,
    read_splits as read_splits,
)
from .letters.labels import read_labels as read_labels
from .letters.profiles import (
    log_odds_to_probabilities as log_odds_to_probabilities,
    read_profiles as read_profiles,
)
from .letters.proteins import read_fasta as read_fasta
from .letters.residues import (
    property_rows as property_rows,
    substitution_rows as substitution_rows,
)
from .reading import read as read, read_series as read_series
from .recognition import FORMATS as FORMATS, recognise as recognise
from .sound.audio import read_audio as read_audio
from .sound.bands import log_bands as log_bands
from .sound.listing import list_audio as list_audio
from .sound.recipes import (
    AUDIO_RECIPES as AUDIO_RECIPES,
    AudioRecipe as AudioRecipe,
    audio_recipe as audio_recipe,
)
from .tables.npz import write_npz as write_npz
from .tables.ts import write_ts as write_ts
