"""Compare the installed packages with the known vulnerabilities of PyPI, by pip-audit.

Without the network nothing is known: then this says so and ends with code 2, not with success.
"""

import subprocess
import sys

# Words of pip-audit and of its libraries if the list cannot be fetched.
UNREACHABLE = ("ConnectionError", "NameResolution", "Max retries", "ServiceError", "Timeout")


def main() -> int:
    """Return 0 if nothing is known, 1 if something is, 2 if the list cannot be reached."""
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--skip-editable"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and any(word in done.stderr for word in UNREACHABLE):
        print("not audited: the list of vulnerabilities cannot be reached from this machine.")
        return 2
    print(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
