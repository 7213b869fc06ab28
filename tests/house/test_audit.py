"""The audit never takes silence for success: pip-audit does, if its list cannot be reached."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "tools" / "audit.py"
SPEC = importlib.util.spec_from_file_location("audit", PATH)
audit = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(audit)

CLEAN = {"name": "numpy", "version": "2.0", "vulns": []}
SKIPPED = {"name": "torch", "skip_reason": "Dependency not found on PyPI"}
FLAWED = {
    "name": "pillow", "version": "9.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["9.1"]}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([CLEAN], 0, "1 packages compared, 0 known vulnerabilities."),
        ([CLEAN, SKIPPED], 0, "Not in the list: torch."),
        ([CLEAN, FLAWED, SKIPPED], 1, "pillow 9.0: PYSEC-1, mended in 9.1"),
        ([SKIPPED, SKIPPED], 2, "Not audited: the list of vulnerabilities cannot be reached"),
        ([], 2, "Not audited"),
    ],
)
def test_only_a_comparison_is_a_success(packages, code, said):
    found, lines = audit.verdict({"dependencies": packages})
    assert found == code
    assert said in "\n".join(lines)


def test_pip_audit_that_fails_or_hangs_is_not_a_success(monkeypatch, capsys):
    def fails(*args, **options):
        return subprocess.CompletedProcess(args, 1, "", "Traceback\nNo module named pip_audit\n")

    def hangs(*args, **options):
        raise subprocess.TimeoutExpired(args, options["timeout"])

    monkeypatch.setattr("sys.argv", ["audit.py"])
    for run, said in [(fails, "No module named pip_audit."), (hangs, "no answer within 300 s.")]:
        monkeypatch.setattr(subprocess, "run", run)
        assert audit.main() == 2
        assert capsys.readouterr().out == f"Not audited: {said}\n"
    monkeypatch.setattr("sys.argv", ["audit.py", "--if-reachable"])
    assert audit.main() == 0
