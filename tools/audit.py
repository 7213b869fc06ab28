"""Compare the installed packages with the known vulnerabilities of PyPI, by pip-audit.

Without the network nothing is known: then this says so and ends with code 2, not with success.
With --if-reachable, it says so and ends with code 0.
"""

import json
import subprocess
import sys
from typing import Any

# Seconds for all packages; pip-audit itself waits 15 s for each.
LONGEST = 300
UNREACHABLE = "the list of vulnerabilities cannot be reached from this machine"


def report() -> dict[str, Any]:
    """Return what pip-audit finds; nothing if it fails or takes too long."""
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--skip-editable"]
    try:
        done = subprocess.run(
            [*command, "--format", "json"], capture_output=True, text=True, timeout=LONGEST
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"dependencies": [], "why": f"no answer within {LONGEST} s"}
    except json.JSONDecodeError:
        return {"dependencies": [], "why": done.stderr.strip().rpartition("\n")[2][-200:]}


def verdict(report: dict[str, Any]) -> tuple[int, list[str]]:
    """Return 0 if nothing is known, 1 if something is, 2 if nothing was compared; and lines.

    pip-audit calls packages that its list lacks "skipped", and ends with success if it skipped all.
    """
    packages = report["dependencies"]
    compared = [package for package in packages if "skip_reason" not in package]
    if not compared:
        return 2, [f"Not audited: {report.get('why', UNREACHABLE)}."]
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    known = [
        f"{package['name']} {package['version']}: {flaw['id']}, mended in "
        f"{', '.join(flaw['fix_versions']) or 'no version'}"
        for package in compared
        for flaw in package["vulns"]
    ]
    last = f"{len(compared)} packages compared, {len(known)} known vulnerabilities."
    if skipped:
        last += f" Not in the list: {', '.join(skipped)}."
    return int(bool(known)), [*known, last]


def main() -> int:
    """Print what is known; return 0, 1 or 2 as `verdict` says."""
    code, lines = verdict(report())
    print(*lines, sep="\n")
    return 0 if code == 2 and "--if-reachable" in sys.argv else code


if __name__ == "__main__":
    sys.exit(main())
