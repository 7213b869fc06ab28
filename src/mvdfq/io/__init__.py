"""Files -> sequences: audio, series and proteins.

Names are imported from their files when they are first used, so that what one format needs is not
loaded for another.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvdfq.io.audio import read_audio as read_audio
    from mvdfq.io.base import Dataset as Dataset, ReadError as ReadError
    from mvdfq.io.fasta import (
        both_strands as both_strands,
        reverse_complement as reverse_complement,
    )
    from mvdfq.io.homology import (
        HomologyTask as HomologyTask,
        homology_tasks as homology_tasks,
        read_splits as read_splits,
    )
    from mvdfq.io.labels import read_labels as read_labels
    from mvdfq.io.listing import list_audio as list_audio
    from mvdfq.io.mfcc import log_bands as log_bands
    from mvdfq.io.profiles import (
        log_odds_to_probabilities as log_odds_to_probabilities,
        read_profiles as read_profiles,
    )
    from mvdfq.io.proteins import read_fasta as read_fasta
    from mvdfq.io.reading import FORMATS as FORMATS, read as read, recognise as recognise
    from mvdfq.io.recipes import (
        AUDIO_RECIPES as AUDIO_RECIPES,
        AudioRecipe as AudioRecipe,
        audio_recipe as audio_recipe,
    )
    from mvdfq.io.scales import (
        property_rows as property_rows,
        substitution_rows as substitution_rows,
    )
    from mvdfq.io.series import (
        read_series as read_series,
        write_npz as write_npz,
        write_ts as write_ts,
    )

_PLACES = {
    "audio": ["read_audio"],
    "base": ["Dataset", "ReadError"],
    "fasta": ["both_strands", "reverse_complement"],
    "homology": ["HomologyTask", "homology_tasks", "read_splits"],
    "labels": ["read_labels"],
    "listing": ["list_audio"],
    "mfcc": ["log_bands"],
    "profiles": ["log_odds_to_probabilities", "read_profiles"],
    "proteins": ["read_fasta"],
    "reading": ["FORMATS", "read", "recognise"],
    "recipes": ["AUDIO_RECIPES", "AudioRecipe", "audio_recipe"],
    "scales": ["property_rows", "substitution_rows"],
    "series": ["read_series", "write_npz", "write_ts"],
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = sorted(_PLACE_OF)


def __getattr__(name: str) -> Any:
    """Import what is asked for, once."""
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'mvdfq.io' has no attribute {name!r}")
    value = getattr(import_module(f"mvdfq.io.{_PLACE_OF[name]}"), name)
    globals()[name] = value
    return value
