"""`python -m saywhy` is the program `saywhy`."""

from __future__ import annotations

import sys

from saywhy.cli.start import main

sys.exit(main())
