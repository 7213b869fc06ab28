"""Numbers, names and model files stay what they were; docs/reliability.md has the policy."""

import json

import numpy as np
import pytest

import mvdfq
import snapshots
from mvdfq.classifier.registry import EXPORTED

pytestmark = pytest.mark.filterwarnings("ignore")


def stored(name):
    return json.loads((snapshots.FOLDER / f"{name}.json").read_text())


RESULTS = stored("results")


def test_the_snapshots_are_small_and_complete():
    assert sum(path.stat().st_size for path in snapshots.FOLDER.iterdir()) < 100_000
    assert (snapshots.FOLDER / "results.json").stat().st_size < 50_000
    assert RESULTS["kernels"].keys() == EXPORTED["kernel"].keys()
    assert RESULTS["presets"].keys() == set(mvdfq.list_presets())


@pytest.mark.parametrize("name", RESULTS["kernels"])
def test_a_kernel_gives_the_numbers_it_gave(name):
    found, known = snapshots.kernel_values(name), RESULTS["kernels"][name]
    assert found.keys() == known.keys()
    for key, values in known.items():
        np.testing.assert_allclose(found[key], values, rtol=1e-5, atol=1e-8)


# The second readings of the paper differ from the first in the parameters of a kernel.
PRESETS = [
    pytest.param(name, marks=[pytest.mark.long] if name.endswith("-alt") else [])
    for name in RESULTS["presets"]
]


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_the_numbers_it_gave(name):
    found, known = snapshots.preset_values(name), RESULTS["presets"][name]
    assert found["labels"] == known["labels"]
    # the solvers stop at a tolerance of 1e-3
    np.testing.assert_allclose(found["decision"], known["decision"], rtol=5e-3, atol=5e-3)


def test_public_names_and_parameters_stay():
    now = snapshots.api()
    for place, parameters in stored("api").items():
        assert place in now, f"{place} is gone"
        for name, default in parameters.items():
            assert now[place].get(name) == default, f"{place}({name}={default}) has changed"
        order = [name for name in now[place] if name in parameters]
        assert order == list(parameters), f"{place} has its parameters in another order"
        needed = {name for name, default in now[place].items() if default == "needed"}
        assert needed <= parameters.keys(), f"{place} needs a new parameter"


def test_model_files_of_this_version_can_be_read_by_the_next():
    now = snapshots.schema()
    for kind, names in stored("schema").items():
        assert kind in now, f"model files hold {kind}, which load does not know"
        assert set(names) <= set(now[kind]), kind
