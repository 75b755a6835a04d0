"""`python -m saywhy` is the program `saywhy`."""

from __future__ import annotations

import sys

from saywhy.cli.main import main

sys.exit(main())
