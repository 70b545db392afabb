"""One thread of BLAS for masters of a few hundred unknowns.

Their products and factors are so small that threads wait longer for each other than they work, and the last
digits of a product depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import scipy.linalg  # noqa: F401  the controller sees the libraries that are loaded when it is made
from threadpoolctl import ThreadpoolController

_controller = ThreadpoolController()


def one_thread(function: Callable) -> Callable:
    """Decorate a function: BLAS has one thread while it runs."""
    return _controller.wrap(limits=1, user_api="blas")(function)
