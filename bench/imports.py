"""How long a program waits for Saywhy before it does anything: import and `--help`.

Each sample is a fresh interpreter. The bare interpreter is measured as well, since it is part of
both figures and no concern of ours.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.figures import Figure, timed

RUNS = 15


def run() -> list[Figure]:
    program = str(Path(sys.executable).with_name("saywhy"))
    commands = {
        "bare interpreter": [sys.executable, "-c", "pass"],
        "import saywhy": [sys.executable, "-c", "import saywhy"],
        "import Engine": [sys.executable, "-c", "from saywhy import Engine"],
        "saywhy --help": [program, "--help"],
    }
    return [
        timed(name, lambda c=command: _call(c), runs=RUNS) for name, command in commands.items()
    ]


def _call(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
