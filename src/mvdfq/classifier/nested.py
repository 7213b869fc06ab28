"""Parameters of the parts and terms of a classifier, as scikit-learn names them."""

from typing import Any

__all__ = ["nested_params", "set_nested"]

# Parts of a classifier that may be objects with parameters.
EXAMPLES = {"frames": "Delta()", "symbols": "DirectQuantizer()", "kernel": "Spectrum()"}


def nested_params(terms: Any) -> dict[str, Any]:
    """Return the terms by their names, and their parameters: ``terms__words__pyramid``."""
    found: dict[str, Any] = {}
    for name, term in _by_name(terms).items():
        found[f"terms__{name}"] = term
        found |= {f"terms__{name}__{key}": value for key, value in term.get_params().items()}
    return found


def _by_name(terms: Any) -> dict[str, Any]:
    """Return terms by their names; nothing if `terms` is not a list, which `fit` refuses."""
    listed = terms if isinstance(terms, list | tuple) else ()
    return {term.name: term for term in listed if hasattr(term, "name")}


def set_nested(clf: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Set the parameters of terms; return the parameters that are left.

    Refuses a parameter such as `symbols__n_bins` if the part `symbols` is not an object.
    """
    left: dict[str, Any] = {}
    by_name = _by_name(params.get("terms", clf.terms))
    for name, value in params.items():
        kind, _, rest = name.partition("__")
        if kind == "terms" and rest:
            _set_term(by_name, name, rest, value)
            continue
        part = params.get(kind, getattr(clf, kind, None))
        if rest and kind in EXAMPLES and (part is None or isinstance(part, str)):
            raise ValueError(
                f"{name} sets a parameter of {kind}, but {kind}={part!r} has no parameters; pass "
                f"the part as an object first, such as {kind}=mvdfq.{EXAMPLES[kind]}."
            )
        left[name] = value
    return left


def _set_term(by_name: dict[str, Any], name: str, rest: str, value: Any) -> None:
    term, _, key = rest.partition("__")
    if term not in by_name or not key:
        known = ", ".join(by_name) or "none: pass terms=mvdfq.preset_terms('numbers') first"
        raise ValueError(
            f"{name} must be terms__NAME__PARAMETER with the name of a term; the terms are {known}."
        )
    by_name[term].set_params(**{key: value})
