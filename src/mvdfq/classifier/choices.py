"""Choose the terms of a classifier: its own terms, the terms of its preset, or one term."""

from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_choice, check_positive
from mvdfq._utils.errors import Sentence
from mvdfq.classifier.presets import NUMBERS, Preset, preset_for
from mvdfq.classifier.registry import parse
from mvdfq.gram.base import are_letters
from mvdfq.kernels import Kernel
from mvdfq.symbols.base import Symbols
from mvdfq.terms.base import Term
from mvdfq.terms.plain import PlainTerm
from mvdfq.terms.validation import CANDIDATES, Cautious
from mvdfq.terms.words import WordTerm

# Parameters of the classifier that replace a part of a preset: one plain term is used then, but
# not for `n_features`, which only says how features are made.
PARTS = ("frames", "symbols", "kernel", "manifold", "pyramid", "gamma", "n_features")
# Parts of a classifier that may be objects with parameters.
EXAMPLES = {"frames": "Delta()", "symbols": "DirectQuantizer()", "kernel": "Spectrum()"}


def chosen_for(clf: Any, X: Any) -> Preset:
    """Return the terms of a classifier for X, and how its machines are trained."""
    check_choice(clf.solver, "solver", ("auto", "kernel", "linear"))
    given = {key: value for key in PARTS if (value := getattr(clf, key)) is not None}
    texts = {kind: given[kind] for kind in EXAMPLES if isinstance(given.get(kind), str)}
    given |= {kind: parse(kind, text) for kind, text in texts.items()}
    if clf.terms is not None:
        chosen = Preset(_own_terms(clf, given), "ovr", 10)
    else:
        if clf.preset in NUMBERS and "symbols" not in given and are_letters(X):
            problem = " reads numbers, but all channels of X hold letters or symbols; pass "
            raise ValueError(Sentence({"preset": clf.preset}, problem, {"preset": "letters"}, "."))
        if clf.preset == "letters" and "symbols" not in given and not are_letters(X):
            problem = " reads letters, but X holds numbers; pass "
            raise TypeError(Sentence({"preset": "letters"}, problem, {"preset": "numbers"}, "."))
        chosen = preset_for(clf.preset, X)
        if given.keys() - {"n_features"}:
            chosen = replace(chosen, terms=[_with_parts(chosen, given, X)])
        elif given and isinstance(chosen.terms[0], PlainTerm):
            chosen.terms[0].set_params(**given)
    # symbols need no encoders: only the words of the first term can read them
    if isinstance(X, Symbols) and clf.terms is None:
        chosen = replace(chosen, terms=[_with_parts(chosen, given, X)])
    trained = {key: getattr(clf, key) for key in ("multi_class", "C")}
    chosen = replace(chosen, **{key: value for key, value in trained.items() if value is not None})
    chosen = replace(chosen, C=candidates(chosen.C))
    check_choice(chosen.multi_class, "multi_class", ("ovr", "ovo"))
    for term in chosen.terms:
        term.check()
        if clf.solver == "linear":
            _check_solver(term)
    return chosen


def one_term_for(clf: Any, X: Any) -> PlainTerm:
    """Return one plain term of a classifier for X: what is compared if there are no labels."""
    for term in chosen_for(clf, X).terms:
        if isinstance(term, PlainTerm | WordTerm):
            return term.plain()
    raise ValueError("A kernel matrix needs a term of words; the classifier has only filters.")


def _own_terms(clf: Any, given: dict[str, Any]) -> list[Term]:
    """Check and return the terms that a user passed."""
    terms = list(clf.terms) if isinstance(clf.terms, list | tuple) else []
    if not terms or not all(isinstance(term, Term) for term in terms):
        wanted = "a list of terms such as mvdfq.preset_terms('numbers')"
        raise TypeError(f"terms must be {wanted}, got {clf.terms!r}.")
    names = [term.name for term in terms]
    if len(set(names)) < len(names):
        raise ValueError(f"Every term must have another name, got the names {names}.")
    if given or clf.preset is not None:
        refused = sorted([*given, *(["preset"] if clf.preset is not None else [])])
        hint = f"pass terms alone, without {', '.join(refused)}"
        raise ValueError(f"terms replace all parts; {hint}.")
    return terms


