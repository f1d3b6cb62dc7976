"""The same questions on a cluster of Ray (`pip install flashrig[ray]`).

Work is divided into the units of a campaign (docs/campaigns.md): each is a task that depends on no other, so Ray may run it
anywhere, again when a worker dies, and in any order. The result is that of one machine, byte for byte, with any number of
workers.

A cluster that runs is used (`ray.init` before, or the environment's RAY_ADDRESS), else a local one is started. Each node needs
this package, of the same version. Ctrl-C cancels what has not begun and raises Interrupted with what was done.
"""

from __future__ import annotations

from ._fit import fit
from ._grid import whatif
from ._lives import torture
from ._reviews import review_models

__all__ = ["fit", "review_models", "torture", "whatif"]
