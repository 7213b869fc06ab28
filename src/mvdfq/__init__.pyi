# The public names, each with the file it lives in: `__init__.py` reads this list, and so do
# type checkers. A name is imported from its file when it is first used.
from . import io as io, reproduce as reproduce
from ._engines.choice import use_engine as use_engine
from ._utils.version import __version__ as __version__
from .classifier.estimator import SequenceClassifier as SequenceClassifier
from .classifier.presets import list_presets as list_presets, preset_terms as preset_terms
from .classifier.recordings import Event as Event, Scan as Scan, Stream as Stream
from .classifier.saving.file import ModelFileError as ModelFileError, load as load
from .classifier.search import SequenceClassifierCV as SequenceClassifierCV
from .classifier.similarity import Neighbour as Neighbour
from .datasets import (
    load_japanese_vowels as load_japanese_vowels,
    make_autoregressive as make_autoregressive,
)
from .evaluation import Evaluation as Evaluation, evaluate as evaluate
from .explain import figures as figures
from .explain.explanation import Explanation as Explanation
from .explain.importance import Importance as Importance
from .explain.mutations import Mutations as Mutations
from .explain.reason import Reason as Reason
from .frames import (
    Centre as Centre,
    Delta as Delta,
    Filters as Filters,
    Lags as Lags,
    Rotate as Rotate,
    Select as Select,
    Smooth as Smooth,
    Stack as Stack,
    Standardize as Standardize,
)
from .gram.checkpoint import write_gram as write_gram
from .gram.features import SequenceFeatures as SequenceFeatures
from .gram.kernel import SequenceKernel as SequenceKernel
from .io.dataset import windows as windows
from .io.new_files import predict_files as predict_files
from .kernels import (
    Gapped as Gapped,
    Gappy as Gappy,
    Mismatch as Mismatch,
    MismatchPairs as MismatchPairs,
    Profile as Profile,
    Spatial as Spatial,
    Spectrum as Spectrum,
    Subsequence as Subsequence,
    Wildcard as Wildcard,
    Words as Words,
)
from .pages.report import Report as Report, report as report
from .sequences import Sequences as Sequences, check_sequences as check_sequences
from .sequences.converters import (
    from_long_table as from_long_table,
    from_time_first as from_time_first,
)
from .symbols import (
    CodebookQuantizer as CodebookQuantizer,
    DirectQuantizer as DirectQuantizer,
    HashingQuantizer as HashingQuantizer,
    JointQuantizer as JointQuantizer,
    Letters as Letters,
    PerGroup as PerGroup,
    Rows as Rows,
    Symbols as Symbols,
    ThresholdQuantizer as ThresholdQuantizer,
)
from .terms.filters import FilterTerm as FilterTerm
from .terms.plain import PlainTerm as PlainTerm
from .terms.words import WordTerm as WordTerm