def _with_parts(preset: Preset, given: dict[str, Any], X: Any) -> PlainTerm:
    """Return the words of a preset as one plain term, with other parts."""
    term: PlainTerm = preset.terms[0].plain()
    has_symbols, kernel = isinstance(X, Symbols), given.get("kernel")
    # rows of weights belong to their symbols, and a kernel of a user's own reads letters alone
    if term.row_weights is not None and (has_symbols or given.keys() & EXAMPLES.keys()):
        term.set_params(symbols=term.symbols.views[0][1], row_weights=None)
    if isinstance(kernel, Kernel) and not kernel.has_features:
        term.set_params(manifold=False, pyramid=1)  # values of pairs have no words to do this with
    term.set_params(**given)
    if has_symbols or (isinstance(term.kernel, Kernel) and not term.kernel.reads_symbols):
        for kind in ("frames", "symbols"):
            if given.get(kind) not in (None, "passthrough") and (has_symbols or kind == "symbols"):
                numbers = f"{term.kernel!r} reads numbers"
                problem = "X holds symbols already" if has_symbols else numbers
                raise ValueError(f"{problem}; pass {kind}=None.")
        term.set_params(frames=None, symbols=None)
    return term


def _check_solver(term: Term) -> None:
    """Refuse explicit features of terms that have none."""
    if isinstance(term, PlainTerm) and term.gamma is not None:
        raise ValueError("gamma needs solver='kernel', got 'linear': the RBF has no features.")
    part = term.kernel if isinstance(term, PlainTerm) else term
    if not part.has_features:
        raise ValueError(f"{part!r} has no features for solver='linear'; pass 'kernel'.")


def candidates(C: Any) -> tuple[float, ...]:
    """Return the penalties to choose from."""
    if isinstance(C, str):
        if C != "auto":
            raise ValueError(f"C must be a number, several numbers or 'auto', got {C!r}.")
        return CANDIDATES
    if isinstance(C, Cautious):
        return C
    values = tuple(check_positive(value, "C") for value in np.ravel(np.asarray(C, dtype=object)))
    if not values:
        raise ValueError("C must hold at least one number, got an empty sequence.")
    return tuple(sorted(values))


def by_name(terms: Any) -> dict[str, Any]:
    """Return terms by their names; nothing if `terms` is not a list, which `fit` refuses."""
    listed = terms if isinstance(terms, list | tuple) else ()
    return {term.name: term for term in listed if hasattr(term, "name")}


def set_nested(clf: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Set the parameters of terms; return the parameters that are left, of objects alone."""
    left: dict[str, Any] = {}
    known = by_name(params.get("terms", clf.terms))
    for name, value in params.items():
        kind, _, nested = name.partition("__")
        if kind == "terms" and nested:
            term, _, key = nested.partition("__")
            if term not in known or not key:
                names = ", ".join(known) or "none: pass terms=mvdfq.preset_terms('numbers') first"
                problem = f"{name} must be terms__NAME__PARAMETER with the name of a term"
                raise ValueError(f"{problem}; the terms are {names}.")
            known[term].set_params(**{key: value})
            continue
        part = params.get(kind, getattr(clf, kind, None))
        if nested and kind in EXAMPLES and (part is None or isinstance(part, str)):
            problem = f"{name} sets a parameter of {kind}, but {kind}={part!r} has no parameters"
            hint = f"pass the part as an object first, such as {kind}=mvdfq.{EXAMPLES[kind]}"
            raise ValueError(f"{problem}; {hint}.")
        # scikit-learn sets the rest, also of parts that are objects
        left[name] = value
    return left
