# The public names of this room, each with the file it lives in.
from .dataset import Dataset as Dataset
from .letters.fasta import read_fasta as read_fasta
from .letters.labels import (
    HomologyTask as HomologyTask,
    homology_tasks as homology_tasks,
    read_splits as read_splits,
)
from .letters.residues import (
    both_strands as both_strands,
    property_rows as property_rows,
    reverse_complement as reverse_complement,
    substitution_rows as substitution_rows,
)
from .new_files import read_for as read_for
from .reading import list_parts as list_parts, read as read
from .recognition import FORMATS as FORMATS, recognise as recognise
from .sound.recipes import AUDIO_RECIPES as AUDIO_RECIPES, AudioRecipe as AudioRecipe
from .source import ReadError as ReadError
from .tables.arrays import write_npz as write_npz
from .tables.ts import write_ts as write_ts
